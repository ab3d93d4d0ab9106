"""Ranks of values, in arrays that are made once: compiled code here makes none."""

from __future__ import annotations

from ....costs.exact.compiled import bare
from ....costs.timeloop.batch_arrays import Floats, Ints


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
