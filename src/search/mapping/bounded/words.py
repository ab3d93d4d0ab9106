"""Least words that cross a boundary for one tensor, while loops are partly chosen.

The closed forms of `costs.exact`, without what only ragged ends and the order of far loops decide: those are bounded.
"""

from __future__ import annotations

from ....costs.compiled import inner
from .model import PLAIN, UNRELATED, Floats, Ints, Model


@inner
def distinct2(u: int, n: int, v: int, m: int) -> int:
    """How many values `u * i + v * j` has for `i < n`, `j < m`."""
    if n == 1 or m == 1:
        return n * m
    a, b = u, v
    while b > 0:
        a, b = b, a % b
    return n * m - max(0, n - v // a) * max(0, m - u // a)


@inner
def extent(model: Model, t: int, w: int, tile: Ints) -> int:
    """Elements of window `w` in a tile that is cut at the bounds (at least, where it has more than two terms)."""
    count, u, n, v, m, span = 0, 0, 1, 0, 1, 1
    for d in range(tile.shape[0]):
        if model.window[t, d] != w:
            continue
        size = min(tile[d], model.bounds[d])
        span += size - 1
        if count == 0:
            u, n = model.coefficient[t, d], size
        else:
            v, m = model.coefficient[t, d], size
        count += 1
    return distinct2(u, n, v, m) if count == 2 else span


@inner
def tile_size(model: Model, t: int, tile: Ints) -> int:
    """Elements of tensor `t` in a tile."""
    words = 1
    for d in range(tile.shape[0]):
        if model.kind[t, d] == PLAIN:
            words *= min(tile[d], model.bounds[d])
    for w in range(model.windows[t]):
        words *= extent(model, t, w, tile)
    return words


@inner
def sent(
    model: Model,
    t: int,
    tile: Ints,
    child: Ints,
    step: Ints,
    first: int,
    bound: int,
    ragged: float,
    free: int,
    once: bool,
) -> float:
    """Words that are sent to all `tile`s of tensor `t`, each the union of some `child` tiles.

    Unrelated loops that let the tensor rest are part of `tile`.  `first` is the loop that moves it first, if that is
    one of a window (else -1), with its `bound`; `step` are iterations per step of the loops outside.  `ragged` is the
    share of words that other steps find there (0 unless factors are imperfect).  No dimension of `free` is spread
    further out; with `once` none has another loop further out than those that come next.
    """
    total = 1.0 - ragged
    for d in range(tile.shape[0]):
        if model.kind[t, d] == PLAIN:
            total *= model.bounds[d]
        elif model.kind[t, d] == UNRELATED:
            total *= -(-model.bounds[d] // tile[d])
    for w in range(model.windows[t]):
        size = float(extent(model, t, w, tile))
        share = 1.0
        for d in range(tile.shape[0]):
            if model.window[t, d] == w:
                share *= model.bounds[d] / min(tile[d], model.bounds[d])
        if first >= 0 and model.window[t, first] == w:
            forward, back, again, positions = slide(model, t, w, tile, child, step, first, bound, size, free)
            outer = -(-(-(-model.bounds[first] // step[first])) // bound)
            back *= returns(model, t, w, tile, step, first, outer, once)
            size = max(0.0, size - positions * ((1 - again) * forward + again * back))
        total *= max(size * share, 1.0)
    return total


@inner
def slide(
    model: Model, t: int, w: int, tile: Ints, child: Ints, step: Ints, first: int, bound: int, size: float, free: int
) -> tuple[float, float, float, float]:
    """What is there already, at most, of window `w` with `size` elements when loop `first` advances or falls back.

    Answers the elements that stay when it advances, those when it falls back (where loops outside come back to the same
    place), the share of steps at which it falls back, and the share of tiles that are not cut off.
    """
    shift = model.coefficient[t, first] * step[first]
    positions = 1.0
    for d in range(tile.shape[0]):
        if model.window[t, d] == w:
            positions *= -(-model.bounds[d] // tile[d]) * min(tile[d], model.bounds[d]) / model.bounds[d]
    forward = min(size, overlap(model, t, w, tile, shift, True))
    forward = min(forward, present(model, t, w, tile, child, shift, True))
    steps = -(-model.bounds[first] // step[first])
    outer = -(-steps // bound)
    away = 0
    if outer == 1 or model.bounds[first] % (step[first] * bound) == 0:
        away = nearest_return(model, t, w, step, first, bound, outer > 1, free)
    back = min(size, overlap(model, t, w, tile, away, False))
    back = min(back, present(model, t, w, tile, child, away, False))
    if outer > 1:
        back = max(back, forward)
    return forward, back, outer / steps, positions


@inner
def present(model: Model, t: int, w: int, tile: Ints, child: Ints, shift: int, exact: bool) -> int:
    """Elements at most that all who need them have, where children move by `shift` (or by `shift` at least).

    Of children with contiguous elements the first that needs one is the last to have had it, so each child has some for
    all only as far as the one before it lies further away than `shift`.
    """
    children, rows, span = 1, 1, 1
    near, far, count = 0, 0, 0
    for d in range(tile.shape[0]):
        if model.window[t, d] != w:
            continue
        size = min(child[d], model.bounds[d])
        others = -(-min(tile[d], model.bounds[d]) // size)
        span += model.coefficient[t, d] * (size - 1)
        if others > 1:
            count += 1
            if count == 1:
                children, near = others, model.coefficient[t, d] * size
            else:
                rows, far = others, model.coefficient[t, d] * size
    each = overlap(model, t, w, child, shift, exact)
    if count == 0 or count > 2 or extent(model, t, w, child) != span:
        return children * rows * each
    if count == 2 and far < near:
        children, near, rows, far = rows, far, children, near
    apart_rows = far - (children - 1) * near if far > (children - 1) * near else near
    found = each + (children - 1) * rows * max(0, min(span, near) - shift)
    return min(children * rows * each, found + (rows - 1) * max(0, min(span, apart_rows) - shift))


@inner
def overlap(model: Model, t: int, w: int, tile: Ints, shift: int, exact: bool) -> int:
    """Elements at most that window `w` of a tile shares with itself moved by `shift` (or by `shift` at least)."""
    count, u, n, v, m, span = 0, 1, 1, 1, 1, 1
    for d in range(tile.shape[0]):
        if model.window[t, d] != w:
            continue
        size, c = min(tile[d], model.bounds[d]), model.coefficient[t, d]
        span += c * (size - 1)
        if size == 1:
            continue
        if count == 0:
            u, n = c, size
        else:
            v, m = c, size
        count += 1
    if count == 0:
        return 1 if shift == 0 else 0
    if count == 1:
        if exact and shift % u:
            return 0
        return max(0, n - -(-shift // u))
    if count == 2 and exact:
        if u == 1:
            u, n, v, m = v, m, u, n
        if v == 1 and m < u:
            blocks, offset = shift // u, shift % u
            near, far = max(0, n - blocks) * max(0, m - offset), max(0, n - blocks - 1) * max(0, m - u + offset)
            return near + far
    return max(0, span - shift)


@inner
def returns(model: Model, t: int, w: int, tile: Ints, step: Ints, first: int, outer: int, once: bool) -> float:
    """Most that steps of loops outside `first` find there, as a share of what the way back along window `w` allows.

    Loops of plain dimensions leave nothing behind, those of other windows only what these share; at best the former are
    the outermost, then the latter.
    """
    others, beside, shared = float(outer), 1.0, 0.0
    for d in range(tile.shape[0]):
        if model.kind[t, d] == PLAIN:
            if not model.perfect and step[d] < model.bounds[d]:
                return 1.0
        elif d != first:
            count = -(-model.bounds[d] // (tile[d] if model.kind[t, d] == UNRELATED else step[d]))
            if model.window[t, d] < 0 or model.window[t, d] == w:
                others *= count
            elif count > 1:
                beside *= count
    for other in range(model.windows[t]):
        if other != w:
            size = float(extent(model, t, other, tile))
            shared = max(shared, min(size, float(slid(model, t, other, tile, step, once))) / size)
    return 1.0 - 1.0 / others + 1.0 / others * (1.0 - 1.0 / beside) * shared


@inner
def alike(model: Model, d: int, size: int) -> tuple[int, int]:
    """The smallest and the largest size that a size of dimension `d` stands for: those that as many tiles cover."""
    if model.perfect or size >= model.bounds[d]:
        return size, size
    count = -(-model.bounds[d] // size)
    return -(-model.bounds[d] // count), -(-model.bounds[d] // (count - 1)) - 1


@inner
def apart(one: tuple[int, int], other: tuple[int, int], times: int) -> int:
    """The least difference of a number of the range `one` and `times` one of the range `other`."""
    return max(0, one[0] - times * other[1], times * other[0] - one[1])


@inner
def slid(model: Model, t: int, w: int, tile: Ints, step: Ints, once: bool) -> int:
    """Most elements of window `w` that stay when one of its own loops advances.

    With `once` each dimension has a single loop: it moves by its step, and one inside of it falls back to 0.
    """
    looping, shift, last = 0, 0, -1
    for d in range(tile.shape[0]):
        if model.window[t, d] != w or step[d] >= model.bounds[d]:
            continue
        looping += 1
        mine = alike(model, d, step[d])
        pace = mine[0] * model.coefficient[t, d], mine[1] * model.coefficient[t, d]
        if looping == 1:
            shift = pace[0]
        elif looping == 2 and once:
            theirs = alike(model, last, step[last])
            other = theirs[0] * model.coefficient[t, last], theirs[1] * model.coefficient[t, last]
            inside, outside = -(-model.bounds[d] // step[d]) - 1, -(-model.bounds[last] // step[last]) - 1
            shift = min(shift, pace[0], apart(other, pace, inside), apart(pace, other, outside))
        else:
            shift = 0
        last = d
    return overlap(model, t, w, tile, shift, looping == 1 and model.perfect) if looping else 0


@inner
def nearest_return(model: Model, t: int, w: int, step: Ints, first: int, bound: int, more: bool, free: int) -> int:
    """How far a window has moved at least when a loop outside `first` advances, which falls back from its last one.

    Loops of other axes only let it fall back.  Those of another dimension of the window move it by a step of that
    dimension (or by some multiple of it, if that is spread further out).  With `more`, `first` loops further out.
    """
    mine = alike(model, first, step[first])
    least = (bound - 1) * mine[0] * model.coefficient[t, first]
    reach = least, (bound - 1) * mine[1] * model.coefficient[t, first]
    for d in range(step.shape[0]):
        if model.window[t, d] != w or d == first or step[d] >= model.bounds[d]:
            continue
        c = model.coefficient[t, d]
        farthest = c * (model.bounds[d] - 1)
        if reach[0] > farthest:
            least = min(least, reach[0] - farthest)
        elif more or (free >> d) & 1 == 0:
            return 0
        else:
            theirs = alike(model, d, step[d])
            least = min(least, apart(reach, theirs, c))
    return least


@inner
def ragged_share(blocks: int, children: int, first: int, final: int) -> float:
    """Most of a dimension that may stay where it is while loops outside its own, of `first` to `final` blocks, advance.

    A last block that is alone in its group stays; of a last but one that begins a group, children stay that have no
    work in the last.
    """
    if has_divisor(blocks - 1, first, final):
        return 1.0 / (blocks - 1)
    if blocks == 2 or has_divisor(blocks - 2, first, final):
        return (1.0 - 1.0 / children) / (blocks - 1)
    return 0.0


@inner
def has_divisor(number: int, first: int, final: int) -> bool:
    """Whether one of `first` to `final` divides a positive number."""
    if number < first:
        return False
    if final - first <= number // first - number // final:
        for factor in range(first, final + 1):
            if number % factor == 0:
                return True
        return False
    for times in range(max(1, number // final), number // first + 1):
        if number % times == 0 and first <= number // times <= final:
            return True
    return False


@inner
def settle(
    model: Model,
    t: int,
    level: int,
    parent: int,
    to_parent: float,
    to_child: float,
    owned_parent: float,
    owned_child: float,
    words: Floats,
) -> float:
    """Energy of what passes between memory `level` and its `parent`; adds to `words` (L, 2) read and written.

    `level` -1 is the arithmetic.
    """  # fmt: skip
    reads, writes = to_parent, 0.0
    if model.is_output[t]:
        reads, writes = max(0.0, to_parent - owned_parent), to_parent
    energy = reads * model.read[parent, t] + writes * model.write[parent, t]
    words[parent, 0] += reads * model.weight[parent, t]
    words[parent, 1] += writes * model.weight[parent, t]
    if level < 0:
        return energy
    fills, drains = to_child, 0.0
    if model.is_output[t]:
        fills, drains = max(0.0, to_child - owned_child), to_child
    words[level, 0] += drains * model.weight[level, t]
    words[level, 1] += fills * model.weight[level, t]
    return energy + drains * model.read[level, t] + fills * model.write[level, t]
