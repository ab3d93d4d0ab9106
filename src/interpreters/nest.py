"""What `nest` means, run by NumPy: kernels on whole tensors, and mapped groups tile by tile.

A mapped group runs as its tree says: a hold has storage of its own that is filled and emptied as the dialect defines,
so that a mapping which loses or never loads something shows up as poison in the result.  For small shapes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Region, SSAValue

from ..algebra.affine import Affine, index_forms
from ..algebra.element import Array
from ..algebra.evaluate import run_statement
from ..algebra.expr import Access, Call, Expr, Name, Num, accesses, dims_of, reduction_dims, substitute_statement
from ..arrays import undefined
from ..costs.mapping.footprint import buffer_box
from ..dialects import nest
from ..dialects.types import dtype_of
from .graph_numpy import rows_at


@register_impls
class NestFunctions(InterpreterFunctions):
    """Semantics of `nest.group` (mapped or not) and `nest.view`; values are NumPy arrays."""

    @impl(nest.GroupOp)
    def run_group(self, interpreter: Interpreter, op: nest.GroupOp, args: PythonValues) -> PythonValues:
        names = (name.data for name in op.input_names)
        inputs = {name: np.asarray(arg) for name, arg in zip(names, args, strict=True)}
        return run_mapped(op, inputs) if op.is_mapped else run_whole(op, inputs)

    @impl(nest.ViewOp)
    def run_view(self, interpreter: Interpreter, op: nest.ViewOp, args: PythonValues) -> PythonValues:
        return (np.reshape(args[0], op.result.type.get_shape()),)

    @impl(nest.RowsOp)
    def run_rows(self, interpreter: Interpreter, op: nest.RowsOp, args: PythonValues) -> PythonValues:
        return (rows_at(np.asarray(args[0]), np.asarray(args[1])),)

    @impl(nest.JoinOp)
    def run_join(self, interpreter: Interpreter, op: nest.JoinOp, args: PythonValues) -> PythonValues:
        return (np.concatenate([np.asarray(arg) for arg in args], op.axis.value.data),)


def run_whole(op: nest.GroupOp, inputs: Mapping[str, Array]) -> tuple[Array, ...]:
    """The results of a group by its body alone, each kernel on whole tensors."""
    values: dict[SSAValue, Array] = dict(zip(op.body.block.args, inputs.values(), strict=True))
    for kernel in op.kernels:
        out = poison(kernel.result.type) if kernel.init is None else values[kernel.init].copy()
        operands = {name: values[value] for name, value in kernel.operands_by_name.items()}
        run_statement(
            kernel.statement.data, operands, op.extents, out, pad=kernel.pads, accumulate=kernel.init is not None
        )
        values[kernel.result] = out
    return tuple(values[value] for value in op.yielded)


def run_mapped(op: nest.GroupOp, inputs: Mapping[str, Array]) -> tuple[Array, ...]:
    """The results of a group by its mapping, tile by tile."""
    storage = {name: poison(type_) for name, type_ in op.buffer_types().items()}
    storage |= {name: array.copy() for name, array in inputs.items()}
    ranges = {dim: (0, extent) for dim, extent in op.extents.items()}
    _run(_Frame(op, op.buffers(), storage, ranges, op.extents), op.mapping)
    return tuple(storage[op.buffers()[value]] for value in op.yielded)


def poison(type_: Attribute) -> Array:
    """A tensor of values that nobody wrote: NaN, or the largest integer."""
    tensor = cast(TensorType[Attribute], type_)
    dtype = dtype_of(tensor.element_type)
    return np.full(tensor.get_shape(), undefined(dtype), dtype)


@dataclass(frozen=True)
class _Frame:
    op: nest.GroupOp
    buffers: Mapping[SSAValue, str]
    storage: Mapping[str, Array]
    ranges: Mapping[str, tuple[int, int]]
    tile: Mapping[str, int]


def _run(frame: _Frame, region: Region) -> None:
    for node in region.block.ops:
        match node:
            case nest.ForOp():
                _loop(frame, node)
            case nest.SpatialOp():
                _spread(frame, node)
            case nest.HoldOp():
                _hold(frame, node)
            case nest.ComputeOp():
                _compute(frame, node)
            case _:
                raise TypeError(f"{node.name} in a mapping")


def _loop(frame: _Frame, node: nest.ForOp) -> None:
    first, last = frame.ranges[node.dim.data]
    _pieces(frame, node, range(first, last, node.step.value.data))


def _spread(frame: _Frame, node: nest.SpatialOp) -> None:
    if node.piece is None:
        _run(frame, node.body)
        return
    first, last = frame.ranges[node.dim.data]
    _pieces(frame, node, range(first, min(last, first + node.ways.value.data * node.piece), node.piece))


def _pieces(frame: _Frame, node: nest.ForOp | nest.SpatialOp, starts: range) -> None:
    dim, last = node.dim.data, frame.ranges[node.dim.data][1]
    tile = {**frame.tile, dim: min(starts.step, frame.tile[dim])}
    for start in starts:
        ranges = {**frame.ranges, dim: (start, min(start + starts.step, last))}
        _run(replace(frame, ranges=ranges, tile=tile), node.body)


def _hold(frame: _Frame, node: nest.HoldOp) -> None:
    inside = {leaf.kernel.data for leaf in node.walk() if isinstance(leaf, nest.ComputeOp)}
    types = frame.op.buffer_types()
    storage = dict(frame.storage)
    stores: list[tuple[str, tuple[slice, ...]]] = []
    for name in node.buffer_names:
        use = buffer_use(frame.op, frame.buffers, name, inside)
        storage[name] = poison(types[name])
        box = _box(use.touched, frame, storage[name].shape)
        if use.loaded or _continues(frame, name, inside):
            storage[name][box] = frame.storage[name][box]
        if use.stored:
            stores.append((name, _box(use.written, frame, storage[name].shape)))
    _run(replace(frame, storage=storage), node.body)
    for name, box in stores:
        frame.storage[name][box] = storage[name][box]


def _continues(frame: _Frame, name: str, inside: set[str]) -> bool:
    """Whether a loop outside has cut a sum in this buffer, and parts of it are there already."""
    return any(
        frame.ranges[dim][0] > 0
        for kernel in frame.op.kernels
        if kernel.sym_name.data in inside and frame.buffers[kernel.result] == name
        for dim in reduction_dims(kernel.statement.data)
    )


@dataclass(frozen=True)
class BufferUse:
    """How the kernels below a hold use a buffer: index forms of all accesses and of the writes; whether it is loaded on
    entry and stored on exit."""

    touched: tuple[tuple[Affine, ...], ...]
    written: tuple[tuple[Affine, ...], ...]
    loaded: bool
    stored: bool


def buffer_use(op: nest.GroupOp, buffers: Mapping[SSAValue, str], name: str, inside: set[str]) -> BufferUse:
    """The use of buffer `name` by the kernels named in `inside`, as `nest.hold` defines it."""
    touched: list[tuple[Affine, ...]] = []
    written: list[tuple[Affine, ...]] = []
    loaded: bool | None = None
    outside = any(buffers[value] == name for value in op.yielded)
    for kernel in op.kernels:
        reads, writes = _touches(kernel, buffers, name)
        if kernel.sym_name.data not in inside:
            outside = outside or reads or writes
            continue
        if loaded is None and (reads or writes):
            loaded = reads
        forms = _forms(kernel, buffers, name)
        touched.extend(forms)
        written.extend(forms[:1] if writes else ())
    return BufferUse(tuple(touched), tuple(written), bool(loaded), bool(written) and outside)


def _touches(kernel: nest.KernelOp, buffers: Mapping[SSAValue, str], name: str) -> tuple[bool, bool]:
    writes = buffers[kernel.result] == name
    continues = writes and kernel.init is not None and kernel.statement.data.reduce != "="
    return continues or any(buffers[value] == name for value in kernel.inputs), writes


def _forms(kernel: nest.KernelOp, buffers: Mapping[SSAValue, str], name: str) -> list[tuple[Affine, ...]]:
    """Index forms of the kernel's accesses to a buffer, its target's first."""
    values = kernel.operands_by_name
    target, *used = cast(tuple[Access, ...], accesses(kernel.statement.data))
    forms = [index_forms(target)] if buffers[kernel.result] == name else []
    return forms + [index_forms(access) for access in used if buffers[values[access.tensor]] == name]


def _box(forms: Sequence[Sequence[Affine]], frame: _Frame, shape: Sequence[int]) -> tuple[slice, ...]:
    box = buffer_box(forms, frame.ranges, frame.tile)
    parts = [interval.clip(size) for interval, size in zip(box, shape, strict=True)]
    return tuple(slice(p.start, p.start + p.step * (p.count - 1) + 1 if p.count else p.start, p.step) for p in parts)


def _compute(frame: _Frame, node: nest.ComputeOp) -> None:
    kernel = next(k for k in frame.op.kernels if k.sym_name == node.kernel)
    statement = kernel.statement.data
    dims = dims_of(statement)
    moved: dict[str, Expr] = {d: Call("add", (Name(d), Num(frame.ranges[d][0]))) for d in dims}
    operands = {name: frame.storage[frame.buffers[value]] for name, value in kernel.operands_by_name.items()}
    starts = kernel.init is None and all(frame.ranges[d][0] == 0 for d in reduction_dims(statement))
    run_statement(
        substitute_statement(statement, moved),
        operands,
        {d: frame.ranges[d][1] - frame.ranges[d][0] for d in dims},
        frame.storage[frame.buffers[kernel.result]],
        pad=kernel.pads,
        accumulate=not starts,
    )
