"""Inputs of few channels whose neighbouring rows and columns lie in the lanes of one block.

A convolution with steps reads each phase of the rows and columns by taps of its own.  Where `rows` divides its step,

    row h lies in row (h + top) / rows, phase (h + top) mod rows,    tap r = rows r' + phase,

so that the convolution over the packed map has 1/rows of the taps and of the step, and sums over phases, too.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ...algebra.blocked import BlockedLayout
from .read import Found
from .works import Plane, Window


@dataclass(frozen=True)
class Packing:
    """Phases of rows and columns beside `channels` in a block; `top` rows and `left` columns of `fill` come first."""

    rows: int
    columns: int
    channels: int
    top: int
    left: int
    fill: int = 0

    def layout(self, shape: tuple[int, ...]) -> BlockedLayout:
        """How a map [samples][channels][rows][columns] lies."""
        phases = ((self.top, self.rows, shape[2]), (self.left, self.columns, shape[3]))
        pads = [(before, -(size + before) % count) for before, count, size in phases]
        blocks = (0, self.channels, self.rows, self.columns)
        pads = [(0, 0), (0, self.channels - shape[1]), *pads]
        return BlockedLayout(tuple(pads), blocks, (0, 1, 3, 5, 4, 6, 2), self.fill)

    def plane(self, shape: tuple[int, ...]) -> Plane:
        """The packed map, without a tensor."""
        samples, blocks, height, width = self.layout(shape).extents(shape)[:4]
        return Plane(None, blocks, height, width, samples)

    def packed(self, found: Found) -> Found:
        """The layer over the packed map."""
        window = found.window
        rows, columns = -(-window.rows // self.rows), -(-window.columns // self.columns)
        out, inner, _ = found.weights.shape
        full = np.zeros((out, self.channels, rows * self.rows, columns * self.columns), np.int64)
        taps = found.weights.reshape(out, inner, window.rows, window.columns)
        full[:, :inner, : window.rows, : window.columns] = taps
        cut = full.reshape(out, self.channels, rows, self.rows, columns, self.columns).transpose(0, 3, 5, 1, 2, 4)
        steps = window.row_step // self.rows, window.column_step // self.columns
        ends = (window.top - self.top) // self.rows, (window.left - self.left) // self.columns
        return replace(found, weights=cut.reshape(out, -1, rows * columns), window=Window(rows, columns, *steps, *ends))


def packing_of(found: Found, shape: tuple[int, ...], lanes: int) -> Packing | None:
    """The packing of a map of that shape by which the layer that reads it has fewest taps; None where none helps."""
    window = found.window
    plain = not (found.diagonal or found.maximum) and (window.row_gap, window.column_gap) == (1, 1)
    if not plain or len(found.sources) > 1 or len(shape) != 4:
        return None
    best = window.taps, Packing(1, 1, lanes, 0, 0)
    for rows, columns in product(range(1, window.row_step + 1), range(1, window.column_step + 1)):
        phases = rows * columns
        if window.row_step % rows or window.column_step % columns or lanes % phases or shape[1] > lanes // phases:
            continue
        taps = -(-window.rows // rows) * -(-window.columns // columns)
        if taps < best[0]:
            best = taps, Packing(rows, columns, lanes // phases, window.top % rows, window.left % columns)
    chosen = best[1]
    plane = chosen.plane(shape) if chosen.channels < lanes else None
    return chosen if plane is not None and plane.height * plane.width > 1 else None
