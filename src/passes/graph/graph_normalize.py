"""The pass `graph-normalize`: one form for what can be said in several ways, constants computed."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.graph.base import ints, real
from ...dialects.types import shape_of
from ...interpreters.constants import Constants, base_name
from .graph_lookups import LookupToProduct
from .identities import IDENTITIES, producer, renamed
from .quantized_values import Builder

MAX_PIECES = 256
"""What is joined of more pieces is not joined with others."""


class GatherOfRun(RewritePattern):
    """A gather of places that are the same step apart is a slice."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.GatherOp, rewriter: PatternRewriter, /) -> None:
        axis, indices = op.axis.value.data, graph.dense_array(op.indices).reshape(-1).astype(np.int64)
        steps = np.unique(np.diff(indices))
        if not indices.size or steps.size > 1 or (steps.size and steps[0] < 1):
            return
        shape = shape_of(op.x)
        sizes = [indices.size if i == axis else extent for i, extent in enumerate(shape)]
        starts = [int(indices[0]) if i == axis else 0 for i in range(len(shape))]
        each = [int(steps[0]) if i == axis and steps.size else 1 for i in range(len(shape))]
        part = graph.SliceOp(op.x, starts=starts, sizes=sizes, steps=each)
        rewriter.replace(op, [part, renamed(graph.ReshapeOp(part.result, shape_of(op.result)), op)])


class SliceOfSlice(RewritePattern):
    """`slice(slice(x))` is one slice."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.SliceOp, rewriter: PatternRewriter, /) -> None:
        inner = producer(op.x, graph.SliceOp)
        if inner is None:
            return
        first, by = inner.starts.get_values(), inner.steps.get_values()
        starts = [a + b * s for a, b, s in zip(first, by, op.starts.get_values(), strict=True)]
        steps = [b * s for b, s in zip(by, op.steps.get_values(), strict=True)]
        made = graph.SliceOp(inner.x, starts=starts, sizes=shape_of(op.result), steps=steps)
        rewriter.replace(op, renamed(made, op))


class SliceOfConcat(RewritePattern):
    """A slice of what is joined is one of a piece, or of several that are joined again."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.SliceOp, rewriter: PatternRewriter, /) -> None:
        concat = producer(op.x, graph.ConcatOp)
        if concat is None:
            return
        axis, steps = concat.axis.value.data, op.steps.get_values()
        if steps[axis] != 1:
            return
        starts, sizes = op.starts.get_values(), shape_of(op.result)
        parts: list[tuple[SSAValue, int, int]] = []
        at = 0
        for piece in concat.pieces:
            extent = shape_of(piece)[axis]
            begin, end = max(starts[axis], at), min(starts[axis] + sizes[axis], at + extent)
            if begin < end:
                parts.append((piece, begin - at, end - begin))
            at += extent
        user = op.result.get_user_of_unique_use()
        if len(parts) > 1 and not (isinstance(user, graph.ConcatOp) and user.axis.value.data == axis):
            return
        made: list[Operation] = [
            graph.SliceOp(piece, starts=_with(starts, axis, start), sizes=_with(sizes, axis, size), steps=steps)
            for piece, start, size in parts
        ]
        if len(parts) > 1:
            made.append(graph.ConcatOp([each.results[0] for each in made], axis=axis))
        rewriter.replace(op, [*made[:-1], renamed(made[-1], op)])


