"""The best order of each level's loops, against the prices of all orders."""

from __future__ import annotations

from itertools import permutations, product
from random import Random

import numpy as np
import pytest

from tilewright.costs.exact.batch import workspace
from tilewright.costs.exact.batch_kernel import price_all
from tilewright.costs.exact.batch_orders import MAX_DIMS, best_orders, sets_for
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.costs.hierarchy.batch import Batch

CONV = Problem(
    "conv",
    ("n", "k", "p", "r"),
    (3, 4, 5, 3),
    (
        Tensor("I", ((1, 0, 0, 0), (0, 0, 2, 1))),
        Tensor("W", ((0, 1, 0, 0), (0, 0, 0, 1))),
        Tensor("O", ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)), is_output=True),
    ),
)
BACK = Problem(
    "back", ("p", "r", "k"), (5, 3, 4), (Tensor("O", ((1, 2, 0),), True), Tensor("I", ((1, 0, 0), (0, 0, 1))))
)


def machine(hops: float) -> Architecture:
    levels = (
        Level("L0", 999, 4, 4, 1, 1.0),
        Level("L1", 999, 1, 1, 1, 5.0, write_energy_pj=3.0, hop_energy_pj=hops),
        Level("DRAM", None, 1, 1, 1, 40.0),
    )
    return Architecture("row", levels, "MAC", 4, 4, 1.0)


def factors_of(problem: Problem, random: Random) -> tuple[list[list[int]], list[list[int]]]:
    """Factors in time and along X by level; the last tiles may be shorter."""
    time, along = ([[1] * len(problem.bounds) for _ in range(3)] for _ in range(2))
    for d, bound in enumerate(problem.bounds):
        left = bound
        for level in range(2):
            along[level][d] = 2 if level == 1 and left > 1 and d < 2 else 1
            left = -(-left // along[level][d])
            time[level][d] = random.randint(1, left)
            left = -(-left // time[level][d])
        time[2][d] = left
    return time, along


@pytest.mark.parametrize("hops", [0.0, 0.5])
@pytest.mark.parametrize("problem", [CONV, BACK], ids=["conv", "back"])
@pytest.mark.parametrize("seed", range(4))
def test_no_order_takes_less(problem: Problem, seed: int, hops: float):
    random, arch, dims = Random(seed), machine(hops), range(len(problem.bounds))
    time, along = factors_of(problem, random)
    levels = [[[*some, *(d for d in dims if d not in some)] for some in permutations(own)] for own in looping(time)]
    orders = np.array(list(product(*levels)), np.int64)
    kept = np.array(
        [[random.random() < 0.6 for _ in problem.tensors] for _ in range(2)] + [[True] * len(problem.tensors)]
    )
    number = len(orders)
    x, ones, plain = np.array(along), np.ones((3, len(dims)), np.int64), np.array([list(dims)] * 3)
    every = Batch(
        np.array([time] * number), orders, np.array([x] * number), np.array([plain] * number),
        np.array([ones] * number), np.array([plain] * number), np.array([kept] * number),
    )  # fmt: skip
    room = workspace(arch, problem, number)
    price_all(room.shape, room.machine, every, room.answers, room.loops, room.flow, room.work)
    least = float(room.answers.energy_pj.min())
    one = Batch(
        every.temporal[-1:], orders[-1:].copy(), every.spatial_x[-1:], every.order_x[-1:],
        every.spatial_y[-1:], every.order_y[-1:], every.kept[-1:],
    )  # fmt: skip
    sets, energy = sets_for(room.shape), np.zeros(1)
    assert sets is not None
    assert best_orders(room.shape, room.machine, one, room.loops, room.work, sets, energy)
    price_all(room.shape, room.machine, one, room.answers, room.loops, room.flow, room.work)
    assert float(energy[0]) == pytest.approx(least, rel=1e-12)
    assert float(room.answers.energy_pj[0]) == pytest.approx(least, rel=1e-12)


def looping(time: list[list[int]]) -> list[list[int]]:
    """The dimensions that loop in each level."""
    return [[d for d, factor in enumerate(row) if factor > 1] for row in time]


def test_many_dimensions_are_left_to_other_searches():
    bounds = (2,) * (MAX_DIMS + 1)
    rows = tuple(tuple(int(d == e) for e in range(len(bounds))) for d in range(len(bounds)))
    names = tuple("abcdefghijklmnop"[: len(bounds)])
    problem = Problem("wide", names, bounds, (Tensor("A", rows), Tensor("Z", rows[:1], True)))
    assert sets_for(workspace(machine(0.0), problem, 1).shape) is None
