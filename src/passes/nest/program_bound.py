"""Lower bounds of all programs of a module of groups."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...algebra.element import ELEMENT_TYPES
from ...costs.bounds.program import (
    Network,
    NetworkBuilder,
    ProgramBound,
    Traffic,
    Transfers,
    products_bound,
    program_bound,
)
from ...costs.fusion.of_machine import platform_of
from ...dialects import nest
from ...dialects.graph import WeightOp
from ...dialects.types import bytes_of, dtype_of, element_of, shape_of
from ...errors import TilewrightError
from ...machine import Machine
from ...resources import Resources, resources_of, weight_array
from ..functions import functions_of
from ..graph_to_nest.diagonals import has_diagonals
from .storage import is_read_outside, storage_of
from .trees import group_of


def bound_of(module: ModuleOp, machine: Machine) -> ProgramBound | None:
    """The bound of a module's only function, after `convert-graph-to-nest`; None where there is not one function."""
    functions = functions_of(module)
    if len(functions) != 1:
        return None
    if machine.control in ("loops", "packets"):  # whose constants of several bytes are joined from parts
        wide = {np.dtype(name) for name in ELEMENT_TYPES.values() if np.dtype(name).itemsize > 1}
        return products_bound(network_of(functions[0], resources_of(module), wide), machine)
    return program_bound(network_of(functions[0], resources_of(module), _immediates(machine)), machine)


def _immediates(machine: Machine) -> set[np.dtype[Any]]:
    """Types of constants that programs may have in their instructions, and not load."""
    capabilities = [capability for node in machine.computes for capability in node.capabilities]
    kinds = {kind for capability in capabilities for _, kind in capability.immediates}
    return {np.dtype(ELEMENT_TYPES[kind]) for kind in kinds} if machine.stages is not None else set()


def cycles_apart(module: ModuleOp, machine: Machine) -> int:
    """Cycles that no program goes below whose groups each load all that they read and store all that others read.

    Groups of one fused group (attribute `fused`) are as one.  Of those that write into what they are given, which moves
    in part, nothing is counted.
    """
    loads = stores = 0
    known: dict[object, Traffic] = {}
    for function in functions_of(module):
        position = {op: place for place, op in enumerate(function.body.block.ops)}
        for groups in _apart(function):
            if any(buffer.is_input and buffer.is_result for op in groups for buffer in group_of(op).buffers):
                continue
            ops = sorted(_with_views(groups), key=position.__getitem__)
            outs = [out for op in groups for out in op.outs if is_read_outside(out, groups)]
            key = _shape_of(ops, outs)
            if key not in known:
                known[key] = Traffic(_network_apart(ops, outs))
            loads, stores = loads + known[key].loads, stores + known[key].stores
    return Transfers(machine).cycles(loads, stores)


def weight_cycles(module: ModuleOp, machine: Machine) -> float:
    """Cycles of the loads of weights: of each once, but once for each group that reads it where it exceeds the chip."""
    platform, sizes = platform_of(machine), dict[object, int]()
    groups = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    for op, value in ((op, value) for op in groups for value in op.inputs):
        if isinstance(owner := storage_of(value).owner, WeightOp):
            size = bytes_of(value)
            key = owner.resource, op if size > platform.buffers.total_bytes else None
            sizes[key] = max(size, sizes.get(key, 0))
    return sum(sizes.values()) / platform.dram_bytes_per_cycle


def _apart(function: FuncOp) -> Iterable[set[nest.GroupOp]]:
    """The groups of a function, those of one fused group together."""
    found: dict[object, set[nest.GroupOp]] = {}
    for op in function.body.block.ops:
        if isinstance(op, nest.GroupOp):
            found.setdefault(op.attributes.get("fused", op), set()).add(op)
    return found.values()


def _with_views(groups: Iterable[nest.GroupOp]) -> set[Operation]:
    """Groups, and the views and joins through which they read."""
    found: set[Operation] = set(groups)
    values = [value for op in groups for value in op.inputs]
    while values:
        owner = values.pop().owner
        if isinstance(owner, nest.ViewOp | nest.JoinOp) and owner not in found:
            found.add(owner)
            values += owner.operands
    return found


def _network_apart(ops: Sequence[Operation], outs: Sequence[SSAValue]) -> Network:
    """Groups, views and joins as a network of their own, whose results are `outs`."""
    builder = NetworkBuilder()
    values: dict[SSAValue, int] = {}
    for op in ops:
        values |= {value: _tensor(builder, value) for value in op.operands if value not in values}
        _add(builder, op, values)
    return builder.network([values[value] for value in outs])


def _shape_of(ops: Sequence[Operation], outs: Sequence[SSAValue]) -> object:
    """What `_network_apart` depends on, without names."""
    numbers: dict[SSAValue, int] = {}
    found: list[object] = []
    for op in ops:
        own = group_of(op) if isinstance(op, nest.GroupOp) else tuple(op.attributes.values())
        found.append((own, op.operand_types, op.result_types))
        found.append(tuple(numbers.setdefault(value, len(numbers)) for value in (*op.operands, *op.results)))
    return (*found, *(numbers[value] for value in outs))


def network_of(function: FuncOp, resources: Resources, in_code: Collection[np.dtype[Any]] = ()) -> Network:
    """The groups of a function as plain data; constants of the types `in_code` have no bytes.

    Nor have those of several matrices of which some may be read from a vector (`has_diagonals`): a program may cut them
    apart, as attention into heads.
    """
    builder = NetworkBuilder()
    weights: dict[str, int] = {}
    values: dict[SSAValue, int] = {}
    for value in function.body.block.args:
        values[value] = _tensor(builder, value)
    for op in function.body.block.ops:
        if isinstance(op, WeightOp):
            if op.resource not in weights:
                element = dtype_of(element_of(op.result))
                array = weight_array(op, resources)
                is_free = element in in_code or (array is not None and has_diagonals(array))
                size = 0 if is_free else element.itemsize
                weights[op.resource] = builder.add_tensor(shape_of(op.result), size)
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
            buffers = {name: values[value] for name, value in op.inputs_by_name.items()}
            held = builder.add_group(group_of(op), buffers, op.sym_name.data)
            values |= {out: held[names[inner]] for out, inner in zip(op.outs, op.yielded, strict=True)}
        case nest.ViewOp():
            values[op.result] = builder.add_view(values[op.source], shape_of(op.result))
        case nest.RowsOp():  # each program reads all of them
            values[op.result] = _tensor(builder, op.result)
        case nest.JoinOp():
            pieces = [values[piece] for piece in op.pieces]
            values[op.result] = builder.add_join(pieces, op.axis.value.data, shape_of(op.result))
        case _:
            lever = "leave it out, or put what it does in its place (of a call: the function's layers)"
            raise TilewrightError("unsupported", op.name, "layers and weights", op.name, lever)


def _tensor(builder: NetworkBuilder, value: SSAValue) -> int:
    element = cast(TensorType[Attribute], value.type).element_type
    return builder.add_tensor(shape_of(value), dtype_of(element).itemsize)
