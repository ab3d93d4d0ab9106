"""The `nest` dialect: general tensor kernels over named dims, and how they are mapped to memories and arrays.

A `nest.group` is what lives on chip together: a body of kernels on whole tensors that says what is computed, and a
mapping, a tree of loops, holds and computes that says how.  An empty mapping leaves everything open.

    %y = nest.group @fc dims {m = 8, n = 64, k = 512} ins(X = %x, W = %w, B = %b) -> tensor<8x64xf32> {
    ^bb0(%X : tensor<8x512xf32>, %W : tensor<512x64xf32>, %B : tensor<64xf32>):
      %0 = nest.kernel @init "Y[m, n] = B[n]" (B = %B) : (tensor<64xf32>) -> tensor<8x64xf32>
      %1 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W) into %0
             : (tensor<8x512xf32>, tensor<512x64xf32>) -> tensor<8x64xf32>
      nest.yield %1 : tensor<8x64xf32>
    } mapping {
      nest.for n step 32 {
        nest.hold @GBUF [B, W, X] buffers 2 {
          nest.hold @GBUF [init] buffers 2 {
            nest.compute @init on @VPU::@unary dims {a = m, b = n} tensors {O = Y, A = B} functions {F = identity}
            nest.compute @mac on @MXU::@fmac dims {p = m, k = n, c = k} tensors {O = Y, X = X, W = W}
          }
        }
      }
    }

A *buffer* is a tensor's storage: every group input is one, and every kernel without `into` makes one; a kernel with
`into` writes the buffer of that value.  A buffer is named as its input or as the kernel that made it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, SymbolNameConstraint, TensorType, i64
from xdsl.ir import Attribute, Block, Dialect, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, Pure

from ..algebra.expr import Statement
from .nest_attributes import BindingAttr, DimsAttr, StatementAttr, ValuesAttr
from .nest_mapping import ComputeOp, ForOp, HoldOp, SpatialOp
from .nest_syntax import NamedOperands, Signature, parse_named, print_named
from .properties import PlainOp, RuledOp
from .syntax import Code, Numbers, parse_attributes

WORDS = StringAttr("words")
"""Value of the attribute `elements` of groups whose elements have no type: one word of each memory."""


@irdl_op_definition
class KernelOp(PlainOp):
    """`statement` on whole tensors, for every point of its dims (extents from the group).

    The statement's target is the result; its other tensors are `operand_names`, bound to `inputs` in order.
    With `init` (`into`) the result starts as that value: elements that are not written keep it, and a reduction
    continues from it.  Without it a reduction starts from its identity and elements that are not written are undefined.
    Reads out of a tensor's bounds give its `pad` value; without one they are an error.
    """

    name = "nest.kernel"
    sym_name = prop_def(SymbolNameConstraint())
    statement = prop_def(StatementAttr)
    operand_names = prop_def(ArrayAttr[StringAttr])
    pad = opt_prop_def(ValuesAttr)
    inputs = var_operand_def(TensorType)
    init = opt_operand_def(TensorType)
    result = result_def(TensorType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())
    custom_directives = (Code, Numbers, NamedOperands, Signature)
    assembly_format = (
        "$sym_name custom<Code>($statement) custom<NamedOperands>($operand_names, $inputs) (`into` $init^)? "
        "(`pad` custom<Numbers>($pad)^)? attr-dict-with-keyword "
        "`:` custom<Signature>(type($inputs), type($init), type($result))"
    )

    def __init__(
        self,
        name: str,
        statement: Statement | str,
        operands: Mapping[str, SSAValue],
        result_type: Attribute,
        *,
        init: SSAValue | None = None,
        pad: Mapping[str, int | float] | None = None,
    ) -> None:
        attr = StatementAttr.from_text(statement) if isinstance(statement, str) else StatementAttr(statement)
        pads = ValuesAttr.of(pad) if pad else None
        names, values = list(operands), list(operands.values())
        super().__init__(
            values, init, results=[result_type], sym_name=name, statement=attr, operand_names=names, pad=pads
        )

    @property
    def operands_by_name(self) -> dict[str, SSAValue]:
        """Tensor name of the statement -> value."""
        return {n.data: value for n, value in zip(self.operand_names, self.operands, strict=False)}

    @property
    def values(self) -> dict[str, SSAValue]:
        """Each tensor of the statement -> value, the result's among them."""
        return {**self.operands_by_name, self.statement.data.target.tensor: self.result}

    @property
    def group(self) -> "GroupOp":
        """The group that it is in."""
        group = self.parent_op()
        assert isinstance(group, GroupOp)
        return group

    def like(
        self,
        statement: Statement,
        init: SSAValue | None,
        *,
        label: str = "",
        operands: Mapping[str, SSAValue] | None = None,
        result_type: Attribute | None = None,
    ) -> "KernelOp":
        """Another statement with another beginning, on the same operands unless others are given."""
        values, type_ = self.operands_by_name if operands is None else operands, result_type or self.result.type
        made = KernelOp(label or self.sym_name.data, statement, values, type_, init=init, pad=self.pads)
        made.result.name_hint = self.result.name_hint
        return made

    @property
    def start(self) -> SSAValue | None:
        """What `init` is, without a look at the sizes of operand segments."""
        given = self.operands
        return given[-1] if len(given) > len(self.operand_names.data) else None

    @property
    def pads(self) -> dict[str, int | float]:
        """Tensor name -> value of reads out of its bounds."""
        return {} if self.pad is None else self.pad.as_dict()


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a group with its results."""

    name = "nest.yield"
    arguments = var_operand_def()
    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    def __init__(self, *values: SSAValue) -> None:
        super().__init__(operands=[list(values)])


@irdl_op_definition
class GroupOp(PlainOp):
    """Kernels that share `dims` and run tile by tile on chip together; see the dialect's text.

    A result whose buffer is an input's is that input overwritten in place: the input may then have no other use.
    """

    name = "nest.group"
    sym_name = prop_def(StringAttr)
    dims = prop_def(DimsAttr)
    input_names = prop_def(ArrayAttr[StringAttr])
    inputs = var_operand_def(TensorType)
    outs = var_result_def(TensorType)
    body = region_def("single_block")
    mapping = region_def()
    traits = traits_def(IsolatedFromAbove(), NoTerminator())

    def __init__(
        self,
        name: str,
        dims: Mapping[str, int],
        inputs: Mapping[str, SSAValue],
        result_types: Sequence[Attribute],
        body: Region | None = None,
        mapping: Region | None = None,
    ) -> None:
        super().__init__(
            list(inputs.values()),
            results=[result_types],
            regions=[body or _entry(inputs), mapping or Region()],
            sym_name=name,
            dims=DimsAttr.of(dims),
            input_names=list(inputs),
        )

    @property
    def extents(self) -> dict[str, int]:
        """Dim -> extent."""
        return self.dims.as_dict()

    @property
    def inputs_by_name(self) -> dict[str, SSAValue]:
        """Name of an input's buffer -> value."""
        return {name.data: value for name, value in zip(self.input_names, self.inputs, strict=True)}

    @property
    def outside(self) -> dict[SSAValue, SSAValue]:
        """Argument of the body -> the value outside of the group that it is."""
        return dict(zip(self.body.block.args, self.inputs, strict=True))

    @property
    def kernels(self) -> tuple[KernelOp, ...]:
        """The kernels of the body in order."""
        return tuple(op for op in self.body.block.ops if isinstance(op, KernelOp))

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The body's values that are the results."""
        last = self.body.block.last_op
        return tuple(last.operands) if last is not None else ()

    @property
    def is_mapped(self) -> bool:
        """Whether there is a mapping."""
        return bool(self.mapping.blocks) and self.mapping.block.first_op is not None

    def buffers(self) -> dict[SSAValue, str]:
        """Each value of the body -> the name of its buffer."""
        names = {arg: n.data for arg, n in zip(self.body.block.args, self.input_names, strict=True)}
        buffers: dict[SSAValue, str] = {**names}
        for kernel in self.kernels:
            buffers[kernel.results[0]] = kernel.sym_name.data if (start := kernel.start) is None else buffers[start]
        return buffers

    def padded(self, kernels: Collection[str] | None = None) -> list[tuple[str, float]]:
        """Buffers that some kernels (without `kernels`: all) read out of bounds, and what such reads give."""
        names, found = self.buffers(), dict[tuple[str, float], None]()
        for kernel in self.kernels:
            if kernels is None or kernel.sym_name.data in kernels:
                operands = kernel.operands_by_name
                found |= {(names[operands[tensor]], value): None for tensor, value in kernel.pads.items()}
        return list(found)

    def buffer_types(self) -> dict[str, TensorType]:
        """Name of a buffer -> its tensor type, inputs first."""
        return {name: cast(TensorType, value.type) for value, name in self.buffers().items()}

    @classmethod
    def parse(cls, parser: Parser) -> "GroupOp":
        """`@name dims {n = 1, ...} ins(X = %x, ...) -> types [attributes {...}] {body} [mapping {tree}]`."""
        name = parser.parse_symbol_name()
        parser.parse_keyword("dims")
        dims = DimsAttr(DimsAttr.parse_list(parser, parser.Delimiter.BRACES))
        parser.parse_keyword("ins")
        start = parser.pos
        names, operands = parse_named(parser)
        end = parser.pos
        parser.parse_punctuation("->")
        types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        types = [parser.parse_type()] if types is None else types
        attributes = parse_attributes(parser)
        body = parser.parse_region()
        mapping = parser.parse_region() if parser.parse_optional_keyword("mapping") else Region()
        if not body.blocks or len(body.blocks[0].args) != len(operands):
            parser.raise_error("expected one argument of the body for each input", start, end)
        return cls.build(
            operands=[[parser.resolve_operand(o, a.type) for o, a in zip(operands, body.blocks[0].args, strict=True)]],
            properties={"sym_name": name, "dims": dims, "input_names": names},
            attributes=attributes,
            result_types=[types],
            regions=[body, mapping],
        )

    def print(self, printer: Printer) -> None:
        """See `parse`."""
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" dims {")
        self.dims.print_list(printer)
        printer.print_string("} ins")
        print_named(self.input_names, self.inputs, printer)
        printer.print_string(" -> ")
        types = self.result_types
        if len(types) == 1:
            printer.print_attribute(types[0])
        else:
            with printer.in_parens():
                printer.print_list(types, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)
        if self.mapping.blocks:
            printer.print_string(" mapping ")
            printer.print_region(self.mapping, print_empty_block=False)


