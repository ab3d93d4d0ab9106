"""Counts, cycles and energy of mapped nests, by hand."""

from dataclasses import replace

import pytest

from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.costs.timeloop import Prices, evaluate
from tilewright.errors import TilewrightError


def machine(children: int = 4, levels: int = 2, **outer: float) -> Architecture:
    """`levels` levels; a row of `children` innermost memories with one MAC each."""
    inner = Level("L1", 64, children, children, 1, 1.0)
    middle = [Level(f"L{i + 2}", 1024, 1, 1, 1, 10.0) for i in range(levels - 2)]
    fields: dict[str, float | None] = {"read_bandwidth": None, "write_bandwidth": None, "shared_bandwidth": None}
    fields |= outer
    dram = Level("DRAM", None, 1, 1, 4, 100.0, fields["read_bandwidth"], fields["write_bandwidth"])
    return Architecture("small", (inner, *middle, dram), "MAC", children, children, 2.0)


def gemm(m: int, n: int, k: int) -> Problem:
    """O[m,n] += A[m,k] * B[k,n]; dimensions 0, 1, 2."""
    return Problem(
        "gemm",
        ("M", "N", "K"),
        (m, n, k),
        (
            Tensor("A", ((1, 0, 0), (0, 0, 1))),
            Tensor("B", ((0, 0, 1), (0, 1, 0))),
            Tensor("O", ((1, 0, 0), (0, 1, 0)), is_output=True),
        ),
    )


def window(p: int, r: int, stride: int = 1) -> Problem:
    """O[p] += I[stride*p + r] * W[r]; dimensions 0, 1."""
    return Problem(
        "window",
        ("P", "R"),
        (p, r),
        (Tensor("I", ((stride, 1),)), Tensor("W", ((0, 1),)), Tensor("O", ((1, 0),), is_output=True)),
    )


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


M, N, K = range(3)
P, R = range(2)


def test_temporal_reuse_and_first_read_elision():
    # L1 keeps a row of A while N advances; O is complete in L1 after K, so DRAM never reads it back
    nest = mapping(level((K, 4)), level((N, 4), (M, 4)))
    prices = evaluate(machine(), gemm(4, 4, 4), nest)
    assert counts(prices, "L1", "A") == (64, 4 * 4, 0)
    assert counts(prices, "L1", "B") == (64, 4 * 4 * 4, 0)
    assert counts(prices, "L1", "O") == (64 - 16, 0, 64)
    assert counts(prices, "DRAM", "A") == (16, 0, 0)
    assert counts(prices, "DRAM", "B") == (64, 0, 0)
    assert counts(prices, "DRAM", "O") == (0, 0, 16)


def test_partial_sums_return_to_the_inner_level():
    # K outside M: each of 4 elements visits L1 twice; its first visit needs no fill and no read
    nest = mapping(level((K, 2)), level((M, 4), (K, 2)))
    prices = evaluate(machine(), gemm(4, 1, 4), nest)
    assert counts(prices, "L1", "O") == (16 - 4, 8 - 4, 16)
    assert counts(prices, "DRAM", "O") == (8 - 4, 0, 8)


def test_halo_between_successive_tiles_is_not_moved_again():
    # tiles of 2 outputs read 4 inputs; each later tile brings 2
    nest = mapping(level((P, 2), (R, 3)), level((P, 4)))
    prices = evaluate(machine(), window(8, 3), nest)
    assert counts(prices, "DRAM", "I") == (4 + 3 * 2, 0, 0)
    assert counts(prices, "L1", "I") == (24, 10, 0)


def test_holes_of_strided_inputs_are_stored_and_moved():
    # stride 3, kernel 1: 4 outputs span 10 inputs
    prices = evaluate(machine(), window(4, 1, stride=3), mapping(level((P, 4)), level()))
    assert prices.levels["L1"].tensors["I"].tile_words == 10
    assert counts(prices, "DRAM", "I") == (10, 0, 0)


def test_multicast_reads_the_parent_once_per_group():
    nest = mapping(level((K, 4)), level((M, 4), x=((N, 4),)))
    prices = evaluate(machine(), gemm(4, 4, 4), nest)
    assert prices.levels["DRAM"].networks["A"].signatures == ((4, 1, 16),)
    assert prices.levels["DRAM"].networks["B"].signatures == ((1, 4, 16),)
    assert counts(prices, "DRAM", "A") == (16, 0, 0)
    assert counts(prices, "L1", "A") == (16, 16, 0)
    assert prices.levels["L1"].tensors["A"].instances == 4


def test_spatial_reduction_updates_the_parent_once():
    prices = evaluate(machine(), gemm(4, 1, 4), mapping(level(), level((M, 4), x=((K, 4),))))
    assert counts(prices, "DRAM", "O") == (0, 0, 4)
    assert prices.levels["DRAM"].networks["O"].signatures == ((4, 1, 4),)


