"""No mapping beats the bounds: random ones, and all mappings of tiny problems."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from math import inf
from random import Random

import pytest

from tilewright.costs.bounds import Bounds, bounds_of
from tilewright.costs.bounds import bound as module
from tilewright.costs.exact import price_batch
from tilewright.costs.exact.validity import bits_of_word
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor

OPERANDS = ("A", "B", "O")


def problem_of(random: Random) -> Problem:
    """A product, a window, or a product of three factors; words of several widths."""
    kind = random.randrange(3)
    bounds = tuple(random.randint(1, 12) for _ in range(3))
    rows = (
        {"A": ((1, 0, 0), (0, 0, 1)), "B": ((0, 0, 1), (0, 1, 0)), "O": ((1, 0, 0), (0, 1, 0))},
        {
            "A": ((random.randint(1, 3), random.randint(1, 2), 0),),
            "B": ((0, 1, 0), (0, 0, 1)),
            "O": ((1, 0, 0), (0, 0, 1)),
        },
        {"A": ((1, 0, 0), (0, 1, 0), (0, 0, 1)), "B": ((0, 0, 1), (0, 1, 0)), "C": ((0, 1, 0),), "O": ((1, 0, 0),)},
    )[kind]
    tensors = tuple(Tensor(n, axes, n == "O", random.choice((None, 8, 24))) for n, axes in rows.items())
    return Problem(f"kind{kind}", ("X", "Y", "Z"), bounds, tensors)


def machine_of(random: Random, levels: int) -> Architecture:
    """Memories under DRAM with ports, energies and small arrays of their own."""
    sides = [2 ** (levels - 1 - i) for i in range(levels)]
    chain = tuple(
        Level(
            f"L{i}",
            None if i == levels - 1 else random.choice((4, 12, 60)),
            sides[i] ** 2,
            sides[i],
            random.choice((1, 2)),
            random.choice((0.5, 2.0, 20.0)),
            random.choice((None, 0.5, 3)),
            random.choice((None, 0.7, 2)),
            random.choice((None, 4)),
            hop_energy_pj=random.choice((0.0, 0.3)),
            multiple_buffering=random.choice((1.0, 2.0)),
            word_bits=random.choice((8, 16)),
            write_energy_pj=random.choice((None, 1.5)),
            network_bandwidth=random.choice((None, 1.5)),
            latency_cycles=random.choice((0, 3)),
            holds=None if i == levels - 1 else random.choice((None, ("O",), ("I", "W"), ("O", "W"))),
        )
        for i in range(levels)
    )
    return Architecture("random", chain, "MAC", sides[0] ** 2 * 4, sides[0] * 2, 1.0)


def mapping_of(random: Random, problem: Problem, arch: Architecture) -> LoopMapping:
    """Covering factors within the arrays, random bypass where a memory may hold a tensor."""
    left = list(problem.bounds)
    levels: list[LevelMapping] = []
    for index in range(len(arch.levels)):
        outer = index == len(arch.levels) - 1
        room = list(arch.fan_out(index))
        spatial: list[list[Loop]] = [[], []]
        temporal: list[Loop] = []
        for dim in random.sample(range(len(left)), len(left)):
            for axis in range(2):
                factor = random.randint(1, min(room[axis], left[dim]))
                room[axis] //= factor
                left[dim] = -(-left[dim] // factor)
                spatial[axis].append(Loop(dim, factor))
            factor = left[dim] if outer else random.randint(1, random.choice((1, left[dim])))
            left[dim] = -(-left[dim] // factor)
            temporal.append(Loop(dim, factor))
        random.shuffle(temporal)
        may = arch.may_hold(index, problem)
        bypass = {t.name for t, held in zip(problem.tensors, may, strict=True) if not held or random.random() < 0.3}
        x, y, time = (tuple(loop for loop in loops if loop.bound > 1) for loops in (*spatial, temporal))
        levels.append(LevelMapping(time, x, y, frozenset() if outer else frozenset(bypass)))
    return LoopMapping(tuple(levels))


def check(arch: Architecture, problem: Problem, mappings: list[LoopMapping], bounds: Bounds) -> float:
    """No mapping is below the bounds; how close the best comes in energy-delay product."""
    prices = price_batch(arch, problem, mappings)
    bits = [bits_of_word(tensor, arch.levels[-1]) for tensor in problem.tensors]
    outermost = (prices.reads[:, -1] + prices.updates[:, -1]) @ bits / arch.levels[-1].word_bits
    best = inf
    for n in range(len(mappings)):
        if prices.valid[n]:
            assert prices.energy_pj[n] >= bounds.energy_pj * (1 - 1e-12)
            assert prices.cycles[n] >= bounds.cycles
            assert outermost[n] >= bounds.dram_words
            assert prices.edp_j_cycle[n] >= bounds.edp_j_cycle * (1 - 1e-12)
            best = min(best, prices.edp_j_cycle[n] / bounds.edp_j_cycle)
    return best


@pytest.mark.parametrize("seed", range(30))
def test_no_random_mapping_is_below_the_bounds(seed: int, monkeypatch: pytest.MonkeyPatch):
    random = Random(seed)
    problem = problem_of(random)
    arch = machine_of(random, random.randint(2, 4))
    if seed % 3 == 0:
        monkeypatch.setattr(module, "MAX_CHOICES", 1)
    mappings = [mapping_of(random, problem, arch) for _ in range(80)]
    check(arch, problem, mappings, bounds_of(arch, problem))


def every_mapping(problem: Problem, children: int) -> Iterator[LoopMapping]:
    """All tiles, loop orders, unrollings and bypasses of two levels, imperfect factors included."""
    dims = range(len(problem.dims))
    tensors = [tensor.name for tensor in problem.tensors]
    for inner in product(*(range(1, bound + 1) for bound in problem.bounds)):
        for spread in product(*(range(1, children + 1) for _ in dims)):
            outer = [
                -(-bound // (tile * many)) for bound, tile, many in zip(problem.bounds, inner, spread, strict=True)
            ]
            for order, bypassed in product(permutations(dims), range(1 << len(tensors))):
                names = frozenset(name for i, name in enumerate(tensors) if bypassed >> i & 1)
                below = tuple(Loop(d, inner[d]) for d in order if inner[d] > 1)
                above = tuple(Loop(d, outer[d]) for d in order if outer[d] > 1)
                columns = tuple(Loop(d, spread[d]) for d in dims if spread[d] > 1)
                yield LoopMapping((LevelMapping(below, (), (), names), LevelMapping(above, columns)))


@pytest.mark.parametrize("bounds", [(3, 2, 2), (4, 3, 1), (5, 1, 2)])
@pytest.mark.parametrize("entries", [2, 6, 100])
def test_the_best_of_all_mappings_is_not_below_the_bounds(bounds: tuple[int, int, int], entries: int):
    rows = {"A": ((1, 0, 0), (0, 0, 1)), "B": ((0, 0, 1), (0, 1, 0)), "O": ((1, 0, 0), (0, 1, 0))}
    tensors = tuple(Tensor(name, axes, name == "O") for name, axes in rows.items())
    problem = Problem("gemm", ("M", "N", "K"), bounds, tensors)
    inner = Level("L1", entries, 2, 2, 1, 1.0, read_bandwidth=2)
    arch = Architecture("two", (inner, Level("DRAM", None, 1, 1, 1, 50.0, 1.0, 1.0)), "MAC", 2, 2, 0.5)
    assert 1 <= check(arch, problem, list(every_mapping(problem, 2)), bounds_of(arch, problem)) < 2.5


def test_bounds_may_be_reached():
    # everything fits: each element moves once, each operation reads and writes the inner memory
    tensors = (Tensor("A", ((1, 0), (0, 1))), Tensor("O", ((1, 0),), is_output=True))
    problem = Problem("rows", ("M", "K"), (6, 5), tensors)
    inner = Level("L1", 64, 1, 1, 1, 1.0, latency_cycles=4)
    arch = Architecture("two", (inner, Level("DRAM", None, 1, 1, 1, 50.0, latency_cycles=7)), "MAC", 1, 1, 0.5)
    nest = LoopMapping((LevelMapping((Loop(1, 5),)), LevelMapping((Loop(0, 6),))))
    bounds = bounds_of(arch, problem)
    prices = price_batch(arch, problem, [nest])
    assert prices.cycles[0] == 30 + 2 * (4 + 7)
    # A past L1: 30 reads of DRAM; O in L1: 30 updates, 24 reads of sums and 6 on leaving, 6 updates of DRAM
    assert bounds.energy_pj == pytest.approx(50 * (30 + 6) + 30 + 30 + 15)
    past = replace(nest, levels=(replace(nest.levels[0], bypass=frozenset("A")), nest.levels[1]))
    assert price_batch(arch, problem, [past]).energy_pj[0] == pytest.approx(bounds.energy_pj)
    # fewest cycles: no tile waits in L1
    direct = replace(nest, levels=(replace(nest.levels[0], bypass=frozenset("AO")), nest.levels[1]))
    assert price_batch(arch, problem, [direct]).cycles[0] == bounds.cycles == 30 + 2 * 7


def test_the_binding_term_is_named():
    tensors = (Tensor("A", ((1, 0, 0), (0, 0, 1))), Tensor("B", ((0, 0, 1), (0, 1, 0))))
    output = Tensor("O", ((1, 0, 0), (0, 1, 0)), is_output=True)
    problem = Problem("gemm", ("M", "N", "K"), (4096, 4096, 4096), (*tensors, output))
    inner = Level("L1", 10_000, 1, 1, 1, 1.0)
    machine = Architecture("two", (inner, Level("DRAM", None, 1, 1, 1, 50.0)), "MAC", 64, 8, 0.5)
    found = bounds_of(machine, problem)
    assert found.binding == {"cycles": "compute", "dram_words": "reuse in the memories inside"}
    assert found.cycles == 1 << 30
    slow = replace(machine, levels=(inner, replace(machine.levels[1], read_bandwidth=0.25)))
    assert bounds_of(slow, problem).binding["cycles"] == "read bandwidth of DRAM"
    wide = replace(machine, levels=(replace(inner, entries=1 << 30), machine.levels[1]))
    assert bounds_of(wide, problem).as_json()["dram_words"] == 3 << 24
    assert bounds_of(wide, problem).binding["dram_words"] == "every element once"


def test_a_good_mapping_comes_close():
    # a pointwise layer of ResNet-50 on 32 x 32 units: weights and inputs reused in L1 or by all units, nothing in L2
    rows = {"I": ((0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)), "W": ((1, 0, 0, 0), (0, 1, 0, 0))}
    rows["O"] = ((1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
    tensors = tuple(Tensor(name, axes, name == "O") for name, axes in rows.items())
    problem = Problem("pointwise", ("K", "C", "P", "Q"), (64, 256, 56, 56), tensors)
    memories = (Level("L1", 256, 1024, 32, 1, 2.05, 3, 4), Level("L2", 1_625_292, 1, 1, 4, 120.0, 64, 64))
    arch = Architecture("conventional", (*memories, Level("DRAM", None, 1, 1, 4, 512.0)), "MAC", 1024, 32, 2.2)
    spread = LevelMapping((), (Loop(1, 32),), (Loop(1, 8), Loop(2, 4)), frozenset("IWO"))
    nest = LoopMapping(
        (LevelMapping((Loop(0, 64),), bypass=frozenset("O")), spread, LevelMapping((Loop(2, 14), Loop(3, 56))))
    )
    assert 1 <= check(arch, problem, [nest], bounds_of(arch, problem)) < 1.01
