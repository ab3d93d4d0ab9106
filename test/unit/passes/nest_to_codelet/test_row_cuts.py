"""How layers that run in rows are cut where what is between their kernels takes too much."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from tilewright.costs.mapping.binding import Pricer
from tilewright.costs.mapping.tree import Hold, Loop, Node
from tilewright.dialects import nest
from tilewright.dialects.acg import machine_of
from tilewright.driver import load_model, make_context, parse_passes
from tilewright.passes.nest.nest_map import bind_tree
from tilewright.passes.nest.nest_tile import row_tree
from tilewright.passes.nest_to_codelet.fused_layers import FusedGroup, FusedLayer, read_layer
from tilewright.passes.nest_to_codelet.fused_tiles import ROWS_SCRATCH_SHARE, row_trees, scratch_bytes


def in_rows(
    nodes: Sequence[NodeProto],
    channels: int,
    made: int,
    weights: Sequence[TensorProto] = (),
    kind: int = TensorProto.FLOAT,
) -> FusedGroup:
    """The only group of a network on maps of 56 rows and columns, one row at a time."""
    shapes = {"x": [1, channels, 56, 56], "y": [1, made, 56, 56]}
    value = {name: helper.make_tensor_value_info(name, kind, shape) for name, shape in shapes.items()}
    model = helper.make_model(helper.make_graph(nodes, "net", [value["x"]], [value["y"]], weights))
    model.opset_import[0].version, model.ir_version = 17, 8
    module = load_model(model)
    passes = 'load-target{target="cocco_npu"},graph-normalize,graph-quantize,convert-graph-to-nest{in_place=true}'
    parse_passes(passes).apply(make_context(), module)
    pricer = Pricer(machine_of(module))
    (op,) = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    return FusedGroup(pricer.machine, (read_layer(op, pricer),), (1, 0))


def with_step(tree: Sequence[Node], dim: str, step: int) -> tuple[Node, ...]:
    """The loops with other pieces of a dim."""
    return tuple(
        replace(node, step=step if node.dim == dim else node.step, body=inner)
        if isinstance(node, Loop) and (inner := with_step(node.body, dim, step))
        else node
        for node in tree
    )


def cycles_of(layer: FusedLayer, tree: Sequence[Node], pricer: Pricer) -> float:
    """Cycles of all units."""
    return sum(bind_tree(layer.problem, tuple(tree), pricer)[1].queue_cycles.values())


@pytest.mark.parametrize("made", [96, 144, 192])
def test_channels_are_made_in_pieces_that_fill_arrays(made: int):
    """No other size of pieces that fit takes fewer cycles."""
    zero, scale, weights = np.int8(0), np.float32(0.5), np.ones((made, 16, 1, 1), np.int8)
    given = {"s": np.array(scale), "z": np.array(zero), "w": weights}
    node = helper.make_node("QLinearConv", ["x", "s", "z", "w", "s", "z", "s", "z"], ["y"])
    values = [numpy_helper.from_array(array, name) for name, array in given.items()]
    group = in_rows([node], 16, made, values, TensorProto.INT8)
    (layer,), pricer = group.layers, Pricer(group.machine)
    tree = row_tree(group, layer, pricer)
    dim = layer.problem.kernels[-1].target.forms[1].names[0]
    budget = next(m for m in group.machine.memories if m.name == group.map_memory).capacity_bytes // ROWS_SCRATCH_SHARE
    tile = {**layer.problem.extents, layer.row: 1}
    steps = [step for step in range(1, made + 1) if scratch_bytes(layer, {**tile, dim: step}) <= budget]
    assert made not in steps
    every = [cycles_of(layer, with_step(tree, dim, step), pricer) for step in steps]
    assert len(set(every)) > 1
    assert cycles_of(layer, tree, pricer) == min(every)


def test_channels_of_which_sums_are_made_again_stay_together():
    """Squares of all channels would be made for each piece of the channels of a local normalisation."""
    group = in_rows([helper.make_node("LRN", ["x"], ["y"], size=5)], 192, 192)
    (layer,) = group.layers
    tree = row_trees(group, layer)[0][0]
    cut: list[str] = []
    while isinstance(tree[0], Loop | Hold):
        cut += [tree[0].dim] if isinstance(tree[0], Loop) else []
        tree = tree[0].body
    channels = {form.names[0] for form in layer.problem.kernels[-1].target.forms[1:2]}
    assert layer.row in cut
    assert not channels & set(cut)