class ConcatOfConcat(RewritePattern):
    """What is joined of pieces that are joined along the same axis, and read nowhere else, is joined at once."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.ConcatOp, rewriter: PatternRewriter, /) -> None:
        pieces: list[SSAValue] = []
        for piece in op.pieces:
            inner = producer(piece, graph.ConcatOp)
            if inner is not None and inner.axis == op.axis and inner.result.has_one_use():
                pieces += inner.pieces
            else:
                pieces.append(piece)
        if len(pieces) > len(op.pieces) and len(pieces) <= MAX_PIECES:
            rewriter.replace(op, renamed(graph.ConcatOp(pieces, axis=op.axis.value.data), op))


def _with(values: Sequence[int], axis: int, value: int) -> list[int]:
    return [*values[:axis], value, *values[axis + 1 :]]


PIECES: tuple[RewritePattern, ...] = (GatherOfRun(), SliceOfSlice(), SliceOfConcat(), ConcatOfConcat())
"""All patterns of this module."""


@dataclass
class FoldConstants(RewritePattern):
    """A layer of constants is a constant; `dequantize` stays unless `dequantize` is set, to be seen by quantisation."""

    constants: Constants
    dequantize: bool = False

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, graph.DequantizeOp) and not self.dequantize:
            return
        array = self.constants.fold(op)
        if array is not None:
            name = base_name(op, op.operands[0])
            rewriter.replace(op, renamed(self.constants.weight(name, array), op))


@dataclass
class LowerBatchNorm(RewritePattern):
    """`batch_norm(x)` is `x * factor + shift`, with `factor = scale / sqrt(variance + epsilon)` per channel."""

    constants: Constants

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.BatchNormOp, rewriter: PatternRewriter, /) -> None:
        shape = (shape_of(op.x)[1], *(1,) * (len(shape_of(op.x)) - 2))
        builder = Builder.of(self.constants, op)
        epsilon = builder.emit(self.constants.weight("epsilon", np.array(op.epsilon.value.data, np.float32)))
        root = builder.emit(graph.UnaryOp("sqrt", builder.emit(graph.BinaryOp("add", op.variance, epsilon))))
        factor = builder.emit(graph.BinaryOp("div", op.scale, root))
        offset = builder.emit(graph.BinaryOp("mul", op.mean, factor))
        shift = builder.emit(graph.BinaryOp("sub", op.bias, offset))
        factors = builder.emit(graph.ReshapeOp(factor, shape), "factor")
        shifts = builder.emit(graph.ReshapeOp(shift, shape), "shift")
        scaled = builder.emit(graph.BinaryOp("mul", op.x, factors))
        builder.emit(renamed(graph.BinaryOp("add", scaled, shifts), op))
        rewriter.replace(op, builder.made)


def per_channel(array: Array, shape: Sequence[int]) -> Array | None:
    """The factors or terms per index of axis 1 that a constant applies to a tensor of `shape` by broadcasting.

    None if they vary along another axis.
    """
    padded = (1,) * (len(shape) - array.ndim) + array.shape
    if len(padded) != len(shape) or any(e != 1 for i, e in enumerate(padded) if i != 1):
        return None
    return np.broadcast_to(array.reshape(-1), (shape[1],))


@dataclass
class FoldIntoConv(RewritePattern):
    """`conv(x, w, b) * f` is `conv(x, w * f, b * f)`, `conv(x, w, b) + t` is `conv(x, w, b + t)` (per channel, f32)."""

    constants: Constants

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.BinaryOp, rewriter: PatternRewriter, /) -> None:
        kind = op.kind.data
        if kind not in (graph.BinaryKind.ADD, graph.BinaryKind.MUL):
            return
        conv, other = producer(op.a, graph.ConvOp), op.b
        if conv is None:
            conv, other = producer(op.b, graph.ConvOp), op.a
        if conv is None or not conv.result.has_one_use() or conv.result.type != op.result.type:
            return
        arrays = self._arrays(conv, other)
        if arrays is None:
            return
        weights, bias, change = arrays
        if kind == graph.BinaryKind.MUL:
            weights = weights * change.reshape(-1, *(1,) * (weights.ndim - 1))
            bias = bias * change
        else:
            bias = bias + change
        self._replace(conv, op, weights if kind == graph.BinaryKind.MUL else None, bias, rewriter)

    def _arrays(self, conv: graph.ConvOp, other: SSAValue) -> tuple[Array, Array, Array] | None:
        weights, constant = self.constants.array(conv.w), self.constants.array(other)
        if weights is None or constant is None or weights.dtype != np.float32:
            return None
        change = per_channel(constant, shape_of(conv.result))
        zero = np.zeros(shape_of(conv.w)[0], np.float32)
        bias = zero if conv.bias is None else self.constants.array(conv.bias)
        return None if change is None or bias is None else (weights, bias, change)

    def _replace(
        self, conv: graph.ConvOp, op: graph.BinaryOp, weights: Array | None, bias: Array, rewriter: PatternRewriter
    ) -> None:
        new_bias = self.constants.weight(f"{base_name(op, conv.bias or conv.w)}.bias", bias)
        made: list[Operation] = [new_bias]
        w = conv.w
        if weights is not None:
            made.append(self.constants.weight(f"{base_name(op, conv.w)}.weight", weights))
            w = made[-1].results[0]
        result = graph.ConvOp.build(
            operands=[conv.x, w, new_bias.result], properties=conv.properties, result_types=[op.result.type]
        )
        rewriter.replace(op, [*made, renamed(result, op)])


@dataclass
class NormalizeGemm(RewritePattern):
    """`alpha` and `beta` of a gemm go into constants where possible, else become layers of their own."""

    constants: Constants

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.GemmOp, rewriter: PatternRewriter, /) -> None:
        alpha, beta = op.alpha.value.data, op.beta.value.data
        if (alpha, beta) == (1.0, 1.0):
            return
        made: list[Operation] = []
        c = self._scaled(op, op.c, beta, "c", made) if op.c is not None and beta != 0.0 else None
        result: Operation
        trans_a, trans_b = op.trans_a is not None, op.trans_b is not None
        if alpha == 1.0 or self.constants.is_known(op.b):
            b = self._scaled(op, op.b, alpha, "b", made)
            result = graph.GemmOp(op.a, b, c, trans_a=trans_a, trans_b=trans_b)
        else:
            product = graph.GemmOp(op.a, op.b, trans_a=trans_a, trans_b=trans_b)
            made.append(product)
            scaled = self._scaled(op, product.result, alpha, "product", made)
            result = made.pop() if c is None else graph.BinaryOp("add", scaled, c)
        rewriter.replace(op, [*made, renamed(result, op)])

    def _scaled(self, op: graph.GemmOp, value: SSAValue, factor: float, part: str, made: list[Operation]) -> SSAValue:
        if factor == 1.0:
            return value
        array = self.constants.array(value)
        if array is not None:
            made.append(self.constants.weight(f"{base_name(op, value)}.{part}", array * np.float32(factor)))
        else:
            scale = self.constants.weight(f"{base_name(op)}.{part}.factor", np.array(factor, np.float32))
            made += [scale, graph.BinaryOp("mul", value, scale.result)]
        return made[-1].results[0]


class PadIntoConv(RewritePattern):
    """`conv(pad(x))` is a conv with larger pads, where only spatial axes are padded, with the conv's pad value."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.ConvOp, rewriter: PatternRewriter, /) -> None:
        pad = producer(op.x, graph.PadOp)
        if pad is None or pad.mode.data != graph.PadMode.CONSTANT:
            return
        pads, rank = pad.pads.get_values(), len(shape_of(op.x))
        value = pad.value.value.data
        outside = any(pads[axis] or pads[rank + axis] for axis in (0, 1))
        if outside or (value != op.pad_value.value.data and any(op.pads.get_values())):
            return
        around = [*pads[2:rank], *pads[rank + 2 :]]
        total = [a + b for a, b in zip(around, op.pads.get_values(), strict=True)]
        op.operands[0] = pad.x
        op.pads = ints(total)
        op.pad_value = real(value)
        rewriter.notify_op_modified(op)


