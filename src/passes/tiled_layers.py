"""What layers that run on their own move: mapped by themselves, as they will be without their neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, FloatAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ..dialects import graph
from ..dialects.acg import GraphOp
from ..resources import attach, resources_of
from .convert_graph_to_nest import ConvertGraphToNestPass
from .fusion_layers import VIEWS, FusionLayers
from .graph_fuse import GraphFusePass
from .nest_map import NestMapPass
from .nest_tile import NestTilePass


def tiled_bytes(ctx: Context, module: ModuleOp, layers: FusionLayers, numbers: Iterable[int]) -> dict[int, int]:
    """DRAM bytes of each of the layers `numbers`, tiled and mapped for the target in `module`.

    Copies that a layer needs of what it reads (a concatenation) count with it.  Errors are those of the passes.
    """
    targets = [op.clone() for op in module.body.ops if isinstance(op, GraphOp)]
    functions = {number: _function(layers.members[number], f"layer{number}") for number in numbers}
    if not functions or not targets:
        return {}
    alone = ModuleOp([*targets, *functions.values()])
    attach(alone, resources_of(module))
    for step in (GraphFusePass(), ConvertGraphToNestPass(), NestTilePass(), NestMapPass()):
        step.apply(ctx, alone)
    found: dict[int, int] = {}
    for number, function in functions.items():
        predicted = cast(DictionaryAttr, function.attributes["predicted"])
        found[number] = int(cast("FloatAttr", predicted.data["dram_bytes"]).value.data)
    return found


def _function(members: Sequence[Operation], name: str) -> FuncOp:
    """A function of what the layer reads, with copies of its weights, of views, and of its operations."""
    made = {op.results[0] for op in members}
    inputs: dict[SSAValue, None] = {}
    around: dict[Operation, None] = {}

    def collect(value: SSAValue) -> None:
        if value in made:
            return
        owner = value.owner
        if isinstance(owner, (graph.WeightOp, *VIEWS)):
            for operand in owner.operands:
                collect(operand)
            around.setdefault(owner)
        else:
            inputs.setdefault(value)

    for op in members:
        for operand in op.operands:
            collect(operand)
    result = members[-1].results[0]
    block = Block(arg_types=[value.type for value in inputs])
    known: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for op in (*around, *members):
        copy = op.clone(known)
        block.add_op(copy)
        known[op.results[0]] = copy.results[0]
    block.add_op(ReturnOp(known[result]))
    return FuncOp(name, ([value.type for value in inputs], [result.type]), Region(block))
