"""What a part of a value needs of the values before it.

A demand is a box: for each axis the coordinates that are needed, known or not (`coordinates`).  All that is said is
needed at least; where a box cannot say it, less is said.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from ....algebra.affine import Affine
from .coordinates import Axis, count, everything, image, mask_of, members, preimage, run, taps, within
from .network import Join, Read, Step, View

Demand = tuple[Axis, ...]
MANY_TAPS = 128
"""Taps of a window that are looked at one by one."""

Dims = dict[str, Axis]


@dataclass(frozen=True)
class Need:
    """Points of a kernel that are carried out, elements that they write, and what of other values that needs.

    All demands of `reads` are needed, and at least one of those of `either`.
    """

    points: int
    written: int
    reads: tuple[tuple[int, Demand], ...]
    either: tuple[tuple[int, Demand], ...] = ()


def whole(shape: Sequence[int]) -> Demand:
    """All of a value."""
    return tuple(everything(size) for size in shape)


def element(shape: Sequence[int]) -> Demand:
    """Some element of a value."""
    return tuple(run(1, size) for size in shape)


def elements(demand: Demand) -> int:
    """Elements at least."""
    return prod(count(axis) for axis in demand)


def union(a: Demand | None, b: Demand) -> Demand:
    """A box within two known ones together: exact where they differ along one axis, otherwise the larger one."""
    if a is None or a == b:
        return b
    differ = [i for i in range(len(a)) if a[i] != b[i]]
    if len(differ) == 1:
        return tuple(x | y for x, y in zip(a, b, strict=True))
    return max(a, b, key=elements)


def need(step: Step | View | Join, demand: Demand, shapes: Sequence[Sequence[int]]) -> Need:
    """What `demand` of a step's target needs."""
    match step:
        case Step():
            return _kernel(step, demand, shapes)
        case View(source, target):
            return Need(0, 0, ((source, _reshaped(demand, shapes[target], shapes[source])),))
        case Join(sources, axis, _):
            pieces = tuple(_pieces(sources, axis, demand, shapes))
            unknown = () if pieces or demand[axis] >= 0 else sources
            return Need(0, 0, pieces, tuple((source, _some(demand, axis, shapes[source])) for source in unknown))


def covered(step: Step, shape: Sequence[int]) -> Demand | None:
    """The box that a kernel writes; None where it is none."""
    names = [name for form in step.kernel.target.forms for name in form.names]
    if len(names) != len(set(names)):
        return None
    dims = {name: everything(step.extents[name]) for name in names}
    return tuple(_image(f, dims, step, size) for f, size in zip(step.kernel.target.forms, shape, strict=True))


def points_inside(step: Step, shapes: Sequence[Sequence[int]]) -> int:
    """All points of a kernel at which no padded read is out of bounds."""
    return _bounded(step, {name: everything(extent) for name, extent in step.extents.items()}, shapes)


def operation(step: Step, shapes: Sequence[Sequence[int]]) -> tuple[tuple[int, Demand], ...]:
    """What some single operation of a kernel needs."""
    return tuple((read.value, element(shapes[read.value])) for read in step.reads)


def users(step: Step, read: Read, shapes: Sequence[Sequence[int]]) -> list[tuple[tuple[int, Demand], ...]]:
    """What all operations of a kernel that read an element by `read` need by its other reads.

    For elements of each tap of a window, if these are few, as many of each; or for some single element.
    """
    own = {name for form in read.forms for name in form.names}
    others = [other for other in step.reads if other is not read]
    forms = (form for other in others for form in other.forms if len(form.names) > 1)
    taps = {name: step.extents[name] for form in forms for name in form.names if name in own}
    places = product(*map(range, taps.values())) if prod(taps.values()) <= MANY_TAPS else [()]
    found: list[tuple[tuple[int, Demand], ...]] = []
    for place in places:
        dims = {name: run(1, n) if name in own else everything(n) for name, n in step.extents.items()}
        dims |= {name: 1 << at for name, at in zip(taps, place, strict=False)}
        _bounded(step, dims, shapes)
        boxes = ((other.value, _read(other, dims, step, shapes[other.value])) for other in others)
        found.append(tuple((value, box) for value, box in boxes if 0 not in box))
    return found


