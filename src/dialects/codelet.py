"""The `codelet` dialect: loops, transfers and computes on tensors with a place in the machine (Covenant, section 3).

A `codelet.program` is the DRAM tensors of a network and its codelets in order.  A codelet's dims each have a current
range, at first `0 .. extent - 1`; a loop narrows one of them, so no index arithmetic is written down:

    codelet.program @main {
      %x = codelet.tensor "x" input at 0 : !codelet.surrogate<16x8xf32, @DRAM>
      %y = codelet.tensor "y" output at 512 : !codelet.surrogate<16x8xf32, @DRAM>
      codelet.codelet @relu1 dims {m = 16, n = 8} (%X = %x : !codelet.surrogate<16x8xf32, @DRAM>, ...) {
        codelet.loop m step 4 {
          %a = codelet.local "X[m, n]" buffers 2 at [0, 128] : !codelet.surrogate<4x8xf32, @GBUF>
          %b = codelet.local "Y[m, n]" buffers 2 at [256, 384] : !codelet.surrogate<4x8xf32, @GBUF>
          codelet.transfer %X -> %a : !codelet.surrogate<16x8xf32, @DRAM> -> !codelet.surrogate<4x8xf32, @GBUF>
          codelet.compute @VPU::@unary "O[m, n] = relu(A[m, n])" (%b, %a) dims {a = m, b = n} functions {F = relu} : ...
          codelet.transfer %b -> %Y : ...
        }
      }
    }
"""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Dialect, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator, Pure, SymbolOpInterface

from .codelet_attributes import RoleAttr, SurrogateType
from .codelet_compute import ComputeOp
from .codelet_fused import FillOp, FusedOp, PartOp
from .codelet_walks import ShadowOp, SpanOp
from .nest_attributes import DimsAttr
from .properties import PlainOp, RuledOp
from .syntax import Body, Count, Counts, Texts, Word, parse_attributes, parse_captured, print_body, print_captured
from .types import ProgramCallable, Role


@irdl_op_definition
class RowsOp(RuledOp):
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


@irdl_op_definition
class ProgramOp(RuledOp):
    """The tensors and codelets of a network, run in order."""

    name = "codelet.program"
    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface(), ProgramCallable())
    assembly_format = "$sym_name attr-dict-with-keyword $body"

    def __init__(self, name: str, body: Region) -> None:
        super().__init__(properties={"sym_name": StringAttr(name)}, regions=[body])

    def types_of(self, role: Role) -> tuple[Attribute, ...]:
        """The types of the tensors of a role, in order."""
        tensors = (op for op in self.body.block.ops if isinstance(op, TensorOp))
        return tuple(op.result.type for op in tensors if op.role.data == role)

    @property
    def codelets(self) -> "list[CodeletOp]":
        """All codelets in order, those of fused groups too."""
        found: list[CodeletOp] = []
        for op in self.body.block.ops:
            inner = op.codelets if isinstance(op, FusedOp) else [op]
            found += [codelet for codelet in inner if isinstance(codelet, CodeletOp)]
        return found


@irdl_op_definition
class TensorOp(PlainOp):
    """A tensor of the program, named as in the network; `address` in bytes once allocated.

    Inputs, outputs and weights are there before or after a run; the contents of weights are the module's resources.
    `ring`: of each axis only so much is kept at a time, index i in the place of i mod that (0: the whole axis).
    """

    name = "codelet.tensor"
    tensor_name = prop_def(StringAttr)
    role = prop_def(RoleAttr)
    ring = opt_prop_def(DenseArrayBase.constr(i64))
    address = opt_prop_def(IntegerAttr)
    result = result_def(SurrogateType)
    traits = traits_def(HasParent(ProgramOp))
    custom_directives = (Count, Counts)
    assembly_format = (
        "$tensor_name $role (`ring` custom<Counts>($ring)^)? (`at` custom<Count>($address)^)? "
        "attr-dict-with-keyword `:` type($result)"
    )

    def __init__(
        self, name: str, role: Role, type: SurrogateType, address: int | None = None, ring: Sequence[int] | None = None
    ) -> None:
        super().__init__(results=[type], tensor_name=name, role=role, ring=ring, address=address)


@irdl_op_definition
class ViewOp(RuledOp):
    """The same bytes under another shape, row-major on both sides."""

    name = "codelet.view"
    source = operand_def(SurrogateType)
    result = result_def(SurrogateType)
    traits = traits_def(HasParent(ProgramOp))
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, type: SurrogateType) -> None:
        super().__init__(operands=[source], result_types=[type])


