"""Where the tensors of a program of loops lie in DRAM: rows of lanes, blocks of weights, constants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...algebra.allocation import BumpAllocator
from ...algebra.blocked import BlockedLayout
from ...algebra.element import Ints
from ...dialects.mnemonic import TensorOp
from ...dialects.types import Role, element_type, tensor
from ...errors import TilewrightError
from ...resources import Resources
from ..names import take_name
from .forms import Form, SumForm
from .places import Rows

Pads = tuple[tuple[int, int], ...]
ALIGN = 64


@dataclass(frozen=True)
class Stored:
    """A tensor as rows of lanes: bytes per step of each axis (of the axis over lanes: per row), and the first row."""

    address: int
    pitches: tuple[int, ...]
    lane: int
    row_bytes: int
    lanes: int

    def start(self, form: Form) -> int:
        """The row that an access begins at."""
        steps = [axis.const for axis in form.axes]
        if steps[self.lane] % self.lanes:
            expected = f"an index of axis {self.lane} that begins at a multiple of {self.lanes} lanes"
            raise TilewrightError("unsupported", form.name, expected, str(form))
        steps[self.lane] //= self.lanes
        return self.address + sum(n * pitch for n, pitch in zip(steps, self.pitches, strict=True))

    def pitch(self, form: Form, dim: str | None) -> int:
        """Bytes per step of the axis that a dim moves."""
        for axis, pitch in zip(form.axes, self.pitches, strict=True):
            if dim in axis.names:
                return pitch
        return 0


class Told(NamedTuple):
    """What is told of a tensor, wherever it lies."""

    name: str
    role: Role
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclass
class Table:
    """The tensors of a program, placed one after another, and the bytes of its constants."""

    memory: str
    lanes: int
    weights: Resources
    bump: BumpAllocator = field(default_factory=lambda: BumpAllocator(ALIGN))
    ops: list[TensorOp] = field(default_factory=list[TensorOp])
    names: set[str] = field(default_factory=set[str])

    def name(self, wanted: str) -> str:
        """A name that no tensor has."""
        return take_name(wanted, self.names, "_")

    def room(self, told: Told, layout: BlockedLayout) -> int:
        """The address of room for a tensor."""
        return self.bump.take(layout.size_bytes(told.shape, told.dtype.itemsize))

    def place(self, told: Told, layout: BlockedLayout, address: int) -> None:
        """Declares a tensor."""
        kind = tensor(told.shape, element_type(_ELEMENTS[told.dtype.name]))
        self.ops.append(TensorOp(told.name, told.role, kind, self.memory, address, layout))

    def laid(self, told: Told, layout: BlockedLayout) -> int:
        """Declares a tensor that lies by a layout; its address."""
        address = self.room(told, layout)
        self.place(told, layout, address)
        return address

    def rows(self, told: Told, pads: Pads, fill: int | None, lanes: int = 0) -> Stored:
        """A tensor of activations: axes in order, channels (axis 1 of 4, else the last) innermost in rows of lanes.

        `lanes` are those of a row, if not all.
        """
        layout = row_layout(told.shape, pads, lanes or self.lanes, fill or 0)
        address = self.room(told, layout)
        if fill is not None and told.role in (Role.TEMP, Role.OUTPUT):
            self._border(told, layout, fill, address)
        self.place(told, layout, address)
        return stored(told.shape, layout, lane_axis(told.shape), told.dtype.itemsize, address)

    def turned(self, told: Told, lane: int) -> Stored:
        """A tensor in between whose rows of lanes run along an axis, the others outside of it in order.

        Where there are no whole blocks of rows next to them, zeros fill the last up.
        """
        shape = told.shape
        order = (*(i for i in range(len(shape)) if i != lane), lane)
        rows = order[-2] if len(order) > 1 else lane
        pads = tuple((0, -n % self.lanes if i in (lane, rows) else 0) for i, n in enumerate(shape))
        cut = tuple(self.lanes if i == lane else 0 for i in range(len(shape)))
        axes = _cut_axes(cut)
        layout = BlockedLayout(pads, cut, (*(axes[i][0] for i in order), axes[lane][1]))
        address = self.room(told, layout)
        if any(pad for _, pad in pads):
            self._border(told, layout, 0, address)
        self.place(told, layout, address)
        steps = dict(zip(order, layout.strides(shape, told.dtype.itemsize), strict=False))
        pitches = tuple(steps[i] for i in range(len(shape)))
        return Stored(address, pitches, lane, self.lanes * told.dtype.itemsize, self.lanes)

    def _border(self, told: Told, layout: BlockedLayout, fill: int, address: int) -> None:
        """Bytes that are there from the beginning: what reads past the ends of a tensor find."""
        extents = layout.extents(told.shape)
        around = Told(self.name(f"{told.name}.border"), Role.WEIGHT, told.dtype, extents)
        self.weights[around.name] = np.full(extents, fill, told.dtype)
        plain = BlockedLayout(((0, 0),) * len(extents), (0,) * len(extents), tuple(range(len(extents))))
        self.place(around, plain, address)

    def constant(self, name: str, values: Ints, blocks: int) -> Rows:
        """A word for each column, in rows of lanes."""
        name = self.name(name)
        padded = np.zeros(blocks * self.lanes, np.int32)
        padded[: len(values)] = values
        self.weights[name] = padded
        told = Told(name, Role.WEIGHT, padded.dtype, padded.shape)
        address = self.laid(told, BlockedLayout(((0, 0),), (0,), (0,)))
        return Rows(address, {"n": 4 * self.lanes}, 4 * self.lanes)

    def filled(self, name: str, values: np.ndarray[Any, np.dtype[np.int32]]) -> int:
        """The address of constants that lie as they are, 32 bits each."""
        name = self.name(name)
        self.weights[name] = values
        plain = BlockedLayout(((0, 0),) * values.ndim, (0,) * values.ndim, tuple(range(values.ndim)))
        return self.laid(Told(name, Role.WEIGHT, np.dtype(np.int32), values.shape), plain)

    def blocks(self, told: Told, form: SumForm) -> Rows:
        """Weights in blocks of lanes by lanes, a column's lanes next to each other; a few columns in narrow blocks."""
        weight, lanes, shape = form.weight, self.lanes, told.shape
        k, n = weight.axis_of(form.summed), form.column_axis(weight)
        columns = min(shape[n], lanes) if len(form.columns) <= 1 and not form.taps else lanes
        pads = tuple((0, -size % lanes if i == k else -size % columns if i == n else 0) for i, size in enumerate(shape))
        cut = tuple(lanes if i == k else columns if i == n else 0 for i in range(len(shape)))
        axes = _cut_axes(cut)
        others = [weight.axis_of(dim) for dim in form.columns[:-1]]
        taps = [weight.axis_of(form.taps[slot]) for slot in ("y", "x") if slot in form.taps]
        rest = [i for i in range(len(shape)) if i not in (k, n, *others, *taps)]
        first = [axes[i][0] for i in (*rest, *taps, k, *others, n)]
        layout = BlockedLayout(pads, cut, (*first, axes[n][1], axes[k][1]))
        address = self.laid(told, layout)
        steps = dict(zip((*rest, *taps, k, *others, n), layout.strides(shape, told.dtype.itemsize), strict=False))
        pitches = {"n": steps[n], "k": steps[k]}
        pitches |= {f"t{slot}": steps[weight.axis_of(tap)] for slot, tap in form.taps.items()}
        batch = [steps[weight.axis_of(dim)] for dim in form.batch if weight.axis_of(dim) >= 0]
        return Rows(address, pitches | ({"batch": batch[-1]} if batch else {}), columns * lanes)


