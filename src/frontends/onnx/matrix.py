"""MatMul and Gemm."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import graph
from .arguments import broadcast_shape
from .blocks import blocked_product
from .formulas import Formulas
from .node import Node
from .scope import Scope, Value, shape_of


def matmul(scope: Scope, node: Node) -> Sequence[Value]:
    """MatMul; vectors are matrices of one row or one column on the way."""
    left, right = scope.tensor(node, 0), scope.tensor(node, 1)
    name, rows, columns = node.outputs[0], shape_of(left), shape_of(right)
    if not rows or not columns or rows[-1] != columns[max(0, len(columns) - 2)]:
        raise node.error("inner extents that agree", f"{list(rows)} and {list(columns)}", kind="shape")
    if len(rows) == 1:
        left = scope.emit(graph.ReshapeOp(left, (1, *rows)), f"{name}.left")
    if len(columns) == 1:
        right = scope.emit(graph.ReshapeOp(right, (*columns, 1)), f"{name}.right")
    if right in scope.blocked and len(rows) > 1:
        return (blocked_product(Formulas(scope, node), left, scope.blocked[right]),)
    vector = 1 in (len(rows), len(columns))
    result = scope.emit(graph.MatmulOp(left, right), f"{name}.matrix" if vector else name)
    if not vector:
        return (result,)
    batch = broadcast_shape(node, rows[:-2], columns[:-2])
    shape = (*batch, *rows[-2:-1], *(columns[-1:] if len(columns) > 1 else ()))
    return (scope.emit(graph.ReshapeOp(result, shape), name),)


def gemm(scope: Scope, node: Node) -> Sequence[Value]:
    """Gemm."""
    op = graph.GemmOp(
        scope.tensor(node, 0),
        scope.tensor(node, 1),
        scope.optional_tensor(node, 2),
        trans_a=bool(node.integer("transA", 0)),
        trans_b=bool(node.integer("transB", 0)),
        alpha=node.real("alpha", 1.0),
        beta=node.real("beta", 1.0),
    )
    return (scope.emit(op, node.outputs[0]),)
