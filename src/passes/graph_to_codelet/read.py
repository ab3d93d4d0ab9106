"""Layers of 8-bit integers as what a machine of stages does: which values are sums of which, and how they are shifted.

What the machine has no way to do is refused by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from ...algebra.element import Ints
from ...dialects import graph
from ...dialects.types import element_of, shape_of, si8, ui8
from ...errors import TilewrightError
from ...resources import Resources, weight_array
from .scales import Scale, Step, bounds, shifts_of, steps_of
from .works import Form, Window

UNSIGNED = 128
"""Bytes without a sign lie as signed ones, so much less."""


@dataclass(frozen=True, kw_only=True)
class Found(Form):
    """A layer before its tensors have places; its result is `value`.

    `weights` are [out, in, taps] for products; with `diagonal` [sources, channels or 1, taps], of any size.  `bias` has
    an element for each channel of the result, or one; `steps` are what becomes of the sums.  Sums are to be taken
    `doubled` powers of two larger.
    """

    value: SSAValue
    sources: tuple[SSAValue, ...]
    weights: Ints
    bias: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    steps: tuple[Step, ...] = ()
    doubled: int = 0

    @property
    def reach(self) -> tuple[Ints, Ints]:
        """The least and the largest sum of each channel, with the bias."""
        axes = (0, 2) if self.diagonal else (1, 2)
        above, below = np.maximum(self.weights, 0).sum(axis=axes), np.minimum(self.weights, 0).sum(axis=axes)
        return self.bias - 128 * above + 127 * below, self.bias + 127 * above - 128 * below


def offset_of(value: SSAValue) -> int:
    """What a value is more than the signed byte that stands for it."""
    return UNSIGNED if element_of(value) == ui8 else 0


def refused(op: Operation | None, expected: str, found: str) -> TilewrightError:
    """An error about a layer."""
    name = graph.name_of(op) if op is not None else None
    kind = op.name if op is not None else "an input"
    return TilewrightError("unsupported", f"layer {name or kind}", expected, found, "run it on the host (--host)")


class Reader:
    """Finds the layers of a function."""

    def __init__(self, resources: Resources, depth: int) -> None:
        """`depth` channels are summed in a block."""
        self.resources, self.depth = resources, depth

    def constant(self, value: SSAValue, op: Operation) -> Ints:
        """A weight's array."""
        array = weight_array(value.owner, self.resources) if isinstance(value.owner, graph.WeightOp) else None
        if array is None or array.dtype.kind not in "iu":
            raise refused(op, "weights that are constant integers", "others")
        return array.astype(np.int64)

    def layer(self, value: SSAValue) -> Found | None:
        """What makes an 8-bit value; None for concatenations and changes of shape, which may move nothing."""
        op = value.owner
        assert isinstance(op, Operation)
        if element_of(value) == i32 and isinstance(op, graph.LayerOp):
            return self.words(op)
        if element_of(value) not in (si8, ui8):
            raise refused(op, "results of 8 bits, which is what can be stored, or of 32", f"{element_of(value)}")
        offset = offset_of(value)
        match op:
            case graph.RequantizeOp():
                return self.requantized(op)
            case graph.PoolOp() if op.kind.data == graph.PoolKind.MAX:
                return _moved(op, (op.x,), _window_of(op), maximum=True)
            case graph.UnaryOp() if op.kind.data.value == "relu":
                return _moved(op, (op.x,), Window(), bounds(max(-offset, -128), 127))
            case graph.ClipOp():
                low = -128 if op.min is None else int(op.min.value.data) - offset
                high = 127 if op.max is None else int(op.max.value.data) - offset
                return _moved(op, (op.x,), Window(), bounds(max(low, -128), min(high, 127)))
            case graph.ConcatOp() | graph.ReshapeOp():
                return None
            case _:
                raise refused(op, "convolutions, products, sums, pools, relu, requantisation", op.name)

    def sources(self, op: graph.LayerOp) -> tuple[SSAValue, ...]:
        """The 8-bit values that a layer is made from; `TilewrightError` where the machine cannot make it."""
        found = self.layer(op.results[0])
        if isinstance(op, graph.ReshapeOp):
            before, after = shape_of(op.x), shape_of(op.result)
            if before[:2] != after[:2] or any(n != 1 for n in (*before[2:], *after[2:])):
                raise refused(op, "a shape that adds or drops extents of 1", f"{list(before)} to {list(after)}")
        elif isinstance(op, graph.ConcatOp):
            self.gathered(op)
        sources = found.sources if found is not None else tuple(op.operands)
        for value in (*sources, op.results[0]):
            kinds = (si8, ui8) if value is not op.results[0] else (si8, ui8, i32)
            if len(shape_of(value)) not in (2, 4) or element_of(value) not in kinds:
                raise refused(op, "images of channels, or matrices, of 8 bits", f"{value.type}")
        return sources

    def moved(self, op: graph.LayerOp) -> Found:
        """A concatenation or a change of shape that makes a copy."""
        return self.gathered(op) if isinstance(op, graph.ConcatOp) else _moved(op, tuple(op.operands[:1]), Window())

    def gathered(self, op: graph.ConcatOp) -> Found:
        """Pieces of any number of channels one after another, as a product with weights of one."""
        if op.axis.value.data != 1:
            raise refused(op, "pieces side by side along channels", f"axis {op.axis.value.data}")
        sizes = [shape_of(piece)[1] for piece in op.pieces]
        starts = np.cumsum([0, *(size + -size % self.depth for size in sizes)])
        weights = np.zeros((sum(sizes), int(starts[-1]), 1), np.int64)
        rows = np.cumsum([0, *sizes])
        for row, start, size in zip(rows, starts, sizes, strict=False):
            weights[row + np.arange(size), start + np.arange(size)] = 1
        return _found(op, op.result, window=Window(), sources=tuple(op.pieces), weights=weights)

    def requantized(self, op: graph.RequantizeOp) -> Found:
        """Sums, scaled and rounded, and bounds."""
        multiplier, shift = (self.constant(one, op).reshape(-1) for one in (op.multiplier, op.shift))
        if (multiplier <= 0).any():
            raise refused(op, "positive multipliers", f"{multiplier.min()}")
        offset = offset_of(op.result)
        multiplier, sums = _absorbed(multiplier, self.sums(op, op.x))
        zero, low, high = (number.value.data - offset for number in (op.zero_point, op.low, op.high))
        steps = steps_of(Scale.of(multiplier, shift - sums.doubled, zero, low, high), sums.bias, *sums.reach)
        if steps is None:
            expected = "a scale by which sums are multiplied exactly in 32 bits"
            largest = max(abs(end).max() for end in sums.reach)
            raise refused(op, expected, f"{multiplier.max()} 2^-{shift.max()}, sums of up to {largest}")
        name, nodes = _named(op)
        both = tuple(dict.fromkeys((*sums.nodes, *nodes)))
        return replace(sums, value=op.result, name=name, nodes=both, steps=steps)

    def words(self, op: graph.LayerOp) -> Found:
        """Sums of 32 bits as they are."""
        found = self.sums(op, op.results[0])
        name, nodes = _named(op)
        both, bias = tuple(dict.fromkeys((*found.nodes, *nodes))), found.bias
        steps = [Step("add", bias)] if bias.any() else []
        steps += [Step("shift_right", -np.array([part])) for part in shifts_of(found.doubled)]
        return replace(found, value=op.results[0], name=name, nodes=both, steps=tuple(steps))

    def sums(self, op: graph.LayerOp, x: SSAValue) -> Found:
        """What a 32-bit value is the sum of."""
        source = x.owner
        match source:
            case graph.ConvOp():
                return self.convolution(source)
            case graph.GemmOp() if not (source.trans_a or source.alpha.value.data != 1 or source.beta.value.data != 1):
                b = self.constant(source.b, source)
                bias = self.constant(source.c, source).reshape(-1) if source.c is not None else 0
                return _product(source, source.a, b if source.trans_b else b.T, bias)
            case graph.MatmulOp():
                matrix = self.constant(source.b, source).T
                if matrix.ndim != 2:
                    raise refused(source, "one matrix of weights", f"{matrix.ndim} axes")
                return _product(source, source.a, matrix, 0)
            case graph.ReduceOp() | graph.PoolOp() if source.kind.data.value == "sum":
                return self.total(source)
            case graph.BinaryOp() if (found := self.with_bias(op, source)) is not None:
                return found
            case _:
                return self.added(op, x)

    def with_bias(self, op: graph.LayerOp, source: graph.BinaryOp) -> Found | None:
        """Sums plus a constant for each channel; None for other sums."""
        for value, number in ((source.a, source.b), (source.b, source.a)):
            layers = graph.ConvOp | graph.GemmOp | graph.MatmulOp | graph.ReduceOp | graph.PoolOp
            if source.kind.data.value == "add" and isinstance(number.owner, graph.WeightOp):
                if isinstance(value.owner, layers):
                    found, numbers = self.sums(op, value), self.constant(number, op)
                    shape = (1,) * (len(shape_of(value)) - numbers.ndim) + numbers.shape
                    if numbers.size not in (1, shape[1]):
                        raise refused(source, "a number for each channel", f"{list(numbers.shape)}")
                    return replace(found, bias=found.bias + numbers.reshape(-1))
        return None

    def added(self, op: graph.LayerOp, x: SSAValue) -> Found:
        """A sum of 8-bit values times numbers; a power of two of all is taken out."""
        terms, bias = self.terms(op, x, 1)
        factors = np.array([factor for _, factor in terms], np.int64)
        bias += sum(factor * offset_of(value) for value, factor in terms)
        common = int(np.bitwise_or.reduce(factors)) | bias
        scale = common & -common
        source = x.owner if isinstance(x.owner, graph.LayerOp) else op
        weights, doubled = (factors // scale)[:, None, None], scale.bit_length() - 1
        values, biases = tuple(value for value, _ in terms), np.array([bias // scale])
        made = _found(source, x, window=Window(), sources=values, weights=weights, bias=biases, diagonal=True)
        return replace(made, doubled=doubled)

    def terms(self, op: Operation, x: SSAValue, factor: int) -> tuple[list[tuple[SSAValue, int]], int]:
        """A value as a sum of 8-bit values times numbers, and a number."""
        if element_of(x) in (si8, ui8):
            return [(x, factor)], 0
        match x.owner:
            case graph.CastOp() as cast:
                return self.terms(op, cast.x, factor)
            case graph.WeightOp() if len(found := np.unique(self.constant(x, op))) == 1:
                return [], factor * int(found[0])
            case graph.BinaryOp() as binary if binary.kind.data.value in ("add", "sub"):
                other = factor if binary.kind.data.value == "add" else -factor
                (left, first), (right, second) = self.terms(op, binary.a, factor), self.terms(op, binary.b, other)
                return [*left, *right], first + second
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
        bias = self.constant(op.bias, op) if op.bias is not None else np.zeros(1, np.int64)
        if len(shape) != 4:
            raise refused(op, "images of two spatial axes", f"{list(shape)}")
        window, pad = _window_of(op, weights.shape[2:]), int(op.pad_value.value.data) - offset_of(op.x)
        groups, flat = op.groups.value.data, weights.reshape(*weights.shape[:2], -1)
        bias = bias + offset_of(op.x) * flat.sum(axis=(1, 2))
        diagonal = groups == shape[1] == weights.shape[0] > 1
        if diagonal:
            flat = flat.transpose(1, 0, 2)
        elif groups > 1:
            flat = _spread(flat, groups)
        pad = pad if window.top or window.left or any(op.pads.get_values()) else 0
        made = _found(op, op.result, window=window, sources=(op.x,), weights=flat, bias=bias, diagonal=diagonal)
        return replace(made, pad=pad)

    def total(self, op: graph.ReduceOp | graph.PoolOp) -> Found:
        """A sum over a window, or over all rows and columns."""
        shape = shape_of(op.x)
        x = op.x.owner.x if isinstance(op.x.owner, graph.CastOp) else op.x
        axes = sorted(op.axes.get_values()) if isinstance(op, graph.ReduceOp) else [2, 3]
        if len(shape) != 4 or axes != [2, 3] or element_of(x) not in (si8, ui8):
            raise refused(op, "a sum over rows and columns of 8-bit values", f"axes {axes}")
        window = Window(shape[2], shape[3]) if isinstance(op, graph.ReduceOp) else _window_of(op)
        bias, pad = np.array([window.taps * offset_of(x)]), -offset_of(x) * isinstance(op, graph.PoolOp)
        weights = np.ones((1, 1, window.taps), np.int64)
        made = _found(op, op.result, window=window, sources=(x,), weights=weights, bias=bias, diagonal=True)
        return replace(made, pad=pad)


def _found(op: graph.LayerOp, value: SSAValue, **given: Any) -> Found:
    """The layer that a node is, which makes a value."""
    name, nodes = _named(op)
    return Found(name=name, nodes=nodes, value=value, **given)


def _absorbed(multiplier: Ints, sums: Found) -> tuple[Ints, Found]:
    """An odd factor of the scale is part of diagonal weights where they stay bytes, so that a shift remains."""
    odd = {int(m) // (int(m) & -int(m)) for m in multiplier}
    factor = min(odd)
    if not sums.diagonal or len(odd) > 1 or abs(sums.weights).max() * factor > 127:
        return multiplier, sums
    return multiplier // factor, replace(sums, weights=sums.weights * factor, bias=sums.bias * factor)


def _product(op: graph.GemmOp | graph.MatmulOp, x: SSAValue, matrix: Ints, bias: Ints | int) -> Found:
    """A product with [out, in] weights; of a map whose rows and columns were put in a line, a window as large as it."""
    window, weights = Window(), matrix[:, :, None]
    if isinstance(x.owner, graph.ReshapeOp) and len(shape := shape_of(x.owner.x)) == 4 and shape[2] * shape[3] > 1:
        if len(shape_of(x)) == 2 and shape_of(x)[0] == shape[0]:
            x, window = x.owner.x, Window(shape[2], shape[3])
            weights = matrix.reshape(len(matrix), shape[1], window.taps)
    bias = np.atleast_1d(bias + offset_of(x) * matrix.sum(axis=1))
    return _found(op, op.result, window=window, sources=(x,), weights=weights, bias=bias)


def _moved(
    op: graph.LayerOp,
    sources: tuple[SSAValue, ...],
    window: Window,
    steps: tuple[Step, ...] = (),
    maximum: bool = False,
) -> Found:
    """Values as they are, or the largest of a window."""
    made = _found(op, op.results[0], window=window, sources=sources, weights=np.ones((1, 1, 1), np.int64))
    return replace(made, diagonal=True, maximum=maximum, steps=steps)


def _spread(weights: Ints, groups: int) -> Ints:
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


def _window_of(op: graph.ConvOp | graph.PoolOp, kernel: Sequence[int] = ()) -> Window:
    if isinstance(op, graph.PoolOp):
        kernel = op.kernel.get_values()
    steps, pads, dilations = op.strides.get_values(), op.pads.get_values(), op.dilations.get_values()
    if len(kernel) != 2:
        raise refused(op, "windows over rows and columns", f"{list(kernel)}")
    if max(pads) > 15:
        raise refused(op, "at most 15 elements of padding", f"{max(pads)}")
    return Window(kernel[0], kernel[1], steps[0], steps[1], pads[0], pads[1], dilations[0], dilations[1])
