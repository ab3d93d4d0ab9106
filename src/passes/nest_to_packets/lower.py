"""A function of groups as a program of packets.

A function of one kernel on its inputs gets a program of its own; others are programs of several kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ...algebra.expr import Access, Statement
from ...dialects import nest
from ...dialects.types import element_of, element_type_name, shape_of
from ...errors import TilewrightError
from ...interpreters.graph import argument_names, result_names
from ...machine import Machine
from ...machine.packet_program import PacketProgram
from .generate import generate
from .network import generate_network
from .steps import program_of


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
