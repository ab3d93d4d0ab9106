"""The table of ONNX operators: what makes graph operations of each, and which inputs must be constant."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onnx import defs

from . import (
    elementwise,
    indexing,
    logic,
    lookup,
    movement,
    products,
    quantization,
    recurrent,
    reductions,
    sampling,
    spectral,
    windows,
)
from .control import CONTROL, SEQUENCES
from .scope import Node, Scope, Value

Maker = Callable[[Scope, Node], Sequence[Value]]
"""Emits the operations of a node and gives its outputs, first to last; optional ones may be missing at the end."""


@dataclass(frozen=True)
class Operator:
    """How an operator is imported; `constant_inputs` are the positions that must be known when compiling.

    One without `make` is computed, or expanded to the function that ONNX defines it by.  What `moves` data takes any
    element type, others compute with narrow types in wider ones.  The first input must be of one of `types`, if any.
    """

    make: Maker | None
    constant_inputs: tuple[int, ...] = ()
    moves: bool = False
    types: tuple[str, ...] = ()


def _by_index(constant: Maker, run_time: Maker) -> Maker:
    """One maker where the indices (input 1) are constant, another where they are known at run time only."""
    return lambda scope, node: (constant if scope.is_constant(node, 1) else run_time)(scope, node)


FLOAT, BOOL = ("float32",), ("bool",)
NUMBERS = elementwise.NUMBERS
INTEGERS = ("uint8", *logic.SIGNED)
ORDERED = ("float32", "int32", "int64")
POOLED = ("float32", "int8", "uint8")

OPERATORS: dict[str, Operator] = {
    **{name: Operator(elementwise.unary, types=FLOAT) for name in elementwise.UNARY},
    **{name: Operator(elementwise.unary, types=NUMBERS) for name in elementwise.INTEGER_UNARY},
    **{name: Operator(elementwise.binary) for name in elementwise.BINARY},
    **{name: Operator(reductions.reduce, (1,)) for name in reductions.REDUCTIONS},
    **{name: Operator(logic.paired, types=(*NUMBERS, "bool")) for name in logic.PAIRS},
    **{name: Operator(logic.paired, types=BOOL) for name in ("And", "Or", "Xor")},
    **{name: Operator(logic.paired, types=INTEGERS) for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")},
    **{name: Operator(elementwise.function, types=FLOAT) for name in elementwise.FUNCTIONS},
    **{name: Operator(recurrent.recurrent, (4,), types=FLOAT) for name in recurrent.GATES},
    "AffineGrid": Operator(None, (1,)),
    "ArgMax": Operator(indexing.arg_extreme, types=NUMBERS),
    "ArgMin": Operator(indexing.arg_extreme, types=NUMBERS),
    "AveragePool": Operator(windows.average_pool, types=FLOAT),
    "BatchNormalization": Operator(reductions.batch_normalization, types=FLOAT),
    "BitCast": Operator(logic.bit_cast, moves=True),
    "BitShift": Operator(logic.bit_shift, types=INTEGERS),
    "BitwiseNot": Operator(logic.bitwise_not, types=INTEGERS),
    "Cast": Operator(elementwise.cast, moves=True),
    "CastLike": Operator(elementwise.cast, moves=True),
    "CenterCropPad": Operator(None, (1,)),
    "Clip": Operator(elementwise.clip, types=NUMBERS),
    "Col2Im": Operator(sampling.column_to_image, (1, 2), types=FLOAT),
    "Compress": Operator(indexing.compress, (1,), moves=True),
    "Concat": Operator(movement.concat, moves=True),
    "Constant": Operator(None),
    "ConstantOfShape": Operator(None, (0,)),
    "Conv": Operator(windows.conv, types=FLOAT),
    "ConvInteger": Operator(products.conv_integer),
    "ConvTranspose": Operator(windows.conv_transpose, types=FLOAT),
    "CumProd": Operator(indexing.cumulative, (1,), types=ORDERED),
    "CumSum": Operator(indexing.cumulative, (1,), types=ORDERED),
    "DFT": Operator(spectral.dft, (1, 2), types=FLOAT),
    "DepthToSpace": Operator(movement.depth_to_space, moves=True),
    "DequantizeLinear": Operator(quantization.dequantize_linear),
    "Dropout": Operator(movement.dropout, (1, 2), moves=True),
    "Einsum": Operator(products.einsum),
    "Expand": Operator(movement.expand, (1,), moves=True),
    "EyeLike": Operator(indexing.eye_like, moves=True),
    "Flatten": Operator(movement.reshape, moves=True),
    "Gather": Operator(_by_index(movement.gather, lookup.gather), moves=True),
    "GatherElements": Operator(_by_index(indexing.gather_elements, lookup.gather_elements), moves=True),
    "GatherND": Operator(_by_index(indexing.gather_nd, lookup.gather_nd), moves=True),
    "Gelu": Operator(elementwise.gelu, types=FLOAT),
    "Gemm": Operator(products.gemm, types=FLOAT),
    "GlobalAveragePool": Operator(windows.global_pool),
    "GlobalLpPool": Operator(windows.lp_pool, types=FLOAT),
    "GlobalMaxPool": Operator(windows.global_pool),
    "GridSample": Operator(sampling.grid_sample),
    "Hardmax": Operator(indexing.hardmax, types=FLOAT),
    "Identity": Operator(movement.identity, moves=True),
    "InstanceNormalization": Operator(reductions.instance_normalization, types=FLOAT),
    "IsInf": Operator(logic.is_inf, types=FLOAT),
    "IsNaN": Operator(logic.is_nan, types=FLOAT),
    "LRN": Operator(windows.lrn, types=FLOAT),
    "LayerNormalization": Operator(reductions.layer_normalization, types=FLOAT),
    "LogSoftmax": Operator(reductions.log_softmax, types=FLOAT),
    "LpNormalization": Operator(reductions.lp_normalization, types=FLOAT),
    "LpPool": Operator(windows.lp_pool, types=FLOAT),
    "MatMul": Operator(products.matmul, types=FLOAT),
    "MatMulInteger": Operator(products.matmul_integer),
    "MaxPool": Operator(windows.max_pool, types=POOLED),
    "Mean": Operator(logic.mean, types=FLOAT),
    "Mod": Operator(logic.mod),
    "NegativeLogLikelihoodLoss": Operator(None),
    "Not": Operator(logic.negation, types=BOOL),
    "OneHot": Operator(indexing.one_hot, (1,)),
    "PRelu": Operator(elementwise.prelu, types=NUMBERS),
    "Pad": Operator(movement.pad, (1, 2, 3), moves=True),
    "QLinearConv": Operator(products.qlinear_conv),
    "QLinearMatMul": Operator(products.qlinear_matmul),
    "QuantizeLinear": Operator(quantization.quantize_linear, types=FLOAT),
    "Range": Operator(None, (0, 1, 2)),
    "Reshape": Operator(movement.reshape, (1,), moves=True),
    "Resize": Operator(sampling.resize, (1, 2, 3)),
    "ReverseSequence": Operator(indexing.reverse_sequence, (1,), moves=True),
    "RotaryEmbedding": Operator(None, (3,)),
    "STFT": Operator(spectral.stft, (1, 3), types=FLOAT),
    "Scatter": Operator(_by_index(indexing.scatter_elements, lookup.scatter_elements)),
    "ScatterElements": Operator(_by_index(indexing.scatter_elements, lookup.scatter_elements)),
    "ScatterND": Operator(_by_index(indexing.scatter_nd, lookup.scatter_nd)),
    "Selu": Operator(elementwise.selu, types=FLOAT),
    "Shape": Operator(None),
    "Size": Operator(None),
    "Slice": Operator(movement.slice_, (1, 2, 3, 4), moves=True),
    "Softmax": Operator(reductions.softmax, types=FLOAT),
    "SoftmaxCrossEntropyLoss": Operator(None),
    "SpaceToDepth": Operator(movement.space_to_depth, moves=True),
    "Split": Operator(movement.split, (1,), moves=True),
    "Squeeze": Operator(movement.reshape, (1,), moves=True),
    "TensorScatter": Operator(lookup.tensor_scatter),
    "Tile": Operator(indexing.tile, (1, 2), moves=True),
    "TopK": Operator(indexing.top_k, (1,), types=ORDERED),
    "Transpose": Operator(movement.transpose, moves=True),
    "Trilu": Operator(indexing.trilu, (1,)),
    "Unsqueeze": Operator(movement.reshape, (1,), moves=True),
    "Upsample": Operator(sampling.resize, (1,)),
    "Where": Operator(logic.where),
}


WITHOUT_VALUES = ("Bernoulli",)
"""Operators that ONNX defines by a function of one that is not taken."""


def operator_names() -> tuple[str, ...]:
    """The ONNX operators that the importer takes, sorted: those that have makers, contain graphs, or are functions."""
    defined = {s.name for s in defs.get_all_schemas() if s.domain == "" and _is_function(s)}
    names = OPERATORS.keys() | CONTROL.keys() | SEQUENCES.keys() | defined
    return tuple(sorted(names.difference(WITHOUT_VALUES)))


def _is_function(schema: Any) -> bool:
    return bool(schema.has_function or schema.has_context_dependent_function)