@irdl_op_definition
class CodeletOp(PlainOp):
    """A unit of work over `dims`: its body runs with each dim's range being all of its iterations.

    The block arguments are the tensors that it uses, in their places off chip.
    """

    name = "codelet.codelet"
    sym_name = prop_def(SymbolNameConstraint())
    dims = prop_def(DimsAttr)
    tensors = var_operand_def(SurrogateType)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), HasParent(ProgramOp, FusedOp))

    def __init__(self, name: str, dims: Mapping[str, int], tensors: Sequence[SSAValue], body: Region) -> None:
        super().__init__(tensors, regions=[body], sym_name=name, dims=DimsAttr.of(dims))

    @classmethod
    def parse(cls, parser: Parser) -> "CodeletOp":
        """`@name dims {m = 4, ...} (%X = %x : type, ...) [attributes {...}] {body}`."""
        name = parser.parse_symbol_name()
        parser.parse_keyword("dims")
        dims = DimsAttr(DimsAttr.parse_list(parser, parser.Delimiter.BRACES))
        arguments, values = parse_captured(parser)
        attributes, body = parse_attributes(parser), parser.parse_region(arguments)
        properties = {"sym_name": name, "dims": dims}
        return cls.create(operands=values, properties=properties, attributes=attributes, regions=[body])

    def print(self, printer: Printer) -> None:
        """See `parse`."""
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" dims {")
        self.dims.print_list(printer)
        printer.print_string("} ")
        print_captured(self.body, self.tensors, printer)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        print_body(self.body, printer)


@irdl_op_definition
class LoopOp(PlainOp):
    """Runs its body for each piece of `step` iterations of the current range of `dim`; the last may be shorter.

    `ahead`: what an iteration begins with is done before the rest of the one before it (`codelet_schedule`).
    `alternating`: every other time that the loop runs it does so from the last piece to the first.
    """

    name = "codelet.loop"
    dim = prop_def(StringAttr)
    step = prop_def(IntegerAttr)
    ahead = opt_prop_def(UnitAttr)
    alternating = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    custom_directives = (Word, Count, Body)
    assembly_format = (
        "custom<Word>($dim) `step` custom<Count>($step) (`ahead` $ahead^)? (`alternating` $alternating^)? "
        "attr-dict-with-keyword custom<Body>($body)"
    )

    def __init__(self, dim: str, step: int, body: Region, *, alternating: bool = False) -> None:
        super().__init__(dim=dim, step=step, alternating=alternating, regions=[body])


@irdl_op_definition
class LocalOp(PlainOp):
    """A piece of memory for the window that `accesses` touch over the current ranges (see `algebra.affine`).

    Its type has the window's size over full tiles, which is also its layout for a shorter last tile.  Each time the op
    runs it stands for the next of `buffers` copies; `addresses` has the byte address of each once allocated.  `kept`:
    if a copy has this window already, it stands for that one, and transfers into it do nothing; else for the copy that
    was used least recently.
    """

    name = "codelet.local"
    accesses = prop_def(ArrayAttr[StringAttr])
    buffers = prop_def(IntegerAttr, default_value=IntegerAttr(1, i64))
    kept = opt_prop_def(UnitAttr)
    addresses = opt_prop_def(DenseArrayBase.constr(i64))
    result = result_def(SurrogateType)
    custom_directives = (Texts, Count, Counts)
    assembly_format = (
        "custom<Texts>($accesses) (`buffers` custom<Count>($buffers)^)? (`kept` $kept^)? "
        "(`at` custom<Counts>($addresses)^)? attr-dict-with-keyword `:` type($result)"
    )

    def __init__(
        self,
        accesses: Sequence[str],
        type: SurrogateType,
        buffers: int = 1,
        addresses: Sequence[int] | None = None,
        *,
        kept: bool = False,
    ) -> None:
        super().__init__(results=[type], accesses=accesses, buffers=buffers, kept=kept, addresses=addresses)

    @property
    def slots(self) -> tuple[int, ...] | None:
        """The byte address of each copy, once allocated."""
        return None if self.addresses is None else self.addresses.get_values()


@irdl_op_definition
class TransferOp(PlainOp):
    """Copies the box that the local side's access touches over the current ranges, along one link of the machine.

    At least one side is a local; where both are, the one with the wider steps counts.  Between two tensors, one of them
    on chip, `over` is the access; that of the destination is `into` where its indices differ by constants.  A load may
    reach out of the tensor's bounds: such elements are set to `pad`.
    """

    name = "codelet.transfer"
    source = operand_def(SurrogateType)
    destination = operand_def(SurrogateType)
    over = opt_prop_def(StringAttr)
    into = opt_prop_def(StringAttr)
    pad = opt_prop_def(IntegerAttr | FloatAttr)

    def __init__(
        self,
        source: SSAValue,
        destination: SSAValue,
        pad: IntegerAttr | FloatAttr | None = None,
        over: str | None = None,
        into: str | None = None,
    ) -> None:
        super().__init__(source, destination, pad=pad, over=over, into=into)

    assembly_format = (
        "$source `->` $destination (`over` $over^)? (`into` $into^)? (`pad` $pad^)? attr-dict "
        "`:` type($source) `->` type($destination)"
    )


def entry(types: Sequence[Attribute], names: Sequence[str]) -> Block:
    """A block whose arguments have `types` and are printed as `names`."""
    block = Block(arg_types=types)
    for arg, name in zip(block.args, names, strict=True):
        arg.name_hint = name
    return block


Codelet = Dialect(
    "codelet",
    [
        *(ProgramOp, TensorOp, ViewOp, RowsOp, CodeletOp, FusedOp, LoopOp, PartOp, SpanOp),
        *(LocalOp, ShadowOp, TransferOp, FillOp, ComputeOp),
    ],
    [SurrogateType, RoleAttr],
)
