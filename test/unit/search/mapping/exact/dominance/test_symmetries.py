"""Spreads and factors that stand for others."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import ceil, inf, prod

import numpy as np
import pytest

from tilewright.costs.exact import price_batch
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.search.mapping.exact.dominance.symmetries import Places, first_of_its_kind, members, symmetries
from tilewright.search.mapping.exact.space.model import Ints, model_of
from tilewright.search.mapping.values import Space

from ..enumerate import every_mapping

CONV = Problem(
    "conv",
    ("k", "p", "q", "r", "s"),
    (4, 6, 6, 3, 3),
    (
        Tensor("I", ((0, 1, 0, 1, 0), (0, 0, 1, 0, 1))),
        Tensor("W", ((1, 0, 0, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1))),
        Tensor("O", ((1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0)), is_output=True),
    ),
)

ROLES = ("I", "W", "O")

SAMPLED = (
    Tensor("X", ((1, 0, 0), (0, 1, 0))),
    Tensor("A", ((1, 0, 0), (0, 0, 1))),
    Tensor("B", ((0, 0, 1), (0, 1, 0))),
    Tensor("Z", ((1, 0, 0), (0, 1, 0)), is_output=True),
)


def test_tensors_of_one_role_change_places_with_their_dimensions():
    problem = Problem("sddmm", ("m", "n", "k"), (6, 6, 6), SAMPLED)
    assert symmetries(problem, ("I", "W", "W", "O")) == [(1, 0, 2)]
    assert symmetries(problem, ("W", "I", "W", "O")) == []
    wider = (*SAMPLED[:2], replace(SAMPLED[2], word_bits=8), SAMPLED[3])
    assert symmetries(replace(problem, tensors=wider), ("I", "W", "W", "O")) == []


def test_rows_and_columns_of_a_square_convolution_change_places():
    (order,) = symmetries(CONV, ROLES)
    assert order == (0, 2, 1, 4, 3)
    spreads = [((1, p, q, r, s),) for p, q, r, s in product((1, 2), repeat=4)]
    kept = [spread for spread in spreads if first_of_its_kind(spread, [order])]
    assert {tuple(spread[0][d] for d in order) for spread in kept} | {spread[0] for spread in kept} == {
        spread[0] for spread in spreads
    }
    assert len(kept) == 10  # 4 are their own image, 12 come in pairs


def test_other_bounds_break_the_symmetry():
    assert symmetries(Problem("conv", CONV.dims, (4, 6, 5, 3, 3), CONV.tensors), ROLES) == []


def test_members_are_all_factors_with_as_many_tiles():
    bound, spread = 13, np.array([[1], [2], [1], [1]])
    counts = {}
    for chain in product(range(1, 14), repeat=3):
        sizes = np.cumprod([chain[0], 2 * chain[1], chain[2]])
        last = ceil(bound / sizes[-1])
        smallest = all(size == 1 or size < bound or chain[i] == 1 for i, size in enumerate(sizes.tolist()))
        if smallest:
            counts.setdefault((chain[0], *(ceil(bound / int(size)) for size in sizes)), set()).add((*chain, last))
    for factors in ((1, 2, 2, 2), (2, 1, 2, 2), (1, 1, 3, 3)):
        sizes = np.cumprod([factors[0], 2 * factors[1], factors[2]])
        same = counts[(factors[0], *(ceil(bound / int(size)) for size in sizes))]
        found = members((bound,), spread, np.array(factors)[:, None], 100)
        assert found is not None
        assert {tuple(one[:, 0].tolist()) for one in found} == same
    assert members((bound,), spread, np.array([[1], [2], [2], [2]]), 0) is None


UNEVEN = Problem(
    "uneven",
    ("m", "k", "n"),
    (41, 9, 37),
    (
        Tensor("A", ((1, 0, 0), (0, 1, 0))),
        Tensor("B", ((0, 1, 0), (0, 0, 1))),
        Tensor("Z", ((1, 0, 0), (0, 0, 1)), is_output=True),
    ),
)


@pytest.mark.parametrize(("order", "away"), [("mkn", "AZ"), ("kmn", "AB"), ("nkm", "BZ"), ("mnk", "A"), ("knm", "B")])
def test_of_factors_with_as_many_tiles_few_are_worth_a_price(order: str, away: str):
    """Of 21 steps, three times 7 send as much as 8, 8 and 5 do, but for what rests where 10 leave one alone."""
    spread = np.array([[1, 1, 1], [2, 1, 1], [1, 1, 1], [1, 1, 1]])
    factors = np.array([[1, 2, 1], [7, 3, 13], [1, 1, 1], [3, 2, 3]])
    loops = [UNEVEN.dims.index(name) for name in order]

    def best(every: list[Ints]) -> tuple[float, int, float]:
        def level(n: int, row: list[int]) -> LevelMapping:
            temporal = tuple(Loop(d, row[d]) for d in loops if row[d] > 1)
            return LevelMapping(temporal, (Loop(0, 2),) if n == 1 else (), (), frozenset(away if n == 0 else ""))

        mappings = [LoopMapping(tuple(level(n, row) for n, row in enumerate(one.tolist()))) for one in every]
        prices = price_batch(RAGGED, UNEVEN, mappings)
        return min(prices.energy_pj), min(prices.cycles), min(prices.edp_j_cycle)

    every, few = (members(UNEVEN.bounds, spread, factors, 5000, plain) for plain in ((), (True,) * 3))
    assert every is not None
    assert few is not None
    assert best(few) == best(every)
    assert 1 < len(few) < len(every)


RAGGED = Architecture(
    "ragged",
    (
        Level("L0", None, 2, 2, 1, 1.0, 2, 1, write_energy_pj=30.0),
        Level("L1", None, 1, 1, 1, 7.0, None, 2),
        Level("L2", None, 1, 1, 1, 9.0),
        Level("D", None, 1, 1, 1, 40.0, shared_bandwidth=1),
    ),
    "MAC",
    2,
    2,
    1.0,
)


GEMM = Problem(
    "gemm",
    ("m", "n", "k"),
    (2, 2, 4),
    (
        Tensor("A", ((1, 0, 0), (0, 0, 1))),
        Tensor("B", ((0, 0, 1), (0, 1, 0))),
        Tensor("Z", ((1, 0, 0), (0, 1, 0)), is_output=True),
    ),
)


def _spread(level: LevelMapping) -> tuple[int, ...]:
    return tuple(prod(x.bound for x in (*level.spatial_x, *level.spatial_y) if x.dim == d) for d in range(3))


@pytest.mark.parametrize("network", [None, 2])
def test_what_differs_in_place_alone_has_nothing_better(network: int | None):
    levels = (
        Level("L0", 4, 4, 4, 1, 0.3, 1, 2, holds=("O",)),
        Level("L1", 6, 2, 2, 1, 2.0, 1, 3, network_bandwidth=network),
        Level("L2", None, 1, 1, 1, 9.0, 3, 3),
    )
    arch, space = Architecture("two arrays", levels, "MAC", 4, 4, 1.0), Space(bypass=True)
    mappings = every_mapping(arch, GEMM, space, 100_000)
    assert mappings is not None
    prices = price_batch(arch, GEMM, mappings)
    best: dict[tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]], float] = {}
    for mapping, edp, valid in zip(mappings, prices.edp_j_cycle.tolist(), prices.valid.tolist(), strict=True):
        key = _skeleton(mapping)
        best[key] = min(best.get(key, inf), edp if valid else inf)
    meshes = [arch.fan_out(level) for level in range(3)]
    places = Places(model_of(arch, GEMM, space)[0], meshes, split=False)
    left = [value for key, value in best.items() if not places.superfluous(*key)]
    assert min(left) == min(best.values())
    assert (len(left) < len(best)) == (network is None)


def _skeleton(mapping: LoopMapping) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    kept = tuple(
        tuple(int(tensor.name not in level.bypass and (i > 0 or tensor.is_output)) for i, level in enumerate(inside))
        for tensor in GEMM.tensors
        for inside in (mapping.levels[:-1],)
    )
    return tuple(_spread(level) for level in mapping.levels), kept


def _two_meshes(stride: int, taps: int) -> tuple[Places, list[tuple[int, int]]]:
    """Places of a row of 8 windows on a mesh of 4 in one of 2, around a memory that may keep results."""
    window = Tensor("I", ((stride, 1),))
    rows = Problem("rows", ("p", "r"), (8, taps), (window, Tensor("Z", ((1, 0),), is_output=True)))
    levels = (
        Level("L0", 4, 8, 8, 1, 0.3, 1, 2),
        Level("L1", 6, 2, 2, 1, 2.0, 1, 3, holds=("O",)),
        Level("L2", None, 1, 1, 1, 9.0, 3, 3),
    )
    arch = Architecture("two arrays", levels, "MAC", 8, 8, 1.0)
    meshes = [arch.fan_out(level) for level in range(3)]
    return Places(model_of(arch, rows, Space(bypass=True))[0], meshes, split=False), meshes


def test_meshes_with_nothing_kept_between_act_as_one():
    places, meshes = _two_meshes(1, 3)
    nothing, result, window = ((0, 0), (0, 0)), ((0, 0), (0, 1)), ((1, 0), (0, 0))
    assert places.merged(nothing) == ((1, 2),)
    assert places.merged(result) == places.merged(window) == ((1,), (2,))
    apart = places.apart(((1, 1), (2, 3), (1, 1)), nothing)
    assert apart is not None
    assert all(prod(row) <= prod(mesh) for row, mesh in zip(apart, meshes, strict=True))
    assert tuple(a * b for a, b in zip(apart[1], apart[2], strict=True)) == (2, 3)
    assert places.apart(((1, 1), (4, 3), (1, 1)), nothing) is None


@pytest.mark.parametrize(("stride", "taps", "together"), [(1, 2, True), (1, 4, False), (2, 3, True), (2, 4, False)])
def test_meshes_are_apart_where_two_terms_of_a_window_may_leave_gaps(stride: int, taps: int, together: bool):
    """Two of four taps, or every other one of windows two apart, may be shared by children that lie further apart."""
    merged = _two_meshes(stride, taps)[0].merged(((0, 0), (0, 0)))
    assert merged == (((1, 2),) if together else ((1,), (2,)))
