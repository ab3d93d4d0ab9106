"""Pareto fronts: what nothing else matches or beats in everything."""

from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import TypeVar

import numpy as np

from ..algebra.element import Floats, Ints
from .compiled import compiled

T = TypeVar("T")


def undominated(rows: Floats) -> Ints:
    """Places of the rows that no other is below or equal to in every column, in lexicographic order; the first of
    equal ones.
    """
    order = np.lexsort(rows.T[::-1])
    return order[_undominated(rows[order])]


@compiled
def _undominated(rows: Floats) -> Ints:
    """`undominated` of rows in lexicographic order: only those before can be below."""
    kept, count = np.zeros(len(rows), np.int64), 0
    for place in range(len(rows)):
        beaten = False
        for k in range(count):
            beaten = True
            for column in range(rows.shape[1]):
                if rows[kept[k], column] > rows[place, column]:
                    beaten = False
                    break
            if beaten:
                break
        if not beaten:
            kept[count] = place
            count += 1
    return kept[:count]


def each_lower(items: Iterable[T], value: Callable[[T], float]) -> Iterator[T]:
    """The items whose value is below those of all before: the front, where they come sorted by another value."""
    least = inf
    for item in items:
        if value(item) < least:
            least = value(item)
            yield item
