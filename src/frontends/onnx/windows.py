"""Operators that slide a window over space: convolution, pooling, local response normalisation."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ...dialects import graph
from .arguments import window_pads
from .node import Node
from .scope import Scope, Value, shape_of


def _per_axis(node: Node, name: str, rank: int) -> tuple[int, ...]:
    values = node.integers(name, (1,) * rank)
    if len(values) != rank or min(values) < 1:
        raise node.error(f"{rank} positive {name}", str(list(values)), kind="shape")
    return values


def _spatial_rank(node: Node, shape: Sequence[int]) -> int:
    rank = len(shape) - 2
    if not 1 <= rank <= 3:
        raise node.error("1 to 3 spatial axes after batch and channels", f"shape {list(shape)}")
    return rank


def conv(scope: Scope, node: Node) -> Sequence[Value]:
    """Conv, in f32."""
    scope.require_type(node, 0, ("float32",))
    x, w = scope.tensor(node, 0), scope.tensor(node, 1)
    shape, weights = shape_of(x), shape_of(w)
    rank = _spatial_rank(node, shape)
    kernel = node.integers("kernel_shape", weights[2:])
    if len(weights) != len(shape) or kernel != weights[2:]:
        raise node.error(f"weights with kernel {kernel}", f"weights of shape {list(weights)}", kind="shape")
    strides, dilations = _per_axis(node, "strides", rank), _per_axis(node, "dilations", rank)
    begins, ends = window_pads(node, shape[2:], kernel, strides, dilations)
    op = graph.ConvOp(
        x,
        w,
        scope.optional_tensor(node, 2),
        strides=strides,
        pads=begins + ends,
        dilations=dilations,
        groups=node.integer("group", 1),
    )
    return (scope.emit(op, node.outputs[0]),)


def max_pool(scope: Scope, node: Node) -> Sequence[Value]:
    """MaxPool without indices."""
    if node.has_output(1):
        raise node.error("MaxPool with one output", "the output of indices")
    scope.require_type(node, 0, ("float32", "int8", "uint8"))
    return (_pool(scope, node, scope.tensor(node, 0), "max", False),)


def average_pool(scope: Scope, node: Node) -> Sequence[Value]:
    """AveragePool; what `ceil_mode` adds at the end never counts as padding."""
    scope.require_type(node, 0, ("float32",))
    x = scope.tensor(node, 0)
    counted = bool(node.integer("count_include_pad", 0))
    if not (counted and node.integer("ceil_mode", 0)):
        return (_pool(scope, node, x, "average", counted),)
    rank = _spatial_rank(node, shape_of(x))
    pads = node.integers("pads", (0,) * 2 * rank)
    around = (0, 0, *pads[:rank], 0, 0, *pads[rank:])
    padded = scope.emit(graph.PadOp(x, pads=around), f"{node.outputs[0]}.padded")
    inner = Node(
        node.op, node.label, node.inputs, node.outputs, node.version, {**node.attributes, "pads": (0,) * 2 * rank}
    )
    return (_pool(scope, inner, padded, "average", False),)


def _pool(scope: Scope, node: Node, x: SSAValue, kind: str, count_include_pad: bool) -> SSAValue:
    shape = shape_of(x)
    rank = _spatial_rank(node, shape)
    if "kernel_shape" not in node.attributes:
        raise node.error("attribute kernel_shape", "none", kind="parse")
    kernel, strides = _per_axis(node, "kernel_shape", rank), _per_axis(node, "strides", rank)
    dilations = _per_axis(node, "dilations", rank)
    begins, ends = window_pads(node, shape[2:], kernel, strides, dilations)
    op = graph.PoolOp(
        kind,
        x,
        kernel=kernel,
        strides=strides,
        pads=begins + ends,
        dilations=dilations,
        count_include_pad=count_include_pad,
    )
    return scope.emit(op, node.outputs[0])


def global_pool(scope: Scope, node: Node) -> Sequence[Value]:
    """GlobalAveragePool and GlobalMaxPool: a reduction of all spatial axes."""
    x = scope.tensor(node, 0)
    axes = tuple(range(2, len(shape_of(x))))
    kind = "mean" if node.op == "GlobalAveragePool" else "max"
    return (scope.emit(graph.ReduceOp(kind, x, axes=axes, keepdims=True), node.outputs[0]),)


def lrn(scope: Scope, node: Node) -> Sequence[Value]:
    """LRN over channels."""
    scope.require_type(node, 0, ("float32",))
    op = graph.LrnOp(
        scope.tensor(node, 0),
        size=node.integer("size", 1),
        alpha=node.real("alpha", 1e-4),
        beta=node.real("beta", 0.75),
        bias=node.real("bias", 1.0),
    )
    return (scope.emit(op, node.outputs[0]),)
