"""Networks on a machine of packets: what is read beside a tensor, along lanes and across, and reshaped inputs."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright import GraphBuilder, TilewrightError, compile, simulate
from tilewright.dialects import graph
from tilewright.driver import reference


def agrees(module: ModuleOp, shape: tuple[int, ...], dtype: str = "int8") -> bool:
    """Whether a program gives what the network's layers give in NumPy."""
    info, rng = np.iinfo(dtype), np.random.default_rng(0)
    given = {"x": rng.integers(info.min, info.max + 1, shape).astype(dtype)}
    result = simulate(compile(module, "hvx"), given)
    expected = reference(module, given)
    return all((result.outputs[name] == value).all() for name, value in expected.items())


def padded(shape: tuple[int, ...], pads: tuple[int, ...], value: int, dtype: str = "uint8") -> ModuleOp:
    net = GraphBuilder()
    x = net.input("x", shape, dtype)
    twice = net.add("relu", graph.ClipOp, x, min=0, max=100)
    return net.module({"y": net.add("pad", graph.PadOp, twice, pads=pads, value=value)})


@pytest.mark.parametrize("value", [0, 128])
@pytest.mark.parametrize("width", [2, 100, 127, 128, 129, 256])
@pytest.mark.parametrize("sides", [(2, 0), (0, 1), (2, 1)])
def test_a_border_along_lanes(value: int, width: int, sides: tuple[int, int]):
    """Vectors beside a row hold other rows or nothing that is known: the border is put in their place."""
    pads = (0, 0, 1, sides[0], 0, 0, 0, sides[1])
    assert agrees(padded((1, 3, 2, width), pads, value), (1, 3, 2, width), "uint8")


def test_a_border_of_words_along_lanes():
    net = GraphBuilder()
    x = net.input("x", (2, 40), "int32")
    module = net.module({"y": net.add("pad", graph.PadOp, x, pads=(1, 3, 0, 2), value=-70000)})
    given = {"x": np.arange(80, dtype=np.int32).reshape(2, 40)}
    result = simulate(compile(module, "hvx"), given)
    np.testing.assert_array_equal(result.outputs["y"], reference(module, given)["y"])


def test_a_border_of_a_single_pixel():
    """The element of an axis of size 1 is in all lanes, and its border in places around it."""
    net = GraphBuilder()
    x = net.input("x", (3, 1, 1, 1), "int8")
    rng = np.random.default_rng(1)
    w = net.weight("w", rng.integers(-9, 9, (5, 1, 3, 3)).astype(np.int8))
    module = net.module({"y": net.add("conv", graph.ConvOp, x, w, None, strides=(1, 1), pads=(1, 1, 1, 1))})
    assert agrees(module, (3, 1, 1, 1))
    assert agrees(padded((1, 3, 2, 1), (0, 0, 1, 2, 0, 0, 0, 1), 128), (1, 3, 2, 1), "uint8")
    net = GraphBuilder()
    row = net.add("pad", graph.PadOp, net.input("x", (1, 1), "int8"), pads=(0, 2, 0, 1), value=1)
    with pytest.raises(TilewrightError, match=r"along lanes of .*, found the same element in all lanes"):
        compile(net.module({"y": row}), "hvx")


@pytest.mark.parametrize("shape", [(3, 64, 1, 1), (1, 1, 1, 1), (3, 1, 1, 1)])
def test_an_input_that_is_only_read_reshaped(shape: tuple[int, ...]):
    net = GraphBuilder()
    x = net.input("x", shape, "int8")
    w = net.weight("w", np.random.default_rng(1).integers(-9, 9, (shape[1], 5)).astype(np.int8))
    flat = net.add("flat", graph.ReshapeOp, x, shape[:2])
    assert agrees(net.module({"y": net.add("product", graph.GemmOp, flat, w, None)}), shape)


def test_a_product_whose_computed_operand_would_be_packed():
    """One column: lanes would lie along samples of a computed map, which no host packs."""
    net = GraphBuilder()
    x = net.input("x", (3, 5), "int8")

    def clipped(value: SSAValue) -> SSAValue:
        return net.add("clip", graph.ClipOp, value, min=-50, max=50)

    w = net.weight("w", np.arange(5, dtype=np.int8).reshape(5, 1))
    module = net.module({"y": net.add("product", graph.GemmOp, clipped(x), w, None)})
    assert agrees(module, (3, 5))
