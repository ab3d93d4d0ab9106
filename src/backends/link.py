"""Links a `mnemonic.program` with its machine and its weights into a `Program`."""

from dataclasses import replace

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FloatAttr, IntegerAttr, ModuleOp, StringAttr

from ..dialects.acg import machine_of
from ..dialects.layer_attributes import layers_of
from ..dialects.mnemonic import ProgramOp, TensorOp
from ..dialects.types import Role, dtype_of
from ..errors import TilewrightError
from ..machine import Machine
from ..machine.encoding import encode, instruction_offsets
from ..machine.tensor_placement import TensorPlacement
from ..resources import Resources, resources_of
from .program import Program, Region, region_of


def link(module: ModuleOp, ops_max: int = 0) -> Program:
    """The one program of a module; `TilewrightError` (kind `program`) if there is none, or a weight has no bytes."""
    programs = [op for op in module.body.ops if isinstance(op, ProgramOp)]
    if len(programs) != 1:
        lever = "lower it with convert-codelet-to-mnemonic" if not programs else "keep one"
        raise TilewrightError("program", "module", "one mnemonic.program", str(len(programs)), lever)
    program = programs[0]
    machine = machine_of(module)
    tensors = tuple(_placement(op) for op in program.tensors())
    weights = [tensor.name for tensor in tensors if tensor.role == str(Role.WEIGHT)]
    constants = _constants(weights, resources_of(module))
    code, regions = code_of(program, machine), _regions(program)
    layers = layers_of(program)
    if layers.known:
        layers.check(len(instruction_offsets(machine, code)[0]))
    linked = Program(machine, code, tensors, constants, _predicted(program), ops_max, regions, layers)
    return replace(linked, predicted=linked.control.predicted(linked))


def code_of(program: ProgramOp, machine: Machine) -> bytes:
    """The bytes of a program's instructions, packed or written out."""
    if program.code is not None:
        return program.code.data.data
    return b"".join(encode(machine, op.mnemonic.root_reference.data, op.codes(machine)) for op in program.instructions)


def _placement(op: TensorOp) -> TensorPlacement:
    tensor = op.tensor
    return TensorPlacement(
        op.tensor_name.data,
        str(op.role.data),
        dtype_of(tensor.element_type).name,
        tensor.get_shape(),
        op.memory.root_reference.data,
        op.address.value.data,
        op.layout.data if op.layout is not None else None,
    )


def _constants(names: list[str], resources: Resources) -> Resources:
    missing = [name for name in names if name not in resources]
    if missing:
        raise TilewrightError("program", missing[0], "bytes of the weight in the module's resources", "none")
    return resources.only(names)


def _regions(program: ProgramOp) -> tuple[Region, ...]:
    """The regions of fused groups, from the attribute that `convert-codelet-to-mnemonic` makes."""
    table = program.attributes.get("regions")
    found: list[Region] = []
    for entry in table if isinstance(table, ArrayAttr) else ():
        if isinstance(entry, DictionaryAttr):
            texts = {key: value.data for key, value in entry.data.items() if isinstance(value, StringAttr)}
            numbers = {key: value.value.data for key, value in entry.data.items() if isinstance(value, IntegerAttr)}
            found.append(region_of(texts | numbers))
    return tuple(found)


def _predicted(program: ProgramOp) -> dict[str, float]:
    if program.predicted is None:
        return {}
    figures = program.predicted.data.items()
    return {name: figure.value.data for name, figure in figures if isinstance(figure, FloatAttr)}
