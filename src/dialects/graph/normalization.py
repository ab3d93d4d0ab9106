"""Softmax and normalisation layers, in f32 and on integers."""

from math import ceil, inf, log2, prod, sqrt

from xdsl.dialects.builtin import TensorType, UnitAttr, f32, i32
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def, prop_def

from ..types import Tensor, element_of, shape_of, si8, tensor, tensor_type
from . import shapes
from .base import Int, LayerOp, Real, require_f32, require_shape
from .quantized import RANGES, require_8_bits

LONGEST_ROW = 1 << 15
"""Elements of a row that `graph.standardize` takes at most: their squares have a sum in i32."""

LARGEST_SQUARE = 255**2
"""Of the difference of an integer of 8 bits and its zero point."""


@irdl_op_definition
class SoftmaxOp(LayerOp):
    """`y = exp(x) / sum(exp(x))` along one axis, in f32; of `x - max(x)` unless `bounded` says that exp(x) is finite.

    With `scale`, x is si8 or ui8 and stands for `x * scale` (a zero point would change nothing).  `mask` (f32,
    or whole numbers in si8, broadcast to x) is added to x first.  With `step`, the result is quantised:
    `saturate(rint(exp(x) / (sum(exp(x)) * step)) + zero_point)` in si8 or ui8, halves to even.

        %y = graph.softmax %x axis 1 : (tensor<2x10xf32>) -> tensor<2x10xf32>
        %y = graph.softmax %x axis 1 scale 0.25 bounded step 0.0078125 zero_point -128
             : (tensor<2x10xsi8>) -> tensor<2x10xsi8>
        %y = graph.softmax %x, %m axis 1 : (tensor<2x10xf32>, tensor<10xf32>) -> tensor<2x10xf32>
    """

    name = "graph.softmax"
    x = operand_def(TensorType)
    mask = opt_operand_def(TensorType)
    axis = prop_def(Int)
    scale = opt_prop_def(Real)
    bounded = opt_prop_def(UnitAttr)
    step = opt_prop_def(Real)
    zero_point = opt_prop_def(Int)
    assembly_format = (
        "$x (`,` $mask^)? `axis` $axis (`scale` custom<Number>($scale)^)? (`bounded` $bounded^)? "
        "(`step` custom<Number>($step)^ `zero_point` $zero_point)? attr-dict `:` functional-type(operands, results)"
    )

    def infer(self) -> Tensor:
        shape = shape_of(self.x)
        shapes.check_axis(self.axis.value.data, len(shape))
        if self.mask is not None:
            element = element_of(self.mask)
            shapes.require(element in (f32, si8), f"expected a mask of f32 or si8, found {element}")
            own = shape_of(self.mask)
            shapes.require(
                shapes.broadcast(shape, own) == shape,
                f"expected a mask that broadcasts to {list(shape)}, found {list(own)}",
            )
        for name, factor in (("scale", self.scale), ("step", self.step)):
            number = 1.0 if factor is None else factor.value.data
            shapes.require(0 < number < inf, f"expected a finite {name} above 0, found {number}")
        if self.scale is None:
            require_f32(self.x)
        else:
            require_8_bits(element_of(self.x))
            shapes.require(
                self.bounded is not None, "expected `bounded` with a scale: maxima of integers are not taken"
            )
        shapes.require(
            (self.step is None) == (self.zero_point is None), "expected a step and a zero point, or neither of them"
        )
        if self.zero_point is None:
            return tensor(shape, f32)
        element = element_of(self.result)
        require_8_bits(element)
        low, high = RANGES[element]
        zero = self.zero_point.value.data
        shapes.require(low <= zero <= high, f"expected a zero point in [{low}, {high}], found {zero}")
        return tensor(shape, element)


@irdl_op_definition
class LayerNormOp(LayerOp):
    """`y = (x - mean) / sqrt(variance + epsilon) * scale + bias` over the axes from `axis` on, f32.

    `scale` and `bias` have the extents of those axes.

        %y = graph.layer_norm %x, %s, %b axis 2 epsilon 1.0e-05
             : (tensor<1x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x8x16xf32>
    """

    name = "graph.layer_norm"
    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    axis = prop_def(Int)
    epsilon = prop_def(Real)
    assembly_format = (
        "$x `,` $scale (`,` $bias^)? `axis` $axis `epsilon` custom<Number>($epsilon) attr-dict `:` "
        "functional-type(operands, results)"
    )

    def __init__(self, x: SSAValue, scale: SSAValue, bias: SSAValue | None = None, *, axis: int, epsilon: float = 1e-5):
        super().__init__(x, scale, bias, axis=axis, epsilon=epsilon)

    def infer(self) -> Tensor:
        require_f32(self.x, self.scale, self.bias)
        axis, shape = self.axis.value.data, shape_of(self.x)
        shapes.check_axis(axis, len(shape))
        require_shape("scale", self.scale, shape[axis:])
        require_shape("bias", self.bias, shape[axis:])
        return tensor_type(self.x)