class AverageToMean(RewritePattern):
    """An average over one window that is the whole image is a mean."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.PoolOp, rewriter: PatternRewriter, /) -> None:
        spatial = shape_of(op.x)[2:]
        whole = op.kernel.get_values() == spatial and prod(op.dilations.get_values()) == 1
        if op.kind.data == graph.PoolKind.AVERAGE and whole and not any(op.pads.get_values()):
            axes = range(2, len(spatial) + 2)
            rewriter.replace(op, renamed(graph.ReduceOp("mean", op.x, axes=axes), op))


@dataclass(frozen=True)
class GraphNormalizePass(ModulePass):
    """Bring a network to its normal form: constants folded, batch normalisation in the weights, nothing idle.

    Folds layers of constants (all but `graph.dequantize`), batch normalisation and per-channel factors and terms into
    convolutions (else to `mul` and `add`), constant padding into convolutions, alpha and beta of `gemm`; makes averages
    of whole images means, and lookups products, but for those that are `by_rows`; reads parts of what is joined, or
    cut, where they are made; drops identities, reshapes of reshapes, transposes that cancel, and dead layers.

        %c = graph.conv %x, %w ...                          %c = graph.conv %x, %w2, %b2 ...
        %y = graph.batch_norm %c, %s, %b, %m, %v ...  ->

    After it, there is no `batch_norm`, and `gemm` has alpha = beta = 1.  Where the bytes of weights are not at hand,
    what needs them stays.  Results may differ in the last bits of f32.
    """

    name = "graph-normalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = Constants.of(op)
        patterns: list[RewritePattern] = [
            *IDENTITIES,
            *PIECES,
            FoldConstants(constants),
            LowerBatchNorm(constants),
            FoldIntoConv(constants),
            NormalizeGemm(constants),
            PadIntoConv(),
            AverageToMean(),
            LookupToProduct(constants),
        ]
        PatternRewriteWalker(GreedyRewritePatternApplier(patterns)).rewrite_module(op)
        constants.tidy()
