"""The pass `graph-unfold`: convolutions of few channels on windows whose elements lie in channels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.element import Array
from ...costs.fusion.of_machine import lanes_of, platform_of
from ...dialects import graph
from ...dialects.acg import machine_of
from ...dialects.graph import shapes
from ...dialects.types import element_bytes, element_of, element_type_name, shape_of
from ...interpreters.constants import Constants
from ...machine import Machine
from ...machine.memory_chain import multiply_accumulates
from ..functions import erase_unread_weights
from .identities import renamed

SHARE = 1 / 2
"""Part of the buffer: one sample of an unfolded map takes at most so much, and so do the maps of a layer that runs as a
whole."""

WORTH = 4
"""Cycles of products that each cycle of copies must save, where nothing is said."""


class Lanes(NamedTuple):
    """Products that a machine sums up in a cycle, results that it makes of them, and elements that it copies."""

    summed: int
    made: int
    copied: int


@dataclass(frozen=True)
class GraphUnfoldPass(ModulePass):
    """Put taps of convolutions among their channels, where these leave lanes of the products idle.

    An array that sums 16 channels at a time is used for 3 by the first layer of most networks.  With the elements of
    each window's rows, of as many rows as windows step over, or of whole windows, as channels (`graph.unfold`) it has
    fewer taps and fuller lanes; the weights are the same in another order, of integers perhaps with zeros after the
    last rows.  The way that saves most cycles is taken, where a cycle of copies counts as `worth` of products.  Layers
    stay for which no way saves any, or would fill half of the buffer with one sample.  Where the layer's own maps take
    more than that, both run in rows, for which there is room, and the layer's taps are not expected to fill lanes:
    instructions end where rings of rows do.

        %y = graph.conv %x, %w ... (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>

    becomes

        %u = graph.unfold %x kernel [1, 3] ... (tensor<1x3x8x8xf32>) -> tensor<1x9x8x6xf32>
        %y = graph.conv %u, %v ... (tensor<1x9x8x6xf32>, tensor<4x9x3x1xf32>) -> tensor<1x4x6x6xf32>

    Sums of integers are the same to the bit; floats are added in another order.
    """

    name = "graph-unfold"
    worth: int = WORTH

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = Constants.of(op)
        for found in list(unfoldable(op, machine_of(op), constants, self.worth)):
            _unfold(found, constants)
        constants.tidy()


class Axis(NamedTuple):
    """Windows along one axis: `taps` elements, `dilation` apart, at every `stride`, in a map with borders of `pads`."""

    taps: int
    stride: int
    pads: tuple[int, int]
    dilation: int


PLAIN = Axis(1, 1, (0, 0), 1)


class Unfolding(NamedTuple):
    """A convolution, the windows along each axis that become channels, those that are left, and the cycles of products
    that this saves beyond what its copies must be worth.
    """

    op: graph.ConvOp
    taken: tuple[Axis, ...]
    left: tuple[Axis, ...]
    saved_cycles: float

    @property
    def channels(self) -> int:
        """Channels of the unfolded map for each of the map."""
        return prod(axis.taps for axis in self.taken)


def unfoldable(module: ModuleOp, machine: Machine, constants: Constants, worth: int = WORTH) -> Iterator[Unfolding]:
    """Convolutions that are worth it, where a cycle of copies counts as `worth` of products."""
    room_bytes = platform_of(machine).buffers.global_bytes * SHARE
    for op in module.walk():
        if not isinstance(op, graph.ConvOp) or op.groups.value.data > 1 or not constants.is_known(op.w):
            continue
        lanes = _lanes(machine, op)
        if lanes is None or len(shape_of(op.w)) != 4:
            continue
        in_rows = _own_bytes(op) > room_bytes
        ways = [way for way in _ways(op) if way.channels > 1 and (in_rows or _map_bytes(way) <= room_bytes)]
        found = [way._replace(saved_cycles=_saved(way, lanes, in_rows, worth)) for way in ways]
        best = max(found, key=lambda each: each.saved_cycles, default=None)
        if best is not None and best.saved_cycles > 0:
            yield best


def _ways(op: graph.ConvOp) -> Iterator[Unfolding]:
    """Windows of rows, of columns, whole ones, and of as many rows as windows step over."""
    strides, pads, dilations = (each.get_values() for each in (op.strides, op.pads, op.dilations))
    whole = [
        Axis(taps, stride, (pads[i], pads[i + 2]), dilation)
        for i, (taps, stride, dilation) in enumerate(zip(shape_of(op.w)[2:], strides, dilations, strict=True))
    ]
    yield Unfolding(op, (PLAIN, whole[1]), (whole[0], PLAIN), 0.0)
    yield Unfolding(op, (whole[0], PLAIN), (PLAIN, whole[1]), 0.0)
    yield Unfolding(op, (whole[0], whole[1]), (PLAIN, PLAIN), 0.0)
    steps = _steps_of_rows(whole[0], shape_of(op.x)[2], shape_of(op.result)[2])
    is_exact = whole[0].taps % whole[0].stride == 0 or element_of(op.x) != f32
    if steps is not None and is_exact:  # zero times infinity is no zero
        yield Unfolding(op, (steps[0], whole[1]), (steps[1], PLAIN), 0.0)


def _steps_of_rows(axis: Axis, extent: int, made: int) -> tuple[Axis, Axis] | None:
    """Windows as sequences of those of as many elements as they step over, and these; the last may end with zeros."""
    parts = -(-axis.taps // axis.stride)
    border = axis.stride * (made + parts - 1) - extent - axis.pads[0]
    if axis.stride == 1 or axis.dilation > 1 or parts == 1 or border < 0:
        return None
    return Axis(axis.stride, axis.stride, (axis.pads[0], border), 1), Axis(parts, 1, (0, 0), 1)


def _lanes(machine: Machine, op: graph.ConvOp) -> Lanes | None:
    """The lanes of the products and of the copies that the machine has for a layer's types."""
    given, weights = (element_type_name(element_of(value)) for value in (op.x, op.w))
    found = (c for c in multiply_accumulates(machine) if any(types[1:] == (given, weights) for types in c.types))
    product = next(found, None)
    copies = [
        prod(dim.lanes for dim in c.dims)
        for node in machine.computes
        for c in node.capabilities
        if (given, given) in c.types and any("identity" in names for _, names in c.functions)
    ]
    if product is None or not copies:
        return None
    summed, made = lanes_of(product)
    node = machine.compute_by_name[product.node]
    return Lanes(summed, made * node.instances_x * node.instances_y, max(copies))


def _saved(way: Unfolding, lanes: Lanes, in_rows: bool, worth: int) -> float:
    """Cycles that unfolding saves: of products, beyond what its copies must be worth."""
    op = way.op
    _, channels, *kernel = shape_of(op.w)
    along = [channels] if in_rows else [extent for extent in (channels, *kernel) if extent > 1]
    before = min((-(-extent // lanes.summed) * channels * prod(kernel) // extent for extent in along), default=1)
    after = -(-channels * way.channels // lanes.summed) * prod(axis.taps for axis in way.left)
    results = prod(shape_of(op.result)) / lanes.made
    copies = shape_of(op.x)[0] * _map_bytes(way) / element_bytes(op.x) / lanes.copied
    return (before - after) * results - worth * copies


def _own_bytes(op: graph.ConvOp) -> int:
    """One sample of the maps that a layer reads and makes; sums become elements of the type that is read."""
    return sum(prod(shape_of(value)[1:]) for value in (op.x, op.result)) * element_bytes(op.x)


def _map_bytes(way: Unfolding) -> int:
    """One sample of the unfolded map."""
    _, *sample = shapes.unfold(shape_of(way.op.x), *Windows.of(way.taken))
    return prod(sample) * element_bytes(way.op.x)


def _unfold(way: Unfolding, constants: Constants) -> None:
    """Put a layer on the unfolded map in place of a convolution."""
    op = way.op
    weights, value = constants.array(op.w), op.pad_value.value.data
    assert weights is not None
    made = graph.UnfoldOp(op.x, **Windows.of(way.taken)._asdict(), pad_value=value)
    name = graph.name_of(op)
    graph.set_name(made, None if name is None else f"{name}.unfolded")
    stored = constants.weight(f"{op.w.name_hint or 'weight'}.unfolded", _unfolded(weights, way))
    _, strides, pads, dilations = Windows.of(way.left)
    product = graph.ConvOp(
        made.result, stored.result, op.bias, strides=strides, pads=pads, dilations=dilations, pad_value=value
    )
    product.result.name_hint = op.result.name_hint
    old = op.w
    Rewriter.insert_op([made, stored], InsertPoint.before(op))
    Rewriter.replace_op(op, renamed(product, op))
    erase_unread_weights([old])


class Windows(NamedTuple):
    """Where windows are, as layers have it."""

    kernel: list[int]
    strides: list[int]
    pads: list[int]
    dilations: list[int]

    @classmethod
    def of(cls, axes: Sequence[Axis]) -> Windows:
        """Those of some axes."""
        pads = [axis.pads[side] for side in (0, 1) for axis in axes]
        return cls([axis.taps for axis in axes], [axis.stride for axis in axes], pads, [axis.dilation for axis in axes])


def _unfolded(weights: Array, way: Unfolding) -> Array:
    """Weights with taps among the channels: those of each window that is left, one after another."""
    made, channels, *kernel = weights.shape
    rows, columns = ((left.taps, taken.taps) for left, taken in zip(way.left, way.taken, strict=True))
    missing = [prod(parts) - extent for parts, extent in zip((rows, columns), kernel, strict=True)]
    padded = np.pad(weights, [(0, 0), (0, 0), *((0, number) for number in missing)])
    split = padded.reshape(made, channels, *rows, *columns).transpose(0, 3, 5, 1, 2, 4)
    return split.reshape(made, channels * way.channels, rows[0], columns[0])
