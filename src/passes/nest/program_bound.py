"""Lower bounds of all programs of a module of groups."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...costs.bounds.program import (
    Network,
    NetworkBuilder,
    ProgramBound,
    Traffic,
    Transfers,
    program_bound,
)
from ...costs.mapping.problem import Group
from ...dialects import nest
from ...dialects.graph import WeightOp
from ...dialects.types import dtype_of, shape_of
from ...machine import Machine
from .trees import group_of


def bound_of(module: ModuleOp, machine: Machine) -> ProgramBound | None:
    """The bound of a module's only function, after `convert-graph-to-nest`; None where there is not one function."""
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp) and op.body.blocks]
    return program_bound(network_of(functions[0]), machine) if len(functions) == 1 else None


def cycles_apart(module: ModuleOp, machine: Machine) -> int:
    """Cycles that no program goes below whose groups each load all that they read and store all that they make.

    Of groups that write into what they are given, which moves in part, nothing is counted.
    """
    loads = stores = 0
    known: dict[tuple[Group, tuple[int, ...]], Traffic] = {}
    for op in module.walk():
        if isinstance(op, nest.GroupOp):
            problem, inputs = group_of(op), list(op.inputs)
            if any(buffer.is_input and buffer.is_result for buffer in problem.buffers):
                continue
            key = problem, tuple(inputs.index(value) for value in inputs)
            if key not in known:
                builder = NetworkBuilder()
                values = {value: _tensor(builder, value) for value in inputs}
                _add(builder, op, values)
                known[key] = Traffic(builder.network([values[value] for value in op.outs]))
            loads, stores = loads + known[key].loads, stores + known[key].stores
    return Transfers(machine).cycles(loads, stores)


def network_of(function: FuncOp) -> Network:
    """The groups of a function as plain data."""
    builder = NetworkBuilder()
    weights: dict[str, int] = {}
    values: dict[SSAValue, int] = {}
    for value in function.body.block.args:
        values[value] = _tensor(builder, value)
    for op in function.body.block.ops:
        if isinstance(op, WeightOp):
            if op.resource not in weights:
                weights[op.resource] = _tensor(builder, op.result)
            values[op.result] = weights[op.resource]
        elif isinstance(op, ReturnOp):
            return builder.network([values[value] for value in op.arguments])
        else:
            _add(builder, op, values)
    raise AssertionError("a function ends with a return")


def _add(builder: NetworkBuilder, op: Operation, values: dict[SSAValue, int]) -> None:
    match op:
        case nest.GroupOp():
            names = op.buffers()
            inputs = zip(op.input_names, op.inputs, strict=True)
            buffers = {name.data: values[value] for name, value in inputs}
            held = builder.add_group(group_of(op), buffers, op.sym_name.data)
            values |= {out: held[names[inner]] for out, inner in zip(op.outs, op.yielded, strict=True)}
        case nest.ViewOp():
            values[op.result] = builder.add_view(values[op.source], shape_of(op.result))
        case nest.JoinOp():
            pieces = [values[piece] for piece in op.pieces]
            values[op.result] = builder.add_join(pieces, op.axis.value.data, shape_of(op.result))
        case _:
            raise TypeError(f"{op.name} among groups")


def _tensor(builder: NetworkBuilder, value: SSAValue) -> int:
    element = cast(TensorType[Attribute], value.type).element_type
    return builder.add_tensor(shape_of(value), dtype_of(element).itemsize)
