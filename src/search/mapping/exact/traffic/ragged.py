"""What stays of a tensor where factors are imperfect: the last tile along a dimension is shorter.

A factor stands for all that lead to as many tiles.  So along each dimension the number of blocks is known, and loops
further out are counted in blocks, but the size of a block may be a range; bounds hold for all of it.

A child without work in the last block keeps what it had in the block before.  Where a window has two terms, the loop
that moves it first takes it ahead by its own block.  All other steps are those at which this loop begins again, one for
each group of its blocks: another loop of the same dimension goes ahead, and the other term may fall back; or the other
term goes ahead and this one falls back; or loops of other dimensions let both fall back.  What the first step of all
finds are at most leavings of other windows, so one group in as many as there are finds no more than that.

Less is known of other windows (`scattered_words`): loops inside and outside of instances side by side move them, or
they have more terms, or such of both signs.  All steps but those of the first loop begin a group of its blocks.

Statement 16 of docs/exact-mapper.md.
"""

from typing import NamedTuple

from .....costs.compiled import bare
from .....costs.sums import distinct2, has_divisor, shared_by
from ..space.model import Ints, Model
from .window_reuse import Others, stays
from .windows import Transfer, alike, tiles_in

MAX_BACK = 64
"""Steps back that are looked at one by one."""


