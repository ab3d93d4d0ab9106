"""Random small networks with branches, as ONNX models."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Array = NDArray[Any]

LAYERS = 9
UNARY = ("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "Erf", "Identity")
FLOAT = ("conv", "conv", "depthwise", "pool", "unary", "binary", "concat", "scale", "slice", "pad", "resize", "softmax")
INTEGER = ("conv", "conv", "depthwise", "relu", "max_pool", "average", "binary", "concat", "shuffle")
HOSTILE = ("conv", "depthwise", "depthwise", "grouped", "max_pool", "average", "binary", "concat")


class Network:
    """Grows a network one random layer at a time; keeps the shape of every value."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[NodeProto] = []
        self.tensors: list[TensorProto] = []
        self.shapes: dict[str, tuple[int, ...]] = {"x": (1, self.number(3, 8), self.number(7, 16), self.number(7, 16))}

    def number(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def tensor(self, array: Array) -> str:
        name = f"w{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(array, name))
        return name

    def normal(self, *shape: int) -> str:
        fan_in = int(np.prod(shape[1:]))
        return self.tensor(self.rng.standard_normal(shape, np.float32) / np.float32(max(1, fan_in) ** 0.5))

    def layer(self, op: str, inputs: list[str], shape: tuple[int, ...], **attributes: Any) -> None:
        name = f"y{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        self.shapes[name] = shape

    def grow(self, kind: str) -> None:
        """Add a layer of this kind to a value that is among the last made."""
        recent = list(self.shapes)[-3:]
        x = recent[self.number(0, len(recent) - 1)]
        getattr(self, f"add_{kind}")(x, *self.shapes[x])

    def add_conv(self, x: str, n: int, c: int, h: int, w: int) -> None:
        self.convolve(x, (n, c, h, w), self.number(1, 12), 1)

    def add_depthwise(self, x: str, n: int, c: int, h: int, w: int) -> None:
        self.convolve(x, (n, c, h, w), c * self.number(1, 2), c)

    def convolve(self, x: str, shape: tuple[int, ...], channels: int, group: int) -> None:
        n, c, h, w = shape
        kernel = self.number(1, min(4, h, w))
        stride, pad = self.number(1, 2), self.number(0, kernel - 1)
        inputs = [x, self.normal(channels, c // group, kernel, kernel)]
        if self.number(0, 1):
            inputs.append(self.normal(channels))
        extents = [(e + 2 * pad - kernel) // stride + 1 for e in (h, w)]
        attributes = {"strides": [stride] * 2, "pads": [pad] * 4, "group": group}
        self.layer("Conv", inputs, (n, channels, *extents), **attributes)

    def add_pool(self, x: str, n: int, c: int, h: int, w: int) -> None:
        self.pool(("MaxPool", "AveragePool")[self.number(0, 1)], x, (n, c, h, w))

    def add_max_pool(self, x: str, n: int, c: int, h: int, w: int) -> None:
        self.pool("MaxPool", x, (n, c, h, w))

    def pool(self, op: str, x: str, shape: tuple[int, ...]) -> None:
        kernel = self.number(1, min(3, *shape[2:]))
        stride, pad = self.number(1, 2), self.number(0, kernel // 2)
        extents = [(e + 2 * pad - kernel) // stride + 1 for e in shape[2:]]
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        self.layer(op, [x], (*shape[:2], *extents), **attributes)

    def add_average(self, x: str, n: int, c: int, h: int, w: int) -> None:
        self.layer("GlobalAveragePool", [x], (n, c, 1, 1))

    def add_relu(self, x: str, *shape: int) -> None:
        self.layer("Relu", [x], shape)

    def add_unary(self, x: str, *shape: int) -> None:
        self.layer(UNARY[self.number(0, len(UNARY) - 1)], [x], shape)

    def add_binary(self, x: str, *shape: int) -> None:
        same = [name for name, other in self.shapes.items() if other == shape]
        self.layer("Add", [x, same[self.number(0, len(same) - 1)]], shape)

    def add_concat(self, x: str, n: int, c: int, h: int, w: int) -> None:
        fits = [name for name, other in self.shapes.items() if other[2:] == (h, w)]
        other = fits[self.number(0, len(fits) - 1)]
        self.layer("Concat", [x, other], (n, c + self.shapes[other][1], h, w), axis=1)

    def add_scale(self, x: str, n: int, c: int, h: int, w: int) -> None:
        self.layer(("Mul", "Sub", "Max")[self.number(0, 2)], [x, self.normal(c, 1, 1)], (n, c, h, w))

    def add_slice(self, x: str, n: int, c: int, h: int, w: int) -> None:
        start, step = self.number(0, h - 1), self.number(1, 2)
        values = [self.tensor(np.array([v], np.int64)) for v in (start, h, 2, step)]
        self.layer("Slice", [x, *values], (n, c, -(-(h - start) // step), w))

    def add_pad(self, x: str, n: int, c: int, h: int, w: int) -> None:
        top, left = self.number(0, 2), self.number(0, 2)
        amounts = self.tensor(np.array([0, 0, top, left, 0, 0, 1, 0], np.int64))
        self.layer("Pad", [x, amounts], (n, c, h + top + 1, w + left), mode=("constant", "edge")[self.number(0, 1)])

    def add_resize(self, x: str, n: int, c: int, h: int, w: int) -> None:
        scales = self.tensor(np.array([1, 1, 2, 1], np.float32))
        self.layer("Resize", [x, "", scales], (n, c, 2 * h, w), coordinate_transformation_mode="asymmetric")

    def add_softmax(self, x: str, *shape: int) -> None:
        self.layer("Softmax", [x], shape, axis=self.number(1, 3))

    def add_shuffle(self, x: str, n: int, c: int, h: int, w: int) -> None:
        self.layer("Transpose", [x], (n, c, w, h), perm=[0, 1, 3, 2])

    def model(self) -> ModelProto:
        """The network so far; what nobody reads is an output."""
        read = {name for node in self.nodes for name in node.input}
        ends = [name for name in self.shapes if name not in read and name != "x"]
        info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shapes[name]) for name in ("x", *ends)]
        graph = helper.make_graph(self.nodes, "random", info[:1], info[1:], self.tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        model.ir_version = 8
        return model


class Hostile(Network):
    """Few channels and pixels, windows larger than their map, strides and padding of each axis by itself, groups."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.shapes = {"x": (1, self.one_of(1, 1, 2, 3, 6), self.one_of(1, 2, 5, 9), self.one_of(1, 1, 3, 7, 12))}

    def one_of(self, *numbers: int) -> int:
        return numbers[self.number(0, len(numbers) - 1)]

    def add_grouped(self, x: str, n: int, c: int, h: int, w: int) -> None:
        group = self.one_of(*(count for count in range(1, c + 1) if c % count == 0))
        self.convolve(x, (n, c, h, w), group * self.number(1, 3), group)

    def convolve(self, x: str, shape: tuple[int, ...], channels: int, group: int) -> None:
        n, c, h, w = shape
        inputs = [x, ""]
        window = self.window(h, w, 4, dilations=(1, 1, 2))
        kernel = window["kernel_shape"]
        inputs[1] = self.normal(channels, c // group, *kernel)
        if self.number(0, 1):
            inputs.append(self.normal(channels))
        self.layer("Conv", inputs, (n, channels, *self.extents((h, w), window)), **window, group=group)

    def pool(self, op: str, x: str, shape: tuple[int, ...]) -> None:
        window = self.window(shape[2], shape[3], 1)
        self.layer(op, [x], (*shape[:2], *self.extents(shape[2:], window)), **window)

    def window(self, h: int, w: int, more: int, dilations: tuple[int, ...] = (1,)) -> dict[str, list[int]]:
        """Attributes of windows, padded as far as they need it to fit; pads are less than kernels."""
        kernel, dilation = [self.one_of(1, 2, 3, 3, 5, 7) for _ in "hw"], [self.one_of(*dilations) for _ in "hw"]
        pads = [[self.number(0, min(more, k - 1)), self.number(0, min(more, k - 1))] for k in kernel]
        for axis, extent in enumerate((h, w)):
            if extent + sum(pads[axis]) < dilation[axis] * (kernel[axis] - 1) + 1:
                kernel[axis] = min(kernel[axis], 1 + (extent - 1) // dilation[axis])
                pads[axis] = [min(pad, kernel[axis] - 1) for pad in pads[axis]]
        found = {"kernel_shape": kernel, "strides": [self.one_of(1, 1, 2, 3, 5) for _ in "hw"]}
        found["pads"] = [pads[0][0], pads[1][0], pads[0][1], pads[1][1]]
        return found | ({"dilations": dilation} if len(dilations) > 1 else {})

    def extents(self, given: tuple[int, ...], window: dict[str, list[int]]) -> list[int]:
        """Rows and columns of the results."""
        found: list[int] = []
        for axis, extent in enumerate(given):
            reach = window.get("dilations", [1, 1])[axis] * (window["kernel_shape"][axis] - 1) + 1
            padded = extent + window["pads"][axis] + window["pads"][axis + 2]
            found.append((padded - reach) // window["strides"][axis] + 1)
        return found


def grown(seed: int, kinds: tuple[str, ...]) -> ModelProto:
    return _grown(Network(seed), LAYERS, kinds)


def hostile(seed: int, integers: bool) -> ModelProto:
    return _grown(Hostile(seed), 4, HOSTILE if integers else (*HOSTILE, "unary", "scale"))


def _grown(network: Network, layers: int, kinds: tuple[str, ...]) -> ModelProto:
    for _ in range(layers):
        network.grow(kinds[network.number(0, len(kinds) - 1)])
    return network.model()
