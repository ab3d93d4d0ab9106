"""Least words that cross a boundary for one tensor, while loops are partly chosen.

The closed forms of `costs.exact`, without what only ragged ends and the order of far loops decide: those are bounded.
"""

from __future__ import annotations

from .....costs.compiled import bare
from ..space.model import PLAIN, UNRELATED, Floats, Ints, Model
from .ragged import fixed_sizes, understood, window_words
from .scattered import least_words
from .window_reuse import Others, kept_on_average, others_of
from .windows import all_along, extent, nearest_return, not_cut_off, overlap, present, room_along, together


@bare
def tile_size(model: Model, t: int, tile: Ints) -> int:
    """Elements of tensor `t` in a tile."""
    words = 1
    for d in range(tile.shape[0]):
        if model.kind[t, d] == PLAIN:
            words *= min(tile[d], model.bounds[d])
    for w in range(model.windows[t]):
        words *= extent(model, t, w, tile)
    return words


@bare
def union_size(model: Model, t: int, tile: Ints, block: Ints) -> int:
    """Elements of tensor `t` at least in a tile whose `block`s may lie apart."""
    words = 1
    for d in range(tile.shape[0]):
        if model.kind[t, d] == PLAIN:
            words *= min(tile[d], model.bounds[d])
    for w in range(model.windows[t]):
        words *= together(model, t, w, tile, block)
    return words


@bare
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
    near: int,
    reach: Ints,
) -> float:
    """Words that are sent to all `tile`s of tensor `t`, each the union of some `child` tiles.

    Unrelated loops that let the tensor rest are part of `tile`.  `first` is the loop that moves it first, if that is
    one of a window (else -1), with its `bound` (0: not known); `step` are iterations per step of the loops outside.
    `ragged` is the share of words that other steps find there (0 unless factors are imperfect).  No dimension of `free`
    is spread further out; with `once` none has another loop further out than those that come next.
    Steps of dimensions that are not of the set `near` find nothing; with imperfect factors, of each dimension loops of
    `reach` (D,) iterations at most find something, but for `first`.
    """
    total, fixed = 1.0 - ragged, fixed_sizes(child, step, free)
    for d in range(tile.shape[0]):
        if model.kind[t, d] == PLAIN:
            total *= model.bounds[d]
        elif model.kind[t, d] == UNRELATED:
            total *= -(-model.bounds[d] // tile[d])
    for w in range(model.windows[t]):
        if not model.perfect and understood(model, t, w, step, free):
            others = others_of(model, t, w, tile, child, step, free, once, near, reach)
            every, kept = window_words(model, t, w, tile, child, step, child, first, bound, fixed, others, reach)
            total *= max(every - all_along(model, t, w, tile) * kept, 1.0)
            continue
        size, share = float(together(model, t, w, tile, step)), room_along(model, t, w, tile)
        if not model.perfect and first >= 0 and model.window[t, first] == w:
            total *= max(least_words(model, t, w, tile, child, step, child, first, bound, size, share, -1), 1.0)
            continue
        if first >= 0 and model.window[t, first] == w:
            size -= found_there(model, t, w, tile, child, step, first, bound, size, free, once, near)
        total *= max(size * share, 1.0)
    return total


@bare
def found_there(
    model: Model,
    t: int,
    w: int,
    tile: Ints,
    child: Ints,
    step: Ints,
    first: int,
    bound: int,
    size: float,
    free: int,
    once: bool,
    near: int,
) -> float:
    """What steps of loop `first` and of those outside find there, at most, of the `size` elements that each needs;
    perfect factors.

    With `bound` 0 the loop has any number of iterations.
    """
    others = others_of(model, t, w, tile, child, step, free, once, near, model.bounds)
    most = kept_on_average(model, t, w, tile, child, step, first, bound, size, free, once, others, near)
    if bound == 0:
        return most
    forward, back, again, positions = slide(model, t, w, tile, child, step, first, bound, size, free)
    outer = -(-(-(-model.bounds[first] // step[first])) // bound)
    back *= returns(model, t, w, step, first, outer, others, near)
    return min(size, positions * min(most, (1 - again) * forward + again * back))


@bare
def slide(
    model: Model, t: int, w: int, tile: Ints, child: Ints, step: Ints, first: int, bound: int, size: float, free: int
) -> tuple[float, float, float, float]:
    """What is there already, at most, of window `w` with `size` elements when loop `first` advances or falls back.

    Answers the elements that stay when it advances, those when it falls back (where loops outside come back to the same
    place), the share of steps at which it falls back, and the share of tiles that are not cut off.
    """
    shift = model.coefficient[t, first] * step[first]
    positions = not_cut_off(model, t, w, tile)
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


@bare
def returns(model: Model, t: int, w: int, step: Ints, first: int, outer: int, others: Others, near: int) -> float:
    """Most that steps of loops outside `first` find there, as a share of what the way back along window `w` allows.

    Loops of plain dimensions leave nothing behind, those of other windows only what these share; at best the former are
    the outermost, then the latter.
    """
    alone = outer * others.unrelated
    for d in range(step.shape[0]):
        if d != first and model.window[t, d] == w and (near >> d) & 1:
            alone *= -(-model.bounds[d] // step[d])
    return 1.0 - 1.0 / alone + 1.0 / alone * (1.0 - 1.0 / others.beside) * others.shared


@bare
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