_ELEMENTS = {"int8": "i8", "int16": "i16", "int32": "i32", "uint8": "u8"}


def lane_axis(shape: Sequence[int]) -> int:
    """The axis that lies over lanes: channels of images, the last of others."""
    return 1 if len(shape) == 4 else len(shape) - 1


def axis_order(shape: Sequence[int]) -> tuple[int, ...]:
    """Axes from the outermost in memory: images row by row; of three, the second outside of the first."""
    return {4: (0, 2, 3, 1), 3: (1, 0, 2)}.get(len(shape), tuple(range(len(shape))))


def row_layout(shape: tuple[int, ...], pads: Pads, lanes: int, fill: int) -> BlockedLayout:
    """The layout of a tensor of activations."""
    lane = lane_axis(shape)
    padded = tuple((0, -shape[i] % lanes) if i == lane else pad for i, pad in enumerate(pads))
    cut = tuple(lanes if i == lane else 0 for i in range(len(shape)))
    axes = _cut_axes(cut)
    order = [axes[i][0] for i in axis_order(shape)]
    return BlockedLayout(padded, cut, (*order, axes[lane][1]), fill)


def stored(shape: tuple[int, ...], layout: BlockedLayout, lane: int, itemsize: int, address: int) -> Stored:
    """The pitches of a layout that `row_layout` made."""
    steps = dict(zip(axis_order(shape), layout.strides(shape, itemsize), strict=False))
    pitches = tuple(steps[i] for i in range(len(shape)))
    first = address + sum(pads[0] * pitches[i] for i, pads in enumerate(layout.pads))
    return Stored(first, pitches, lane, layout.blocks[lane] * itemsize, layout.blocks[lane])


