"""Layer tables as ONNX models with random weights, so that the networks can be compiled and run."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, shape_inference

from ...errors import TilewrightError
from ..schedule_networks.layers import Layer, Network


def onnx_model(network: Network, seed: int = 0) -> ModelProto:
    """The network in float32 on one sample; weights are made here, from `seed`, scaled by their fan-in.

    Relu follows every convolution but depthwise ones and the last layer; a pool of the whole map is an average, others
    are maxima.  Raises `TilewrightError` for networks with layers that use others' results as weights (attention).
    """
    return _Model(network, np.random.default_rng(seed)).make()


def resized(model: ModelProto, size: int) -> ModelProto:
    """The network on images of `size` squared; a pool of the whole map stays one."""
    result = ModelProto()
    result.CopyFrom(model)
    for given in result.graph.input:
        for dim in given.type.tensor_type.shape.dim[2:]:
            dim.dim_value = size
    for made in result.graph.output:
        made.type.tensor_type.ClearField("shape")
    result = shape_inference.infer_shapes(result)
    del result.graph.value_info[:]
    return result


class _Model:
    def __init__(self, network: Network, rng: np.random.Generator) -> None:
        self.network, self.rng = network, rng
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self.concatenations: dict[tuple[str, ...], str] = {}

    def make(self) -> ModelProto:
        """Nodes, weights, and the model around them."""
        for number, layer in enumerate(self.network.layers):
            self._layer(number, layer)
        last = self.network.layers[-1]
        inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, *s]) for n, s in self.network.inputs]
        output = helper.make_tensor_value_info(last.name, TensorProto.FLOAT, [1, *last.shape])
        graph = helper.make_graph(self.nodes, self.network.name, inputs, [output], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="tilewright")
        model.ir_version = 8
        return model

    def _node(self, op: str, inputs: list[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def _sources(self, layer: Layer) -> list[str]:
        layers = [self.network.layers[number].name for number in layer.inputs]
        return [*layers, *(self.network.inputs[number][0] for number in layer.external)]

    def _source(self, names: list[str]) -> str:
        """One value, or the concatenation of several along channels."""
        if len(names) == 1:
            return names[0]
        key = tuple(names)
        if key not in self.concatenations:
            self.concatenations[key] = self._node("Concat", names, f"concat{len(self.concatenations)}", axis=1)
        return self.concatenations[key]

    def _layer(self, number: int, layer: Layer) -> None:
        sources = self._sources(layer)
        if layer.weights_from or layer.kind not in ("conv", "group_conv", "fc", "pool", "eltwise"):
            expected = "convolutions, pools and sums"
            raise TilewrightError("unsupported", f"{self.network.name}, layer {layer.name}", expected, layer.kind)
        match layer.kind:
            case "eltwise":
                self._sum(number, layer, sources)
            case "pool":
                self._pool(number, layer, self._source(sources))
            case _:
                self._conv(number, layer, self._source(sources))

    def _sum(self, number: int, layer: Layer, sources: list[str]) -> None:
        """Equal parts of the concatenation, added up."""
        shapes = [self.network.layers[i].shape for i in layer.inputs] + [
            self.network.inputs[i][1] for i in layer.external
        ]
        parts: list[str] = []
        waiting: list[str] = []
        channels = 0
        for name, shape in zip(sources, shapes, strict=True):
            waiting.append(name)
            channels += shape.channels
            if channels == layer.shape.channels:
                parts.append(self._source(waiting))
                waiting, channels = [], 0
        if waiting or len(parts) != layer.operands:
            raise TilewrightError("network", layer.name, "sources that make up whole operands", str(sources))
        total = parts[0]
        for place, part in enumerate(parts[1:], 2):
            name = layer.name if place == len(parts) else f"{layer.name}.{place}"
            total = self._node("Add", [total, part], name)

    def _pool(self, number: int, layer: Layer, source: str) -> None:
        given = self.network.input_shapes[number]
        if layer.kernel == (given.height, given.width) and layer.shape[1:] == (1, 1):
            self._node("GlobalAveragePool", [source], layer.name)
        else:
            self._node("MaxPool", [source], layer.name, **self._window(number, layer))

    def _conv(self, number: int, layer: Layer, source: str) -> None:
        reduced, _ = self.network.group_shape(number)
        shape = (layer.shape.channels, reduced, *layer.kernel)
        fan_in = reduced * layer.kernel[0] * layer.kernel[1]
        values = self.rng.standard_normal(shape, np.float32) * np.float32((2.0 / fan_in) ** 0.5)
        self.weights.append(numpy_helper.from_array(values, f"{layer.name}.w"))
        plain = layer.kind == "group_conv" or number == len(self.network.layers) - 1
        name = layer.name if plain else f"{layer.name}.conv"
        window = self._window(number, layer)
        self._node("Conv", [source, f"{layer.name}.w"], name, group=layer.groups, **window)
        if not plain:
            self._node("Relu", [name], layer.name)

    def _window(self, number: int, layer: Layer) -> dict[str, list[int]]:
        given, before = self.network.input_shapes[number], self.network.padding(number)
        needed = [
            (made - 1) * stride + kernel - extent
            for made, stride, kernel, extent in zip(layer.shape[1:], layer.stride, layer.kernel, given[1:], strict=True)
        ]
        after = [max(0, need - pad) for need, pad in zip(needed, before, strict=True)]
        return {"kernel_shape": list(layer.kernel), "strides": list(layer.stride), "pads": [*before, *after]}
