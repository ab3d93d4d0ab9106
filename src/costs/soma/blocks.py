"""How a tile's work is cut over the cores and blocked in their buffers: every candidate that SoMa's model costs."""

from typing import NamedTuple

from ..compiled import bare
from .hardware import BUS_BYTES, CoreArray


class Work(NamedTuple):
    """MACs of a tile: `filters` x `height` x `width` x `batch` results from `channels` inputs each, `groups` times."""

    batch: int
    channels: int
    filters: int
    height: int
    width: int
    kernel_height: int
    kernel_width: int
    stride_height: int
    stride_width: int
    groups: int


class Split(NamedTuple):
    """Cores along each dimension."""

    channels: int
    filters: int
    height: int
    width: int
    batch: int


class Block(NamedTuple):
    """A core's part, and its part that stays in its buffers at a time.

    `channels` to `batch` count steps of the core's MACs over its part; `rows`, `columns` and `filters_held` are the
    inner block, `filter_trips`, `row_trips` and `column_trips` the loops over it.
    """

    channels: int
    filters: int
    height: int
    width: int
    batch: int
    filters_held: int
    rows: int
    columns: int
    filter_trips: int
    row_trips: int
    column_trips: int


class Sharing(NamedTuple):
    """Whether cores pass weights (`filters`) or activations (`columns`) on to one another.

    `second` is a second level of weight buffer, which costs nothing: the model has it although no machine does.
    """

    filters: bool
    columns: bool
    second: bool


SPLITS = ("CK", "CB", "BK", "CW", "HK", "HW")
"""Dimensions along the two axes of the array."""

SHARINGS = (
    Sharing(False, False, False),
    Sharing(True, False, False),
    Sharing(True, True, False),
    Sharing(False, True, True),
    Sharing(True, True, True),
)


def splits(side: int) -> tuple[Split, ...]:
    """The ways to cut a tile over `side` x `side` cores."""
    return tuple(Split(*(side if dim in pair else 1 for dim in "CKHWB")) for pair in SPLITS)


@bare
def ceil_div(value: int, divisor: int) -> int:
    """`value / divisor` rounded up."""
    return -(-value // divisor)


@bare
def macs_of(work: Work) -> int:
    """Products of all groups."""
    window = work.kernel_height * work.kernel_width
    return work.channels * work.filters * window * work.height * work.width * work.batch * work.groups


@bare
def column_limit(work: Work, split: Split, array: CoreArray) -> int:
    """The most columns of a block, 0 where the split is impossible."""
    steps = ceil_div(work.channels, array.vector * split.channels)
    pixels = array.activations // steps
    window = pixels // work.kernel_height
    held = array.weights // (work.kernel_height * work.kernel_width * steps)
    if array.sums == 0 or held == 0 or window < work.kernel_width:
        return 0
    most = (window - work.kernel_width) // work.stride_width + 1
    return min(most, array.sums, ceil_div(work.width, split.width))


@bare
def block_of(work: Work, split: Split, array: CoreArray, columns: int) -> Block:
    """The block with `columns` columns and as many rows and filters as fit."""
    channels = ceil_div(work.channels, array.vector * split.channels)
    filters = ceil_div(work.filters, array.lanes * split.filters)
    height = ceil_div(work.height, split.height)
    width = ceil_div(work.width, split.width)
    pixels = array.activations // channels
    held = min(filters, array.weights // (work.kernel_height * work.kernel_width * channels))
    reach = (columns - 1) * work.stride_width + work.kernel_width
    rows = min(array.sums // columns, (pixels // reach - work.kernel_height) // work.stride_height + 1, height)
    return Block(
        channels,
        filters,
        height,
        width,
        ceil_div(work.batch, split.batch),
        held,
        rows,
        columns,
        ceil_div(filters, held),
        ceil_div(height, rows),
        ceil_div(width, columns),
    )


@bare
def compute_cycles(work: Work, block: Block) -> int:
    """Cycles of the MACs for one pass over the groups that run together."""
    steps = block.channels * block.filters * block.height * block.width * block.batch
    return steps * work.kernel_height * work.kernel_width


@bare
def sharing_possible(block: Block, split: Split, sharing: Sharing) -> bool:
    """Whether the loops leave something to share."""
    filters = min(block.filter_trips, split.height * split.width * split.batch)
    columns = min(block.column_trips, split.filters)
    again = block.batch > 1 or block.row_trips > 1
    filters_left = filters > 1 and ceil_div(block.filter_trips, filters) > 1
    if sharing.second:
        base = columns > 1 and again and ceil_div(block.column_trips, columns) > 1
        return base and (filters_left if sharing.filters else block.filter_trips > 1)
    if sharing.columns:
        return columns > 1 and filters_left
    return not sharing.filters or (again and block.column_trips > 1 and filters > 1)


@bare
def bus_suffices(work: Work, split: Split, block: Block, array: CoreArray, sharing: Sharing, together: int) -> bool:
    """Whether the bus between cores passes shared blocks on while the MACs work on one; `together` groups at a time."""
    window = work.kernel_height * work.kernel_width
    carried = BUS_BYTES * window * block.channels * block.filters_held * block.rows * block.columns
    channels = ceil_div(work.channels, split.channels)
    filters = min(ceil_div(work.filters, split.filters), block.filters_held * array.lanes)
    if sharing.filters and carried < window * channels * filters * together:
        return False
    if not sharing.columns:
        return True
    if sharing.filters:
        carried *= min(block.filter_trips, split.height * split.width * split.batch)
    rows = block.rows + work.kernel_height - work.stride_height
    return carried >= rows * block.columns * channels * together
