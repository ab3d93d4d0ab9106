"""What stays of a window of which little is understood: loops inside and outside of instances side by side move it, or
it has more than two terms, or such of both signs.  Imperfect factors.

A loop that moves it first takes it ahead by a block.  All other steps begin a group of that loop's blocks.

Statement 16 of docs/exact-mapper.md.
"""

from __future__ import annotations

from .....costs.compiled import bare
from ..space.model import Model
from .window_reuse import stays
from .windows import Transfer, all_along


@bare
def least_words(model: Model, t: int, w: int, box: Transfer, size: float, share: float) -> float:
    """Elements of window `w` that all steps need which do not find them there, at least, where a loop of it comes next;
    parents' tiles have `size`, and `share` times that in all.

    What begins a group may all be there, for each of the parents' tiles along `first`; those without work in the last
    block do not count there, so the share of beginnings is larger.
    """
    first, tile, step = box.first, box.tile, box.step
    many, tiles = -(-model.bounds[first] // step[first]), -(-model.bounds[first] // tile[first])
    begin = min(tiles, -(-many // max(box.bound, 2)) * -(-step[first] // tile[first]))
    ahead = stays(model, t, w, box, size, step[first] * model.coefficient[t, first])
    return size * share - all_along(model, t, w, tile) * ((tiles - begin) * ahead + begin * size) / tiles
