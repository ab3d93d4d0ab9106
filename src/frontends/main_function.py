"""The function `@main` of a network, as a module."""

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from ..resources import Resources, attach


def main_module(
    block: Block,
    inputs: Iterable[str],
    outputs: Iterable[str],
    results: Sequence[SSAValue],
    resources: Resources | None = None,
) -> ModuleOp:
    """A module whose `@main` is a block, with names for its arguments and for the `results` that it returns.

    `resources`, where given, are the weights that it names.
    """
    block.add_op(ReturnOp(*results))
    types = [argument.type for argument in block.args], [result.type for result in results]
    function = FuncOp("main", types, Region(block))
    for attribute, names in (("graph.inputs", inputs), ("graph.outputs", outputs)):
        function.attributes[attribute] = ArrayAttr(StringAttr(name) for name in names)
    module = ModuleOp([function])
    if resources is not None:
        attach(module, resources)
    return module
