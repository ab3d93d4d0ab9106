"""TFLite graphs of one operator each, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .builder import Model

I8: dict[str, Any] = {"scale": 0.05, "zero": 3}
"""A usual scale of 8-bit integers."""

Shape = Sequence[int]


def case(
    kind: str,
    inputs: Sequence[Shape],
    outputs: Sequence[Shape],
    *,
    constants: Sequence[Any] = (),
    options: str = "",
    dtype: str = "float32",
    result: str | Sequence[str] = "",
    scaling: Mapping[str, Any] | None = None,
    made: Mapping[str, Any] | None = None,
    front: bool = False,
    **fields: Any,
) -> Callable[[], bytes]:
    """A graph of one operator: `constants` stand behind its inputs, or before them with `front`."""

    def build() -> bytes:
        model = Model()
        read = [model.input(shape, dtype, **(scaling or {})) for shape in inputs]
        fixed = [model.constant(c[0], **c[1]) if isinstance(c, tuple) else model.constant(c) for c in constants]
        types = [result or dtype] * len(outputs) if isinstance(result, str) else result
        results = [model.tensor(s, t, **(made or scaling or {})) for s, t in zip(outputs, types, strict=True)]
        model.node(kind, fixed + read if front else read + fixed, results, options and f"{options}Options", **fields)
        return model.bytes(results)

    return build


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def normal(shape: Shape, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.5, shape).astype(np.float32)


def steps(shape: Shape, scale: Any = 0.01, axis: int = 0, dtype: str = "int8", zero: int = 0) -> tuple[Any, Any]:
    """Constant 8-bit weights."""
    low, high = (-127, 128) if dtype == "int8" else (1, 255)
    array = np.random.default_rng(5).integers(low, high, shape).astype(dtype)
    return array, {"scale": scale, "axis": axis, "zero": zero}


def bias(count: int, scale: Any) -> tuple[Any, Any]:
    return np.random.default_rng(6).integers(-500, 500, count).astype(np.int32), {"scale": scale}


X = (1, 6, 6, 4)
WINDOW: dict[str, Any] = {"StrideH": 1, "StrideW": 1}
POOL: dict[str, Any] = {**WINDOW, "FilterHeight": 3, "FilterWidth": 2}
BYTES: dict[str, Any] = {"dtype": "int8", "scaling": I8}
SHARES: dict[str, Any] = {"scale": 1 / 256, "zero": -128}
DIVISORS = ints(3, -3, 2, -2, 5, 7, -7, 4, -5)
OTHER: dict[str, Any] = {"scale": 0.08, "zero": -7}

CASES: dict[str, Callable[[], bytes]] = {
    "conv": case(
        *("CONV_2D", [X], [(1, 3, 3, 5)]),
        constants=[normal((5, 3, 3, 4)), normal((5,), 1)],
        options="Conv2D",
        StrideH=2,
        StrideW=2,
        FusedActivationFunction=2,
    ),
    "conv_dilated": case(
        *("CONV_2D", [X], [(1, 2, 2, 5)]),
        constants=[normal((5, 3, 3, 4)), normal((5,), 1)],
        options="Conv2D",
        **WINDOW,
        Padding=1,
        DilationHFactor=2,
        DilationWFactor=2,
        FusedActivationFunction=1,
    ),
    "conv_groups": case(
        *("CONV_2D", [X], [(1, 6, 6, 6)]), constants=[normal((6, 3, 3, 2)), normal((6,), 1)], options="Conv2D", **WINDOW
    ),
    "conv_uint8": case(
        *("CONV_2D", [X], [(1, 6, 6, 5)]),
        dtype="uint8",
        scaling={"scale": 0.05, "zero": 120},
        made={"scale": 0.11, "zero": 131},
        constants=[steps((5, 3, 3, 4), 0.01, 0, "uint8", 128), bias(5, 0.0005)],
        options="Conv2D",
        **WINDOW,
    ),
    "conv_channels": case(
        *("CONV_2D", [X], [(1, 6, 6, 5)]),
        constants=[steps((5, 1, 1, 4), [0.01, 0.02, 0.03, 0.01, 0.02]), bias(5, [5e-4, 1e-3, 1.5e-3, 5e-4, 1e-3])],
        options="Conv2D",
        **BYTES,
        made=OTHER,
        **WINDOW,
    ),
    "depthwise": case(
        *("DEPTHWISE_CONV_2D", [X], [(1, 6, 6, 8)]),
        constants=[normal((1, 3, 3, 8)), normal((8,), 1)],
        options="DepthwiseConv2D",
        **WINDOW,
        DepthMultiplier=2,
    ),
    "depthwise_bytes": case(
        *("DEPTHWISE_CONV_2D", [X], [(1, 3, 3, 4)]),
        constants=[steps((1, 3, 3, 4), [0.01, 0.02, 0.03, 0.01], 3), bias(4, [5e-4, 1e-3, 1.5e-3, 5e-4])],
        options="DepthwiseConv2D",
        **BYTES,
        made=OTHER,
        StrideH=2,
        StrideW=2,
        DepthMultiplier=1,
    ),
    "transposed": case(
        *("TRANSPOSE_CONV", [X], [(1, 12, 12, 3)]),
        constants=[ints(1, 12, 12, 3), normal((3, 3, 3, 4))],
        front=True,
        options="TransposeConv",
        StrideH=2,
        StrideW=2,
    ),
    "transposed_valid": case(
        *("TRANSPOSE_CONV", [X], [(1, 13, 13, 3)]),
        constants=[ints(1, 13, 13, 3), normal((3, 3, 3, 4))],
        front=True,
        options="TransposeConv",
        StrideH=2,
        StrideW=2,
        Padding=1,
    ),
    "dense": case(
        *("FULLY_CONNECTED", [(2, 6)], [(2, 5)]),
        constants=[normal((5, 6)), normal((5,), 1)],
        options="FullyConnected",
        FusedActivationFunction=1,
    ),
    "dense_bytes": case(
        *("FULLY_CONNECTED", [(2, 6)], [(2, 5)]),
        constants=[steps((5, 6)), bias(5, 0.0005)],
        options="FullyConnected",
        **BYTES,
        made=OTHER,
        FusedActivationFunction=1,
    ),
    "dense_rows": case(
        *("FULLY_CONNECTED", [(2, 3, 6)], [(2, 3, 5)]),
        constants=[steps((5, 6)), bias(5, 0.0005)],
        options="FullyConnected",
        **BYTES,
        made=OTHER,
        KeepNumDims=True,
    ),
    "batch_matmul": case(*("BATCH_MATMUL", [(2, 3, 4), (2, 5, 4)], [(2, 3, 5)]), options="BatchMatMul", AdjY=True),
    "batch_matmul_bytes": case(
        *("BATCH_MATMUL", [(2, 3, 4), (2, 4, 5)], [(2, 3, 5)]), options="BatchMatMul", **BYTES, made=OTHER
    ),
    "average": case("AVERAGE_POOL_2D", [X], [(1, 6, 6, 4)], options="Pool2D", **POOL, FusedActivationFunction=3),
    "average_bytes": case("AVERAGE_POOL_2D", [X], [(1, 4, 5, 4)], options="Pool2D", **BYTES, **POOL, Padding=1),
    "maximum_pool": case("MAX_POOL_2D", [X], [(1, 6, 6, 4)], options="Pool2D", **POOL),
    "maximum_pool_bytes": case("MAX_POOL_2D", [X], [(1, 6, 6, 4)], options="Pool2D", **BYTES, **POOL),
    "add": case("ADD", [(2, 3, 4), (4,)], [(2, 3, 4)], options="Add", FusedActivationFunction=1),
    "add_bytes": case("ADD", [X, X], [X], options="Add", **BYTES, made=OTHER),
    "add_constant": case("ADD", [X], [X], constants=[steps((4,), 0.02)], options="Add", **BYTES, made=OTHER),
    "sub_bytes": case("SUB", [X, X], [X], options="Sub", **BYTES, made=OTHER),
    "mul_bytes": case("MUL", [X, (1, 1, 1, 4)], [X], options="Mul", **BYTES, made={"scale": 0.2, "zero": 1}),
    "div": case("DIV", [(2, 3)], [(2, 3)], constants=[np.array([[1.5, 2, -3]], np.float32)], options="Div"),
    "maximum": case("MAXIMUM", [(2, 3), (2, 3)], [(2, 3)]),
    "minimum": case("MINIMUM", [(2, 3), (2, 3)], [(2, 3)]),
    "squared_difference": case("SQUARED_DIFFERENCE", [(2, 3), (3,)], [(2, 3)]),
    "floor_div": case("FLOOR_DIV", [(2, 3), (3,)], [(2, 3)]),
    "floor_div_integers": case("FLOOR_DIV", [(9,)], [(9,)], constants=[DIVISORS], dtype="int32"),
    "floor_mod_integers": case("FLOOR_MOD", [(9,)], [(9,)], constants=[DIVISORS], dtype="int32"),
    "less": case("LESS", [(2, 3), (2, 3)], [(2, 3)], result="bool"),
    "not_equal": case("NOT_EQUAL", [(7,)], [(7,)], constants=[ints(*range(7))], dtype="int32", result="bool"),
    "add_n": case("ADD_N", [(2, 3)] * 3, [(2, 3)]),
    "select": case("SELECT_V2", [(2, 3), (3,)], [(2, 3)], constants=[np.array([[True], [False]])], front=True),
    "relu_n1_to_1": case("RELU_N1_TO_1", [(2, 3)], [(2, 3)]),
    "relu_bytes": case("RELU", [X], [X], **BYTES, made=OTHER),
    "relu6": case("RELU6", [X], [X]),
    "relu6_bytes": case("RELU6", [X], [X], **BYTES, made={"scale": 6 / 255, "zero": -128}),
    "prelu": case("PRELU", [X], [X], constants=[normal((1, 1, 4))]),
    "leaky": case("LEAKY_RELU", [X], [X], options="LeakyRelu", Alpha=0.1),
    "leaky_bytes": case("LEAKY_RELU", [X], [X], options="LeakyRelu", **BYTES, made=OTHER, Alpha=0.1),
    "gelu": case("GELU", [(2, 3)], [(2, 3)], options="Gelu", Approximate=False),
    "logistic": case("LOGISTIC", [(2, 3)], [(2, 3)]),
    "logistic_bytes": case("LOGISTIC", [X], [X], **BYTES, made=SHARES),
    "tanh_bytes": case("TANH", [X], [X], **BYTES, made={"scale": 1 / 128, "zero": 0}),
    "hard_swish": case("HARD_SWISH", [X], [X]),
    "hard_swish_bytes": case("HARD_SWISH", [X], [X], **BYTES, made={"scale": 0.04, "zero": -110}),
    "elu": case("ELU", [(2, 3)], [(2, 3)]),
    "square": case("SQUARE", [(2, 3)], [(2, 3)]),
    "abs": case("ABS", [(2, 3)], [(2, 3)]),
    "round": case("ROUND", [(20,)], [(20,)]),
    "softmax": case("SOFTMAX", [(2, 5)], [(2, 5)], options="Softmax", Beta=0.5),
    "softmax_bytes": case("SOFTMAX", [(2, 5)], [(2, 5)], options="Softmax", **BYTES, made=SHARES, Beta=1.0),
    "log_softmax": case("LOG_SOFTMAX", [(2, 5)], [(2, 5)]),
    "mean": case("MEAN", [X], [(1, 1, 1, 4)], constants=[ints(1, 2)], options="Reducer", KeepDims=True),
    "mean_bytes": case("MEAN", [X], [(1, 4)], constants=[ints(1, -2)], options="Reducer", **BYTES, made=OTHER),
    "sum": case("SUM", [X], [(1, 6, 4)], constants=[ints(2)], options="Reducer"),
    "reduce_max": case("REDUCE_MAX", [X], [(1, 6, 6)], constants=[ints(3)], options="Reducer"),
    "l2": case("L2_NORMALIZATION", [(2, 5)], [(2, 5)], options="L2Norm"),
    "local_response": case(
        *("LOCAL_RESPONSE_NORMALIZATION", [X], [X]),
        options="LocalResponseNormalization",
        Radius=1,
        Bias=1.0,
        Alpha=0.1,
        Beta=0.75,
    ),
    "arg_max": case("ARG_MAX", [(3, 5)], [(3,)], constants=[ints(1)], options="ArgMax", result="int32", OutputType=2),
    "cumsum": case("CUMSUM", [(3, 5)], [(3, 5)], constants=[ints(1)], options="Cumsum", Exclusive=True),
    "cast": case("CAST", [(9,)], [(9,)], options="Cast", result="int32", InDataType=0, OutDataType=2),
    "quantize": case("QUANTIZE", [X], [X], result="int8", made=I8),
    "requantize": case("QUANTIZE", [X], [X], **BYTES, made=OTHER),
    "dequantize": case("DEQUANTIZE", [X], [X], dtype="int8", scaling=I8, result="float32", made={"scale": None}),
    "reshape": case("RESHAPE", [X], [(6, 24)], options="Reshape", NewShape=[6, -1]),
    "transpose": case("TRANSPOSE", [X], [(4, 1, 6, 6)], constants=[ints(3, 0, 1, 2)]),
    "squeeze": case("SQUEEZE", [(1, 3, 1)], [(1, 3)], options="Squeeze", SqueezeDims=[2]),
    "expand_dims": case("EXPAND_DIMS", [(2, 3)], [(2, 1, 3)], constants=[ints(1)]),
    "pad": case("PAD", [X], [(1, 9, 6, 5)], constants=[np.array([[0, 0], [1, 2], [0, 0], [1, 0]], np.int32)], **BYTES),
    "mirror": case(
        *("MIRROR_PAD", [(2, 5)], [(2, 8)]), constants=[np.array([[0, 0], [1, 2]], np.int32)], options="MirrorPad"
    ),
    "concat": case("CONCATENATION", [X, X], [(1, 6, 6, 8)], options="Concatenation", **BYTES, Axis=-1),
    "pack": case("PACK", [(2, 3), (2, 3)], [(2, 2, 3)], options="Pack", Axis=1, ValuesCount=2),
    "unpack": case("UNPACK", [(3, 2)], [(3,), (3,)], options="Unpack", Axis=1, Num=2),
    "split": case("SPLIT", [X], [(1, 6, 6, 2)] * 2, constants=[ints(3)], front=True, options="Split", NumSplits=2),
    "split_v": case(
        *("SPLIT_V", [(2, 6)], [(2, 2), (2, 4)]), constants=[ints(2, -1), ints(1)], options="SplitV", NumSplits=2
    ),
    "slice": case("SLICE", [X], [(1, 2, 6, 3)], constants=[ints(0, 1, 0, 1), ints(1, 2, -1, 3)], options="Slice"),
    "strided_slice": case(
        *("STRIDED_SLICE", [(4, 6, 5)], [(2, 3)]),
        constants=[ints(1, 2, 4), ints(3, 3, 0), ints(1, 1, -2)],
        options="StridedSlice",
        EndMask=4,
        ShrinkAxisMask=2,
    ),
    "reverse": case("REVERSE_V2", [(3, 4)], [(3, 4)], constants=[ints(1)]),
    "depth_to_space": case("DEPTH_TO_SPACE", [X], [(1, 12, 12, 1)], options="DepthToSpace", BlockSize=2),
    "space_to_depth": case("SPACE_TO_DEPTH", [X], [(1, 3, 3, 16)], options="SpaceToDepth", BlockSize=2),
    "gather": case("GATHER", [(4, 3)], [(2, 3)], constants=[ints(3, 1)], options="Gather"),
    "embedding": case(
        "EMBEDDING_LOOKUP", [(5,)], [(5, 3)], constants=[normal((10, 3))], dtype="int32", result="float32"
    ),
    "tile": case("TILE", [(2, 3)], [(4, 3)], constants=[ints(2, 1)]),
    "broadcast": case("BROADCAST_TO", [(1, 3)], [(2, 3)], constants=[ints(2, 3)]),
    "top_k": case("TOPK_V2", [(2, 6)], [(2, 3), (2, 3)], constants=[ints(3)], result=("float32", "int32")),
    "neg": case("NEG", [(3,)], [(3,)]),
    "bilinear": case(
        "RESIZE_BILINEAR",
        [X],
        [(1, 9, 12, 4)],
        constants=[ints(9, 12)],
        options="ResizeBilinear",
        HalfPixelCenters=True,
    ),
    "bilinear_corners": case(
        "RESIZE_BILINEAR", [X], [(1, 9, 12, 4)], constants=[ints(9, 12)], options="ResizeBilinear", AlignCorners=True
    ),
    "bilinear_bytes": case(
        "RESIZE_BILINEAR", [X], [(1, 12, 12, 4)], constants=[ints(12, 12)], options="ResizeBilinear", **BYTES
    ),
    "nearest": case(
        "RESIZE_NEAREST_NEIGHBOR", [X], [(1, 9, 12, 4)], constants=[ints(9, 12)], options="ResizeNearestNeighbor"
    ),
    "nearest_half": case(
        *("RESIZE_NEAREST_NEIGHBOR", [X], [(1, 9, 13, 4)]),
        constants=[ints(9, 13)],
        options="ResizeNearestNeighbor",
        HalfPixelCenters=True,
        **BYTES,
    ),
}
"""One operator each, in f32 and in 8-bit integers."""
