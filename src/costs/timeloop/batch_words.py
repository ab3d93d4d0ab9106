"""Words that move into one child tile: `temporal` in compiled form."""

from typing import NamedTuple

from ...algebra.element import Ints
from ..exact.compiled import bare, part
from .batch_arrays import Model
from .batch_links import Delivery, Links, deliver, everybody

DIMS, BOUNDS, STRIDES = range(3)
"""Rows of loops (3, K), inner to outer."""


@bare
def extents(model: Model, t: int, tile: Ints, out: Ints) -> int:
    """Extents of tensor `t`'s box for an iteration tile, into `out` (A,); returns the words in it."""
    for a in range(out.shape[0]):
        out[a] = 1
    for d in range(tile.shape[0]):
        if model.axis[t, d] >= 0:
            out[model.axis[t, d]] += model.step[t, d] * (tile[d] - 1)
    words = 1
    for a in range(out.shape[0]):
        words *= out[a]
    return words


@bare
def fresh_words(box: Ints, whole: int, axis: int, shift: int) -> int:
    """Words of a box that it does not share with itself moved by `shift` along `axis`."""
    return whole - whole // box[axis] * max(0, box[axis] - shift)


@bare
def moved_words(
    model: Model, t: int, box: Ints, whole: int, loops: Ints, start: int, visits: int
) -> tuple[int, int, bool]:
    """Words that arrive in one child under loops `start:`, and further ones outside that bring a new tile each time.

    `visits` is the product of all these loops' bounds.  Also the words of steps of the innermost loop where it is this
    tensor that it moves (else 0), and whether such a step follows one that moved a set of the same shape.
    """
    dims, bounds, strides = loops[DIMS], loops[BOUNDS], loops[STRIDES]
    left, inner = visits, first_moving(model, t, dims, start)
    for k in range(start, inner):
        left //= bounds[k]
    if inner == dims.shape[0]:
        return whole * left, 0, False
    axis, shift = model.axis[t, dims[inner]], model.step[t, dims[inner]] * strides[inner]
    fresh = fresh_words(box, whole, axis, shift)
    left //= bounds[inner]
    total = fresh * (bounds[inner] - 1) * left
    steps = total if inner == start else 0
    alike, fall = fresh == whole, shift
    for k in range(inner + 1, dims.shape[0]):
        d = dims[k]
        if model.axis[t, d] >= 0 and model.axis[t, d] != axis:
            break
        left //= bounds[k]
        words = whole
        if model.axis[t, d] == axis:
            move = model.step[t, d] * strides[k]
            words = 0 if move == fall else fresh if move - fall == shift else whole
            fall += move
        alike = alike or words == fresh
        total += words * (bounds[k] - 1) * left
    return total + whole * left, steps, alike


@bare
def first_moving(model: Model, t: int, dims: Ints, start: int) -> int:
    """The innermost of the loops `start:` that moves tensor `t`; past the last one if none does."""
    inner = start
    while inner < dims.shape[0] and model.axis[t, dims[inner]] < 0:
        inner += 1
    return inner


class Traffic(NamedTuple):
    """Words into the children of a memory: `read` from it (groups counted), those that `arrived` from it (copies
    counted), those that neighbours `passed` on, those into `one` child, and twice the `hops` of words that it sent."""

    read: int
    arrived: int
    passed: int
    one: int
    hops: int


@bare
def traffic(model: Model, t: int, box: Ints, whole: int, loops: Ints, start: int, links: Links, level: int) -> Traffic:
    """Words into children of memory `level` under loops `start:`."""
    inner = first_moving(model, t, loops[DIMS], start)
    if inner == start and inner < loops.shape[1] and links.active[level, t] == 1:
        return _linked(model, t, box, whole, loops, inner, links, level)
    visits = 1
    for k in range(start, loops.shape[1]):
        visits *= loops[BOUNDS, k]
    total = moved_words(model, t, box, whole, loops, start, visits)[0]
    each = everybody(links, level, t)
    return Traffic(total * each.groups, total * each.children, 0, total, total * each.hops)


@part
def _linked(model: Model, t: int, box: Ints, whole: int, loops: Ints, inner: int, links: Links, level: int) -> Traffic:
    dims, bounds, strides = loops[DIMS], loops[BOUNDS], loops[STRIDES]
    every = everybody(links, level, t)
    first, fall, step = links.moves[0], links.moves[1], links.moves[2]
    axis, shift = model.axis[t, dims[inner]], model.step[t, dims[inner]] * strides[inner]
    fresh = fresh_words(box, whole, axis, shift)
    for a in range(first.shape[0]):
        first[a] = shift if a == axis else 0
        fall[a] = first[a]
    left = 1
    for k in range(inner + 1, dims.shape[0]):
        left *= bounds[k]
    steps = bounds[inner] - 1
    inside = deliver(links, model, level, t, first)
    found = _add(Traffic(0, 0, 0, 0, 0), whole, every)
    found = _add(found, fresh * steps, inside if whole == fresh else every)
    for k in range(inner + 1, dims.shape[0]):
        left //= bounds[k]
        weight = (bounds[k] - 1) * left
        _fall_back(model, t, dims[k], strides[k], fall, step)
        words = whole
        if _equal(step, first, 0):
            words = 0
        elif _equal(step, first, 1):
            words = fresh
        if words == fresh:
            found = _add(found, weight * steps * fresh, inside)
            found = _add(found, weight * words, deliver(links, model, level, t, step))
        else:
            found = _add(found, weight * steps * fresh + weight * words, every)
    return found


@bare
def _add(found: Traffic, words: int, visit: Delivery) -> Traffic:
    """The traffic with so many words more, for each child."""
    return Traffic(
        found.read + words * visit.groups,
        found.arrived + words * visit.children,
        found.passed + words * visit.passed,
        found.one + words,
        found.hops + words * visit.hops,
    )


@bare
def _fall_back(model: Model, t: int, d: int, stride: int, fall: Ints, step: Ints) -> None:
    """Set `step` (A,) to that of loop `d`, where all loops inside it fall back by `fall` (A,); adds the loop to it."""
    for a in range(step.shape[0]):
        move = model.step[t, d] * stride if a == model.axis[t, d] else 0
        step[a] = move - fall[a]
        fall[a] += move


@bare
def _equal(step: Ints, other: Ints, times: int) -> bool:
    """Whether `step` (A,) is so many times the `other` one."""
    for a in range(step.shape[0]):
        if step[a] != times * other[a]:
            return False
    return True


@bare
def operand_traffic(model: Model, t: int, loops: Ints, visits: int, links: Links) -> Traffic:
    """Words that the innermost memory hands to its multiply-accumulate units."""
    every = everybody(links, 0, t)
    if links.active[0, t] == 0:
        return _add(Traffic(0, 0, 0, 0, 0), visits, every)
    fall, step = links.moves[0], links.moves[1]
    for a in range(fall.shape[0]):
        fall[a] = 0
    left, found = visits, _add(Traffic(0, 0, 0, 0, 0), 1, every)
    for k in range(loops.shape[1]):
        left //= loops[BOUNDS, k]
        _fall_back(model, t, loops[DIMS, k], loops[STRIDES, k], fall, step)
        found = _add(found, (loops[BOUNDS, k] - 1) * left, deliver(links, model, 0, t, step))
    return found
