"""The random and the hybrid mapper: draws, walks, and tiny spaces that they exhaust."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import permutations, product
from math import factorial

import numpy as np
import pytest

from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.costs.timeloop import evaluate, price_batch
from tilewright.errors import InfeasibleError
from tilewright.search.mapping import hybrid, random
from tilewright.search.mapping.draw import Sampler, fits_arrays
from tilewright.search.mapping.hybrid import walk
from tilewright.search.mapping.values import Mapper, Objective, Request, Space

GEMM = Problem(
    "gemm",
    ("M", "K", "N"),
    (4, 2, 3),
    (
        Tensor("A", ((1, 0, 0), (0, 1, 0))),
        Tensor("B", ((0, 1, 0), (0, 0, 1))),
        Tensor("Z", ((1, 0, 0), (0, 0, 1)), is_output=True),
    ),
)


def machine(entries: int = 8, columns: int = 2, rows: int = 1) -> Architecture:
    levels = (
        Level("L1", entries, columns * rows, columns, 1, 1.0),
        Level("DRAM", None, 1, 1, 1, 60.0, read_bandwidth=3.0),
    )
    return Architecture("small", levels, "MAC", columns * rows, columns, 0.5)


def parts(bound: int) -> list[tuple[int, int, int]]:
    divisors = [d for d in range(1, bound + 1) if bound % d == 0]
    return [(a, b, bound // (a * b)) for a in divisors for b in divisors if bound % (a * b) == 0]


def loops(factors: tuple[int, ...]) -> list[tuple[Loop, ...]]:
    return list(permutations([Loop(d, f) for d, f in enumerate(factors) if f > 1]))


def every_mapping(space: Space) -> Iterator[LoopMapping]:
    """Temporal loops of L1, columns under DRAM, temporal loops of DRAM; the innermost order changes nothing."""
    names = [tensor.name for tensor in GEMM.tensors]
    away = [frozenset(n for n, bit in zip(names, bits, strict=True) if bit) for bits in product((0, 1), repeat=3)]
    for factors in product(*(parts(bound) for bound in GEMM.bounds)):
        inner, columns, outer = zip(*factors, strict=True)
        for x, t in product(loops(columns), loops(outer)):
            for bypass in away if space.bypass else away[:1]:
                yield LoopMapping((LevelMapping(loops(inner)[0], bypass=bypass), LevelMapping(t, x)))


@pytest.mark.parametrize("mapper", [partial(random.solve, victory=2000), partial(hybrid.solve, victory=2000)])
@pytest.mark.parametrize("objective", ["edp", "energy", "latency"])
@pytest.mark.parametrize("space", [Space(), Space(bypass=True)])
def test_a_tiny_space_is_exhausted(mapper: Mapper, objective: Objective, space: Space):
    prices = price_batch(machine(), GEMM, list(every_mapping(space)))
    best = {"edp": prices.edp_j_cycle, "energy": prices.energy_pj, "latency": prices.cycles}[objective]
    found = mapper(machine(), GEMM, Request(objective, "timeloop", space, seed=3))
    value = {"edp": found.edp, "energy": found.energy, "latency": found.cycles}[objective]
    assert value == pytest.approx(best[prices.valid].min(), rel=1e-9)
    price = evaluate(machine(), GEMM, found.mapping)
    assert price.valid
    assert (price.energy_pj, price.cycles) == (pytest.approx(found.energy), found.cycles)
    assert not found.proven
    assert found.lower_bound <= value


def test_every_factorisation_is_equally_likely():
    batch = Sampler(machine(), GEMM, Space(), seed=1).draw(30_000)
    rows = [batch.temporal[:, 0, 0], batch.spatial_x[:, 1, 0], batch.temporal[:, 1, 0]]
    counts = Counter(zip(*(row.tolist() for row in rows), strict=True))
    assert len(counts) == len(parts(4)) == 6
    assert min(counts.values()) > 0.9 * 30_000 / 6
    orders = Counter(map(tuple, batch.order[:, 1].tolist()))
    assert min(orders[found] for found in permutations(range(3))) > 0.9 * 30_000 / factorial(3)


def test_draws_respect_what_the_machine_holds():
    arch = machine()
    narrow = Architecture("n", (Level("R", 1, 2, 2, 1, 0.1, holds=("W",)), *arch.levels), "MAC", 2, 2, 0.5)
    sampler = Sampler(narrow, GEMM, Space(bypass=True), seed=1)
    batch = sampler.draw(64)
    assert not batch.kept[:, 0, [0, 2]].any()
    assert batch.kept[:, -1].all()
    assert len(sampler.bypasses()) == 2**4


def test_a_dimension_is_split_over_both_axes_only_where_allowed():
    arch = machine(columns=2, rows=2)
    for split in (False, True):
        batch = fits_arrays(arch, Sampler(arch, GEMM, Space(split_axes=split), seed=1).draw(4096))
        both = (batch.spatial_x[:, 1, 0] > 1) & (batch.spatial_y[:, 1, 0] > 1)
        assert both.any() == split


def test_a_walk_visits_every_order_and_bypass_once():
    sampler = Sampler(machine(), GEMM, Space(bypass=True), seed=1)
    batch = sampler.draw(64)
    row = int(np.argmax((batch.temporal[:, 1] > 1).sum(axis=1)))
    moving = int((batch.temporal[row, 1] > 1).sum())
    assert moving == 3
    walked = walk(batch, row, sampler.bypasses(), 1000)
    seen = {(tuple(o), tuple(k.ravel())) for o, k in zip(walked.order[:, 1].tolist(), walked.kept, strict=True)}
    assert len(seen) == len(walked) == factorial(moving) * 2**3
    assert len(walk(batch, row, sampler.bypasses(), 10)) == 10


def test_answers_depend_on_nothing_but_the_request():
    for mapper in (random.solve, hybrid.solve):
        request = Request("edp", "timeloop", Space(bypass=True), seed=5)
        assert mapper(machine(), GEMM, request, 500).mapping == mapper(machine(), GEMM, request, 500).mapping


def test_the_time_limit_ends_the_search_with_a_mapping():
    found = random.solve(machine(), GEMM, Request("edp", "timeloop", Space(), time_limit_s=0.0))
    assert evaluate(machine(), GEMM, found.mapping).valid


def test_reports_run_downwards():
    told: list[tuple[float, float]] = []
    found = random.solve(
        machine(), GEMM, Request("edp", "timeloop", Space(), report=lambda best, bound: told.append((best, bound)))
    )
    assert [best for best, _ in told] == sorted((best for best, _ in told), reverse=True)
    assert told[-1][0] == pytest.approx(found.edp)


@pytest.mark.parametrize("mapper", [partial(random.solve, timeout=10_000), partial(hybrid.solve, timeout=10_000)])
def test_where_nothing_fits_the_memory_is_named(mapper: Mapper):
    with pytest.raises(InfeasibleError, match="L1") as error:
        mapper(machine(entries=2), GEMM, Request("edp", "timeloop", Space()))
    assert (error.value.demand, error.value.bound) == (3, 2)
