"""How many children lie on meshes, and how many more may."""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact import solve
from tilewright.search.mapping.exact.space.meshes import children_on, fitting_of
from tilewright.search.mapping.exact.space.model import PLAIN
from tilewright.search.mapping.exact.space.perfect_spreads import find_room, new_trail
from tilewright.search.mapping.exact.space.spreads import layout_of
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Request, Space

from ..enumerate import cheapest, random_kernel, random_machine, random_problem

MESHES = [(2, 4)], [(3, 1)], [(2, 3), (3, 2)], [(1, 1)], [(4, 4), (1, 2)]


@pytest.mark.parametrize("meshes", MESHES)
def test_children_lie_along_axes(meshes: list[tuple[int, int]]):
    axes = [axis for mesh in meshes for axis in mesh]
    every = {prod(factors) for factors in product(*(range(1, axis + 1) for axis in axes))}
    assert set(np.flatnonzero(children_on(meshes)).tolist()) == every


def test_a_layout_is_there_just_where_children_fit():
    for columns, rows in ((2, 4), (3, 5), (6, 1), (4, 4)):
        found = children_on([(columns, rows)])
        for factors in product((1, 2, 3, 4, 6), (1, 2, 5, 7)):
            there = layout_of(factors, (columns, rows), split=True) is not None
            assert there == (prod(factors) < len(found) and found[prod(factors)]), (columns, rows, factors)


def test_no_more_children_than_can_be():
    """Once some dimensions are spread: as often as many, by all ways to spread the others."""
    compared = 0
    for seed in range(30):
        random = Random(seed)
        problem = random_problem(random) if seed % 2 else random_kernel(random)
        arch = random_machine(random)
        search = Search(arch, problem, Request(space=Space(True, True, "perfect")), bounds_of(arch, problem))
        model, mesh = search.model, search.families[0].mesh
        fitting = fitting_of(model, [[mesh] for mesh in search.meshes])
        for level in mesh.levels.tolist():
            columns, rows = search.meshes[level]
            lists = [row[row > 0].tolist() for row in mesh.factors]
            for done in range(len(lists) + 1):
                first, others = mesh.order[:done].tolist(), mesh.order[done:].tolist()
                for begin in product(*(lists[d] for d in first)):
                    if layout_of(begin, (columns, rows), split=True) is None:
                        continue
                    trail = new_trail(model, mesh)
                    trail.spread[level, first] = begin
                    find_room(model, mesh.order, fitting, trail, done)
                    for t in range(len(model.full) + 1):
                        free = [d for d in others if t == len(model.full) or model.kind[t, d] != PLAIN]
                        most = max(
                            prod(more)
                            for more in product(*(lists[d] for d in free))
                            if layout_of((*begin, *more), (columns, rows), split=True) is not None
                        )
                        assert trail.more[t, level] == most, (seed, level, begin, t)
                        compared += 1
    assert compared > 300


def test_more_children_than_half_of_the_terms_come_back_to_fewer_sums():
    """Of 3 x 2 visits for 4 terms of a sum, 3 find no sum yet and 1 finds one; of 2 x 2 visits, 2 do."""
    levels = (
        Level("L0", 4, 12, 6, 1, 5.0, hop_energy_pj=0.5, multiple_buffering=2.0),
        Level("L1", 4, 3, 3, 2, 1.2, multiple_buffering=2.0, write_energy_pj=2.0),
        Level("L2", 12, 3, 3, 2, 80.0),
        Level("L3", None, 1, 1, 2, 320.0, write_energy_pj=2.0),
    )
    arch = Architecture("sums", levels, "MAC", 12, 6, 1.0)
    tensors = (
        Tensor("I", ((0, 1, 0), (1, 0, 1))),
        Tensor("W", ((0, 1, 0), (0, 0, 1)), word_bits=8),
        Tensor("Z", ((1, 0, 0),), True, 8),
    )
    problem = Problem("conv2d", ("q", "r", "s"), (2, 4, 2), tensors)
    space = Space(bypass=False, split_axes=True, factors="imperfect")
    mapping, least = cheapest(arch, problem, space, 3000)
    assert mapping.levels[3].spatial_x[0].bound == 3
    found = solve(arch, problem, Request(space=space))
    assert found.proven
    assert found.edp == pytest.approx(least, rel=1e-9)
