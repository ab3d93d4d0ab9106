"""Patterns that remove layers which do nothing: identities, reshapes of reshapes, transposes that cancel."""

from collections.abc import Sequence
from typing import Any, TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects import graph
from ...dialects.types import shape_of

OpT = TypeVar("OpT", bound=Operation)


def producer(value: SSAValue, kind: type[OpT]) -> OpT | None:
    """The operation that makes `value`, if it is of this class."""
    return value.owner if isinstance(value.owner, kind) else None


def renamed(op: Operation, like: Operation) -> Any:
    """`op` with the name of `like`."""
    graph.set_name(op, graph.name_of(like))
    return op


def keeps_order(shape: Sequence[int], perm: Sequence[int]) -> bool:
    """Whether a transpose moves axes of one index only."""
    moved = [axis for axis in perm if shape[axis] > 1]
    return moved == sorted(moved)


def is_identity(op: Operation) -> bool:
    """Whether the result of a layer is its first operand, element for element."""
    match op:
        case graph.UnaryOp():
            return op.kind.data == graph.UnaryKind.IDENTITY
        case graph.ClipOp():
            return op.min is None and op.max is None
        case graph.CastOp() | graph.ReshapeOp() | graph.ExpandOp():
            return op.x.type == op.result.type
        case graph.TransposeOp():
            perm = op.perm.get_values()
            return list(perm) == sorted(perm)
        case graph.PadOp():
            return not any(op.pads.get_values())
        case graph.ResizeOp():
            return all(scale == 1 for scale in op.scales.get_values())
        case graph.SliceOp():
            return op.x.type == op.result.type and all(s == 1 for s in op.steps.get_values())
        case graph.ConcatOp():
            return len(op.pieces) == 1
        case _:
            return False


class DropIdentity(RewritePattern):
    """`identity(x)` is `x`."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if is_identity(op):
            rewriter.replace(op, (), (op.operands[0],))


class ReshapeOfReshape(RewritePattern):
    """`reshape(reshape(x))` is one reshape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.ReshapeOp, rewriter: PatternRewriter, /) -> None:
        inner = producer(op.x, graph.ReshapeOp)
        if inner is not None:
            rewriter.replace(op, renamed(graph.ReshapeOp(inner.x, shape_of(op.result)), op))


class TransposeToReshape(RewritePattern):
    """A transpose that keeps the order of all axes longer than 1 is a reshape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.TransposeOp, rewriter: PatternRewriter, /) -> None:
        if keeps_order(shape_of(op.x), op.perm.get_values()):
            rewriter.replace(op, renamed(graph.ReshapeOp(op.x, shape_of(op.result)), op))


class TransposeOfTranspose(RewritePattern):
    """`transpose(transpose(x))` is one transpose."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: graph.TransposeOp, rewriter: PatternRewriter, /) -> None:
        inner = producer(op.x, graph.TransposeOp)
        if inner is not None:
            first = inner.perm.get_values()
            perm = [first[axis] for axis in op.perm.get_values()]
            rewriter.replace(op, renamed(graph.TransposeOp(inner.x, perm=perm), op))


IDENTITIES: tuple[RewritePattern, ...] = (
    DropIdentity(),
    ReshapeOfReshape(),
    TransposeToReshape(),
    TransposeOfTranspose(),
)
"""All patterns of this module."""
