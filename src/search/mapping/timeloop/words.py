"""Words that move into one child tile: `costs.timeloop.temporal` in compiled form."""

from __future__ import annotations

from ....costs.exact.compiled import bare, part
from .links import Links, deliver
from .model import Ints, Model


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


@bare
def traffic(
    model: Model, t: int, box: Ints, whole: int, dims: Ints, bounds: Ints, stride: Ints, start: int, links: Links
) -> tuple[int, int, int, int]:
    """Words into a child under loops `start:` (inner to outer): those read from the parent (groups counted), those
    that arrive from it (copies counted), those that neighbours pass on, and those that arrive in one child."""
    inner = _first_moving(model, t, dims, start)
    if inner == start and inner < dims.shape[0] and links.active[t] == 1:
        return _linked(model, t, box, whole, dims, bounds, stride, inner, links)
    total = moved_words(model, t, box, whole, dims, bounds, stride, start)
    return total * links.groups[t], total * links.shape[0], 0, total


@bare
def moved_words(model: Model, t: int, box: Ints, whole: int, dims: Ints, bounds: Ints, stride: Ints, start: int) -> int:
    """Words that arrive in one child under loops `start:` (inner to outer)."""
    inner, count = _first_moving(model, t, dims, start), dims.shape[0]
    if inner == count:
        return whole
    axis, shift = model.axis[t, dims[inner]], model.step[t, dims[inner]] * stride[inner]
    fresh = fresh_words(box, whole, axis, shift)
    left, fall = 1, shift
    for k in range(inner + 1, count):
        left *= bounds[k]
    total = whole + fresh * (bounds[inner] - 1) * left
    for k in range(inner + 1, count):
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


@bare
def _first_moving(model: Model, t: int, dims: Ints, start: int) -> int:
    """The innermost of the loops `start:` that moves tensor `t`; past the last one if none does."""
    inner = start
    while inner < dims.shape[0] and model.axis[t, dims[inner]] < 0:
        inner += 1
    return inner


@part
def _linked(
    model: Model, t: int, box: Ints, whole: int, dims: Ints, bounds: Ints, stride: Ints, inner: int, links: Links
) -> tuple[int, int, int, int]:
    plain, copies = links.groups[t], links.shape[0]
    first, fall, step = links.moves[0], links.moves[1], links.moves[2]
    axis, shift = model.axis[t, dims[inner]], model.step[t, dims[inner]] * stride[inner]
    fresh = fresh_words(box, whole, axis, shift)
    for a in range(first.shape[0]):
        first[a] = shift if a == axis else 0
        fall[a] = first[a]
    left = 1
    for k in range(inner + 1, dims.shape[0]):
        left *= bounds[k]
    steps = bounds[inner] - 1
    served, parts, passed = deliver(links, model, t, first)
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
        _fall_back(model, t, dims[k], stride[k], fall, step)
        words = whole
        if _equal(step, first, 0):
            words = 0
        elif _equal(step, first, 1):
            words = fresh
        amount = weight * steps * fresh
        if words == fresh:
            here, near, by = deliver(links, model, t, step)
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
def operand_traffic(model: Model, t: int, dims: Ints, bounds: Ints, stride: Ints, visits: int, links: Links) -> int:
    """Words that the innermost memory hands to its multiply-accumulate units, groups counted."""
    if links.active[t] == 0:
        return visits * links.groups[t]
    fall, step = links.moves[0], links.moves[1]
    for a in range(fall.shape[0]):
        fall[a] = 0
    left, total = visits, links.groups[t]
    for k in range(dims.shape[0]):
        left //= bounds[k]
        _fall_back(model, t, dims[k], stride[k], fall, step)
        total += (bounds[k] - 1) * left * deliver(links, model, t, step)[0]
    return total
