"""Layers that reduce: convolution, matrix products, pooling, reduction."""

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import Float8E4M3FNType, Float8E5M2Type, TensorType, UnitAttr, bf16, f16, f32, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from ..types import Tensor, element_of, shape_of, si8, tensor, ui8
from . import shapes
from .base import (
    Int,
    Ints,
    LayerOp,
    PoolKind,
    PoolKindAttr,
    Real,
    ReduceKind,
    ReduceKindAttr,
    check_constant,
    real,
    require_shape,
)

WEIGHTS = (f32, f16, bf16, Float8E4M3FNType(), Float8E5M2Type(), si8)
"""What values of f32 are multiplied by."""


def product_type(a: SSAValue, b: SSAValue, bias: SSAValue | None = None) -> Attribute:
    """Element type of a sum of products: f32 of f32 by `WEIGHTS`; i32 of 8-bit integers by signed 8-bit ones.

    The bias has the type of the result.
    """
    types = (element_of(a), element_of(b))
    if types[0] == f32 and types[1] in WEIGHTS:
        result: Attribute = f32
    elif types[0] in (si8, ui8) and types[1] == si8:
        result = i32
    else:
        raise VerifyException(
            f"expected f32 by {', '.join(map(str, WEIGHTS))}, or si8 or ui8 by si8, found {types[0]} by {types[1]}"
        )
    if bias is not None and element_of(bias) != result:
        raise VerifyException(f"expected a bias of {result}, found {element_of(bias)}")
    return result


Window = tuple[Sequence[int], Sequence[int], Sequence[int]]


def window_of(op: "ConvOp | UnfoldOp | PoolOp") -> Window:
    """Strides, pads and dilations of a sliding window."""
    return op.strides.get_values(), op.pads.get_values(), op.dilations.get_values()


@irdl_op_definition
class ConvOp(LayerOp):
    """`y[n, k, p...] = bias[k] + sum_{c, r...} x[n, g*C+c, stride*p + dilation*r - pad ...] * w[k, c, r...]`.

    Group `g = k / (K / groups)`, `C` channels per group; elements outside of `x` are `pad_value` (an integer where x
    is one: the zero point).  One to three spatial axes; `pads` is begin of every axis, then end.  f32, or 8-bit
    integers with signed 8-bit weights into i32.

        %y = graph.conv %x, %w, %b strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1
             : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
    """

    name = "graph.conv"
    x = operand_def(TensorType)
    w = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    strides = prop_def(Ints)
    pads = prop_def(Ints)
    dilations = prop_def(Ints)
    groups = prop_def(Int)
    pad_value = prop_def(Real, default_value=real(0.0))
    assembly_format = (
        "$x `,` $w (`,` $bias^)? `strides` $strides `pads` $pads `dilations` $dilations `groups` $groups "
        "(`pad_value` custom<Number>($pad_value)^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        x: SSAValue,
        w: SSAValue,
        bias: SSAValue | None = None,
        *,
        strides: Sequence[int],
        pads: Sequence[int],
        dilations: Sequence[int] | None = None,
        groups: int = 1,
        pad_value: float = 0.0,
    ):
        dilations = [1] * len(strides) if dilations is None else dilations
        window: dict[str, Any] = {"strides": strides, "pads": pads, "dilations": dilations}
        super().__init__(x, w, bias, **window, groups=groups, pad_value=pad_value)

    def infer(self) -> Tensor:
        element = product_type(self.x, self.w, self.bias)
        shape = shapes.conv(shape_of(self.x), shape_of(self.w), *window_of(self), self.groups.value.data)
        require_shape("bias", self.bias, shape[1:2])
        check_constant("pad_value", self.pad_value.value.data, element_of(self.x))
        return tensor(shape, element)


@irdl_op_definition
class UnfoldOp(LayerOp):
    """The elements of sliding windows as channels: `y[n, r * C + c, p...] = x[n, c, stride*p + dilation*r - pad...]`.

    `r` counts the places of the window, row by row, of `C` channels each; elements outside of `x` are `pad_value`, as
    in `graph.conv`.  (im2col, with the places of windows as they are in the map.)

        %y = graph.unfold %x kernel [1, 3] strides [1, 2] pads [0, 1, 0, 0] dilations [1, 1]
             : (tensor<1x3x8x8xf32>) -> tensor<1x9x8x4xf32>
    """

    name = "graph.unfold"
    x = operand_def(TensorType)
    kernel = prop_def(Ints)
    strides = prop_def(Ints)
    pads = prop_def(Ints)
    dilations = prop_def(Ints)
    pad_value = prop_def(Real, default_value=real(0.0))
    assembly_format = (
        "$x `kernel` $kernel `strides` $strides `pads` $pads `dilations` $dilations "
        "(`pad_value` custom<Number>($pad_value)^)? attr-dict `:` functional-type(operands, results)"
    )

    def infer(self) -> Tensor:
        shape = shapes.unfold(shape_of(self.x), self.kernel.get_values(), *window_of(self))
        check_constant("pad_value", self.pad_value.value.data, element_of(self.x))
        return tensor(shape, element_of(self.x))


