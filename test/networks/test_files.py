"""The made networks: valid, scaled well, the same for the same seed."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import ModelProto

from tilewright.errors import TilewrightError

from ..onnx_files.networks import LIGHT_NETWORKS, light_model, mobilenet, seeded_light_model, transformer_block
from ..onnx_files.quantized import quantized
from ..onnx_files.weights import Moments, random_inputs
from ..sessions import exact_session


def activations(model: ModelProto) -> list[NDArray[Any]]:
    every = onnx.ModelProto()
    every.CopyFrom(model)
    names = [node.output[0] for node in model.graph.node]
    del every.graph.output[:]
    every.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names)
    session = onnxruntime.InferenceSession(every.SerializeToString(), providers=["CPUExecutionProvider"])
    return [np.asarray(array) for array in session.run(None, random_inputs(model))]


MODELS = {
    "squeezenet": lambda: seeded_light_model("squeezenet"),
    "mobilenet": lambda: mobilenet(size=64, width=0.25, classes=10),
    "transformer": lambda: transformer_block(1, 16, 64, 4, 128),
}


@pytest.mark.parametrize("name", MODELS)
def test_activations_neither_vanish_nor_explode(name: str) -> None:
    model = MODELS[name]()
    onnx.checker.check_model(model)
    for array in activations(model)[:-1]:
        assert 1e-3 < np.std(array) < 30


def test_same_seed_same_bytes() -> None:
    first, second = (seeded_light_model("squeezenet", 3).SerializeToString(deterministic=True) for _ in range(2))
    assert first == second
    assert first != seeded_light_model("squeezenet", 4).SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", [n for n in LIGHT_NETWORKS if n not in ("vgg19", "zfnet512", "bvlc_alexnet")])
def test_seeded_networks_keep_their_layers(name: str) -> None:
    plain, seeded = light_model(name), seeded_light_model(name)
    onnx.checker.check_model(seeded)
    kinds = [n.op_type for n in plain.graph.node if n.op_type != "ConstantOfShape"]
    assert [n.op_type for n in seeded.graph.node] == kinds
    stored = {t.name for t in seeded.graph.initializer}
    assert len([i for i in seeded.graph.input if i.name not in stored]) == 1


def test_rectified_moments_like_a_sample() -> None:
    sample = np.maximum(np.random.default_rng(0).normal(0.7, 2.0, 200_000), 0)
    moments = Moments(0.7, 4.0).rectified()
    assert moments.mean == pytest.approx(float(sample.mean()), rel=0.02)
    assert moments.variance == pytest.approx(float(sample.var()), rel=0.02)


@pytest.mark.parametrize("signed", [False, True])
def test_quantized_stays_close(signed: bool) -> None:
    model = mobilenet(size=32, width=0.25, classes=10)
    folded = quantized(model, signed=signed)
    assert {"QuantizeLinear", "DequantizeLinear"} <= {n.op_type for n in folded.graph.node}
    inputs = random_inputs(model, 9)
    sessions = [exact_session(m) for m in (model, folded)]
    exact, rounded = (np.asarray(session.run(None, inputs)[0]) for session in sessions)
    assert np.abs(exact - rounded).max() < 0.2 * np.ptp(exact)


def test_unknown_network() -> None:
    with pytest.raises(TilewrightError, match="squeezenet"):
        light_model("lenet")
