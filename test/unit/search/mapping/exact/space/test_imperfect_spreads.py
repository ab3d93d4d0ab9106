"""Boxes of spreads: all spreads come out of them, in the order of bounds."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.search.mapping.exact.space import imperfect_spreads
from tilewright.search.mapping.exact.space.families import Family
from tilewright.search.mapping.exact.space.model import Model
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import OBJECTIVES, Request, Space

from ..enumerate import random_kernel, random_machine, random_problem

FEW = 2000
"""Choices of factors that are tried one by one."""


def test_all_spreads_come_in_the_order_of_bounds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(imperfect_spreads, "FIRST_ROOM", 4)
    compared = windows = 0
    for seed in range(16):
        random = Random(seed)
        problem = random_problem(random) if seed % 2 else random_kernel(random)
        arch = random_machine(random)
        space = Space(random.random() < 0.5, random.random() < 0.5, "imperfect")
        request = Request(objective=OBJECTIVES[seed % 3], space=space)
        search = Search(arch, problem, request, bounds_of(arch, problem))
        for family in search.families:
            if (family.mesh.factors > 0).sum(axis=1).prod() ** len(family.mesh.levels) > FEW:
                continue
            found = _narrowed(search.model, family)
            assert found.keys() == _every(family, search.bounds), seed
            compared += len(found)
            windows += len(found) if search.model.windows.any() else 0
    assert compared > 100
    assert windows > 20


def _narrowed(model: Model, family: Family) -> dict[tuple[int, ...], float]:
    """All spreads with their bounds, which never fall."""
    narrowing, found, reached = imperfect_spreads.Narrowing(model, family.mesh), {}, 0.0
    while narrowing.reached < np.inf:
        assert narrowing.reached >= reached
        reached = narrowing.reached
        for spread, bound in zip(*narrowing.look(family.ways, np.inf, reached), strict=True):
            assert bound >= reached
            key = tuple(spread.ravel().tolist())
            assert key not in found
            found[key] = float(bound)
    return found


def _every(family: Family, bounds: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Factors for which there is room, without rows of children that have no work."""
    mesh, found = family.mesh, set[tuple[int, ...]]()
    lists = [row[row > 0].tolist() for row in mesh.factors]
    shape = len(mesh.room), len(bounds)
    for factors in product(*(lists[d] for _ in mesh.levels for d in range(len(bounds)))):
        spread = np.ones(shape, np.int64)
        spread[mesh.levels] = np.reshape(factors, (-1, len(bounds)))
        if (spread.prod(axis=1) > mesh.room).any():
            continue
        idle = np.where(mesh.halves[:, None], spread // 2, spread - 1)
        full = np.cumprod(np.concatenate([np.ones((1, len(bounds)), np.int64), spread]), axis=0)[:-1]
        if not ((spread > 1) & (full * idle >= np.array(bounds))).any():
            found.add(tuple(spread.ravel().tolist()))
    return found
