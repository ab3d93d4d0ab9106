"""Layer tables of graphs: those of imported models, what moves elements, what is refused."""

from pathlib import Path

import onnx
import pytest
from xdsl.dialects.func import FuncOp

from tilewright.driver import load_model, make_context, parse_passes
from tilewright.driver.schedules import find_network
from tilewright.errors import TilewrightError
from tilewright.passes.graph.schedule_layers import schedule_layers
from tilewright.zoo.schedule_networks import Network, Shape, schedule_network

from ....onnx_files.networks import light_folder, mobilenet, transformer_block


def table(text: str, tmp_path: Path) -> Network:
    """The layer table of a function in the graph dialect."""
    path = tmp_path / "made.mlir"
    path.write_text(text)
    module = load_model(path)
    parse_passes("graph-normalize").apply(make_context(), module)
    return schedule_layers(next(op for op in module.body.ops if isinstance(op, FuncOp)))[0]


def test_resnet_is_that_of_the_tables():
    found, batch = find_network(str(light_folder() / "light_resnet50.onnx"))
    expected = schedule_network("resnet50")
    assert batch == 1
    for kind in ("eltwise", "pool", "fc"):
        assert sum(layer.kind == kind for layer in found.layers) == sum(layer.kind == kind for layer in expected.layers)

    def weights(network: Network) -> list[int]:
        return sorted(network.weight_bytes(i) for i, layer in enumerate(network.layers) if layer.has_macs)

    assert weights(found) == weights(expected)
    last = found.layers[-1]
    assert (last.kind, last.shape) == ("pointwise", Shape(1000, 1, 1))


def test_depthwise_and_attention(tmp_path: Path):
    onnx.save(mobilenet(size=64, width=0.5), tmp_path / "mobile.onnx")
    groups = {layer.groups for layer in find_network(str(tmp_path / "mobile.onnx"))[0].layers}
    assert len(groups) > 3
    onnx.save(transformer_block(), tmp_path / "block.onnx")
    block = find_network(str(tmp_path / "block.onnx"))[0]
    products = [layer for layer in block.layers if layer.weights_from]
    assert [layer.groups for layer in products] == [12, 12]
    scores, mixed = products
    assert scores.shape == Shape(12 * 128, 128, 1)
    assert mixed.shape == Shape(768, 128, 1)
    assert sum(block.weight_bytes(i) for i in range(len(block.layers))) == 4 * 768 * 768 + 2 * 768 * 3072


def test_a_flattened_map_goes_into_the_last_layer_as_it_is(tmp_path: Path):
    text = """
func.func @flat(%x : tensor<2x3x8x8xf32>) -> tensor<2x10xf32> {
  %w = graph.weight @w : tensor<4x3x3x3xf32>
  %c = graph.conv %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
    : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
  %f = graph.reshape %c : (tensor<2x4x8x8xf32>) -> tensor<2x256xf32>
  %v = graph.weight @v : tensor<256x10xf32>
  %y = graph.gemm %f, %v : (tensor<2x256xf32>, tensor<256x10xf32>) -> tensor<2x10xf32>
  func.return %y : tensor<2x10xf32>
}
"""
    found = table(text, tmp_path)
    assert [layer.kind for layer in found.layers] == ["conv", "fc"]
    assert found.weight_bytes(1) == 256 * 10
    assert found.inputs[0][1] == Shape(3, 8, 8)


def test_a_result_that_is_read_inside_is_stored_too(tmp_path: Path):
    text = """
func.func @twice(%x : tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  %a = graph.softmax %x axis 1 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.softmax %a axis 1 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %a, %b : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}
"""
    found = table(text, tmp_path)
    assert [layer.inputs for layer in found.layers] == [(), (0,), (0,)]
    assert [len(readers) for readers in found.consumers] == [2, 0, 0]


def test_what_moves_elements_is_one_layer_for_each_form(tmp_path: Path):
    text = """
func.func @turn(%x : tensor<1x6x8xf32>) -> tensor<1x8x6xf32> {
  %a = graph.softmax %x axis 2 : (tensor<1x6x8xf32>) -> tensor<1x6x8xf32>
  %t = graph.transpose %a perm [0, 2, 1] : (tensor<1x6x8xf32>) -> tensor<1x8x6xf32>
  %b = graph.softmax %t axis 2 : (tensor<1x8x6xf32>) -> tensor<1x8x6xf32>
  func.return %b : tensor<1x8x6xf32>
}
"""
    found = table(text, tmp_path)
    assert [(layer.kind, layer.shape) for layer in found.layers] == [
        ("pointwise", Shape(8, 6, 1)),
        ("rearrange", Shape(6, 8, 1)),
        ("pointwise", Shape(6, 8, 1)),
    ]


def test_what_has_no_place_in_a_table_is_refused(tmp_path: Path):
    text = """
func.func @gaps(%x : tensor<1x3x8x8xf32>) -> tensor<1x4x4x4xf32> {
  %w = graph.weight @w : tensor<4x3x3x3xf32>
  %c = graph.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [2, 2] groups 1
    : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  func.return %c : tensor<1x4x4x4xf32>
}
"""
    with pytest.raises(TilewrightError, match="windows without gaps"):
        table(text, tmp_path)
