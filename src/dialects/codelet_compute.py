"""Computes of the `codelet` dialect."""

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerType, StringAttr, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, var_operand_def
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.parser import Parser
from xdsl.printer import Printer

from .codelet_attributes import SurrogateType
from .nest_attributes import BindingAttr, DimsAttr, StatementAttr, ValuesAttr
from .properties import RuledOp
from .syntax import Binding, Capability, Code, Dims, Numbers, Word, Words, Written


@irdl_custom_directive
class Ends(Written):
    """First and last (exclusive) index along each axis: `[1:15, 0:14]`."""

    value: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        def ends() -> tuple[int, int]:
            first = parser.parse_integer()
            parser.parse_punctuation(":")
            return first, parser.parse_integer()

        pairs = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, ends)
        return DenseArrayBase.from_list(i64, [end for pair in pairs for end in pair])

    def write(self, attribute: DenseArrayBase[IntegerType], printer: Printer) -> None:
        ends = attribute.get_values()
        pairs = zip(ends[::2], ends[1::2], strict=True)
        printer.print_string(f"[{', '.join(f'{first}:{last}' for first, last in pairs)}]")


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
    custom_directives = (Capability, Code, Binding, Numbers, Dims, Words, Word, Ends)
    assembly_format = (
        "custom<Capability>($on) custom<Code>($statement) ` ` `(` $tensors `)` `dims` custom<Binding>($dims) "
        "(`functions` custom<Binding>($functions)^)? (`immediates` custom<Numbers>($immediates)^)? "
        "(`spread` custom<Binding>($spread)^)? (`skip` custom<Dims>($skip)^)? (`take` custom<Dims>($take)^)? "
        "(`over` custom<Words>($over)^)? (`keep` $keep^)? (`borders` custom<Words>($borders)^)? "
        "(`zeros` custom<Word>($zeros)^ custom<Ends>($zeros_outside))? "
        "attr-dict-with-keyword `:` `(` type($tensors) `)`"
    )

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
