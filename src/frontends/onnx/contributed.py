"""Operators of com.microsoft that quantisers and exporters of onnxruntime write: bodies in ONNX, or makers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
from onnx import FunctionProto, NodeProto, parser

from ...dialects.types import dtype_of, element_of, shape_of
from .blocks import BlockedWeights, blocked_product
from .formulas import Formulas
from .load import Array, check_size
from .node import Node
from .scope import Scope, Value
from .values import unpacked

DOMAIN = "com.microsoft"

_NORMAL = "s = Add(x, skip) y, mean, deviation = LayerNormalization<axis = -1, epsilon : float = @epsilon>"
_SLOPE = "<alpha : float = 1.702>"
_SMALL = "<epsilon : float = 0.00001>"

BODIES: Mapping[str, str] = {
    "Gelu": "(x) => (y) { y = Gelu(x) }",
    "BiasGelu": "(x, b) => (y) { s = Add(x, b) y = Gelu(s) }",
    "FastGelu": "(x) => (y) { y = Gelu<approximate = 'tanh'>(x) }",
    "FastGelu of 2": "(x, b) => (y) { s = Add(x, b) y = Gelu<approximate = 'tanh'>(s) }",
    "QuickGelu": f"{_SLOPE}(x) => (y) {{ a = Constant<value_float : float = @alpha>() "
    "t = CastLike(a, x) s = Mul(x, t) g = Sigmoid(s) y = Mul(x, g) }",
    "SkipLayerNormalization": f"{_SMALL}(x, skip, w) => (y, mean, deviation, s) {{ {_NORMAL}(s, w) }}",
    "SkipLayerNormalization of 4": f"{_SMALL}(x, skip, w, b) => (y, mean, deviation, s) {{ {_NORMAL}(s, w, b) }}",
    "SkipSimplifiedLayerNormalization": f"{_SMALL}(x, skip, w) => (y, mean, deviation, s) {{ s = Add(x, skip) "
    "y = RMSNormalization<axis = -1, epsilon : float = @epsilon>(s, w) }",
}
"""By operator its body; `of N` is for nodes of N inputs."""


def body_of(proto: NodeProto) -> FunctionProto | None:
    """The body of an operator of this domain."""
    if proto.domain != DOMAIN:
        return None
    special = f"{proto.op_type} of {len(proto.input)}"
    return _parsed(proto.op_type, special if special in BODIES else proto.op_type)


@cache
def _parsed(name: str, key: str) -> FunctionProto | None:
    header = f'<domain: "{DOMAIN}", opset_import: ["" : 23]> {name}'
    return parser.parse_function(header + BODIES[key].replace("'", '"')) if key in BODIES else None


def matmul_in_bits(scope: Scope, node: Node) -> Sequence[Value]:
    """MatMulNBits: weights of 2, 4 or 8 bits, a scale for each block of a column; a product for each row of blocks."""
    rows, columns, block = (node.integer(name, 0) for name in ("K", "N", "block_size"))
    steps, scales = _unpacked(scope, node, rows, columns, block)
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    shape, dtype = shape_of(x), dtype_of(element_of(x))
    if not shape or shape[-1] != rows or dtype.name not in ("float32", "float16"):
        raise node.error(f"floats of {rows} columns", f"{element_of(x)} of {list(shape)}", kind="shape")
    by_rows = np.ascontiguousarray(steps.transpose(1, 2, 0).reshape(-1, columns)[:rows])
    result = blocked_product(make, make.cast(x, np.float32), BlockedWeights(by_rows, scales.T, block))
    if node.has_input(5):
        result = make.add(result, make.cast(scope.tensor(node, 5), np.float32))
    return (make.cast(result, dtype),)


def _unpacked(scope: Scope, node: Node, rows: int, columns: int, block: int) -> tuple[Array, Array]:
    """Weights less their zero points `[N, blocks, block]`, and scales `[N, blocks]`."""
    bits = node.integer("bits", 4)
    if min(rows, columns, block) < 1 or bits not in (2, 4, 8) or (node.has_input(4)):
        found = f"K {rows}, N {columns}, blocks of {block}, {bits} bits" + " with g_idx" * node.has_input(4)
        raise node.error("weights of 2, 4 or 8 bits in blocks, in order", found)
    check_size(node.label, (rows, columns), 4)
    count = -(-rows // block)
    packed, scales = scope.constant(node, 1), scope.constant(node, 2)
    zeros = scope.optional_constant(node, 3)
    zero: Array = np.full((columns, count), 1 << (bits - 1), np.float32)
    if zeros is not None and zeros.dtype == np.uint8:
        zero = unpacked(zeros.reshape(columns, -1), bits)[:, :count]
    elif zeros is not None:
        zero = zeros.reshape(columns, count)
    steps = unpacked(packed.reshape(columns, count, -1), bits)[:, :, :block].astype(np.float32)
    if steps.shape[2] != block:
        raise node.error(f"blocks of {block}", str(steps.shape[2]), kind="shape")
    steps = steps - zero.astype(np.float32)[:, :, None]
    if rows % block:
        steps[:, -1, rows % block :] = 0
    return steps, scales.reshape(columns, count)


MAKERS: Mapping[str, Callable[[Scope, Node], Sequence[Value]]] = {"MatMulNBits": matmul_in_bits}
"""By operator what emits its operations."""
