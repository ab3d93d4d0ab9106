"""Operations that move elements and compute nothing: weights, concat, slice, pad, reshape, transpose, ..."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FlatSymbolRefAttrConstr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from ...algebra.element import Array
from ..types import Tensor, dtype_of, element_of, shape_of, tensor, tensor_of, tensor_type
from . import shapes
from .base import Int, Ints, LayerOp, PadMode, PadModeAttr, Real, check_constant, real


def dense(array: Array) -> DenseIntOrFPElementsAttr:
    """An array as an attribute."""
    type_ = tensor_of(array)
    data = np.ascontiguousarray(array, dtype_of(type_.element_type)).tobytes()
    return DenseIntOrFPElementsAttr(cast(Any, type_), BytesAttr(data))


def dense_array(attribute: DenseIntOrFPElementsAttr) -> Array:
    """The array in an attribute, read-only."""
    type_ = cast(Tensor, attribute.type)
    flat = np.frombuffer(attribute.data.data, dtype_of(type_.element_type))
    return flat.reshape(type_.get_shape())


def check_dense(what: str, attribute: DenseIntOrFPElementsAttr) -> None:
    """Check that an array attribute holds as many elements as its shape says, of a known type."""
    type_ = attribute.type
    if not isinstance(type_, TensorType):
        raise VerifyException(f"{what}: expected a tensor, found {type_}")
    try:
        dense_array(attribute)
    except ValueError as error:
        raise VerifyException(f"{what}: expected as many elements as {type_} has ({error})") from error


@irdl_op_definition
class WeightOp(LayerOp):
    """A constant tensor.  Its bytes are the array of this name in the module's resources, or stand here (tests).

    %w = graph.weight @conv1.weight : tensor<64x3x3x3xf32>
    %z = graph.weight @zero = dense<3> : tensor<ui8> : tensor<ui8>
    """

    name = "graph.weight"
    symbol = prop_def(FlatSymbolRefAttrConstr)
    value = opt_prop_def(DenseIntOrFPElementsAttr)
    assembly_format = "$symbol (`=` $value^)? attr-dict `:` type($result)"

    def __init__(self, symbol: str, type_: Tensor, value: Array | None = None):
        super().__init__(symbol=SymbolRefAttr(symbol), value=None if value is None else dense(value), result=type_)

    @property
    def resource(self) -> str:
        """The name of the array in the module's resources."""
        return self.symbol.root_reference.data

    def infer(self) -> Tensor:
        if self.value is None:
            return tensor_type(self.result)
        check_dense("value", self.value)
        return cast(Tensor, self.value.type)


@irdl_op_definition
class ConcatOp(LayerOp):
    """The operands one after another along `axis`.

    %y = graph.concat %a, %b axis 1 : (tensor<1x4x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x6x8x8xf32>
    """

    name = "graph.concat"
    pieces = var_operand_def(TensorType)
    axis = prop_def(Int)
    assembly_format = "$pieces `axis` $axis attr-dict `:` functional-type(operands, results)"

    def __init__(self, pieces: Sequence[SSAValue], *, axis: int):
        super().__init__(pieces, axis=axis)

    def infer(self) -> Tensor:
        shape = shapes.concat([shape_of(p) for p in self.pieces], self.axis.value.data)
        elements = [element_of(p) for p in self.pieces]
        if any(e != elements[0] for e in elements):
            raise VerifyException(f"expected equal element types, found {', '.join(map(str, elements))}")
        return tensor(shape, elements[0])


@irdl_op_definition
class SliceOp(LayerOp):
    """`y[i, j, ...] = x[starts[0] + i * steps[0], ...]`; extents are the result's; steps may be negative.

    %y = graph.slice %x starts [0, 2] steps [1, 2] : (tensor<2x8xf32>) -> tensor<2x3xf32>
    """

    name = "graph.slice"
    x = operand_def(TensorType)
    starts = prop_def(Ints)
    steps = prop_def(Ints)
    assembly_format = "$x `starts` $starts `steps` $steps attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue, *, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int] | None = None):
        steps = [1] * len(starts) if steps is None else steps
        super().__init__(x, starts=starts, steps=steps, result=tensor(sizes, element_of(x)))

    @staticmethod
    def along(x: SSAValue, axis: int, start: int, size: int) -> "SliceOp":
        """`size` elements of an axis from `start` on."""
        starts, sizes = [0] * len(shape_of(x)), list(shape_of(x))
        starts[axis], sizes[axis] = start, size
        return SliceOp(x, starts=starts, sizes=sizes)

    def infer(self) -> Tensor:
        sizes = shape_of(self.result)
        shapes.check_slice(shape_of(self.x), self.starts.get_values(), self.steps.get_values(), sizes)
        return tensor(sizes, element_of(self.x))


