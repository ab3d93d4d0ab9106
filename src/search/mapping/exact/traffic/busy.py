"""Children that have work: with imperfect factors some of a spread may be idle.

Statement 16 of docs/exact-mapper.md.
"""

from .....costs.compiled import bare_entry
from ..space.model import Bools, Ints


@bare_entry
def full_children(factor: int, half: bool) -> int:
    """Children at least that have all their work, of a `factor` of them along a dimension; one more has some.

    See `Model.halves` for those of which `half` may be idle.
    """
    return factor // 2 if half else factor - 1


@bare_entry
def busy_along(perfect: bool, halves: Bools, spread: Ints, level: int, d: int, outer: int, tile: int = 1) -> int:
    """Iterations of dimension `d` at least that instances of memory `level` have together, under one of `outer`, where
    all with all their work have a `tile`; without that, the instances that have work.

    `spread` (L, D) are children of each memory by dimension.
    """
    busy, full = tile, tile
    for k in range(level + 1, outer + 1):
        if spread[k, d] > 1:
            busy = full * spread[k, d] if perfect else full * full_children(spread[k, d], halves[k]) + 1
            full *= spread[k, d]
    return busy


@bare_entry
def most_steps(bound: int, halves: Bools, spread: Ints, level: int, d: int, tile: int) -> int:
    """The largest imperfect factor of dimension `d` at memory `level`, on top of a `tile`, that leaves all rows of
    children further out some work: where the last child has less than others, its tile may rest while theirs do not.
    """
    full, most = tile, -(-bound // tile)
    for k in range(level + 1, spread.shape[0]):
        if spread[k, d] > 1:
            most = min(most, (bound - 1) // (full * full_children(spread[k, d], halves[k])))
            full *= spread[k, d]
    return max(most, 1)
