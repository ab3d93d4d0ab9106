"""The pass `graph-unfold`: convolutions of few channels on windows whose elements lie in channels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...costs.fusion.of_machine import lanes_of, platform_of
from ...dialects import graph
from ...dialects.acg import machine_of
from ...dialects.types import element_bytes, element_of, element_type_name, shape_of
from ...interpreters.constants import Array, Constants
from ...machine import Machine
from ...machine.memory_chain import multiply_accumulates
from .identities import renamed

SHARE = 1 / 2
"""Part of the buffer that one sample of an unfolded map takes at most."""

WORTH = 4
"""Cycles of products that each cycle of copies must save."""


class Lanes(NamedTuple):
    """Products that a machine sums up in a cycle, results that it makes of them, and elements that it copies."""

    summed: int
    made: int
    copied: int


@dataclass(frozen=True)
class GraphUnfoldPass(ModulePass):
    """Put taps of convolutions among their channels, where these leave lanes of the products idle.

    An array that sums 16 channels at a time is used for 3 by the first layer of most networks.  With the elements of
    each window's rows, or of whole windows, as channels (`graph.unfold`) it has fewer taps and fuller lanes; the
    weights are the same in another order.  The way that saves most cycles is taken, where a cycle of copies counts as
    four of products.  Layers stay for which no way saves any, or would fill half of the buffer with one sample.

        %y = graph.conv %x, %w ... (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>

    becomes

        %u = graph.unfold %x kernel [1, 3] ... (tensor<1x3x8x8xf32>) -> tensor<1x9x8x6xf32>
        %y = graph.conv %u, %v ... (tensor<1x9x8x6xf32>, tensor<4x9x3x1xf32>) -> tensor<1x4x6x6xf32>

    Sums of integers are the same to the bit; floats are added in another order.
    """

    name = "graph-unfold"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = Constants.of(op)
        for found in list(unfoldable(op, machine_of(op), constants)):
            _unfold(found.op, found.taps, constants)
        constants.tidy()


class Unfolding(NamedTuple):
    """A convolution, how many taps of each axis become channels, and the cycles of products that this saves beyond what
    its copies must be worth.
    """

    op: graph.ConvOp
    taps: list[int]
    saved_cycles: float


def unfoldable(module: ModuleOp, machine: Machine, constants: Constants) -> Iterator[Unfolding]:
    """Convolutions that are worth it."""
    room_bytes = platform_of(machine).buffers.global_bytes * SHARE
    for op in module.walk():
        if not isinstance(op, graph.ConvOp) or op.groups.value.data > 1 or constants.array(op.w) is None:
            continue
        lanes, kernel = _lanes(machine, op), shape_of(op.w)[2:]
        if lanes is None or len(kernel) != 2:
            continue
        ways = [taps for taps in ([1, kernel[1]], [kernel[0], 1], list(kernel)) if prod(taps) > 1]
        fitting = [taps for taps in ways if _map_bytes(op, taps) <= room_bytes]
        found = [Unfolding(op, taps, _saved(op, taps, lanes)) for taps in fitting]
        best = max(found, key=lambda each: each.saved_cycles, default=None)
        if best is not None and best.saved_cycles > 0:
            yield best


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
    node = next(compute for compute in machine.computes if compute.name == product.node)
    return Lanes(summed, made * node.instances_x * node.instances_y, max(copies))


def _steps(op: graph.ConvOp, taps: list[int], lanes: Lanes) -> int:
    """Sums in sequence for one result, where so many taps are among the channels."""
    _, channels, *kernel = shape_of(op.w)
    return -(-channels * prod(taps) // lanes.summed) * prod(kernel) // prod(taps)


def _saved(op: graph.ConvOp, taps: list[int], lanes: Lanes) -> float:
    """Cycles that unfolding saves: of products, beyond what its copies must be worth."""
    _, channels, *kernel = shape_of(op.w)
    along = [extent for extent in (channels, *kernel) if extent > 1]
    before = min((-(-extent // lanes.summed) * channels * prod(kernel) // extent for extent in along), default=1)
    results = prod(shape_of(op.result)) / lanes.made
    copies = shape_of(op.x)[0] * _map_bytes(op, taps) / element_bytes(op.x) / lanes.copied
    return (before - _steps(op, taps, lanes)) * results - WORTH * copies


def _map_bytes(op: graph.ConvOp, taps: list[int]) -> int:
    """One sample of the unfolded map."""
    _, channels, *places = shape_of(op.x)
    made = [new if taken > 1 else old for taken, old, new in zip(taps, places, shape_of(op.result)[2:], strict=True)]
    return channels * prod(taps) * prod(made) * element_bytes(op.x)


def _unfold(op: graph.ConvOp, taps: list[int], constants: Constants) -> None:
    """Put a layer on the unfolded map in place of a convolution."""
    weights = constants.array(op.w)
    assert weights is not None

    def split(values: list[int], rest: int, *, taken: bool) -> list[int]:
        """What belongs to the axes whose taps become channels, or to the others; `rest` along all else."""
        return [value if (taps[i % 2] > 1) == taken else rest for i, value in enumerate(values)]

    strides, pads, dilations = (list(each.get_values()) for each in (op.strides, op.pads, op.dilations))
    value = op.pad_value.value.data
    made = graph.UnfoldOp(
        op.x,
        kernel=taps,
        strides=split(strides, 1, taken=True),
        pads=split(pads, 0, taken=True),
        dilations=split(dilations, 1, taken=True),
        pad_value=value,
    )
    name = graph.name_of(op)
    graph.set_name(made, None if name is None else f"{name}.unfolded")
    stored = constants.weight(f"{op.w.name_hint or 'weight'}.unfolded", _unfolded(weights, taps))
    product = graph.ConvOp(
        made.result,
        stored.result,
        op.bias,
        strides=split(strides, 1, taken=False),
        pads=split(pads, 0, taken=False),
        dilations=split(dilations, 1, taken=False),
        pad_value=value,
    )
    product.result.name_hint = op.result.name_hint
    old = op.w.owner
    Rewriter.insert_op([made, stored], InsertPoint.before(op))
    Rewriter.replace_op(op, renamed(product, op))
    if isinstance(old, graph.WeightOp) and not old.result.uses:
        Rewriter.erase_op(old)


def _unfolded(weights: Array, taps: list[int]) -> Array:
    """Weights with taps among the channels."""
    made, channels, rows, columns = weights.shape
    if taps[0] == 1:
        weights = weights.transpose(0, 1, 3, 2)
    return weights.reshape(made, channels * prod(taps), *(n // t for n, t in zip((rows, columns), taps, strict=True)))
