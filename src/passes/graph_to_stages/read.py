"""Layers of 8-bit integers as what a machine of stages does: which values are sums of which, and how they are shifted.

What the machine has no way to do is refused by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from ...dialects import graph
from ...dialects.types import element_of, shape_of, si8
from ...errors import TilewrightError
from ...resources import Resources, weight_array
from .works import Window

Numbers = NDArray[np.int64]
FARTHEST_SHIFT = 15
"""What all implementations of VTA shift by."""


@dataclass(frozen=True)
class Found:
    """A layer before its tensors have places.

    `weights` are [out, in, taps] for products; with `diagonal` [sources, channels or 1, taps].  `bias` and `shift` have
    an element for each channel of the result, or one.  Sums were taken `doubled` powers of two too small.
    """

    value: SSAValue
    name: str
    nodes: tuple[str, ...]
    sources: tuple[SSAValue, ...]
    window: Window
    weights: Numbers
    diagonal: bool = False
    maximum: bool = False
    bias: Numbers | None = None
    shift: Numbers | None = None
    low: int = -128
    high: int = 127
    doubled: int = 0


def refused(op: Operation | None, expected: str, found: str) -> TilewrightError:
    """An error about a layer."""
    name = graph.name_of(op) if op is not None else None
    kind = op.name if op is not None else "an input"
    return TilewrightError(
        "unsupported", f"layer {name or kind}", expected, found, "leave it out, and run it elsewhere"
    )


class Reader:
    """Finds the layers of a function."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources

    def constant(self, value: SSAValue, op: Operation) -> Numbers:
        """A weight's array."""
        array = weight_array(value.owner, self.resources) if isinstance(value.owner, graph.WeightOp) else None
        if array is None or array.dtype.kind not in "iu":
            raise refused(op, "weights that are constant integers", "others")
        return array.astype(np.int64)

    def layer(self, value: SSAValue) -> Found | None:
        """What makes an 8-bit value; None for concatenations and changes of shape, which move nothing."""
        op = value.owner
        assert isinstance(op, Operation)
        if element_of(value) != si8:
            raise refused(op, "results of signed 8 bits, which is what can be stored", f"{element_of(value)}")
        match op:
            case graph.RequantizeOp():
                return self.requantized(op)
            case graph.PoolOp() if op.kind.data == graph.PoolKind.MAX:
                return self.largest(op)
            case graph.UnaryOp() if op.kind.data.value == "relu":
                return self.bounded(op, op.x, 0, 127)
            case graph.ClipOp():
                low, high = (
                    bound.value.data if bound is not None else end for bound, end in ((op.min, -128), (op.max, 127))
                )
                return self.bounded(op, op.x, int(low), int(high))
            case graph.ConcatOp() | graph.ReshapeOp():
                return None
            case _:
                raise refused(op, "convolutions, products, sums, pools, relu, requantisation", op.name)

    def bounded(self, op: graph.LayerOp, x: SSAValue, low: int, high: int) -> Found:
        """An 8-bit value between bounds."""
        ones = np.ones((1, 1, 1), np.int64)
        return Found(op.result, *_named(op), (x,), Window(), ones, True, low=max(low, -128), high=min(high, 127))

    def largest(self, op: graph.PoolOp) -> Found:
        window = _window(
            op, op.kernel.get_values(), op.strides.get_values(), op.pads.get_values(), op.dilations.get_values()
        )
        return Found(op.result, *_named(op), (op.x,), window, np.ones((1, 1, 1), np.int64), True, True)

    def requantized(self, op: graph.RequantizeOp) -> Found:
        """A sum, a power of two below it, rounded, and bounds."""
        if op.zero_point.value.data != 0:
            raise refused(op, "a zero point of 0", f"{op.zero_point.value.data}")
        multiplier, shift = (self.constant(one, op).reshape(-1) for one in (op.multiplier, op.shift))
        if (multiplier <= 0).any():
            raise refused(op, "positive multipliers", f"{multiplier.min()}")
        low, high = op.low.value.data, op.high.value.data
        found = self.sums(op, op.x)
        zeros = np.array([(int(m) & -int(m)).bit_length() - 1 for m in multiplier])
        factor = multiplier >> zeros
        weights, bias = found.weights, found.bias if found.bias is not None else np.zeros(1, np.int64)
        if (factor != 1).any():
            weights = weights * factor.max()
            if not found.diagonal or len(set(factor.tolist())) > 1 or abs(weights).max() > 127:
                raise refused(op, "a scale that is a power of two (a shift)", f"a multiplier of {factor.max()} 2^-n")
            bias = bias * factor.max()
        distance = shift - zeros - found.doubled
        if distance.max() > 2 * FARTHEST_SHIFT or distance.min() < -FARTHEST_SHIFT:
            raise refused(op, f"shifts by at most {2 * FARTHEST_SHIFT}", f"{distance.max()}")
        if len(set(distance.tolist())) > 1 and abs(distance).max() > FARTHEST_SHIFT:
            raise refused(op, f"shifts of a channel by at most {FARTHEST_SHIFT}", f"{abs(distance).max()}")
        bias = bias + np.where(distance > 0, 1 << np.maximum(distance - 1, 0), 0)
        most = 128 * abs(weights).sum(axis=(0, 2) if found.diagonal else (1, 2)).max() + abs(bias).max()
        if most >= 1 << 31:
            raise refused(op, "sums within 32 bits", f"up to {most}")
        name, nodes = _named(op)
        both = tuple(dict.fromkeys((*found.nodes, *nodes)))
        return Found(
            op.result,
            name,
            both,
            found.sources,
            found.window,
            weights,
            found.diagonal,
            False,
            bias,
            distance,
            low,
            high,
        )

    def sums(self, op: graph.LayerOp, x: SSAValue) -> Found:
        """What a 32-bit value is the sum of."""
        source = x.owner
        match source:
            case graph.ConvOp():
                return self.convolution(source)
            case graph.GemmOp() if not (source.trans_a or source.alpha.value.data != 1 or source.beta.value.data != 1):
                b = self.constant(source.b, source)
                bias = self.constant(source.c, source).reshape(-1) if source.c is not None else None
                matrix = b if source.trans_b else b.T
                return Found(x, *_named(source), (source.a,), Window(), matrix[:, :, None], bias=bias)
            case graph.MatmulOp():
                matrix = self.constant(source.b, source).T
                if matrix.ndim != 2:
                    raise refused(source, "one matrix of weights", f"{matrix.ndim} axes")
                return Found(x, *_named(source), (source.a,), Window(), matrix[:, :, None])
            case graph.ReduceOp() if source.kind.data == graph.ReduceKind.SUM:
                return self.total(source)
            case _:
                terms = self.terms(op, x, 1)
                factors = np.array([factor for _, factor in terms], np.int64)
                common = int(np.bitwise_or.reduce(factors))
                scale = common & -common  # a power of two of all, which the shift takes back
                if abs(factors // scale).max() > 127:
                    raise refused(op, "factors of a sum of 8 bits beside a power of two", f"{factors.tolist()}")
                weights, doubled = (factors // scale)[:, None, None], scale.bit_length() - 1
                values = tuple(value for value, _ in terms)
                return Found(
                    x,
                    *_named(source if isinstance(source, graph.LayerOp) else op),
                    values,
                    Window(),
                    weights,
                    True,
                    doubled=doubled,
                )

    def terms(self, op: Operation, x: SSAValue, factor: int) -> list[tuple[SSAValue, int]]:
        """A value as a sum of 8-bit values times numbers."""
        if element_of(x) == si8:
            return [(x, factor)]
        match x.owner:
            case graph.CastOp() as cast:
                return self.terms(op, cast.x, factor)
            case graph.BinaryOp() as binary if binary.kind.data.value in ("add", "sub"):
                other = factor if binary.kind.data.value == "add" else -factor
                return [*self.terms(op, binary.a, factor), *self.terms(op, binary.b, other)]
            case graph.BinaryOp() as binary if binary.kind.data.value == "mul":
                for value, number in ((binary.a, binary.b), (binary.b, binary.a)):
                    if isinstance(number.owner, graph.WeightOp):
                        found = np.unique(self.constant(number, op))
                        if len(found) == 1:
                            return self.terms(op, value, factor * int(found[0]))
            case graph.LayerOp() as layer:
                raise refused(layer, "a sum of products, or of 8-bit values times numbers", layer.name)
            case _:
                pass
        raise refused(op, "a sum of 8-bit values times numbers", f"{element_of(x)}")

    def convolution(self, op: graph.ConvOp) -> Found:
        weights, shape = self.constant(op.w, op), shape_of(op.x)
        bias = self.constant(op.bias, op) if op.bias is not None else None
        if len(shape) != 4 or op.pad_value.value.data != 0:
            raise refused(op, "images of two spatial axes, padded with 0", f"{list(shape)}")
        kernel = weights.shape[2:]
        window = _window(op, kernel, op.strides.get_values(), op.pads.get_values(), op.dilations.get_values())
        groups, flat = op.groups.value.data, weights.reshape(*weights.shape[:2], -1)
        if groups == 1:
            return Found(op.result, *_named(op), (op.x,), window, flat, bias=bias)
        if groups == shape[1] == weights.shape[0]:
            return Found(op.result, *_named(op), (op.x,), window, flat.transpose(1, 0, 2), True, bias=bias)
        return Found(op.result, *_named(op), (op.x,), window, _spread(flat, groups), bias=bias)

    def total(self, op: graph.ReduceOp) -> Found:
        shape = shape_of(op.x)
        x = op.x.owner.x if isinstance(op.x.owner, graph.CastOp) else op.x
        if len(shape) != 4 or sorted(op.axes.get_values()) != [2, 3] or element_of(x) != si8:
            raise refused(op, "a sum over rows and columns of 8-bit values", f"axes {op.axes.get_values()}")
        window = Window(shape[2], shape[3])
        return Found(op.result, *_named(op), (x,), window, np.ones((1, 1, window.taps), np.int64), True)


def _spread(weights: Numbers, groups: int) -> Numbers:
    """Weights of groups of channels as those of one, 0 between groups."""
    out, depth = weights.shape[0], weights.shape[1]
    found = np.zeros((out, depth * groups, weights.shape[2]), np.int64)
    for group in range(groups):
        rows = slice(group * out // groups, (group + 1) * out // groups)
        found[rows, group * depth : (group + 1) * depth] = weights[rows]
    return found


def _named(op: graph.LayerOp) -> tuple[str, tuple[str, ...]]:
    name = graph.name_of(op) or op.name
    return name, (name,)


def _window(
    op: Operation, kernel: Sequence[int], steps: Sequence[int], pads: Sequence[int], dilations: Sequence[int]
) -> Window:
    if len(kernel) != 2 or tuple(dilations) != (1, 1):
        raise refused(op, "windows over rows and columns without gaps", f"{list(kernel)}, {list(dilations)}")
    if max(pads) > 15:
        raise refused(op, "at most 15 elements of padding", f"{max(pads)}")
    return Window(kernel[0], kernel[1], steps[0], steps[1], pads[0], pads[1])