def _kernel(step: Step, demand: Demand, shapes: Sequence[Sequence[int]]) -> Need:
    shape = shapes[step.target]
    passed = _passed(step, demand, shape)
    dims = _dims(step, demand, shape)
    if dims is None:
        return Need(0, 0, passed)
    points = _bounded(step, dims, shapes)
    written = prod(count(_image(f, dims, step, n)) for f, n in zip(step.kernel.target.forms, shape, strict=True))
    found = ((read.value, _read(read, dims, step, shapes[read.value])) for read in step.reads)
    return Need(points, written, (*passed, *((value, box) for value, box in found if 0 not in box)))


def _passed(step: Step, demand: Demand, shape: Sequence[int]) -> tuple[tuple[int, Demand], ...]:
    """What is needed of the value that a kernel continues, or writes into."""
    if step.init is None:
        return ()
    if step.kernel.statement.reduce != "=":
        return ((step.init, demand),)
    box = covered(step, shape)
    if box is None or min(demand, default=0) < 0:
        return ()
    rest = [i for i, (axis, own) in enumerate(zip(demand, box, strict=True)) if axis & ~own]
    cut = [(*demand[:i], demand[i] & ~box[i], *demand[i + 1 :]) for i in rest]
    return ((step.init, max(cut, key=elements)),) if cut else ()


def _dims(step: Step, demand: Demand, shape: Sequence[int]) -> Dims | None:
    """Coordinates of the dims at which a kernel makes what is needed; None where nothing is sure."""
    dims = {name: everything(step.extents[name]) for name in step.kernel.dims}
    seen: set[str] = set()
    for form, axis, size in zip(step.kernel.target.forms, demand, shape, strict=True):
        if seen & set(form.names):
            return None
        seen |= set(form.names)
        reached = _image(form, dims, step, size)
        if axis >= 0 and not axis & reached:
            return None
        if axis == reached:
            continue
        if axis < 0 and reached != everything(size):
            return None
        if len(form.names) > 1:
            if reached & ~axis and reached != everything(size):
                return None
            dims |= {name: run(1, step.extents[name]) for name in form.names}
        elif form.names:
            (name, a), extent = form.terms[0], step.extents[form.names[0]]
            simple = a == 1 and form.const == 0 and extent == size
            known = preimage(axis, a, form.const, extent, size) if axis >= 0 else 0
            dims[name] = known or run(-axis if simple else 1, extent)
    return dims


def _bounded(step: Step, dims: Dims, shapes: Sequence[Sequence[int]]) -> int:
    """Points at which no padded read is out of bounds; `dims` keep the coordinates of such points."""
    forms = [(form, size) for r in step.reads if r.padded for form, size in zip(r.forms, shapes[r.value], strict=True)]
    forms = [(form, size) for form, size in forms if not is_inside(form, step.extents, size)]
    points, left = 1, set(dims)
    while forms:
        names, own = set(forms[0][0].names), [forms[0]]
        while more := [item for item in forms if item not in own and names & set(item[0].names)]:
            own += more
            names |= {name for form, _ in more for name in form.names}
        forms = [item for item in forms if item not in own]
        left -= names
        points *= _component(step, dims, sorted(names), own)
    return points * prod(count(dims[name]) for name in left)


def _component(step: Step, dims: Dims, names: list[str], forms: Sequence[tuple[Affine, int]]) -> int:
    if all(dims[name] >= 0 for name in names):
        told = tuple((tuple(form.coefficient(name) for name in names), form.const, size) for form, size in forms)
        points, kept = within(tuple(dims[name] for name in names), told)
        dims |= dict(zip(names, kept, strict=True))
        return points
    (form, size), *more = forms
    unknown = sum(dims[name] < 0 for name in names)
    window = taps(_terms(form, dims, step), form.const, size) if unknown == 1 and not more else None
    if window is None:
        dims |= dict.fromkeys(names, 0)
        return 0
    dims |= dict(zip(form.names, window.met, strict=True))
    return window.points


