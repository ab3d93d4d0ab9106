"""The bound of a complete mapping is at most the least price of what it stands for."""

from __future__ import annotations

import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.exact import evaluate
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.search.mapping.bounded.search import Search
from tilewright.search.mapping.values import Request, Space

LEVELS = tuple(
    Level(f"L{n}", size, 1, 1, 1, energy) for n, size, energy in ((0, 64, 1.0), (1, 64, 5.0), (2, None, 40.0))
)
LINE = Problem(
    "line", ("p", "r"), (3, 2), (Tensor("I", ((1, 1),)), Tensor("W", ((0, 1),)), Tensor("O", ((1, 0),), is_output=True))
)


def test_a_result_that_rests_at_the_end_of_a_sliding_loop(monkeypatch: pytest.MonkeyPatch):
    """A loop of p moves I, which slides, and O, whose last element is alone in its group and stays while r advances."""
    arch = Architecture("row", LEVELS, "MAC", 1, 1, 1.0)
    search = Search(arch, LINE, Request(objective="energy", space=Space(factors="imperfect")), bounds_of(arch, LINE))
    spread, kept = ((1, 1),) * 3, ((1, 0), (0, 0), (1, 0))
    search.estimates.by_tables(spread, kept, 0.0, float("inf"))
    lowest: list[float] = []

    def note(*_: object) -> float:
        leaves = search.leaves
        for n in range(int(leaves.number[0])):
            if leaves.temporal[n].tolist() == [[1, 1], [2, 2], [2, 1]] and leaves.order[n, 1].tolist() == [0, 1]:
                lowest.append(float(leaves.bound[n, 1]))
        leaves.number[0] = 0
        return float("inf")

    monkeypatch.setattr(search, "price_leaves", note)
    search.explore(spread, kept, float("inf"))
    away = [frozenset("W"), frozenset("IWO"), frozenset[str]()]
    loops = (), (Loop(0, 2), Loop(1, 2)), (Loop(0, 2),)
    mapping = LoopMapping(tuple(LevelMapping(x, (), (), y) for x, y in zip(loops, away, strict=True)))
    assert lowest
    assert min(lowest) <= evaluate(arch, LINE, mapping).energy_pj * (1 + 1e-9)
