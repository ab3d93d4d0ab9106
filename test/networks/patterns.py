"""Small ONNX networks with the shapes of exported ones: residual sums, attention, gates, shuffles, shared operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Array = NDArray[Any]


@dataclass
class Maker:
    """Collects nodes and initializers; each method adds a node and returns the name of its output."""

    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    tensors: list[TensorProto] = field(default_factory=list[TensorProto])
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, array: Array) -> str:
        name = f"c{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(array, name))
        return name

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def normal(self, *shape: int) -> str:
        return self.constant(self.rng.standard_normal(shape, np.float32) / np.float32(max(1, shape[-1]) ** 0.5))

    def conv(self, x: str, channels: tuple[int, int], kernel: int = 1, stride: int = 1, group: int = 1) -> str:
        w = self.normal(channels[1], channels[0] // group, kernel, kernel)
        return self.node(
            "Conv", x, w, self.normal(channels[1]), strides=[stride] * 2, pads=[kernel // 2] * 4, group=group
        )

    def relu(self, x: str) -> str:
        return self.node("Relu", x)

    def linear(self, x: str, sizes: tuple[int, int]) -> str:
        return self.node("Add", self.node("MatMul", x, self.normal(*sizes)), self.normal(sizes[1]))

    def layer_norm(self, x: str, size: int) -> str:
        """As exporters write it below opset 17."""
        centred = self.node("Sub", x, self.node("ReduceMean", x, axes=[-1]))
        square = self.node("Pow", centred, self.constant(np.array(2, np.float32)))
        variance = self.node(
            "Add", self.node("ReduceMean", square, axes=[-1]), self.constant(np.array(1e-5, np.float32))
        )
        scaled = self.node("Div", centred, self.node("Sqrt", variance))
        return self.node("Add", self.node("Mul", scaled, self.normal(size)), self.normal(size))

    def silu(self, x: str) -> str:
        return self.node("Mul", x, self.node("Sigmoid", x))

    def model(self, inputs: Mapping[str, Sequence[int]], *outputs: str, opset: int = 16) -> ModelProto:
        def info(names: Sequence[str], shapes: Sequence[Sequence[int] | None]) -> list[Any]:
            return [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                for name, shape in zip(names, shapes, strict=True)
            ]

        given, made = info(list(inputs), list(inputs.values())), info(outputs, [None] * len(outputs))
        model = helper.make_model(
            helper.make_graph(self.nodes, "made", given, made, self.tensors),
            opset_imports=[helper.make_opsetid("", opset)],
        )
        model.ir_version = 8
        return model


def residual(channels: int = 8, size: int = 8) -> ModelProto:
    """Two bottlenecks with residual sums, the first of them read by three."""
    m = Maker()
    x = m.relu(m.conv("x", (3, channels), 3, 2))
    for _ in range(2):
        y = m.relu(m.conv(x, (channels, 2 * channels)))
        y = m.relu(m.conv(y, (2 * channels, 2 * channels), 3, 1, 2 * channels))
        x = m.relu(m.node("Add", x, m.conv(y, (2 * channels, channels))))
    flat = m.node("Flatten", m.node("GlobalAveragePool", x))
    return m.model({"x": (1, 3, size, size)}, m.node("Gemm", flat, m.normal(channels, 5)))


def shuffle() -> ModelProto:
    """Grouped convolutions with a channel shuffle between them, and a sum of both branches."""
    m = Maker()
    x = m.relu(m.conv("x", (4, 8)))
    y = m.conv(x, (8, 8), 1, 1, 2)
    y = m.node("Reshape", y, m.ints(1, 2, 4, 6, 6))
    y = m.node("Reshape", m.node("Transpose", y, perm=[0, 2, 1, 3, 4]), m.ints(1, 8, 6, 6))
    y = m.conv(y, (8, 8), 3, 1, 8)
    z = m.node("Concat", m.node("AveragePool", x, kernel_shape=[1, 1]), y, axis=1)
    return m.model({"x": (1, 4, 6, 6)}, m.relu(m.node("Add", x, m.conv(z, (16, 8)))))


def grouped() -> ModelProto:
    """A sum of joined maps and a grouped convolution of them, as in the first units of ShuffleNet's stages."""
    m = Maker()
    x = m.node("Concat", m.relu(m.conv("x", (4, 4))), m.relu(m.conv("x", (4, 4), 3)), axis=1)
    return m.model({"x": (1, 4, 6, 6)}, m.relu(m.node("Add", x, m.conv(x, (8, 8), 1, 1, 2))))


