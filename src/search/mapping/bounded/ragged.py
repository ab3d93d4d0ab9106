"""What is there already of a sliding window where factors are imperfect: the last step of a loop may be cut off.

A child without work in the last step keeps what it had in the step before.  So each child walks through all positions
along the window, or through all but the last, one loop after the other.  The loop that moves the window first takes it
ahead by its own step.  Where that loop begins again, the position before was further on, unless all loops inside had
but one step: at the last position, or, for children that are idle there, at the last but one.
"""

from __future__ import annotations

from ....costs.compiled import bare
from .model import Ints, Model
from .slides import partner, stays
from .windows import alike, apart, overlap, present


@bare
def kept_with_ragged_ends(
    model: Model, t: int, w: int, tile: Ints, child: Ints, step: Ints, first: int, bound: int, size: float, free: int
) -> float:
    """Elements at most that a step finds there on the average, where loop `first` of `bound` (0: of any) comes next.

    See `slides.kept_on_average`.  It holds for all sizes that lead to as many steps.
    """
    many = -(-model.bounds[first] // step[first])
    outer = -(-many // max(bound, 2))
    ahead = stays(model, t, w, tile, child, size, step[first] * model.coefficient[t, first])
    other = partner(model, t, w, step, first, free)
    if other == -2:
        return ((many - outer) * ahead + outer * size) / many
    paces = range_of(model, t, step, first)
    larger = float(paces[1] - step[first] * model.coefficient[t, first])
    least = max(many - 2, 1) if outer == 1 else 1
    again = moved(model, t, w, tile, child, size, least * paces[0])
    if other >= 0:
        slow = range_of(model, t, step, other)
        more = larger + slow[1] - step[other] * model.coefficient[t, other]
        for back in range(least, many):
            again = max(again, more + between(model, t, w, tile, child, size, first, slow, paces, back, least))
        for back in range(-(-model.bounds[other] // step[other]) if outer > 1 else 0):
            again = max(again, more + between(model, t, w, tile, child, size, first, paces, slow, back, 0))
    rest = max(again, ((many - outer) * ahead + outer * again) / many)
    if outer == 1 and many > 2:
        return rest
    children = -(-step[first] // child[first])
    share = max(1.0 / many, (children - 1.0) / ((many - 1.0) * children + 1.0))
    return max(rest, share * (size + larger) + (1.0 - share) * rest)


@bare
def range_of(model: Model, t: int, step: Ints, d: int) -> tuple[int, int]:
    """How far a window may move, at least and at most, with a step of dimension `d` if there are as many steps."""
    sizes = alike(model, d, step[d])
    return sizes[0] * model.coefficient[t, d], sizes[1] * model.coefficient[t, d]


@bare
def moved(model: Model, t: int, w: int, tile: Ints, child: Ints, size: float, least: int) -> float:
    """Elements at most that are there where children move by `least` elements or more, all to the same side."""
    found = min(overlap(model, t, w, tile, least, False), present(model, t, w, tile, child, least, False))
    return min(size, float(found))


@bare
def between(
    model: Model,
    t: int,
    w: int,
    tile: Ints,
    child: Ints,
    size: float,
    first: int,
    ahead: tuple[int, int],
    behind: tuple[int, int],
    back: int,
    least: int,
) -> float:
    """The same where children move by one of the range `ahead` less `back` times one of the range `behind`, or once
    less than that where that is `least` times or more."""
    shift = apart(ahead, behind, back)
    forward, backward = ahead[0] > back * behind[1], ahead[1] < back * behind[0]
    if back > least:
        shift = min(shift, apart(ahead, behind, back - 1))
        forward = forward and ahead[0] > (back - 1) * behind[1]
        backward = backward and ahead[1] < (back - 1) * behind[0]
    if forward or backward:
        return moved(model, t, w, tile, child, size, shift)
    # Some may move to either side, but each child with work lacks the elements at one of its ends.
    return size - min(child[first], -(-shift // model.coefficient[t, first]))
