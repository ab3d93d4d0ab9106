"""Least words that cross a boundary for one tensor, while loops are partly chosen.

The closed forms of `costs.exact`, without what only ragged ends and the order of far loops decide: those are bounded.
"""

from __future__ import annotations

from .....costs.compiled import bare
from ..space.model import Floats, Ints, Model
from .boxes import box_size, plain_words, visits
from .ragged import fixed_sizes, understood, window_words
from .scattered import least_words
from .window_reuse import Others, kept_on_average, others_of, stays
from .windows import Transfer, all_along, extent, nearest_return, overlap, present, room_along, together


@bare
def tile_size(model: Model, t: int, tile: Ints) -> int:
    """Elements of tensor `t` in a tile."""
    if model.timeloop:
        return box_size(model, t, tile)
    words = plain_words(model, t, tile)
    for w in range(model.windows[t]):
        words *= extent(model, t, w, tile)
    return words


@bare
def has_room(model: Model, kept: Ints, level: int, tile: Ints) -> bool:
    """Whether memory `level` has room for a tile of the tensors `kept` (T,)."""
    used = 0.0
    for t in range(kept.shape[0]):
        if kept[t]:
            used += tile_size(model, t, tile) * model.weight[level, t]
    return bool(used <= model.capacity[level] * (1 + 1e-12))


@bare
def union_size(model: Model, t: int, tile: Ints, block: Ints) -> int:
    """Elements of tensor `t` at least in a tile whose `block`s may lie apart."""
    words = plain_words(model, t, tile)
    for w in range(model.windows[t]):
        words *= together(model, t, w, tile, block)
    return words


@bare
def sent(model: Model, t: int, box: Transfer, ragged: float) -> float:
    """Words that are sent to all tiles of tensor `t`, each the union of some children's.

    `ragged` is the share of words that other steps find there (0 unless factors are imperfect).
    """
    total, first = (1.0 - ragged) * visits(model, t, box.tile), box.first
    fixed = fixed_sizes(box.child, box.step, box.free)
    for w in range(model.windows[t]):
        if not model.perfect and understood(model, t, w, box.step, box.free):
            every, kept = window_words(model, t, w, box, fixed, others_of(model, t, w, box))
            total *= max(every - all_along(model, t, w, box.tile) * kept, 1.0)
            continue
        size, share = float(together(model, t, w, box.tile, box.step)), room_along(model, t, w, box.tile)
        if not model.perfect and first >= 0 and model.window[t, first] == w:
            total *= max(least_words(model, t, w, box, size, share), 1.0)
            continue
        if first >= 0 and model.window[t, first] == w:
            size -= found_there(model, t, w, box, size)
        total *= max(size * share, 1.0)
    return total


@bare
def found_there(model: Model, t: int, w: int, box: Transfer, size: float) -> float:
    """What steps of the first loop, which is one of window `w`, and of those outside find there, at most, of the `size`
    elements that each needs; perfect factors."""
    others = others_of(model, t, w, box)
    most = kept_on_average(model, t, w, box, size, others)
    if box.bound == 0:
        return most
    forward, back, again = slide(model, t, w, box, size)
    back *= returns(model, t, w, box, others)
    return min(size, most, (1 - again) * forward + again * back)


@bare
def slide(model: Model, t: int, w: int, box: Transfer, size: float) -> tuple[float, float, float]:
    """What is there already, at most, of window `w` with `size` elements when the first loop advances or falls back.

    Answers the elements that stay when it advances, those when it falls back (where loops outside come back to the same
    place), and the share of steps at which it falls back; perfect factors.
    """
    steps = model.bounds[box.first] // box.step[box.first]
    forward = stays(model, t, w, box, size, model.coefficient[t, box.first] * box.step[box.first])
    outer, away = steps // box.bound, nearest_return(model, t, w, box)
    back = min(size, float(overlap(model, t, w, box.tile, away, False)))
    back = min(back, float(present(model, t, w, box.tile, box.child, away, False)))
    back = max(back, forward if outer > 1 else 0.0)
    return forward, back, outer / steps


@bare
def returns(model: Model, t: int, w: int, box: Transfer, others: Others) -> float:
    """Most that steps of loops outside the first find there, as a share of what the way back along window `w` allows.

    Loops of plain dimensions leave nothing behind, those of other windows only what these share; at best the former are
    the outermost, then the latter.
    """
    alone = others.unrelated * (model.bounds[box.first] // box.step[box.first] // box.bound)
    for d in range(box.step.shape[0]):
        if d != box.first and model.window[t, d] == w and (box.near >> d) & 1:
            alone *= model.bounds[d] // box.step[d]
    return 1.0 - 1.0 / alone + 1.0 / alone * (1.0 - 1.0 / others.beside) * others.shared


@bare
def settle(
    model: Model,
    t: int,
    level: int,
    parent: int,
    passed: tuple[float, float],
    owned: tuple[float, float],
    words: Floats,
) -> float:
    """Energy of the words `passed` by the `parent` and by memory `level`, of a result less those `owned` by each, which
    are new there; adds to `words` (L, 2) read and written.

    `level` -1 is the arithmetic.
    """
    reads, writes = passed[0], 0.0
    if model.is_output[t]:
        reads, writes = max(0.0, passed[0] - owned[0]), passed[0]
    energy = reads * model.read[parent, t] + writes * model.write[parent, t]
    words[parent, 0] += reads * model.weight[parent, t]
    words[parent, 1] += writes * model.weight[parent, t]
    if level < 0:
        return energy
    fills, drains = passed[1], 0.0
    if model.is_output[t]:
        fills, drains = max(0.0, passed[1] - owned[1]), 0.0 if model.timeloop else passed[1]
    words[level, 0] += drains * model.weight[level, t]
    words[level, 1] += fills * model.weight[level, t]
    return energy + drains * model.read[level, t] + fills * model.write[level, t]
