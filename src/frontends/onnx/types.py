"""Element types of what operators give, as ONNX's schemas say, and the types in which arithmetic is done."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from onnx import defs

from ...algebra.element import ELEMENT_TYPES
from ...dialects.types import WIDER
from .load import NAMED_TYPES
from .scope import Node

DType = np.dtype[Any]

BOOL = np.dtype(np.bool_)

WRAPPING = ("Add", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Equal", "Mul", "Sub", "Sum")
"""Operators that are the same on uint64 and, modulo its size, on int64."""


ORDERING = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "TopK")
"""Operators that are the same on uint64 and, less 2^63, on int64."""


BYTES: Mapping[DType, DType] = {
    **{ELEMENT_TYPES[name]: np.dtype(np.int8) for name in ("i4", "i2")},
    **{ELEMENT_TYPES[name]: np.dtype(np.uint8) for name in ("u4", "u2")},
}
"""Integers below 8 bits -> those of 8 bits that hold them: what is dequantised stays as narrow as products take."""


def wider(dtype: DType, op: str, doubles: bool = False) -> DType | None:
    """The type in which an operator computes with a narrow one, if there is one; with `doubles` f64 in f32."""
    if dtype == np.float64 and doubles:
        return np.dtype(np.float32)
    if op == "DequantizeLinear" and dtype in BYTES:
        return BYTES[dtype]
    wrapped = np.dtype(np.int64) if dtype == np.uint64 and op in (*WRAPPING, *ORDERING) else None
    return WIDER.get(dtype, wrapped)


_TENSORS: Mapping[str, DType] = {f"tensor({name.lower()})": dtype for name, dtype in NAMED_TYPES.items()}


@cache
def schema_of(op: str, version: int, domain: str = "") -> Any:
    """ONNX's schema of an operator in a version of the default domain, or of another domain the latest, or None.

    Not `defs.OpSchema`, whose stub lacks what it says of functions.
    """
    domain = "" if domain == "ai.onnx" else domain
    if not defs.has(op, domain):
        return None
    if domain:
        return defs.get_schema(op, domain)
    try:
        return defs.get_schema(op, version)
    except defs.SchemaError:  # younger than the version
        return None


def output_types(node: Node, inputs: Sequence[DType | None]) -> list[DType | None]:
    """The element types of a node's outputs that follow from those of its inputs alone."""
    schema = schema_of(node.op, node.version, node.proto.domain)
    if schema is None or not schema.outputs:
        return [None] * len(node.outputs)
    bound: dict[str, DType] = {}
    for index, dtype in enumerate(inputs):
        formal = schema.inputs[min(index, len(schema.inputs) - 1)]
        if dtype is not None:
            bound.setdefault(formal.type_str, dtype)
    for constraint in schema.type_constraints:
        if len(constraint.allowed_type_strs) == 1 and constraint.allowed_type_strs[0] in _TENSORS:
            bound[constraint.type_param_str] = _TENSORS[constraint.allowed_type_strs[0]]
    formals = [schema.outputs[min(i, len(schema.outputs) - 1)].type_str for i in range(len(node.outputs))]
    return [_TENSORS.get(name, bound.get(name)) for name in formals]
