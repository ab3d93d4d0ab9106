"""Permutations on chip: rows as they are, and rows and lanes exchanged; what does not fit traps."""

import numpy as np
import pytest

from tilewright import load_target, simulate
from tilewright.backends.assembler import assemble, disassemble
from tilewright.backends.program import Program
from tilewright.backends.simulator import SimulationResult, Trap
from tilewright.machine.tensor_placement import TensorPlacement
from tilewright.passes.nest_to_loops.emitter import LOAD, STORE, Emitter
from tilewright.passes.nest_to_loops.vector_code import RowWalk, emit_permute
from tilewright.resources import Resources

LANES = 64
X = np.arange(8 * LANES, dtype=np.int32).reshape(8, LANES)
Loops = list[tuple[int, int]]


def run(source: Loops, target: Loops, shuffle: int, first: int = 0) -> SimulationResult:
    machine = load_target("dnnweaver")
    emitter = Emitter(machine)
    emitter.begin("SIMD")
    emitter.emit("base", level=3, side=LOAD, buffer="VMEM1", value=0)
    emitter.emit("transfer", side=LOAD, buffer="VMEM1", width=31, size=32)
    emit_permute(emitter, RowWalk("VMEM2", 0, target), RowWalk("VMEM1", first, source), bool(shuffle))
    emitter.emit("base", level=3, side=STORE, buffer="VMEM2", value=X.nbytes)
    emitter.emit("transfer", side=STORE, buffer="VMEM2", width=31, size=32)
    emitter.end()
    code = emitter.code()
    assert assemble(machine, disassemble(machine, code)) == code
    tensors = (
        TensorPlacement("x", "input", "int32", (8, LANES), "DRAM", 0),
        TensorPlacement("y", "output", "int32", (8, LANES), "DRAM", X.nbytes),
    )
    return simulate(Program(machine, code, tensors, Resources()), {"x": X})


def test_rows_backwards():
    result = run([(8, -1)], [(8, 1)], 0, first=7)
    assert (result.outputs["y"] == X[::-1]).all()
    assert result.counts.memories["VMEM1"].read_bytes == 8 * 256


def test_rows_in_the_order_of_loops():
    assert (run([(2, 1), (4, 2)], [(8, 1)], 0).outputs["y"] == X[[0, 2, 4, 6, 1, 3, 5, 7]]).all()


def test_rows_and_lanes_change_places():
    expected = np.zeros((8, LANES), np.int32)
    expected[:, :8] = X[:, :8].T
    assert (run([(8, 1)], [(8, 1)], 1).outputs["y"] == expected).all()


def test_a_row_read_again_and_again_spreads_its_lanes():
    assert (run([(64, 0)], [(8, 1)], 1).outputs["y"] == X[0, :8, None]).all()


@pytest.mark.parametrize(
    ("source", "target", "shuffle", "reason", "message"),
    [
        ([(8, 1)], [(4, 1)], 0, "illegal", "as many rows or blocks as are read, 8"),
        ([(2, 4), (4, 1)], [(8, 1)], 1, "illegal", "as many rows or blocks as are read, 2"),
        ([(65, 0)], [(8, 1)], 1, "illegal", "blocks of at most 64 rows"),
        ([(2, 4000)], [(2, 1)], 0, "range", "VMEM1 within rows 0 to 2047"),
        ([(16, 1)], [(16, 1)], 0, "uninitialised", "VMEM1 to be written before it is read"),
        ([(65536, 0), (65536, 0)], [(8, 1)], 0, "illegal", "at most 1048576 rows"),
    ],
)
def test_traps(source: Loops, target: Loops, shuffle: int, reason: str, message: str):
    with pytest.raises(Trap, match=message) as error:
        run(source, target, shuffle)
    assert error.value.reason == reason
