"""`convert-codelet-to-stages`: codelets become instructions of a machine of control model `stages`."""

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, i32
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...algebra.allocation import BumpAllocator
from ...costs.stages.code import read_code
from ...costs.stages.schedule import run_stages
from ...dialects.acg import machine_of
from ...dialects.codelet import CodeletOp, ProgramOp, TensorOp
from ...dialects.codelet_fused import FusedOp
from ...dialects.codelet_rules import surrogate
from ...dialects.layer_attributes import set_layers
from ...dialects.mnemonic import LayoutAttr
from ...dialects.mnemonic import ProgramOp as Instructions
from ...dialects.mnemonic import TensorOp as Placed
from ...dialects.types import Role, si8, tensor
from ...errors import TilewrightError
from ...machine import Machine
from ...machine.stage_isa import StageIsa
from ...resources import Resources, resources_of
from ..codelet_to_queues.read import read_codelet, read_tensors, tensor_bytes
from .emit import StageEmitter


@dataclass(frozen=True)
class ConvertCodeletToStagesPass(ModulePass):
    """Emit the instructions of allocated codelets for a machine of control model `stages` (VTA).

    Loops are run.  A transfer becomes the fewest copies of rows of elements, with zeros around them, or other numbers
    from an element off chip.  A compute that walks over dims becomes an instruction for each iteration of those that do
    not move its target; of the others the last two, where neighbours that continue each other are one, are the loops of
    the instruction, and the rest is its micro-ops, which are loaded before the codelet.  An instruction waits, by
    tokens, for those of other stages that its elements depend on, as far as earlier waits do not imply them.

        codelet.program @main { ... }   ->   mnemonic.program @main code dense<"0x..."> { mnemonic.tensor ... }

    Precondition: addresses (`codelet-allocate`).  Raises `TilewrightError` (kind `target` or `program`) where the
    machine has no instruction for something, `InfeasibleError` where micro-ops or padding do not fit.
    """

    name = "convert-codelet-to-stages"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for program in [inner for inner in op.body.block.ops if isinstance(inner, ProgramOp)]:
            Rewriter.replace_op(program, convert(machine_of(op), program, resources_of(op)))


def convert(machine: Machine, program: ProgramOp, resources: Resources) -> Instructions:
    """The instructions and tensors of a program; micro-ops become resources."""
    tensors, emitter = read_tensors(program), StageEmitter(StageIsa(machine))
    offchip = machine.memory_by_name[machine.offchip[0]]
    table, bump = list[Placed](), BumpAllocator(offchip.align_bytes)
    for op in program.body.block.ops:
        if isinstance(op, FusedOp):
            raise TilewrightError("target", f"group @{op.sym_name.data}", "codelets one after another", "turns")
        if isinstance(op, CodeletOp):
            emitter.codelet(read_codelet(op, tensors))
        elif isinstance(op, TensorOp) and op.address is not None:
            table.append(_placed(op))
            bump.end = max(bump.end, op.address.value.data + tensor_bytes(op))
    bump.take(0)
    for item in emitter.loaded:
        address, kind = bump.take(item.array.nbytes), si8 if item.array.dtype == np.int8 else i32
        emitter.place(item, address)
        name = resources.add(item.name, item.array)
        table.append(Placed(name, Role.WEIGHT, tensor(item.array.shape, kind), offchip.name, address))
    code = emitter.finish()
    cycles = float(run_stages(read_code(machine, code))[1].max(initial=0))
    made = Instructions(program.sym_name.data, table, code, {"cycles": cycles})
    set_layers(made, emitter.table())
    return made


def _placed(op: TensorOp) -> Placed:
    """The tensor of the program: as the network has it, where the codelet says that."""
    type_, seen, layout = surrogate(op.result), op.attributes.get("tensor"), op.attributes.get("layout")
    assert op.address is not None
    shape = seen if isinstance(seen, TensorType) else TensorType(type_.element, type_.sizes)
    data = layout.data if isinstance(layout, LayoutAttr) else None
    return Placed(op.tensor_name.data, op.role.data, shape, type_.memory, op.address.value.data, data)
