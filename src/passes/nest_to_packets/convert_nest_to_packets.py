"""`convert-nest-to-packets`: functions become programs of a machine of control model `packets`.

A function of one kernel on its inputs gets a program of its own; others are programs of several kernels.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...algebra.element import Array
from ...algebra.expr import Access, Statement, dims_of, substitute_statement
from ...dialects import nest
from ...dialects.acg import machine_of
from ...dialects.graph import WeightOp
from ...dialects.mnemonic import ProgramOp, TensorOp
from ...dialects.types import Role, Tensor, element_of, element_type_name, shape_of, tensor, ui8
from ...errors import TilewrightError
from ...interpreters.graph import argument_names, result_names
from ...machine import Machine
from ...machine.packet_code import encode_packets
from ...machine.packet_figures import figures
from ...machine.packet_program import Isa, PacketProgram
from ...resources import resources_of, weight_array
from ..functions import functions_of
from ..layer_errors import check_integers
from ..nest.trees import layer_words
from .generate import generate
from .kernels import Program, Step, Value
from .network import generate_network


@dataclass
class _Reader:
    """Names SSA values and gathers steps."""

    resources: Mapping[str, Array]
    names: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    steps: list[Step] = field(default_factory=list[Step])
    aliases: dict[str, str] = field(default_factory=dict[str, str])

    def name(self, value: SSAValue, array: Array | None = None) -> str:
        """A new name for a value."""
        self.names[value] = name = f"t{len(self.names)}"
        self.values[name] = Value(shape_of(value), element_type_name(element_of(value)), array)
        return name

    def group(self, group: nest.GroupOp) -> None:
        """The kernels of a group; its results are values inside of it."""
        for inside, outside in zip(group.body.block.args, group.inputs, strict=True):
            self.names[inside] = self.names[outside]
        for op in group.body.block.ops:
            if isinstance(op, nest.KernelOp):
                self.kernel(op, group)
            elif not isinstance(op, nest.YieldOp):
                raise TilewrightError("unsupported", op.name, "kernels in groups", op.name)
        for out, inside in zip(group.outs, group.yielded, strict=True):
            self.names[out] = self.names[inside]

    def kernel(self, op: nest.KernelOp, group: nest.GroupOp) -> None:
        """One kernel as a step."""
        tensors = {name: self.names[value] for name, value in op.operands_by_name.items()}
        statement = op.statement.data
        target = getattr(statement.target, "tensor", "")
        pads = {tensors[name]: _whole(op, number) for name, number in op.pads.items() if name in tensors}
        tensors[target] = self.name(op.result)
        renamed = substitute_statement(statement, tensors=tensors)
        extents = {dim: group.extents[dim] for dim in dims_of(renamed)}
        into = self.names[op.init] if op.init is not None else ""
        self.steps.append(Step(op.sym_name.data, renamed, extents, pads, into, layer_words(group)))

    def view(self, op: nest.ViewOp) -> None:
        """The same value under another shape."""
        source = self.names[op.source]
        if (array := self.values[source].array) is not None:
            self.name(op.result, array.reshape(shape_of(op.result)))
        else:
            self.aliases[self.name(op.result)] = self.aliases.get(source, source)


def _whole(op: nest.KernelOp, number: float) -> int:
    if not float(number).is_integer():
        lever = "quantise the network"
        raise TilewrightError(
            "unsupported", f"kernel @{op.sym_name.data}", "integers around tensors", f"{number}", lever
        )
    return int(number)


def program_of(module: ModuleOp, function: FuncOp) -> Program:
    """The steps of a function; `TilewrightError` where it holds other things than groups and views."""
    resources = resources_of(module)
    reader = _Reader(resources)
    arguments = function.body.block.args
    inputs = dict(zip(argument_names(function), map(reader.name, arguments), strict=True))
    outputs: dict[str, str] = {}
    weights: dict[str, str] = {}
    for op in function.body.block.ops:
        match op:
            case WeightOp():
                if op.result.uses:
                    weights[op.resource] = reader.name(op.result, weight_array(op, resources))
            case nest.GroupOp():
                reader.group(op)
            case nest.ViewOp():
                reader.view(op)
            case ReturnOp():
                outputs = dict(zip(result_names(function), (reader.names[v] for v in op.arguments), strict=True))
            case _:
                raise TilewrightError("unsupported", op.name, "groups of kernels, views and weights", op.name)
    return Program(tuple(reader.steps), reader.values, inputs, outputs, reader.aliases, weights)


@dataclass(frozen=True)
class PacketKernel:
    """A statement with what generating it needs; `names` are the function's, of the kernel's tensors."""

    statement: Statement
    extents: Mapping[str, int]
    types: Mapping[str, str]
    shapes: Mapping[str, tuple[int, ...]]
    names: Mapping[str, str]


def packet_program(machine: Machine, module: ModuleOp, function: FuncOp) -> PacketProgram:
    """The program of a function of a module in the nest dialect; inputs and outputs are stored under its names.

    `TilewrightError` where the target has no way to do part of it.
    """
    if (kernel := kernel_of(function)) is not None:
        try:
            program = generate(machine, kernel.statement, kernel.extents, kernel.types, shapes=kernel.shapes)
            stored = tuple(replace(item, name=kernel.names.get(item.name, item.name)) for item in program.stored)
            return replace(program, stored=stored)
        except TilewrightError as error:
            if error.kind != "unsupported":
                raise
    check_integers(function, machine.name)
    return generate_network(machine, program_of(module, function))


def kernel_of(function: FuncOp) -> PacketKernel | None:
    """The one kernel of a function, on inputs alone; None where there are more or other things."""
    kernels = [op for op in function.walk() if isinstance(op, nest.KernelOp)]
    groups = [op for op in function.walk() if isinstance(op, nest.GroupOp)]
    arguments = list(function.body.block.args)
    if len(kernels) != 1 or len(groups) != 1 or any(value not in arguments for value in groups[0].inputs):
        return None
    kernel, group = kernels[0], groups[0]
    target = kernel.statement.data.target
    if any(kernel.pads.values()) or kernel.init is not None or not isinstance(target, Access):
        return None
    outside = {id(inner): outer for inner, outer in zip(group.body.block.args, group.inputs, strict=True)}
    outer = {id(value): name for value, name in zip(arguments, argument_names(function), strict=True)}
    values = {target.tensor: kernel.result, **kernel.operands_by_name}
    names = {name: outer[id(outside[id(value)])] for name, value in kernel.operands_by_name.items()}
    if len(set(names.values())) != len(names):
        return None
    return PacketKernel(
        kernel.statement.data,
        group.extents,
        {name: element_type_name(element_of(value)) for name, value in values.items()},
        {name: shape_of(value) for name, value in values.items()},
        {**names, target.tensor: result_names(function)[0]},
    )


CONSTANTS = "constants"
"""The weight that holds all constants: the memory's bytes up to the last of them."""


