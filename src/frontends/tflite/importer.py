"""From a TFLite model to a module in the graph dialect, through ONNX."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ..input_shapes import InputShapes
from ..onnx import import_onnx
from . import elementwise, layers, movement
from .reader import read_tflite
from .translation import Translation

CONVERTERS: dict[str, Callable[[Translation], None]] = {
    **dict.fromkeys(elementwise.UNARY, elementwise.unary),
    **dict.fromkeys(elementwise.BOUNDS, elementwise.bounded),
    **dict.fromkeys(elementwise.BINARY, elementwise.binary),
    **dict.fromkeys(elementwise.REDUCTIONS, elementwise.reduce),
    "ADD_N": elementwise.add_n,
    "ARG_MAX": elementwise.arg_extreme,
    "ARG_MIN": elementwise.arg_extreme,
    "AVERAGE_POOL_2D": layers.pool,
    "BATCH_MATMUL": layers.batch_matmul,
    "BROADCAST_TO": movement.broadcast,
    "CAST": elementwise.cast,
    "CONCATENATION": movement.concatenate,
    "CONV_2D": layers.convolution,
    "CUMSUM": elementwise.cumulative_sum,
    "DENSIFY": movement.densify,
    "DEPTHWISE_CONV_2D": layers.depthwise,
    "DEPTH_TO_SPACE": movement.depth_space,
    "DEQUANTIZE": elementwise.dequantize,
    "EMBEDDING_LOOKUP": movement.gather,
    "EXPAND_DIMS": movement.expand_dims,
    "FILL": movement.fill,
    "FLOOR_DIV": elementwise.floor_div,
    "FULLY_CONNECTED": layers.fully_connected,
    "GATHER": movement.gather,
    "GATHER_ND": movement.gather,
    "GELU": elementwise.parametrised,
    "L2_NORMALIZATION": elementwise.l2_normalization,
    "LEAKY_RELU": elementwise.parametrised,
    "LOCAL_RESPONSE_NORMALIZATION": elementwise.local_response,
    "LOG_SOFTMAX": elementwise.softmax,
    "MAX_POOL_2D": layers.pool,
    "MIRROR_PAD": movement.pad,
    "NOT_EQUAL": elementwise.not_equal,
    "ONE_HOT": movement.one_hot,
    "PACK": movement.pack,
    "PAD": movement.pad,
    "PADV2": movement.pad,
    "QUANTIZE": elementwise.quantize,
    "RANGE": movement.range_of,
    "RESHAPE": movement.reshape,
    "RESIZE_BILINEAR": layers.resize,
    "RESIZE_NEAREST_NEIGHBOR": layers.resize,
    "REVERSE_V2": movement.reverse,
    "RSQRT": elementwise.powers,
    "SELECT": elementwise.select,
    "SELECT_V2": elementwise.select,
    "SHAPE": movement.shape_of,
    "SLICE": movement.slice_,
    "SOFTMAX": elementwise.softmax,
    "SPACE_TO_DEPTH": movement.depth_space,
    "SPLIT": movement.split,
    "SPLIT_V": movement.split,
    "SQUARE": elementwise.powers,
    "SQUARED_DIFFERENCE": elementwise.squared_difference,
    "SQUEEZE": movement.squeeze,
    "STRIDED_SLICE": movement.strided_slice,
    "TILE": movement.tile,
    "TOPK_V2": movement.top_k,
    "TRANSPOSE": movement.transpose,
    "TRANSPOSE_CONV": layers.transposed_convolution,
    "UNPACK": movement.unpack,
    "ZEROS_LIKE": movement.zeros_like,
}
"""Makers of ONNX nodes by the names of operators in TFLite's schema."""


def operator_names() -> tuple[str, ...]:
    """The operators that are taken, sorted."""
    return tuple(sorted(CONVERTERS))


def import_tflite(model: str | Path | bytes, shapes: InputShapes | None = None) -> ModuleOp:
    """The function `@main` in the graph dialect that computes the main graph of a `.tflite` file, or of its bytes.

    `shapes` gives the extents that the model leaves open.  Raises `TilewrightError` for what cannot be imported, naming
    operator or tensor, and where the packages of the extra `tflite` are missing.
    """
    translation = Translation(read_tflite(model))
    for operator in translation.graph.operators:
        convert = CONVERTERS.get(operator.kind)
        if convert is None:
            lever = "leave this part out of the model, or convert it with other operators"
            raise operator.error("one of the operators that docs/tflite.md lists", operator.kind, lever=lever)
        translation.operator = operator
        convert(translation)
    return import_onnx(translation.model(), constants=translation.constants, shapes=shapes)
