"""Operations between real numbers and 8-bit integers: quantize, dequantize, requantize."""

from xdsl.dialects.builtin import TensorType, f32, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from ..types import Tensor, element_of, shape_of, si8, tensor, ui8
from . import shapes
from .base import Int, LayerOp, require_f32

RANGES: dict[Attribute, tuple[int, int]] = {si8: (-128, 127), ui8: (0, 255)}
"""Smallest and largest value of the 8-bit types."""


def require_8_bits(element: Attribute) -> None:
    """Check that a quantised element type is si8 or ui8."""
    if element not in RANGES:
        raise VerifyException(f"expected si8 or ui8, found {element}")


def check_scale(x: SSAValue, scale: SSAValue, zero_point: SSAValue | None, quantised: Attribute, axis: int) -> None:
    """Check scale and zero point: both scalar or both along `axis`, the zero point of the quantised type."""
    require_f32(scale)
    shapes.check_per_axis("scale", shape_of(scale), shape_of(x), axis)
    if zero_point is None:
        return
    shapes.require(
        shape_of(zero_point) == shape_of(scale),
        f"expected a zero point of shape {list(shape_of(scale))}, found {list(shape_of(zero_point))}",
    )
    shapes.require(
        element_of(zero_point) == quantised, f"expected a zero point of {quantised}, found {element_of(zero_point)}"
    )


@irdl_op_definition
class QuantizeOp(LayerOp):
    """`y = saturate(rint(x / scale) + zero_point)`, f32 to si8 or ui8; halves are rounded to even.

    `scale` (f32) and `zero_point` (of the result's type, 0 if not given) are scalars or have one element per index of
    `axis`.

        %y = graph.quantize %x, %s, %z axis 1 : (tensor<1x4x8x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x8x8xui8>
    """

    name = "graph.quantize"
    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    zero_point = opt_operand_def(TensorType)
    axis = prop_def(Int)
    assembly_format = "$x `,` $scale (`,` $zero_point^)? `axis` $axis attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        x: SSAValue,
        scale: SSAValue,
        zero_point: SSAValue | None = None,
        *,
        axis: int = 0,
        element: Attribute | None = None,
    ):
        """`element` is the result's type where no zero point tells it (default ui8)."""
        given = None if zero_point is None else element_of(zero_point)
        super().__init__(x, scale, zero_point, axis=axis, result=tensor(shape_of(x), element or given or ui8))

    def infer(self) -> Tensor:
        element = element_of(self.result)
        require_f32(self.x)
        require_8_bits(element)
        check_scale(self.x, self.scale, self.zero_point, element, self.axis.value.data)
        return tensor(shape_of(self.x), element)


@irdl_op_definition
class DequantizeOp(LayerOp):
    """`y = f32(x - zero_point) * scale`, si8, ui8 or i32 to f32; parameters as in `QuantizeOp`.

    %y = graph.dequantize %x, %s, %z axis 1 : (tensor<1x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4xf32>
    """

    name = "graph.dequantize"
    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    zero_point = opt_operand_def(TensorType)
    axis = prop_def(Int)
    assembly_format = "$x `,` $scale (`,` $zero_point^)? `axis` $axis attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue, scale: SSAValue, zero_point: SSAValue | None = None, *, axis: int = 0):
        super().__init__(x, scale, zero_point, axis=axis)

    def infer(self) -> Tensor:
        element = element_of(self.x)
        if element not in (si8, ui8, i32):
            raise VerifyException(f"expected si8, ui8 or i32, found {element}")
        check_scale(self.x, self.scale, self.zero_point, element, self.axis.value.data)
        return tensor(shape_of(self.x), f32)


@irdl_op_definition
class RequantizeOp(LayerOp):
    """`y = clip(rshift_round(x * multiplier, shift) + zero_point, low, high)`, i32 to si8 or ui8, exact.

    The product is taken in 64 bits; `rshift_round(v, s) = (v + (1 << (s - 1))) >> s`, and v itself for s = 0
    (0 <= s <= 62).  `multiplier` and `shift` (i32) are scalars or have one element per index of `axis`; `low` and
    `high` lie in the result's type.

        %y = graph.requantize %x, %m, %s axis 1 zero_point 3 range [0, 255]
             : (tensor<1x4x8x8xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<1x4x8x8xui8>
    """

    name = "graph.requantize"
    x = operand_def(TensorType)
    multiplier = operand_def(TensorType)
    shift = operand_def(TensorType)
    axis = prop_def(Int)
    zero_point = prop_def(Int)
    low = prop_def(Int)
    high = prop_def(Int)
    assembly_format = (
        "$x `,` $multiplier `,` $shift `axis` $axis `zero_point` $zero_point `range` ` ` `[` $low `,` $high `]` "
        "attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        x: SSAValue,
        multiplier: SSAValue,
        shift: SSAValue,
        *,
        element: Attribute,
        zero_point: int = 0,
        axis: int = 0,
        low: int | None = None,
        high: int | None = None,
    ):
        """`low` and `high` default to the range of `element` (si8 or ui8)."""
        require_8_bits(element)
        lowest, highest = RANGES[element]
        limits = {"low": lowest if low is None else low, "high": highest if high is None else high}
        result = tensor(shape_of(x), element)
        super().__init__(x, multiplier, shift, axis=axis, zero_point=zero_point, **limits, result=result)

    def infer(self) -> Tensor:
        element = element_of(self.result)
        require_8_bits(element)
        for value in self.operands:
            shapes.require(element_of(value) == i32, f"expected i32, found {element_of(value)}")
        for what, value in (("multiplier", self.multiplier), ("shift", self.shift)):
            shapes.check_per_axis(what, shape_of(value), shape_of(self.x), self.axis.value.data)
        low, high = self.low.value.data, self.high.value.data
        lowest, highest = RANGES[element]
        shapes.require(
            lowest <= low <= high <= highest, f"expected a range inside [{lowest}, {highest}], found [{low}, {high}]"
        )
        shapes.require(
            lowest <= self.zero_point.value.data <= highest,
            f"expected a zero point in [{lowest}, {highest}], found {self.zero_point.value.data}",
        )
        return tensor(shape_of(self.x), element)
