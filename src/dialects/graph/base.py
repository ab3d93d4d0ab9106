"""What the operations of the graph dialect share: kinds, syntax of numbers, and the check of result types."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import I64, DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, TensorType, f32, f64, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition, result_def, traits_def
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.rewriter import Rewriter
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ...algebra.element import is_float, limits
from ..nest_attributes import number_text
from ..properties import PlainOp
from ..syntax import Written
from ..types import Tensor, dtype_of, element_of, is_element_type, shape_of, tensor_type
from .extents import check_open, is_open


class UnaryKind(StrEnum):
    """Functions of one element; see `UnaryOp`."""

    IDENTITY = "identity"
    RELU = "relu"
    EXP = "exp"
    LOG = "log"
    SQRT = "sqrt"
    RECIPROCAL = "reciprocal"
    ERF = "erf"
    TANH = "tanh"
    SIGMOID = "sigmoid"
    NEG = "neg"
    ABS = "abs"
    FLOOR = "floor"
    CEIL = "ceil"
    RINT = "rint"
    GELU = "gelu"
    GELU_TANH = "gelu_tanh"
    HARD_SWISH = "hard_swish"
    LEAKY_RELU = "leaky_relu"
    HARD_SIGMOID = "hard_sigmoid"
    SIGN = "sign"
    SIN = "sin"
    COS = "cos"
    SOFTPLUS = "softplus"
    SOFTSIGN = "softsign"
    ELU = "elu"


class BinaryKind(StrEnum):
    """Functions of two elements; see `BinaryOp`."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    MAX = "max"
    MIN = "min"
    POW = "pow"
    SHR = "shr"
    MOD = "mod"
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    BAND = "band"
    BOR = "bor"
    BXOR = "bxor"


class PoolKind(StrEnum):
    """What a pooling window is reduced to."""

    MAX = "max"
    AVERAGE = "average"
    SUM = "sum"


class ReduceKind(StrEnum):
    """What the elements along the reduced axes become."""

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"


