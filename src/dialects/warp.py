"""The `warp` dialect: matrices that the threads of a warp hold together, as GPUs multiply them.

A `!warp.fragment` is a 16x16 matrix in the registers of 32 threads; the device says which thread has which elements.
All threads of a warp run each operation together.  Arrays of fragments are indexed by constants, so that they stay in
registers.

    warp.clear %sums[%i]                                    all elements are 0
    warp.load %tile[%x, %y] -> %left[%i] leading 64         rows of 16 elements, 64 elements apart
    warp.multiply %left[%i], %right[%j] -> %sums[%k]        sums += left @ right, in f32
    warp.store %sums[%i] -> %array[%w, %x, %y] leading 16

(printed in MLIR's generic form).  With `by_columns` the elements next to each other are a column.
"""

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IndexType, IntegerAttr, MemRefType, StringAttr, UnitAttr, i64
from xdsl.ir import Dialect, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

ROLES = "left", "right", "sums"
"""What fragments are in a product: halves of the left and the right factor, and sums in f32."""


@irdl_attr_definition
class FragmentType(ParametrizedAttribute, TypeAttribute):
    """A matrix of 16x16 elements: `!warp.fragment<"left">`."""

    name = "warp.fragment"
    role: StringAttr

    def verify(self) -> None:
        if self.role.data not in ROLES:
            raise VerifyException(f"expected a fragment that is one of {', '.join(ROLES)}, found {self.role.data}")


def fragment(role: str) -> FragmentType:
    """The type of a fragment."""
    return FragmentType(StringAttr(role))


def _check(array: SSAValue, *roles: str) -> None:
    kind = array.type.element_type if isinstance(array.type, MemRefType) else None
    if not isinstance(kind, FragmentType) or kind.role.data not in roles:
        raise VerifyException(f"expected an array of fragments of {' or '.join(roles)}, found {array.type}")


@irdl_op_definition
class ClearOp(IRDLOperation):
    """A fragment of sums becomes 0."""

    name = "warp.clear"
    target = operand_def(MemRefType)
    place = var_operand_def(IndexType())

    def __init__(self, target: SSAValue, place: Sequence[SSAValue]) -> None:
        super().__init__(operands=[target, place])

    def verify_(self) -> None:
        _check(self.target, "sums")


class MoveOp(IRDLOperation, ABC):
    """A fragment moves to or from an array, in which its lines are `leading` elements apart."""

    source = operand_def(MemRefType)
    source_indices = var_operand_def(IndexType())
    target = operand_def(MemRefType)
    target_indices = var_operand_def(IndexType())
    leading = prop_def(IntegerAttr[I64])
    by_columns = opt_prop_def(UnitAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        source: tuple[SSAValue, Sequence[SSAValue]],
        target: tuple[SSAValue, Sequence[SSAValue]],
        leading: int,
        by_columns: bool,
    ) -> None:
        properties = {"leading": IntegerAttr(leading, i64), "by_columns": UnitAttr() if by_columns else None}
        super().__init__(operands=[*source, *target], properties=properties)


@irdl_op_definition
class LoadOp(MoveOp):
    """A fragment becomes the matrix that begins at an element of an array."""

    name = "warp.load"

    def verify_(self) -> None:
        _check(self.target, "left", "right")


@irdl_op_definition
class StoreOp(MoveOp):
    """A fragment of sums is written to an array."""

    name = "warp.store"

    def verify_(self) -> None:
        _check(self.source, "sums")


@irdl_op_definition
class MultiplyOp(IRDLOperation):
    """A fragment of sums gains the product of two fragments, which were loaded `by_columns` or not."""

    name = "warp.multiply"
    left = operand_def(MemRefType)
    left_place = var_operand_def(IndexType())
    right = operand_def(MemRefType)
    right_place = var_operand_def(IndexType())
    sums = operand_def(MemRefType)
    sums_place = var_operand_def(IndexType())
    left_by_columns = opt_prop_def(UnitAttr)
    right_by_columns = opt_prop_def(UnitAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        left: tuple[SSAValue, Sequence[SSAValue]],
        right: tuple[SSAValue, Sequence[SSAValue]],
        sums: tuple[SSAValue, Sequence[SSAValue]],
        by_columns: tuple[bool, bool],
    ) -> None:
        names = "left_by_columns", "right_by_columns"
        flags = {name: UnitAttr() for name, given in zip(names, by_columns, strict=True) if given}
        super().__init__(operands=[*left, *right, *sums], properties=flags)

    def verify_(self) -> None:
        for array, role in ((self.left, "left"), (self.right, "right"), (self.sums, "sums")):
            _check(array, role)


Warp = Dialect("warp", [ClearOp, LoadOp, StoreOp, MultiplyOp], [FragmentType])
