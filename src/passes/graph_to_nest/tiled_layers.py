"""What layers that run on their own move: mapped by themselves, as they will be without their neighbours."""

from collections.abc import Iterable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import graph
from ...dialects.acg import GraphOp
from ...dialects.properties import figures_of
from ...resources import attach, resources_of
from ..functions import copy_into
from ..graph.fusion_layers import VIEWS, FusionLayers
from ..graph.graph_fuse import GraphFusePass
from ..nest.nest_map import NestMapPass
from ..nest.nest_tile import NestTilePass
from .convert_graph_to_nest import ConvertGraphToNestPass


def tiled_bytes(ctx: Context, module: ModuleOp, layers: FusionLayers, numbers: Iterable[int]) -> dict[int, int]:
    """DRAM bytes of each of the layers `numbers`, tiled and mapped for the target in `module`.

    Copies that a layer needs of what it reads (a concatenation) count with it.  Errors are those of the passes.
    """
    functions = {
        number: _function(layers.members[number], layers.members[number][-1].results, f"layer{number}")
        for number in numbers
    }
    found = _mapped_bytes(ctx, module, list(functions.values()))
    return dict(zip(functions, found, strict=False))  # nothing is found without a target


def copied_bytes(ctx: Context, module: ModuleOp, layers: FusionLayers) -> int:
    """DRAM bytes of copies that make results of the function and belong to no layer.

    What is returned as joined pieces, as an argument or weight, or once more, is copied to a place of its own.
    """
    last = layers.block.last_op
    copied: list[SSAValue] = []
    seen: set[SSAValue] = set()
    for value in last.operands if isinstance(last, ReturnOp) else ():
        root = value
        while isinstance(root.owner, graph.ReshapeOp):
            root = root.owner.x
        if root in seen or root not in layers.number:
            copied.append(value)
        seen.add(root)
    return sum(_mapped_bytes(ctx, module, [_function([], copied, "copies")])) if copied else 0


def _mapped_bytes(ctx: Context, module: ModuleOp, functions: Sequence[FuncOp]) -> list[int]:
    """DRAM bytes of each of `functions`, tiled and mapped for the target in `module`; of none without a target."""
    targets = [op.clone() for op in module.body.ops if isinstance(op, GraphOp)]
    if not functions or not targets:
        return []
    alone = ModuleOp([*targets, *functions])
    attach(alone, resources_of(module))
    for step in (GraphFusePass(), ConvertGraphToNestPass(), NestTilePass(), NestMapPass()):
        step.apply(ctx, alone)
    return [int(figures_of(function.attributes["predicted"])["dram_bytes"]) for function in functions]


def _function(members: Sequence[Operation], results: Sequence[SSAValue], name: str) -> FuncOp:
    """A function of what the layer reads, with copies of its weights, of views, and of its operations."""
    made = {op.results[0] for op in members}
    inputs: dict[SSAValue, None] = {}

    def collect(value: SSAValue) -> None:
        if value in made:
            return
        owner = value.owner
        if isinstance(owner, (graph.WeightOp, *VIEWS)):
            for operand in owner.operands:
                collect(operand)
        else:
            inputs.setdefault(value)

    for value in [operand for op in members for operand in op.operands] + list(results):
        collect(value)
    block = Block(arg_types=[value.type for value in inputs])
    known: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for value in (*(op.results[0] for op in members), *results):
        copy_into(block, value, known)
    block.add_op(ReturnOp(*(known[value] for value in results)))
    return FuncOp(name, ([value.type for value in inputs], [value.type for value in results]), Region(block))
