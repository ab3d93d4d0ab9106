"""What cycles are worth in bounds of energy times delay."""

from __future__ import annotations

from math import inf

import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.bounded import ahead
from tilewright.search.mapping.bounded.search import Search
from tilewright.search.mapping.values import Request, Space

GEMM = Problem(
    "gemm",
    ("m", "n", "k"),
    (8, 8, 8),
    (
        Tensor("A", ((1, 0, 0), (0, 0, 1))),
        Tensor("B", ((0, 0, 1), (0, 1, 0))),
        Tensor("Z", ((1, 0, 0), (0, 1, 0)), True),
    ),
)


def _bound_and_best(most: float) -> tuple[float, float]:
    """Of the skeleton that keeps results in the innermost memory alone, so that large tiles of them leave late."""
    levels = (
        Level("L0", 64, 1, 1, 1, 0.5),
        Level("L1", 64, 1, 1, 1, 1.0),
        Level("L2", None, 1, 1, 1, 2.0, None, None, 1),
    )
    arch = Architecture("late", levels, "MAC", 1, 1, 0.1)
    request = Request(space=Space(bypass=True, factors="perfect"))
    search = Search(arch, GEMM, request, bounds_of(arch, GEMM))
    spread, kept = ((1, 1, 1),) * 3, ((0, 1), (0, 1), (1, 0))
    bound = search.estimates.by_tables(spread, kept, 0.0, most)
    assert search.explore(spread, kept, inf) == (inf, True)
    return bound, search.best_value


def test_tiles_of_inner_memories_that_leave_late_make_a_bound_larger(monkeypatch: pytest.MonkeyPatch):
    bound, best = _bound_and_best(1e12)
    monkeypatch.setattr(ahead, "NEAR", 0.0)
    without, same = _bound_and_best(1e12)
    assert same == best
    assert without * 1.01 < bound <= best * (1 + 1e-9)
