"""Operators that slide a window over space: convolution, pooling, local response normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    window = _window(node, scope.shape(node, 0))
    return (_pool(scope, node, scope.tensor(node, 0), "max", window, False),)


def average_pool(scope: Scope, node: Node) -> Sequence[Value]:
    """AveragePool; what `ceil_mode` adds at the end never counts as padding."""
    scope.require_type(node, 0, ("float32",))
    x = scope.tensor(node, 0)
    counted = bool(node.integer("count_include_pad", 0))
    window = _window(node, shape_of(x))
    grown = [end - given for end, given in zip(window.ends, window.given_ends, strict=True)]
    if counted and any(grown):
        around = (0, 0, *window.begins, 0, 0, *window.given_ends)
        x = scope.emit(graph.PadOp(x, pads=around), f"{node.outputs[0]}.padded")
        window = replace(window, begins=(0,) * len(grown), ends=tuple(grown))
        counted = False
    return (_pool(scope, node, x, "average", window, counted),)


@dataclass(frozen=True)
class _Window:
    """A pooling window, per spatial axis; `ends` is `given_ends` plus what `ceil_mode` adds."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    given_ends: tuple[int, ...]


def _window(node: Node, shape: Sequence[int]) -> _Window:
    rank = _spatial_rank(node, shape)
    if "kernel_shape" not in node.attributes:
        raise node.error("attribute kernel_shape", "none", kind="parse")
    kernel, strides = _per_axis(node, "kernel_shape", rank), _per_axis(node, "strides", rank)
    dilations = _per_axis(node, "dilations", rank)
    begins, ends = window_pads(node, shape[2:], kernel, strides, dilations)
    given = window_pads(node.without("ceil_mode"), shape[2:], kernel, strides, dilations)[1]
    return _Window(kernel, strides, dilations, begins, ends, given)


def _pool(scope: Scope, node: Node, x: SSAValue, kind: str, window: _Window, count_include_pad: bool) -> SSAValue:
    op = graph.PoolOp(
        kind,
        x,
        kernel=window.kernel,
        strides=window.strides,
        pads=window.begins + window.ends,
        dilations=window.dilations,
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