@irdl_op_definition
class GemmOp(LayerOp):
    """`y = alpha * op(a) @ op(b) + beta * c`, `op` transposing where `trans_a` or `trans_b` is given; `c` broadcasts.

    On integers (8-bit by signed 8-bit into i32, `c` i32) alpha and beta are 1.

        %y = graph.gemm %a, %b, %c trans_b : (tensor<2x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    """

    name = "graph.gemm"
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    c = opt_operand_def(TensorType)
    trans_a = opt_prop_def(UnitAttr)
    trans_b = opt_prop_def(UnitAttr)
    alpha = prop_def(Real, default_value=real(1.0))
    beta = prop_def(Real, default_value=real(1.0))
    assembly_format = (
        "$a `,` $b (`,` $c^)? (`trans_a` $trans_a^)? (`trans_b` $trans_b^)? (`alpha` custom<Number>($alpha)^)? "
        "(`beta` custom<Number>($beta)^)? attr-dict `:` functional-type(operands, results)"
    )

    def infer(self) -> Tensor:
        element = product_type(self.a, self.b, self.c)
        trans_a, trans_b = self.trans_a is not None, self.trans_b is not None
        shape = shapes.gemm(shape_of(self.a), shape_of(self.b), trans_a, trans_b)
        if self.c is not None:
            shapes.check_expand(shape_of(self.c), shape)
        if element == i32 and (self.alpha.value.data, self.beta.value.data) != (1.0, 1.0):
            raise VerifyException("expected alpha and beta of 1 on integers")
        return tensor(shape, element)


@irdl_op_definition
class MatmulOp(LayerOp):
    """`y[..., m, n] = sum_k a[..., m, k] * b[..., k, n]`, leading axes broadcast; types as in `ConvOp`.

    %y = graph.matmul %a, %b : (tensor<2x3x8xf32>, tensor<8x4xf32>) -> tensor<2x3x4xf32>
    """

    name = "graph.matmul"
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    assembly_format = "$a `,` $b attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Tensor:
        return tensor(shapes.matmul(shape_of(self.a), shape_of(self.b)), product_type(self.a, self.b))


def pool_element(kind: PoolKind, element: Attribute) -> Attribute:
    """Element type of a pooling: sums of 8-bit integers are i32, an average is f32 of f32, the rest is kept."""
    if kind == PoolKind.SUM and element in (si8, ui8):
        return i32
    if kind == PoolKind.AVERAGE and element != f32:
        raise VerifyException(f"expected f32 for an average, found {element}")
    return element


@irdl_op_definition
class PoolOp(LayerOp):
    """Maximum, sum or average over sliding windows, per channel; elements outside of `x` take no part.

    `sum` of 8-bit integers is i32, the other results have the type of `x`.  `average` (f32) divides by the elements
    of the window that lie inside `x`, or by the whole window with `count_include_pad`.

        %y = graph.pool max %x kernel [3, 3] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
             : (tensor<1x4x9x9xf32>) -> tensor<1x4x4x4xf32>
    """

    name = "graph.pool"
    kind = prop_def(PoolKindAttr)
    x = operand_def(TensorType)
    kernel = prop_def(Ints)
    strides = prop_def(Ints)
    pads = prop_def(Ints)
    dilations = prop_def(Ints)
    count_include_pad = opt_prop_def(UnitAttr)
    assembly_format = (
        "$kind $x `kernel` $kernel `strides` $strides `pads` $pads `dilations` $dilations "
        "(`count_include_pad` $count_include_pad^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        kind: PoolKind | str,
        x: SSAValue,
        *,
        kernel: Sequence[int],
        strides: Sequence[int],
        pads: Sequence[int],
        dilations: Sequence[int] | None = None,
        count_include_pad: bool = False,
    ):
        dilations = [1] * len(kernel) if dilations is None else dilations
        window: dict[str, Any] = {"strides": strides, "pads": pads, "dilations": dilations}
        super().__init__(x, kind=kind, kernel=kernel, **window, count_include_pad=count_include_pad)

    def infer(self) -> Tensor:
        kind = self.kind.data
        if kind != PoolKind.AVERAGE and self.count_include_pad is not None:
            raise VerifyException(f"count_include_pad has no meaning for {kind}")
        shape = shapes.pool(shape_of(self.x), self.kernel.get_values(), *window_of(self))
        return tensor(shape, pool_element(kind, element_of(self.x)))


def reduce_element(kind: ReduceKind, element: Attribute) -> Attribute:
    """Element type of a reduction: sums of 8-bit integers are i32, a mean is f32 of f32, the rest is kept."""
    if kind == ReduceKind.SUM and element in (si8, ui8):
        return i32
    if kind == ReduceKind.MEAN and element != f32:
        raise VerifyException(f"expected f32 for a mean, found {element}")
    return element


@irdl_op_definition
class ReduceOp(LayerOp):
    """Sum, mean (f32), maximum or minimum along `axes`, which stay as extents of 1 with `keepdims`.

    %y = graph.reduce mean %x axes [2, 3] keepdims : (tensor<1x4x7x7xf32>) -> tensor<1x4x1x1xf32>
    """

    name = "graph.reduce"
    kind = prop_def(ReduceKindAttr)
    x = operand_def(TensorType)
    axes = prop_def(Ints)
    keepdims = opt_prop_def(UnitAttr)
    assembly_format = "$kind $x `axes` $axes (`keepdims` $keepdims^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, kind: ReduceKind | str, x: SSAValue, *, axes: Sequence[int], keepdims: bool = True):
        super().__init__(x, kind=kind, axes=axes, keepdims=keepdims)

    def infer(self) -> Tensor:
        shape = shapes.reduce(shape_of(self.x), self.axes.get_values(), self.keepdims is not None)
        return tensor(shape, reduce_element(self.kind.data, element_of(self.x)))
