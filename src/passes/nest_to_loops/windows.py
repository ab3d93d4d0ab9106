"""Pools and depthwise convolutions: windows of rows that the vector engine folds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from ...algebra.blocked import BlockedLayout
from ...algebra.expr import Access, factors_of, print_statement
from ...dialects import nest
from ...dialects.types import shape_of
from ...errors import TilewrightError
from ...search.tiles import Loop
from .forms import ROWS, Form, forms, unsupported
from .leaves import SLOTS, Leaves, Scene
from .places import Epilogue, Rows, VectorLayer, Window
from .rows import FOLDS
from .tensors import Stored
from .terms import Term, interval, whole

if TYPE_CHECKING:
    from .program import LoopsProgram


def is_depthwise(kernel: nest.KernelOp) -> bool:
    """Whether a sum of products has a channel of its own for each result: `Y[c, p] += X[c, p + r] * W[c, r]`."""
    output, *factors = forms(kernel)
    if len(factors_of(kernel.statement.data.value)) != 2:
        return False
    first, second = factors
    summed = (first.dims & second.dims) - output.dims
    taps = {dim for factor in factors for axis in factor.axes if len(axis.names) > 1 for dim in axis.names}
    return bool(summed) and summed <= taps and bool(first.dims & second.dims & output.dims)


def row_slots(program: LoopsProgram, group: nest.GroupOp) -> dict[str, str]:
    """The dims of a group by what they are: over lanes, and rows of the result from the innermost on."""
    kernel = list(group.kernels)[-1]
    place = program.place(group.results[0])
    dims = [axis.names[0] if axis.names else "" for axis in forms(kernel)[0].axes]
    slots = {"n": dims[place.lane]} if dims[place.lane] else {}
    ordered = [dim for _, dim in sorted((place.pitches[i], d) for i, d in enumerate(dims) if i != place.lane and d)]
    if len(ordered) > len(SLOTS):
        raise unsupported(kernel, "at most three dims of rows", f"{len(ordered)}")
    return slots | dict(zip(SLOTS, ordered, strict=False))


def window_layer(program: LoopsProgram, group: nest.GroupOp) -> VectorLayer:
    """A group that begins with a window."""
    return _WindowBuilder(program, group).build()


class _WindowBuilder:
    """Reads a group whose first kernel folds a window."""

    def __init__(self, program: LoopsProgram, group: nest.GroupOp) -> None:
        self.program, self.group, self.extents = program, group, group.extents
        self.kernels = list(group.kernels)
        at = next((i for i, kernel in enumerate(self.kernels) if kernel.statement.data.reduce != "="), -1)
        if at < 0:
            raise unsupported(
                self.kernels[0], "elements at whole rows of lanes", print_statement(self.kernels[0].statement.data)
            )
        self.kernel, self.before, self.rest = self.kernels[at], self.kernels[:at], self.kernels[at + 1 :]
        self.output = forms(self.kernel)[0]
        self.products = is_depthwise(self.kernel)
        self.form, self.weight = self._factors() if self.products else (forms(self.kernel)[1], None)
        self.slots, self.alone = self._slots()
        self.scene = Scene.of(group, self.slots)

    def build(self) -> VectorLayer:
        """The layer; `TilewrightError` for what is none."""
        kernel, reduce = self.kernel, self.kernel.statement.data.reduce
        form, weight = self.form, self.weight
        if not self.products and (self.before or not isinstance(kernel.statement.data.value, Access)):
            raise unsupported(kernel, "elements as they are, or products of two tensors", "another value")
        if reduce not in FOLDS:
            raise unsupported(kernel, "maxima, minima and sums", f"`{reduce}`")
        value = self.scene.outside[kernel.operands_by_name[form.name]]
        loops = {slot: self._taps(form, slot) for slot in ROWS}
        width = 8 * self.program.dtype(value).itemsize
        taps = None if weight is None else self._weights(weight, form, loops)
        rows = self._input(form, self.program.place(value))
        window = Window(loops["y"], loops["x"], rows, width, FOLDS[reduce], taps)
        epilogue = self._epilogue(self._sums(width, loops, reduce, weight is not None))
        n = -(-self.extents[self.slots["n"]] // self.program.table.lanes) if "n" in self.slots else 1
        extents = {s: self.extents[self.slots[s]] if s in self.slots else 1 for s in ("batch", "y", "x")}
        return VectorLayer(self.group.sym_name.data, extents | {"n": n}, epilogue, window)

    def _factors(self) -> tuple[Form, Form]:
        """The input and the weights of a depthwise convolution."""
        first, second = forms(self.kernel)[1:]
        return (first, second) if any(len(axis.names) > 1 for axis in first.axes) else (second, first)

    def _sums(self, width: int, loops: Mapping[str, Loop], reduce: str, products: bool) -> Term:
        """What the window gives."""
        points = loops["y"].taps * loops["x"].taps
        low, high = whole(width)
        if products:
            low, high = interval("mul", Term("", low, high, "rows"), Term("", *whole(8), "rows"))
        if reduce == "+=":
            low, high = low * points, high * points
        if max(-int(low.min()), int(high.max())) >= 1 << 31:
            low, high = whole(32)
        return Term("sum", low, high, "rows")

    def _epilogue(self, sums: Term) -> Epilogue:
        """What follows the window, from a bias before it on."""
        program = self.program
        leaves = Leaves(program, self.scene)
        builder = leaves.builder(self.extents[self.slots["n"]] if "n" in self.slots else 1)
        builder.terms[self.kernel.result] = sums
        for kernel in self.before:
            builder.terms[self.kernel.result] = builder.add(builder.take(kernel), sums)
        term = builder.terms[self.kernel.result]
        for kernel in self.rest:
            term = builder.take(kernel)
        rows = partial(leaves.rows, self.kernel, forms(self.kernels[-1])[0])
        store = program.store(self.group.results[0], builder.rows(term), rows)
        return leaves.epilogue(builder, self.group.sym_name.data, (store,), -(-builder.width // builder.lanes))

    def _slots(self) -> tuple[dict[str, str], dict[str, str]]:
        """The dims as in `row_slots`, rows with taps along y and x; and taps along axes that no row moves, by slot."""
        slots = row_slots(self.program, self.group)
        rows = [slots.pop(slot) for slot in SLOTS if slot in slots]
        moved = {dim for axis in self.form.axes if len(axis.names) > 1 for dim in axis.names if dim in rows}
        alone = [axis.names[0] for axis in self.form.axes if len(axis.names) == 1]
        alone = [dim for dim in alone if dim not in self.output.dims]
        for order in permutations(SLOTS, len(rows)):
            named = dict(zip(order, rows, strict=True))
            free = [slot for slot in ROWS if slot not in named]
            if moved <= {named.get(slot) for slot in ROWS} and len(alone) <= len(free):
                return slots | named, dict(zip(free, alone, strict=False))
        raise unsupported(self.kernel, "taps along two axes, and three axes of rows", f"{self.form}")

    def _taps(self, form: Form, slot: str) -> Loop:
        if (row := self.slots.get(slot)) is None:
            return Loop(1, 1, self.extents[self.alone[slot]]) if slot in self.alone else Loop(1)
        axis = next(axis for axis in form.axes if row in axis.names)
        taps = [dim for dim in axis.names if dim not in self.output.dims]
        if len(taps) > 1 or (taps and axis.coefficient(taps[0]) != 1):
            raise unsupported(self.kernel, "taps next to each other", f"{axis}")
        return Loop(self.extents[row], axis.coefficient(row), self.extents[taps[0]] if taps else 1)

    def _input(self, form: Form, place: Stored) -> Rows:
        lane = self.slots.get("n")
        if lane and form.axis_of(lane) != place.lane:
            found = f"`{lane}` along axis {form.axis_of(lane)}"
            raise TilewrightError("unsupported", form.name, f"lanes along axis {place.lane}, as they lie", found)
        pitches = {slot: place.pitch(form, dim) for slot, dim in self.slots.items()}
        pitches["n"] = place.pitches[place.lane]
        pitches |= {slot: place.pitch(form, dim) for slot, dim in self.alone.items()}
        return Rows(place.start(form), pitches, place.row_bytes)

    def _weights(self, weight: Form, form: Form, loops: Mapping[str, Loop]) -> Rows:
        """A row of constants for each tap: taps outermost, then blocks of channels."""
        program, table = self.program, self.program.table
        value: SSAValue = self.scene.outside[self.kernel.operands_by_name[weight.name]]
        shape = shape_of(value)
        if value in program.places or isinstance(value.owner, nest.GroupOp) or "n" not in self.slots:
            raise unsupported(self.kernel, "constants or inputs as weights", "what a layer makes")
        lane = weight.axis_of(self.slots["n"])
        taps: dict[str, int] = {}
        for slot in ROWS:
            for axis in form.axes:
                if self.slots.get(slot) in axis.names:
                    taps |= {slot: weight.axis_of(dim) for dim in axis.names if dim not in self.output.dims}
        if lane < 0 or -1 in taps.values():
            raise unsupported(self.kernel, "weights by channel and tap", f"{weight}")
        pads = tuple((0, -size % table.lanes if i == lane else 0) for i, size in enumerate(shape))
        others = [i for i in range(len(shape)) if i not in (lane, *taps.values())]
        order = (*others, *(taps[slot] for slot in ROWS if slot in taps), lane)
        layout = BlockedLayout(pads, (0,) * len(shape), order)
        address = table.laid(program.told(value), layout)
        channel = shape[lane] + pads[lane][1]
        tx = channel if loops["x"].taps > 1 else 0
        return Rows(address, {"n": table.lanes, "tx": tx, "ty": channel * loops["x"].taps}, table.lanes)
