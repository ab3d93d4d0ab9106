"""The turns of a group that runs tile by tile."""

from collections.abc import Iterator
from typing import NamedTuple

from ...costs.fusion.scheme import Update

MAKE, STORE, SAVE, RESTORE, BORDER = "make", "store", "save", "restore", "border"
"""What is done to a map in its turn; a map from outside is made by loading it, rows outside of it by filling them."""


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
