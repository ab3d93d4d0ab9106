"""Patterns on parts of tensors: slices of slices and of what is joined, joins of joins, gathers of neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects import graph
from ...dialects.types import shape_of
from .identities import producer, renamed

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
        made: list[Operation] = []
        parts: list[SSAValue] = []
        at = 0
        for piece in concat.pieces:
            extent = shape_of(piece)[axis]
            begin, end = max(starts[axis], at), min(starts[axis] + sizes[axis], at + extent)
            if begin < end:
                own = _with(starts, axis, begin - at), _with(sizes, axis, end - begin)
                made.append(graph.SliceOp(piece, starts=own[0], sizes=own[1], steps=steps))
                parts.append(made[-1].results[0])
            at += extent
        if len(parts) > 1:
            users = [use.operation for use in op.result.uses]
            if len(users) != 1 or not isinstance(users[0], graph.ConcatOp) or users[0].axis.value.data != axis:
                return
            made.append(graph.ConcatOp(parts, axis=axis))
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
