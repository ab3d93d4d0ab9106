"""What packets mean: reads before writes, addresses that trap, loops that count."""

from dataclasses import replace

import numpy as np
import pytest

from tilewright.backends.packets.simulator import simulate_packets
from tilewright.errors import TilewrightError
from tilewright.machine.packet_program import Instruction, Loop, PacketProgram, Stored

from ....passes.nest_to_packets.machines import isa_of, make

ISA = isa_of("hvx")


def op(name: str, **values: int) -> Instruction:
    return Instruction(name, tuple(values.items()))


def program(*code: tuple[Instruction, ...] | Loop) -> PacketProgram:
    """Memory: 64 words X at 0, 64 words O at 256."""
    stored = [
        Stored(n, role, "int32", (64,), (4,), at, 256) for n, role, at in (("X", "input", 0), ("O", "output", 256))
    ]
    return PacketProgram(code, tuple(stored), 1024)


def run(*code: tuple[Instruction, ...] | Loop, limit: int = 1000) -> tuple[list[int], int]:
    done = simulate_packets(ISA, program(*code), {"X": np.arange(64, dtype=np.int32)}, limit)
    return done.outputs["O"].tolist(), done.packets


def test_all_reads_come_before_all_writes():
    """Two registers change places in one packet, and a load sees memory before the packet's store."""
    out, packets = run(
        (op("VLOAD", O=0, B=0, I=0),),
        (op("VLOAD", O=1, B=0, I=1),),
        (op("VMOVE", O=0, A=1), op("VMOVE", O=1, A=0)),
        (op("VSTORE", A=0, B=0, I=2), op("VLOAD", O=2, B=0, I=2)),
        (op("VSTORE", A=2, B=0, I=3),),
    )
    assert out == [*range(32, 64), *[0] * 32]
    assert packets == 5


def test_an_address_moves_on_after_its_use():
    out, _ = run((op("VLOADP", O=0, B=0, I=1),), (op("VSTORE", A=0, B=0, I=1),))
    assert out[:32] == list(range(32))


def test_rotation_goes_around():
    out, _ = run(
        (op("SET", O=1, I=8), op("VLOAD", O=0, B=0, I=0)), (op("VROR", O=1, A=0, B=1),), (op("VSTORE", A=1, B=0, I=2),)
    )
    assert out[:32] == [*range(2, 32), 0, 1]


def test_lanes_are_dealt():
    out, _ = run(
        (op("VLOAD", O=0, B=0, I=0), op("SET", O=7, I=-4)),
        (op("VLOAD", O=1, B=0, I=1),),
        (op("VDEAL", O=1, A=0, R=7),),
        (op("VSTORE", A=2, B=0, I=2),),
        (op("VSTORE", A=3, B=0, I=3),),
    )
    assert out == [*range(0, 64, 2), *range(1, 64, 2)]


def test_loops_count():
    body = (op("ADDI", O=1, A=1, I=3),)
    inner = Loop(1, 4, (body, body), ":endloop0")
    outer = Loop(2, 5, (inner, body), end=op("REPEAT", N=2))
    out, packets = run(outer, (op("STOREW", A=1, B=0, I=256),))
    assert out[0] == 3 * 5 * (2 * 4 + 1)
    assert packets == 5 * (2 * 4 + 1 + 1) + 1


def test_sums_wrap():
    out, _ = run((op("SET", O=1, I=2**31 - 1),), (op("ADDI", O=1, A=1, I=1),), (op("STOREW", A=1, B=0, I=256),))
    assert out[0] == -(2**31)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ((op("VLOAD", O=0, B=0, I=-1),), "addresses in the 1024 bytes"),
        ((op("LOADW", O=1, B=0, I=1024),), "addresses in the 1024 bytes"),
        ((op("LOADD", O=1, B=0, I=4),), "aligned"),
        ((op("STOREW", A=1, B=0, I=2),), "aligned"),
        ((op("VDEAL", O=1, A=0, R=7),), "the number in a register that the instruction needs"),
    ],
)
def test_traps(code: tuple[Instruction, ...], expected: str):
    with pytest.raises(TilewrightError, match=expected):
        run(code)


def test_a_limit_of_packets():
    with pytest.raises(TilewrightError, match="at most 7 packets"):
        run(Loop(1, 8, ((op("ADDI", O=1, A=1, I=3),),), ":endloop0"), limit=7)


def test_a_wrong_operand_is_seen():
    """A program with one register changed gives other outputs: the simulator looks at what it is given."""
    made, inputs, expected = make(ISA, "O[i] = A[i] + B[i]; i=32")
    changed = tuple(
        tuple(replace(i, values=(("O", 2), ("A", 0), ("B", 0))) if i.mnemonic == "VADDW" else i for i in packet)
        for packet in made.code
        if not isinstance(packet, Loop)
    )
    wrong = simulate_packets(ISA, replace(made, code=changed), inputs).outputs["O"]
    assert not np.array_equal(wrong, expected)
