"""Random small networks, compiled for machines with little memory on chip, so that everything is tiled."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import tilewright
from tilewright.arrays import compare
from tilewright.driver import load_model, reference
from tilewright.errors import InfeasibleError
from tilewright.frontends.acg import target_files

from ...onnx_files.quantized import quantized
from ...onnx_files.weights import random_inputs


@dataclass
class Net:
    """A chain of random layers on one `[1, c, h, w]` tensor, with branches that are added or concatenated."""

    draw: st.DataObject
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    weights: list[onnx.TensorProto] = field(default_factory=list[onnx.TensorProto])
    shape: tuple[int, int, int] = (1, 1, 1)
    value: str = "x"

    def integer(self, low: int, high: int) -> int:
        return self.draw.draw(st.integers(low, high))

    def weight(self, *shape: int) -> str:
        name = f"w{len(self.weights)}"
        array = np.random.default_rng(len(self.weights)).standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1)
        self.weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def node(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        name = f"{operator.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def convolution(self) -> None:
        c, h, w = self.shape
        groups = self.draw.draw(st.sampled_from([n for n in (1, 2, c) if c % n == 0]))
        k = groups * self.integer(1, 9)
        r, s = self.integer(1, min(3, h)), self.integer(1, min(3, w))
        stride, pads = self.integer(1, 2), [self.integer(0, r - 1), self.integer(0, s - 1)] * 2
        inputs = [self.value, self.weight(k, c // groups, r, s)]
        if self.integer(0, 1):
            inputs.append(self.weight(k))
        self.value = self.node("Conv", inputs, strides=[stride] * 2, pads=pads, group=groups)
        self.shape = (k, (h + 2 * pads[0] - r) // stride + 1, (w + 2 * pads[1] - s) // stride + 1)

    def pool(self) -> None:
        c, h, w = self.shape
        size, stride = self.integer(1, min(3, h, w)), self.integer(1, 2)
        operator = self.draw.draw(st.sampled_from(["MaxPool", "AveragePool"]))
        self.value = self.node(operator, [self.value], kernel_shape=[size] * 2, strides=[stride] * 2)
        self.shape = (c, (h - size) // stride + 1, (w - size) // stride + 1)

    def unary(self) -> None:
        operator = self.draw.draw(st.sampled_from(["Relu", "Sigmoid", "Tanh", "Neg", "LeakyRelu", "HardSwish"]))
        self.value = self.node(operator, [self.value])

    def binary(self) -> None:
        c, h, w = self.shape
        other = self.draw.draw(st.sampled_from([(c, 1, 1), (c, h, w), (1, h, w), (1, 1, 1)]))
        operator = self.draw.draw(st.sampled_from(["Add", "Mul", "Sub"]))
        inputs = [self.value, self.weight(1, *other)]
        self.value = self.node(operator, inputs if self.integer(0, 1) else inputs[::-1])

    def branch(self) -> None:
        c, h, w = self.shape
        left = self.node("Relu", [self.value])
        right = self.node("Conv", [self.value, self.weight(c, c, 1, 1)])
        if self.integer(0, 1):
            self.value = self.node("Add", [left, right])
        else:
            self.value, self.shape = self.node("Concat", [left, right], axis=1), (2 * c, h, w)

    def transpose(self) -> None:
        c, h, w = self.shape
        self.value, self.shape = self.node("Transpose", [self.value], perm=[0, 2, 3, 1]), (h, w, c)

    def softmax(self) -> None:
        self.value = self.node("Softmax", [self.value], axis=self.integer(1, 3))

    def mean(self) -> None:
        c = self.shape[0]
        self.value, self.shape = self.node("GlobalAveragePool", [self.value]), (c, 1, 1)

    def product(self) -> None:
        c, h, w = self.shape
        columns = self.integer(1, 12)
        self.value, self.shape = self.node("MatMul", [self.value, self.weight(1, 1, w, columns)]), (c, h, columns)


LAYERS = ("convolution", "convolution", "pool", "unary", "binary", "branch", "transpose", "softmax", "mean", "product")


def draw_model(draw: st.DataObject) -> onnx.ModelProto:
    net = Net(draw)
    first = net.shape = (net.integer(1, 12), net.integer(1, 14), net.integer(1, 14))
    for _ in range(net.integer(1, 4)):
        getattr(net, draw.draw(st.sampled_from(LAYERS)))()
    graph = helper.make_graph(
        net.nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, *first])],
        [helper.make_tensor_value_info(net.value, TensorProto.FLOAT, [1, *net.shape])],
        net.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """`edge16` with global buffers of 2, 8 and 64 KiB."""
    text = target_files()["edge16"].read_text()
    folder = tmp_path_factory.mktemp("machines")
    paths = {size: folder / f"small{size}.acg" for size in (2, 8, 64)}
    for size, path in paths.items():
        assert text.count("depth 131072") == 1
        path.write_text(text.replace("depth 131072", f"depth {16 * size}"))
    return paths


@settings(max_examples=20)
@given(data=st.data(), size=st.sampled_from([2, 8, 64]))
def test_random_networks(data: st.DataObject, size: int, machines: dict[int, Path]):
    model = draw_model(data)
    try:
        program = tilewright.compile(model, target=machines[size])
    except InfeasibleError:
        assert size == 2
        return
    inputs = random_inputs(model)
    result = tilewright.simulate(program, inputs)
    assert compare(result.outputs, reference(load_model(model), inputs)).max_rel_error < 1e-4
    assert result.dram_bytes == program.predicted["dram_bytes"]


@settings(max_examples=8)
@given(data=st.data(), size=st.sampled_from([8, 64]))
def test_random_quantised_networks(data: st.DataObject, size: int, machines: dict[int, Path]):
    model = quantized(draw_model(data))
    assume(model.graph.node)
    program = tilewright.compile(model, target=machines[size])
    inputs = random_inputs(model)
    result = tilewright.simulate(program, inputs)
    comparison = compare(result.outputs, reference(load_model(model), inputs))
    integers = not {"Softmax", "Sigmoid", "Tanh", "HardSwish"} & {node.op_type for node in model.graph.node}
    assert comparison.equal or not integers
    assert comparison.max_rel_error < 0.05
    assert result.dram_bytes == program.predicted["dram_bytes"]
