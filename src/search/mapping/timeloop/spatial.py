"""Ways to spread dimensions over an array of columns and rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np

from ....algebra.factors import divisors_of
from ....costs.timeloop.batch_arrays import Ints
from ..exact.space.spreads import Factors, Layout, orders_along


def layouts_by_product(bounds: Factors, columns: int, rows: int, split: bool) -> dict[Factors, list[Layout]]:
    """All spatial factors that fit an array, each with the ways to lay it out.

    With `split` a dimension may be spread over both axes at once.
    """
    found: dict[Factors, list[Layout]] = {}

    def extend(d: int, xs: Factors, ys: Factors) -> None:
        if d == len(bounds):
            both = tuple(x * y for x, y in zip(xs, ys, strict=True))
            found.setdefault(both, []).append((xs, ys))
            return
        for x in divisors_of(bounds[d]):
            if prod(xs) * x > columns:
                break
            for y in divisors_of(bounds[d] // x):
                if prod(ys) * y > rows or (not split and x > 1 and y > 1):
                    break
                extend(d + 1, (*xs, x), (*ys, y))

    extend(0, (), ())
    return found


def ordered(layouts: list[Layout]) -> Iterator[Ints]:
    """Every order of the loops of every layout, as (4, D): factors along X, their order, the same for Y."""
    for xs, ys in layouts:
        for order_x, order_y in product(orders_along(xs), orders_along(ys)):
            yield np.array([xs, order_x, ys, order_y], np.int64)