@irdl_op_definition
class StandardizeOp(LayerOp):
    """`y = x R - B` of integers, about `2^bits (x - mean) / sqrt(variance + epsilon)`, over the axes from `axis` on.

    x is si8 or ui8, y is i32.  With N elements in a row, their sum S and `V = max(N sum(x^2) - S^2, N - 1)`, which is
    exact and N^2 times the variance (what of a row of one number is 0, and least of others), in f32
    `F = 2^bits N / sqrt(V + N^2 epsilon)`, `R = rint(F)` and `B = rint(S / N F)`.  N is from 2 to 2^15, and bits are so
    few (`most_bits`) that products stay below 2^31.

        %y = graph.standardize %x axis 2 epsilon 0.005 bits 18 : (tensor<1x8x768xsi8>) -> tensor<1x8x768xi32>
    """

    name = "graph.standardize"
    x = operand_def(TensorType)
    axis = prop_def(Int)
    epsilon = prop_def(Real)
    bits = prop_def(Int)
    assembly_format = (
        "$x `axis` $axis `epsilon` custom<Number>($epsilon) `bits` $bits attr-dict `:` "
        "functional-type(operands, results)"
    )

    def infer(self) -> Tensor:
        require_8_bits(element_of(self.x))
        axis, shape, epsilon = self.axis.value.data, shape_of(self.x), self.epsilon.value.data
        shapes.check_axis(axis, len(shape))
        count = prod(shape[axis:])
        shapes.require(2 <= count <= LONGEST_ROW, f"expected rows of 2 to {LONGEST_ROW} elements, found {count}")
        shapes.require(0 <= epsilon < inf, f"expected a finite epsilon of at least 0, found {epsilon}")
        bits, most = self.bits.value.data, most_bits(count)
        shapes.require(0 <= bits <= most, f"expected 0 to {most} bits for rows of {count} elements, found {bits}")
        return tensor(shape, i32)


def most_bits(count: int) -> int:
    """Bits after the point that rows of so many elements, at least 2, leave to `graph.standardize`."""
    return 23 - ceil(log2(count / sqrt(count - 1)))


@irdl_op_definition
class LrnOp(LayerOp):
    """Local response normalisation over `size` neighbouring channels (axis 1), in f32.

    `y[n, c] = x[n, c] / (bias + alpha / size * sum_i x[n, i]^2)^beta`,
    i from `c - floor((size - 1) / 2)` to `c + ceil((size - 1) / 2)` inside the channels.

    With `zero_point`, x is si8 or ui8 and stands for `x - zero_point`; squares and their sums are in i32.  There a bias
    that is a whole number is added in i32 if alpha is `size` and no sum leaves i32 (`adds_in_i32`).

        %y = graph.lrn %x size 5 alpha 0.0001 beta 0.75 bias 1.0 : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
        %y = graph.lrn %x size 5 alpha 5.0 beta 0.75 bias 50000.0 zero_point 0
             : (tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xf32>
    """

    name = "graph.lrn"
    x = operand_def(TensorType)
    size = prop_def(Int)
    alpha = prop_def(Real)
    beta = prop_def(Real)
    bias = prop_def(Real)
    zero_point = opt_prop_def(Int)
    assembly_format = (
        "$x `size` $size `alpha` custom<Number>($alpha) `beta` custom<Number>($beta) `bias` custom<Number>($bias) "
        "(`zero_point` $zero_point^)? attr-dict `:` functional-type(operands, results)"
    )

    def infer(self) -> Tensor:
        shape, size, element = shape_of(self.x), self.size.value.data, element_of(self.x)
        shapes.require(len(shape) >= 2, f"expected a rank of at least 2, found {self.x.type}")
        shapes.require(size >= 1, f"expected a size of at least 1, found {size}")
        if self.zero_point is None:
            require_f32(self.x)
            return tensor(shape, f32)
        require_8_bits(element)
        low, high = RANGES[element]
        zero = self.zero_point.value.data
        shapes.require(low <= zero <= high, f"expected a zero point in [{low}, {high}], found {zero}")
        limit = (2**31 - 1) // LARGEST_SQUARE
        shapes.require(size <= limit, f"expected a size of at most {limit} for sums of squares in i32, found {size}")
        return tensor(shape, f32)

    @property
    def adds_in_i32(self) -> bool:
        """Whether the bias is added to sums of integers before these become f32."""
        size, bias = self.size.value.data, self.bias.value.data
        whole = self.alpha.value.data == size and bias.is_integer()
        return self.zero_point is not None and whole and 0 <= bias < 2**31 - size * LARGEST_SQUARE


@irdl_op_definition
class BatchNormOp(LayerOp):
    """`y = (x - mean[c]) / sqrt(variance[c] + epsilon) * scale[c] + bias[c]`, channels on axis 1, f32.

    %y = graph.batch_norm %x, %s, %b, %m, %v epsilon 1.0e-05 : (tensor<1x4x8x8xf32>, ...) -> tensor<1x4x8x8xf32>
    """

    name = "graph.batch_norm"
    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    bias = operand_def(TensorType)
    mean = operand_def(TensorType)
    variance = operand_def(TensorType)
    epsilon = prop_def(Real)
    assembly_format = (
        "$x `,` $scale `,` $bias `,` $mean `,` $variance `epsilon` custom<Number>($epsilon) attr-dict `:` "
        "functional-type(operands, results)"
    )

    def __init__(
        self, x: SSAValue, scale: SSAValue, bias: SSAValue, mean: SSAValue, variance: SSAValue, *, epsilon: float = 1e-5
    ):
        super().__init__(x, scale, bias, mean, variance, epsilon=epsilon)

    def infer(self) -> Tensor:
        require_f32(*self.operands)
        shape = shape_of(self.x)
        shapes.require(len(shape) >= 2, f"expected a rank of at least 2, found {self.x.type}")
        for what, value in zip(("scale", "bias", "mean", "variance"), self.operands[1:], strict=True):
            require_shape(what, value, shape[1:2])
        return tensor_type(self.x)
