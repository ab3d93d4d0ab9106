"""Words of sums of indices as Timeloop counts them.

A tile is its bounding box, and each child's box moves for itself: children share it if theirs is the same.  When the
innermost loop that moves a tensor goes on along a sum, only what the box has not had comes; when a loop further out of
the same sum goes on, the box may come to where it was, or a step further; any other loop brings all of it.  If no loop
is further in, a child may take words from a neighbour that had them one step before.

Statement 17 of docs/exact-mapper.md.
"""

from __future__ import annotations

from .....costs.compiled import bare, bare_entry
from ..space.model import PLAIN, UNRELATED, Ints, Model
from .windows import Transfer, distinct2


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
def box_size(model: Model, t: int, tile: Ints) -> int:
    """Elements of tensor `t` in the bounding box of a tile."""
    words = plain_words(model, t, tile)
    for w in range(model.windows[t]):
        words *= box_along(model, t, w, tile)
    return words


@bare
def boxes_along(model: Model, t: int, w: int, tile: Ints, child: Ints, loose: bool) -> int:
    """Different boxes along sum `w` of the children of a tile.

    At least, if several memories have children, or neighbours may help (`loose`): as many as along one dimension.
    """
    most, count, u, n, v, m = 1, 0, 0, 1, 0, 1
    for d in range(tile.shape[0]):
        children = min(tile[d], model.bounds[d]) // child[d]
        if model.window[t, d] != w or children == 1:
            continue
        most = max(most, children)
        if count == 0:
            u, n = model.coefficient[t, d] * child[d], children
        else:
            v, m = model.coefficient[t, d] * child[d], children
        count += 1
    return distinct2(u, n, v, m) if count == 2 and not loose else most


@bare
def pace_of(model: Model, t: int, box: Transfer) -> int:
    """How far the first loop takes the box in a step."""
    pace: int = model.coefficient[t, box.first] * box.step[box.first]
    return pace


