"""What some elements of a value need, whichever they are.

A value of positions (a row and a column) and of what else there is (channels): of some elements in it, those of one
channel or more lie at no fewer positions than their number over that of channels.  Where a position (y, x) needs the
rows I(y) and the columns J(x) of an earlier value, some positions need the union of I(y) x J(x).  Its least size
follows from the least sizes g(m) of a union of m of the I, and h(m) of m of the J: let m(y) of the positions lie in row
y, and a(t) be the number of rows with m(y) >= t.  In row i of the earlier value at least max h(m(y)) over the y with i
in I(y) are needed, which is the sum of h(t) - h(t - 1) over the t for which some y with m(y) >= t has i in I(y).  All
rows together that is the sum over t of (h(t) - h(t - 1)) * g(a(t)) at least, where a falls and has the sum of all
positions.  Rows and columns count by the points of the kernel that makes them, fewer where a window is cut.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .coordinates import everything, run
from .demand import Demand, need, union
from .network import Network, Step

Floats = NDArray[np.float64]

LONGEST = 32
"""Coordinates of an axis of positions that are looked at one by one."""


@dataclass(frozen=True)
class Along:
    """For each coordinate of an axis of positions, those that it needs of an axis before: from `low` up to `high`."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def least(self, sizes: Floats) -> Floats:
        """The least sum of `sizes` (one per coordinate) that 0, 1, 2 and so on positions need, exactly."""
        ends = np.concatenate(([0.0], np.cumsum(sizes)))
        new = ends[self.high] - ends[np.minimum(np.maximum(self.low, self.high[:, None]), self.high)]
        new[np.tril_indices(len(new))] = np.inf  # [i, j]: what j needs beside what i < j does
        last = ends[self.high] - ends[self.low]
        found = [0.0, float(last.min())]
        for _ in range(len(new) - 1):
            last = (last[:, None] + new).min(axis=0)
            found.append(float(last.min()))
        return np.array(found)


class Places(NamedTuple):
    """A value, and how many axes in front are none of places: at each place all elements along these are meant."""

    value: int
    front: int = 0


def least_positions(rows: Floats, columns: Floats) -> Floats:
    """A number that no union of rectangles of 0, 1, 2 and so on positions is smaller than.

    `rows` and `columns` have the least sizes of the union of 0, 1, 2 and so on of either.
    """
    height, width = len(rows) - 1, len(columns) - 1
    most = height * width
    known = np.full((height + 1, most + 1), np.inf)  # of a(t), and of how many positions so far
    known[height, 0] = 0.0
    for more in np.diff(columns):
        least = np.minimum.accumulate(known[::-1], axis=0)[::-1]
        known = np.full_like(known, np.inf)
        for a in range(height + 1):
            known[a, a:] = least[a, : most + 1 - a] + more * rows[a]
    return known.min(axis=0)