def squeeze_excite() -> ModelProto:
    m = Maker()
    x = m.silu(m.conv("x", (3, 8), 3))
    s = m.node("Sigmoid", m.conv(m.silu(m.conv(m.node("GlobalAveragePool", x), (8, 4))), (4, 8)))
    y = m.conv(m.node("Mul", x, s), (8, 8))
    return m.model({"x": (1, 3, 6, 6)}, m.node("Add", y, x))


def vit(sequence: int = 4, width: int = 16, heads: int = 2) -> ModelProto:
    """Patches, a class token and positions, and one encoder block as torch exports it."""
    m, depth = Maker(), width // heads
    patches = m.node("Conv", "x", m.normal(width, 3, 4, 4), strides=[4, 4])
    x = m.node("Transpose", m.node("Reshape", patches, m.ints(1, width, sequence)), perm=[0, 2, 1])
    x = m.node("Concat", m.normal(1, 1, width), x, axis=1)
    x = m.node("Add", x, m.normal(1, sequence + 1, width))
    n = m.layer_norm(x, width)
    qkv = m.node("Reshape", m.linear(n, (width, 3 * width)), m.ints(1, sequence + 1, 3, heads, depth))
    qkv = m.node("Transpose", qkv, perm=[2, 0, 3, 1, 4])
    q, k, v = (m.node("Gather", qkv, m.constant(np.array(i, np.int64)), axis=0) for i in range(3))
    scores = m.node("MatMul", m.node("Mul", q, m.constant(np.array(depth**-0.5, np.float32))), _swapped(m, k))
    mixed = m.node("MatMul", m.node("Softmax", scores, axis=-1), v)
    mixed = m.node("Reshape", m.node("Transpose", mixed, perm=[0, 2, 1, 3]), m.ints(1, sequence + 1, width))
    x = m.node("Add", x, m.linear(mixed, (width, width)))
    wide = m.linear(m.layer_norm(x, width), (width, 2 * width))
    erf = m.node("Erf", m.node("Div", wide, m.constant(np.array(2**0.5, np.float32))))
    wide = m.node("Mul", m.node("Mul", wide, m.node("Add", erf, m.constant(np.array(1, np.float32)))), m.normal(1))
    x = m.node("Add", x, m.linear(wide, (2 * width, width)))
    token = m.node("Gather", m.layer_norm(x, width), m.constant(np.array(0, np.int64)), axis=1)
    return m.model({"x": (1, 3, 8, 8)}, m.node("Gemm", token, m.normal(width, 5)))


def _swapped(m: Maker, x: str) -> str:
    return m.node("Transpose", x, perm=[0, 1, 3, 2])