@bare
def outer_step(model: Model, t: int, w: int, box: Transfer, whole: int, fresh: int, done: bool) -> float:
    """Words of a step of other loops than the first, which moves sum `w`, on the average, at least.

    If the sum's other loops are all inside of those of other dimensions, all but one in `runs` of these steps are
    theirs.  They move the box by what they make less what loops inside have made in one iteration: by nothing, or by
    the pace of the first, only if they make so much.
    """
    pace, runs, farthest, nothing = pace_of(model, t, box), 1.0, 0, False
    for d in range(box.step.shape[0]):
        if model.window[t, d] != w or d == box.first or box.step[d] >= model.bounds[d]:
            continue
        mine = model.coefficient[t, d] * box.step[d]
        nothing |= runs > 1.0 or not done or pace % mine == 0
        runs *= model.bounds[d] // box.step[d]
        farthest = max(farthest, model.coefficient[t, d] * model.bounds[d] // 2)
    least = whole
    if nothing and farthest >= pace:
        least = 0
    elif farthest >= 2 * pace or (box.bound == 2 and not done):
        least = fresh
    if not done:
        runs *= model.bounds[box.first] // box.step[box.first] // box.bound
    return (whole + (runs - 1.0) * least) / runs


@bare
def moved_along(model: Model, t: int, w: int, box: Transfer) -> float:
    """Words of sum `w` for a child in each step on the average, at least."""
    whole, first = box_along(model, t, w, box.child), box.first
    if first < 0 or model.window[t, first] != w or box.step[first] >= model.bounds[first]:
        return float(whole)
    fresh = min(whole, pace_of(model, t, box))
    steps, bound = model.bounds[first] // box.step[first], box.bound
    if bound > 0:
        return (outer_step(model, t, w, box, whole, fresh, bound == steps) + fresh * (bound - 1.0)) / bound
    others = 1.0
    for d in range(box.step.shape[0]):
        if model.window[t, d] == w and d != first and box.step[d] < model.bounds[d]:
            others *= model.bounds[d] // box.step[d]
    if others > 1.0:
        least = 2.0 if steps % 2 == 0 else 3.0
        return fresh * (least - 1.0) / least + whole / (others * steps)
    if steps % 2 == 1 or steps == 2:
        return (whole + fresh * (steps - 1.0)) / steps
    return float(fresh)


@bare
def between(box: Transfer, tile: Ints, child: Ints) -> Transfer:
    """The same with other tiles of parent and child."""
    limits = box.first, box.bound, box.free, box.near, box.once
    return Transfer(tile, child, box.step, box.least, box.reach, *limits)


@bare
def sent_boxes(model: Model, t: int, box: Transfer, loose: bool) -> float:
    """As `words.sent`, in Timeloop's model."""
    total = 1.0
    for d in range(box.tile.shape[0]):
        if model.kind[t, d] == PLAIN:
            total *= model.bounds[d]
        elif model.kind[t, d] == UNRELATED:
            total *= -(-model.bounds[d] // box.tile[d])
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
    total = 1.0
    for d in range(tile.shape[0]):
        if model.kind[t, d] == PLAIN:
            total *= model.bounds[d]
    for w in range(model.windows[t]):
        total *= boxes_along(model, t, w, tile, child, loose) * box_along(model, t, w, child)
    return total


@bare_entry
def may_help(model: Model, t: int, box: Transfer, spread: Ints) -> bool:
    """Whether neighbours, children that are `spread` (D,), may have what steps of loops ask for, the first of a sum.

    Only boxes of the same size are passed on.  If steps of the first loop bring less than all of it, only these are
    alike, and children have to lie one pace apart.  Else those of other loops are alike, too: they go some paces, less
    or more than some of the sum's other term, one at most if its loop has a prime number of iterations.
    """
    w = model.window[t, box.first] if box.first >= 0 else -1
    if w < 0 or box.step[box.first] >= model.bounds[box.first]:
        return False
    pace, reach, others, slow, times = pace_of(model, t, box), 0, 0, 0, 1
    for d in range(spread.shape[0]):
        if model.window[t, d] == w:
            reach += model.coefficient[t, d] * box.child[d] * (spread[d] - 1)
            if d != box.first and box.step[d] < model.bounds[d]:
                others += 1
                slow, times = model.coefficient[t, d] * box.step[d], model.bounds[d] // box.step[d]
    if pace < box_along(model, t, w, box.child):
        return reach >= pace and are_apart(model, t, w, box.child, spread, pace)
    if others > 1:
        return reach > 0
    most = times - 1 if times == 4 or times > 5 else min(times - 1, 1)
    for far in range(pace, reach + most * slow + 1, pace):
        for more in range(-most, most + 1):
            if are_apart(model, t, w, box.child, spread, abs(far + more * slow)):
                return True
    return False


@bare
def are_apart(model: Model, t: int, w: int, child: Ints, spread: Ints, far: int) -> bool:
    """Whether two of the children that are `spread` (D,) lie so far apart along sum `w` (perhaps, of three terms)."""
    count, u, n, v, m = 0, 1, 1, 1, 1
    for d in range(spread.shape[0]):
        if model.window[t, d] == w and spread[d] > 1:
            if count == 0:
                u, n = model.coefficient[t, d] * child[d], spread[d]
            else:
                v, m = model.coefficient[t, d] * child[d], spread[d]
            count += 1
    for i in range(1 - n, n):
        rest = abs(far - i * u)
        if rest % v == 0 and rest // v < m:
            return True
    return count > 2


@bare
def is_sum(model: Model, t: int, d: int) -> bool:
    """Whether dimension `d` is one of several terms of a sum."""
    for e in range(model.bounds.shape[0]):
        if e != d and model.window[t, d] >= 0 and model.window[t, e] == model.window[t, d]:
            return True
    return False
