"""Computes of the `codelet` dialect."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr, SymbolRefAttr, UnitAttr, i64
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from . import codelet_syntax as syntax
from .codelet_attributes import SurrogateType
from .nest_attributes import BindingAttr, DimsAttr, StatementAttr, ValuesAttr
from .properties import RuledOp


@irdl_op_definition
class ComputeOp(RuledOp):
    """One issue of capability `on`: `statement` over the current ranges of its dims.

    The statement is the capability's with its operands indexed, `functions` and `immediates` filled in; `tensors` are
    its operands, target first, in order of first appearance.  `dims`: capability dim = codelet dim; the others have one
    iteration, or are walked `over`: the capability is issued for each of their iterations, those of the last dim first.
    `spread`: axis (x, y) = capability dim that the instances of the node share.  A reduction starts from
    its identity where all its reduced dims are at their beginning; with `keep` it always goes on from the target.
    `borders` names operands that may be read out of their bounds; the tensors after the operands, of one element each,
    have what such reads give.  `zeros X [1:15, 0:14]`: elements of operand X with another index along an axis are zero,
    so that the products with them need not be summed up.  `skip` and `take` narrow ranges (`codelet_schedule`).
    """

    name = "codelet.compute"
    on = prop_def(SymbolRefAttr)
    statement = prop_def(StatementAttr)
    dims = prop_def(BindingAttr)
    functions = opt_prop_def(BindingAttr)
    immediates = opt_prop_def(ValuesAttr)
    spread = opt_prop_def(BindingAttr)
    skip = opt_prop_def(DimsAttr)
    take = opt_prop_def(DimsAttr)
    keep = opt_prop_def(UnitAttr)
    over = opt_prop_def(ArrayAttr[StringAttr])
    borders = opt_prop_def(ArrayAttr[StringAttr])
    zeros = opt_prop_def(StringAttr)
    zeros_outside = opt_prop_def(DenseArrayBase.constr(i64))
    tensors = var_operand_def(SurrogateType)

    @property
    def inside(self) -> tuple[tuple[int, int], ...]:
        """First and last index (exclusive) along each axis of operand `zeros` outside of which elements are zero."""
        ends = () if self.zeros_outside is None else self.zeros_outside.get_values()
        return tuple(zip(ends[::2], ends[1::2], strict=True))

    @property
    def walked(self) -> tuple[str, ...]:
        """The dims that are walked over, outermost first."""
        return () if self.over is None else tuple(name.data for name in self.over)

    @property
    def node(self) -> str:
        """The compute node."""
        return self.on.root_reference.data

    @property
    def capability(self) -> str:
        """The capability of the node."""
        return self.on.nested_references.data[0].data if self.on.nested_references.data else ""

    @property
    def border_names(self) -> tuple[str, ...]:
        """Operands that may be read out of their bounds."""
        return () if self.borders is None else tuple(name.data for name in self.borders)

    @classmethod
    def parse(cls, parser: Parser) -> ComputeOp:
        return syntax.parse_compute(cls, parser)

    def print(self, printer: Printer) -> None:
        syntax.print_compute(self, printer)
