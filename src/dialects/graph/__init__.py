"""The graph dialect: layers on ranked tensors, with the meaning of the ONNX operators they come from.

A network is one `func.func` whose values are tensors; the function's attributes `graph.inputs` and `graph.outputs` are
the names of arguments and results, the discardable attribute `name` of a layer is the name its value had in the
imported model.  8-bit integers are `si8` and `ui8`, accumulators `i32`.  Weights are named (`graph.weight`); their
bytes are in the module's resources.  Shapes are static, but for graphs that are kept open (`extents`).
"""

from xdsl.ir import Dialect

from .base import KIND_ATTRIBUTES, BinaryKind, LayerOp, PadMode, PoolKind, ReduceKind, UnaryKind, name_of, set_name
from .elementwise import BinaryOp, CastOp, ClipOp, SelectOp, UnaryOp
from .extents import ExtentsAttr
from .groups import FusedGroupOp, GroupOp, LayerGroupOp, YieldOp, region_of
from .layers import ConvOp, GemmOp, MatmulOp, PoolOp, ReduceOp, UnfoldOp
from .movement import (
    ConcatOp,
    ExpandOp,
    GatherOp,
    LookupOp,
    PadOp,
    ReshapeOp,
    ResizeOp,
    SliceOp,
    TransposeOp,
    WeightOp,
    dense,
    dense_array,
)
from .normalization import LONGEST_ROW, BatchNormOp, LayerNormOp, LrnOp, SoftmaxOp, StandardizeOp, most_bits
from .quantized import DequantizeOp, QuantizeOp, RequantizeOp

Graph = Dialect(
    "graph",
    [
        WeightOp,
        ConvOp,
        UnfoldOp,
        GemmOp,
        MatmulOp,
        PoolOp,
        ReduceOp,
        SoftmaxOp,
        LayerNormOp,
        LrnOp,
        BatchNormOp,
        StandardizeOp,
        UnaryOp,
        ClipOp,
        BinaryOp,
        SelectOp,
        CastOp,
        ConcatOp,
        SliceOp,
        PadOp,
        ReshapeOp,
        TransposeOp,
        ResizeOp,
        GatherOp,
        LookupOp,
        ExpandOp,
        QuantizeOp,
        DequantizeOp,
        RequantizeOp,
        FusedGroupOp,
        LayerGroupOp,
        YieldOp,
    ],
    [*KIND_ATTRIBUTES, ExtentsAttr],
)

__all__ = [
    "LONGEST_ROW",
    "BatchNormOp",
    "BinaryKind",
    "BinaryOp",
    "CastOp",
    "ClipOp",
    "ConcatOp",
    "ConvOp",
    "DequantizeOp",
    "ExpandOp",
    "ExtentsAttr",
    "FusedGroupOp",
    "GatherOp",
    "GemmOp",
    "Graph",
    "GroupOp",
    "LayerGroupOp",
    "LayerNormOp",
    "LayerOp",
    "LrnOp",
    "MatmulOp",
    "PadMode",
    "PadOp",
    "PoolKind",
    "PoolOp",
    "QuantizeOp",
    "ReduceKind",
    "ReduceOp",
    "RequantizeOp",
    "ReshapeOp",
    "ResizeOp",
    "SelectOp",
    "SliceOp",
    "SoftmaxOp",
    "StandardizeOp",
    "TransposeOp",
    "UnaryKind",
    "UnaryOp",
    "UnfoldOp",
    "WeightOp",
    "YieldOp",
    "dense",
    "dense_array",
    "most_bits",
    "name_of",
    "region_of",
    "set_name",
]
