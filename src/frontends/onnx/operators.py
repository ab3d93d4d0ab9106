"""The table of ONNX operators: what makes graph operations of each, and which inputs must be constant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import elementwise, matrix, movement, normalization, quantization, resize, windows
from .node import Node
from .scope import Scope, Value

Maker = Callable[[Scope, Node], Sequence[Value]]
"""Emits the operations of a node and gives its outputs, first to last; optional ones may be missing at the end."""


@dataclass(frozen=True)
class Operator:
    """How an operator is imported; `constant_inputs` are the positions that must be known when compiling."""

    make: Maker | None
    constant_inputs: tuple[int, ...] = ()


OPERATORS: dict[str, Operator] = {
    **{name: Operator(elementwise.unary) for name in elementwise.UNARY},
    **{name: Operator(elementwise.binary) for name in elementwise.BINARY},
    **{name: Operator(normalization.reduce, (1,)) for name in normalization.REDUCTIONS},
    "AveragePool": Operator(windows.average_pool),
    "BatchNormalization": Operator(normalization.batch_normalization),
    "Cast": Operator(elementwise.cast),
    "Clip": Operator(elementwise.clip),
    "Concat": Operator(movement.concat),
    "Constant": Operator(None),
    "ConstantOfShape": Operator(None, (0,)),
    "Conv": Operator(windows.conv),
    "DequantizeLinear": Operator(quantization.dequantize_linear),
    "Dropout": Operator(movement.dropout, (1, 2)),
    "Expand": Operator(movement.expand, (1,)),
    "Flatten": Operator(movement.reshape),
    "Gather": Operator(movement.gather, (1,)),
    "Gelu": Operator(elementwise.gelu),
    "Gemm": Operator(matrix.gemm),
    "GlobalAveragePool": Operator(windows.global_pool),
    "GlobalMaxPool": Operator(windows.global_pool),
    "HardSigmoid": Operator(elementwise.hard_sigmoid),
    "Identity": Operator(movement.identity),
    "LRN": Operator(windows.lrn),
    "LayerNormalization": Operator(normalization.layer_normalization),
    "LeakyRelu": Operator(elementwise.leaky_relu),
    "MatMul": Operator(matrix.matmul),
    "MaxPool": Operator(windows.max_pool),
    "Pad": Operator(movement.pad, (1, 2, 3)),
    "QuantizeLinear": Operator(quantization.quantize_linear),
    "Reshape": Operator(movement.reshape, (1,)),
    "Resize": Operator(resize.resize, (1, 2, 3)),
    "Shape": Operator(None),
    "Size": Operator(None),
    "Slice": Operator(movement.slice_, (1, 2, 3, 4)),
    "Softmax": Operator(normalization.softmax),
    "Split": Operator(movement.split, (1,)),
    "Squeeze": Operator(movement.reshape, (1,)),
    "Transpose": Operator(movement.transpose),
    "Unsqueeze": Operator(movement.reshape, (1,)),
    "Upsample": Operator(resize.resize, (1,)),
}


def operator_names() -> tuple[str, ...]:
    """The ONNX operators that the importer takes, sorted."""
    return tuple(sorted(OPERATORS))