def llama(sequence: int = 4, width: int = 16, heads: int = 4, groups: int = 2) -> ModelProto:
    """A decoder block: RMS norms, rotated queries and keys, shared keys and values, a mask, a gated feed-forward."""
    m, depth = Maker(), width // heads
    cos, sin = m.normal(1, 1, sequence, depth), m.normal(1, 1, sequence, depth)

    def norm(x: str) -> str:
        mean = m.node("ReduceMean", m.node("Pow", x, m.constant(np.array(2, np.float32))), axes=[-1])
        root = m.node("Sqrt", m.node("Add", mean, m.constant(np.array(1e-5, np.float32))))
        return m.node("Mul", m.normal(width), m.node("Mul", x, m.node("Reciprocal", root)))

    def split(x: str, count: int) -> str:
        flat = m.node("MatMul", x, m.normal(width, count * depth))
        return m.node("Transpose", m.node("Reshape", flat, m.ints(1, sequence, count, depth)), perm=[0, 2, 1, 3])

    def rotated(x: str) -> str:
        low = m.node("Slice", x, m.ints(0), m.ints(depth // 2), m.ints(3))
        high = m.node("Slice", x, m.ints(depth // 2), m.ints(depth), m.ints(3))
        half = m.node("Concat", m.node("Neg", high), low, axis=-1)
        return m.node("Add", m.node("Mul", x, cos), m.node("Mul", half, sin))

    def repeated(x: str) -> str:
        wide = m.node("Unsqueeze", x, m.ints(2))
        wide = m.node("Expand", wide, m.ints(1, groups, heads // groups, sequence, depth))
        return m.node("Reshape", wide, m.ints(1, heads, sequence, depth))

    n = norm("x")
    q, k, v = rotated(split(n, heads)), repeated(rotated(split(n, groups))), repeated(split(n, groups))
    scores = m.node("Mul", m.node("MatMul", q, _swapped(m, k)), m.constant(np.array(depth**-0.5, np.float32)))
    weights = m.node("Softmax", m.node("Add", scores, "mask"), axis=-1)
    mixed = m.node("Transpose", m.node("MatMul", weights, v), perm=[0, 2, 1, 3])
    mixed = m.node("MatMul", m.node("Reshape", mixed, m.ints(1, sequence, width)), m.normal(width, width))
    x = m.node("Add", "x", mixed)
    n = norm(x)
    gate, up = (m.node("MatMul", n, m.normal(width, 2 * width)) for _ in range(2))
    down = m.node("MatMul", m.node("Mul", m.silu(gate), up), m.normal(2 * width, width))
    return m.model({"x": (1, sequence, width), "mask": (1, 1, sequence, sequence)}, m.node("Add", x, down))


def sequence_first(sequence: int = 6, width: int = 8, heads: int = 2) -> ModelProto:
    """Attention on rows without an axis of samples."""
    m = Maker()

    def split(perm: list[int]) -> str:
        flat = m.node("Reshape", m.linear("x", (width, width)), m.ints(sequence, heads, width // heads))
        return m.node("Transpose", flat, perm=perm)

    scores = m.node("MatMul", split([1, 0, 2]), split([1, 2, 0]))
    mixed = m.node("MatMul", m.node("Softmax", scores, axis=-1), split([1, 0, 2]))
    rows = m.node("Reshape", m.node("Transpose", mixed, perm=[1, 0, 2]), m.ints(sequence, width))
    return m.model({"x": (sequence, width)}, m.node("Add", "x", m.linear(rows, (width, width))))


def shared() -> ModelProto:
    """x + x, a map joined with itself, sums of constants, numbers and smaller maps, a product of three branches."""
    m = Maker()
    a = m.conv("x", (2, 4))
    twice = m.node("Add", a, a)
    joined = m.node("Concat", a, a, twice, axis=1)
    b = m.node("Add", m.conv(joined, (12, 4), 3), m.normal(1, 4, 5, 5))
    c = m.node("Mul", m.node("Add", b, "row"), m.constant(np.array(0.5, np.float32)))
    d = m.node("Mul", m.node("Mul", c, m.node("Tanh", a)), m.node("Neg", twice))
    return m.model({"x": (1, 2, 5, 5), "row": (1, 1, 1, 5)}, m.conv(d, (4, 3)))


def several_results() -> ModelProto:
    """Results that are read inside, returned twice, moved, joined with others, or given as they came."""
    m = Maker()
    a = m.relu(m.conv("x", (2, 4)))
    b = m.conv(a, (4, 4), 3)
    turned = m.node("Transpose", b, perm=[0, 1, 3, 2])
    joined = m.node("Concat", a, m.relu(b), axis=1)
    return m.model({"x": (1, 2, 5, 5)}, a, b, turned, joined, m.node("Identity", b), m.node("Identity", "x"))


def dynamic() -> ModelProto:
    """Biases, scales and factors that are maps; several samples."""
    m = Maker()
    a = m.node("MatMul", "x", "y")
    b = m.node("Add", m.node("MatMul", a, m.normal(6, 6)), "z")
    c = m.node("MatMul", m.node("Transpose", b, perm=[0, 2, 1]), m.node("Softmax", a, axis=2))
    d = m.node("MatMul", m.normal(3, 6), c)
    return m.model({"x": (2, 4, 5), "y": (2, 5, 6), "z": (2, 4, 6)}, m.node("Sub", d, m.normal(3, 6)))


PATTERNS: dict[str, Callable[[], ModelProto]] = {
    "residual": residual,
    "shuffle": shuffle,
    "grouped": grouped,
    "squeeze_excite": squeeze_excite,
    "vit": vit,
    "llama": llama,
    "sequence_first": sequence_first,
    "shared": shared,
    "several_results": several_results,
    "dynamic": dynamic,
}

QUANTISED = ("residual", "shuffle", "squeeze_excite", "shared")
"""Those that are quantised, too."""
