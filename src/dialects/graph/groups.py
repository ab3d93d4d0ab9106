"""Groups of layers: what is scheduled together, as regions around the layers (Cocco, SoMa)."""

from abc import ABC
from collections.abc import Callable, Sequence
from math import prod
from typing import Self

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..syntax import parse_attributes, parse_captured, print_captured
from ..types import shape_of
from .base import Int, LayerOp, int_attr
from .movement import ReshapeOp, WeightOp


class GroupOp(IRDLOperation, ABC):
    """Operands become the body's arguments; nothing else is seen from inside; `graph.yield` gives the results."""

    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    body = region_def("single_block")

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The values inside the body that the results are."""
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("expected the body to end with graph.yield")
        return last.values

    def members(self) -> list[Operation]:
        """The operations of the body without `graph.yield`."""
        return [op for op in self.body.block.ops if not isinstance(op, YieldOp)]

    def verify_(self) -> None:
        block = self.body.block
        arguments, inputs = list(block.arg_types), list(self.inputs.types)
        if arguments != inputs:
            raise VerifyException(f"expected body arguments of types {_list(inputs)}, found {_list(arguments)}")
        yielded, outputs = [v.type for v in self.yielded], list(self.outputs.types)
        if yielded != outputs:
            raise VerifyException(f"expected graph.yield of types {_list(outputs)}, found {_list(yielded)}")
        if not outputs:
            raise VerifyException("expected at least one result")

    def print(self, printer: Printer) -> None:
        """`(%a = %x : type, ...) -> (types) attributes {...} {body}`."""
        printer.print_string(" ")
        print_captured(self.body, self.inputs, printer)
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(self.outputs.types, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """See `print`."""
        arguments, operands = parse_captured(parser)
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        attributes, body = parse_attributes(parser), parser.parse_region(arguments)
        return cls.create(operands=operands, result_types=results, attributes=attributes, regions=[body])


def _list(types: Sequence[Attribute]) -> str:
    return f"[{', '.join(map(str, types))}]"


@irdl_op_definition
class FusedGroupOp(GroupOp):
    """Layers computed together, tile by tile, without leaving the chip in between (a fused layer group, FLG).

    The first result is cut into `tiles` tiles.  The body holds layers only.

        %y = graph.fused_group tiles 4 (%a = %x : tensor<1x4xf32>) -> (tensor<1x4xf32>) {
          %b = graph.unary relu %a : (tensor<1x4xf32>) -> tensor<1x4xf32>
          graph.yield %b : tensor<1x4xf32>
        }
    """

    name = "graph.fused_group"
    tiles = prop_def(Int)
    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect())

    def __init__(self, inputs: Sequence[SSAValue], results: Sequence[Attribute], body: Region, *, tiles: int = 1):
        super().__init__(
            operands=[list(inputs)], result_types=[list(results)], properties={"tiles": int_attr(tiles)}, regions=[body]
        )

    def verify_(self) -> None:
        super().verify_()
        for op in self.members():
            if not isinstance(op, LayerOp):
                raise VerifyException(f"expected layers in the body, found {op.name}")
        tiles, most = self.tiles.value.data, prod(shape_of(self.outputs[0]))
        if not 1 <= tiles <= most:
            raise VerifyException(f"expected from 1 to {most} tiles, found {tiles}")

    def print(self, printer: Printer) -> None:
        printer.print_string(f" tiles {self.tiles.value.data}")
        super().print(printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("tiles")
        tiles = parser.parse_integer()
        op = super().parse(parser)
        op.tiles = int_attr(tiles)
        return op


@irdl_op_definition
class LayerGroupOp(GroupOp):
    """Fused groups that are on chip together (a layer group, LG): what lies between them need not go to DRAM.

        %y = graph.layer_group (%a = %x : tensor<1x4xf32>) -> (tensor<1x4xf32>) {
          %b = graph.fused_group tiles 4 (%c = %a : tensor<1x4xf32>) -> (tensor<1x4xf32>) { ... }
          graph.yield %b : tensor<1x4xf32>
        }

    The body holds fused groups, reshapes and weights.
    """

    name = "graph.layer_group"
    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect())

    def __init__(self, inputs: Sequence[SSAValue], results: Sequence[Attribute], body: Region):
        super().__init__(operands=[list(inputs)], result_types=[list(results)], regions=[body])

    def verify_(self) -> None:
        super().verify_()
        for op in self.members():
            if not isinstance(op, FusedGroupOp | ReshapeOp | WeightOp):
                raise VerifyException(f"expected graph.fused_group, graph.reshape or graph.weight, found {op.name}")


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The results of the group around it.

    graph.yield %y : tensor<1x4x8x8xf32>
    """

    name = "graph.yield"
    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator(), HasParent(FusedGroupOp, LayerGroupOp), Pure())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, *values: SSAValue):
        super().__init__(operands=[list(values)])


def region_of(
    arguments: Sequence[Attribute], build: Callable[[tuple[BlockArgument, ...]], Sequence[Operation]]
) -> Region:
    """A one-block region with the operations that `build` makes from the block's arguments."""
    block = Block(arg_types=arguments)
    block.add_ops(build(block.args))
    return Region(block)