@bare
def ragged_share(bound: int, block: int, children: int, first: int, final: int) -> float:
    """Most of a plain dimension that may stay where it is while a loop outside its own, of `first` to `final` blocks,
    advances.  Blocks may be larger than `block`, if they are as many and have no children.

    A last block that is alone in its group stays; of a last but one that begins a group, children stay that have no
    work in the last.  Source: `costs.exact.words._resting`.
    """
    blocks = -(-bound // block)
    rest = bound - (blocks - 1) * block
    most = rest / bound if has_divisor(blocks - 1, first, final) else 0.0
    if children > 1 and (blocks == 2 or has_divisor(blocks - 2, first, final)):
        tile = max(1, block // children)
        most = max(most, (block - tile * -(-rest // tile)) / bound)
    return most


class Side(NamedTuple):
    """One of the two terms of a window: its coefficient, its blocks, how far the window moves with one, at least and at
    most, the largest tiles of the parent and of a child, the children at most that are idle in the last block, how many
    there are, and whether the parent's tile has all."""

    scale: int
    blocks: int
    near: int
    far: int
    tile: int
    child: int
    idle: int
    children: int
    whole: bool


@bare
def side_of(model: Model, t: int, d: int, tile: int, box: Transfer, fixed: bool) -> Side:
    """Dimension `d` as a term of its window, with such tiles of the parent; if `fixed`, a child's tile stands for those
    from its least on."""
    n, c, step, child = model.bounds[d], model.coefficient[t, d], box.step[d], box.child[d]
    times = -(-step // child)  # children that share unequally are as many, though their largest may fit once
    low, high = box.least[d], child
    if not fixed:
        sizes = alike(model, d, step)
        low, high = min(low, -(-sizes[0] // times)), max(high, sizes[1] // times)
    parts = -(-tile // child)
    idle = max(0, times * -(-n // step) - -(-n // high)) if times > 1 else 0
    near, far = c * times * low, c * times * high
    return Side(c, -(-n // step), near, far, min(n, high * parts), min(n, high), idle, times, parts == times)


@bare
def fixed_sizes(child: Ints, step: Ints, free: int) -> int:
    """The set of dimensions that have several children, or that may be spread further out (not of the set `free`)."""
    fixed = 0
    for d in range(child.shape[0]):
        fixed |= 1 << d if child[d] < step[d] or (free >> d) & 1 == 0 else 0
    return fixed


@bare
def understood(model: Model, t: int, w: int, step: Ints, free: int) -> bool:
    """Whether window `w` has two terms that nothing divides further out but loops, which move it to the same side."""
    if model.opposed[t]:
        return False
    terms = 0
    for d in range(model.bounds.shape[0]):
        if model.window[t, d] == w:
            terms += 1
            if (free >> d) & 1 == 0 and step[d] < model.bounds[d]:
                return False
    return terms == 2


@bare
def all_tiles(one: Side, two: Side, bound: int, other: int) -> float:
    """Elements of a window in all tiles together, the last ones cut off at the bounds.

    Larger tiles have as many or fewer: elements of a tile are concave in its size.
    """
    u, n, v, m = one.scale, one.tile, two.scale, two.tile
    rows, columns = -(-bound // n) - 1, -(-other // m) - 1
    last_n, last_m = bound - rows * n, other - columns * m
    total = rows * columns * distinct2(u, n, v, m) + rows * distinct2(u, n, v, last_m)
    return float(total + columns * distinct2(u, last_n, v, m) + distinct2(u, last_n, v, last_m))


@bare
def held(one: Side, two: Side, least: int, most: int) -> float:
    """Elements at most that a window shares with itself moved by `least` to `most`, for all its children."""
    shift, exact = max(0, least, -most), least == most
    found = shared_by(one.scale, one.tile, two.scale, two.tile, shift, exact)
    along, across = -(-one.tile // one.child), -(-two.tile // two.child)
    if found > 0 and along * across > 1:
        found = min(found, along * across * shared_by(one.scale, one.child, two.scale, two.child, shift, exact))
    return float(found)


@bare
def advance(one: Side, two: Side) -> float:
    """Elements that stay, at most, when the window moves by a block along `one`."""
    if one.near == one.far:
        return held(one, two, one.near, one.near)
    # All blocks have the same size, whatever it is, so two of them share no more than what the other term adds.
    reach = two.scale * (two.tile - 1) + 1 - one.scale
    return float(max(0, min(reach, distinct2(one.scale, one.tile, two.scale, two.tile))))


@bare
def crossing(ahead: Side, back: Side, fewest: int) -> float:
    """Elements that stay, at most, when the window moves by a block along `ahead` and falls back by `fewest` blocks or
    more along `back`."""
    if ahead.blocks == 1:
        return 0.0
    most, span = 0.0, ahead.scale * (ahead.tile - 1) + back.scale * (back.tile - 1) + 1
    for blocks in range(fewest, back.blocks):
        if blocks == fewest + MAX_BACK:
            return float(span)
        low, high = ahead.near - blocks * back.far, ahead.far - blocks * back.near
        most = max(most, held(ahead, back, low, high + back.near if back.idle > 0 else high))
        if -high - back.near >= span:
            break
    return most


@bare
def fallen(back: Side, other: Side, fewest: int) -> float:
    """Elements that stay, at most, when the window falls back by `fewest` blocks or more, and maybe by others."""
    least = (fewest - 1 if back.idle > 0 and fewest > 0 else fewest) * back.near
    return held(back, other, -least - 1, -least)


@bare
def on_arrival(across: float, back: float, columns: float, others: Others) -> float:
    """Elements at most that steps find there on the average at which the loop that moves a window first begins again.

    They find `across` if the other term goes ahead, through its `columns`, `back` if another dimension does, of which
    other windows may leave a part; the first step of all finds nothing.  A column is first reached when the other term
    goes ahead, so that happens once for each; likewise for positions along any two of the three.  So the most is found
    if what finds least is the outermost.
    """
    times, one, two = others.unrelated, (across, columns), (back * others.shared, others.beside)
    most = max(across, back)
    if most > back:
        times, one = columns, (back, others.unrelated)
    if one[0] < two[0]:
        one, two = two, one
    found = two[0] - two[0] / two[1]
    found = one[0] + (found - one[0]) / one[1]
    return most + (found - most) / times


@bare
def kept_in_groups(first: Side, other: Side, bound: int, others: Others) -> float:
    """Elements at most that a step finds there on the average, where the loop that moves the window first has `bound`
    blocks, or as many as lead to as many groups; or, with 0, any number, but not all.  Loops of `others` are outside.
    """
    blocks, size = first.blocks, float(distinct2(first.scale, first.tile, other.scale, other.tile))
    groups = -(-blocks // max(bound, 2))
    fewest = -(-blocks // groups) - 1
    ahead = min(size, advance(first, other))
    waits = others.unrelated > 1.0 or (others.beside > 1.0 and others.shared > 0.0)
    back = min(size, fallen(first, other, fewest)) if waits else 0.0
    across = min(size, crossing(other, first, fewest))
    more = on_arrival(across, back, float(other.blocks), others) - groups * ahead
    if groups > 1:
        rest = blocks - (groups - 1) * ((blocks - 1) // (groups - 1)) if bound > 0 else 1
        later = max(ahead, crossing(first, other, 1))
        last = max(later, crossing(other, first, rest - 1))
        if waits:
            last = max(last, fallen(first, other, rest - 1))
        later = max(later, back, across)
        more += (groups - 2) * min(size, later) + min(size, last)
    visits = blocks - 1 if more > 0 and first.idle and blocks > 1 and not first.whole else blocks
    return min(size, ahead + more / visits)


@bare
def most_kept(first: Side, other: Side, bound: int, others: Others) -> float:
    """`kept_in_groups` for a bound that may not be known (0)."""
    if bound > 0:
        return kept_in_groups(first, other, bound, others)
    most = kept_in_groups(first, other, first.blocks, others)
    return max(most, kept_in_groups(first, other, 0, others)) if first.blocks > 2 else most


@bare
def window_words(model: Model, t: int, w: int, box: Transfer, fixed: int, others: Others) -> tuple[float, float]:
    """Elements of window `w`, which is understood, in all tiles, and what steps find there of them on the average.

    The latter where a loop of the window comes next; see `window_reuse.kept_on_average`.  Children's sizes of
    dimensions that are not of the set `fixed` stand for all with as many steps.
    """
    first, tile = box.first, box.tile
    d = first
    if first < 0 or model.window[t, first] != w:
        d = 0
        while model.window[t, d] != w:
            d += 1
    e = 0
    while e == d or model.window[t, e] != w:
        e += 1
    one = side_of(model, t, d, tile[d], box, (fixed >> d) & 1 == 1)
    two = side_of(model, t, e, tile[e], box, (fixed >> e) & 1 == 1)
    total = all_tiles(one, two, model.bounds[d], model.bounds[e])
    if d != first or one.blocks == 1:
        return total, 0.0
    return total, most_kept(one, two, box.bound, others)


@bare
def scattered_words(model: Model, t: int, w: int, box: Transfer, size: float, share: float) -> float:
    """Elements of window `w` that all steps need which do not find them there, at least, where a loop of it comes next;
    parents' tiles have `size`, and `share` times that in all.

    What begins a group may all be there, for each of the parents' tiles along `first`; those without work in the last
    block do not count there, so the share of beginnings is larger.
    """
    first, tile, step = box.first, box.tile, box.step
    many, tiles = -(-model.bounds[first] // step[first]), -(-model.bounds[first] // tile[first])
    begin = min(tiles, -(-many // max(box.bound, 2)) * -(-step[first] // tile[first]))
    ahead = stays(model, t, w, box, size, step[first] * model.coefficient[t, first])
    return size * share - tiles_in(model, t, w, tile, True) * ((tiles - begin) * ahead + begin * size) / tiles
