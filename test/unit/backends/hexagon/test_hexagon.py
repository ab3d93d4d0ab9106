"""llvm-mc judges packets, qemu-hexagon runs programs; both where they are installed."""

import random
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tilewright import load_target
from tilewright.backends.hexagon import missing_tools, run_program
from tilewright.backends.hexagon.run import ASSEMBLE, link
from tilewright.backends.packets.simulator import simulate_packets
from tilewright.backends.packets.text import assembly, packet_text
from tilewright.errors import TilewrightError
from tilewright.frontends.einsum import integer_types, parse_einsum
from tilewright.machine.packet_program import Instruction, Isa, PacketProgram, executed_packets
from tilewright.machine.packet_storage import Storage
from tilewright.passes.nest_to_packets.emit import Emitter
from tilewright.passes.nest_to_packets.generate import generate

MISSING = missing_tools()
needs_tools = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
ISA = Isa(load_target("hvx"))


def random_packet(rng: random.Random) -> tuple[Instruction, ...]:
    """One to four instructions on registers of their own, so that only slots and resources decide."""
    packet: list[Instruction] = []
    numbers = {"V": 0, "W": 8, "PAIR": 12, "PAIRH": 12, "PAIRW": 12, "R": 1, "LOW": 4, "D": 6}
    for _ in range(rng.randint(1, 4)):
        mnemonic = rng.choice([m for m in ISA.packets.mnemonics if m.loop is None])
        values: list[tuple[str, int]] = []
        for field, file in mnemonic.registers:
            numbers[file] += 1
            values.append((field, numbers[file] - 1))
        values += [(field.name, rng.choice([0, 1]) * mnemonic.align_bytes) for field in mnemonic.fields[:1]
                   if mnemonic.name in ("LOADD", "LOADW")]  # fmt: skip
        values += [(field.name, 1) for field in mnemonic.fields if field.name not in dict(values)]
        packet.append(Instruction(mnemonic.name, tuple(values)))
    return tuple(packet)


@needs_tools
def test_llvm_mc_takes_every_packet_that_fits(tmp_path: Path):
    """And refuses nearly all of the others: the file asks for more than the machine in few cases."""
    rng = random.Random(5)
    packets = [random_packet(rng) for _ in range(1500)]
    source = tmp_path / "packets.s"
    source.write_text("".join(f"{packet_text(ISA, packet)}\n" for packet in packets))
    done = subprocess.run(
        ["llvm-mc", *ASSEMBLE, str(source), "-o", str(tmp_path / "o")], capture_output=True, text=True, check=False
    )
    refused = {int(line) for line in re.findall(r"packets\.s:(\d+):\d+: error", done.stderr)}
    fitting = {i for i, packet in enumerate(packets, 1) if ISA.fits(item.mnemonic for item in packet)}
    assert [packet_text(ISA, packets[i - 1]) for i in sorted(fitting & refused)] == []
    assert len(fitting) > 300
    allowed = set(range(1, len(packets) + 1)) - refused
    assert len(fitting) >= 0.95 * len(allowed)


@needs_tools
@pytest.mark.parametrize(
    "text",
    [
        "O[i] = A[i] + B[i]; i=1000",
        "O[m,n] += A[m,k] * B[k,n]; m=9 n=70 k=37",
        "O[h,m,n] += A[h,m,k] * B[h,k,n]; h=2 m=5 n=9 k=16",
        "O[p,q,k] += A[2*p + r, 2*q + s, c] * B[r,s,c,k]; p=5 q=4 k=40 r=3 s=3 c=16",
    ],
)
def test_qemu_gives_what_we_simulate(text: str):
    statement, extents = parse_einsum(text)
    program = generate(ISA.machine, statement, extents, integer_types(statement))
    rng = np.random.default_rng(1)
    inputs = {
        t.name: rng.integers(np.iinfo(t.dtype).min, np.iinfo(t.dtype).max, t.shape, t.dtype, endpoint=True)
        for t in program.stored
        if t.role == "input"
    }
    ran = run_program(assembly(ISA, program.code), program, inputs)
    simulated = simulate_packets(ISA, program, inputs)
    np.testing.assert_array_equal(ran.outputs["O"], simulated.outputs["O"])
    assert ran.packets == simulated.packets == executed_packets(program.code)
    assert ran.instructions > ran.packets


@needs_tools
def test_what_the_assembler_refuses_is_told(tmp_path: Path):
    with pytest.raises(TilewrightError, match="llvm-mc"):
        link("{ v0 = vmem(r0+#0); v1 = vmem(r0+#1) }\n", tmp_path)


def test_without_tools_the_first_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    statement, extents = parse_einsum("O[i] = A[i]; i=4")
    statement, extents = parse_einsum("O[i] = max(A[i], 0); i=4")
    program = generate(ISA.machine, statement, extents, integer_types(statement))
    with pytest.raises(TilewrightError, match="llvm-mc"):
        run_program("", program, {})


@needs_tools
def test_vector_instructions_mean_what_the_file_says():
    """Each on random registers and on extreme ones: the state after it under qemu and in simulation."""
    emitter, storage = Emitter(ISA), Storage(128)
    given = storage.tensor("X", "input", "u8", (4, 128), (128, 1), 512)
    tested = [
        m for m in ISA.packets.mnemonics if m.places and all(p.memory == "VRF" and not p.rotated for p in m.places)
    ]
    results = storage.tensor("Y", "output", "u8", (len(tested), 2, 128), (256, 128, 1), 256 * len(tested))
    at, to = 1, 2
    body = [emitter.address(at, given.address), emitter.address(to, results.address)]
    shifts = [m.name for m in tested if m.functions and m.functions[0][1] in ("rshift", "lshift")]
    for item in tested:
        second = 3 if item.name in shifts else 1
        loads = [emitter.load("V", r, at, 128 * (second if r in (2, 3) else 0 if r % 2 else 2), "X") for r in range(6)]
        pairs = {"A": 0, "B": 1, "O": 2}
        held = {name: 7 for name, _ in item.given}
        body += [emitter.constant(held[name], int(number)) for name, number in item.given]
        files = {name: file for name, file in item.registers if name not in held}
        values = tuple((f, pairs[f] * (2 if ISA.files[files[f]].width_bytes == 128 else 1)) for f in files)
        stores = [emitter.store("V", 4 + i, to, 128 * i, "Y") for i in range(2)]
        body += [*loads, Instruction(item.name, (*values, *held.items())), *stores, emitter.add(to, to, 256)]
    program = PacketProgram(tuple((item,) for item in body), tuple(storage.stored), storage.end)
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (4, 128)).astype(np.uint8)
    x[0, :16] = np.array([-(1 << 31), -1, 0, (1 << 31) - 1], np.int32).view(np.uint8)
    x[3] = rng.integers(0, 32, 32).astype(np.int32).view(np.uint8)
    ours = simulate_packets(ISA, program, {"X": x}).outputs["Y"]
    theirs = run_program(assembly(ISA, program.code), program, {"X": x}).outputs["Y"]
    differing = [m.name for m, one, other in zip(tested, ours, theirs, strict=True) if (one != other).any()]
    assert len(tested) > 30
    assert differing == []
