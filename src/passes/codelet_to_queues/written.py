"""Whether what codelets read was written before: of tensors, in order, and of rings of fused groups, turn by turn."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ...algebra.affine import Affine, Range, form_low, form_span, index_forms
from ...algebra.element import Array, Ints
from ...algebra.expr import Access, accesses, tensors_of
from ...dialects.codelet import CodeletOp, ProgramOp, TensorOp, ViewOp
from ...dialects.codelet_fused import FusedOp
from ...dialects.codelet_rules import surrogate
from ...dialects.types import Role
from ...errors import TilewrightError
from .read import Tensors
from .tree import Codelet, Fill, Issue, Part, Surrogate, Transfer, Visit, visits

MOST_ELEMENTS = 1 << 24
"""Larger tensors are not looked at."""

MOST_VALUES = 1 << 16
"""Values of an index that are listed; a read by more is not looked at, a write by more covers all between them."""


@dataclass(frozen=True)
class Touch:
    """A codelet reads or writes elements of a tensor: along each axis the values of the index forms (None: all)."""

    tensor: int
    axes: tuple[tuple[Affine, ...], ...] | None
    parts: tuple[tuple[str, Range], ...]
    writes: bool

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """What the elements depend on."""
        return tuple(dict.fromkeys(dim for forms in self.axes or () for form in forms for dim in form.names))

    @cached_property
    def is_box(self) -> bool:
        """Whether the elements are all combinations of the indices of each axis."""
        names = [dim for forms in self.axes or () for dim in {name for form in forms for name in form.names}]
        return len(names) == len(set(names)) and all(len(forms) == 1 for forms in self.axes or ())


def check_written(program: ProgramOp, tensors: Tensors, codelets: Mapping[CodeletOp, Codelet]) -> None:
    """Raises `TilewrightError` (kind `refuted`) where a codelet reads an element that nothing has written.

    Tensors with rings are left to `turns.check_rows`.  What a codelet reads of a tensor that it writes itself is taken
    as written by it before; indices that depend on each other are not looked at.
    """
    made = _Written(tensors)
    for op in program.body.block.ops:
        if isinstance(op, CodeletOp):
            made.run(_Reader(codelets[op]), {})
        elif isinstance(op, FusedOp):
            readers = [_Reader(codelets[inner]) for inner in op.codelets if isinstance(inner, CodeletOp)]
            for number, ranges in op.ranges():
                made.run(readers[number], ranges)


def check_views(program: ProgramOp) -> None:
    """Raises `TilewrightError` (kind `refuted`) where a view has other elements than its tensor."""
    for op in program.body.block.ops:
        if isinstance(op, ViewOp):
            source, result = surrogate(op.source), surrogate(op.result)
            if prod(source.sizes) != prod(result.sizes):
                subject = f"view of {op.source.name_hint or 'a tensor'}"
                raise TilewrightError("refuted", subject, f"the {prod(source.sizes)} elements of {source}", str(result))


@dataclass
class _Reader:
    """A codelet with what it touches, and touches that were looked at, by the ranges of their dims."""

    codelet: Codelet
    known: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])

    @cached_property
    def touches(self) -> list[Touch]:
        """Writes before reads."""
        found = [touch for visit in visits(self.codelet) for touch in _touches(self.codelet, visit)]
        return sorted(dict.fromkeys(found), key=lambda touch: not touch.writes)


class _Written:
    """The elements of each tensor that were written so far: all, or those of a bitmap."""

    def __init__(self, tensors: Tensors) -> None:
        ops = [op for value, op in tensors.roots.items() if value is op.result]
        self.sizes = {op.tensor_name.data: prod(surrogate(op.result).sizes) for op in ops if _is_looked_at(op)}
        self.all: set[str] = set()
        self.some: dict[str, Array] = {}

    def run(self, reader: _Reader, ranges: Mapping[str, Range]) -> None:
        """What a codelet writes, and then what it reads."""
        codelet = reader.codelet
        whole = {dim: Range(0, extent) for dim, extent in codelet.dims} | dict(ranges)
        for number, touch in enumerate(reader.touches):
            tensor = codelet.surrogates[touch.tensor]
            key = number, *(whole[dim] for dim in touch.dims)
            if tensor.name not in self.sizes or key in reader.known:
                continue
            reader.known.add(key)
            if touch.writes:
                self._write(tensor, touch, whole)
            elif tensor.name not in self.all and touch.is_box:
                missing = self._missing(tensor, touch, whole)
                if missing is not None:
                    expected = f"index {', '.join(map(str, missing))} of {tensor.name} to be written before it is read"
                    raise TilewrightError("refuted", f"codelet @{codelet.name}", expected, "nothing that writes it")

    def _write(self, tensor: Surrogate, touch: Touch, ranges: Mapping[str, Range]) -> None:
        box = _box(tensor, touch, ranges)
        if tensor.name in self.all or box is None:
            return
        if all(len(values) == size for values, size in zip(box, tensor.shape, strict=True)):
            self.all.add(tensor.name)
            self.some.pop(tensor.name, None)
        else:
            self._map(tensor)[np.ix_(*box)] = True

    def _missing(self, tensor: Surrogate, touch: Touch, ranges: Mapping[str, Range]) -> tuple[int, ...] | None:
        """The first element that is not there."""
        box = _box(tensor, touch, ranges)
        if box is None:
            return None
        absent = np.argwhere(~self._map(tensor)[np.ix_(*box)])
        return tuple(int(values[at]) for values, at in zip(box, absent[0], strict=True)) if len(absent) else None

    def _map(self, tensor: Surrogate) -> Array:
        """The bitmap of a tensor in the shape in which it is seen."""
        if tensor.name not in self.some:
            self.some[tensor.name] = np.zeros(self.sizes[tensor.name], np.bool_)
        return self.some[tensor.name].reshape(tensor.shape)


def _is_looked_at(op: TensorOp) -> bool:
    given = op.role.data in (Role.INPUT, Role.WEIGHT)
    has_ring = op.ring is not None and any(op.ring.get_values())
    return not given and not has_ring and prod(surrogate(op.result).sizes) <= MOST_ELEMENTS


def _box(tensor: Surrogate, touch: Touch, ranges: Mapping[str, Range]) -> list[Array] | None:
    """Along each axis the indices within the tensor; None where they are too many to be listed."""
    if touch.axes is None:
        return [np.arange(size) for size in tensor.shape]
    inside, box = {**ranges, **dict(touch.parts)}, list[Array]()
    for forms, size in zip(touch.axes, tensor.shape, strict=True):
        found = [values for form in forms if (values := _values(form, inside, touch.writes)) is not None]
        if len(found) < len(forms):
            return None
        values = found[0] if len(found) == 1 else np.unique(np.concatenate(found))
        box.append(values[(values >= 0) & (values < size)])
    return box


def _values(form: Affine, ranges: Mapping[str, Range], dense: bool) -> Array | None:
    """All values of an index form; where they are too many, with `dense` all numbers between them, else None."""
    terms = sorted(form.terms, key=lambda term: abs(term[1]))
    values = np.array([form.const])
    for dim, coefficient in terms:
        steps = coefficient * (ranges[dim].start + np.arange(ranges[dim].extent))
        if len(values) > 1 and values[-1] - values[0] + 1 == len(values) >= abs(coefficient):
            values = np.arange(values[0] + steps.min(), values[-1] + steps.max() + 1)
        elif len(values) * len(steps) > max(MOST_VALUES, len(steps)):
            if not dense:
                return None
            values = np.arange(values[0] + steps.min(), values[-1] + steps.max() + 1)
        else:
            values = np.unique(np.add.outer(values, steps))
    return values


def _touches(codelet: Codelet, visit: Visit) -> Iterable[Touch]:
    """What a node reads and writes of tensors; locals are left out."""
    match visit.node:
        case Issue() as node:
            names = tensors_of(node.statement)
            found = [access for access in accesses(node.statement) if isinstance(access, Access)]
            for access in found:
                forms = [(form,) for form in index_forms(access)]
                yield from _touch(codelet, visit, node.tensors[names.index(access.tensor)], forms, access is found[0])
        case Transfer(source, destination) as node:
            for tensor, other, writes in ((source, destination, False), (destination, source, True)):
                seen = node.axes_of(tensor) if node.axes is not None else codelet.surrogates[other].axes
                rows = codelet.surrogates[tensor].rows
                if rows is not None:
                    named = [axis.forms if n < rows.axes else (Affine(0),) for n, axis in enumerate(seen or ())]
                    yield from _touch(codelet, visit, rows.index, named if seen is not None else None, False)
                elif seen is not None:
                    yield from _touch(codelet, visit, tensor, [axis.forms for axis in seen], writes)
        case Fill(target, _):
            yield from _touch(codelet, visit, target, None, True)
        case _:
            pass


def _touch(
    codelet: Codelet, visit: Visit, tensor: int, axes: Sequence[tuple[Affine, ...]] | None, writes: bool
) -> Iterator[Touch]:
    if codelet.surrogates[tensor].axes is None:
        parts = tuple((loop.dim, Range(loop.start, loop.step)) for loop in visit.loops if isinstance(loop, Part))
        yield Touch(tensor, None if axes is None else tuple(axes), parts, writes)


@dataclass(frozen=True)
class RingTouch:
    """Along ring axes `axes` a codelet reads or writes what `forms` say; if `bordered`, reads may pass the ends."""

    tensor: int
    axes: tuple[int, ...]
    forms: tuple[Affine, ...]
    parts: tuple[Part, ...]
    writes: bool
    bordered: bool


class _Ring:
    """Which element of a tensor, counted along its ring axes of `sizes`, each place has."""

    def __init__(self, held: Sequence[int], sizes: Sequence[int]) -> None:
        self.held, self.sizes = held, sizes
        self.places = np.full(held, -1, np.int64)

    def write(self, indices: Sequence[range]) -> None:
        places, elements = self._places(indices)
        self.places[places] = elements

    def missing(self, indices: Sequence[range]) -> tuple[int, ...] | None:
        """The first of the elements that is not there."""
        places, elements = self._places(indices)
        absent = np.argwhere(self.places[places] != elements)
        return tuple(i[at] for i, at in zip(indices, absent[0].tolist(), strict=True)) if len(absent) else None

    def _places(self, indices: Sequence[range]) -> tuple[Any, Ints]:
        arrays = [np.arange(i.start, i.stop, dtype=np.int64) for i in indices]
        places = np.ix_(*(array % held for array, held in zip(arrays, self.held, strict=True)))
        grids = np.ix_(*arrays)
        elements = np.zeros([len(array) for array in arrays], np.int64)
        for grid, size in zip(grids, self.sizes, strict=True):
            elements = elements * size + grid
        return places, elements


Rings = dict[tuple[str, tuple[int, ...]], _Ring]
"""The rings of a program so far, by the names of their tensors and the axes that are looked at."""


def check_rows(op: FusedOp, codelets: Sequence[Codelet], rings: Rings) -> None:
    """Raises `TilewrightError` (kind `refuted`) where a turn reads what is not made, or not there any more.

    Samples, rows and columns of rings are looked at; all else of a tensor is taken as made with them.
    """
    touches = [[*_ring_touches(codelet)] for codelet in codelets]
    for turn, (number, ranges) in enumerate(op.ranges()):
        codelet = codelets[number]
        whole = {dim: Range(0, extent) for dim, extent in codelet.dims} | ranges
        for touch in touches[number]:
            surrogate = codelet.surrogates[touch.tensor]
            sizes = [surrogate.shape[axis] for axis in touch.axes]
            key = surrogate.name, touch.axes
            if key not in rings:
                rings[key] = _Ring([surrogate.ring[axis] for axis in touch.axes], sizes)
            missing = _missing(rings[key], touch, _indices(touch, whole), sizes)
            if missing is not None:
                subject = f"codelet @{codelet.name}, turn {turn} of @{op.sym_name.data}"
                text = ", ".join(map(str, missing))
                raise TilewrightError("refuted", subject, f"index {text} of {surrogate.name} to be there", "another")


def _missing(ring: _Ring, touch: RingTouch, indices: list[range], sizes: Sequence[int]) -> tuple[int, ...] | None:
    """What a touch does not find; writes are noted."""
    if touch.bordered:
        indices = [range(max(0, i.start), min(size, i.stop)) for i, size in zip(indices, sizes, strict=True)]
    if not all(indices):
        return None
    outside = [i.start < 0 or i.stop > size for i, size in zip(indices, sizes, strict=True)]
    if any(outside):
        return tuple(i.start if i.start < 0 else i.stop - 1 for i in indices)
    if touch.writes:
        ring.write(indices)
        return None
    return ring.missing(indices)


def _indices(touch: RingTouch, ranges: Mapping[str, Range]) -> list[range]:
    inside = {**ranges, **{part.dim: Range(part.start, part.step) for part in touch.parts}}
    lows = [form_low(form, inside) for form in touch.forms]
    return [range(low, low + form_span(form, inside) + 1) for low, form in zip(lows, touch.forms, strict=True)]


def _ring_touches(codelet: Codelet) -> Iterator[RingTouch]:
    """Reads before writes of each node, nodes in order."""
    for visit in visits(codelet):
        match visit.node:
            case Issue():
                yield from _of_issue(codelet, visit, visit.node)
            case Transfer(source, destination) as node if node.axes is not None:
                for tensor, writes in ((source, False), (destination, True)):
                    forms = [axis.forms[0] for axis in node.axes_of(tensor) or ()]
                    yield from _ring_touch(codelet, visit, tensor, forms, writes=writes)
            case Fill() | _:
                pass


def _of_issue(codelet: Codelet, visit: Visit, node: Issue) -> Iterator[RingTouch]:
    names = tensors_of(node.statement)
    found = [access for access in accesses(node.statement) if isinstance(access, Access)]
    for access in (*found[1:], found[0]):
        tensor = node.tensors[names.index(access.tensor)]
        writes, bordered = access is found[0], access.tensor in node.borders
        yield from _ring_touch(codelet, visit, tensor, index_forms(access), writes=writes, bordered=bordered)


def _ring_touch(
    codelet: Codelet, visit: Visit, tensor: int, forms: Sequence[Affine], *, writes: bool, bordered: bool = False
) -> Iterator[RingTouch]:
    ring = codelet.surrogates[tensor].ring
    axes = tuple(axis for axis, held in enumerate(ring) if held)
    # a view of a tensor of which whole samples are there has a ring of samples only
    for seen in (axes, axes[:1]) if writes and len(axes) > 1 else (axes,):
        if seen:
            parts = tuple(loop for loop in visit.loops if isinstance(loop, Part))
            yield RingTouch(tensor, seen, tuple(forms[axis] for axis in seen), parts, writes, bordered)
