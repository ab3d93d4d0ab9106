"""Words of sums of indices as Timeloop counts them.

A tile is its bounding box, and each child's box moves for itself: children share it if theirs is the same.  When the
innermost loop that moves a tensor goes on along a sum, only what the box has not had comes; when a loop further out of
the same sum goes on, the box may come to where it was, or a step further; any other loop brings all of it.  If no loop
is further in, a child may take words from a neighbour that had them one step before.

Statement 17 of docs/exact-mapper.md.
"""

from math import gcd

import numpy as np

from .....costs.compiled import bare, bare_entry
from .....costs.sums import distinct2, may_make, shared_by
from ..space.model import PLAIN, UNRELATED, Ints, Model
from .windows import Transfer

UNKNOWN = 1 << 30
"""The first of a memory's gaps where there are too many."""


@bare
def box_along(model: Model, t: int, w: int, tile: Ints) -> int:
    """Elements of the bounding box of a tile along sum `w`."""
    found = 1
    for d in range(tile.shape[0]):
        if model.window[t, d] == w:
            found += model.coefficient[t, d] * (min(tile[d], model.bounds[d]) - 1)
    return found


@bare_entry
def plain_words(model: Model, t: int, tile: Ints) -> int:
    """Elements of tensor `t` in a tile along the dimensions that are in no sum or window."""
    words = 1
    for d in range(tile.shape[0]):
        if model.kind[t, d] == PLAIN:
            words *= min(tile[d], model.bounds[d])
    return words