@dataclass(frozen=True)
class ConvertNestToPacketsPass(ModulePass):
    """Turn each function of groups into packets of instructions (VLIW).

    A function of one kernel on its inputs gets a program in the forms that suit the kernel best; in others the kernels
    run one after another, in forms that suit them all.  Where tensors lie is in the code; those of the program have the
    function's shapes, and one more holds the constants.

        nest.group @fc dims {...} ...   ->   mnemonic.program @main code dense<"0x..."> { mnemonic.tensor ... }

    Precondition: integers only, and a target whose control model is `packets` (`load-target`); mappings are not used.
    Raises `TilewrightError` (kind `unsupported`) for what the machine has no instructions for.
    """

    name = "convert-nest-to-packets"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            program = _convert(op, function)
            Rewriter.replace_op(function, program)


def _convert(module: ModuleOp, function: FuncOp) -> ProgramOp:
    isa = Isa(machine_of(module))
    program = packet_program(isa.machine, module, function)
    tensors = list(_tensors(isa, program, function))
    if len(constants := constants_of(program)):
        name = resources_of(module).add(CONSTANTS, constants)
        tensors.append(TensorOp(name, Role.WEIGHT, tensor([len(constants)], ui8), isa.memory, 0))
    return ProgramOp(function.sym_name.data, tensors, encode_packets(program), figures(isa, program.code))


def _tensors(isa: Isa, program: PacketProgram, function: FuncOp) -> Iterator[TensorOp]:
    """The function's inputs and outputs; one that nothing reads is at 0."""
    addresses = {item.name: item.address for item in reversed(program.stored)}
    types = function.function_type
    for role, names, given in (
        (Role.INPUT, argument_names(function), types.inputs),
        (Role.OUTPUT, result_names(function), types.outputs),
    ):
        for name, type_ in zip(names, given, strict=True):
            yield TensorOp(name, role, cast(Tensor, type_), isa.memory, addresses.get(name, 0))


def constants_of(program: PacketProgram) -> Array:
    """The memory's bytes up to the last constant, 0 between them."""
    memory = np.zeros(max((address + len(data) for address, data in program.images), default=0), np.uint8)
    for address, data in program.images:
        memory[address : address + len(data)] = np.frombuffer(data, np.uint8)
    return memory