class PadMode(StrEnum):
    """Where padded elements come from."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    WRAP = "wrap"


@irdl_attr_definition
class UnaryKindAttr(EnumAttribute[UnaryKind], SpacedOpaqueSyntaxAttribute):
    name = "graph.unary_kind"


@irdl_attr_definition
class BinaryKindAttr(EnumAttribute[BinaryKind], SpacedOpaqueSyntaxAttribute):
    name = "graph.binary_kind"


@irdl_attr_definition
class PoolKindAttr(EnumAttribute[PoolKind], SpacedOpaqueSyntaxAttribute):
    name = "graph.pool_kind"


@irdl_attr_definition
class ReduceKindAttr(EnumAttribute[ReduceKind], SpacedOpaqueSyntaxAttribute):
    name = "graph.reduce_kind"


@irdl_attr_definition
class PadModeAttr(EnumAttribute[PadMode], SpacedOpaqueSyntaxAttribute):
    name = "graph.pad_mode"


KIND_ATTRIBUTES = (UnaryKindAttr, BinaryKindAttr, PoolKindAttr, ReduceKindAttr, PadModeAttr)

Ints = DenseArrayBase.constr(i64)
Int = IntegerAttr.constr(type=i64)
Real = FloatAttr.constr(type=f64)


def ints(values: Sequence[int]) -> DenseArrayBase[I64]:
    """Integers as a property."""
    return DenseArrayBase.from_list(i64, [int(v) for v in values])


def int_attr(value: int) -> IntegerAttr:
    """An integer as a property."""
    return IntegerAttr(int(value), i64)


def real(value: float) -> FloatAttr:
    """A number as a property."""
    return FloatAttr(float(value), f64)


def parse_real(parser: Parser) -> float:
    """A number such as `0.1`, `1.0e-05`, `-inf` or `nan`, or an integer."""
    sign = -1.0 if parser.parse_optional_punctuation("-") else 1.0
    word = parser.parse_optional_keyword("inf") or parser.parse_optional_keyword("nan")
    if word is not None:
        return sign * float(word)
    return sign * float(parser.parse_number(allow_boolean=False))


@irdl_custom_directive
class Number(Written):
    """A `FloatAttr` property written as a bare number, infinities as `inf` and `-inf`."""

    value: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        return real(parse_real(parser))

    def write(self, attribute: FloatAttr, printer: Printer) -> None:
        printer.print_string(number_text(attribute.value.data))


def check_tensor(value: SSAValue, what: str) -> Tensor:
    """The type of `value`; a `VerifyException` unless it is a tensor of known element type and positive extents."""
    if not isinstance(value.type, TensorType):
        raise VerifyException(f"{what}: expected a tensor, found {value.type}")
    type_ = tensor_type(value)
    if not is_element_type(type_.element_type):
        raise VerifyException(f"{what}: element type {type_.element_type} is not supported")
    if any(extent < 1 for extent in type_.get_shape()):
        raise VerifyException(f"{what}: expected static extents of at least 1, found {type_}")
    return type_


def require_f32(*values: SSAValue | None) -> None:
    """Check that all given values are f32 tensors."""
    for value in values:
        if value is not None and element_of(value) != f32:
            raise VerifyException(f"expected f32, found {element_of(value)}")


def require_shape(what: str, value: SSAValue | None, shape: Sequence[int]) -> None:
    """Check the shape of a parameter, if it is there."""
    if value is not None and shape_of(value) != tuple(shape):
        raise VerifyException(f"expected {what} of shape {list(shape)}, found {list(shape_of(value))}")


def check_constant(what: str, number: float, element: Attribute) -> None:
    """Check that a number is one of an element type: an integer in its range, where it is an integer type."""
    dtype = dtype_of(element)
    if is_float(dtype):
        return
    low, high = limits(dtype)
    if not (number.is_integer() and low <= number <= high):
        raise VerifyException(f"expected a {what} in [{low}, {high}], an integer, found {number}")


def ssa_name(text: str) -> str:
    """`text` as a name of a value in IR: dots for what no such name has."""
    plain = re.sub(r"[^A-Za-z0-9_$.-]+", ".", text).strip(".")
    return plain if plain[:1].isalpha() else f"_{plain}"


class LayerOp(PlainOp, ABC):
    """An operation on tensors with one result, whose type follows from operands and properties (`infer`)."""

    result = result_def(TensorType)
    traits = traits_def(Pure())
    custom_directives = (Number,)

    def __init__(
        self, *operands: str | SSAValue | Sequence[SSAValue] | None, result: Attribute | None = None, **properties: Any
    ):
        """With properties as plain values, a kind before the operands; optional operands at the end may be left out.

        The result has the type that follows (`infer`), unless one is given.
        """
        given = [operand for operand in operands if not isinstance(operand, str)]
        properties |= {"kind": operand for operand in operands if isinstance(operand, str)}
        left_out = [None] * (len(self.get_irdl_definition().operands) - len(given))
        results = [TensorType(f32, []) if result is None else result]
        super().__init__(*given, *left_out, results=results, **properties)
        if result is None:
            Rewriter.replace_value_with_new_type(self.result, self.infer())

    @abstractmethod
    def infer(self) -> Tensor:
        """The type that the result must have; `VerifyException` if operands and properties do not fit together."""

    def verify_(self) -> None:
        if any(is_open(value.type) for value in (*self.operands, self.result)):
            for index, operand in enumerate(self.operands):
                check_open(f"operand {index}", operand.type)
            check_open("result", self.result.type)
            return  # the rest is checked at a point, by `graph-fix-extents`
        for index, operand in enumerate(self.operands):
            check_tensor(operand, f"operand {index}")
        check_tensor(self.result, "result")
        expected = self.infer()
        if self.result.type != expected:
            raise VerifyException(f"expected result {expected}, found {self.result.type}")


def name_of(op: Operation) -> str | None:
    """The name that the value had in the imported model (discardable attribute `name`), if any."""
    name = op.attributes.get("name")
    return name.data if isinstance(name, StringAttr) else None


def set_name(op: Operation, name: str | None) -> None:
    """Give `op` the name of its value in the imported model; `None` removes it."""
    if name is None:
        op.attributes.pop("name", None)
    else:
        op.attributes["name"] = StringAttr(name)
