"""Hops on networks: placements, the least energy of a skeleton, and proofs where all placements count."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from math import inf
from random import Random

import numpy as np
import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.exact.axes import axes_of
from tilewright.costs.exact.traffic import links_per_word
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, Problem, Tensor
from tilewright.search.mapping.exact import solve
from tilewright.search.mapping.exact.bounds.hops import Hops, Placement
from tilewright.search.mapping.exact.space.model import model_of
from tilewright.search.mapping.exact.space.spreads import layouts_of
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Factors, Request, Space

from ..enumerate import random_arrays, random_machine, random_problem, random_sliding_problem
from ..tree.test_enumeration import compare


def problem() -> Problem:
    tensors = (
        Tensor("A", ((1, 0, 0), (0, 0, 1))),
        Tensor("B", ((0, 0, 1), (0, 1, 0))),
        Tensor("Z", ((1, 0, 0), (0, 1, 0)), True),
    )
    return Problem("gemm", ("m", "n", "k"), (4, 6, 4), tensors)


def machine(hop: float) -> Architecture:
    levels = Level("L1", 12, 16, 4, 1, 0.8), Level("DRAM", None, 1, 1, 1, 60.0, hop_energy_pj=hop)
    return Architecture("mesh", levels, "MAC", 16, 4, 1.0)


def mapped(placement: Placement) -> LevelMapping:
    """A level with nothing but a placement."""
    x = tuple(Loop(d, placement.x[d]) for d in placement.order_x)
    return LevelMapping((), x, tuple(Loop(d, placement.y[d]) for d in placement.order_y))


def test_no_placement_has_fewer_links():
    kernel, arch = problem(), machine(0.5)
    model, _ = model_of(arch, kernel, Space(factors="perfect"))
    hops = Hops(model, [(1, 1), (4, 4)], [0.0, 0.5], split=True)
    spread = (1, 1, 1), (4, 2, 2)
    found = hops.placements(spread)
    assert found is not None
    axes = [axes_of(tensor, kernel.bounds) for tensor in kernel.tensors]
    every = [
        mapped(Placement(*layout, *orders))
        for layout in layouts_of(spread[1], (4, 4), split=True)
        for orders in product(permutations(range(3)), repeat=2)
    ]
    assert len(every) > 36 > len(found)
    random = Random(0)
    for _ in range(20):
        words = [random.random() for _ in axes]
        least, ours = (
            min(sum(w * links_per_word(a, one) for w, a in zip(words, axes, strict=True)) for one in some)
            for some in (every, [mapped(last) for _, last in found])
        )
        assert ours == pytest.approx(least)


def test_hops_are_part_of_what_is_proven():
    dear = [
        solve(machine(hop), problem(), Request(objective="energy", space=Space(factors="perfect")))
        for hop in (0.0, 0.5, 50.0)
    ]
    assert all(mapped.proven for mapped in dear)
    assert dear[0].energy < dear[1].energy < dear[2].energy
    last = dear[2].mapping.levels[-1]
    assert not (*last.spatial_x, *last.spatial_y)  # a word's link costs nearly as much as a word of DRAM


@pytest.mark.parametrize("factors", ["perfect", "imperfect"])
def test_every_small_case_is_proven(factors: Factors):
    proven = 0
    for seed in range(40, 60):
        random = Random(seed)
        if seed % 2:
            kernel, arch = random_problem(random), random_machine(random)
        else:
            kernel, arch = random_sliding_problem(random), random_arrays(random)
        arch = replace(
            arch, levels=tuple(replace(level, hop_energy_pj=random.choice([0.5, 3.0, 20.0])) for level in arch.levels)
        )
        found = compare(arch, kernel, Space(random.random() < 0.6, random.random() < 0.5, factors), seed, 1500)
        assert found is not False, seed
        proven += found is True
    assert proven >= 5


def test_too_many_placements_leave_it_unproven(monkeypatch: pytest.MonkeyPatch):
    kernel, arch = problem(), machine(0.5)
    request = Request(objective="energy", space=Space(factors="perfect", split_axes=True))
    search = Search(arch, kernel, request, bounds_of(arch, kernel))
    search.run(1e300)
    assert search.low == pytest.approx(search.best.value)
    monkeypatch.setattr("tilewright.search.mapping.exact.bounds.hops.MOST_TOGETHER", 0)
    unplaced = Search(arch, kernel, request, bounds_of(arch, kernel))
    unplaced.run(1e300)
    assert unplaced.low < unplaced.best.value < inf
    assert np.isfinite(unplaced.best.energy)
