"""Rows of a table off chip as a tensor of a program of codelets."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from .codelet_attributes import SurrogateType


@irdl_op_definition
class RowsOp(IRDLOperation):
    """Rows of a table at indices, both off chip: a transfer from the result copies the rows that are named then.

    %y = codelet.rows %t at %i : (!codelet.surrogate<100x8xf32, @DRAM>, !codelet.surrogate<1x4xi64, @DRAM>)
           -> !codelet.surrogate<1x4x8xf32, @DRAM>
    """

    name = "codelet.rows"
    table = operand_def(SurrogateType)
    index = operand_def(SurrogateType)
    result = result_def(SurrogateType)
    traits = traits_def(Pure())
    assembly_format = "$table `at` $index attr-dict `:` functional-type(operands, results)"

    def __init__(self, table: SSAValue, index: SSAValue, type: SurrogateType) -> None:
        super().__init__(operands=[table, index], result_types=[type])

    def verify_(self) -> None:
        from .codelet_rules import verify_rows

        verify_rows(self)
