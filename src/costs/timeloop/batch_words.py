"""Words that move into one child tile: `temporal` in compiled form."""

from __future__ import annotations

from ..exact.compiled import bare, part
from .batch_arrays import Ints, Model
from .batch_links import Links, deliver

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


@bare
def traffic(
    model: Model, t: int, box: Ints, whole: int, loops: Ints, start: int, links: Links, level: int
) -> tuple[int, int, int, int]:
    """Words into a child of memory `level` under loops `start:`: those read from the parent (groups counted), those
    that arrive from it (copies counted), those that neighbours pass on, and those that arrive in one child."""
    inner = first_moving(model, t, loops[DIMS], start)
    if inner == start and inner < loops.shape[1] and links.active[level, t] == 1:
        return _linked(model, t, box, whole, loops, inner, links, level)
    visits = 1
    for k in range(start, loops.shape[1]):
        visits *= loops[BOUNDS, k]
    total = moved_words(model, t, box, whole, loops, start, visits)[0]
    return total * links.groups[level, t], total * links.shape[level, 0], 0, total


@part
def _linked(
    model: Model, t: int, box: Ints, whole: int, loops: Ints, inner: int, links: Links, level: int
) -> tuple[int, int, int, int]:
    dims, bounds, strides = loops[DIMS], loops[BOUNDS], loops[STRIDES]
    plain, copies = links.groups[level, t], links.shape[level, 0]
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
    served, parts, passed = deliver(links, model, level, t, first)
    amount = fresh * steps
    total = whole + amount
    read, arrived, link = whole * plain, whole * copies, 0
    if whole == fresh:
        read, arrived, link = read + amount * served, arrived + amount * parts, amount * passed
    else:
        read, arrived = read + amount * plain, arrived + amount * copies
    for k in range(inner + 1, dims.shape[0]):
        left //= bounds[k]
        weight = (bounds[k] - 1) * left
        _fall_back(model, t, dims[k], strides[k], fall, step)
        words = whole
        if _equal(step, first, 0):
            words = 0
        elif _equal(step, first, 1):
            words = fresh
        amount = weight * steps * fresh
        if words == fresh:
            here, near, by = deliver(links, model, level, t, step)
            read += amount * served + weight * words * here
            arrived += amount * parts + weight * words * near
            link += amount * passed + weight * words * by
        else:
            read += (amount + weight * words) * plain
            arrived += (amount + weight * words) * copies
        total += amount + weight * words
    return read, arrived, link, total


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
def operand_traffic(model: Model, t: int, loops: Ints, visits: int, links: Links) -> int:
    """Words that the innermost memory hands to its multiply-accumulate units, groups counted."""
    if links.active[0, t] == 0:
        return visits * links.groups[0, t]
    fall, step = links.moves[0], links.moves[1]
    for a in range(fall.shape[0]):
        fall[a] = 0
    left, total = visits, links.groups[0, t]
    for k in range(loops.shape[1]):
        left //= loops[BOUNDS, k]
        _fall_back(model, t, loops[DIMS, k], loops[STRIDES, k], fall, step)
        total += (loops[BOUNDS, k] - 1) * left * deliver(links, model, 0, t, step)[0]
    return total
