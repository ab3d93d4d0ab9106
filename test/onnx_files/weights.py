"""Seeded weights for networks that come without: scaled so that activations neither vanish nor explode.

The scale follows the mean and variance of each activation through the graph, estimated in closed form as if it were
normal (He et al., "Delving deep into rectifiers", eq. 10, with the second moment of the input as estimated here in
place of half the variance before it).
"""

from math import erf, exp, pi, prod, sqrt
from typing import NamedTuple

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, helper, numpy_helper

from tilewright.algebra.element import Array


class Moments(NamedTuple):
    """Estimated mean and variance of an activation."""

    mean: float = 0.0
    variance: float = 1.0

    @property
    def second(self) -> float:
        """The mean of the squares."""
        return self.mean**2 + self.variance

    def rectified(self) -> "Moments":
        """After max(x, 0), for a normal x."""
        deviation = sqrt(self.variance)
        ratio = self.mean / deviation
        above, density = 0.5 * (1.0 + erf(ratio / sqrt(2.0))), exp(-0.5 * ratio**2) / sqrt(2.0 * pi)
        mean = self.mean * above + deviation * density
        second = self.second * above + self.mean * deviation * density
        return Moments(mean, max(second - mean**2, 1e-3 * second))


def seeded_weights(model: ModelProto, seed: int = 0) -> ModelProto:
    """A copy of `model` whose float weights, made by ConstantOfShape or stored, are random ones from `seed`.

    Convolutions and matrix products get weights of such a scale that each output has a second moment near 1;
    normalisations get statistics near those of what they normalise; biases are small.
    """
    return _Seeder(model, np.random.default_rng(seed)).run()


class _Seeder:
    def __init__(self, model: ModelProto, rng: np.random.Generator) -> None:
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        self.rng = rng
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.aliases: dict[str, str] = {}
        self.moments: dict[str, Moments] = {}
        self.made: dict[str, Array] = {}

    def run(self) -> ModelProto:
        graph = self.model.graph
        kept = self._find_weights()
        for node in kept:
            self._seed(node)
        del graph.node[:]
        graph.node.extend(kept)
        for name, shape in self.shapes.items():
            self.made.setdefault(name, np.zeros(shape, np.float32))
        others = [t for t in graph.initializer if t.name not in self.made]
        del graph.initializer[:]
        graph.initializer.extend(others)
        graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in self.made.items())
        self._prune()
        return self.model

    def _find_weights(self) -> list[NodeProto]:
        """Record the shapes of all float weights; the nodes that are left when their makers are dropped."""
        stored = {t.name: t for t in self.model.graph.initializer}
        floats = {n: t for n, t in stored.items() if t.data_type == onnx.TensorProto.FLOAT and t.dims}
        self.shapes.update((name, tuple(t.dims)) for name, t in floats.items())
        kept: list[NodeProto] = []
        for node in self.model.graph.node:
            if node.op_type == "ConstantOfShape" and node.input[0] in stored:
                extents = numpy_helper.to_array(stored[node.input[0]])
                self.shapes[node.output[0]] = tuple(int(e) for e in extents)
                continue
            if node.op_type == "Unsqueeze" and node.input[0] in self.shapes:
                self.aliases[node.output[0]] = node.input[0]
            kept.append(node)
        return kept

    def _weight(self, name: str) -> str | None:
        name = self.aliases.get(name, name)
        return name if name in self.shapes else None

    def _normal(self, name: str, mean: float, deviation: float) -> None:
        values = self.rng.standard_normal(self.shapes[name], np.float32)
        self.made.setdefault(name, values * np.float32(deviation) + np.float32(mean))

    def _seed(self, node: NodeProto) -> None:
        inputs = [self.moments.get(i, Moments()) for i in node.input if i and self._weight(i) is None]
        self.moments[node.output[0]] = self._seeded_moments(node, inputs or [Moments()])

    def _seeded_moments(self, node: NodeProto, inputs: list[Moments]) -> Moments:
        weights = [(i, w) for i, n in enumerate(node.input) if (w := self._weight(n)) is not None]
        mean, variance = inputs[0]
        match node.op_type:
            case "Conv" | "Gemm" | "MatMul":
                return self._product(node, weights, inputs[0])
            case "BatchNormalization":
                return self._statistics(weights, inputs[0])
            case "Sum" | "Add" | "Mul":
                for _, name in weights:
                    self._normal(name, float(node.op_type == "Mul"), 0.1)
                return Moments(sum(m.mean for m in inputs), sum(m.variance for m in inputs))
            case "Concat":
                second = sum(m.second for m in inputs) / len(inputs)
                mean = sum(m.mean for m in inputs) / len(inputs)
                return Moments(mean, second - mean**2)
            case "Relu":
                return inputs[0].rectified()
            case "MaxPool":
                return Moments(mean + sqrt(variance), variance)
            case "AveragePool" | "GlobalAveragePool":
                return Moments(mean, variance / 3)
            case "LRN":
                bias = {a.name: a.f for a in node.attribute}.get("bias", 1.0)
                return Moments(mean / bias**0.75, variance / bias**1.5)
            case _:
                return inputs[0]

    def _product(self, node: NodeProto, weights: list[tuple[int, str]], x: Moments) -> Moments:
        for index, name in weights:
            shape = self.shapes[name]
            if index != 1:
                self._normal(name, 0.0, 0.05)
                continue
            transposed = any(a.name == "transB" and a.i for a in node.attribute)
            fan_in = prod(shape[1:]) if node.op_type == "Conv" or transposed else shape[-2]
            self._normal(name, 0.0, 1.0 / sqrt(fan_in * x.second))
        return Moments()

    def _statistics(self, weights: list[tuple[int, str]], x: Moments) -> Moments:
        for index, name in weights:
            if index in (1, 4):
                spread = self.rng.uniform(0.8, 1.25, self.shapes[name]).astype(np.float32)
                self.made.setdefault(name, spread * np.float32(x.second if index == 4 else 1.0))
            else:
                self._normal(name, 0.0, 0.1 * (sqrt(x.second) if index == 3 else 1.0))
        return Moments()

    def _prune(self) -> None:
        """Drop stored shapes nobody reads any more, and the inputs that declared them."""
        graph = self.model.graph
        read = {name for node in graph.node for name in node.input} | {o.name for o in graph.output}
        stored = {t.name for t in graph.initializer}
        unread = [t for t in graph.initializer if t.name not in read]
        for tensor in unread:
            graph.initializer.remove(tensor)
        for value in [i for i in graph.input if i.name in stored or i.name not in read]:
            graph.input.remove(value)
        self.model.ir_version = max(self.model.ir_version, 4)


def random_inputs(model: ModelProto, seed: int = 0) -> dict[str, Array]:
    """One array per graph input of `model`, from `seed`: normal for floats, small for integers."""
    rng = np.random.default_rng(seed)
    stored = {t.name for t in model.graph.initializer}
    result: dict[str, Array] = {}
    for value in model.graph.input:
        if value.name in stored:
            continue
        tensor = value.type.tensor_type
        shape = tuple(d.dim_value for d in tensor.shape.dim)
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        floats = rng.standard_normal(shape, np.float32)
        result[value.name] = floats.astype(dtype) if dtype.kind == "f" else np.clip(floats * 40, 0, 100).astype(dtype)
    return result
