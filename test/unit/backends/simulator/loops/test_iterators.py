"""Whose iterators the operands of a vector instruction follow: those of the loops, or the instruction's own."""

import numpy as np
import pytest

from tilewright import load_target, simulate
from tilewright.backends.assembler import assemble, disassemble
from tilewright.backends.program import Program
from tilewright.backends.simulator import Trap
from tilewright.machine.tensor_placement import TensorPlacement
from tilewright.passes.nest_to_loops.emitter import Emitter
from tilewright.passes.nest_to_loops.vector_code import Place, emit_nest
from tilewright.resources import Resources

ROWS, LANES = 6, 16
A, B, C = 0, 1 << 16, 2 << 16
SHAPE = (ROWS, LANES)
TENSORS = (
    TensorPlacement("a", "input", "int32", SHAPE, "DRAM", A),
    TensorPlacement("b", "input", "int32", SHAPE, "DRAM", B),
    TensorPlacement("c", "output", "int32", SHAPE, "DRAM", C),
)
SUM_ROW = 10

LOAD = f"""SYNC_INST SIMD, START, EXEC, 0, 0, 0
DTYPE_CFG 32FXP, 32, 32, 32
LD_CONFIG_BASE_ADDR LSB, VMEM1, 0, 0
LD_START 0, VMEM1, 31, {ROWS * LANES * 4 // 16}
LD_CONFIG_BASE_ADDR MSB, VMEM2, 0, 1
LD_START 0, VMEM2, 31, {ROWS * LANES * 4 // 16}
"""
STORE = f"""ST_CONFIG_BASE_ADDR MSB, VMEM1, 0, 2
ST_CONFIG_TILE_ADDR LSB, VMEM1, 0, {SUM_ROW}
ST_START 0, VMEM1, 31, {ROWS * LANES * 4 // 16}
SYNC_INST SIMD, END, EXEC, 0, 0, 0
BLOCK_END 1
"""


def iterator(memory: str, index: int, base: int, stride: int) -> str:
    return f"BASE_SIGN_EXT {memory}, {index}, {base}\nSTRIDE_SIGN_EXT {memory}, {index}, {stride}\n"


OF_TENSORS = (
    # two iterators for each tensor, one a loop: those of VMEM1's second tensor are 2 and 3
    "".join(iterator(memory, index, 0, stride) for memory in ("VMEM1", "VMEM2") for index, stride in ((0, 3), (1, 1)))
    + iterator("VMEM1", 2, SUM_ROW, 3)
    + iterator("VMEM1", 3, SUM_ROW, 1)
    + "SET_ITER 0, 0, 2\nSET_INDEX VMEM1, 2, VMEM1, 0, VMEM2, 0\n"
    + "SET_ITER 1, 0, 3\nSET_INDEX VMEM1, 3, VMEM1, 1, VMEM2, 1\n"
)


def run(body: str):
    machine = load_target("genesys16")
    values = {name: np.arange(ROWS * LANES, dtype=np.int32).reshape(SHAPE) * n for name, n in (("a", 3), ("b", 100))}
    program = Program(machine, assemble(machine, LOAD + body + STORE), TENSORS, Resources())
    return simulate(program, values).outputs["c"], values["a"] + values["b"]


@pytest.mark.parametrize("numbers", ["VMEM1, 1, VMEM1, 0, VMEM2, 0", "VMEM1, 3, VMEM1, 1, VMEM2, 1"])
def test_loops_name_the_iterators_of_a_nested_body(numbers: str):
    """Others give the numbers of tensors in the instruction, we those of the innermost loop's iterators."""
    found, expected = run(OF_TENSORS + f"SET_INST 1, 0, 1\nADD {numbers}\n")
    assert (found == expected).all()


def test_instructions_name_their_own_iterators_in_a_single_loop():
    named = iterator("VMEM1", 5, SUM_ROW, 1) + iterator("VMEM1", 0, 0, 1) + iterator("VMEM2", 0, 0, 1)
    body = "SET_ITER 0, 0, 6\nSET_INST 0, 0, 2\nMOVE VMEM1, 5, VMEM1, 0, IMM, 0\nADD VMEM1, 5, VMEM1, 5, VMEM2, 0\n"
    found, expected = run(named + body)
    assert (found == expected).all()


def test_a_body_that_is_not_nested_has_one_loop():
    with pytest.raises(Trap, match="one loop around a body that is not nested, found 2"):
        run(OF_TENSORS + "SET_INST 0, 0, 1\nADD VMEM1, 1, VMEM1, 0, VMEM2, 0\n")


@pytest.mark.parametrize("loops", [[("y", 2)], [("y", 2), ("x", 3)], []])
def test_own_programs_mean_the_same_either_way(loops: list[tuple[str, int]]):
    """Where bodies are nested, the instruction's indices are those that its innermost loop names."""
    emitter = Emitter(load_target("dnnweaver"))
    moves = {"y": 3, "x": 1}
    places = [Place("VMEM1", SUM_ROW, moves), Place("VMEM1", 0, moves), Place("VMEM2", 7, moves)]
    emit_nest(emitter, loops, [("ADD", places[0], places[1], places[2])])
    lines = disassemble(emitter.machine, emitter.code()).splitlines()
    indices = [line.partition(" ")[2] for line in lines if line.startswith("SET_INDEX")]
    assert lines[-2] == f"SET_INST {int(len(loops) > 1)}, 0, 1"
    assert not indices or lines[-1] == f"ADD {indices[-1]}"
