"""Bytes and energy of programs of packets, counted by hand."""

from tilewright.frontends.acg import parse_target
from tilewright.machine.packet_figures import energy_pj, executed, moved_bytes, words_of
from tilewright.machine.packet_program import Isa

from ..passes.nest_to_packets.machines import PAIR, isa_of, make


def test_an_addition_reads_two_vectors_and_writes_one():
    isa = isa_of("hvx")
    counts = executed(make(isa, "O[i] = A[i] + B[i]; i=96")[0].code)
    assert counts["VADDW"] == 3
    assert moved_bytes(isa, counts) == 3 * 3 * 128
    assert energy_pj(isa, counts) is None
    assert words_of(isa, counts) >= sum(counts.values())


def test_energy_is_that_of_accesses_and_operations():
    text = "O[i] = A[i] + B[i]; i=40"
    priced = PAIR.replace("offchip;", "read_energy 3; write_energy 5; offchip;", 1)
    isa = Isa(parse_target(priced))
    counts = executed(make(isa, text)[0].code)
    assert energy_pj(isa_of("pair"), counts) is None
    moved = moved_bytes(isa, counts)
    assert moved % 3 == 0
    assert energy_pj(isa, counts) == moved // 3 * (3 + 3 + 5)
