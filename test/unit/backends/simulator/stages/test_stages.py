"""Programs of stages: VTA's worked program against NumPy and the counters of VTA's own simulator, traps, times."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tilewright import load_target, simulate
from tilewright.backends.assembler import assemble, disassemble
from tilewright.backends.program import Program
from tilewright.backends.simulator import SimulationResult
from tilewright.backends.simulator.traps import Trap
from tilewright.backends.words import read_words
from tilewright.machine.tensor_placement import TensorPlacement
from tilewright.resources import Resources

DATA = Path(__file__).parents[4] / "data" / "vta" / "worked.hex"
MICRO = [0, 0x00800001, 0x01000002, 0x01800003, 0x02020000, 0x02820001, 0x03020002, 0x03820003]
MACHINE = load_target("vta")
TOKENS = ("POP_PREV", "POP_NEXT", "PUSH_PREV", "PUSH_NEXT")


@cache
def lines() -> tuple[str, ...]:
    return tuple(disassemble(MACHINE, read_words(MACHINE, DATA.read_bytes())[0]).splitlines())


def run(text: str, **arrays: tuple[int, np.ndarray]) -> SimulationResult:
    """A program of this text, with arrays at addresses; the first KiB from 0x3000 on is what is read."""
    tensors = [TensorPlacement(n, "input", a.dtype.name, a.shape, "DRAM", at) for n, (at, a) in arrays.items()]
    tensors.append(TensorPlacement("C", "output", "int8", (64, 64), "DRAM", 0x3000))
    program = Program(MACHINE, assemble(MACHINE, text), tuple(tensors), Resources())
    return simulate(program, {name: array for name, (_, array) in arrays.items()})


def inputs(seed: int = 0) -> dict[str, tuple[int, np.ndarray]]:
    rng = np.random.default_rng(seed)
    a, w = (rng.integers(-128, 128, (64, 64)).astype(np.int8) for _ in range(2))
    blocks = np.ascontiguousarray(w.reshape(4, 16, 4, 16).transpose(0, 2, 1, 3))
    return {"A": (0x1000, a), "W": (0x2000, blocks), "U": (0x4000, np.array(MICRO, np.uint32))}


def expected(given: dict[str, tuple[int, np.ndarray]]) -> np.ndarray:
    w = given["W"][1].transpose(0, 2, 1, 3).reshape(64, 64).astype(np.int32)
    return np.clip((given["A"][1].astype(np.int32) @ w.T) >> 9, -128, 127).astype(np.int8)


def test_the_worked_program_is_right_and_counts_as_in_vta() -> None:
    given = inputs()
    result = run("\n".join(lines()), **given)
    assert (result.outputs["C"] == expected(given)).all()
    moved = {name: count.bytes for name, count in result.counts.links.items() if count.bytes}
    assert moved == {"DRAM->INP": 4096, "DRAM->WGT": 8192, "DRAM->UOP": 32, "OUT->DRAM": 4096}
    assert (result.counts.computes["MAC"].issues, result.counts.computes["LANES"].issues) == (1024, 768)
    assert result.dram_bytes == 4096 + 8192 + 32 + 4096 + 16 * 25


def test_time_is_what_the_stages_take() -> None:
    text = "LOAD_UOP DRAM=4096, Y=1, X=8, STRIDE=8\nRESET UE=4, OUTER=1, INNER=32, DI=4\nFINISH"
    result = run(text, **inputs())
    issues = {issue.index: issue for issue in result.issues}
    # fetched after 2 cycles; two more of fetching come first on the bus, then four beats and eight to fill and drain
    assert (issues[0].start_cycle, issues[0].end_cycle) == (2, 4 + 4 + 8)
    assert issues[1].end_cycle - issues[1].start_cycle == 4 * 32 + 8
    twice = run(text.replace("FINISH", "ALU UE=1, OUTER=1, INNER=32, DI=1, SI=1\nFINISH"), **inputs())
    assert twice.cycles - result.cycles == 2 * 32 + 8


BITS = [(index, token) for index, line in enumerate(lines()) for token in TOKENS if f"{token}=1" in line]


@pytest.mark.parametrize(("index", "token"), BITS)
def test_each_token_is_needed(index: int, token: str) -> None:
    changed = list(lines())
    name, _, rest = changed[index].partition(" ")
    changed[index] = f"{name} {', '.join(item for item in rest.split(', ') if item != f'{token}=1')}"
    with pytest.raises(Trap) as caught:
        run("\n".join(changed), **inputs())
    assert caught.value.reason in ("deadlock", "hazard", "uninitialised")


def test_there_are_twenty_tokens() -> None:
    assert len(BITS) == 20


WRONG = {
    "a pop that nobody pushes": ("LOAD_INP POP_NEXT=1, DRAM=256, Y=1, X=1, STRIDE=1\nFINISH", "deadlock", "g2l"),
    "a race": (
        "LOAD_INP DRAM=256, Y=1, X=4, STRIDE=4\nLOAD_WGT DRAM=32, Y=1, X=1, STRIDE=1\n"
        "LOAD_UOP DRAM=4096, Y=1, X=1, STRIDE=1\nRESET UE=1, OUTER=1, INNER=1\nGEMM UE=1, OUTER=1, INNER=1\nFINISH",
        "hazard",
        r"WGT\[0\] in use by another unit",
    ),
    "stale outputs": (
        "LOAD_ACC PUSH_NEXT=1, DRAM=64, Y=1, X=1, STRIDE=1\nSTORE POP_PREV=1, DRAM=768, Y=1, X=1, STRIDE=1",
        "uninitialised",
        r"OUT\[0\]",
    ),
    "too many rows": (
        "LOAD_INP DRAM=256, Y=2, X=1024, STRIDE=1, X1=1\nFINISH",
        "range",
        "elements within the 2048 of INP",
    ),
    "micro-ops": ("RESET UB=8000, UE=9000, OUTER=1, INNER=1\nFINISH", "range", "micro-ops within the 8192"),
    "no micro-ops": ("RESET UE=1, OUTER=1, INNER=1\nFINISH", "uninitialised", r"UOP\[0\]"),
    "an index": (
        "LOAD_UOP DRAM=4096, Y=1, X=1, STRIDE=1\nRESET UE=1, OUTER=1, INNER=4, DI=1000\nFINISH",
        "range",
        "element",
    ),
    "left over": (
        "LOAD_INP PUSH_NEXT=1\nFINISH POP_PREV=1\nLOAD_UOP PUSH_PREV=1",
        "hazard",
        "before the end|tokens left",
    ),
    "an early end": ("LOAD_INP DRAM=256, Y=1, X=1, STRIDE=1\nFINISH", "hazard", "complete before the end"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_forbidden_traps(name: str) -> None:
    text, reason, told = WRONG[name]
    with pytest.raises(Trap, match=told) as caught:
        run(text, **inputs())
    assert caught.value.reason == reason


def test_arithmetic_wraps_and_shifts_both_ways() -> None:
    rng = np.random.default_rng(1)
    numbers = rng.integers(-(2**31), 2**31, (4, 16)).astype(np.int32)
    ops = [("add", 32767), ("mul", -77), ("shift_right", -3), ("shift_right", 5), ("max", -9000), ("min", 8000)]
    text = "LOAD_UOP DRAM=4096, Y=1, X=1, STRIDE=1\nLOAD_ACC DRAM=0, Y=1, X=4, STRIDE=4\n"
    text += "".join(f"ALU_IMM UE=1, OUTER=1, INNER=4, DI=1, FN={name}, V={value}\n" for name, value in ops)
    text += "ALU PUSH_NEXT=1, UE=1, OUTER=1, INNER=2, DI=1, SI=1, FN=add\n"
    text += "STORE POP_PREV=1, PUSH_PREV=1, DRAM=768, Y=1, X=4, STRIDE=4\nLOAD_UOP POP_NEXT=1\nFINISH"
    result = run(text, N=(0, numbers), U=(0x4000, np.zeros(1, np.uint32)))
    value = numbers.astype(np.int64)
    for name, other in ops:
        moved = value >> other if other >= 0 else value << -other
        value = {"add": value + other, "mul": value * other, "shift_right": moved}.get(
            name, np.maximum(value, other) if name == "max" else np.minimum(value, other)
        )
        value = (value + 2**31) % 2**32 - 2**31
    value[:2] = value[:2] + value[:2]
    assert (result.outputs["C"].reshape(-1)[:64].reshape(4, 16) == value.astype(np.int8)).all()


def test_padding_is_zero_and_rows_are_strided() -> None:
    image = np.arange(1, 65, dtype=np.int8).reshape(4, 16)
    unit = np.zeros((1, 16, 16), np.int8)
    unit[0] = np.eye(16, dtype=np.int8)
    text = """
    LOAD_UOP DRAM=4096, Y=1, X=1, STRIDE=1
    RESET UE=1, OUTER=1, INNER=20, DI=1
    LOAD_INP DRAM=0, Y=2, X=2, STRIDE=2, Y0=1, Y1=1, X0=1, X1=2
    LOAD_WGT PUSH_NEXT=1, DRAM=32, Y=1, X=1, STRIDE=1
    GEMM POP_PREV=1, PUSH_NEXT=1, UE=1, OUTER=1, INNER=20, DI=1, SI=1
    STORE POP_PREV=1, PUSH_PREV=1, DRAM=768, Y=1, X=20, STRIDE=20
    LOAD_UOP POP_NEXT=1
    FINISH
    """
    result = run(text, N=(0, image), W=(0x2000, unit), U=(0x4000, np.zeros(1, np.uint32)))
    block = np.zeros((4, 5, 16), np.int8)
    block[1:3, 1:3] = image.reshape(2, 2, 16)
    assert (result.outputs["C"].reshape(-1)[:320] == block.reshape(-1)).all()
