"""Values that are others seen another way: reshaped, or with their axes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ...algebra.expr import Access
from ...dialects import nest
from ...dialects.types import shape_of
from ...errors import TilewrightError
from .forms import forms
from .tensors import Stored


def permuted(group: nest.GroupOp) -> tuple[SSAValue, tuple[int, ...]] | None:
    """What a group only copies with its axes in another order, and the source's axis of each axis; None for others."""
    if len(group.kernels) != 1 or len(group.results) != 1:
        return None
    kernel = group.kernels[0]
    statement = kernel.statement.data
    if statement.reduce != "=" or not isinstance(statement.value, Access):
        return None
    outside: dict[SSAValue, SSAValue] = dict(zip(group.body.block.args, group.inputs, strict=True))
    target, source = forms(kernel)
    value = outside.get(kernel.operands_by_name[source.name])
    if value is None or kernel.init is not None:
        return None
    shape, types = shape_of(group.results[0]), (value.type, group.results[0].type)
    if cast(TensorType, types[0]).element_type != cast(TensorType, types[1]).element_type:
        return None
    alone = [axis.const == 0 and len(axis.names) < 2 for form in (target, source) for axis in form.axes]
    if not all(alone) or sorted(shape) != sorted(shape_of(value)):
        return None
    free = [i for i, axis in enumerate(source.axes) if not axis.names]
    order: list[int] = []
    for axis in target.axes:
        found = source.axis_of(axis.names[0]) if axis.names else (free.pop(0) if free else -1)
        order.append(found)
    if -1 in order or [shape_of(value)[i] for i in order] != list(shape):
        return None
    return value, tuple(order)


def reordered(place: Stored, order: Sequence[int]) -> Stored:
    """A place with its axes in another order."""
    pitches = tuple(place.pitches[i] for i in order)
    return Stored(place.address, pitches, list(order).index(place.lane), place.row_bytes, place.lanes)


def reshaped(name: str, place: Stored, before: Sequence[int], after: Sequence[int]) -> Stored:
    """A place under another shape; `TilewrightError` where rows of lanes do not allow it.

    Row-major elements are digits: axes that lie over lanes count rows of lanes.  Axes are cut or joined where the steps
    between rows permit.
    """
    real = [i for i, n in enumerate(before) if n > 1]
    if before[place.lane] > 1 and real and real[-1] != place.lane:
        raise _refused(name, before, after)
    digits = [(n, place.pitches[i]) for i, n in enumerate(before) if i != place.lane and n > 1]
    lane = max((i for i, n in enumerate(after) if n > 1), default=len(after) - 1)
    width, wide = before[place.lane], after[lane]
    if width == wide:
        blocks = 1
    elif width % place.lanes or wide % place.lanes:
        raise _refused(name, before, after)
    else:
        digits.append((width // place.lanes, place.pitches[place.lane]))
        blocks = wide // place.lanes
    pitches = [0] * len(after)
    pitches[lane] = place.pitches[place.lane] if width == wide else 0
    wanted = [*(i for i, n in enumerate(after) if i != lane and n > 1), *([] if width == wide else [lane])]
    for axis in reversed(wanted):
        pitch = _take(digits, blocks if axis == lane else after[axis])
        if pitch is None:
            raise _refused(name, before, after)
        pitches[axis] = pitch
    return Stored(place.address, tuple(pitches), lane, place.row_bytes, place.lanes)


def _take(digits: list[tuple[int, int]], extent: int) -> int | None:
    """Takes an axis of an extent off the innermost digits; its step."""
    if extent == 1:
        return digits[-1][1] if digits else 0
    pitch, got = 0, 1
    while got < extent:
        if not digits:
            return None
        n, step = digits.pop()
        if n == 1:
            continue
        if pitch and step != pitch * got:
            return None
        pitch = pitch or step
        if got * n > extent:
            rest = extent // got
            if got * rest != extent or n % rest:
                return None
            digits.append((n // rest, step * rest))
            n = rest
        got *= n
    return pitch if got == extent else None


def _refused(name: str, before: Sequence[int], after: Sequence[int]) -> TilewrightError:
    return TilewrightError("unsupported", name, "a reshape that keeps rows of lanes whole", f"{before} to {after}")