def _cut_axes(cut: Sequence[int]) -> list[tuple[int, int]]:
    """For each axis where it is after cutting, and the axis inside its blocks."""
    found: list[tuple[int, int]] = []
    at = 0
    for block in cut:
        found.append((at, at + 1 if block else -1))
        at += 2 if block else 1
    return found


def batch_pitch(name: str, pitches: Sequence[int], extents: Sequence[int]) -> int:
    """Bytes per step of dims that are walked as one; 0 without any."""
    for outer, inner, n in zip(pitches, pitches[1:], extents[1:], strict=False):
        if outer != inner * n:
            raise TilewrightError("unsupported", name, "dims of a batch that lie one after another", f"{list(pitches)}")
    return pitches[-1] if pitches else 0


def input_rows(form: SumForm, place: Stored, extents: Mapping[str, int]) -> Rows:
    """The input of a sum."""
    given = form.input
    if place.lane != given.axis_of(form.summed):
        raise TilewrightError("unsupported", given.name, f"sums over axis {place.lane}, which is in lanes", form.summed)
    pitches = {"k": place.pitches[place.lane]}
    for slot in ("y", "x"):
        dim = form.rows.get(slot, form.taps.get(slot))
        pitches[slot] = place.pitch(given, dim) if dim is not None else 0
    batch = [place.pitch(given, dim) for dim in form.batch]
    pitches["batch"] = batch_pitch(given.name, batch, [extents[dim] for dim in form.batch])
    return Rows(place.start(given), pitches, place.row_bytes)


def output_rows(form: SumForm, place: Stored, extents: Mapping[str, int]) -> Rows:
    """The result of a sum."""
    output = form.output
    if place.lane != form.column_axis(output):
        raise TilewrightError("unsupported", output.name, f"columns over axis {place.lane}", f"{form.columns}")
    pitches = {"n": place.pitches[place.lane]}
    columns = [*(place.pitch(output, dim) for dim in form.columns[:-1]), pitches["n"]]
    counts = [*(extents[dim] for dim in form.columns[:-1]), -(-form.width(extents) // place.lanes)]
    batch_pitch(output.name, columns, counts)
    pitches |= {slot: place.pitch(output, dim) for slot, dim in form.rows.items()}
    batch = [place.pitch(output, dim) for dim in form.batch]
    pitches["batch"] = batch_pitch(output.name, batch, [extents[dim] for dim in form.batch])
    return Rows(place.start(output), pitches, place.row_bytes)
