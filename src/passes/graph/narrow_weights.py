"""Weights of f32 products in fewer bytes: si8 with a scale, or a narrower float that holds them exactly.

A machine that multiplies f32 by such weights loads half or a quarter of the bytes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.element import ELEMENT_TYPES, Array
from ...dialects import graph
from ...dialects.types import element_of, shape_of
from ...interpreters.constants import Constants, base_name
from ...machine import Machine
from .graph_fuse import PRODUCTS
from .quantized_products import Product, signed_weights
from .quantized_values import Builder

NARROW = ("f8e4m3fn", "f8e5m2", "f16", "bf16")
"""Floats that weights may have, the narrowest first."""

SAMPLE = 1 << 12
"""So many elements are looked at before all are."""


def multiplies(machine: Machine, weights: str) -> bool:
    """Whether a node of the machine sums products of f32 by `weights`."""
    capabilities = [capability for node in machine.computes for capability in node.capabilities]
    return any(c.statement.reduce == "+=" and ("f32", "f32", weights) in c.types for c in capabilities)


def narrow_weights(products: Sequence[Product], machine: Machine, constants: Constants) -> None:
    """Give products the narrowest weights that the machine multiplies f32 by."""
    if multiplies(machine, "i8"):
        products = [op for op in products if not _scale_after(op, constants)]
    types = [name for name in NARROW if multiplies(machine, name)]
    for weight in {op.operands[1].owner: None for op in products} if types else ():
        if isinstance(weight, graph.WeightOp):
            _narrow(weight, types, constants)


def _scale_after(op: Product, constants: Constants) -> bool:
    """`x * (scale * w)` is `scale * (x * w)`, where the scale is a number or has one for each output channel."""
    builder, (x, w, *bias) = Builder.of(constants, op), op.operands
    if element_of(x) != f32 or not isinstance(w.owner, graph.DequantizeOp):
        return False
    rows = isinstance(op, graph.ConvOp) or (isinstance(op, graph.GemmOp) and op.trans_b is not None)
    given = signed_weights(builder, w, 0 if rows else len(shape_of(w)) - 1)
    if given is None or (isinstance(op, graph.GemmOp) and (op.alpha.value.data, op.beta.value.data) != (1.0, 1.0)):
        return False
    scale, shape = given[1].astype(np.float32), shape_of(op.result)
    along = (shape[1], *(1,) * (len(shape) - 2)) if isinstance(op, graph.ConvOp) else shape[-1:]
    name = base_name(w.owner, w.owner.x)  # one weight for all products of it
    narrow = builder.emit(constants.weight(f"{name}.weight", given[0]))
    product = type(op).create(operands=[x, narrow], properties=dict(op.properties), result_types=[op.result.type])
    value = builder.emit(product, "product")
    if np.any(scale != 1):
        factor = builder.emit(constants.weight(f"{name}.scale", scale if scale.size == 1 else scale.reshape(along)))
        value = builder.emit(graph.BinaryOp("mul", value, factor))
    if bias:
        term = bias[0] if not isinstance(op, graph.ConvOp) else builder.emit(graph.ReshapeOp(bias[0], along))
        value = builder.emit(graph.BinaryOp("add", value, term))
    builder.replace(op, value)
    return True


def _narrow(weight: graph.WeightOp, types: Sequence[str], constants: Constants) -> None:
    """A weight that products alone read as such, in the first of `types` that changes no number."""
    array = constants.array(weight.result) if element_of(weight.result) == f32 else None
    if array is None or any(use.index != 1 or not isinstance(use.operation, PRODUCTS) for use in weight.result.uses):
        return
    if any(element_of(use.operation.operands[0]) != f32 for use in weight.result.uses):
        return
    for name in types:
        narrow = held(array, ELEMENT_TYPES[name])
        if narrow is not None:
            made = constants.weight(f"{weight.resource}.{name}", narrow)
            Rewriter.insert_op(made, InsertPoint.before(weight))
            weight.result.replace_all_uses_with(made.result)
            Rewriter.erase_op(weight)
            return


def held(array: Array, dtype: np.dtype[Any]) -> Array | None:
    """The array in a narrower type, if that holds all its numbers."""
    found = sample = array[(slice(0, 1),) * (array.ndim - 1)].reshape(-1)[:SAMPLE]
    for part in (sample, array):
        with np.errstate(over="ignore"):
            found = part.astype(dtype)
        if not np.array_equal(found.astype(np.float32), part):
            return None
    return found
