"""Boxes of spreads: all spreads come out of them, in the order of bounds."""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.dominance.symmetries import Family
from tilewright.search.mapping.exact.space import narrowing
from tilewright.search.mapping.exact.space.model import Model
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import OBJECTIVES, Factors, Request, Space

from ..enumerate import random_kernel, random_machine, random_problem
from ..skeletons import best_of_each

FEW = 2000
"""Choices of factors that are tried one by one."""


@pytest.mark.parametrize("factors", ["perfect", "imperfect"])
def test_all_spreads_come_in_the_order_of_bounds(monkeypatch: pytest.MonkeyPatch, factors: Factors):
    monkeypatch.setattr(narrowing, "TOGETHER", 4)
    compared = windows = 0
    for seed in range(16):
        random = Random(seed)
        problem = random_problem(random) if seed % 2 else random_kernel(random)
        arch = random_machine(random)
        space = Space(random.random() < 0.5, random.random() < 0.5, factors)
        request = Request(objective=OBJECTIVES[seed % 3], space=space)
        search = Search(arch, problem, request, bounds_of(arch, problem))
        for family in search.families:
            if (family.mesh.factors > 0).sum(axis=1).prod() ** len(family.mesh.levels) > FEW:
                continue
            found = _narrowed(search.model, family)
            assert found.keys() == _every(search, family), seed
            compared += len(found)
            windows += len(found) if search.model.windows.any() else 0
    assert compared > 100
    assert windows > 20


def test_words_of_a_window_are_those_of_its_union():
    """Rows `p + r`, not kept on chip: instances side by side along `p` or `r` share what they have in common."""
    tensors = Tensor("I", ((1, 1),)), Tensor("W", ((0, 1),)), Tensor("Z", ((1, 0),), True)
    problem, request = Problem("line", ("p", "r"), (3, 2), tensors), Request("energy", space=Space(factors="imperfect"))
    levels = Level("L0", 64, 2, 2, 1, 1.0, holds=("O", "W")), Level("D", None, 1, 1, 1, 900.0)
    arch = Architecture("line", levels, "MAC", 2, 2, 0.01)
    bounds, best = _bounds_and_best(arch, problem, request)
    assert all(bounds[key] > 0.99 * energy for key, energy in best.items())


def _bounds_and_best(
    arch: Architecture, problem: Problem, request: Request
) -> tuple[dict[tuple[int, ...], float], dict[tuple[int, ...], float]]:
    """Of each spread, for all sets of kept tensors; no bound is above the best mapping."""
    search, found = Search(arch, problem, request, bounds_of(arch, problem)), dict[tuple[int, ...], float]()
    for (spread, _), value in (best_of_each(arch, problem, request, 2000) or {}).items():
        key = tuple(factor for row in spread for factor in row)
        found[key] = min(value, found.get(key, np.inf))
    (family,) = search.families
    bounds = _narrowed(search.model, family)
    assert found
    assert all(bounds[key] <= value * (1 + 1e-9) for key, value in found.items())
    return bounds, found


def _narrowed(model: Model, family: Family) -> dict[tuple[int, ...], float]:
    """All spreads with their bounds, which never fall."""
    waiting, found, reached = narrowing.Narrowing(model, family.mesh), {}, 0.0
    while waiting.reached < np.inf:
        assert waiting.reached >= reached
        reached = waiting.reached
        for spread, bound in zip(*waiting.look(family.ways, np.inf, reached), strict=True):
            assert bound >= reached
            key = tuple(spread.ravel().tolist())
            assert key not in found
            found[key] = float(bound)
    return found


def _every(search: Search, family: Family) -> set[tuple[int, ...]]:
    """Factors that fill some columns and rows, without rows of children that have no work; perfect ones divide the
    bounds."""
    model, bounds, mesh, found = search.model, search.bounds, family.mesh, set[tuple[int, ...]]()
    axes = {group[0]: [n for k in group for n in search.meshes[k]] for group in search.places.merged(family.kept[0])}
    fitting = {k: {prod(part) for part in product(*(range(1, n + 1) for n in axes[k]))} for k in axes}
    lists = [row[row > 0].tolist() for row in mesh.factors]
    shape = len(mesh.room), len(bounds)
    for factors in product(*(lists[d] for _ in mesh.levels for d in range(len(bounds)))):
        spread = np.ones(shape, np.int64)
        spread[mesh.levels] = np.reshape(factors, (-1, len(bounds)))
        if any(int(spread[level].prod()) not in fitting.get(int(level), {1}) for level in mesh.levels):
            continue
        if model.perfect and (np.array(bounds) % spread.prod(axis=0)).any():
            continue
        idle = np.where(model.halves[:, None], spread // 2, spread - 1)
        full = np.cumprod(np.concatenate([np.ones((1, len(bounds)), np.int64), spread]), axis=0)[:-1]
        if not ((spread > 1) & (full * idle >= np.array(bounds))).any():
            found.add(tuple(spread.ravel().tolist()))
    return found
