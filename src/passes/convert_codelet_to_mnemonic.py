"""`convert-codelet-to-mnemonic`: codelets become instruction words."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, FloatAttr, ModuleOp, TensorType
from xdsl.passes import ModulePass

from ..backends.codegen.binary import pack
from ..backends.codegen.emit import Emitter
from ..backends.codegen.read import read_codelet, read_tensors
from ..dialects import mnemonic
from ..dialects.acg import machine_of
from ..dialects.codelet import CodeletOp, ProgramOp, TensorOp
from ..dialects.codelet_rules import surrogate
from ..machine import Machine


@dataclass(frozen=True)
class ConvertCodeletToMnemonicPass(ModulePass):
    """Emit the instructions of allocated codelets through the target's bindings of mnemonics to capabilities.

    Loops are run; a transfer becomes the fewest strided blocks that the copying mnemonic can say, plus fills where a
    padded read leaves the tensor; a compute becomes one instruction.  Every unit counts its instructions on a tag of
    its own, and an instruction waits for the counts that the bytes it touches depend on, as far as earlier waits do not
    imply them.  The result is packed bytes and a table of tensors.

        codelet.program @main { ... }   ->   mnemonic.program @main code dense<"0x..."> { mnemonic.tensor ... }

    Precondition: addresses (`codelet-allocate`).  Raises `TilewrightError` (kind `target` or `program`) where the
    machine has no instruction for something, or a value does not fit its field.
    """

    name = "convert-codelet-to-mnemonic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        for program in [inner for inner in op.body.block.ops if isinstance(inner, ProgramOp)]:
            block = program.parent_block()
            assert block is not None
            block.insert_op_before(convert(machine, program), program)
            program.detach()
            program.erase()


def convert(machine: Machine, program: ProgramOp) -> mnemonic.ProgramOp:
    """The instructions and tensors of a program."""
    tensors = read_tensors(program)
    emitter = Emitter(machine)
    table: list[mnemonic.TensorOp] = []
    for op in program.body.block.ops:
        if isinstance(op, CodeletOp):
            emitter.codelet(read_codelet(op, tensors)[0])
        elif isinstance(op, TensorOp):
            table.append(_tensor(op))
    return mnemonic.ProgramOp(program.sym_name.data, table, pack(machine, emitter.code), _predicted(program))


def _tensor(op: TensorOp) -> mnemonic.TensorOp:
    type_ = surrogate(op.result)
    assert op.address is not None
    tensor = TensorType(type_.element, type_.sizes)
    return mnemonic.TensorOp(op.tensor_name.data, op.role.data, tensor, type_.memory, op.address.value.data)


def _predicted(program: ProgramOp) -> dict[str, float] | None:
    figures = program.attributes.get("predicted")
    if not isinstance(figures, DictionaryAttr):
        return None
    return {key: value.value.data for key, value in figures.data.items() if isinstance(value, FloatAttr)}
