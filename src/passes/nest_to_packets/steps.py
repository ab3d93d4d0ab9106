"""A module of nest kernels as the steps of a program of packets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ...algebra.statement import dims_of, substitute_statement
from ...arrays import Array
from ...dialects import nest
from ...dialects.graph import WeightOp
from ...dialects.types import element_of, element_type_name, shape_of
from ...errors import TilewrightError
from ...interpreters.graph import argument_names, result_names
from ...resources import resources_of, weight_array
from .kernels import Program, Step, Value


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
        self.steps.append(Step(op.sym_name.data, renamed, extents, pads, into))

    def view(self, op: nest.ViewOp) -> None:
        """The same value under another shape."""
        source = self.names[op.source]
        if (array := self.values[source].array) is not None:
            self.name(op.result, array.reshape(shape_of(op.result)))
        else:
            self.aliases[self.name(op.result)] = self.aliases.get(source, source)


def _whole(op: nest.KernelOp, number: float) -> int:
    if int(number) != number:
        raise TilewrightError("unsupported", op.sym_name.data, "integers around tensors", f"{number}")
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
