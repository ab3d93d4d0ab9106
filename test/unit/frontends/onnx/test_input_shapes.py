"""Open extents of a model's inputs: what the caller says, what is assumed, what is refused."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tilewright.errors import TilewrightError
from tilewright.frontends.input_shapes import InputShapes
from tilewright.frontends.onnx import import_onnx
from tilewright.interpreters.graph import run_graph


def relu(*shapes: Any, output: Any = None) -> ModelProto:
    """The sum of inputs `x0`, `x1`, ... of these shapes."""
    names = [f"x{number}" for number in range(len(shapes))]
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in zip(names, shapes, strict=True)]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, output)
    graph = helper.make_graph([helper.make_node("Sum", names, ["y"])], "g", values, [result])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def result_of(model: ModelProto, shapes: InputShapes | None = None) -> str:
    return str(import_onnx(model, shapes=shapes)).split("-> ")[1].split("{")[0].split(" attributes")[0].strip()


def refused(model: ModelProto, shapes: InputShapes | None, *words: str) -> TilewrightError:
    with pytest.raises(TilewrightError) as caught:
        import_onnx(model, shapes=shapes)
    for word in words:
        assert word in str(caught.value)
    return caught.value


@pytest.mark.parametrize("leading", ["batch", None, -1, 0])
def test_an_open_batch_is_given_or_1(leading: Any, caplog: pytest.LogCaptureFixture) -> None:
    model = relu((leading, 3))
    assert result_of(model, InputShapes(5)) == "tensor<5x3xf32>"
    assert result_of(model, InputShapes(shapes={"x0": (7, 3)})) == "tensor<7x3xf32>"
    assert not caplog.records
    assert result_of(model) == "tensor<1x3xf32>"
    assert "batch 1 is assumed for input 'x0'" in caplog.text
    assert "--batch" in caplog.text


def test_a_named_extent_is_the_same_everywhere() -> None:
    model = relu(("n", "t"), (1, "t"), ("n", 1), output=("stale", "other"))
    assert result_of(model, InputShapes(2, dims={"t": 4})) == "tensor<2x4xf32>"
    assert result_of(model, InputShapes(shapes={"x0": (2, 4)})) == "tensor<2x4xf32>"
    refused(model, InputShapes(dims={"t": 4}, shapes={"x0": (2, 5)}), "--shape x0=2x5", "'t'", "the 4 of --dim t=4")


def test_the_error_has_the_options_to_paste() -> None:
    error = refused(relu(("batch_size", 3, "height", "width")), None, "input 'x0'", "[batch_size, 3, height, width]")
    assert error.lever.endswith("--dim batch_size=1 --dim height=224 --dim width=224")
    given = dict(part.split("=") for part in error.lever.split("such as ")[1].removeprefix("--dim ").split(" --dim "))
    shapes = InputShapes(dims={name: int(extent) for name, extent in given.items()})
    assert result_of(relu(("batch_size", 3, "height", "width")), shapes) == "tensor<1x3x224x224xf32>"
    assert refused(relu((None, 3, -1, "w")), None).lever.endswith("--shape x0=1x3x224x224")
    assert refused(relu(None), None, "no shape").lever.endswith("--shape x0=1x3x224x224")
    assert "--dim 'a b=128'" in refused(relu((1, "a b")), None).lever


def test_a_missing_shape_is_given() -> None:
    assert result_of(relu(None), InputShapes(shapes={"x0": (2, 3)})) == "tensor<2x3xf32>"
    assert result_of(relu(None), InputShapes(shapes={"x0": ()})) == "tensor<f32>"


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        (InputShapes(2), ("the file's batch of 4", "--batch 2")),
        (InputShapes(dims={"n": 2}), ("--dim n", "which has none", "'n'")),
        (InputShapes(shapes={"x": (4, 3)}), ("--shape x", "an input of the model: 'x0'", "'x'")),
        (InputShapes(shapes={"x0": (4, 5)}), ("the file's [4, 3]", "[4, 5]", "fixed")),
        (InputShapes(shapes={"x0": (4, 3, 1)}), ("the file's [4, 3]", "[4, 3, 1]")),
    ],
)
def test_what_the_file_fixes_stays(shapes: InputShapes, words: tuple[str, ...]) -> None:
    assert result_of(relu((4, 3)), InputShapes(4, shapes={"x0": (4, 3)})) == "tensor<4x3xf32>"
    refused(relu((4, 3)), shapes, *words)


def test_unknown_extents_list_the_known() -> None:
    refused(relu(("n", "t")), InputShapes(dims={"m": 2}), "--dim m", "'n', 't'")


def test_another_batch_than_the_extent_given_by_name() -> None:
    refused(relu(("n", 3)), InputShapes(2, dims={"n": 3}), "batch of 3", "--batch 2")


def flattened(target: list[int], gemm: bool = False) -> ModelProto:
    """A reshape of n x 3 x 4 to `target`, and perhaps a matrix product after it."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ("n", 3, 4))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ("n", 12))
    weights = [numpy_helper.from_array(np.array(target), "s"), numpy_helper.from_array(np.eye(12, dtype="f4"), "w")]
    nodes = [helper.make_node("Reshape", ["x", "s"], ["r" if gemm else "y"], name="flat")]
    nodes += [helper.make_node("MatMul", ["r", "w"], ["y"])] if gemm else []
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.mark.parametrize(("target", "batch"), [([1, -1], 1), ([1, 12], 1), ([1, 12], 4), ([-1, 12], 4)])
def test_a_reshape_that_bakes_in_one_sample(target: list[int], batch: int, caplog: pytest.LogCaptureFixture) -> None:
    array = np.arange(batch * 12, dtype=np.float32).reshape(batch, 3, 4)
    (found,) = run_graph(import_onnx(flattened(target), shapes=InputShapes(batch)), {"x": array}).values()
    assert (found == array.reshape(batch, 12)).all()
    assert ("Reshape node 'flat' is for one sample" in caplog.text) == (target == [1, 12] and batch == 4)


def test_reshapes_that_bake_in_one_sample_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    model = flattened([1, 12])
    first = model.graph.node[0]
    first.output[0] = "r"
    model.graph.node.append(helper.make_node("Reshape", ["r", "s"], ["y"], name="again"))
    import_onnx(model, shapes=InputShapes(4))
    (record,) = caplog.records
    assert (
        record.getMessage() == "Reshape node 'flat' and 1 others are for one sample; results have 4, as the inputs have"
    )


def test_a_reshape_that_joins_samples_is_named_where_that_does_not_fit() -> None:
    """ONNX gives [1, 48] here, which may be meant; what cannot follow it says where it comes from."""
    assert result_of(flattened([1, -1]), InputShapes(4)) == "tensor<1x48xf32>"
    error = refused(flattened([1, -1], gemm=True), InputShapes(4), "MatMul node 'y'")
    assert error.lever == "Reshape node 'flat' makes one sample of the batch: take --batch 1, or export the model anew"


def test_a_fixed_batch_is_not_repeated() -> None:
    model = flattened([1, 12])
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 4
    refused(model, None, "Reshape node 'flat'", "48 elements")