@irdl_op_definition
class ViewOp(RuledOp):
    """The same bytes under another shape (row-major on both sides); no data moves."""

    name = "nest.view"
    source = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, result_type: Attribute) -> None:
        super().__init__(operands=[source], result_types=[result_type])


@irdl_op_definition
class JoinOp(PlainOp):
    """Tensors side by side along an axis; inside of a fused group, where each keeps its own place.

    %y = nest.join %a, %b axis 1 : (tensor<1x4x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x6x8x8xf32>
    """

    name = "nest.join"
    pieces = var_operand_def(TensorType)
    axis = prop_def(IntegerAttr.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "$pieces `axis` $axis attr-dict `:` functional-type($pieces, $result)"

    def __init__(self, pieces: Sequence[SSAValue], axis: int, result_type: Attribute) -> None:
        super().__init__(list(pieces), results=[result_type], axis=axis)


@irdl_op_definition
class RowsOp(RuledOp):
    """Rows of a table off chip, at indices off chip: who reads them reads the table there; no data moves before.

    A negative index counts from the back; one of no row is an error.

        %y = nest.rows %t at %i : (tensor<100x8xf32>, tensor<1x4xi64>) -> tensor<1x4x8xf32>
    """

    name = "nest.rows"
    table = operand_def(TensorType)
    index = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "$table `at` $index attr-dict `:` functional-type(operands, results)"

    def __init__(self, table: SSAValue, index: SSAValue, result_type: Attribute) -> None:
        super().__init__(operands=[table, index], result_types=[result_type])


def _entry(inputs: Mapping[str, SSAValue]) -> Region:
    block = Block(arg_types=[value.type for value in inputs.values()])
    for arg, name in zip(block.args, inputs, strict=True):
        arg.name_hint = name
    return Region(block)


Nest = Dialect(
    "nest",
    [KernelOp, YieldOp, GroupOp, ViewOp, JoinOp, RowsOp, HoldOp, ForOp, SpatialOp, ComputeOp],
    [StatementAttr, DimsAttr, BindingAttr, ValuesAttr],
)
