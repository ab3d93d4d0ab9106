"""Layers on integers: near what they stand for, and the operators' files are what the builder makes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import erf  # pyright: ignore[reportUnknownVariableType]
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer

from tilewright.dialects.types import si8, tensor
from tilewright.driver import reference
from tilewright.errors import TilewrightError
from tilewright.frontends.integer_layers import IntegerLayers
from tilewright.frontends.layers import operator_file

Array = np.ndarray[Any, Any]
Build = Callable[[IntegerLayers, SSAValue], SSAValue]
RNG = np.random.default_rng(1)
GAMMA, BETA = RNG.integers(200, 300, 20), RNG.integers(-20, 20, 20)
OPERATORS: dict[str, tuple[Attribute, Build]] = {
    "softmax_i8": (si8, lambda layers, x: layers.softmax(x, 0.06)),
    "gelu_i8": (si8, lambda layers, x: layers.gelu(x, 0.04, 0.04)),
    "layer_norm_i8": (i32, lambda layers, x: layers.layer_norm(x, GAMMA, BETA, 4 / 127)),
}


def built(element: Attribute, build: Build, shape: tuple[int, int] = (6, 20)) -> ModuleOp:
    layers = IntegerLayers.of([tensor(shape, element)])
    y = build(layers, layers.block.args[0])
    module = layers.module(["x"], ["y"], [y])
    module.verify()
    return module


@pytest.mark.parametrize("name", OPERATORS)
def test_files_are_what_the_builder_makes(name: str):
    stream = io.StringIO()
    Printer(stream).print_op(next(op for op in built(*OPERATORS[name]).ops if isinstance(op, FuncOp)))
    lines = operator_file(name).read_text().splitlines()
    assert [line for line in lines if not line.startswith("//")] == stream.getvalue().splitlines()


def nearly(build: Build, element: Attribute, x: Array, expected: Array) -> None:
    """Within a step of what is meant, mostly by rounding alone."""
    found = reference(built(element, build, x.shape), {"x": x})["y"]
    distance = np.abs(found - expected)
    assert distance.max() < 1
    assert distance.mean() < 0.27


@pytest.mark.parametrize("scale", [0.003, 0.06, 0.3])
def test_softmax(scale: float):
    x = RNG.integers(-128, 128, (50, 40)).astype(np.int8)
    powers = np.exp((x - x.max(-1, keepdims=True).astype(float)) * scale)
    nearly(lambda layers, v: layers.softmax(v, scale), si8, x, 127 * powers / powers.sum(-1, keepdims=True))


@pytest.mark.parametrize(("scale", "result"), [(0.04, 0.04), (0.03, 0.05), (0.2, 0.2)])
def test_gelu(scale: float, result: float):
    x = np.arange(-128, 128).astype(np.int8).reshape(4, 64)
    real = x * scale
    expected = real / 2 * (1 + np.asarray(erf(real / 2**0.5))) / result
    nearly(lambda layers, v: layers.gelu(v, scale, result), si8, x, np.clip(expected, -128, 127))


@pytest.mark.parametrize(("width", "spread"), [(20, 20), (96, 100), (128, 255)])
def test_layer_norm(width: int, spread: int):
    x = RNG.integers(-spread, spread + 1, (30, width)).astype(np.int32)
    gamma, beta = RNG.integers(100, 400, width), RNG.integers(-20, 20, width)
    normal = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
    expected = np.clip(normal * gamma / 256 / (4 / 127) + beta, -128, 127)
    nearly(lambda layers, v: layers.layer_norm(v, gamma, beta, 4 / 127), i32, x, expected)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), 1e30])
def test_scales_that_are_none(scale: float):
    with pytest.raises(TilewrightError, match="a factor between 0 and"):
        built(si8, lambda layers, x: layers.softmax(x, scale))
