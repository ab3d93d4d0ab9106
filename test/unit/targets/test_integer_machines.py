"""What machines of integers alone say of networks with floats, constants or inputs as outputs, and maps of a column."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright import GraphBuilder, TilewrightError, compile, simulate
from tilewright.dialects import graph
from tilewright.driver import reference


def pooled() -> ModuleOp:
    """A maximum of floats with a border, which minus infinity stands for."""
    net = GraphBuilder()
    x = net.input("x", (1, 4, 8, 8))
    attributes = {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}
    return net.module({"y": net.add("pool", graph.PoolOp, "max", x, **attributes)})


def same(dtype: str, constant: bool = False) -> ModuleOp:
    """An output that is an input or a constant."""
    net = GraphBuilder()
    x = net.input("x", (3, 5), dtype)
    return net.module({"y": net.weight("w", np.ones((3, 5), dtype)) if constant else x})


@pytest.mark.parametrize("target", ["dnnweaver", "genesys16", "hvx"])
def test_a_border_of_floats_is_refused(target: str):
    with pytest.raises(TilewrightError, match=r"@max: expected integers around tensors, found -inf; quantise"):
        compile(pooled(), target)


def test_a_column_of_pixels():
    """An image of one column has no rows along x for a window of pixels in one row of lanes."""
    net = GraphBuilder()
    rng = np.random.default_rng(0)
    x = net.input("x", (1, 17, 17, 1), "int8")
    w = net.weight("w", rng.integers(-8, 8, (3, 17, 3, 3)).astype(np.int8))
    y = net.add("conv", graph.ConvOp, x, w, None, strides=(1, 1), pads=(1, 1, 1, 1))
    module = net.module({"y": y})
    given = {"x": rng.integers(-128, 128, (1, 17, 17, 1)).astype(np.int8)}
    result = simulate(compile(module, "dnnweaver"), given)
    np.testing.assert_array_equal(result.outputs["y"], reference(module, given)["y"])


@pytest.mark.parametrize("target", ["dnnweaver", "genesys16"])
@pytest.mark.parametrize("kind", ["max", "row", "all"])
@pytest.mark.parametrize("shape", [(3, 17, 11, 1), (3, 17, 1, 13), (2, 4, 1, 1), (3, 5, 4, 3)])
def test_windows_of_several_samples(target: str, kind: str, shape: tuple[int, ...]):
    """A map of one row or column leaves a loop of rows to the samples, and its taps need one of their own."""
    net = GraphBuilder()
    x = net.input("x", shape, "int8")
    if kind == "max":
        y = net.add("y", graph.PoolOp, "max", x, kernel=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1))
    else:
        axes = (2, 3) if kind == "all" else (3,)
        y = net.add("y", graph.ReduceOp, "max", x, axes=axes)
    module = net.module({"y": y})
    given = {"x": np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8)}
    result = simulate(compile(module, target), given)
    np.testing.assert_array_equal(result.outputs["y"], reference(module, given)["y"])


@pytest.mark.parametrize("shape", [(3, 17, 11, 1), (3, 17, 1, 13)])
def test_products_of_several_samples(shape: tuple[int, ...]):
    net = GraphBuilder()
    rng = np.random.default_rng(0)
    x = net.input("x", shape, "int8")
    w = net.weight("w", rng.integers(-8, 8, (5, 17, 3, 3)).astype(np.int8))
    module = net.module({"y": net.add("conv", graph.ConvOp, x, w, None, strides=(1, 1), pads=(1, 1, 1, 1))})
    given = {"x": rng.integers(-128, 128, shape).astype(np.int8)}
    result = simulate(compile(module, "dnnweaver"), given)
    np.testing.assert_array_equal(result.outputs["y"], reference(module, given)["y"])


def test_inputs_as_outputs_on_a_machine_of_stages():
    given = {"x": np.arange(15, dtype=np.int8).reshape(3, 5)}
    result = simulate(compile(same("int8"), "vta"), given)
    np.testing.assert_array_equal(result.outputs["y"], given["x"])
    for dtype in ("float32", "int32"):
        with pytest.raises(TilewrightError, match="output 'y': expected 8 bits where an output is an input"):
            compile(same(dtype), "vta")
    with pytest.raises(TilewrightError, match="output 'y': expected what a layer makes, or an input, found a constant"):
        compile(same("int8", constant=True), "vta")
