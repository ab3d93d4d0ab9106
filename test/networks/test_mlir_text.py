"""The same networks as ONNX and as other compilers print them: equal results, interpreted and simulated."""

from functools import cache

import numpy as np
import pytest

from tilewright import CompileOptions, compile, import_onnx, simulate
from tilewright.driver import load_model
from tilewright.errors import TilewrightError
from tilewright.frontends.input_shapes import InputShapes
from tilewright.interpreters.graph import run_graph

from .mlir_networks import FOLDER, NETWORKS, Array, arguments, channels_first, values

TEXTS = [*((name, printer) for name in NETWORKS for printer in ("stablehlo", "linalg")), ("transformer", "iree")]

TOLERANCE = 5e-6
"""Largest accepted difference, as part of the largest number: sums are taken in another order."""


@cache
def expected(name: str) -> Array:
    (result,) = run_graph(import_onnx(NETWORKS[name]()), channels_first(values(name))).values()
    return result


def given(name: str, printer: str) -> dict[str, Array]:
    """The arguments in the order of a text; JAX has channels last, ONNX and what is made of it first."""
    own = values(name) if printer == "stablehlo" else channels_first(values(name))
    return {f"arg{i}": array for i, array in enumerate(own.values())}


def check(name: str, result: Array) -> None:
    assert result.shape == expected(name).shape
    assert np.max(np.abs(result - expected(name))) <= TOLERANCE * np.max(np.abs(expected(name)))


@pytest.mark.parametrize(("name", "printer"), TEXTS)
def test_interpreted(name: str, printer: str):
    module = load_model(FOLDER / f"{name}.{printer}.mlir")
    module.verify()
    (result,) = run_graph(module, given(name, printer)).values()
    check(name, result)


@pytest.mark.parametrize(("name", "printer"), TEXTS)
def test_simulated(name: str, printer: str):
    program = compile(FOLDER / f"{name}.{printer}.mlir", "edge16", options=CompileOptions(gap=0.1))
    (result,) = simulate(program, given(name, printer)).outputs.values()
    check(name, result)


def test_open_extents():
    """What a text leaves open is given by name or as the batch, and what is missing is told by name."""
    symbolic, given_arrays = FOLDER / "transformer.symbolic.mlir", given("transformer", "stablehlo")
    with pytest.raises(TilewrightError, match="--dim b=1 --dim t=128"):
        load_model(symbolic)
    module = load_model(symbolic, InputShapes(dims={"b": 1, "t": 12}))
    (result,) = run_graph(module, given_arrays).values()
    check("transformer", result)
    assert "tensor<2x5x32xf32>" in str(load_model(symbolic, InputShapes(2, dims={"t": 5})))
    module = load_model(FOLDER / "mobilenet.open.mlir", InputShapes(2))
    arrays = given("mobilenet", "linalg")
    x = list(arrays)[-1]
    (result,) = run_graph(module, arrays | {x: np.concatenate([arrays[x], arrays[x]])}).values()
    check("mobilenet", result[1:])


def test_convolutions_stay_in_the_order_of_the_graph():
    """With channels last in the text, kernels are turned, the image once, and nothing between two convolutions."""
    from tilewright.dialects import graph

    module = load_model(FOLDER / "mobilenet.stablehlo.mlir")
    turned = [op.x.owner for op in module.walk() if isinstance(op, graph.TransposeOp)]
    kernels = sum("kernel" in name and len(shape) == 4 for name, shape in arguments("mobilenet").items())
    assert len(turned) <= kernels + 1
    assert not any(isinstance(owner, graph.LayerOp) for owner in turned)
