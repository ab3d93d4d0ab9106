"""`convert-codelet-to-mnemonic`: codelets become instruction words."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import mnemonic
from ...dialects.acg import machine_of
from ...dialects.codelet import CodeletOp, ComputeOp, ProgramOp, TensorOp
from ...dialects.codelet_fused import FusedOp
from ...dialects.codelet_rules import surrogate
from ...dialects.layer_attributes import nodes_of, set_layers
from ...dialects.properties import figures_of
from ...dialects.types import Role
from ...machine import Machine
from .binary import pack
from .emit import Emitter
from .read import Tensors, read_codelet, read_tensors, tensor_bytes


@dataclass(frozen=True)
class ConvertCodeletToMnemonicPass(ModulePass):
    """Emit the instructions of allocated codelets through the target's bindings of mnemonics to capabilities.

    Loops are run; a transfer becomes the fewest strided blocks that the copying mnemonic can say, plus fills where a
    padded read leaves the tensor; a compute becomes one instruction.  Every unit counts its instructions on a tag of
    its own, and an instruction waits for the counts that the bytes it touches depend on, as far as earlier waits do not
    imply them.  The codelets of a fused group take turns; a compute on rings or borders becomes one instruction per
    stretch.  Instructions stand in an order in which units wait little for each other (list scheduling); with
    `schedule=false` in that of the codelets.  The result is packed bytes, a table of tensors, the layers that
    instructions are of (attributes `layers` and `layer_runs`), and the regions of fused groups (attribute `regions`).
    What is predicted are cycles, energy and DRAM bytes of these instructions by the machine's formulas; what the cost
    model said before is kept as `model_cycles` and `model_energy_pj`.

        codelet.program @main { ... }   ->   mnemonic.program @main code dense<"0x..."> { mnemonic.tensor ... }

    Precondition: addresses (`codelet-allocate`).  Raises `TilewrightError` (kind `target` or `program`) where the
    machine has no instruction for something, or a value does not fit its field.
    """

    name = "convert-codelet-to-mnemonic"
    schedule: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        for program in [inner for inner in op.body.block.ops if isinstance(inner, ProgramOp)]:
            Rewriter.replace_op(program, convert(machine, program, schedule=self.schedule))


def convert(machine: Machine, program: ProgramOp, *, schedule: bool = True) -> mnemonic.ProgramOp:
    """The instructions and tensors of a program."""
    tensors = read_tensors(program)
    emitter = Emitter(machine)
    table: list[mnemonic.TensorOp] = []
    regions: list[tuple[TensorOp, range]] = []
    groups = _group_names(program)
    for op in program.body.block.ops:
        if isinstance(op, CodeletOp):
            emitter.codelet(read_codelet(op, tensors))
        elif isinstance(op, FusedOp):
            first = emitter.count
            inside = [inner for inner in op.codelets if isinstance(inner, CodeletOp)]
            names = [groups.get(nodes_of(inner), "") for inner in inside]
            emitter.turns(names, [read_codelet(inner, tensors) for inner in inside], op.ranges())
            regions += [(root, range(first, emitter.count)) for root in _regions(tensors, inside)]
        elif isinstance(op, TensorOp) and surrogate(op.result).memory in machine.offchip:
            table.append(_tensor(op))
    emitted = emitter.finish(schedule=schedule)
    predicted = _modelled(program) | emitted.predicted
    made = mnemonic.ProgramOp(program.sym_name.data, table, pack(machine, emitted.code), predicted)
    set_layers(made, emitted.layers)
    found = [_region(root, [emitted.places[number] for number in numbers]) for root, numbers in regions]
    if found:
        made.attributes["regions"] = ArrayAttr(found)
    return made


def _group_names(program: ProgramOp) -> dict[tuple[str, ...], str]:
    """Nodes of each layer that runs together with others -> the name of their group; those before it count, too.

    What is loaded for a layer while another group runs is of the layer's own group.
    """
    found: dict[tuple[str, ...], str] = {}
    number = 0
    for op in program.body.block.ops:
        if isinstance(op, FusedOp):
            working = [inner for inner in op.codelets if any(isinstance(part, ComputeOp) for part in inner.walk())]
            layers = dict.fromkeys(nodes_of(inner) for inner in working)
            if len(layers) > 1:
                number += 1
                found |= dict.fromkeys(layers, f"group {number}")
    return found


def _regions(tensors: Tensors, codelets: list[CodeletOp]) -> list[TensorOp]:
    """The tensors on chip of a fused group."""
    roots = dict.fromkeys(tensors.roots[value] for codelet in codelets for value in codelet.tensors)
    return [op for op in roots if op.role.data == Role.TEMP and op.address is not None and op.ring is not None]


def _region(op: TensorOp, places: Sequence[int]) -> DictionaryAttr:
    """A tensor on chip, used by the instructions at these places, from the first of them to the last."""
    assert op.address is not None
    first, last = min(places, default=0), max(places, default=-1) + 1
    numbers = {"start": op.address.value.data, "bytes": tensor_bytes(op), "first": first, "last": last}
    entry: dict[str, Attribute] = {key: IntegerAttr(value, i64) for key, value in numbers.items()}
    return DictionaryAttr({"name": op.tensor_name, "memory": StringAttr(surrogate(op.result).memory)} | entry)


def _tensor(op: TensorOp) -> mnemonic.TensorOp:
    type_ = surrogate(op.result)
    assert op.address is not None
    tensor = TensorType(type_.element, type_.sizes)
    return mnemonic.TensorOp(op.tensor_name.data, op.role.data, tensor, type_.memory, op.address.value.data)


def _modelled(program: ProgramOp) -> dict[str, float]:
    """What the cost model of the mapper or of groups said, its cycles and energy by names of their own."""
    own = {"cycles": "model_cycles", "energy_pj": "model_energy_pj"}
    return {own.get(name, name): figure for name, figure in figures_of(program.attributes.get("predicted")).items()}