def test_neighbours_pass_a_sliding_input_on():
    # 4 children start at words 0 to 3; in each of 2 later steps 3 of them take their word from the right
    nest = mapping(level(), level((R, 3), x=((P, 4),)))
    prices = evaluate(machine(), window(4, 3), nest)
    assert prices.levels["DRAM"].networks["I"].link_words == 6
    assert counts(prices, "DRAM", "I") == (4 + 2, 0, 0)
    # each child receives 6/4 from DRAM and 6/4 from neighbours, and gives 6/4 to neighbours: 3 + 1.5, rounded
    assert counts(prices, "L1", "I") == (5, 3, 0)
    without = evaluate(machine(), window(4, 3), nest, link_transfers=False)
    assert counts(without, "DRAM", "I") == (12, 0, 0)
    assert counts(without, "L1", "I") == (3, 3, 0)


def test_a_bypassed_level_passes_accesses_outwards():
    # without L1, DRAM serves each of 64 operations; L1 of the other tensors is as before
    nest = mapping(level((K, 4), bypass="A"), level((N, 4), (M, 4)))
    prices = evaluate(machine(), gemm(4, 4, 4), nest)
    assert "A" not in prices.levels["L1"].tensors
    assert counts(prices, "DRAM", "A") == (64, 0, 0)
    assert counts(prices, "L1", "B") == (64, 64, 0)


def test_a_level_bypassed_in_the_middle_leaves_inner_fills():
    inner, outer = level((K, 4)), level((N, 4), (M, 4))
    prices = evaluate(machine(levels=3), gemm(4, 4, 4), mapping(inner, level(bypass="A"), outer))
    assert counts(prices, "L1", "A") == (64, 16, 0)
    assert counts(prices, "DRAM", "A") == (16, 0, 0)


def test_energy_counts_whole_vectors():
    # DRAM: A 16, B 64 reads, O 16 updates in blocks of 4; L1: blocks of 1; 64 operations at 2 pJ
    nest = mapping(level((K, 4)), level((N, 4), (M, 4)))
    prices = evaluate(machine(), gemm(4, 4, 4), nest)
    assert prices.energy_by_component_pj["DRAM"] == (4 + 16 + 4) * 100
    assert prices.energy_by_component_pj["L1"] == (64 + 16) + (64 + 64) + (48 + 64)
    assert prices.energy_by_component_pj["MAC"] == 128
    assert prices.energy_pj == sum(prices.energy_by_component_pj.values())


def test_writes_may_have_a_price_of_their_own():
    # L1 reads 64, 64, 48 words, is filled with 16 and 64, and updated 64 times
    nest = mapping(level((K, 4)), level((N, 4), (M, 4)))
    plain = machine()
    inner = replace(plain.levels[0], write_energy_pj=3.0)
    prices = evaluate(replace(plain, levels=(inner, *plain.levels[1:])), gemm(4, 4, 4), nest)
    assert prices.energy_by_component_pj["L1"] == (64 + 64 + 48) + 3 * (16 + 64 + 64)
    assert prices.energy_by_component_pj["DRAM"] == evaluate(plain, gemm(4, 4, 4), nest).energy_by_component_pj["DRAM"]


def test_cycles_follow_the_scarcest_bandwidth():
    # 64 operations; DRAM reads 80 words
    nest = mapping(level((K, 4)), level((N, 4), (M, 4)))
    assert evaluate(machine(), gemm(4, 4, 4), nest).cycles == 64
    assert evaluate(machine(read_bandwidth=0.5), gemm(4, 4, 4), nest).cycles == 160
    assert evaluate(machine(write_bandwidth=0.125), gemm(4, 4, 4), nest).cycles == 128


def test_the_network_is_paid_per_word_and_hop():
    # B goes to 4 columns of a row of one: hops 0 + 1 + 2 + 3, 16 words each
    arch = machine()
    arch = replace(arch, levels=(arch.levels[0], replace(arch.levels[1], hop_energy_pj=0.5)))
    prices = evaluate(arch, gemm(4, 4, 4), mapping(level((K, 4)), level((M, 4), x=((N, 4),))))
    assert prices.levels["DRAM"].networks["B"].hop_words == 4 * (0 + 1 + 2 + 3)
    assert prices.levels["DRAM"].networks["B"].energy_pj == 12


def test_overflow_of_memory_and_array_is_reported():
    nest = mapping(level((M, 8), (K, 16)), level(x=((N, 8),)))
    prices = evaluate(machine(), gemm(8, 8, 16), nest)
    found = [(v.level, v.resource, v.demand, v.bound, v.unit) for v in prices.violations]
    assert found == [("L1", "capacity", 8 * 16 + 16 + 8, 64, "words"), ("DRAM", "columns", 8, 4, "children")]
    assert not prices.valid


@pytest.mark.parametrize(
    ("nest", "message"),
    [
        (mapping(level((K, 4)), level((M, 3))), "dimension M of gemm: expected factors that multiply to 4"),
        (mapping(level(bypass="A"), level((M, 4), (K, 4), bypass="A")), "tensor A: expected a level that keeps it"),
        (mapping(level((M, 4), (K, 4))), "gemm: expected 2 levels of small, found 1 levels"),
    ],
)
def test_what_cannot_be_priced_is_refused(nest: LoopMapping, message: str):
    with pytest.raises(TilewrightError, match=message):
        evaluate(machine(), gemm(4, 1, 4), nest)
