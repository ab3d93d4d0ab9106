"""Spreads that differ only in which of two meshes has which instances."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.exact.dominance.mesh_symmetries import Twins
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Factors, Request, Space

from ..bounds.test_delays import GEMM as CUBE
from ..enumerate import cheapest
from .test_merging import TTMC

GEMM = replace(CUBE, bounds=(7, 3, 5))

LEVELS = (
    Level("L0", 2, 16, 4, 1, 0.5, holds=("W",)),
    Level("L1", 4, 4, 1, 1, 1.0, holds=("O",)),
    Level("L2", 24, 1, 1, 1, 6.0),
    Level("L3", None, 1, 1, 1, 60.0, 2, 2),
)
MACHINE = Architecture("two meshes", LEVELS, "MAC", 16, 4, 0.1)
SPREADS = ((1, 1, 1), (4, 1, 1), (1, 2, 2), (1, 1, 1)), ((1, 1, 1), (2, 1, 2), (2, 2, 1), (1, 1, 1))
BETWEEN = (0, 0, 0), (0, 0, 1), (0, 1, 0)
"""Results are kept between the two meshes."""


def _search(factors: Factors = "imperfect") -> Search:
    space = Space(bypass=True, split_axes=True, factors=factors)
    return Search(MACHINE, GEMM, Request(space=space), bounds_of(MACHINE, GEMM))


def test_nothing_inside_leaves_nothing_to_find_in_the_other_place():
    twins, kept = _search().twins, ((0, 0, 1),) * 3
    assert [twins.superfluous(spread, kept) for spread in (*SPREADS, SPREADS[0])] == [False, True, False]


def test_tensors_inside_may_rest_at_a_ragged_end_of_a_loop_between():
    twins, kept = _search().twins, ((0, 0, 1), (1, 0, 1), (0, 0, 1))
    assert not any(twins.superfluous(spread, kept) for spread in SPREADS)
    assert twins.between(SPREADS[0], kept).tolist() == [0, 0, 0, 0]
    assert twins.between(SPREADS[1], kept).tolist() == [0, 0b011, 0, 0]


def test_places_matter_where_something_is_kept_between_or_factors_are_perfect():
    for twins, kept in ((_search().twins, BETWEEN), (_search("perfect").twins, ((0, 0, 1),) * 3)):
        assert not any(twins.superfluous(spread, kept) for spread in SPREADS)
        assert not any(twins.between(spread, kept).any() for spread in SPREADS)


def _proof(problem: Problem) -> tuple[float, int]:
    """The best on a machine with two meshes in a row, and nodes until that is proven."""
    arch = find_architecture("tpu_like")
    request = Request(space=Space(bypass=True, split_axes=True, factors="imperfect"))
    search = Search(arch, problem, request, bounds_of(arch, problem))
    assert search.run(inf)
    return search.best.value, search.nodes


def test_the_best_is_found_sooner_without_the_others(monkeypatch: pytest.MonkeyPatch):
    problem = Problem("ttmc", ("i", "j", "k", "l", "m"), (610, 514, 72, 8, 8), TTMC)
    best, nodes = _proof(problem)
    monkeypatch.setattr(Twins, "superfluous", lambda *_: False)
    monkeypatch.setattr(Twins, "between", lambda _, spread, __: np.zeros(len(spread), np.int64))
    same, more = _proof(problem)
    assert best == same
    assert nodes < 0.5 * more


def test_the_best_is_that_of_all_mappings():
    tensors = Tensor("A", ((1,),)), Tensor("Z", ((1,),), True)
    problem = Problem("copy", ("m",), (11,), tensors)
    request = Request(space=Space(bypass=True, split_axes=True, factors="imperfect"))
    search = Search(MACHINE, problem, request, bounds_of(MACHINE, problem))
    assert search.run(inf)
    _, edp = cheapest(MACHINE, problem, request.space, 100_000)
    assert search.best.value * 1e-12 == pytest.approx(edp, rel=1e-9)
