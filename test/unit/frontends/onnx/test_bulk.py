"""Serialised models without their large values."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tilewright.frontends.onnx.load import BULK_BYTES, INSIDE, without_bulk

from ....onnx_files.networks import light_model

LARGE = np.arange(BULK_BYTES, dtype=np.float32)


def small_model(array: np.ndarray) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, array.shape)
    tensor = numpy_helper.from_array(array, "w")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [x], [tensor])
    return helper.make_model(graph, doc_string="d" * 10_000)


def test_large_values_stay_where_they_are() -> None:
    data = small_model(LARGE).SerializeToString()
    short = onnx.load_model_from_string(without_bulk(memoryview(data)))
    (tensor,) = short.graph.initializer
    entries = {entry.key: entry.value for entry in tensor.external_data}
    start, length = int(entries["offset"]), int(entries["length"])
    assert entries["location"] == INSIDE
    assert data[start : start + length] == LARGE.tobytes()
    assert (tensor.data_location, tensor.raw_data) == (TensorProto.EXTERNAL, b"")
    assert short.doc_string == "d" * 10_000


@pytest.mark.parametrize("size", [0, 1, BULK_BYTES // 4 - 1])
def test_small_models_are_the_same(size: int) -> None:
    data = small_model(LARGE[:size]).SerializeToString()
    assert without_bulk(memoryview(data)) == data


def test_a_network_keeps_its_structure() -> None:
    data = light_model("squeezenet").SerializeToString()
    short = onnx.load_model_from_string(without_bulk(memoryview(data)))
    whole = onnx.load_model_from_string(data)
    assert short.graph.node == whole.graph.node
    assert [t.dims for t in short.graph.initializer] == [t.dims for t in whole.graph.initializer]


@given(st.binary(max_size=200))
def test_bytes_that_are_no_message(data: bytes) -> None:
    """They stay what they are, or are refused as what does not decode."""
    try:
        assert without_bulk(memoryview(data)) == data
    except ValueError:
        pass
