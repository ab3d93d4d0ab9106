"""Three networks as ONNX, with weights as inputs: those whose StableHLO and linalg text is in `test/data/mlir`.

Inputs are called as flax calls parameters, in the order in which JAX lists them; convolutions have channels first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto

from .patterns import Maker

Array = NDArray[Any]

FOLDER = Path(__file__).parents[1] / "data" / "mlir"

OPSET = 17


def arguments(name: str) -> dict[str, list[int]]:
    """The shapes of a network's arguments as JAX has them, by name, in order."""
    return json.loads((FOLDER / "arguments.json").read_text())[name]


def values(name: str, seed: int = 0) -> dict[str, Array]:
    """Arguments of a network as JAX has them; variances are above 0."""
    rng = np.random.default_rng(seed)
    made = {arg: (0.3 * rng.standard_normal(shape)).astype(np.float32) for arg, shape in arguments(name).items()}
    return {arg: np.abs(array) + np.float32(0.5) if arg.endswith("var") else array for arg, array in made.items()}


def channels_first(given: Mapping[str, Array]) -> dict[str, Array]:
    """The arguments as ONNX has them: kernels of convolutions and images with channels first."""
    orders = {True: (3, 2, 0, 1), False: (0, 3, 1, 2)}
    return {
        name: np.ascontiguousarray(array.transpose(orders["kernel" in name])) if array.ndim == 4 else array
        for name, array in given.items()
    }


class Net(Maker):
    """Layers whose parameters are inputs."""

    def dense(self, x: str, name: str) -> str:
        return self.node("Add", self.node("MatMul", x, f"params.{name}.kernel"), f"params.{name}.bias")

    def norm(self, x: str, name: str) -> str:
        given = f"params.{name}.scale", f"params.{name}.bias"
        return self.node("LayerNormalization", x, *given, axis=-1, epsilon=1e-6)

    def batch_norm(self, x: str, name: str) -> str:
        given = f"params.{name}.scale", f"params.{name}.bias", f"batch_stats.{name}.mean", f"batch_stats.{name}.var"
        return self.node("BatchNormalization", x, *given, epsilon=1e-5)

    def convolved(
        self, x: str, name: str, pads: tuple[int, ...] = (0, 0, 0, 0), stride: int = 1, group: int = 1
    ) -> str:
        given = f"params.{name}.kernel"
        return self.node("Conv", x, given, strides=[stride] * 2, pads=list(pads), group=group)

    def number(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def gelu_tanh(self, x: str) -> str:
        """GELU by tanh, in single steps: torch-mlir's own has another constant in it (0.797724)."""
        cube = self.node("Mul", self.number(0.044715), self.node("Mul", x, self.node("Mul", x, x)))
        inner = self.node("Mul", self.number((2 / np.pi) ** 0.5), self.node("Add", x, cube))
        half = self.node("Mul", self.number(0.5), self.node("Add", self.number(1), self.node("Tanh", inner)))
        return self.node("Mul", x, half)

    def finish(self, name: str, y: str) -> ModelProto:
        shapes = {arg: array.shape for arg, array in channels_first(values(name)).items()}
        return self.model(shapes, y, opset=OPSET)


def mixer() -> ModelProto:
    """An MLP-Mixer of two blocks on 16 patches."""
    m = Net()

    def mlp(x: str, name: str) -> str:
        wide = m.dense(x, f"{name}.Dense_0")
        erf = m.node("Erf", m.node("Mul", wide, m.number(0.5**0.5)))
        wide = m.node("Mul", m.node("Mul", wide, m.number(0.5)), m.node("Add", erf, m.number(1)))
        return m.dense(wide, f"{name}.Dense_1")

    patches = m.node("Conv", "x", "params.Conv_0.kernel", "params.Conv_0.bias", strides=[4, 4])
    x = m.node("Transpose", m.node("Reshape", patches, m.ints(1, 16, 16)), perm=[0, 2, 1])
    for i in (0, 2):
        y = m.node("Transpose", m.norm(x, f"LayerNorm_{i}"), perm=[0, 2, 1])
        x = m.node("Add", x, m.node("Transpose", mlp(y, f"MlpBlock_{i}"), perm=[0, 2, 1]))
        x = m.node("Add", x, mlp(m.norm(x, f"LayerNorm_{i + 1}"), f"MlpBlock_{i + 1}"))
    mean = m.node("ReduceMean", m.norm(x, "LayerNorm_4"), axes=[1], keepdims=0)
    return m.finish("mixer", m.dense(mean, "Dense_0"))


def transformer() -> ModelProto:
    """A block of a decoder: attention of four heads with a causal mask, and a network of two products."""
    m, tokens, width, heads = Net(), 12, 32, 4
    together = m.dense(m.norm("x", "LayerNorm_0"), "Dense_0")
    parts: list[str] = []
    for i, perm in enumerate(([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])):
        part = m.node("Slice", together, m.ints(i * width), m.ints(i * width + width), m.ints(2))
        split = m.node("Reshape", part, m.ints(1, tokens, heads, width // heads))
        parts.append(m.node("Transpose", split, perm=perm))
    scores = m.node("Div", m.node("MatMul", parts[0], parts[1]), m.number((width // heads) ** 0.5))
    mask = m.constant(np.tril(np.ones((tokens, tokens), np.bool_)))
    scores = m.node("Where", mask, scores, m.number(float(np.finfo(np.float32).min)))
    mixed = m.node("Transpose", m.node("MatMul", m.node("Softmax", scores, axis=-1), parts[2]), perm=[0, 2, 1, 3])
    x = m.node("Add", "x", m.dense(m.node("Reshape", mixed, m.ints(1, tokens, width)), "Dense_1"))
    wide = m.gelu_tanh(m.dense(m.norm(x, "LayerNorm_1"), "Dense_2"))
    return m.finish("transformer", m.node("Add", x, m.dense(wide, "Dense_3")))


def mobilenet() -> ModelProto:
    """A small MobileNetV2: a stem with pooling, three inverted bottlenecks, one of them residual."""
    m = Net()

    def relu6(x: str) -> str:
        return m.node("Clip", x, m.number(0), m.number(6))

    x = m.relu(m.batch_norm(m.convolved("x", "Conv_0", (0, 0, 1, 1), 2), "BatchNorm_0"))
    x = m.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1])
    for i, (channels, stride) in enumerate(((8, 1), (12, 1), (12, 2))):
        block, pads = f"Bottleneck_{i}", (1, 1, 1, 1) if stride == 1 else (0, 0, 1, 1)
        y = relu6(m.batch_norm(m.convolved(x, f"{block}.Conv_0"), f"{block}.BatchNorm_0"))
        y = m.convolved(y, f"{block}.Conv_1", pads, stride, 3 * channels)
        y = relu6(m.batch_norm(y, f"{block}.BatchNorm_1"))
        y = m.batch_norm(m.convolved(y, f"{block}.Conv_2"), f"{block}.BatchNorm_2")
        x = m.node("Add", x, y) if i == 1 else y
    x = m.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    mean = m.node("ReduceMean", x, axes=[2, 3], keepdims=0)
    return m.finish("mobilenet", m.node("Softmax", m.dense(mean, "Dense_0"), axis=-1))


NETWORKS: dict[str, Callable[[], ModelProto]] = {"mixer": mixer, "transformer": transformer, "mobilenet": mobilenet}
