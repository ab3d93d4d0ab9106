"""Tables as ONNX models: shapes as the tables have them, the same bytes from one seed, and layers seen again."""

import onnx
import pytest

from tilewright.costs.fusion import layer_graph
from tilewright.errors import TilewrightError
from tilewright.zoo.paper_networks import network
from tilewright.zoo.paper_networks.model import onnx_model
from tilewright.zoo.paper_networks.table import INPUT, Table


@pytest.mark.parametrize("name", ["googlenet", "randwire_a", "resnet50"])
def test_shapes_are_those_of_the_table(name: str):
    table = network(name)
    model = onnx.shape_inference.infer_shapes(onnx_model(table), strict_mode=True)
    onnx.checker.check_model(model)
    values = [*model.graph.value_info, *model.graph.output]
    shapes = {v.name: tuple(d.dim_value for d in v.type.tensor_type.shape.dim) for v in values}
    assert {layer.name: (1, *layer.shape) for layer in table.layers}.items() <= shapes.items()
    stored = sum(int(onnx.numpy_helper.to_array(w).size) for w in model.graph.initializer)
    assert stored == sum(map(table.weight_bytes, range(len(table.layers))))


def small() -> Table:
    table = Table("small", (3, 16, 16))
    a = table.separable("a", INPUT, 8, 3, 2)
    b = table.conv("b", a, 4)
    c = table.pool("c", a, 3, 1)
    d = table.add("d", [a, b, b], operands=2)
    table.fc("e", table.global_pool("pool", [c, d]), 10)
    return table


def test_an_imported_model_has_the_layers_of_its_table():
    """Two ways to the same layer graph: the table, and its ONNX model through the importer."""
    from xdsl.dialects.func import FuncOp

    from tilewright.driver import load_model, make_context, parse_passes
    from tilewright.passes.graph.fusion_layers import fusion_layers

    table = small().network()
    module = load_model(onnx_model(table, seed=3))
    parse_passes("graph-normalize").apply(make_context(), module)
    function = next(op for op in module.body.ops if isinstance(op, FuncOp))
    imported, made = fusion_layers(function).graph(), layer_graph(table)
    assert [layer.shape for layer in imported.layers] == [layer.shape for layer in made.layers]
    assert [layer.weight_bytes for layer in imported.layers] == [4 * layer.weight_bytes for layer in made.layers]
    assert [layer.macs for layer in imported.layers if layer.weight_bytes] == [
        layer.macs for layer in made.layers if layer.weight_bytes
    ]
    assert imported.producers == made.producers
    assert onnx_model(table, 3).SerializeToString() == onnx_model(table, 3).SerializeToString()
    assert onnx_model(table, 3).SerializeToString() != onnx_model(table, 4).SerializeToString()


def test_attention_is_refused():
    with pytest.raises(TilewrightError, match="expected convolutions, pools and sums"):
        onnx_model(network("transformer"))
