"""Spreads in classes of their bounds, and what tiles of the last memory may cost."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact import solve
from tilewright.search.mapping.exact.bounds.outer import FRONT, lowest
from tilewright.search.mapping.exact.space import spreads
from tilewright.search.mapping.exact.space.families import Family
from tilewright.search.mapping.exact.space.meshes import fitting_of
from tilewright.search.mapping.exact.space.spreads import Spreads
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import OBJECTIVES, Request, Space

from ..enumerate import cheapest, random_arrays, random_machine, random_problem, random_sliding_problem


@pytest.mark.parametrize("floor", [1.0, 3.0])
def test_classes_of_bounds_have_all_spreads(floor: float):
    """Also where the least energy of all is known to be above that of the spreads alone."""
    compared = 0
    for seed in range(40):
        random = Random(seed)
        problem, arch = random_problem(random), random_machine(random)
        space = Space(random.random() < 0.5, random.random() < 0.5, "perfect")
        request = Request(objective=OBJECTIVES[seed % 3], space=space)
        for family in Search(arch, problem, request, bounds_of(arch, problem)).families:
            family.ways = family.ways._replace(least_energy=family.ways.least_energy * floor)
            everything = _found(family, 0.0, 1e300)
            low, parts = 0.0, dict[tuple[int, ...], float]()
            while low < np.inf:
                parts |= _found(family, low, max(low, 1.0) * 1.2)
                assert family.spreads is not None
                low = family.spreads.beyond * (1 - 1e-9)
            assert parts == everything, seed
            compared += len(everything)
    assert compared > 200


@pytest.mark.parametrize("many", [2, 5])
def test_classes_with_too_many_spreads_are_cut(many: int, monkeypatch: pytest.MonkeyPatch):
    """Spreads of one bound stay together, the others come later."""
    cut = 0
    for seed in range(20):
        random = Random(seed)
        problem, arch = random_problem(random), random_machine(random)
        request = Request(objective=OBJECTIVES[seed % 3], space=Space(True, True, "perfect"))
        for family in Search(arch, problem, request, bounds_of(arch, problem)).families:
            everything = _found(family, 0.0, 1e300)
            low, parts = 0.0, dict[tuple[int, ...], float]()
            with monkeypatch.context() as fewer:
                fewer.setattr(spreads, "MANY", many)
                fewer.setattr(spreads, "AT_ONCE", 3)
                while low < np.inf:
                    parts |= _found(family, low, 1e300)
                    assert family.spreads is not None
                    low = family.spreads.beyond * (1 - 1e-9)
                    cut += low < np.inf
            assert parts == everything, seed
    assert cut > 5


def test_no_spread_begins_with_more_than_it_costs():
    """Bounds of the first dimensions do not raise that of the whole spread, whichever are the first."""
    compared = 0
    for seed in range(40):
        random = Random(seed)
        problem = random_sliding_problem(random) if seed % 2 else random_problem(random)
        arch = random_arrays(random) if seed % 4 < 2 else random_machine(random)
        request = Request(objective=OBJECTIVES[seed % 3], space=Space(True, True, "perfect"))
        for family in Search(arch, problem, request, bounds_of(arch, problem)).families:
            assert family.spreads is not None
            order = family.mesh.order
            found = _found(family, 0.0, 1e300)
            for turned in (order[::-1], np.roll(order, 1)):
                model, mesh = family.spreads.model, family.mesh._replace(order=np.ascontiguousarray(turned))
                other = Spreads(model, mesh, fitting_of(model, family.groups))
                family.spreads = other
                assert _found(family, 0.0, 1e300) == pytest.approx(found, rel=1e-9), seed
            compared += len(found)
    assert compared > 200


def _found(family: Family, low: float, high: float) -> dict[tuple[int, ...], float]:
    """Spreads with bounds above `low` and at most `high`, once each."""
    assert family.spreads is not None
    family.spreads.begin(low, high)
    while not family.spreads.over:
        family.spreads.look(family.ways, np.inf)
    every, bounds = family.spreads.found()
    found = {tuple(spread.ravel().tolist()): bound for spread, bound in zip(every, bounds.tolist(), strict=True)}
    assert len(found) == len(every)
    assert all(low < bound <= high for bound in found.values())
    return found


def test_every_point_is_above_the_front():
    points = np.random.default_rng(0).uniform(1.0, 100.0, (3, 2000)) ** 2
    front = lowest(*points)
    assert len(front) <= FRONT
    assert all((front <= point).all(axis=1).any() for point in points.T)
    assert front[:, 0].min() == points[0].min()


def test_a_window_may_want_more_children_than_half_of_a_bound():
    """Three children for r = 4: the window 3 p + 2 r of the first is then where it was when p advances by two."""
    tensors = (
        Tensor("I", ((3, 2),)),
        Tensor("W", ((0, 1),)),
        Tensor("Z", ((1, 0),), is_output=True, word_bits=8),
    )
    levels = (
        Level("L0", 16, 6, 6, 1, 5.0, write_energy_pj=2.0, holds=("I",)),
        Level("L1", 64, 2, 2, 1, 20.0, holds=()),
        Level("L2", None, 1, 1, 1, 80.0, write_energy_pj=2.0),
    )
    arch, problem = Architecture("pairs", levels, "MAC", 6, 6, 1.0), Problem("s3", ("p", "r"), (4, 4), tensors)
    space = Space(bypass=False, split_axes=True, factors="imperfect")
    best, edp = cheapest(arch, problem, space, 3000)
    assert any(loop.bound == 3 for level in best.levels for loop in level.spatial_x)
    found = solve(arch, problem, Request(space=space))
    assert found.proven
    assert found.edp == pytest.approx(edp, rel=1e-12)
