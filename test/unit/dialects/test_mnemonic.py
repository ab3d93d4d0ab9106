"""Programs as values: bytes, tables of tensors, types."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType, f32

from tilewright.dialects.mnemonic import InstrOp, ProgramOp, TensorOp, packed
from tilewright.dialects.types import ProgramCallable, Role, si8
from tilewright.frontends.acg import load_target


def program() -> ProgramOp:
    tensors = [
        TensorOp("x", Role.INPUT, TensorType(f32, [2, 3]), "DRAM", 0),
        TensorOp("w", Role.WEIGHT, TensorType(si8, [5]), "DRAM", 64),
        TensorOp("y", Role.OUTPUT, TensorType(f32, [2]), "DRAM", 128),
    ]
    return ProgramOp("main", tensors, bytes(range(200)), {"cycles": 7.0})


def test_code_is_kept_as_bytes() -> None:
    op = program()
    op.verify()
    assert op.code is not None
    assert op.code.data.data == bytes(range(200))
    assert packed(b"").data.data == b""


def test_tensors_by_role() -> None:
    op = program()
    assert [t.size_bytes for t in op.tensors()] == [24, 5, 8]
    assert [t.tensor_name.data for t in op.tensors(Role.WEIGHT)] == ["w"]
    assert ProgramCallable.get_argument_types(op) == (TensorType(f32, [2, 3]),)
    assert ProgramCallable.get_result_types(op) == (TensorType(f32, [2]),)
    assert op.instructions == ()


def test_codes_of_written_instructions() -> None:
    instruction = InstrOp("FILL", {"T": "i8", "D": 16, "DA": -1})
    assert instruction.codes(load_target("tiny")) == {"T": 2, "D": 16, "DA": -1}
