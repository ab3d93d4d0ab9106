"""Sets of numbers and ranks of values in arrays that are made once: compiled code here makes none."""

from __future__ import annotations

from ....costs.exact.compiled import bare
from .model import Floats, Ints

SCATTER = 2654435761
"""2^32 divided by the golden ratio: numbers in even steps fall far apart (Knuth, TAOCP 3, section 6.4)."""


@bare
def clear(table: Ints, count: int) -> int:
    """Empty a hash table for `count` keys; returns the places that are used, a power of two below `4 * count`."""
    places = 1
    while places < 2 * count:
        places *= 2
    for i in range(places):
        table[i] = -1
    return places


@bare
def place_of(table: Ints, places: int, key: int) -> int:
    """Where `key`, which is not negative, stands in the table, or the empty place where it belongs."""
    place = (key * SCATTER >> 32) & (places - 1)
    while table[place] >= 0 and table[place] != key:
        place = (place + 1) & (places - 1)
    return place


@bare
def rank(values: Floats, count: int, order: Ints, spare: Ints) -> None:
    """Sort the numbers below `count` by their `values` into `order`, equal ones as they are (merge sort)."""
    for i in range(count):
        order[i] = i
    width = 1
    while width < count:
        for low in range(0, count, 2 * width):
            middle, high = min(low + width, count), min(low + 2 * width, count)
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or values[order[i]] <= values[order[j]]):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        for k in range(count):
            order[k] = spare[k]
        width *= 2
