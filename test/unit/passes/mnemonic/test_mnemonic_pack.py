"""Packets do what the instructions do one by one, within the target's resources, in fewer steps."""

import random
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from tilewright import load_target
from tilewright.dialects.mnemonic import InstrOp
from tilewright.driver import make_context, parse_mlir, parse_passes
from tilewright.machine.packet_program import Isa

NAMES = ("VADDW", "VSUBW", "VMAXW")
STEP = {"VADDW": np.add, "VSUBW": np.subtract, "VMAXW": np.maximum}


def packets_of(seed: int, tmp_path: Path) -> tuple[list[InstrOp], list[list[InstrOp]]]:
    rng = random.Random(seed)
    lines: list[str] = []
    for _ in range(30):
        target, a, b = (rng.randrange(6) for _ in range(3))
        lines.append(f"  mnemonic.instr @{rng.choice(NAMES)} <O = {target}, A = {a}, B = {b}>")
    path = tmp_path / "program.mlir"
    path.write_text("mnemonic.program @p {\n" + "\n".join(lines) + "\n}\n")
    before, after = parse_mlir(path), parse_mlir(path)
    parse_passes('load-target{target="hvx"},mnemonic-pack').apply(make_context(), after)
    after.verify()
    packets: dict[int, list[InstrOp]] = {}
    for op in instructions(after):
        number = op.attributes["packet"]
        assert isinstance(number, IntegerAttr)
        packets.setdefault(number.value.data, []).append(op)
    return instructions(before), list(packets.values())


def instructions(module: ModuleOp) -> list[InstrOp]:
    return [op for op in module.walk() if isinstance(op, InstrOp)]


def run(packets: list[list[InstrOp]]) -> np.ndarray:
    registers = np.arange(6)
    for packet in packets:
        old = registers.copy()  # all reads come before all writes
        for op in packet:
            fields = {name: int(value) for name, value in op.fields.data}
            step = STEP[op.mnemonic.root_reference.data]
            registers[fields["O"]] = step(old[fields["A"]], old[fields["B"]])
    return registers


@pytest.mark.parametrize("seed", range(6))
def test_packets_mean_what_their_instructions_do(seed: int, tmp_path: Path):
    before, packets = packets_of(seed, tmp_path)
    isa = Isa(load_target("hvx"))
    assert sum(map(len, packets)) == len(before)
    np.testing.assert_array_equal(run(packets), run([[op] for op in before]))
    assert all(isa.fits(op.mnemonic.root_reference.data for op in packet) for packet in packets)
    assert len(packets) < len(before)
