"""Nodes on constants, computed by ONNX's own reference implementation; how large results are is asked before."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, TensorProto, helper, numpy_helper, shape_inference

from ...algebra.element import Array
from .load import NUMPY_TYPES
from .scope import Node
from .types import schema_of

MAX_ELEMENTS = 1 << 16
"""How many elements of inputs and outputs a node may have together to be computed so: some loop in Python."""

SHORT = 1 << 10
"""Inputs of at most so many elements are shown to shape inference, which reads axes and shapes in them."""

BOUNDED = ("NonZero", "Compress", "Unique")
"""Operators whose outputs are not larger than their inputs, although their shapes are not known before."""

EXCLUDED = (
    *("Constant", "DequantizeLinear", "Dropout", "Einsum", "ImageDecoder", "NonMaxSuppression", "TfIdfVectorizer"),
)
"""Operators that are not computed so: work that sizes do not bound, and what quantised layers are found by."""


def evaluate(node: Node, inputs: Sequence[Array | None]) -> tuple[Array, ...] | None:
    """The outputs of `node`, or None where they are not numbers, too large, or not known to be small."""
    schema = schema_of(node.op, node.version)
    if schema is None or node.op in EXCLUDED or node.proto.domain not in ("", "ai.onnx"):
        return None
    random = schema.node_determinism == schema.NodeDeterminism.NonDeterministic and node.op != "AffineGrid"
    graphs = any(isinstance(value, GraphProto) for value in node.attributes.values())
    if random or graphs or any(map(_large, node.attributes.values())) or any(map(_outside, node.proto.attribute)):
        return None
    if any(a is not None and a.dtype not in NUMPY_TYPES.values() for a in inputs):
        return None
    given = sum(a.size for a in inputs if a is not None)
    if given > MAX_ELEMENTS:
        return None
    expected = given * 8 if node.op in BOUNDED else _elements(_model(node, inputs, stored=True))
    if expected is None or given + expected > MAX_ELEMENTS:
        return None
    return _run(node, _model(node, inputs, stored=False), inputs)


def _large(value: object) -> bool:
    """Whether an attribute has numbers that a loop may count to."""
    numbers = value if isinstance(value, tuple) else (value,)
    return any(isinstance(number, int) and abs(number) > MAX_ELEMENTS for number in numbers)


def _outside(attribute: AttributeProto) -> bool:
    return attribute.type == AttributeProto.TENSOR and attribute.t.data_location == TensorProto.EXTERNAL


def _model(node: Node, inputs: Sequence[Array | None], stored: bool) -> ModelProto:
    """A model of the node alone; with `stored` short inputs are part of it."""
    named = {n: a for n, a in zip(node.inputs, inputs, strict=True) if a is not None}
    short = {n: a for n, a in named.items() if stored and a.size <= SHORT}
    values = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in named.items()
        if n not in short
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.outputs if name]
    constants = [numpy_helper.from_array(np.ascontiguousarray(a).reshape(a.shape), n) for n, a in short.items()]
    graph = helper.make_graph([node.proto], "node", values, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", node.version)], ir_version=10)


def _elements(model: ModelProto) -> int | None:
    """A bound on the elements of the outputs, by shape inference."""
    try:
        inferred = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except Exception:  # whatever it raises, it does not know
        return None
    return _known(inferred)


def _known(model: ModelProto) -> int | None:
    total = 0
    for value in model.graph.output:
        shape = value.type.tensor_type.shape
        if value.type.WhichOneof("value") != "tensor_type" or not value.type.tensor_type.HasField("shape"):
            return None
        if not all(dim.HasField("dim_value") for dim in shape.dim):
            return None
        total += prod(dim.dim_value for dim in shape.dim)
    return total


def _run(node: Node, model: ModelProto, inputs: Sequence[Array | None]) -> tuple[Array, ...] | None:
    from onnx.reference import ReferenceEvaluator  # slow to load, seldom needed

    named: dict[str, Any] = {n: a for n, a in zip(node.inputs, inputs, strict=True) if a is not None}
    try:
        with np.errstate(all="ignore"):
            results = ReferenceEvaluator(model).run(None, named)
    except Exception:  # whatever it raises: constants that do not fit, or a version that it does not know
        return None
    arrays = [result for result in results if isinstance(result, np.ndarray | np.generic)]
    if len(arrays) != len(results):
        return None
    made = iter(np.asarray(array) for array in arrays)
    return tuple(next(made) if name else np.zeros(0) for name in node.outputs)
