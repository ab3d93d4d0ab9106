"""The turns of a group that runs tile by tile."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from xdsl.ir import SSAValue

from ...costs.fusion.scheme import Update
from ...dialects.types import bytes_of, shape_of
from .map_pieces import row_axis

if TYPE_CHECKING:
    from .fused_layers import FusedGroup

MAKE, STORE, SAVE, RESTORE, BORDER = "make", "store", "save", "restore", "border"
"""What is done to a map in its turn; a map from outside is made by loading it, rows outside of it by filling them."""

ROW_PIECES, ROWS_BYTES = 4, 4096
"""Rows that come from DRAM for a tile come in so many pieces at most, of so many bytes at least."""


class Turn(NamedTuple):
    """A codelet by number runs for one sample, some rows and some columns."""

    codelet: int
    sample: int = 0
    row: int = 0
    rows: int = 1
    column: int = 0
    columns: int = 1


def steps(update: Update) -> Iterator[tuple[str, range]]:
    """What an update does, with rows: those kept from the row of tiles before come back, those of the next are kept.

    SIDE has all columns, which are copied there as soon as they are made (the paper's has those outside of MAIN only,
    each of which moves when it leaves MAIN); rows that stay longer keep their places in it.
    """
    axis, fresh = update.source.rows, update.rows
    window = axis.window(update.row)
    if update.source.side is not None:
        yield RESTORE, range(window.start, fresh.start)
    yield BORDER, range(fresh.start + axis.before, min(fresh.stop, 0) + axis.before)
    yield BORDER, range(max(fresh.start, axis.extent) + axis.before, fresh.stop + axis.before)
    made = range(max(fresh.start, 0), min(fresh.stop, axis.extent))
    yield MAKE, made
    yield STORE, made
    if update.source.side is not None and update.row < axis.last:
        following = axis.window(update.row + 1)
        yield SAVE, range(max(following.start, fresh.start), min(following.stop, window.stop))


def arriving_rows(group: FusedGroup, kept: Collection[SSAValue], number: int, rows: int) -> int:
    """How many of `rows` of a source of the scheme are made at a time.

    A map that comes from DRAM comes in pieces, and layers that look at its rows one by one, without products or sums,
    work on these: on the first while others come, and the next tile's come while the last are looked at.
    """
    coming = [group.value_of(number)] if number < 0 else []
    if number >= 0 and not any(kernel.reductions for kernel in group.layers[number].problem.kernels):
        layer = group.layers[number]
        one_by_one = [name for name, (window, _) in layer.windows.items() if (window.reach, window.stride) == (1, 1)]
        coming = [piece.root for name in one_by_one for piece in layer.maps[name]]
    sizes = [rows * _row_bytes(value) for value in coming if value in group.outside and value not in kept]
    return -(-rows // max(1, min(ROW_PIECES, max(sizes, default=0) // ROWS_BYTES)))


def _row_bytes(value: SSAValue) -> int:
    """Bytes of a row of one sample of a map; 0 where it has no rows."""
    shape = shape_of(value)
    axis = row_axis(len(shape))
    return 0 if axis is None else bytes_of(value) // (shape[0] * shape[axis])
