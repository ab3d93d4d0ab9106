"""Random small networks, in float and quantised, compiled and simulated."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto
from xdsl.passes import PassPipeline

from tilewright import CompileOptions, compile, import_onnx, simulate
from tilewright.backends.program import Program
from tilewright.driver import make_context
from tilewright.interpreters.graph import run_graph
from tilewright.universe import TILEWRIGHT_UNIVERSE

from ..onnx_files.quantized import quantized
from ..onnx_files.weights import random_inputs
from ..random_networks import FLOAT, INTEGER, grown, hostile
from ..sessions import exact_session

Array = NDArray[Any]

TARGET = "edge16"
FIRST_WAY = CompileOptions(gap=1000.0)
"""Any program is near enough to the bound: one is made."""

DEFAULT_WAYS = 4
"""How many float networks are compiled in all ways of the default."""


def by_onnxruntime(model: ModelProto, inputs: dict[str, Array]) -> dict[str, Array]:
    session = exact_session(model)
    arrays = [np.asarray(array) for array in session.run(None, inputs)]
    return dict(zip([o.name for o in session.get_outputs()], arrays, strict=True))


def check_bound(program: Program) -> None:
    """That it does not go below what no program does (its figures are those of the simulator)."""
    for name, least in program.lower_bound.items():
        assert program.predicted[name] >= least, name
    assert set(program.lower_bound) == {"cycles", "energy_pj", "dram_bytes"}


@pytest.mark.parametrize("seed", range(12))
def test_float(seed: int) -> None:
    model = grown(seed, FLOAT)
    inputs = random_inputs(model, seed)
    program = compile(model, TARGET, options=FIRST_WAY if seed >= DEFAULT_WAYS else None)
    check_bound(program)
    found = simulate(program, inputs, timing=False).outputs
    for name, array in by_onnxruntime(model, inputs).items():
        np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("seed", range(8))
def test_quantized(seed: int) -> None:
    model = quantized(grown(seed, INTEGER), seed, signed=bool(seed % 2))
    inputs = random_inputs(model, seed)
    module = import_onnx(model)
    PassPipeline.parse_spec(TILEWRIGHT_UNIVERSE.all_passes, "graph-normalize,graph-quantize").apply(
        make_context(), module
    )
    program = compile(model, TARGET)
    check_bound(program)
    found = simulate(program, inputs, timing=False).outputs
    for name, array in run_graph(module, inputs).items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
    for name, array in by_onnxruntime(model, inputs).items():
        assert np.abs(found[name] - array).max() <= 0.1 * np.ptp(array) + 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_hostile_shapes(seed: int) -> None:
    """Windows larger than their map, strides beyond kernels, groups with padding: outputs and bounds."""
    target, integers = ("edge16", "cloud128", "cocco_npu")[seed % 3], seed % 2 == 0
    model = hostile(seed, integers)
    model = quantized(model, samples=1) if integers else model
    module, inputs = import_onnx(model), random_inputs(model, seed)
    PassPipeline.parse_spec(TILEWRIGHT_UNIVERSE.all_passes, "graph-normalize,graph-quantize").apply(
        make_context(), module
    )
    program = compile(model, target)
    check_bound(program)
    run = simulate(program, inputs)
    assert run.cycles == program.predicted["cycles"]
    for name, array in run_graph(module, inputs).items():
        np.testing.assert_allclose(run.outputs[name], array, rtol=0 if integers else 1e-4, atol=0 if integers else 1e-5)
