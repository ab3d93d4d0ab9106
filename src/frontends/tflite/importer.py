"""From a TFLite model to a module in the graph dialect, through ONNX."""

from collections.abc import Callable
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ...errors import TilewrightError
from ..input_shapes import InputShapes
from ..onnx import import_onnx
from . import layers, movement
from .reader import DAMAGED, read_tflite
from .translation import Translation

MANY = 1 << 16
"""Inputs that an operator has at most."""

CONVERTERS: dict[str, tuple[Callable[[Translation], None], int, int]] = {
    **{kind: (layers.elementwise, count, count) for kind, (count, _) in layers.ELEMENTWISE.items()},
    **{kind: (layers.reduce, 2, 2) for kind in layers.REDUCTIONS},
    "ADD_N": (layers.add_n, 1, MANY),
    "ARG_MAX": (layers.arg_extreme, 2, 2),
    "ARG_MIN": (layers.arg_extreme, 2, 2),
    "AVERAGE_POOL_2D": (layers.pool, 1, 1),
    "BATCH_MATMUL": (layers.batch_matmul, 2, 2),
    "BROADCAST_TO": (movement.broadcast, 2, 2),
    "CONCATENATION": (movement.concatenate, 0, MANY),
    "CONV_2D": (layers.convolution, 2, 3),
    "CUMSUM": (layers.cumulative_sum, 2, 2),
    "DENSIFY": (movement.densify, 1, 1),
    "DEPTHWISE_CONV_2D": (layers.depthwise, 2, 3),
    "DEPTH_TO_SPACE": (movement.depth_space, 1, 1),
    "EMBEDDING_LOOKUP": (movement.gather, 2, 2),
    "EXPAND_DIMS": (movement.expand_dims, 2, 2),
    "FILL": (movement.fill, 2, 2),
    "FULLY_CONNECTED": (layers.fully_connected, 2, 3),
    "GATHER": (movement.gather, 2, 2),
    "GATHER_ND": (movement.gather, 2, 2),
    "L2_NORMALIZATION": (layers.l2_normalization, 1, 1),
    "LOCAL_RESPONSE_NORMALIZATION": (layers.local_response, 1, 1),
    "LOG_SOFTMAX": (layers.softmax, 1, 1),
    "MAX_POOL_2D": (layers.pool, 1, 1),
    "MIRROR_PAD": (movement.pad, 2, 3),
    "ONE_HOT": (movement.one_hot, 4, 4),
    "PACK": (movement.pack, 0, MANY),
    "PAD": (movement.pad, 2, 3),
    "PADV2": (movement.pad, 2, 3),
    "RANGE": (movement.range_of, 3, 3),
    "RESHAPE": (movement.reshape, 1, 2),
    "RESIZE_BILINEAR": (layers.resize, 2, 2),
    "RESIZE_NEAREST_NEIGHBOR": (layers.resize, 2, 2),
    "REVERSE_V2": (movement.reverse, 2, 2),
    "SHAPE": (movement.shape_of, 1, 1),
    "SLICE": (movement.slice_, 3, 3),
    "SOFTMAX": (layers.softmax, 1, 1),
    "SPACE_TO_DEPTH": (movement.depth_space, 1, 1),
    "SPLIT": (movement.split, 2, 2),
    "SPLIT_V": (movement.split, 3, 3),
    "SQUEEZE": (movement.squeeze, 1, 1),
    "STRIDED_SLICE": (movement.strided_slice, 4, 4),
    "TILE": (movement.tile, 2, 2),
    "TOPK_V2": (movement.top_k, 2, 2),
    "TRANSPOSE": (movement.transpose, 2, 2),
    "TRANSPOSE_CONV": (layers.transposed_convolution, 3, 4),
    "UNPACK": (movement.unpack, 1, 1),
    "ZEROS_LIKE": (movement.zeros_like, 1, 1),
}
"""By the names of operators in TFLite's schema: what makes their ONNX nodes, and how many inputs they have."""


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
        if operator.kind not in CONVERTERS:
            lever = "leave this part out of the model, or convert it with other operators"
            raise operator.error("one of the operators that docs/tflite.md lists", operator.kind, lever=lever)
        convert, least, most = CONVERTERS[operator.kind]
        if not least <= len(operator.inputs) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            raise TilewrightError("parse", operator.label, f"{wanted} inputs", f"{len(operator.inputs)}", DAMAGED)
        translation.operator = operator
        convert(translation)
    return import_onnx(translation.model(), constants=translation.constants, shapes=shapes)
