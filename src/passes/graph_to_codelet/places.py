"""Where tensors of a program of stages lie off chip: maps by blocks of channels, weights by blocks of both, vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

import numpy as np
from xdsl.dialects.builtin import StringAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ...algebra.blocked import BlockedLayout
from ...algebra.element import Array, Ints
from ...dialects import graph
from ...dialects.codelet import RoleAttr, TensorOp
from ...dialects.codelet_attributes import SurrogateType
from ...dialects.codelet_rules import surrogate
from ...dialects.mnemonic import LayoutAttr
from ...dialects.types import Role, element_of, shape_of, si8, tensor_type
from ...errors import TilewrightError
from ...machine.stage_isa import StageIsa
from ...resources import Resources
from ..names import take_name
from ..nest_to_codelet.group_codelets import identifier
from .layer import WORD_BYTES
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


@dataclass
class Places:
    """The tensors of a program off chip; `names` are taken, `seen` those of inputs and outputs."""

    isa: StageIsa
    resources: Resources
    ops: list[TensorOp] = field(default_factory=list[TensorOp])
    names: set[str] = field(default_factory=set[str])
    seen: set[str] = field(default_factory=set[str])
    planes: dict[SSAValue, Plane] = field(default_factory=dict[SSAValue, Plane])
    packings: dict[SSAValue, Packing] = field(default_factory=dict[SSAValue, Packing])

    def __post_init__(self) -> None:
        self.memory = self.isa.machine.offchip[0]

    def name(self, wanted: str) -> str:
        """A name that no tensor has yet."""
        return take_name(wanted, self.names)

    def plane(self, value: SSAValue, inside: tuple[SSAValue, int, int] | None = None) -> Plane:
        """The place of a map: one of its own, or some blocks of another's: its first and how many."""
        if value not in self.planes:
            plane = self.another(value) if inside is None else self.planes[inside[0]].part(inside[1], inside[2])
            self.planes[value] = plane
        return self.planes[value]

    def another(self, value: SSAValue) -> Plane:
        """A place for a map beside the one that it has."""
        packing, owner = self.packings.get(value), value.owner
        plane = packing.plane(shape_of(value)) if packing is not None else plane_of(value, self.isa.lanes)
        name = (graph.name_of(owner) if isinstance(owner, graph.LayerOp) else None) or "map"
        words = (WORD_BYTES,) if element_of(value) == i32 else ()
        shape = *words, *plane.sizes, self.isa.lanes
        return replace(plane, tensor=self._tensor(self.name(name), Role.TEMP, shape, si8))

    def _tensor(self, name: str, role: Role, shape: Sequence[int], element: Attribute) -> SSAValue:
        made = TensorOp(name, role, SurrogateType.get(shape, element, self.memory))
        made.result.name_hint = identifier(name)
        self.ops.append(made)
        return made.result

    def is_seen(self, plane: Plane) -> bool:
        """Whether the program's user sees the tensor already, or it is part of another."""
        owner = plane.tensor.owner if plane.tensor is not None else None
        assert isinstance(owner, TensorOp)
        return owner.role.data != Role.TEMP or surrogate(owner.result).sizes[-5:-1] != plane.sizes

    def note(self, value: SSAValue, name: str, role: Role, plane: Plane) -> None:
        """A map that the program's user sees, as a tensor of the network."""
        owner = plane.tensor.owner if plane.tensor is not None else None
        assert isinstance(owner, TensorOp)
        owner.tensor_name, owner.role = StringAttr(take_name(name, self.seen)), RoleAttr(role)
        owner.result.name_hint = identifier(name)
        owner.attributes["tensor"] = tensor_type(value)
        packing, shape = self.packings.get(value), shape_of(value)
        plain = layout_of(shape, self.isa.lanes, element_of(value) == i32)
        owner.attributes["layout"] = LayoutAttr(packing.layout(shape) if packing is not None else plain)

    def constant(self, name: str, array: Array) -> SSAValue:
        """A tensor with these numbers."""
        found = self.resources.add(self.name(name), array)
        return self._tensor(found, Role.WEIGHT, array.shape, si8 if array.dtype == np.int8 else i32)

    def weights(self, name: str, weights: Ints, window: Window) -> SSAValue:
        """Blocks of [out, in, taps] weights."""
        lanes, depth = self.isa.lanes, self.isa.depth
        if weights.min(initial=0) < -128 or weights.max(initial=0) > 127:
            raise TilewrightError("unsupported", name, "weights of 8 bits", f"{abs(weights).max()}")
        out, inner = -weights.shape[0] % lanes, -weights.shape[1] % depth
        full = np.pad(weights, ((0, out), (0, inner), (0, 0))).astype(np.int8)
        cut = full.reshape(-1, lanes, full.shape[1] // depth, depth, window.rows, window.columns)
        return self.constant(f"{name}.blocks", np.ascontiguousarray(cut.transpose(0, 2, 4, 5, 1, 3)))

    def diagonals(self, name: str, weights: Ints, window: Window = Window()) -> tuple[SSAValue, bool]:
        """Blocks for [sources, channels or 1, taps] of each channel alone, and whether all share them."""
        lanes = self.isa.lanes
        shared = weights.shape[1] == 1
        wide = np.broadcast_to(weights, (weights.shape[0], lanes, weights.shape[2])) if shared else weights
        full = np.pad(wide, ((0, 0), (0, -wide.shape[1] % lanes), (0, 0)))
        sources, count, taps = full.shape
        cut = full.reshape(sources, count // lanes, lanes, taps)
        blocks = np.zeros((count // lanes, sources, taps, lanes, lanes), np.int8)
        for lane in range(lanes):
            blocks[:, :, :, lane, lane] = cut[:, :, lane].transpose(1, 0, 2)
        shape = *blocks.shape[:2], window.rows, window.columns, lanes, lanes
        return self.constant(f"{name}.diagonals", blocks.reshape(shape)), shared

    def vector(self, name: str, values: Ints, channels: int) -> SSAValue:
        """A number for each channel, by blocks of sums."""
        wide = np.broadcast_to(values, (channels,)) if values.size == 1 else values
        full = np.pad(wide, (0, -channels % self.isa.lanes)).astype(np.int32)
        return self.constant(name, full.reshape(-1, self.isa.lanes))


def plane_of(value: SSAValue, lanes: int) -> Plane:
    """A map without a tensor; rows of a matrix are samples of a single element."""
    shape = shape_of(value)
    if len(shape) not in (2, 4):
        lever = "give a network of layers in place of a kernel, or its extents of 1, too"
        name = graph.name_of(value.owner) if isinstance(value.owner, Operation) else ""
        subject = f"the result of {name}" if name else "an input or weight"
        raise TilewrightError("unsupported", subject, "images of channels, or a matrix", f"{list(shape)}", lever)
    height, width = shape[2:] or (1, 1)
    return Plane(None, -(-shape[1] // lanes), height, width, shape[0], flat=height * width == 1)


def layout_of(shape: tuple[int, ...], lanes: int, planes: bool = False) -> BlockedLayout:
    """How a map lies (`Plane.sizes`): lanes innermost; with `planes` its numbers' bytes lie apart."""
    rest = len(shape) - 2
    pads = ((0, 0), (0, -shape[1] % lanes), *[(0, 0)] * rest)
    outer = (1, 0) if prod(shape[2:]) == 1 else (0, 1)
    return BlockedLayout(pads, (0, lanes, *[0] * rest), (*outer, *range(3, 3 + rest), 2), planes=planes)


def digits_of(weights: Ints) -> Ints:
    """Numbers as digits of 8 bits with a sign, the highest first: [digits, ...]."""
    found: list[Ints] = []
    rest = weights
    while not found or rest.any():
        low = ((rest + 128) & 255) - 128
        found.append(low)
        rest = (rest - low) >> 8
    return np.stack(found[::-1])
