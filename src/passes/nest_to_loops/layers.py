"""A nest group as a layer of a machine of loops: places of its tensors, and what follows its sum.

Of few channels the taps along a row of pixels lie over lanes beside the channels, so that more of the array is used.
A row of lanes is then a window of pixels with all their channels, as they lie in memory; windows of neighbours overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.blocked import BlockedLayout
from ...algebra.element import Ints
from ...algebra.expr import Access
from ...dialects import nest
from ...dialects.types import shape_of
from ...search.tiles import Loop, SumProblem
from .forms import SumForm, forms, sum_form, unsupported
from .leaves import Leaves, Scene, columns_of
from .places import Epilogue, Rows, SumLayer, VectorLayer
from .row_code import issue_cycles
from .tensors import batch_pitch, input_rows, output_rows
from .terms import Term
from .windows import is_depthwise, window_layer

if TYPE_CHECKING:
    from .program import LoopsProgram


def channels_of(program: LoopsProgram, form: SumForm, given: SSAValue, weight: SSAValue, channels: int) -> int:
    """Channels of a pixel, rounded up to a power of two, where a window of pixels fits the lanes; else 0."""
    axes = shape_of(given)
    fits = len(axes) == 4 and {"x", "y"} <= set(form.taps) and len(form.columns) == 1 and not form.batch
    alone = given in program.inputs and given.has_one_use() and given not in program.places
    if not fits or not alone or weight in program.places or isinstance(weight.owner, nest.GroupOp):
        return 0
    if form.input.axis_of(form.summed) != 1 or form.rows.get("x") not in form.input.axes[3].names:
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
    address = table.laid(program.told(given), layout)
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
    address = table.laid(program.told(weight), layout)
    block = table.lanes * table.lanes
    blocks = -(-extents[form.columns[0]] // table.lanes)
    return Rows(address, {"n": block, "k": block * blocks, "ty": block * blocks}, block)


class LayerBuilder:
    """Reads one group."""

    def __init__(self, program: LoopsProgram, group: nest.GroupOp) -> None:
        self.program, self.group = program, group
        self.extents = group.extents
        self.outside = group.outside
        self.kernels = list(group.kernels)
        if len(group.results) != 1:
            raise unsupported(self.kernels[0], "a group with one result", f"{len(group.results)}")
        self.result = group.results[0]
        self.output_form = forms(self.kernels[-1])[0]

    def build(self) -> SumLayer | VectorLayer:
        """The layer; `TilewrightError` for groups that are none."""
        sums = [i for i, kernel in enumerate(self.kernels) if kernel.statement.data.reduce != "="]
        products = [i for i in sums if not isinstance(self.kernels[i].statement.data.value, Access)]
        if products and not is_depthwise(self.kernels[products[0]]):
            return self._sum_layer(products[0])
        return window_layer(self.program, self.group)

    def _sum_layer(self, at: int) -> SumLayer:
        kernel = self.kernels[at]
        self.program.target.check_columns()
        form = sum_form(kernel, self.extents)
        given, weight = (self.outside[kernel.operands_by_name[f.name]] for f in (form.input, form.weight))
        lanes = self.program.table.lanes
        n = -(-form.width(self.extents) // lanes) * self._points(form.columns[:-1])
        k = -(-self.extents[form.summed] // lanes)
        x = form.loops["x"]
        channels = channels_of(self.program, form, given, weight, self.extents[form.summed])
        if channels:
            rows = windows(self.program, form, given, channels)
            blocks = window_weights(self.program, form, weight, channels, self.extents)
            x = Loop(x.extent)
        else:
            rows = input_rows(form, self.program.turned(given, form.input.axis_of(form.summed)), self.extents)
            blocks = self._weights(form, weight)
        bias = self._bias(kernel, at, form, n)
        bound = self._bound(kernel, form, weight, at)
        epilogue = self._epilogue(self.kernels[at:], Term("sum", -bound, bound, "rows"), n, form)
        if epilogue is None:
            self._narrow(form, n)
        output = output_rows(form, self.program.place(self.result), self.extents)
        operations = epilogue.operations if epilogue is not None else ()
        vector = sum(issue_cycles(self.program.target, operation.text) for operation in operations)
        y, batch = form.loops["y"], self._points(form.batch)
        problem = SumProblem(batch, n, y, x, k, lanes, blocks.row_bytes, output.row_bytes, vector_cycles=vector)
        return SumLayer(self.group.sym_name.data, problem, rows, blocks, output, bias, epilogue)

    def _points(self, dims: Iterable[str]) -> int:
        return prod(self.extents[dim] for dim in dims)

    def _narrow(self, form: SumForm, n: int) -> None:
        """Places a result of one row with few columns in as few granules as hold it."""
        program, width = self.program, form.width(self.extents)
        memory = program.target.roles["output"]
        words = program.target.granule(memory) // 4
        rows = form.loops["y"].extent * form.loops["x"].extent
        small = -(-width // words) * words
        if n == rows == 1 and not form.batch and small < program.table.lanes and self.result in program.outputs:
            none = ((0, 0),) * len(shape_of(self.result))
            program.places[self.result] = program.table.rows(program.told(self.result), none, None, small)

    def _weights(self, form: SumForm, value: SSAValue) -> Rows:
        program = self.program
        if value in program.places or isinstance(value.owner, nest.GroupOp | nest.ViewOp):
            return self._rows_as_blocks(form, value)
        return program.table.blocks(program.told(value), form)

    def _rows_as_blocks(self, form: SumForm, value: SSAValue) -> Rows:
        """Activations as weights: columns are rows of lanes, turned first where those run along columns."""
        weight, lanes = form.weight, self.program.table.lanes
        if len(form.columns) != 1 or form.taps:
            raise unsupported(self.kernels[0], "activations with one dim of columns as weights", f"{form.columns}")
        place = self.program.turned(value, weight.axis_of(form.summed))
        column = place.pitch(weight, form.columns[-1])
        turned = place is not self.program.place(value)
        if self.extents[form.columns[-1]] % lanes and not turned:
            raise unsupported(self.kernels[0], f"whole blocks of {lanes} columns", f"{self.extents[form.columns[-1]]}")
        if self.extents[form.summed] % lanes and not turned:
            raise unsupported(self.kernels[0], f"whole rows of {lanes} that are summed", f"{self.extents[form.summed]}")
        batch = batch_pitch(
            weight.name, [place.pitch(weight, d) for d in form.batch], [self.extents[d] for d in form.batch]
        )
        pitches = {"k": place.pitches[place.lane], "n": lanes * column, "batch": batch}
        pitches |= {"column": column} if column != place.row_bytes else {}
        return Rows(place.start(weight), pitches, lanes * place.row_bytes)

    def _bias(self, kernel: nest.KernelOp, at: int, form: SumForm, n: int) -> Rows | None:
        """The rows that sums start from: of kernels before the sum."""
        if kernel.init is None:
            return None
        init = [k for k in self.kernels[:at] if k.result is kernel.init]
        others = forms(init[0])[1:] if init else []
        if not init or len(others) != 1 or not isinstance(init[0].statement.data.value, Access):
            raise unsupported(kernel, "sums that start from a tensor of columns", "others")
        value = self.outside[init[0].operands_by_name[others[0].name]]
        constant = self.program.constant(value)
        if constant is None or others[0].dims - set(form.columns):
            raise unsupported(kernel, "a constant bias of columns", "another")
        return self.program.table.constant(
            f"{self.group.sym_name.data}.bias",
            columns_of(others[0], constant, form.columns, self.extents, self.program.table.lanes),
            n,
        )

    def _epilogue(self, kernels: list[nest.KernelOp], sums: Term, n: int, form: SumForm) -> Epilogue | None:
        """What follows sums, the first of `kernels`; None where they leave as they are."""
        slots = {**form.rows} | ({"n": form.columns[-1]} if form.columns else {})
        slots |= {"batch": form.batch[-1]} if form.batch else {}
        leaves = Leaves(self.program, Scene(self.outside, self.extents, slots))
        builder = leaves.builder(form.width(self.extents))
        builder.terms[kernels[0].result] = sums
        term = sums
        for kernel in kernels[1:]:
            term = builder.rows(builder.take(kernel))
        self.program.narrow(self.result, term)
        if not builder.operations and self.program.dtype(self.result).itemsize == 4:
            return None
        made = leaves.epilogue(builder, self.group.sym_name.data, (), n)  # its constants lie before the result
        store = self.program.store(self.result, term, lambda place: output_rows(form, place, self.extents))
        return replace(made, stores=(store,))

    def _bound(self, kernel: nest.KernelOp, form: SumForm, weight: SSAValue, at: int) -> Ints:
        """What no sum exceeds in magnitude: the weights' and bias' magnitudes, or the types' alone."""
        largest = self._points(form.weight.dims - set(form.columns) - set(form.batch)) * 128 * 128
        constant = self.program.constant(weight)
        if constant is not None:
            axes = tuple(i for i, axis in enumerate(form.weight.axes) if not set(axis.names) & set(form.columns))
            largest = int(np.abs(constant.astype(np.int64)).sum(axis=axes).max()) * 128
        if kernel.init is not None:
            init = next(k for k in self.kernels[:at] if k.result is kernel.init)
            value = self.program.constant(self.outside[init.operands_by_name[forms(init)[1].name]])
            largest += int(np.abs(np.asarray(value, np.int64)).max()) if value is not None else 0
        return np.array([largest], np.int64)
