"""How layers that run in rows are cut where what is between their kernels takes too much."""

from onnx import TensorProto, helper

from tilewright.costs.mapping.binding import Pricer
from tilewright.costs.mapping.tree import Hold, Loop
from tilewright.dialects import nest
from tilewright.dialects.acg import machine_of
from tilewright.driver import load_model, make_context, parse_passes
from tilewright.passes.nest_to_codelet.fused_layers import FusedGroup, read_layer
from tilewright.passes.nest_to_codelet.fused_tiles import row_trees


def test_channels_of_which_sums_are_made_again_stay_together():
    """Squares of all channels would be made for each piece of the channels of a local normalisation."""
    value = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 192, 56, 56]) for name in ("x", "y")}
    node = helper.make_node("LRN", ["x"], ["y"], size=5)
    model = helper.make_model(helper.make_graph([node], "net", [value["x"]], [value["y"]]))
    model.opset_import[0].version, model.ir_version = 17, 8
    module = load_model(model)
    passes = 'load-target{target="cocco_npu"},graph-normalize,convert-graph-to-nest{in_place=true}'
    parse_passes(passes).apply(make_context(), module)
    pricer = Pricer(machine_of(module))
    (op,) = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    layer = read_layer(op, pricer)
    tree = row_trees(FusedGroup(pricer.machine, (layer,), (1, 0)), layer)[0][0]
    cut: list[str] = []
    while isinstance(tree[0], Loop | Hold):
        cut += [tree[0].dim] if isinstance(tree[0], Loop) else []
        tree = tree[0].body
    channels = {form.names[0] for form in layer.problem.kernels[-1].target.forms[1:2]}
    assert layer.row in cut
    assert not channels & set(cut)
