"""What stays of a window of which little is understood: loops inside and outside of instances side by side move it, or
it has more than two terms, or such of both signs.  Imperfect factors.

A loop that moves it first takes it ahead by a block.  All other steps begin a group of that loop's blocks.  Where only
one term has loops, a child is either moved further ahead then, or back to the first block of the group, or further: so
little stays, but in the one group that may have a single block, which ends at the bound.

Statement 16 of docs/exact-mapper.md.
"""

from __future__ import annotations

from .....costs.compiled import bare
from ..space.model import Model
from .ragged import all_tiles, held, other_term, side_of
from .window_reuse import stays
from .windows import Transfer, all_along, distinct2, shared_by


@bare
def least_words(model: Model, t: int, w: int, box: Transfer, size: float, share: float, known: int) -> float:
    """Elements of window `w` that all steps need which do not find them there, at least, where a loop of it comes next;
    parents' tiles have `size`, and `share` times that in all.

    Children's sizes of dimensions that are not of the set `known` stand for other numbers of steps, too.
    What begins a group may all be there, for each of the parents' tiles along `first`; those without work in the last
    block do not count there, so the share of beginnings is larger.
    """
    first, tile, step = box.first, box.tile, box.step
    many, tiles = -(-model.bounds[first] // step[first]), -(-model.bounds[first] // tile[first])
    begin = min(tiles, -(-many // max(box.bound, 2)) * -(-step[first] // tile[first]))
    ahead = stays(model, t, w, box, size, step[first] * model.coefficient[t, first])
    found = size * share - all_along(model, t, w, tile) * ((tiles - begin) * ahead + begin * size) / tiles
    other = other_term(model, t, first)
    if other < 0 or step[other] < model.bounds[other] or box.child[first] < step[first] or model.opposed[t]:
        return found
    if (known >> first) & (known >> other) & 1 == 0:
        return found
    return max(found, words_along(model, t, box, other))


@bare
def words_along(model: Model, t: int, box: Transfer, other: int) -> float:
    """The same where children have a whole block each along the first term, and nothing loops along the `other` one.

    Groups have `bound` (or 2) blocks at least, but for the last one.  So far, at least, are children apart of which
    the parent sees several along the first term.
    """
    first = box.first
    one = side_of(model, t, first, box.child[first], box, True)
    two = side_of(model, t, other, box.tile[other], box, True)
    inside, columns = max(box.bound, 2), -(-model.bounds[other] // two.tile)
    groups, chunk, back = -(-one.blocks // inside), inside * one.near, (inside - 1) * one.near
    total = all_tiles(one, two, model.bounds[first], model.bounds[other])
    parents = -(-model.bounds[first] // box.tile[first])
    if parents < one.blocks:
        if one.scale > 1 or two.scale > 1:
            return 0.0
        total -= columns * (one.blocks - parents) * shared_by(1, one.tile, 1, two.tile, chunk, False)
    size = float(distinct2(one.scale, one.tile, two.scale, two.tile))
    ahead, fallen = held(one, two, one.near, one.near + 1), held(one, two, -back - 1, -back)
    kept = (one.blocks - groups) * min(size, ahead) + (groups - 1) * min(size, max(ahead, fallen)) + size
    return max(0.0, total - columns * kept)
