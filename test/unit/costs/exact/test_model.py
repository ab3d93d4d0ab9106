"""Prices by hand, against a walk over all iterations, and against Timeloop's model where both agree."""

from dataclasses import replace
from math import ceil, prod
from random import Random
from typing import NamedTuple

import pytest

from tilewright.costs.exact import evaluate
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.costs.timeloop import Prices
from tilewright.costs.timeloop import evaluate as timeloop
from tilewright.errors import TilewrightError

from .walk import Walk, random_machine, random_mapping, random_problem, window

P, R, K = range(3)


def machine(children: int = 4, **inner: int) -> Architecture:
    """A row of `children` memories of 64 words, one multiplier each, under DRAM."""
    small = replace(Level("L1", 64, children, children, 1, 1.0), **inner)
    return Architecture("small", (small, Level("DRAM", None, 1, 1, 4, 100.0)), "MAC", children, children, 2.0)


def level(*temporal: tuple[int, int], x: tuple[tuple[int, int], ...] = (), bypass: str = "") -> LevelMapping:
    """Loops as (dimension, bound), inner to outer; `bypass` lists one-letter tensors."""
    return LevelMapping(
        tuple(Loop(*loop) for loop in temporal), tuple(Loop(*loop) for loop in x), (), frozenset(bypass)
    )


def mapping(*levels: LevelMapping) -> LoopMapping:
    """Levels, innermost first."""
    return LoopMapping(levels)


def counts(prices: Prices, memory: str, tensor: str) -> tuple[int, int, int]:
    report = prices.levels[memory].tensors[tensor]
    return report.reads, report.fills, report.updates


def test_the_halo_of_a_row_by_row_walk_is_kept():
    # tiles of 2 outputs, K inside P: I stays for both K, each of the next 3 tiles brings 2 new inputs
    nest = mapping(level((P, 2), (R, 3)), level((K, 2), (P, 4)))
    assert counts(evaluate(machine(), window(8, 3, k=2), nest), "DRAM", "I") == (4 + 3 * 2, 0, 0)


def test_a_last_tile_may_be_shorter():
    # 7 outputs in tiles of 2: 4 tiles of 2, 2, 2, 1; the last step has one output and one new input
    prices = evaluate(machine(), window(7, 3), mapping(level((P, 2), (R, 3)), level((P, 4))))
    assert prices.valid
    assert counts(prices, "DRAM", "I") == (9, 0, 0)
    assert counts(prices, "L1", "O") == (21 - 7 + 7, 0, 21)
    assert (prices.compute_cycles, prices.macs) == (21, 21)


def test_idle_instances_take_nothing():
    # 5 outputs over 4 children: children 0 has 2, the others 1
    prices = evaluate(machine(), window(5, 1), mapping(level(), level((P, 2), x=((P, 4),))))
    assert prices.compute_cycles == 2
    assert prices.levels["L1"].tensors["O"].as_json()["total"] == {"reads": 5, "fills": 0, "updates": 5}


def test_strided_inputs_have_no_holes():
    # stride 3, kernel 1: 4 outputs need 4 inputs, not the 10 they span
    prices = evaluate(machine(), window(4, 1, stride=3), mapping(level((P, 4)), level()))
    assert prices.levels["L1"].tensors["I"].tile_words == 4
    assert counts(prices, "DRAM", "I") == (4, 0, 0)


def test_a_halo_between_neighbours_is_read_once():
    # 4 children with one output each: inputs 0-2, 1-3, 2-4, 3-5; 6 words leave DRAM, 3 arrive at each
    prices = evaluate(machine(), window(4, 3), mapping(level((R, 3)), level(x=((P, 4),))))
    assert counts(prices, "DRAM", "I") == (6, 0, 0)
    assert counts(prices, "L1", "I") == (3, 3, 0)


def test_results_are_read_when_they_leave():
    # L1 adds 3 products per output: 4 outputs leave once
    prices = evaluate(machine(), window(4, 3), mapping(level((R, 3)), level((P, 4))))
    assert counts(prices, "L1", "O") == (12 - 4 + 4, 0, 12)
    assert counts(prices, "DRAM", "O") == (0, 0, 4)


def test_words_of_several_widths_share_a_memory():
    # 16-bit words: 6 + 3 words of 8 bits and 4 of 32 bits are 200 bits, 12.5 words
    problem = window(4, 3)
    tensors = tuple(replace(t, word_bits=32 if t.is_output else 8) for t in problem.tensors)
    nest = mapping(level((R, 3), (P, 4)), level())
    narrow = replace(problem, tensors=tensors)
    assert evaluate(machine(entries=13), narrow, nest).valid
    (found,) = evaluate(machine(entries=12), narrow, nest).violations
    assert (found.demand, found.bound, found.unit) == (200, 192, "bits")
    energy = evaluate(machine(), narrow, nest).energy_by_component_pj
    assert energy["DRAM"] == pytest.approx((6 * 0.5 + 3 * 0.5 + 4 * 2) / 4 * 100)


