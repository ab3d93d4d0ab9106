"""Least words that cross a boundary for one tensor, while loops are partly chosen.

The closed forms of `costs.exact`, without what only ragged ends and the order of far loops decide: those are bounded.
"""

from typing import NamedTuple

from .....costs.compiled import bare
from ..space.model import Floats, Ints, Model
from .boxes import box_along, plain_words, visits
from .ragged import fixed_sizes, scattered_words, understood, window_words
from .window_reuse import Others, kept_on_average, others_of
from .windows import Transfer, extent, tiles_in, together


@bare
def tile_size(model: Model, t: int, tile: Ints) -> int:
    """Elements of tensor `t` in a tile."""
    words = plain_words(model, t, tile)
    for w in range(model.windows[t]):
        words *= box_along(model, t, w, tile) if model.timeloop else extent(model, t, w, tile)
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


class Along(NamedTuple):
    """Elements along a window: those that a tile needs (`size`), of `share` tiles, and those that a step finds there
    (`kept`) at each of some `positions` of a tile."""

    size: float
    share: float
    positions: float
    kept: float


@bare
def along_window(model: Model, t: int, w: int, box: Transfer, fixed: int, others: Others) -> Along:
    """Elements of tensor `t` along window `w`, with loops of `others` outside; `fixed` as for `window_words`."""
    size, share = float(together(model, t, w, box.tile, box.step)), tiles_in(model, t, w, box.tile, False)
    if not model.perfect and understood(model, t, w, box.step, box.free):
        every, kept = window_words(model, t, w, box, fixed, others)
        return Along(size, every / size, tiles_in(model, t, w, box.tile, True) * size / every, kept)
    first = box.first
    if first < 0 or model.window[t, first] != w or box.step[first] >= model.bounds[first]:
        return Along(size, share, 0.0, 0.0)
    if not model.perfect:
        return Along(scattered_words(model, t, w, box, size, share), 1.0, 0.0, 0.0)
    return Along(size, share, 1.0, kept_on_average(model, t, w, box, size, others))


@bare
def sent(model: Model, t: int, box: Transfer, ragged: float) -> float:
    """Words that are sent to all tiles of tensor `t`, each the union of some children's.

    `ragged` is the share of words that other steps find there (0 unless factors are imperfect).
    """
    total = (1.0 - ragged) * visits(model, t, box.tile)
    fixed = fixed_sizes(box.child, box.step, box.free)
    for w in range(model.windows[t]):
        others = Others(1.0, 1.0, 0.0)
        if box.first >= 0 and model.window[t, box.first] == w:
            others = others_of(model, t, w, box)
        found = along_window(model, t, w, box, fixed, others)
        total *= max((found.size - found.positions * found.kept) * found.share, 1.0)
    return total


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
