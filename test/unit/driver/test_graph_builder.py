"""Networks built in Python: wrong layers are told as every other error is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.ir import SSAValue

from tilewright.dialects import graph
from tilewright.driver.graph_builder import GraphBuilder
from tilewright.errors import TilewrightError

WRONG: dict[str, Callable[[GraphBuilder, SSAValue], object]] = {
    "an attribute too few": lambda net, x: net.add("a", graph.ConvOp, x, x, None, strides=(1, 1)),
    "shapes that do not fit": lambda net, x: net.add("a", graph.BinaryOp, "add", x, net.weight("w", np.ones(5, "f4"))),
    "no layer": lambda net, x: net.add("a", graph.UnaryOp, "nothing", x),
    "no element type": lambda net, _: net.input("y", (1,), "complex64"),
    "a name twice": lambda net, _: (net.weight("w", np.ones(1, "f4")), net.weight("w", np.ones(1, "f4"))),
}


@pytest.mark.parametrize("call", WRONG)
def test_wrong_layers(call: str):
    net = GraphBuilder()
    x = net.input("x", (2, 3))
    with pytest.raises(TilewrightError):
        WRONG[call](net, x)
    module = net.module({"y": net.add("y", graph.UnaryOp, "relu", x)})  # what was refused has left nothing
    assert [op.name for op in module.walk() if isinstance(op, graph.LayerOp)].count("graph.unary") == 1
