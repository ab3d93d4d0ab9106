"""ONNX networks to compile: the light ones of the onnx wheel, a MobileNet-style one and a transformer encoder block."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tilewright.algebra.element import Array
from tilewright.errors import TilewrightError
from tilewright.zoo.schedule_networks.images import MOBILENET_BLOCKS

from .weights import random_inputs, seeded_weights

LIGHT_NETWORKS = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)
"""The networks under `onnx/backend/test/data/light` of the onnx wheel."""


def light_folder() -> Path:
    """Where the onnx wheel keeps its light networks."""
    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


def light_model(name: str) -> ModelProto:
    """A light network as shipped, all weights one repeated constant."""
    if name not in LIGHT_NETWORKS:
        raise TilewrightError("usage", name, "one of " + ", ".join(LIGHT_NETWORKS), "another name")
    return onnx.load(light_folder() / f"light_{name}.onnx")


def seeded_light_model(name: str, seed: int = 0) -> ModelProto:
    """A light network with random, well-scaled weights from `seed`."""
    return seeded_weights(light_model(name), seed)


@dataclass
class _Maker:
    """Collects nodes and initializers; each method adds a node and returns the name of its output."""

    rng: np.random.Generator
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    tensors: list[TensorProto] = field(default_factory=list[TensorProto])

    def node(self, op: str, inputs: list[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def tensor(self, name: str, array: Array) -> str:
        self.tensors.append(numpy_helper.from_array(array, name))
        return name

    def scalar(self, name: str, value: float) -> str:
        return self.tensor(name, np.array(value, np.float32))

    def normal(self, name: str, shape: tuple[int, ...], deviation: float, mean: float = 0.0) -> str:
        values = self.rng.standard_normal(shape, np.float32) * np.float32(deviation) + np.float32(mean)
        return self.tensor(name, values)

    def model(self, name: str, inputs: dict[str, tuple[int, ...]], outputs: dict[str, tuple[int, ...]]) -> ModelProto:
        def info(values: dict[str, tuple[int, ...]]) -> list[onnx.ValueInfoProto]:
            return [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in values.items()]

        graph = helper.make_graph(self.nodes, name, info(inputs), info(outputs), self.tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="tilewright")
        model.ir_version = 8
        return model

    def conv(self, x: str, name: str, channels: tuple[int, int], kernel: int, stride: int, group: int = 1) -> str:
        """Convolution from channels[0] to channels[1] and batch normalisation."""
        fan_in = channels[0] // group * kernel * kernel
        w = self.normal(f"{name}.w", (channels[1], channels[0] // group, kernel, kernel), fan_in**-0.5)
        window = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4, "strides": [stride] * 2}
        y = self.node("Conv", [x, w], f"{name}.conv", group=group, **window)
        return self.batch_norm(y, f"{name}.bn", channels[1])

    def batch_norm(self, x: str, name: str, channels: int) -> str:
        scale = self.normal(f"{name}.scale", (channels,), 0.1, 1.3)
        bias, mean = (self.normal(f"{name}.{part}", (channels,), 0.1) for part in ("bias", "mean"))
        variance = self.tensor(f"{name}.var", self.rng.uniform(0.8, 1.2, channels).astype(np.float32))
        return self.node("BatchNormalization", [x, scale, bias, mean, variance], name)

    def relu6(self, x: str, name: str) -> str:
        if not any(t.name == "six" for t in self.tensors):
            self.scalar("zero", 0.0)
            self.scalar("six", 6.0)
        return self.node("Clip", [x, "zero", "six"], name)

    def linear(self, x: str, name: str, sizes: tuple[int, int]) -> str:
        """MatMul with a stored matrix and a bias."""
        w = self.normal(f"{name}.w", sizes, sizes[0] ** -0.5)
        y = self.node("MatMul", [x, w], f"{name}.matmul")
        return self.node("Add", [y, self.normal(f"{name}.b", (sizes[1],), 0.05)], name)

    def layer_norm(self, x: str, name: str, size: int) -> str:
        scale, bias = self.normal(f"{name}.scale", (size,), 0.1, 1.0), self.normal(f"{name}.bias", (size,), 0.1)
        return self.node("LayerNormalization", [x, scale, bias], name, axis=-1, epsilon=1e-5)


def mobilenet(seed: int = 0, size: int = 224, width: float = 1.0, classes: int = 1000) -> ModelProto:
    """A MobileNetV2-style network on images of `size` squared, channels times `width`, random weights from `seed`."""
    maker = _Maker(np.random.default_rng(seed))

    def scaled(channels: int) -> int:
        return max(8, int(channels * width + 4) // 8 * 8)

    channels = scaled(32)
    x = maker.relu6(maker.conv("image", "stem", (3, channels), 3, 2), "stem.relu")
    for stage, (out, expansion, repeats, stride) in enumerate(MOBILENET_BLOCKS):
        for repeat in range(repeats):
            sizes = (channels, channels * expansion, scaled(out))
            x = _bottleneck(maker, x, f"block{stage}_{repeat}", sizes, stride if repeat == 0 else 1)
            channels = sizes[2]
    head = scaled(1280)
    x = maker.relu6(maker.conv(x, "head", (channels, head), 1, 1), "head.relu")
    x = maker.node("Flatten", [maker.node("GlobalAveragePool", [x], "pool")], "flat", axis=1)
    w, b = maker.normal("classes.w", (classes, head), head**-0.5), maker.normal("classes.b", (classes,), 0.05)
    maker.node("Gemm", [x, w, b], "logits", transB=1)
    return maker.model("mobilenet", {"image": (1, 3, size, size)}, {"logits": (1, classes)})


def _bottleneck(maker: _Maker, x: str, name: str, sizes: tuple[int, int, int], stride: int) -> str:
    inner, y = sizes[1], x
    if inner != sizes[0]:
        y = maker.relu6(maker.conv(y, f"{name}.expand", (sizes[0], inner), 1, 1), f"{name}.expand.relu")
    y = maker.relu6(maker.conv(y, f"{name}.depth", (inner, inner), 3, stride, inner), f"{name}.depth.relu")
    y = maker.conv(y, f"{name}.project", (inner, sizes[2]), 1, 1)
    return maker.node("Add", [x, y], f"{name}.add") if stride == 1 and sizes[0] == sizes[2] else y


def transformer_block(
    seed: int = 0, sequence: int = 128, width: int = 768, heads: int = 12, hidden: int = 3072, batch: int = 1
) -> ModelProto:
    """One encoder block of BERT-base sizes by default: attention, Gelu feed-forward, normalisation after each."""
    maker = _Maker(np.random.default_rng(seed))
    shape, depth = (batch, sequence, width), width // heads
    maker.tensor("split", np.array([batch, sequence, heads, depth], np.int64))
    maker.tensor("merge", np.array([batch, sequence, width], np.int64))
    parts = {}
    for part, perm in (("query", (0, 2, 1, 3)), ("key", (0, 2, 3, 1)), ("value", (0, 2, 1, 3))):
        flat = maker.linear("x", part, (width, width))
        split = maker.node("Reshape", [flat, "split"], f"{part}.split")
        parts[part] = maker.node("Transpose", [split], f"{part}.heads", perm=perm)
    scores = maker.node("MatMul", [parts["query"], parts["key"]], "scores")
    maker.scalar("root", depth**0.5)
    weights = maker.node("Softmax", [maker.node("Div", [scores, "root"], "scaled")], "weights", axis=-1)
    mixed = maker.node("MatMul", [weights, parts["value"]], "mixed")
    merged = maker.node("Reshape", [maker.node("Transpose", [mixed], "back", perm=(0, 2, 1, 3)), "merge"], "merged")
    attended = maker.node("Add", [maker.linear(merged, "project", (width, width)), "x"], "attended")
    middle = maker.layer_norm(attended, "norm1", width)
    wide = _gelu(maker, maker.linear(middle, "up", (width, hidden)))
    summed = maker.node("Add", [maker.linear(wide, "down", (hidden, width)), middle], "summed")
    maker.layer_norm(summed, "y", width)
    return maker.model("transformer_block", {"x": shape}, {"y": shape})


def _gelu(maker: _Maker, x: str) -> str:
    """Gelu written out with Erf, as exporters do below opset 20."""
    for name, value in (("sqrt2", 2**0.5), ("one", 1.0), ("half", 0.5)):
        maker.scalar(name, value)
    erf = maker.node("Erf", [maker.node("Div", [x, "sqrt2"], "gelu.in")], "gelu.erf")
    product = maker.node("Mul", [x, maker.node("Add", [erf, "one"], "gelu.add")], "gelu.mul")
    return maker.node("Mul", [product, "half"], "gelu")


__all__ = [
    "LIGHT_NETWORKS",
    "light_folder",
    "light_model",
    "mobilenet",
    "random_inputs",
    "seeded_light_model",
    "seeded_weights",
    "transformer_block",
]
