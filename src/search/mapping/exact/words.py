"""Words that move into one child tile: `costs.timeloop.temporal` in compiled form."""

from __future__ import annotations

import numpy as np

from ....costs.compiled import inner
from .links import Links, deliver
from .model import Ints, Model


@inner
def extents(model: Model, t: int, tile: Ints, out: Ints) -> int:
    """Extents of tensor `t`'s box for an iteration tile, into `out` (A,); returns the words in it."""
    out[:] = 1
    for d in range(tile.shape[0]):
        if model.axis[t, d] >= 0:
            out[model.axis[t, d]] += model.step[t, d] * (tile[d] - 1)
    words = 1
    for a in range(out.shape[0]):
        words *= out[a]
    return words


@inner
def fresh_words(box: Ints, whole: int, axis: int, shift: int) -> int:
    """Words of a box that it does not share with itself moved by `shift` along `axis`."""
    return whole - whole // box[axis] * max(0, box[axis] - shift)


@inner
def prefix_words(
    model: Model, t: int, box: Ints, whole: int, order: Ints, length: int, bounds: Ints, stride: Ints, visits: int
) -> tuple[int, int, bool]:
    """Words if the innermost loops are `order[:length]` and every loop outside them brings a new tile.

    `visits` is the product of all loops' bounds.  Also the words of steps of the innermost loop where it is this
    tensor that it moves (else 0), and whether such a step follows one that moved a set of the same shape.
    """
    left, k = visits, 0
    while k < length and model.axis[t, order[k]] < 0:
        idle: int = order[k]
        left //= bounds[idle]
        k += 1
    if k == length:
        return whole * left, 0, False
    d: int = order[k]
    axis, shift = model.axis[t, d], model.step[t, d] * stride[d]
    fresh = fresh_words(box, whole, axis, shift)
    left //= bounds[d]
    total = fresh * (bounds[d] - 1) * left
    inner = total if k == 0 else 0
    alike = fresh == whole
    fall = shift
    for i in range(k + 1, length):
        d = order[i]
        if model.axis[t, d] >= 0 and model.axis[t, d] != axis:
            break
        left //= bounds[d]
        words = whole
        if model.axis[t, d] == axis:
            move = model.step[t, d] * stride[d]
            words = 0 if move == fall else fresh if move - fall == shift else whole
            fall += move
        alike = alike or words == fresh
        total += words * (bounds[d] - 1) * left
    return total + whole * left, inner, alike


@inner
def traffic(
    model: Model, t: int, box: Ints, whole: int, dims: Ints, bounds: Ints, stride: Ints, start: int, links: Links
) -> tuple[int, int, int, int]:
    """Words into a child under loops `start:` (inner to outer): those read from the parent (groups counted), those
    that arrive from it (copies counted), those that neighbours pass on, and those that arrive in one child."""
    count = dims.shape[0]
    plain, copies = links.groups[t], links.shape[0]
    inner = start
    while inner < count and model.axis[t, dims[inner]] < 0:
        inner += 1
    if inner == count:
        return whole * plain, whole * copies, 0, whole
    axis, shift = model.axis[t, dims[inner]], model.step[t, dims[inner]] * stride[inner]
    fresh = fresh_words(box, whole, axis, shift)
    linked = inner == start and links.active[t] == 1
    outer = 1
    for k in range(inner + 1, count):
        outer *= bounds[k]
    first = bounds[inner] - 1
    if not linked:
        total = whole + fresh * first * outer + _later(model, t, whole, fresh, dims, bounds, stride, inner)
        return total * plain, total * copies, 0, total
    return _linked(model, t, whole, fresh, dims, bounds, stride, inner, links)


@inner
def _later(model: Model, t: int, whole: int, fresh: int, dims: Ints, bounds: Ints, stride: Ints, inner: int) -> int:
    """Words of steps of the loops outside the innermost moving one."""
    axis, shift = model.axis[t, dims[inner]], model.step[t, dims[inner]] * stride[inner]
    fall, left, total = shift, 1, 0
    for k in range(inner + 1, dims.shape[0]):
        left *= bounds[k]
    for k in range(inner + 1, dims.shape[0]):
        d = dims[k]
        if model.axis[t, d] >= 0 and model.axis[t, d] != axis:
            return total + whole * (left - 1)
        left //= bounds[k]
        words = whole
        if model.axis[t, d] == axis:
            move = model.step[t, d] * stride[k]
            words = 0 if move == fall else fresh if move - fall == shift else whole
            fall += move
        total += words * (bounds[k] - 1) * left
    return total


@inner
def _linked(
    model: Model, t: int, whole: int, fresh: int, dims: Ints, bounds: Ints, stride: Ints, inner: int, links: Links
) -> tuple[int, int, int, int]:
    plain, copies = links.groups[t], links.shape[0]
    step, first, fall = np.zeros(model.axes, np.int64), np.zeros(model.axes, np.int64), np.zeros(model.axes, np.int64)
    first[model.axis[t, dims[inner]]] = model.step[t, dims[inner]] * stride[inner]
    fall[:] = first
    left = 1
    for k in range(inner + 1, dims.shape[0]):
        left *= bounds[k]
    steps = bounds[inner] - 1
    served, parts, passed = deliver(links, t, first)
    amount = fresh * steps
    total = whole + amount
    read, arrived, link = whole * plain, whole * copies, 0
    if whole == fresh:
        read, arrived, link = read + amount * served, arrived + amount * parts, amount * passed
    else:
        read, arrived = read + amount * plain, arrived + amount * copies
    for k in range(inner + 1, dims.shape[0]):
        d = dims[k]
        left //= bounds[k]
        weight = (bounds[k] - 1) * left
        step[:] = -fall
        if model.axis[t, d] >= 0:
            step[model.axis[t, d]] += model.step[t, d] * stride[k]
            fall[model.axis[t, d]] += model.step[t, d] * stride[k]
        words = whole
        if not step.any():
            words = 0
        elif (step == first).all():
            words = fresh
        amount = weight * steps * fresh
        if words == fresh:
            here, near, by = deliver(links, t, step)
            read += amount * served + weight * words * here
            arrived += amount * parts + weight * words * near
            link += amount * passed + weight * words * by
        else:
            read += (amount + weight * words) * plain
            arrived += (amount + weight * words) * copies
        total += amount + weight * words
    return read, arrived, link, total


@inner
def operand_traffic(model: Model, t: int, dims: Ints, bounds: Ints, stride: Ints, visits: int, links: Links) -> int:
    """Words that the innermost memory hands to its multiply-accumulate units, groups counted."""
    if links.active[t] == 0:
        return visits * links.groups[t]
    step, fall = np.zeros(model.axes, np.int64), np.zeros(model.axes, np.int64)
    left, total = visits, links.groups[t]
    for k in range(dims.shape[0]):
        left //= bounds[k]
        step[:] = -fall
        if model.axis[t, dims[k]] >= 0:
            move = model.step[t, dims[k]] * stride[k]
            step[model.axis[t, dims[k]]] += move
            fall[model.axis[t, dims[k]]] += move
        total += (bounds[k] - 1) * left * deliver(links, t, step)[0]
    return total