def is_inside(form: Affine, extents: Mapping[str, int], size: int) -> bool:
    """Whether a form stays within an axis."""
    low, high = form.range(extents)
    return low >= 0 and high < size


def _read(read: Read, dims: Dims, step: Step, shape: Sequence[int]) -> Demand:
    names = [name for form in read.forms for name in form.names]
    shared = {name: run(1, step.extents[name]) for name in names if names.count(name) > 1}
    own = {**dims, **shared} if shared else dims
    return tuple(_image(form, own, step, size) for form, size in zip(read.forms, shape, strict=True))


def _terms(form: Affine, dims: Dims, step: Step) -> tuple[tuple[int, int, Axis], ...]:
    return tuple((coefficient, step.extents[name], dims[name]) for name, coefficient in form.terms)


def _image(form: Affine, dims: Dims, step: Step, size: int) -> Axis:
    return image(_terms(form, dims, step), form.const, size)


def _pieces(
    sources: Sequence[int], axis: int, demand: Demand, shapes: Sequence[Sequence[int]]
) -> Iterator[tuple[int, Demand]]:
    """What is surely needed of values side by side: of a run somewhere, what it reaches of each at both ends."""
    start, total = 0, sum(shapes[source][axis] for source in sources)
    for source in sources:
        size = shapes[source][axis]
        if demand[axis] >= 0:
            part = (demand[axis] >> start) & everything(size)
        else:
            part = run(max(0, -demand[axis] - max(start, total - start - size)), size)
        start += size
        if part:
            yield source, (*demand[:axis], part, *demand[axis + 1 :])


def _some(demand: Demand, axis: int, shape: Sequence[int]) -> Demand:
    """Of a source that is reached, one coordinate."""
    return *demand[:axis], run(1, shape[axis]), *demand[axis + 1 :]


def _reshaped(demand: Demand, shape: Sequence[int], source: Sequence[int]) -> Demand:
    """A demand of a value as one of the same elements under its source's shape."""
    parts = [(n, axis) for n, axis in zip(shape, demand, strict=True) if n != 1]
    kept = [n for n in source if n != 1]
    found: list[Axis] = []
    while parts:
        mine, theirs = _block([n for n, _ in parts], kept)
        found += _reshaped_block(tuple(axis for _, axis in parts[:mine]), [n for n, _ in parts[:mine]], kept[:theirs])
        parts, kept = parts[mine:], kept[theirs:]
    rest = iter(found)
    return tuple(next(rest) if n != 1 else 1 for n in source)


def _block(one: Sequence[int], other: Sequence[int]) -> tuple[int, int]:
    """How many of the first extents of two shapes of as many elements have as many elements; few of them."""
    mine, theirs, first, second = 1, 1, one[0], other[0]
    while first != second:
        if first < second:
            first *= one[mine]
            mine += 1
        else:
            second *= other[theirs]
            theirs += 1
    return mine, theirs


def _reshaped_block(demand: Demand, shape: Sequence[int], source: Sequence[int]) -> Demand:
    if len(shape) == len(source) == 1:
        return demand
    if demand == whole(shape):
        return whole(source)
    if min(demand) >= 0 and prod(shape) <= 1 << 22:
        flags = np.zeros(shape, np.bool_)
        flags[np.ix_(*(members(axis) for axis in demand))] = True
        flags = flags.reshape(source)
        axes = range(len(source))
        box = tuple(mask_of(np.atleast_1d(flags.any(axis=tuple(d for d in axes if d != i)))) for i in axes)
        if elements(box) == elements(demand):
            return box
    return element(source)
