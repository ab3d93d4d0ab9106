"""The shapes of a model's inputs: what its file says, completed by what the caller says."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import TensorShapeProto, ValueInfoProto

from ..input_shapes import InputShapes
from ..open_shapes import Extent, closed_shapes


def declared_shape(value: ValueInfoProto) -> tuple[Extent, ...] | None:
    """The shape that the file gives to a value; None where it gives none.

    An extent below 1 is open: exporters write -1 and 0 for what they do not know.
    """
    tensor = value.type.tensor_type
    return tuple(map(_extent, tensor.shape.dim)) if tensor.HasField("shape") else None


def is_batch_open(value: ValueInfoProto) -> bool:
    """Whether the file leaves the leading extent of an input open."""
    shape = declared_shape(value)
    return bool(shape) and not isinstance(shape[0], int)


def _extent(dim: TensorShapeProto.Dimension) -> Extent:
    if dim.HasField("dim_value"):
        return dim.dim_value if dim.dim_value > 0 else None
    return dim.dim_param or None


def input_shapes(values: Sequence[ValueInfoProto], given: InputShapes) -> dict[str, tuple[int, ...]]:
    """The shape of each of `values`."""
    return closed_shapes({value.name: declared_shape(value) for value in values}, given)
