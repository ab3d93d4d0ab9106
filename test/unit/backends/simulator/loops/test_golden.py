"""A binary made by others gives their outputs: convolution, bias and ReLU on a 16 by 16 array."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import DTypeLike

from tilewright import load_target, simulate
from tilewright.backends.assembler import assemble
from tilewright.backends.program import Program
from tilewright.backends.simulator import Trap
from tilewright.machine.tensor_placement import TensorPlacement
from tilewright.resources import Resources

GENESYS = Path(__file__).parents[4] / "data/genesys"
TEXT = (GENESYS / "conv_bias_relu1_string_final.txt").read_text()
TENSORS = (
    TensorPlacement("x", "input", "int8", (12, 12, 64), "DRAM", 65 << 16),
    TensorPlacement("w", "input", "int8", (4096,), "DRAM", 24576),
    TensorPlacement("b", "input", "int32", (64,), "DRAM", 4096),
    TensorPlacement("y", "output", "int32", (12, 12, 64), "DRAM", 64 << 16),
)


def numbers(name: str, dtype: DTypeLike):
    return np.array((GENESYS / f"{name}.txt").read_text().split(), np.int64).astype(dtype)


def inputs():
    weights = numbers("weight_shuffled", np.uint32).view(np.int8)
    return {"x": numbers("data", np.int8).reshape(12, 12, 64), "w": weights, "b": numbers("bias", np.int32)}


def program(text: str = TEXT, target: str = "genesys16") -> Program:
    machine = load_target(target)
    return Program(machine, assemble(machine, text), TENSORS, Resources())


def test_outputs_are_those_of_others():
    result = simulate(program(), inputs())
    assert (result.outputs["y"].reshape(-1) == numbers("out", np.int32)).all()


def test_traffic_and_cycles():
    """Two tiles: weights and bias once, inputs and (unused) sums twice, outputs; 1152 issues of the array each."""
    result = simulate(program(), inputs())
    tile = 6 * 12 * 64
    assert result.dram_bytes == 4096 + 256 + 2 * (tile + 4 * tile + 4 * tile) + 106 * 16
    assert result.counts.computes["PE"].issues == 2 * 4 * 4 * 6 * 12
    assert result.counts.computes["PE"].ops == 12 * 12 * 64 * 64
    assert result.cycles >= 2 * 1152


def test_without_function_the_numbers_are_the_same():
    full, timed = simulate(program(), inputs()), simulate(program(), inputs(), functional=False)
    assert timed.outputs == {}
    assert (timed.cycles, timed.dram_bytes, timed.energy_pj) == (full.cycles, full.dram_bytes, full.energy_pj)


def test_trace(tmp_path: Path):
    simulate(program(), inputs(), trace=tmp_path / "trace.json")
    assert "SYSTOLIC_ARRAY" in (tmp_path / "trace.json").read_text()


@pytest.mark.parametrize(
    ("old", "new", "reason", "message"),
    [
        ("LD_ST LD, BUFFER, WBUF, 23, 16", "LD_ST LD, BUFFER, WBUF, 23, 15", "uninitialised", "row 15, never written"),
        ("SA_LOOP_CFG 0, 13, 11", "SA_LOOP_CFG 0, 13, 2000", "range", "OBUF within rows 0 to 1023"),
        ("WR, OBUF, 13, 4", "WR, OBUF, 13, 5", "illegal", "sums that are read where they are written"),
        ("LD_ST LD, BUFFER, IBUF, 17, 288", "LD_ST LD, BUFFER, IBUF, 17, 9999", "range", "IBUF within rows"),
        ("RELU VMEM2", "LOG2 VMEM2", "illegal", "an instruction with a meaning"),
        ("RELU VMEM2", "RELU VMEM1", "uninitialised", "VMEM2 to be written"),
        ("SET_INST 1, 0, 1", "SET_INST 1, 0, 2", "illegal", "1 more instructions of a body"),
        ("ST_CONFIG_BASE_LOOP_ITER 0, VMEM2, 9, 1", "ST_CONFIG_BASE_LOOP_ITER 0, VMEM2, 9, 2", "illegal", "over 2"),
        ("SYNC_INST SYSTOLIC_ARRAY, END, EXEC, 0, 0, 0", "NOP 0, 0, 0, 0, 0, 0", "illegal", "the end of a group"),
        ("SA_LOOP_CFG 0, 0, 0\n", "SA_LOOP_CFG 0, 0, 65535\nSA_LOOP_CFG 0, 1, 65535\n", "illegal", "loop 1 twice"),
        ("SA_LOOP_CFG 0, 9, 3", "SA_LOOP_CFG 0, 9, 65535", "illegal", "iterations inside a tile"),
        ("SA_LOOP_CFG 0, 8, 0", "SA_LOOP_CFG 0, 8, 65535", "illegal", "at most 16777216 iterations inside a tile"),
        ("SA_LOOP_CFG 0, 3, 0", "SA_LOOP_CFG 0, 3, 65535", "uninitialised", "never written"),
        ("SET_ITER 3, 0, 12", "SET_ITER 3, 0, 65535", "illegal", "steps one after another"),
        ("SET_ITER 0, 0, 4", "LD_ST LD, BUFFER, IBUF, 17, 1", "illegal", "a loop before its iterators"),
    ],
)
def test_what_traps(old: str, new: str, reason: str, message: str):
    assert old in TEXT
    with pytest.raises(Trap) as trap:
        simulate(program(TEXT.replace(old, new, 1)), inputs())
    assert trap.value.reason == reason
    assert message in str(trap.value)


def test_sizes_of_the_array_are_options_of_the_target():
    """Two tiles of 1152 rows of inputs, of which 1024 fit by default."""
    text = TEXT.replace("LD_ST LD, BUFFER, IBUF, 17, 288", "LD_ST LD, BUFFER, IBUF, 17, 1152")
    with pytest.raises(Trap, match="IBUF within rows 0 to 1023, found rows 0 to 1151"):
        simulate(program(text), inputs())
    larger = program(text, "genesys16:IBUF.depth=16384")
    assert (simulate(larger, inputs()).outputs["y"].reshape(-1) == numbers("out", np.int32)).all()


def test_inputs_that_are_missing():
    short = replace(program(), tensors=TENSORS[1:])
    with pytest.raises(Trap) as trap:
        simulate(short, {name: value for name, value in inputs().items() if name != "x"})
    assert trap.value.reason == "uninitialised"
