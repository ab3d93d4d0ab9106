"""Elements that instances hold at least, against all elements of any shares of the iterations; words in blocks."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.costs.timeloop import evaluate
from tilewright.search.mapping.exact.space.model import model_of
from tilewright.search.mapping.exact.space.skeleton import fill, new_skeleton
from tilewright.search.mapping.values import Space

SHARES = 5
"""Ways to share out the iterations that are tried for each window."""


def shared_out(bound: int, parts: int, random: Random) -> list[set[int]]:
    """Iterations, some for each of `parts`."""
    order = random.sample(range(bound), bound)
    if random.random() < 0.5:
        order.sort()
    cuts = [0, *sorted(random.sample(range(1, bound), parts - 1)), bound]
    return [set(order[a:b]) for a, b in pairwise(cuts)]


def fewest(problem: Problem, mesh: tuple[int, int], factors: str, spread: tuple[int, int]) -> float:
    """Elements of the first tensor that reach the inner memory's instances at least."""
    columns, rows = mesh
    levels = Level("L0", 99, columns * rows, columns, 1, 1.0), Level("DRAM", None, 1, 1, 1, 40.0)
    arch = Architecture("row", levels, "MAC", columns * rows, columns, 1.0)
    model, _ = model_of(
        arch, problem, Space(split_axes=True, factors="perfect" if factors == "perfect" else "imperfect")
    )
    skeleton = new_skeleton(2, 2, 2)
    skeleton.spread[1], skeleton.kept[:, 0], skeleton.kept[1] = spread, 1, 1
    fill(model, skeleton)
    return float(skeleton.least_words[0, 0, 0, 1])


@pytest.mark.parametrize("seed", range(40))
def test_instances_hold_no_less(seed: int):
    random = Random(seed)
    bounds = random.randint(3, 9), random.randint(2, 5)
    scale, dilation = random.choice([(1, 1), (2, 1), (3, 1), (1, 2), (2, 3)])
    x, y = random.randint(1, 3), random.randint(1, 2)
    problem = Problem("line", ("p", "r"), bounds, (Tensor("I", ((scale, dilation),)), Tensor("O", ((1, 0),), True)))
    least = fewest(problem, (9, 1), "imperfect", (x, y))
    for _ in range(SHARES):
        every = [
            len({scale * p + dilation * r for p in ps for r in rs})
            for ps in shared_out(bounds[0], x, random)
            for rs in shared_out(bounds[1], y, random)
        ]
        assert least <= sum(every) * (1 + 1e-12)


@pytest.mark.parametrize("block", [1, 4, 5])
def test_operands_are_read_in_whole_blocks_in_the_model_of_timeloop(block: int):
    """Three rows of 7 products: 21 words of each tensor, and 18 of results that are read again."""
    tensors = Tensor("A", ((1, 0), (0, 1))), Tensor("B", ((0, 1),)), Tensor("Z", ((1, 0),), True)
    problem = Problem("product", ("m", "k"), (3, 7), tensors)
    levels = Level("L0", 9, 1, 1, 1, 1.0), Level("DRAM", None, 1, 1, block, 40.0)
    arch = Architecture("block", levels, "MAC", 1, 1, 1.0)
    model, _ = model_of(arch, problem, Space(bypass=True, factors="perfect"), "timeloop")
    skeleton = new_skeleton(2, 2, 3)
    skeleton.kept[1] = 1
    outside = LevelMapping((Loop(1, 7), Loop(0, 3)), (), ())
    priced = evaluate(arch, problem, LoopMapping((LevelMapping((), (), (), frozenset("ABZ")), outside)))
    assert priced.valid
    assert fill(model, skeleton)[0] == pytest.approx(priced.energy_pj, rel=1e-12)
