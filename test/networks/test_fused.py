"""Whole networks in groups that run tile by tile: bit for bit as layer by layer, traffic as predicted."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.arrays import make_inputs
from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions, compile, load_model, reference
from tilewright.frontends.networks.images import image_module
from tilewright.frontends.networks.maker import Maker
from tilewright.zoo.paper_networks.networks import googlenet, randwire_a
from tilewright.zoo.schedule_networks.images import resnet

from ..onnx_files.networks import seeded_light_model
from ..onnx_files.quantized import quantized

TABLES = {
    "googlenet": googlenet,
    "randwire_a": randwire_a,
    "resnet50": lambda size: resnet("resnet50", (3, 4, 6, 3), size),
}


def model_of(name: str, size: int) -> ModuleOp:
    if name == "squeezenet":
        return load_model(quantized(seeded_light_model(name), samples=1))
    return image_module(TABLES[name](size), Maker("i8"), 1)


CASES = [
    pytest.param("googlenet", 32, "greedy", 1, marks=pytest.mark.slow),
    pytest.param("squeezenet", 224, "ours", 32, marks=pytest.mark.slow),
    pytest.param("resnet50", 64, "ours", 2, marks=pytest.mark.slow),
    pytest.param("randwire_a", 64, "greedy", 32, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "size", "method", "rows"), CASES)
def test_fused_is_bit_exact_with_the_traffic_predicted(name: str, size: int, method: str, rows: int):
    model = model_of(name, size)
    program = compile(model, "cocco_npu", options=CompileOptions(partition=method, tile_rows=rows))
    signature = {t.name: (t.shape, np.dtype(t.dtype)) for t in program.tensors if t.role == "input"}
    inputs = make_inputs(signature, 0)
    result = simulate(program, inputs)
    for key, value in reference(model, inputs).items():
        np.testing.assert_array_equal(result.outputs[key], value)
    assert result.dram_bytes == program.predicted["dram_bytes"]
    assert len(result.regions) > 20
    assert all(region.peak_bytes == region.bytes for region in result.regions)