@irdl_op_definition
class PadOp(LayerOp):
    """`x` with `pads` (begin of every axis, then end) more elements: `value`, the edge, or `x` reflected or repeated.

    `value` belongs to mode constant, and is an integer where x is one.

        %y = graph.pad constant %x pads [0, 1, 0, 1] value 0.0 : (tensor<2x3xf32>) -> tensor<2x5xf32>
    """

    name = "graph.pad"
    mode = prop_def(PadModeAttr)
    x = operand_def(TensorType)
    pads = prop_def(Ints)
    value = prop_def(Real, default_value=real(0.0))
    assembly_format = (
        "$mode $x `pads` $pads (`value` custom<Number>($value)^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, x: SSAValue, *, pads: Sequence[int], mode: PadMode | str = PadMode.CONSTANT, value: float = 0.0):
        super().__init__(x, mode=mode, pads=pads, value=value)

    def infer(self) -> Tensor:
        value = self.value.value.data
        check_constant("value", value, element_of(self.x))
        if self.mode.data != PadMode.CONSTANT and value != 0.0:
            raise VerifyException(f"value has no meaning for {self.mode.data}")
        shape = shapes.pad(shape_of(self.x), self.pads.get_values(), self.mode.data == PadMode.REFLECT)
        return tensor(shape, element_of(self.x))


@irdl_op_definition
class ReshapeOp(LayerOp):
    """The same elements in the same (row-major) order under another shape.

    %y = graph.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
    """

    name = "graph.reshape"
    x = operand_def(TensorType)
    assembly_format = "$x attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue, shape: Sequence[int]):
        super().__init__(x, result=tensor(shape, element_of(x)))

    def infer(self) -> Tensor:
        shapes.check_reshape(shape_of(self.x), shape_of(self.result))
        return tensor(shape_of(self.result), element_of(self.x))


@irdl_op_definition
class TransposeOp(LayerOp):
    """Axis `i` of the result is axis `perm[i]` of `x`.

    %y = graph.transpose %x perm [0, 2, 1] : (tensor<1x2x3xf32>) -> tensor<1x3x2xf32>
    """

    name = "graph.transpose"
    x = operand_def(TensorType)
    perm = prop_def(Ints)
    assembly_format = "$x `perm` $perm attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Tensor:
        return tensor(shapes.transpose(shape_of(self.x), self.perm.get_values()), element_of(self.x))


@irdl_op_definition
class ResizeOp(LayerOp):
    """Nearest-neighbour enlargement: `y[i, j, ...] = x[i / scales[0], ...]`, quotients rounded down.

    %y = graph.resize %x scales [1, 1, 2, 2] : (tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32>
    """

    name = "graph.resize"
    x = operand_def(TensorType)
    scales = prop_def(Ints)
    assembly_format = "$x `scales` $scales attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Tensor:
        scales = self.scales.get_values()
        shapes.check_length("scales", scales, len(shape_of(self.x)), 1)
        shape = [e * s for e, s in zip(shape_of(self.x), scales, strict=True)]
        return tensor(shape, element_of(self.x))


@irdl_op_definition
class GatherOp(LayerOp):
    """`y[a..., i..., b...] = x[a..., indices[i...], b...]`, the index standing at `axis`; none is negative.

    %y = graph.gather %x axis 0 indices dense<[2, 0]> : tensor<2xi64> : (tensor<4x3xf32>) -> tensor<2x3xf32>
    """

    name = "graph.gather"
    x = operand_def(TensorType)
    axis = prop_def(Int)
    indices = prop_def(DenseIntOrFPElementsAttr)
    assembly_format = "$x `axis` $axis `indices` $indices attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue, indices: Array, *, axis: int):
        super().__init__(x, axis=axis, indices=dense(np.asarray(indices, np.int64)))

    def infer(self) -> Tensor:
        axis, shape = self.axis.value.data, shape_of(self.x)
        shapes.check_axis(axis, len(shape))
        check_dense("indices", self.indices)
        if self.indices.get_element_type() != i64:
            raise VerifyException(f"expected indices of i64, found {self.indices.get_element_type()}")
        indices = dense_array(self.indices)
        if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < shape[axis]:
            found = f"[{indices.min()}, {indices.max()}]"
            raise VerifyException(f"expected indices in [0, {shape[axis]}), found {found}")
        return tensor((*shape[:axis], *indices.shape, *shape[axis + 1 :]), element_of(self.x))


@irdl_op_definition
class LookupOp(LayerOp):
    """Rows of a table at indices that are known at run time: `y[i..., j] = table[index[i...], j]`.

    A negative index counts from the back; one of no row is an error.  With `by_rows` a target reads the rows that are
    named, else the layer is a product with a 1 in the place of each index (`graph-normalize`).

        %y = graph.lookup %t at %i : (tensor<100x8xf32>, tensor<1x4xi64>) -> tensor<1x4x8xf32>
    """

    name = "graph.lookup"
    table = operand_def(TensorType)
    index = operand_def(TensorType)
    by_rows = opt_prop_def(UnitAttr)
    assembly_format = "$table `at` $index (`by_rows` $by_rows^)? attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Tensor:
        if len(shape_of(self.table)) != 2:
            raise VerifyException(f"expected a table of rows, found {self.table.type}")
        if element_of(self.index) not in (i32, i64):
            raise VerifyException(f"expected an index of i32 or i64, found {element_of(self.index)}")
        return tensor((*shape_of(self.index), shape_of(self.table)[1]), element_of(self.table))


@irdl_op_definition
class ExpandOp(LayerOp):
    """`x` repeated by NumPy's broadcasting to the result's shape.

    %y = graph.expand %x : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
    """

    name = "graph.expand"
    x = operand_def(TensorType)
    assembly_format = "$x attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue, shape: Sequence[int]):
        super().__init__(x, result=tensor(shape, element_of(x)))

    def infer(self) -> Tensor:
        shapes.check_expand(shape_of(self.x), shape_of(self.result))
        return tensor(shape_of(self.result), element_of(self.x))
