"""What cycles are worth in bounds of energy times delay."""

from __future__ import annotations

from math import inf

import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.bounds import cost_to_go
from tilewright.search.mapping.exact.bounds.bypassing import Past
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Request, Space

from ..skeletons import verdict_of_each

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
    return bound, search.best.value


def test_tiles_of_inner_memories_that_leave_late_make_a_bound_larger(monkeypatch: pytest.MonkeyPatch):
    bound, best = _bound_and_best(1e12)
    monkeypatch.setattr(cost_to_go, "NEAR", 0.0)
    without, same = _bound_and_best(1e12)
    assert same == best
    assert without * 1.01 < bound <= best * (1 + 1e-9)


def _by_tile_and_best(kept: tuple[tuple[int, int], ...], room: int = 10) -> tuple[float, float]:
    """On a machine whose outermost memory takes long, with a small one inside of it."""
    levels = (Level("L0", room, 1, 1, 1, 0.5), Level("L1", 80, 1, 1, 1, 1.0), Level("L2", None, 1, 1, 1, 8.0, 1, 1))
    request = Request(space=Space(bypass=True, factors="perfect"))
    arch = Architecture("slow", levels, "MAC", 1, 1, 0.1)
    search = Search(arch, GEMM, request, bounds_of(arch, GEMM))
    bound = search.estimates.by_tile(((1, 1, 1),) * 3, kept, 0.0)
    search.estimates.by_tables(((1, 1, 1),) * 3, kept, 0.0, inf)
    search.explore(((1, 1, 1),) * 3, kept, inf)
    return bound, search.best.value


def test_tensors_that_pass_by_are_sent_again_where_tiles_are_larger_than_memories_inside(
    monkeypatch: pytest.MonkeyPatch,
):
    every = [((0, 1), b, (1, 0)) for b in ((0, 1), (1, 0), (1, 1))]
    found = [_by_tile_and_best(kept) for kept in every]
    monkeypatch.setattr(Past, "any", lambda *_: False)
    without = [_by_tile_and_best(kept) for kept in every]
    for (bound, best), (less, same) in zip(found, without, strict=True):
        assert same == best
        assert less <= bound <= best * (1 + 1e-9)
    assert sum(bound > less * 1.01 for (bound, _), (less, _) in zip(found, without, strict=True)) > 1


def test_first_and_last_tiles_of_tensors_that_pass_by_take_time_or_these_are_sent_again(
    monkeypatch: pytest.MonkeyPatch,
):
    every = [(a, b, (1, 0)) for a in ((0, 1), (1, 1)) for b in ((0, 1), (1, 0), (1, 1))]
    found = [_by_tile_and_best(kept, 64) for kept in every]
    sets_of = Past.sets_of
    monkeypatch.setattr(Past, "sets_of", lambda self, kept: (*sets_of(self, kept)[:2], ()))
    without = [_by_tile_and_best(kept, 64) for kept in every]
    for (bound, best), (less, same) in zip(found, without, strict=True):
        assert same == best
        assert less <= bound <= best * (1 + 1e-9)
    assert sum(bound > less * 1.01 for (bound, _), (less, _) in zip(found, without, strict=True)) > 1


def test_first_tiles_arrive_while_another_bound_of_cycles_holds():
    """Sums of energy and cycles count first tiles of inner memories, which may arrive within the least cycles."""
    tensors = Tensor("I", ((1, 2),)), Tensor("W", ((0, 1),), word_bits=8), Tensor("Z", ((1, 0),), True, 8)
    levels = (
        Level("L0", 6, 2, 1, 1, 1.0, None, 2, latency_cycles=3, holds=("O", "W"), multiple_buffering=2.0),
        Level("L1", 6, 1, 1, 1, 4.0, 1, 1, latency_cycles=3),
        Level("L2", None, 1, 1, 1, 4.8, 3, 3, write_energy_pj=2.0),
    )
    arch = Architecture("waiting", levels, "MAC", 4, 2, 1.0, operands=("O", "I", "W"))
    problem, space = Problem("dilated", ("p", "r"), (2, 5), tensors), Space(True, True, "perfect")
    assert verdict_of_each(arch, problem, Request("edp", "exact", space), 3000) == "proven"