@bare
def visits(model: Model, t: int, tile: Ints) -> float:
    """All elements of tensor `t` along those dimensions, once for each tile along dimensions that do not index it."""
    total = float(plain_words(model, t, model.bounds))
    for d in range(tile.shape[0]):
        if model.kind[t, d] == UNRELATED:
            total *= -(-model.bounds[d] // tile[d])
    return total


@bare
def boxes_along(model: Model, t: int, w: int, tile: Ints, child: Ints, loose: bool) -> float:
    """Different boxes along sum `w` of the children of a tile.

    At least, if several memories have children, or neighbours may help (`loose`): as many as along one dimension, or as
    `most_alike` says of those that neighbours leave.
    """
    most, count, terms, d, e = 1, 0, 0, 0, 0
    for f in range(tile.shape[0]):
        children = min(tile[f], model.bounds[f]) // child[f]
        terms += model.window[t, f] == w
        if model.window[t, f] == w and children > 1:
            most, count, d, e = max(most, children), count + 1, f, d
    if count != 2:
        return float(most)
    u, v = model.coefficient[t, d] * child[d], model.coefficient[t, e] * child[e]
    n, m = min(tile[d], model.bounds[d]) // child[d], min(tile[e], model.bounds[e]) // child[e]
    if not loose:
        return float(distinct2(u, n, v, m))
    return n * m / min(most_alike(model, d, n, u, v, terms == 2), most_alike(model, e, m, v, u, terms == 2))


@bare
def most_alike(model: Model, d: int, children: int, apart: int, far: int, alone: bool) -> float:
    """Most `children` along `d`, `apart` in a sum, that have the same box as others which lie multiples of `far` apart;
    on the average of those that neighbours leave, if these two are the sum `alone` and meshes have one row or column.
    """
    if children < model.bounds[d] or model.many[d] != 2 or far % apart:
        return float(children)
    for level in range(model.mesh.shape[0]):
        alone = alone and min(model.mesh[level, 0], model.mesh[level, 1]) == 1
    return max(1.0, children * apart / far) if alone else float(-(-children * apart // far))


@bare
def pace_of(model: Model, t: int, box: Transfer) -> int:
    """How far the first loop takes the box in a step."""
    pace: int = model.coefficient[t, box.first] * box.step[box.first]
    return pace


@bare
def may_move(model: Model, t: int, w: int, box: Transfer, bound: int) -> tuple[bool, bool]:
    """Whether loops of sum `w` other than the first, of `bound` iterations, may move the box by nothing, and by the
    pace of the first, as far as their strides tell."""
    first, other, others, most = box.first, box.first, 0, model.moves.shape[3]
    for d in range(box.step.shape[0]):
        if model.window[t, d] == w and d != first and box.step[d] < model.bounds[d]:
            other, others = d, others + 1
    if others > 1 or max(model.many[first], model.many[other]) > most:
        return True, True
    outside, beside = box.step[first] * bound, box.step[other] if others else model.bounds[other]
    i, j = np.searchsorted(model.divisors[first], box.step[first]), np.searchsorted(model.divisors[first], outside)
    k = np.searchsorted(model.divisors[other], beside)
    known = model.moves[t, first, other, i, j, k]
    if known == 0:
        known, pace = 4, pace_of(model, t, box)
        own, its = model.chains[:, first], model.chains[:, other]
        scales = model.coefficient[t, first], model.coefficient[t, other]
        for far in range(1, 3):
            may = own[0, 2] == 0 or its[0, 2] == 0 or may_make(own, its, scales, (outside, beside), far * pace)
            if may or may_make(its, own, (scales[1], scales[0]), (beside, outside), far * pace):
                known += far
        model.moves[t, first, other, i, j, k] = known
    return known & 1 > 0, known & 2 > 0


@bare
def outer_step(model: Model, t: int, w: int, box: Transfer, bound: int, whole: int) -> float:
    """Words of a step of other loops than the first, of `bound` iterations, which moves sum `w`; on the average, at
    least.

    If the sum's other loops are all inside of those of other dimensions, all but one in `runs` of these steps are
    theirs.  They move the box by what they make less what loops inside have made in one iteration.
    """
    runs = 1.0 / bound
    for d in range(box.step.shape[0]):
        if model.window[t, d] == w:
            runs *= model.bounds[d] // min(box.step[d], model.bounds[d])
    nothing, near = may_move(model, t, w, box, bound)
    least = 0 if nothing else min(whole, pace_of(model, t, box)) if near else whole
    return (whole + (runs - 1.0) * least) / runs


@bare
def moved_along(model: Model, t: int, w: int, box: Transfer) -> float:
    """Words of sum `w` for a child in each step on the average, at least."""
    whole, first = box_along(model, t, w, box.child), box.first
    if first < 0 or model.window[t, first] != w or box.step[first] >= model.bounds[first]:
        return float(whole)
    fresh, least = min(whole, pace_of(model, t, box)), float(whole)
    steps = model.bounds[first] // box.step[first]
    for i in range(1, model.many[first]):
        bound = model.divisors[first, i]
        if steps % bound == 0 and box.bound in (0, bound):
            each = outer_step(model, t, w, box, bound, whole) + fresh * (bound - 1.0)
            least = min(least, each / bound)
    return least


@bare
def between(box: Transfer, tile: Ints, child: Ints) -> Transfer:
    """The same with other tiles of parent and child."""
    limits = box.first, box.bound, box.free, box.near, box.once
    return Transfer(tile, child, box.step, box.least, *limits)


@bare_entry
def sent_boxes(model: Model, t: int, box: Transfer, loose: bool) -> float:
    """As `words.sent`, in Timeloop's model."""
    total = visits(model, t, box.tile)
    for w in range(model.windows[t]):
        total *= along_boxes(model, t, w, box, loose)
    return total


@bare
def along_boxes(model: Model, t: int, w: int, box: Transfer, loose: bool) -> float:
    """The factor of sum `w` in the words that are sent."""
    tiles = 1.0
    for d in range(box.tile.shape[0]):
        if model.window[t, d] == w:
            tiles *= model.bounds[d] // min(box.tile[d], model.bounds[d])
    return tiles * boxes_along(model, t, w, box.tile, box.child, loose) * moved_along(model, t, w, box)


@bare
def surely_sent(model: Model, t: int, tile: Ints, child: Ints, loose: bool) -> float:
    """Words that come from the parent however neighbours help: when a loop of a dimension that is in no sum goes on."""
    total = float(plain_words(model, t, model.bounds))
    for w in range(model.windows[t]):
        total *= boxes_along(model, t, w, tile, child, loose) * box_along(model, t, w, child)
    return total


@bare_entry
def share_sent(model: Model, t: int, box: Transfer, spread: Ints, gaps: Ints, inside: float) -> float:
    """The part of what is not `surely_sent` that comes from the parent anyway, 1 where neighbours have none of it.

    Children are `spread` (D,), and `gaps` (G, D) are as in a `Skeleton`.  So many steps are `inside` of a loop of a
    dimension in no sum, at most (inf: not known).

    No neighbour has the boxes from which none lies the step apart: one of those along some sum at least.  Only boxes of
    one size are passed on: if steps of the first loop bring less than all of a box, only these, while another loop of
    the sum goes on.
    """
    w, first, most, found = model.window[t, box.first] if box.first >= 0 else -1, box.first, 1, 1.0
    if w < 0 or box.step[first] >= model.bounds[first]:
        return 1.0
    for other in range(model.windows[t]):
        children = 1
        for d in range(spread.shape[0]):
            children *= spread[d] if model.window[t, d] == other else 1
        most = max(most, children)
    pace = pace_of(model, t, box)
    alone = max(1.0 / most, 1.0 - passed_on(model, t, box, spread, gaps, -1, False))
    steps, whole = model.bounds[first] // box.step[first], pace >= box_along(model, t, w, box.child)
    for i in range(1, model.many[first] if whole or alone < 1.0 else 1):
        bound = model.divisors[first, i]
        if steps % bound or box.bound not in (0, bound):
            continue
        if whole:
            later = max(1.0 / most, alone_later(model, t, box, spread, gaps, bound))
            found = min(found, (alone * (bound - 1.0) + later + (1.0 - later) * bound / inside) / bound)
            continue
        runs = steps // bound
        for d in range(spread.shape[0]):
            if model.window[t, d] == w and d != first and box.step[d] < model.bounds[d]:
                runs *= model.bounds[d] // box.step[d]
        found = min(found, 1.0 - (runs - 1.0) / (runs - 1.0 / bound) * (1.0 - alone))
    return found


@bare
def passed_on(model: Model, t: int, box: Transfer, spread: Ints, gaps: Ints, grain: int, still: bool) -> float:
    """The part of different boxes that neighbours have at most, at a step of the first loop.

    Or, if `grain` is not negative, at one that goes as far along that loop's sum, forwards or back, but for a multiple
    of `grain`, and along other sums anywhere; only if `still`, along these alone.
    """
    if gaps.shape[0] == 0 or gaps[0, 0] == UNKNOWN:
        return 1.0
    u, n, v, m, count = terms_along(model, t, model.window[t, box.first], box.child, spread)
    found = 0.0
    for gap in gaps:
        far = step_to(model, t, box, gap, grain, still)
        if far > 0 and count <= 2:
            found = max(found, shared_by(u, n, v, m, far, True) / distinct2(u, n, v, m))
        elif far >= 0:
            found = 1.0
    return found


@bare
def step_to(model: Model, t: int, box: Transfer, gap: Ints, grain: int, still: bool) -> int:
    """How far along the first loop's sum a neighbour lies, if a step may go there, see `passed_on`; else -1."""
    pace, mine, found, none = pace_of(model, t, box), model.window[t, box.first], 0, True
    for d in range(gap.shape[0]):
        none = none and gap[d] == 0
        if model.kind[t, d] == PLAIN and gap[d] != 0:
            return -1
    for w in range(model.windows[t]):
        far = 0
        for d in range(gap.shape[0]):
            far += model.coefficient[t, d] * box.child[d] * gap[d] if model.window[t, d] == w else 0
        far = abs(far)
        if w != mine:
            none = none or (grain < 0 and far != 0)
        elif grain <= 0:
            none = none or far != pace
        else:
            none = none or ((far - pace) % grain and (far + pace) % grain) or (far == 0 and not still)
        found = far if w == mine else found
    return -1 if none else found


@bare
def alone_later(model: Model, t: int, box: Transfer, spread: Ints, gaps: Ints, bound: int) -> float:
    """The part of boxes, at least, which no neighbour has at steps of loops other than the first, of `bound`
    iterations, if no loop of a dimension in no sum is further in.

    All loops further in fall back by one iteration: along the sum that is the pace of the first, and what its other
    loops make.  These are multiples of `grain`.
    """
    w, grain, pace = model.window[t, box.first], 0, pace_of(model, t, box)
    for d in range(box.step.shape[0]):
        size = box.step[d] * bound if d == box.first else box.step[d]
        if model.window[t, d] == w and size < model.bounds[d]:
            grain = gcd(grain, model.coefficient[t, d] * size)
    still = grain > 0 and pace % grain == 0 and may_move(model, t, w, box, bound)[0]
    return 1.0 - passed_on(model, t, box, spread, gaps, grain, still)


@bare
def terms_along(model: Model, t: int, w: int, child: Ints, spread: Ints) -> tuple[int, int, int, int, int]:
    """How far children lie apart along the last two dimensions of sum `w` that are spread, and how many there are, of
    both; and how many such dimensions there are."""
    count, u, n, v, m = 0, 1, 1, 1, 1
    for d in range(spread.shape[0]):
        if model.window[t, d] == w and spread[d] > 1:
            u, n, v, m = v, m, model.coefficient[t, d] * child[d], spread[d]
            count += 1
    return u, n, v, m, count


@bare
def is_sum(model: Model, t: int, d: int) -> bool:
    """Whether dimension `d` is one of several terms of a sum."""
    for e in range(model.bounds.shape[0]):
        if e != d and model.window[t, d] >= 0 and model.window[t, e] == model.window[t, d]:
            return True
    return False
