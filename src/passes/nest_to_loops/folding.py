"""Few channels: the taps along a row of pixels lie over lanes beside the channels, so that more of the array is used.

A row of lanes is then a window of pixels with all their channels, as they lie in memory; windows of neighbours overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from ...algebra.blocked import BlockedLayout
from ...dialects import nest
from ...dialects.types import shape_of
from .forms import SumForm
from .places import Rows

if TYPE_CHECKING:
    from .program import LoopsProgram


def channels_of(program: LoopsProgram, form: SumForm, given: SSAValue, weight: SSAValue, channels: int) -> int:
    """Channels of a pixel, rounded up to a power of two, where a window of pixels fits the lanes; else 0."""
    axes = shape_of(given)
    fits = len(axes) == 4 and {"x", "y"} <= set(form.taps) and len(form.columns) == 1 and not form.batch
    alone = given in program.inputs and given.has_one_use() and given not in program.places
    if not fits or not alone or weight in program.places or isinstance(weight.owner, nest.GroupOp):
        return 0
    if form.input.axis_of(form.summed) != 1 or form.rows["x"] not in form.input.axes[3].names:
        return 0
    padded = 1 << max(channels - 1, 0).bit_length()
    return padded if form.loops["x"].taps > 1 and form.loops["x"].taps * padded <= program.table.lanes else 0


def windows(program: LoopsProgram, form: SumForm, given: SSAValue, channels: int) -> Rows:
    """The input pixel by pixel, with its border and as many more pixels as the last window reads."""
    table, shape = program.table, shape_of(given)
    pads, fill = program.needs[given]
    loop, before = form.loops["x"], pads[3][0]
    reach = (loop.extent - 1) * loop.stride + table.lanes // channels
    after = max(pads[3][1], reach - shape[3] - before)
    wide = (pads[0], (0, channels - shape[1]), pads[2], (before, after))
    layout = BlockedLayout(wide, (0, 0, 0, 0), (0, 2, 3, 1), fill or 0)
    address = table.bump.take(layout.size_bytes(shape, 1))
    name, role = program.name_of(given)
    table.place(name, role, program.dtype(given), shape, layout, address)
    row = (before + shape[3] + after) * channels
    start = address + sum(axis.const * step for axis, step in zip(form.input.axes[2:], (row, channels), strict=True))
    start += pads[2][0] * row + before * channels
    return Rows(start, {"y": row, "x": loop.stride * channels}, table.lanes)


def window_weights(
    program: LoopsProgram, form: SumForm, weight: SSAValue, channels: int, extents: Mapping[str, int]
) -> Rows:
    """Blocks whose rows are the taps of a window with their channels."""
    table, shape = program.table, shape_of(weight)
    axis = {
        "k": form.weight.axis_of(form.summed),
        "n": form.weight.axis_of(form.columns[0]),
        "y": form.weight.axis_of(form.taps["y"]),
        "x": form.weight.axis_of(form.taps["x"]),
    }
    wanted = {axis["k"]: channels, axis["x"]: table.lanes // channels, axis["n"]: -(-shape[axis["n"]] // table.lanes)}
    wanted[axis["n"]] *= table.lanes
    pads = tuple((0, wanted.get(i, size) - size) for i, size in enumerate(shape))
    cut = tuple(table.lanes if i == axis["n"] else 0 for i in range(len(shape)))
    at = [i + (i > axis["n"]) for i in range(len(shape))]
    order = (at[axis["y"]], at[axis["n"]], at[axis["n"]] + 1, at[axis["x"]], at[axis["k"]])
    layout = BlockedLayout(pads, cut, order)
    address = table.bump.take(layout.size_bytes(shape, 1))
    name, role = program.name_of(weight)
    constant = program.constant(weight)
    if constant is not None:
        program.weights[name] = constant
    table.place(name, role, program.dtype(weight), shape, layout, address)
    block = table.lanes * table.lanes
    blocks = -(-extents[form.columns[0]] // table.lanes)
    return Rows(address, {"n": block, "k": block * blocks, "ty": block * blocks}, block)