def points_of_elements(
    network: Network, places: Places, own: Mapping[int, set[int]], counts: NDArray[np.int64]
) -> dict[int, Floats]:
    """By targets of kernels, the points that are needed at least for each of these counts of places.

    `own`: for each axis of the value, the targets of which each of its coordinates needs parts that no other one does.
    """
    shape, found = network.values[places.value].shape, dict[int, Floats]()
    axes = [axis for axis, size in enumerate(shape) if size > 1 and axis >= places.front]
    for row, column in combinations((axis for axis in axes if shape[axis] <= LONGEST), 2):
        channels = prod(shape[places.front :]) // (shape[row] * shape[column])
        others = [axis for axis in axes if axis not in (row, column)]
        apart = own.get(others[0], set()) if len(others) == 1 else set[int]()
        for target, points in _points_of_positions(network, places, (row, column)):
            least = points[-(-counts // channels)]
            if target in apart:
                least = np.maximum(least, counts * (points[1:] / np.arange(1, len(points))).min())
            found[target] = np.maximum(found[target], least) if target in found else least
    return found


def _points_of_positions(network: Network, places: Places, axes: tuple[int, int]) -> Iterator[tuple[int, Floats]]:
    """Targets, with the points that 0, 1, 2 and so on positions along two axes need, of some channel each."""
    shapes = [item.shape for item in network.values]
    height, width = (shapes[places.value][axis] for axis in axes)
    demands = [_demands(network, places, axes, place, shapes) for place in product(range(height), range(width))]
    for step in network.steps:
        boxes = [found.get(step.target) for found in demands]
        if not isinstance(step, Step) or any(box is None for box in boxes):
            continue
        masks = np.array(boxes, object).reshape(height, width, -1)
        by_row = [i for i in range(masks.shape[2]) if (masks[:, :, i] != masks[0, 0, i]).any()]
        columns = [i for i in by_row if (masks[:, :, i] == masks[:1, :, i]).all()]
        rows = [i for i in by_row if (masks[:, :, i] == masks[:, :1, i]).all()]
        if len(rows) == len(columns) == 1 and len(by_row) == 2:
            sizes = sizes_of_lines(step, tuple(masks[0, 0]), rows[0], columns[0], shapes)
            along = runs_along(masks[:, 0, rows[0]].tolist()), runs_along(masks[0, :, columns[0]].tolist())
            if sizes is not None and along[0] is not None and along[1] is not None:
                yield step.target, least_positions(along[0].least(sizes[0]), along[1].least(sizes[1]))


def _demands(
    network: Network, places: Places, axes: tuple[int, int], place: tuple[int, ...], shapes: Sequence[Sequence[int]]
) -> dict[int, Demand]:
    """What a place at a position needs of each value, of which channel it may be."""
    at = dict(zip(axes, place, strict=True))
    start = tuple(
        everything(size) if axis < places.front else 1 << at[axis] if axis in at else run(1, size)
        for axis, size in enumerate(shapes[places.value])
    )
    return wanted(network, {places.value: start}, shapes)


def wanted(network: Network, parts: Mapping[int, Demand], shapes: Sequence[Sequence[int]]) -> dict[int, Demand]:
    """What parts of values need of all values."""
    found = dict(parts)
    for step in reversed(network.steps):
        if step.target in found:
            for read, demand in need(step, found[step.target], shapes).reads:
                found[read] = union(found.get(read), demand)
    return found


def runs_along(masks: Sequence[int]) -> Along | None:
    """Of runs that do not begin or end before the ones of earlier coordinates; else nothing."""
    low = np.array([(mask & -mask).bit_length() - 1 for mask in masks])
    high = np.array([mask.bit_length() for mask in masks])
    runs = all(mask > 0 and mask.bit_count() == b - a for mask, a, b in zip(masks, low, high, strict=True))
    return Along(low, high) if runs and (np.diff(low) >= 0).all() and (np.diff(high) >= 0).all() else None


def sizes_of_lines(
    step: Step, box: Demand, row: int, column: int, shapes: Sequence[Sequence[int]]
) -> tuple[Floats, Floats] | None:
    """Points of a kernel as products of one number for each row and one for each column of its target."""
    forms, shape = step.kernel.target.forms, shapes[step.target]
    if not are_apart(step, set(forms[row].names), set(forms[column].names)):
        return None
    full = tuple(everything(shape[i]) if i in (row, column) else axis for i, axis in enumerate(box))
    total = need(step, full, shapes).points
    rows, columns = (
        np.array([need(step, (*full[:i], 1 << at, *full[i + 1 :]), shapes).points for at in range(shape[i])], float)
        for i in (row, column)
    )
    return (rows, columns / total) if total else None


def are_apart(step: Step, names: set[str], others: set[str]) -> bool:
    """Whether no chain of forms that may be out of bounds has dims of both."""
    forms = [set(form.names) for read in step.reads if read.padded for form in read.forms]
    while more := [form for form in forms if form & names and form - names]:
        names = names.union(*more)
    return not names & others
