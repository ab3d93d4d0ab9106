"""Networks compiled and their binaries simulated: float ones against onnxruntime, quantised ones bit for bit.

Every layer's output gets memory of its own, so that each layer that is not merged into another can be compared.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, numpy_helper
from xdsl.passes import PassPipeline

from tilewright import CompileOptions, SimulationResult, compile, import_onnx, simulate
from tilewright.driver import make_context
from tilewright.interpreters.graph import run_graph
from tilewright.universe import TILEWRIGHT_UNIVERSE

from ..onnx_files.networks import (
    LIGHT_NETWORKS,
    light_folder,
    light_model,
    mobilenet,
    seeded_light_model,
    transformer_block,
)
from ..onnx_files.quantized import quantized
from ..onnx_files.weights import random_inputs
from ..sessions import exact_session

Array = NDArray[Any]

TARGET = "edge16"

REFERENCE = "graph-normalize,graph-quantize"
"""The passes that make a network one of integers; NumPy interprets what they give."""

TOLERANCE = 1e-3
"""Largest accepted difference of floats, as part of the range of the layer's output."""

FLOAT: dict[str, Callable[[], ModelProto]] = {
    "mobilenet_small": lambda: mobilenet(size=64, width=0.25, classes=50),
    "transformer_small": lambda: transformer_block(sequence=32, width=192, heads=3, hidden=768),
    **{name: lambda name=name: seeded_light_model(name) for name in LIGHT_NETWORKS},
    "mobilenet": mobilenet,
    "transformer": transformer_block,
}

QUANTIZED: dict[str, Callable[[], ModelProto]] = {
    "mobilenet_small": lambda: quantized(mobilenet(size=64, width=0.25, classes=50)),
    "mobilenet_small_signed": lambda: quantized(mobilenet(size=64, width=0.25, classes=50), signed=True),
    **{name: lambda name=name: quantized(seeded_light_model(name)) for name in ("squeezenet", "resnet50")},
    "mobilenet": lambda: quantized(mobilenet()),
}

QUICK = ("mobilenet_small", "transformer_small", "squeezenet")
"""The networks of the default run; the others are marked slow."""


def choose(networks: dict[str, Any]) -> list[Any]:
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in networks]


def simulated(model: ModelProto, inputs: dict[str, Array]) -> SimulationResult:
    """The model's binary, executed; traps on uninitialised reads and hazards are on."""
    program = compile(model, TARGET, options=CompileOptions(keep_intermediates=True))
    return simulate(program, inputs, timing=False)


def layers(result: SimulationResult, expected: dict[str, Array]) -> dict[str, Array]:
    """The tensors of a run that have a name, type and shape among `expected` (parts of layers have their name, too)."""
    return {
        name: result.tensor(name)
        for name, placement in result.placements.items()
        if name in expected and (placement.dtype, placement.shape) == (expected[name].dtype, expected[name].shape)
    }


def by_onnxruntime(model: ModelProto, inputs: dict[str, Array], every_layer: bool = False) -> dict[str, Array]:
    """The outputs, or those of all nodes, by onnxruntime."""
    wide = ModelProto()
    wide.CopyFrom(model)
    if every_layer:
        del wide.graph.output[:]
        wide.graph.output.extend(onnx.helper.make_empty_tensor_value_info(node.output[0]) for node in model.graph.node)
    session = exact_session(wide)
    arrays = [np.asarray(array) for array in session.run(None, inputs)]
    return dict(zip([o.name for o in session.get_outputs()], arrays, strict=True))


@pytest.mark.parametrize("name", choose(FLOAT))
def test_float_layers_like_onnxruntime(name: str) -> None:
    model = FLOAT[name]()
    inputs = random_inputs(model)
    expected = by_onnxruntime(model, inputs, every_layer=True)
    found = layers(simulated(model, inputs), expected)
    assert {o.name for o in model.graph.output} <= set(found)
    assert len(found) > 0.15 * len(expected)
    for layer, array in found.items():
        error = np.abs(array - expected[layer]).max()
        assert error <= TOLERANCE * np.ptp(expected[layer]), layer


@pytest.mark.parametrize("name", choose(QUANTIZED))
def test_quantized_layers_bit_for_bit(name: str) -> None:
    model = QUANTIZED[name]()
    inputs = random_inputs(model, 5)
    module = import_onnx(model)
    PassPipeline.parse_spec(TILEWRIGHT_UNIVERSE.all_passes, REFERENCE).apply(make_context(), module)
    expected: dict[str, Array] = {}
    expected |= run_graph(module, inputs, named=expected)
    result = simulated(model, inputs)
    found = layers(result, expected) | result.outputs
    assert len([array for array in found.values() if array.dtype in (np.int8, np.uint8)]) > 20
    for layer, array in found.items():
        np.testing.assert_array_equal(array, expected[layer], err_msg=layer)
    ours, theirs = result.outputs, by_onnxruntime(model, inputs)
    for layer, array in theirs.items():
        assert np.sqrt(np.mean((ours[layer] - array) ** 2)) < 0.1 * np.std(array)


def evenly(shape: tuple[int, ...]) -> Array:
    count = int(np.prod(shape))
    return (np.arange(count).reshape(shape) / count).astype(np.float32)


@pytest.mark.parametrize("name", choose(dict.fromkeys(LIGHT_NETWORKS)))
def test_shipped_outputs(name: str) -> None:
    """The networks as shipped, on the input that onnx's runner makes (0 to 1 evenly), give the shipped output."""
    model = light_model(name)
    inputs = {key: evenly(array.shape) for key, array in random_inputs(model).items()}
    expected = numpy_helper.to_array(onnx.load_tensor(light_folder() / f"light_{name}_output_0.pb"))
    result = simulate(compile(model, TARGET, options=CompileOptions(gap=1000.0)), inputs, timing=False)
    np.testing.assert_allclose(next(iter(result.outputs.values())), expected, rtol=1e-3, atol=1e-7)
