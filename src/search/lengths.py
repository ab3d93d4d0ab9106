"""Which of many lengths is best, of which few are tried."""

from collections.abc import Callable, Sequence

NEAR = 1 / 16
"""Part of a length by which others differ too little for a try."""


def least_price(price: Callable[[int], float], low: int, first: int, high: int) -> int:
    """A length from `low` to `high` of small price, the shortest of equals; `first` is tried first.

    It is doubled as long as one of the last two is the best so far, then halved likewise.  Then the best moves to the
    middle between it and its neighbours that were tried, the farther first, until these are within `NEAR` of it.  That
    is the least price within `NEAR` where prices fall up to some length and rise from there.
    """
    found = {first: price(first)}

    def best() -> int:
        return min(found, key=lambda length: (found[length], length))

    length = first
    while length < high and best() >= length // 2:
        length = min(2 * length, high)
        found[length] = price(length)
    length = first
    while length > low and best() <= 2 * length:
        length = max(length // 2, low)
        found[length] = price(length)
    while True:
        at = best()
        below = max((other for other in found if other < at), default=at)
        above = min((other for other in found if other > at), default=at)
        gap, middle = max((at - below, (below + at) // 2), (above - at, (at + above + 1) // 2))
        if gap <= max(1, NEAR * at):
            return at
        found[middle] = price(middle)


def least_beside(price: Callable[[int], float], lengths: Sequence[int], tried: Sequence[int]) -> int:
    """Of ascending `lengths` one of small price: the best of those `tried`, or further on as long as a neighbour of the
    best, the longer one first, is better.
    """
    found = {length: price(length) for length in tried}
    while True:
        best = min(found, key=lambda length: (found[length], length))
        at = lengths.index(best)
        beside = [length for length in (*lengths[at + 1 : at + 2], *lengths[:at][-1:]) if length not in found]
        if not beside:
            return best
        found[beside[0]] = price(beside[0])
