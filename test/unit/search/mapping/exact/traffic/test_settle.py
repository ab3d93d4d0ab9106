"""The bound of a complete mapping is at most the least price of what it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.exact import evaluate
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.search.mapping.exact.dominance.symmetries import Kept, Spread
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Request, Space

LINE = Problem(
    "line", ("p", "r"), (3, 2), (Tensor("I", ((1, 1),)), Tensor("W", ((0, 1),)), Tensor("O", ((1, 0),), is_output=True))
)
COLUMN = Problem(
    "column", ("m", "k"), (7, 4), (Tensor("A", ((1, 0), (0, 1))), Tensor("B", ((0, 1),)), Tensor("Z", ((1, 0),), True))
)


def machine(children: int) -> Architecture:
    levels = (
        Level("L0", 64, children, children, 1, 1.0),
        Level("L1", 64, 1, 1, 1, 5.0),
        Level("DRAM", None, 1, 1, 1, 40.0),
    )
    return Architecture("row", levels, "MAC", children, children, 1.0)


def least_bound(
    arch: Architecture, problem: Problem, spread: Spread, kept: Kept, temporal: list[list[int]], order: Sequence[int]
) -> float:
    """The least bound of energy of a skeleton's leaves with these factors, and this order in the second memory."""
    request = Request(objective="energy", space=Space(factors="imperfect"))
    search = Search(arch, problem, request, bounds_of(arch, problem))
    search.estimates.by_tables(spread, kept, 0.0, inf)
    lowest: list[float] = []

    def note(*_: object) -> float:
        leaves = search.settling.leaves
        for n in range(int(leaves.number[0])):
            if leaves.temporal[n].tolist() == temporal and leaves.order[n, 1].tolist() == list(order):
                lowest.append(float(leaves.bound[n, 1]))
        leaves.number[0] = 0
        return inf

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search.settling, "price_leaves", note)
        search.explore(spread, kept, inf)
    return min(lowest)


def price(arch: Architecture, problem: Problem, levels: Sequence[LevelMapping]) -> float:
    found = evaluate(arch, problem, LoopMapping(tuple(levels)))
    assert found.valid
    return found.energy_pj


def test_a_result_that_rests_at_the_end_of_a_sliding_loop():
    """A loop of p moves I, which slides, and O, whose last element is alone in its group and stays while r advances."""
    kept, temporal = ((1, 0), (0, 0), (1, 0)), [[1, 1], [2, 2], [2, 1]]
    bound = least_bound(machine(1), LINE, ((1, 1),) * 3, kept, temporal, (0, 1))
    away = [frozenset("W"), frozenset("IWO"), frozenset[str]()]
    loops = (), (Loop(0, 2), Loop(1, 2)), (Loop(0, 2),)
    levels = [LevelMapping(x, (), (), y) for x, y in zip(loops, away, strict=True)]
    assert bound <= price(machine(1), LINE, levels) * (1 + 1e-9)


@pytest.mark.parametrize("rows", [2, 3])
def test_a_child_without_work_is_sent_nothing(rows: int):
    """A leaf with two rows of 7 on each of two children stands for three, too: the last row is then on one of them."""
    arch, kept = machine(2), ((0, 0), (1, 0), (0, 1))
    bound = least_bound(arch, COLUMN, ((1, 1), (2, 1), (1, 1)), kept, [[1, 1], [2, 1], [2, 4]], (0, 1))
    levels = [
        LevelMapping((), (), (), frozenset("AZ")),
        LevelMapping((Loop(0, rows),), (Loop(0, 2),), (), frozenset("AB")),
        LevelMapping((Loop(1, 4), Loop(0, 2)), (), ()),
    ]
    assert bound <= price(arch, COLUMN, levels) * (1 + 1e-9)
