"""The pass `graph-integers`: the integer part of a quantised network."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import graph
from ..functions import functions_of


@dataclass(frozen=True)
class GraphIntegersPass(ModulePass):
    """Leave out what turns inputs into integers and integers into outputs, for machines without floats.

    An input that is only quantised becomes its integers, an output that is dequantised the integers before:

        func @main(%x : tensor<4xf32>) -> tensor<4xf32>     func @main(%x : tensor<4xsi8>) -> tensor<4xsi8>
          %q = graph.quantize %x, %s, %z               ->     %y = ... %x
          %y = ... %q                                         return %y
          return graph.dequantize %y, %s, %z

    Precondition: `graph-quantize`.  Other layers on floats stay as they are.
    """

    name = "graph-integers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            cut(function)


def cut(function: FuncOp) -> None:
    """Drops quantisation at the inputs and dequantisation at the outputs of a function."""
    block = function.body.block
    for argument in block.args:
        user = argument.get_user_of_unique_use()
        if isinstance(user, graph.QuantizeOp) and user.x is argument:
            integers = Rewriter.replace_value_with_new_type(argument, user.result.type)
            user.result.replace_all_uses_with(integers)
            Rewriter.erase_op(user)
    last = block.last_op
    if not isinstance(last, ReturnOp):
        return
    for index, value in enumerate(last.arguments):
        if isinstance(value.owner, graph.DequantizeOp):
            last.operands[index] = value.owner.x
            if not value.uses:
                Rewriter.erase_op(value.owner)
    types = [argument.type for argument in block.args], [value.type for value in last.arguments]
    function.properties["function_type"] = FunctionType.from_lists(*types)