def test_writing_may_cost_more_than_reading():
    arch = machine()
    costly = replace(arch, levels=(replace(arch.levels[0], write_energy_pj=5.0), arch.levels[1]))
    nest = mapping(level((R, 3)), level((P, 4)))
    # I: 12 reads, 6 fills; W: 12 reads, 3 fills; O: 12 reads, 12 updates
    assert evaluate(costly, window(4, 3), nest).energy_by_component_pj["L1"] == 36 + 5 * (6 + 3 + 12)


def test_cycles_have_a_beginning_and_an_end():
    # first tiles: 3 I + 3 W through a DRAM port of 2 words per cycle and an L1 port of 1; then one result out
    arch = machine(write_bandwidth=1, latency_cycles=5)
    dram = replace(arch.levels[1], read_bandwidth=2, latency_cycles=7)
    prices = evaluate(replace(arch, levels=(arch.levels[0], dram)), window(4, 3), mapping(level((R, 3)), level((P, 4))))
    assert prices.fill_cycles == 5 + 7 + max(3, 6)
    assert prices.drain_cycles == 5 + 7
    # L1 writes I 6, W 3, O 12 updates
    assert prices.cycles == max(12, 21) + prices.fill_cycles + prices.drain_cycles


def test_the_busiest_instance_sets_the_pace():
    # 5 rows on 4 children: the first has two, and reads (3 + 3) * 2 operands and 6 sums, writes 4 + 3 words and 6 sums
    nest = mapping(level((R, 3)), level((P, 2), x=((P, 4),)))
    prices = evaluate(machine(shared_bandwidth=1), window(5, 3), nest)
    first = evaluate(machine(shared_bandwidth=1), window(2, 3, stride=4), mapping(level((R, 3)), level((P, 2))))
    assert prices.levels["L1"].cycles == first.levels["L1"].cycles


def test_partial_sums_return_over_the_network():
    # two tiles of 4 results leave twice, and come back in between beside the operands
    arch = machine()
    slow = replace(arch, levels=(arch.levels[0], replace(arch.levels[1], network_bandwidth=0.25)))
    prices = evaluate(slow, window(8, 2), mapping(level((P, 4)), level((P, 2), (R, 2))))
    reads = {name: counts(prices, "DRAM", name)[0] for name in "IWO"}
    assert (reads["O"], counts(prices, "DRAM", "O")[2]) == (8, 16)
    assert prices.levels["DRAM"].cycles == sum(reads.values()) * 4


def test_a_network_has_a_bandwidth():
    arch = machine()
    slow = replace(arch, levels=(arch.levels[0], replace(arch.levels[1], network_bandwidth=0.25)))
    prices = evaluate(slow, window(4, 3), mapping(level((R, 3)), level((P, 4))))
    # 6 I + 3 W go in over the network of DRAM while 4 O come out
    assert prices.steady_cycles == (6 + 3) * 4


def test_hops_follow_rows_and_columns():
    # 2 x 2 children: K along columns, P along rows; a word of W[r,k] goes to one column and both rows of it
    arch = machine()
    square = replace(arch.levels[0], mesh_x=2)
    arch = replace(arch, levels=(square, replace(arch.levels[1], hop_energy_pj=1.0)), mac_mesh_x=2)
    outer = LevelMapping((), (Loop(K, 2),), (Loop(P, 2),))
    prices = evaluate(arch, window(2, 1, k=2), mapping(level(), outer))
    networks = prices.levels["DRAM"].networks
    assert networks["W"].hop_words == 2 * (0.5 + 1)
    assert networks["I"].hop_words == 2 * (1 + 2 * 0.5)
    assert networks["O"].hop_words == 4 * (0.5 + 0.5)


@pytest.mark.parametrize(
    ("nest", "violations"),
    [
        (mapping(level((P, 8), (R, 8)), level()), []),
        (mapping(level((P, 3)), level((P, 2), (R, 8))), [("all levels", "dimension P", 6, 8)]),
        (mapping(level(), level((P, 1), (R, 8), x=((P, 8),))), [("DRAM", "columns", 8, 4)]),
        (mapping(level((P, 8), (R, 8)), level(bypass="W")), [("DRAM", "W, which starts or ends here", 0, 8)]),
    ],
)
def test_what_a_machine_cannot_run_is_reported(nest: LoopMapping, violations: list[tuple[str, str, int, int]]):
    found = evaluate(machine(), window(8, 8), nest).violations
    assert [(v.level, v.resource, v.demand, v.bound) for v in found] == violations


def test_a_memory_holds_only_its_operands():
    arch = machine()
    only_weights = replace(arch, levels=(replace(arch.levels[0], holds=("W",)), arch.levels[1]))
    nest = mapping(level((P, 4), (R, 3), bypass="I"), level())
    (found,) = evaluate(only_weights, window(4, 3), nest).violations
    assert found.as_json()["message"] == "L1: 4 words of O, which is not held here, bound 0"


