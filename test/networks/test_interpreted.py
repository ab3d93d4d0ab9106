"""Networks imported from ONNX and interpreted by NumPy, every layer against onnxruntime."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import ModelProto

from tilewright.frontends.onnx import import_onnx
from tilewright.interpreters.graph import run_graph

from ..onnx_files.networks import LIGHT_NETWORKS, light_model, mobilenet, seeded_light_model, transformer_block
from ..onnx_files.quantized import quantized
from ..onnx_files.weights import random_inputs
from ..sessions import exact_session

Array = NDArray[Any]

TOLERANCE = 1e-3
"""Largest accepted difference, as part of the range of the layer's output."""

SIMULATED = ("bvlc_alexnet", "densenet121", "inception_v2", "resnet50", "vgg19", "zfnet512")
"""Networks that are simulated only, as slow tests."""

NETWORKS: dict[str, Callable[[], ModelProto]] = {
    **{name: lambda name=name: seeded_light_model(name) for name in LIGHT_NETWORKS if name not in SIMULATED},
    "mobilenet": mobilenet,
    "transformer": transformer_block,
}


def every_layer(model: ModelProto, inputs: dict[str, Array]) -> dict[str, Array]:
    """The output of every node by onnxruntime, no layers merged."""
    wide = ModelProto()
    wide.CopyFrom(model)
    del wide.graph.output[:]
    wide.graph.output.extend(onnx.helper.make_empty_tensor_value_info(node.output[0]) for node in model.graph.node)
    session = exact_session(wide)
    arrays = [np.asarray(array) for array in session.run(None, inputs)]
    return dict(zip([o.name for o in session.get_outputs()], arrays, strict=True))


@pytest.mark.parametrize("name", NETWORKS)
def test_every_layer_like_onnxruntime(name: str) -> None:
    model = NETWORKS[name]()
    inputs = random_inputs(model)
    layers: dict[str, Array] = {}
    outputs = run_graph(import_onnx(model), inputs, named=layers) | layers
    expected = every_layer(model, inputs)
    compared = [layer for layer in expected if layer in outputs]
    assert len(compared) > 0.8 * len(expected)
    assert {o.name for o in model.graph.output} <= set(compared)
    for layer in compared:
        error = np.abs(outputs[layer] - expected[layer]).max()
        assert error <= TOLERANCE * np.ptp(expected[layer]), layer


@pytest.mark.parametrize("name", LIGHT_NETWORKS)
def test_shapes_as_onnx_infers_them(name: str) -> None:
    inferred = onnx.shape_inference.infer_shapes(light_model(name))
    assert len(inferred.graph.value_info) > 20
    import_onnx(inferred).verify()


@pytest.mark.parametrize("name", ["squeezenet", "mobilenet"])
def test_quantized_close_to_onnxruntime(name: str) -> None:
    model = quantized(NETWORKS[name]())
    inputs = random_inputs(model, 5)
    session = exact_session(model)
    expected = np.asarray(session.run(None, inputs)[0])
    (output,) = run_graph(import_onnx(model), inputs).values()
    assert np.sqrt(np.mean((output - expected) ** 2)) < 0.05 * np.std(expected)
