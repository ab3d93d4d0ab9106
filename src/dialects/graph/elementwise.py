"""Operations on single elements: unary functions, clipping, arithmetic with broadcasting, casts."""

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from ..types import Tensor, dtype_of, element_of, is_element_type, shape_of, tensor, tensor_type, ui8
from . import shapes
from .base import BinaryKind, BinaryKindAttr, LayerOp, Real, UnaryKind, UnaryKindAttr

INTEGER_UNARY = (UnaryKind.IDENTITY, UnaryKind.RELU, UnaryKind.NEG, UnaryKind.ABS, UnaryKind.SIGN)
"""Unary functions that are defined on integers too."""

INTEGER_BINARY = (BinaryKind.SHR, BinaryKind.BAND, BinaryKind.BOR, BinaryKind.BXOR)
"""Binary functions that are defined on integers alone."""

SCALARS = {UnaryKind.LEAKY_RELU: 1, UnaryKind.ELU: 1, UnaryKind.HARD_SIGMOID: 2}
"""How many of alpha and beta a unary function has, where it has any."""


@irdl_op_definition
class UnaryOp(LayerOp):
    """`y = kind(x)` for every element, in f32; identity, relu, neg, abs and sign also on integers (which wrap).

    gelu is `x/2 * (1 + erf(x / sqrt 2))`, gelu_tanh its tanh form, hard_swish `x * clip(x/6 + 1/2, 0, 1)`,
    leaky_relu `x < 0 ? alpha * x : x`, hard_sigmoid `clip(alpha * x + beta, 0, 1)`, rint rounds half to even.
    softplus is `log(1 + exp(x))`, softsign `x / (1 + |x|)`, elu `x > 0 ? x : alpha * (exp(x) - 1)`.
    Only leaky_relu and elu have `alpha`, only hard_sigmoid `alpha` and `beta`.

        %y = graph.unary leaky_relu %x alpha 0.01 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    """

    name = "graph.unary"
    kind = prop_def(UnaryKindAttr)
    x = operand_def(TensorType)
    alpha = opt_prop_def(Real)
    beta = opt_prop_def(Real)
    assembly_format = (
        "$kind $x (`alpha` custom<Number>($alpha)^)? (`beta` custom<Number>($beta)^)? attr-dict `:` "
        "functional-type(operands, results)"
    )

    def infer(self) -> Tensor:
        kind = self.kind.data
        if element_of(self.x) != f32 and kind not in INTEGER_UNARY:
            raise VerifyException(f"expected f32 for {kind}, found {element_of(self.x)}")
        given = (self.alpha is not None, self.beta is not None)
        count = SCALARS.get(kind, 0)
        if given != (count > 0, count > 1):
            raise VerifyException(f"expected {('neither alpha nor beta', 'alpha', 'alpha and beta')[count]} for {kind}")
        return tensor_type(self.x)


@irdl_op_definition
class ClipOp(LayerOp):
    """`y = min(max(x, min), max)`; a bound that is not given does not bound.  Integer inputs have integer bounds.

    %y = graph.clip %x min 0.0 max 6.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    """

    name = "graph.clip"
    x = operand_def(TensorType)
    min = opt_prop_def(Real)
    max = opt_prop_def(Real)
    assembly_format = (
        "$x (`min` custom<Number>($min)^)? (`max` custom<Number>($max)^)? attr-dict `:` "
        "functional-type(operands, results)"
    )

    def infer(self) -> Tensor:
        for bound in (self.min, self.max):
            if bound is None or element_of(self.x) == f32:
                continue
            if not bound.value.data.is_integer():
                raise VerifyException(f"expected integer bounds for {element_of(self.x)}, found {bound.value.data}")
        return tensor_type(self.x)


def binary_type(kind: BinaryKind, a: SSAValue, b: SSAValue) -> Tensor:
    """Result type of arithmetic on two tensors."""
    if element_of(a) != element_of(b):
        raise VerifyException(f"expected equal element types, found {element_of(a)} and {element_of(b)}")
    if kind in INTEGER_BINARY and dtype_of(element_of(a)).kind == "f":
        raise VerifyException(f"expected integers for {kind}, found {element_of(a)}")
    return tensor(shapes.broadcast(shape_of(a), shape_of(b)), element_of(a))


@irdl_op_definition
class BinaryOp(LayerOp):
    """`y = kind(a, b)` with NumPy's broadcasting; both of one element type, which is the result's.

    Integers wrap; their quotient is rounded toward zero, and 0 where the divisor is 0, as is mod, which has the sign
    of the divisor; a power below 0 is rounded toward zero; shr, of integers only, is `floor(a / 2^clip(b, 0, 31))`.
    Comparisons (eq, ne, lt, le, gt, ge) give 1 or 0; band, bor and bxor, of integers only, go bit by bit.

        %y = graph.binary add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    """

    name = "graph.binary"
    kind = prop_def(BinaryKindAttr)
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    assembly_format = "$kind $a `,` $b attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Tensor:
        return binary_type(self.kind.data, self.a, self.b)


@irdl_op_definition
class SelectOp(LayerOp):
    """`y = condition != 0 ? a : b` with NumPy's broadcasting; the condition is ui8, a and b have the result's type.

    %y = graph.select %c, %a, %b : (tensor<3xui8>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    """

    name = "graph.select"
    condition = operand_def(TensorType)
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    assembly_format = "$condition `,` $a `,` $b attr-dict `:` functional-type(operands, results)"

    def infer(self) -> Tensor:
        return select_type(self.condition, self.a, self.b)


def select_type(condition: SSAValue, a: SSAValue, b: SSAValue) -> Tensor:
    """Result type of a choice between two tensors."""
    if element_of(condition) != ui8:
        raise VerifyException(f"expected a condition of ui8, found {element_of(condition)}")
    if element_of(a) != element_of(b):
        raise VerifyException(f"expected equal element types, found {element_of(a)} and {element_of(b)}")
    return tensor(shapes.broadcast(shape_of(condition), shape_of(a), shape_of(b)), element_of(a))


@irdl_op_definition
class CastOp(LayerOp):
    """Every element converted: floats to integers toward zero and saturating (NaN to 0), integers to integers by
    wrapping, to floats by rounding to nearest.

        %y = graph.cast %x : (tensor<2x3xi32>) -> tensor<2x3xf32>
    """

    name = "graph.cast"
    x = operand_def(TensorType)
    assembly_format = "$x attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue, element: Attribute):
        if not is_element_type(element):
            raise VerifyException(f"element type {element} is not supported")
        super().__init__(x, result=tensor(shape_of(x), element))

    def infer(self) -> Tensor:
        return tensor(shape_of(self.x), element_of(self.result))
