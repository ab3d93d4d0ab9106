"""Small networks for groups that run tile by tile."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.codelet import TensorOp
from tilewright.driver import make_context, parse_passes
from tilewright.errors import TilewrightError

Array = NDArray[Any]


class Net:
    """A float network with small integers as weights, so that sums are exact in any order."""

    def __init__(self, shape: tuple[int, ...], seed: int = 0) -> None:
        self.rng, self.shape, self.nodes, self.weights = np.random.default_rng(seed), shape, [], []
        self.channels = {"x": shape[1]}

    def conv(self, x: str, y: str, channels: int, kernel: int = 3, stride: int = 1, **more: Any) -> None:
        groups = more.pop("group", 1)
        pad = more.pop("pad", kernel // 2)
        shape = (channels, self.channels[x] // groups, kernel, kernel)
        weights = self.rng.integers(-2, 3, shape).astype(np.float32)
        weights.flat[0] = 17  # f16 holds it, floats of 8 bits do not
        self.weights.append(numpy_helper.from_array(weights, f"{y}.w"))
        self.weights.append(numpy_helper.from_array(self.rng.integers(-9, 9, channels).astype(np.float32), f"{y}.b"))
        window = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4, "group": groups}
        self.add("Conv", [x, f"{y}.w", f"{y}.b"], y, channels, **window, **more)

    def add(self, op: str, inputs: Sequence[str], y: str, channels: int, **attributes: Any) -> None:
        self.nodes.append(helper.make_node(op, list(inputs), [y], name=y, **attributes))
        self.channels[y] = channels

    def model(self, *outputs: str) -> ModelProto:
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", [x], ends, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model


def residual(batch: int = 1, rows: int = 13) -> ModelProto:
    """A shortcut beside two convolutions."""
    net = Net((batch, 3, rows, 10))
    net.conv("x", "a", 4)
    net.add("Relu", ["a"], "b", 4)
    net.conv("b", "c", 4)
    net.add("Add", ["c", "b"], "d", 4)
    net.add("Relu", ["d"], "y", 4)
    return net.model("y")


def branches(rows: int = 14) -> ModelProto:
    """Branches with other strides, paddings and dilations, joined twice; one result leaves early."""
    net = Net((1, 2, rows, 11))
    net.conv("x", "a", 4, kernel=5, stride=2)
    net.conv("a", "b", 3, kernel=1)
    net.conv("a", "c", 6, kernel=3, dilations=[2, 2], pad=2)
    net.add("MaxPool", ["a"], "d", 4, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    net.add("Concat", ["b", "c", "d"], "e", 13, axis=1)
    net.conv("e", "f", 4, kernel=3, stride=2)
    net.add("MaxPool", ["e"], "g", 13, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    net.add("Concat", ["f", "g"], "h", 17, axis=1)
    net.conv("h", "y", 5, kernel=1)
    return net.model("y", "c")


def reshaped() -> ModelProto:
    """Maps that are joined in another shape than they were made in."""
    net = Net((1, 4, 8, 8))
    net.conv("x", "a", 4, kernel=1)
    net.weights.append(numpy_helper.from_array(np.array([1, 16, 4, 4]), "quarter"))
    net.add("Reshape", ["a", "quarter"], "b", 16)
    net.add("MaxPool", ["a"], "c", 4, kernel_shape=[2, 2], strides=[2, 2])
    net.add("Concat", ["b", "c"], "d", 20, axis=1)
    net.conv("d", "e", 8)
    net.conv("e", "y", 8)
    return net.model("y")


def rows_joined() -> ModelProto:
    """Matrices, whose first axis is not that of samples, joined as maps."""
    net = Net((64, 8))
    net.weights.append(numpy_helper.from_array(np.array([1, 16, 8, 8]), "map"))
    for x, width, y in (("x", 8, "a"), ("a", 16, "b")):
        net.weights.append(numpy_helper.from_array(net.rng.integers(-3, 3, (width, 16)).astype(np.float32), f"{y}.w"))
        net.add("MatMul", [x, f"{y}.w"], y, 16)
        net.add("Reshape", [y, "map"], f"{y}.map", 16)
    net.add("Concat", ["a.map", "b.map"], "c", 32, axis=1)
    net.conv("c", "d", 8, kernel=1)
    net.conv("d", "e", 8)
    net.conv("e", "y", 8)
    return net.model("y")


def classifier() -> ModelProto:
    """Depthwise and pointwise convolutions, the mean of a map, and a product."""
    net = Net((2, 4, 8, 8))  # the mean of 4x4 is exact
    net.conv("x", "a", 4, stride=2, group=4)
    net.conv("a", "b", 8, kernel=1)
    net.add("Clip", ["b", "low", "high"], "c", 8)
    net.add("GlobalAveragePool", ["c"], "d", 8)
    net.add("Flatten", ["d"], "e", 8, axis=1)
    net.add("Gemm", ["e", "g.w", "g.b"], "y", 6, transB=1)
    for name, shape in (("g.w", (6, 8)), ("g.b", (6,)), ("low", ()), ("high", ())):
        values = np.full(shape, -25.0 if name == "low" else 25.0 if name == "high" else 1.0, np.float32)
        net.weights.append(numpy_helper.from_array(values, name))
    return net.model("y")


def skipping() -> ModelProto:
    """A convolution of one element and two strides: the last row of an even map is not read."""
    net = Net((1, 3, 12, 12))
    net.conv("x", "a", 4, kernel=1, stride=2)
    net.add("Relu", ["a"], "y", 4)
    return net.model("y")


def inputs_of(model: ModelProto) -> dict[str, Array]:
    shape = tuple(d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim)
    return {"x": np.random.default_rng(5).integers(-4, 5, shape).astype(np.float32)}


def verified_rows(module: ModuleOp, op: TensorOp, axis: int) -> int:
    """The fewest rows (or columns) of a ring with which the module verifies; with fewer it is refuted."""
    whole = op.ring
    assert whole is not None
    ring = list(whole.get_values())
    for size in range(ring[axis] - 1, 0, -1):
        op.ring = type(whole).from_list(whole.elt_type, [*ring[:axis], size, *ring[axis + 1 :]])
        try:
            parse_passes("codelet-verify").apply(make_context(), module)
        except TilewrightError as error:
            op.ring = whole
            if "to be there, found another" not in str(error):
                raise
            return size + 1
    op.ring = whole
    return 1
