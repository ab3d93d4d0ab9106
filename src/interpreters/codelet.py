"""What codelets mean, run by NumPy: each local is an array, transfers copy boxes, computes run statements on views.

Addresses are not used, so a program can be run before and after allocation; a local that is `kept` is loaded each time.
For small shapes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl_callable, register_impls
from xdsl.ir import Operation, SSAValue

from ..algebra.affine import Affine, Axis, Range, form_low, form_span, index_forms, narrowed
from ..algebra.element import Array
from ..algebra.evaluate import run_strided
from ..algebra.expr import (
    Access,
    Call,
    Expr,
    Name,
    Statement,
    Strided,
    access_dims,
    accesses,
    reduction_dims,
    tensors_of,
)
from ..arrays import undefined
from ..dialects import codelet
from ..dialects.codelet_rules import access_axes, local_axes, shift_of, surrogate
from ..dialects.codelet_schedule import leading, share_of
from ..dialects.types import Role, dtype_of


@dataclass(frozen=True)
class Points:
    """Where the elements of an access lie in the array that is kept, and which of them are within the tensor."""

    index: tuple[Array, ...]
    inside: Array

    def read(self, array: Array, border: Array | None) -> Array:
        """A copy of the elements, one axis per dim of the access; `border` in the place of those outside."""
        values = array[self.index] if self.index else array[()]
        assert border is not None or self.inside.all(), "an access leaves its tensor"
        return np.array(values if border is None else np.where(self.inside, values, border), array.dtype)

    def write(self, array: Array, values: Array) -> None:
        """Put the elements back."""
        array[self.index] = values


def points(access: Access, sizes: Sequence[int], ring: Sequence[int], ranges: Mapping[str, Range]) -> Points:
    """The elements that `access` takes of a tensor of `sizes` over `ranges`; of each axis `ring` are kept (0: all)."""
    dims = access_dims(access)
    shape = tuple(ranges[dim].extent for dim in dims)
    grids = {
        dim: (ranges[dim].start + np.arange(ranges[dim].extent)).reshape(
            [-1 if i == j else 1 for j in range(len(dims))]
        )
        for i, dim in enumerate(dims)
    }
    inside = np.ones(shape, bool)
    index: list[Array] = []
    for form, size, held in zip(index_forms(access), sizes, ring or (0,) * len(sizes), strict=True):
        place = np.full(shape, form.const)
        for dim, coefficient in form.terms:
            place = place + coefficient * grids[dim]
        inside &= (place >= 0) & (place < size)
        index.append(np.clip(place, 0, size - 1) % (held or size))
    return Points(tuple(index), inside)


@register_impls
@dataclass
class CodeletFunctions(InterpreterFunctions):
    """Semantics of `codelet.program`: called with its inputs, it returns its outputs; `constants` are its weights."""

    constants: Mapping[str, Array] = field(default_factory=dict[str, Array])

    @impl_callable(codelet.ProgramOp)
    def call_program(self, interpreter: Interpreter, op: codelet.ProgramOp, args: PythonValues) -> PythonValues:
        return run_program(op, cast("tuple[Array, ...]", args), self.constants)


def run_program(op: codelet.ProgramOp, inputs: tuple[Array, ...], constants: Mapping[str, Array]) -> tuple[Array, ...]:
    """The outputs of a program, in order of declaration; what nothing has written is NaN or the largest integer."""
    values: dict[SSAValue, Array] = {}
    rings: dict[SSAValue, tuple[int, ...]] = {}
    outputs: list[Array] = []
    given = iter(inputs)

    def whole(value: SSAValue) -> _Place:
        return _whole(_contents(value, values), rings.get(value, ()))

    for inner in op.body.block.ops:
        match inner:
            case codelet.TensorOp():
                rings[inner.result] = () if inner.ring is None else inner.ring.get_values()
                array = _poison(inner.result, rings[inner.result])
                if inner.role.data == Role.INPUT:
                    array[...] = next(given)
                elif inner.role.data == Role.WEIGHT:
                    array[...] = constants[inner.tensor_name.data]
                elif inner.role.data == Role.OUTPUT:
                    outputs.append(array)
                values[inner.result] = array
            case codelet.RowsOp():
                pass  # read when it is asked for
            case codelet.ViewOp() if inner.source not in values:
                pass  # of rows
            case codelet.ViewOp():
                first, *rest = surrogate(inner.result).sizes
                kept = rings[inner.source][:1]
                rings[inner.result] = (*kept, *(0 for _ in rest)) if kept else ()
                values[inner.result] = values[inner.source].reshape((kept[0] if kept and kept[0] else first, *rest))
            case codelet.CodeletOp():
                run_codelet(inner, [whole(v) for v in inner.tensors], {})
            case codelet.FusedOp():
                for number, ranges in inner.ranges():
                    turn = inner.codelets[number]
                    assert isinstance(turn, codelet.CodeletOp)
                    run_codelet(turn, [whole(v) for v in turn.tensors], ranges)
            case _:
                raise TypeError(f"{inner.name} in a program")
    return tuple(outputs)


def _contents(value: SSAValue, values: Mapping[SSAValue, Array]) -> Array:
    """The array of a tensor; rows of a table, and views of them, as their index is now: undefined at one of no row."""
    match value.owner:
        case codelet.RowsOp() as rows:
            table, index = _contents(rows.table, values), _contents(rows.index, values)
            is_row = (index >= -len(table)) & (index < len(table))
            found = np.take(table, np.where(is_row, index, 0), axis=0)
            found[~is_row] = undefined(table.dtype)
            return found
        case codelet.ViewOp() as view if value not in values:
            return _contents(view.source, values).reshape(surrogate(value).sizes)
        case _:
            return values[value]


def _poison(value: SSAValue, ring: tuple[int, ...] = ()) -> Array:
    type_ = surrogate(value)
    dtype = dtype_of(type_.element)
    sizes = [held or size for held, size in zip(ring, type_.sizes, strict=True)] if ring else type_.sizes
    return np.full(sizes, undefined(dtype), dtype)


@dataclass(frozen=True)
class _Place:
    """An array that stands for the window of a tensor from `origin` on; without axes, for the whole tensor.

    Of each axis only `ring` are kept (0: all).
    """

    array: Array
    origin: tuple[int, ...]
    axes: tuple[Axis, ...] | None = None
    ring: tuple[int, ...] = ()

    @property
    def steps(self) -> tuple[int, ...]:
        return (1,) * self.array.ndim if self.axes is None else tuple(axis.step for axis in self.axes)


def _whole(array: Array, ring: tuple[int, ...]) -> _Place:
    return _Place(array, (0,) * array.ndim, ring=ring)


def run_codelet(op: codelet.CodeletOp, tensors: list[_Place], ranges: Mapping[str, Range]) -> None:
    """Runs a codelet on its tensors in place; dims that `ranges` does not name have all their iterations."""
    places: dict[Any, _Place] = dict(zip(op.body.block.args, tensors, strict=True))
    whole = {dim: Range(0, extent) for dim, extent in op.dims.data}
    _Run(places, whole | dict(ranges)).ops(op.body.block.ops)


@dataclass
class _Run:
    places: dict[Any, _Place]
    ranges: dict[str, Range]
    turned: set[Operation] = field(default_factory=set[Operation])  # alternating loops, after an odd number of runs

    def ops(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            match op:
                case codelet.LoopOp():
                    self.loop(op)
                case codelet.PartOp():
                    self.within(op, Range(op.start.value.data, op.extent))
                case codelet.SpanOp():
                    self.within(op, Range(form_low(op.form, self.ranges), form_span(op.form, self.ranges) + 1))
                case codelet.ShadowOp():
                    place = self.places[op.source]
                    narrow = place.array.astype(dtype_of(surrogate(op.result).element))
                    self.places[op.result] = replace(place, array=narrow)
                case codelet.FillOp():
                    self.places[op.target].array[...] = op.value.value.data
                case codelet.LocalOp():
                    axes = local_axes(op)
                    origin = tuple(axis.low(self.ranges) for axis in axes)
                    self.places[op.result] = _Place(_poison(op.result), origin, axes)
                case codelet.TransferOp():
                    self.transfer(op)
                case codelet.ComputeOp():
                    self.compute(op)
                case _:
                    raise TypeError(f"{op.name} in a codelet")

    def within(self, op: codelet.PartOp | codelet.SpanOp, part: Range) -> None:
        whole = self.ranges[op.dim.data]
        self.ranges[op.dim.data] = part
        self.ops(op.body.block.ops)
        self.ranges[op.dim.data] = whole

    def loop(self, op: codelet.LoopOp) -> None:
        dim, step = op.dim.data, op.step.value.data
        whole = self.ranges[dim]
        end = whole.start + whole.extent
        pieces = [Range(start, min(step, end - start)) for start in range(whole.start, end, step)]
        if op.alternating is not None:
            self.turned ^= {op}
            pieces = pieces if op in self.turned else pieces[::-1]
        if op.ahead is None:
            for piece in pieces:
                self.ranges[dim] = piece
                self.ops(op.body.block.ops)
        else:
            self.ahead(op, pieces)
        self.ranges[dim] = whole

    def ahead(self, op: codelet.LoopOp, pieces: list[Range]) -> None:
        head = leading(op)
        rest = [inner for inner in op.body.block.ops if inner not in head]
        following: list[dict[Any, _Place]] = []
        for index, piece in enumerate(pieces):
            for ahead in pieces[: index + 2][len(following) :]:
                self.ranges[op.dim.data] = ahead
                self.ops(head)
                following.append(dict(self.places))
            self.ranges[op.dim.data] = piece
            self.places.update(
                {inner.results[0]: following[index][inner.results[0]] for inner in head if inner.results}
            )
            self.ops(rest)
            following[index] = {}

    def transfer(self, op: codelet.TransferOp) -> None:
        source, destination = self.places[op.source], self.places[op.destination]
        axes = _box_axes(source.axes, destination.axes) if op.over is None else access_axes(op, [op.over.data])
        coordinates = [axis.low(self.ranges) + axis.step * np.arange(axis.count(self.ranges)) for axis in axes]
        if op.pad is not None:
            pad = op.pad.value.data
            destination.array[_positions(destination, coordinates)] = pad
        inside = [
            c[(c >= 0) & (c < size)] if place.axes is None else c
            for place, value in (((source, op.source) if source.axes is None else (destination, op.destination)),)
            for c, size in zip(coordinates, surrogate(value).sizes, strict=True)
        ]
        moved = [own + by for own, by in zip(inside, shift_of(op) or [0] * len(inside), strict=True)]
        destination.array[_positions(destination, moved)] = source.array[_positions(source, inside)]

    def compute(self, op: codelet.ComputeOp) -> None:
        whole = self.ranges
        ranges = narrowed(whole, share_of(op))
        if ranges is not None:
            self.ranges = dict(ranges)
            self.issue(op)
            self.ranges = whole

    def issue(self, op: codelet.ComputeOp) -> None:
        statement = op.statement.data
        names = tensors_of(statement)
        extents = {dim: current.extent for dim, current in self.ranges.items()}
        borders = dict(zip(op.border_names, op.tensors[len(names) :], strict=True))
        views: dict[str, Array] = {}
        scattered: tuple[Points, Array] | None = None
        for access in accesses(statement):
            assert isinstance(access, Access)
            value = op.tensors[names.index(access.tensor)]
            place, border = self.places[value], borders.get(access.tensor)
            if not place.ring and border is None:
                views[access.tensor] = self.view(access, place)
                continue
            found = points(access, surrogate(value).sizes, place.ring, self.ranges)
            views[access.tensor] = found.read(place.array, None if border is None else self.places[border].array[0])
            if access is statement.target:
                scattered = found, place.array
        fresh = op.keep is None and all(self.ranges[dim].start == 0 for dim in reduction_dims(statement))
        run_strided(_strided(statement), views, extents, accumulate=not fresh)
        if scattered is not None:
            scattered[0].write(scattered[1], views[statement.target.tensor])

    def view(self, access: Access, place: _Place) -> Array:
        """The elements of an access over the current ranges, one axis per dim of it."""
        dims = access_dims(access)
        forms = index_forms(access)
        first = tuple(
            (_at(form, self.ranges) - start) // step
            for form, start, step in zip(forms, place.origin, place.steps, strict=True)
        )
        strides = [
            sum(
                form.coefficient(dim) * b // step
                for form, b, step in zip(forms, place.array.strides, place.steps, strict=True)
            )
            for dim in dims
        ]
        shape = [self.ranges[dim].extent for dim in dims]
        corner = place.array[(*(slice(i, i + 1) for i in first), ...)]
        assert corner.size == 1, f"{access.tensor} begins outside of its local"
        return as_strided(corner, shape, [s if n > 1 else 0 for s, n in zip(strides, shape, strict=True)])


def _box_axes(source: tuple[Axis, ...] | None, destination: tuple[Axis, ...] | None) -> tuple[Axis, ...]:
    """Of two locals, the one with the wider steps says which elements are moved."""
    if source is None or destination is None:
        axes = destination if source is None else source
        assert axes is not None
        return axes
    return max(destination, source, key=lambda axes: [axis.step for axis in axes])


def _positions(place: _Place, coordinates: list[Array]) -> Any:
    """Index of an array for tensor coordinates."""
    parts = [(c - low) // step for c, low, step in zip(coordinates, place.origin, place.steps, strict=True)]
    if place.ring:
        parts = [part % held if held else part for part, held in zip(parts, place.ring, strict=True)]
    return np.ix_(*parts) if parts else ()


def _at(form: Affine, ranges: Mapping[str, Range]) -> int:
    return form.const + sum(c * ranges[dim].start for dim, c in form.terms)


def _strided(statement: Statement) -> Statement:
    target = _unindexed(statement.target)
    assert isinstance(target, Strided)
    return Statement(target, statement.reduce, _unindexed(statement.value))


def _unindexed(expr: Expr) -> Expr:
    match expr:
        case Access(tensor, _):
            return Strided(tensor, access_dims(expr))
        case Call(fn, args):
            return Call(fn, tuple(_unindexed(arg) for arg in args))
        case Name():
            return expr
        case _:
            return expr
