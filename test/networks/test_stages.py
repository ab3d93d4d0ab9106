"""Networks as onnxruntime's quantiser makes them on VTA: the integers of the graph, bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import ModelProto

from tilewright import compile, import_onnx, simulate
from tilewright.driver import make_context, parse_passes
from tilewright.interpreters.graph import run_graph

from ..onnx_files.networks import mobilenet, seeded_light_model
from ..onnx_files.quantized import quantized
from .patterns import residual

NETWORKS: dict[str, Callable[[], ModelProto]] = {
    "residual": lambda: quantized(residual(24, 12)),
    "residual_signed": lambda: quantized(residual(24, 12), signed=True),
    "mobilenet": lambda: quantized(mobilenet(size=32, width=0.125, classes=10)),
    "mobilenet_signed": lambda: quantized(mobilenet(size=32, width=0.125, classes=10), signed=True),
    "squeezenet": lambda: quantized(seeded_light_model("squeezenet")),
    "squeezenet_signed": lambda: quantized(seeded_light_model("squeezenet"), signed=True),
}

QUICK = "residual", "residual_signed"
"""The networks of the default run; the others are marked slow."""


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS]
)
def test_a_quantised_network_is_bit_exact(name: str) -> None:
    model = NETWORKS[name]()
    program = compile(model, "vta")
    random = np.random.default_rng(0)
    given = {
        tensor.name: random.integers(-128, 128, tensor.shape).astype(tensor.dtype)
        for tensor in program.tensors
        if tensor.role == "input"
    }
    result, module = simulate(program, given), import_onnx(model)
    parse_passes("graph-normalize,graph-quantize,graph-integers").apply(make_context(), module)
    expected = run_graph(module, given)
    assert len(np.unique(next(iter(expected.values())))) > 4
    assert all((result.outputs[name] == value).all() for name, value in expected.items())
    assert result.cycles == program.predicted["cycles"]
