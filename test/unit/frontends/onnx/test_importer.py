"""What the importer refuses and how it says so; constants, names, opsets."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tilewright.driver import compile
from tilewright.errors import TilewrightError
from tilewright.frontends.onnx import constant_inputs, import_onnx
from tilewright.interpreters.graph import run_graph

from ....onnx_files.networks import light_model

F = TensorProto.FLOAT


def model(
    nodes: list[NodeProto],
    inputs: dict[str, Any],
    outputs: list[str],
    weights: dict[str, Any] | None = None,
    opset: int = 21,
    element: int = F,
) -> ModelProto:
    values = [helper.make_tensor_value_info(name, element, shape) for name, shape in inputs.items()]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, "g", values, results, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def node(op: str, inputs: list[str], outputs: list[str] | None = None, **attributes: Any) -> NodeProto:
    return helper.make_node(op, inputs, outputs or ["y"], name="n", **attributes)


def refused(source: Any, *words: str, **options: Any) -> TilewrightError:
    with pytest.raises(TilewrightError) as caught:
        import_onnx(source, **options)
    for word in words:
        assert word in str(caught.value)
    return caught.value


def relu() -> ModelProto:
    return model([node("Relu", ["x"])], {"x": (2, 3)}, ["y"])


def test_names_of_inputs_outputs_and_values() -> None:
    text = str(import_onnx(relu()))
    assert 'graph.inputs = ["x"]' in text
    assert 'graph.outputs = ["y"]' in text
    assert 'name = "y"' in text


def test_operations_without_a_name_are_called_after_their_node() -> None:
    resize = helper.make_node("Resize", ["x", "", "scales"], ["y"], name="/up/Resize", mode="linear")
    weights = {"scales": np.array([1, 1, 2, 2], np.float32)}
    module = import_onnx(model([resize], {"x": (1, 2, 4, 4)}, ["y"], weights))
    assert "%up.Resize.matmul = graph.matmul" in str(module)
    layers = [layer.name for layer in compile(module, "tiny").layers]
    assert any(name.startswith("up.Resize.") for name in layers), layers


def test_unknown_operator() -> None:
    error = refused(model([node("NonZero", ["x"])], {"x": (2,)}, ["y"]), "NonZero node 'n'", "one of the operators")
    assert error.kind == "unsupported"


def test_foreign_domain() -> None:
    foreign = model([helper.make_node("Relu", ["x"], ["y"], domain="com.example")], {"x": (2,)}, ["y"])
    refused(foreign, "com.example::Relu")


def test_control_flow_names_the_operator() -> None:
    branch = relu().graph
    refused(model([node("If", ["x"], then_branch=branch, else_branch=branch)], {"x": ()}, ["y"]), "If node 'n'")


def test_weights_that_are_no_numbers() -> None:
    weights = np.ones((2, 3), np.float32)
    weights[1, 2] = np.nan
    refused(model([node("Add", ["x", "w"])], {"x": (2, 3)}, ["y"], {"w": weights}), "weight 'w'", "numbers", "[1, 2]")


def test_infinite_weights_are_masks() -> None:
    mask = np.array([0, -np.inf, np.inf], np.float32)
    module = import_onnx(model([node("Add", ["x", "w"])], {"x": (3,)}, ["y"], {"w": mask}))
    assert run_graph(module, {"x": np.ones(3, np.float32)})["y"].tolist() == [1, -np.inf, np.inf]


def test_repeated_weight_that_is_no_number() -> None:
    value = numpy_helper.from_array(np.array([np.nan], np.float32))
    nodes = [node("ConstantOfShape", ["s"], ["w"], value=value), node("Add", ["x", "w"])]
    refused(model(nodes, {"x": (2, 3)}, ["y"], {"s": np.array([2, 3])}), "weight 'w'", "numbers")


def test_value_nobody_makes() -> None:
    refused(
        model([node("Add", ["x", "missing"])], {"x": (2,)}, ["y"]), "Add node 'n'", "'missing', which nothing makes"
    )


def test_cycle() -> None:
    nodes = [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])]
    refused(model(nodes, {"x": (2,)}, ["b"]), "a cycle of Add node 'n', Relu node 'n'")


def test_value_made_twice() -> None:
    nodes = [node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])]
    refused(model(nodes, {"x": (2,)}, ["y"]), "once", "'y'")


@pytest.mark.parametrize(
    ("op", "count", "wanted"), [("Add", 1, "2 inputs"), ("Relu", 2, "1 inputs"), ("Clip", 4, "1 to 3")]
)
def test_number_of_inputs(op: str, count: int, wanted: str) -> None:
    refused(model([node(op, ["x"] * count)], {"x": (2,)}, ["y"]), f"{op} node 'n'", wanted, str(count))


def test_output_nobody_makes() -> None:
    refused(model([node("Relu", ["x"])], {"x": (2,)}, ["y", "z"]), "output 'z'")


def test_output_nobody_computes() -> None:
    nodes = [node("Softmax", ["x"], ["y", "mask"])]
    refused(model(nodes, {"x": (2,)}, ["y", "mask"]), "Softmax node 'n'", "'mask'")


def test_element_type() -> None:
    refused(model([node("Relu", ["x"])], {"x": (2,)}, ["y"], element=TensorProto.COMPLEX64), "input 'x'", "COMPLEX64")


def test_arithmetic_on_float64() -> None:
    refused(model([node("Add", ["x", "x"])], {"x": (2,)}, ["y"], element=TensorProto.DOUBLE), "Add node 'n'", "float64")


def test_runtime_indices() -> None:
    gather = model([node("Gather", ["x", "i"])], {"x": (4,)}, ["y"])
    gather.graph.input.append(helper.make_tensor_value_info("i", TensorProto.INT64, (2,)))
    assert constant_inputs(gather) == ()
    x = np.arange(4, dtype=np.float32)
    found = run_graph(import_onnx(gather), {"x": x, "i": np.array([3, -4])})
    np.testing.assert_array_equal(found["y"], [3, 0])
    module = import_onnx(gather, constants={"i": np.array([3, -1])})
    assert "tensor<2xf32>" in str(module)


def test_constant_inputs_follow_what_they_come_from() -> None:
    nodes = [node("Shape", ["x"], ["s"]), node("Concat", ["s", "extra"], ["t"], axis=0), node("Reshape", ["x", "t"])]
    proto = model(nodes, {"x": (2, 3)}, ["y"])
    proto.graph.input.append(helper.make_tensor_value_info("extra", TensorProto.INT64, (1,)))
    assert constant_inputs(proto) == ("extra",)


def test_external_data() -> None:
    proto = model([node("Add", ["x", "w"])], {"x": (2,)}, ["y"], {"w": np.ones(2, np.float32)})
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../etc/passwd")
    refused(proto, "initializer 'w'", "external data")


def test_initializer_of_the_wrong_size() -> None:
    proto = model([node("Add", ["x", "w"])], {"x": (2,)}, ["y"], {"w": np.ones(2, np.float32)})
    proto.graph.initializer[0].dims[0] = 3
    refused(proto, "initializer 'w'")
    proto.graph.initializer[0].dims[0] = -1
    refused(proto, "initializer 'w'", "negative")


def test_sparse_initializers() -> None:
    proto = relu()
    proto.graph.sparse_initializer.add()
    refused(proto, "sparse")


def test_enormous_shapes_cost_nothing() -> None:
    huge = np.array([1 << 40, 1 << 40])
    refused(model([node("ConstantOfShape", ["s"])], {}, ["y"], {"s": huge}), "ConstantOfShape node 'n'", "bytes")
    refused(model([node("Expand", ["x", "s"])], {"x": (1, 1)}, ["y"], {"s": huge}), "Expand node 'n'")
    refused(model([node("Relu", ["x"])], {"x": (1 << 40, 1 << 40)}, ["y"]), "input 'x'", "bytes")
    refused(model([node("Pad", ["x", "p"])], {"x": (1,)}, ["y"], {"p": np.array([0, 1 << 50])}), "Pad node 'n'")
    repeated = np.full(2, 1 << 20, np.float32)
    refused(model([node("Resize", ["x", "", "s"])], {"x": (9, 9)}, ["y"], {"s": repeated}), "'y'", "elements")


@pytest.mark.parametrize("opset", [0, 99])
def test_opset_out_of_range(opset: int) -> None:
    refused(model([node("Relu", ["x"])], {"x": (2,)}, ["y"], opset=opset), "opset")


def test_declared_shape_that_differs_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    proto = relu()
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", F, (2, 4)))
    assert "-> tensor<2x3xf32>" in str(import_onnx(proto))
    assert "'y' declared [2, 4], is [2, 3]" in caplog.text


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (node("Conv", ["x", "x"], group=7), "Conv node 'n'"),
        (node("Conv", ["x"]), "2 to 3 inputs"),
        (node("Conv", ["x", "x"], auto_pad="SAME"), "auto_pad"),
        (node("MaxPool", ["x"]), "kernel_shape"),
        (node("MaxPool", ["x"], kernel_shape=[9, 9]), "MaxPool node 'n'"),
        (node("MaxPool", ["x"], kernel_shape=[0, 0]), "kernel_shape"),
        (node("MaxPool", ["x"], kernel_shape=3), "kernel_shape"),
        (node("TopK", ["x", "p"], ["y", "i"]), "one number"),
        (node("GatherND", ["x", "x"]), "indices"),
        (node("Tile", ["x", "p"]), "repeats"),
        (node("Einsum", ["x"], equation="ab->a"), "letters"),
        (node("ConvTranspose", ["x", "x"]), "weights of the input's channels"),
        (node("LSTM", ["x", "x", "x"]), "LSTM node 'n'"),
        (node("DFT", ["x"]), "real and imaginary"),
        (node("Where", ["x", "x", "x"]), "bool"),
        (node("Softmax", ["x"], axis=4), "axis"),
        (node("Transpose", ["x"], perm=[0, 1]), "permutation"),
        (node("Gelu", ["x"], approximate="magic"), "approximate"),
        (node("Resize", ["x", "", "x"], mode="quartic"), "nearest"),
        (node("Pad", ["x", "p"], mode="mirror"), "mode"),
        (node("Reshape", ["x", "x"]), "constant"),
        (node("Split", ["x"], num_outputs=1 << 40), "pieces"),
        (node("MatMul", ["x", "x"]), "inner"),
        (node("BatchNormalization", ["x"] * 5, training_mode=1), "BatchNormalization node"),
        (node("QuantizeLinear", ["x", "x"], output_dtype=TensorProto.FLOAT16), "float16"),
    ],
)
def test_misused_operators(nodes: NodeProto, words: str) -> None:
    weights = {"p": np.zeros(8, np.int64)}
    refused(model([nodes], {"x": (1, 2, 4, 5)}, list(nodes.output), weights), words, "node 'n'")


def test_files(tmp_path: Path) -> None:
    refused(tmp_path / "missing.onnx", "missing.onnx", "can be read")
    refused(tmp_path, "can be read")
    empty = tmp_path / "empty.onnx"
    empty.write_bytes(b"")
    refused(empty, "graph")
    good = tmp_path / "good.onnx"
    onnx.save(relu(), good)
    assert "graph.unary relu" in str(import_onnx(good))


@pytest.mark.parametrize("kept", [1, 10, 100, 1000, 3000])
def test_truncated_file(kept: int) -> None:
    data = light_model("bvlc_alexnet").SerializeToString()
    refused(data[:kept])


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_random_bytes(data: bytes) -> None:
    with pytest.raises(TilewrightError):
        import_onnx(data)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_flipped_bytes_never_end_in_a_traceback(data: st.DataObject) -> None:
    raw = bytearray(light_model("bvlc_alexnet").SerializeToString())
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(TilewrightError):
        import_onnx(bytes(raw))


def test_same_bytes_same_module() -> None:
    data = light_model("squeezenet").SerializeToString()
    assert str(import_onnx(data)) == str(import_onnx(data))


def test_legacy_broadcast() -> None:
    proto = model([node("Add", ["x", "w"], broadcast=1, axis=1)], {"x": (2, 3, 4)}, ["y"], {"w": np.ones(3, "f4")}, 6)
    x = np.zeros((2, 3, 4), np.float32)
    (y,) = run_graph(import_onnx(proto), {"x": x}).values()
    np.testing.assert_array_equal(y, x + 1)


def matmul() -> ModelProto:
    return model([node("MatMul", ["x", "w"])], {"x": (2, 3)}, ["y"], {"w": np.ones((3, 3), np.float32)})


@pytest.mark.parametrize("name", [b"MatMul", b"x", b"w", b"y", b"n"])
def test_names_that_are_no_text(name: bytes) -> None:
    head = bytes([len(name)])
    data = matmul().SerializeToString().replace(head + name, head + name[:-1] + b"\xff")
    error = refused(data, "names in UTF-8", "\\xff")
    assert error.lever
    str(error).encode()


@pytest.mark.parametrize("values", ["input", "initializer", "output"])
@pytest.mark.parametrize(("name", "told"), [("", "none"), ("a\0b", "a\\x00b")])
def test_names_that_no_file_of_arrays_can_have(values: str, name: str, told: str) -> None:
    proto = matmul()
    getattr(proto.graph, values)[0].name = name
    assert refused(proto, values, "a name without zero bytes", told).lever


@pytest.mark.parametrize("extent", [7, 1 << 31])
def test_no_window_fits_with_ceil_mode(extent: int) -> None:
    pool = node("AveragePool", ["x"], kernel_shape=[extent, 2], dilations=[2, 1], ceil_mode=1)
    refused(model([pool], {"x": (1, 1, 12, 4)}, ["y"]), "does not fit in a padded extent of 12")


@pytest.mark.parametrize("values", ["input", "initializer", "output"])
def test_two_of_the_same_name(values: str) -> None:
    proto = matmul()
    found = getattr(proto.graph, values)
    found.append(found[0])
    assert refused(proto, values, "each name once").lever


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ([1 << 40, 3], ("at most 4294967296 bytes", "1099511627776")),
        ([-3, 3], ("none negative", "[-3, 3]")),
        ([0, 3], ("as many values",)),
        ([4, 3], ("as many values", "[4, 3]")),
        ([3, 3, *[1] * 40], ("at most 32 extents",)),
    ],
)
def test_wrong_sizes_of_a_weight(dims: list[int], words: tuple[str, ...]) -> None:
    proto = matmul()
    del proto.graph.initializer[0].dims[:]
    proto.graph.initializer[0].dims.extend(dims)
    assert refused(proto, "initializer 'w'", *words).lever


@pytest.mark.parametrize("extent", [1 << 40, 1 << 62])
def test_huge_inputs(extent: int) -> None:
    assert refused(model([node("Relu", ["x"])], {"x": (extent, 3)}, ["y"]), "input 'x'", str(extent)).lever


@pytest.mark.parametrize("element", [TensorProto.STRING, TensorProto.COMPLEX64])
def test_element_types_that_no_machine_has(element: int) -> None:
    proto = model([node("Relu", ["x"])], {"x": (2, 3)}, ["y"], element=element)
    assert "float32" in refused(proto, "input 'x'", "an element type").lever


@pytest.mark.parametrize("versions", [[], [0], [-1], [99]])
def test_opsets_nobody_knows(versions: list[int]) -> None:
    proto = relu()
    del proto.opset_import[:]
    proto.opset_import.extend(helper.make_opsetid("", version) for version in versions)
    assert refused(proto, "opset").lever
