"""Copies between the regions of a map, as codelets of fused groups."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Region, SSAValue

from ...costs.mapping.binding import pricer_of
from ...costs.mapping.tree import Leaf
from ...dialects.codelet import CodeletOp, LoopOp
from ...machine import Machine
from ..graph_to_nest.builder import GroupBuilder
from ..graph_to_nest.movement import whole
from ..nest.nest_map import bind_in_place
from ..nest.trees import set_mapping
from .fused_codelets import LayerBuilder, Place
from .fused_layers import FusedLayer, read_layer


def copy_codelet(
    machine: Machine, name: str, value: SSAValue, source: SSAValue, target: SSAValue
) -> tuple[CodeletOp, FusedLayer]:
    """A codelet that copies a map like `value` from `source` to `target`, both on chip, and the layer that it is of."""
    builder = GroupBuilder(name)
    op = builder.finish([whole(value, builder).value], None)
    pricer = pricer_of(machine)
    set_mapping(op, (Leaf(builder.names[-1]),))
    bind_in_place(op, pricer)
    layer = read_layer(op, pricer)
    names = op.buffers()
    places = {op.input_names.data[0].data: [Place(source, 0, 1)], names[op.yielded[0]]: [Place(target, 0, 1)]}
    codelet = LayerBuilder(machine, layer, places, {}).build()
    op.erase()
    return codelet, layer


def in_loops(codelet: CodeletOp, loops: Sequence[tuple[str, int]]) -> CodeletOp:
    """A codelet with its body in loops over dims by steps, the first outermost."""
    block = codelet.body.block
    for dim, step in reversed(loops):
        inner = Block()
        for op in list(block.ops):
            op.detach()
            inner.add_op(op)
        block.add_op(LoopOp(dim, step, Region(inner)))
    return codelet