def test_levels_must_match():
    with pytest.raises(TilewrightError, match="expected 2 levels of small, found 1 levels"):
        evaluate(machine(), window(4, 3), mapping(level((P, 4), (R, 3))))


@pytest.mark.parametrize("seed", range(4))
def test_prices_equal_those_of_a_walk(seed: int):
    """Energy and steady cycles from the walk's words, by the formulas of the documentation."""
    random = Random(seed)
    for _ in range(20):
        problem, arch = random_problem(random), random_machine(random, random.randint(2, 3))
        tensors = tuple(replace(t, word_bits=random.choice((None, 8, 24))) for t in problem.tensors)
        problem = replace(problem, tensors=tensors)
        nest = random_mapping(random, problem, len(arch.levels))
        prices = evaluate(arch, problem, nest)
        walk = Walk(problem, nest)
        energy = problem.macs * arch.mac_energy_pj
        cycles = walk.steps()
        for index, memory in enumerate(arch.levels):
            each = words_by_instance(walk, index, memory)
            energy += sum(words.spent for words in each)
            cycles = max([cycles, *(busy_cycles(memory, words) for words in each)])
        assert prices.energy_pj - prices.energy_by_component_pj["network"] == pytest.approx(energy, rel=1e-12)
        assert prices.steady_cycles == cycles


class Words(NamedTuple):
    """Words of all tensors at one instance of a level, and their energy in pJ."""

    read: float
    written: float
    inwards: float
    outwards: float
    spent: float


def busy_cycles(memory: Level, words: Words) -> int:
    """Cycles of one instance's busiest port; the network below carries so many words each way."""
    demands = (
        (memory.read_bandwidth, words.read),
        (memory.write_bandwidth, words.written),
        (memory.shared_bandwidth, words.read + words.written),
        (memory.network_bandwidth, max(words.inwards, words.outwards)),
    )
    return max(0 if bandwidth is None else ceil(demand / bandwidth - 1e-9) for bandwidth, demand in demands)


def words_by_instance(walk: Walk, index: int, memory: Level) -> list[Words]:
    """Words of each instance of a level."""
    found = [words_of_tensor(walk, index, memory, tensor) for tensor in walk.problem.tensors]
    return [Words(*(sum(column) for column in zip(*each, strict=True))) for each in zip(*found, strict=True)]


def words_of_tensor(walk: Walk, index: int, memory: Level, tensor: Tensor) -> list[Words]:
    last = len(walk.tiles) - 1
    kept = [i for i in range(last + 1) if i == last or tensor.name not in walk.bypass[i]]
    child = max((i for i in kept if i < index), default=-1)
    scale = 1.0 if tensor.word_bits is None else tensor.word_bits / memory.word_bits
    write_energy = memory.energy_pj if memory.write_energy_pj is None else memory.write_energy_pj
    found: list[Words] = []
    owners = walk.owned_by_each(tensor, index)
    arrivals = [0] * len(owners) if index == last else walk.moved_by_each(tensor, index, index)
    for sent, arriving, owned in zip(walk.moved_by_each(tensor, child, index), arrivals, owners, strict=True):
        reads, writes = sent, arriving
        inwards, outwards = sent, 0
        if tensor.is_output:
            reads, writes = sent - owned + arriving, sent + (0 if index == last else arriving - owned)
            inwards, outwards = sent - owned, sent
        reads, writes = (reads, writes) if index in kept else (0, 0)
        spent = (reads * memory.energy_pj + writes * write_energy) * scale / memory.block_size
        found.append(Words(reads * scale, writes * scale, inwards * scale, outwards * scale, spent))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_perfect_contractions_are_priced_as_timeloop_prices_them(seed: int):
    """Without windows, ragged tiles and links only draining differs: a read for every result that leaves."""
    random = Random(seed)
    problem = Problem(
        "contraction",
        ("X", "Y", "Z"),
        (4, 6, 8),
        (
            Tensor("A", ((1, 0, 0), (0, 0, 1))),
            Tensor("B", ((0, 0, 1), (0, 1, 0))),
            Tensor("O", ((1, 0, 0), (0, 1, 0)), is_output=True),
        ),
    )
    for _ in range(30):
        levels = random.randint(2, 4)
        arch = random_machine(random, levels)
        nest = random_mapping(random, problem, levels, perfect=True)
        ours, theirs = evaluate(arch, problem, nest), timeloop(arch, problem, nest, link_transfers=False)
        assert ours.compute_cycles == prod(loop.bound for memory in nest.levels for loop in memory.temporal)
        for memory, report in ours.levels.items():
            assert report.tensors.keys() == theirs.levels[memory].tensors.keys()
            for name, found in report.tensors.items():
                assert counts(ours, memory, name)[1:] == counts(theirs, memory, name)[1:]
                drained = 0
                if name == "O" and memory != arch.levels[-1].name:
                    drained = found.fills + found.partition_words
                assert found.reads == counts(theirs, memory, name)[0] + drained
