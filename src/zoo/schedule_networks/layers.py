"""Networks as layer tables: what a scheduler of tiles and DRAM transfers must know of each layer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

from ...algebra.dag import Dag
from ...errors import TilewrightError

Kind = Literal["conv", "group_conv", "fc", "pool", "eltwise", "pointwise", "transpose", "upsample", "rearrange"]

KINDS: tuple[Kind, ...] = get_args(Kind)

MAC_KINDS = ("conv", "group_conv", "fc")
"""Kinds that multiply by weights; all others run on the vector unit."""


class Shape(NamedTuple):
    """A feature map of one sample, in elements."""

    channels: int
    height: int
    width: int

    @property
    def volume(self) -> int:
        """Elements."""
        return self.channels * self.height * self.width


@dataclass(frozen=True)
class Layer:
    """A layer; elements are one byte.

    `inputs` are the layers and `external` the network inputs whose feature maps, concatenated along channels, it reads;
    `weights_from` are layers whose feature map it uses as weights (attention).  `kernel` and `stride` are (height,
    width).  `operands` counts the equal parts of the concatenation that an `eltwise` layer combines.  A `transpose`
    puts axis `permutation[i]` (of channels, height, width) at axis i; an `upsample` repeats each pixel so often that
    its map has the size of `shape`; a `rearrange` reads all of its input for any part of its map, `kernel` places for
    each element.
    """

    name: str
    kind: Kind
    shape: Shape
    inputs: tuple[int, ...] = ()
    external: tuple[int, ...] = ()
    weights_from: tuple[int, ...] = ()
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    groups: int = 1
    operands: int = 1
    permutation: tuple[int, int, int] = (0, 1, 2)

    @property
    def producers(self) -> tuple[int, ...]:
        """The layers whose results it reads, ascending."""
        return tuple(sorted({*self.inputs, *self.weights_from}))

    @property
    def has_macs(self) -> bool:
        """Whether it runs on the multiply-accumulate array."""
        return self.kind in MAC_KINDS


@dataclass(frozen=True)
class Network:
    """`layers` in a topological order; a layer's number is its place.  `inputs` are (name, shape) pairs."""

    name: str
    inputs: tuple[tuple[str, Shape], ...]
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        for number, layer in enumerate(self.layers):
            self._check(number, layer)

    @cached_property
    def dag(self) -> Dag:
        """Which layer reads which."""
        return Dag(tuple(layer.producers for layer in self.layers))

    @property
    def consumers(self) -> tuple[tuple[int, ...], ...]:
        """For each layer those that read its result, ascending."""
        return self.dag.consumers

    @cached_property
    def input_shapes(self) -> tuple[Shape, ...]:
        """For each layer the concatenation of what it reads (one operand of it for `eltwise`), without padding."""
        return tuple(self._input_shape(layer) for layer in self.layers)

    def padding(self, number: int) -> tuple[int, int]:
        """Rows above and columns left of the input of layer `number` that its windows reach beyond."""
        layer, given = self.layers[number], self.input_shapes[number]
        rows = (layer.shape.height - 1) * layer.stride[0] + layer.kernel[0] - given.height
        columns = (layer.shape.width - 1) * layer.stride[1] + layer.kernel[1] - given.width
        return max(0, rows) // 2, max(0, columns) // 2

    def group_shape(self, number: int) -> tuple[int, int]:
        """Channels read and channels written by one group of layer `number`."""
        layer = self.layers[number]
        return self.input_shapes[number].channels // layer.groups, layer.shape.channels // layer.groups

    def weight_bytes(self, number: int) -> int:
        """Weights of layer `number` that DRAM holds: 0 for vector layers and where a layer makes them."""
        layer = self.layers[number]
        if not layer.has_macs or layer.weights_from:
            return 0
        return self.input_shapes[number].channels * self.group_shape(number)[1] * layer.kernel[0] * layer.kernel[1]

    def map_shape(self, source: int) -> Shape:
        """The map of a layer, or of a network input: -1 is the first, -2 the second."""
        return self.layers[source].shape if source >= 0 else self.inputs[-1 - source][1]

    def sources(self, layer: Layer) -> list[Shape]:
        """The feature maps that a layer of this network reads."""
        return [self.layers[i].shape for i in layer.inputs] + [self.inputs[i][1] for i in layer.external]

    def _input_shape(self, layer: Layer) -> Shape:
        sources = self.sources(layer)
        channels = sum(source.channels for source in sources)
        return Shape(channels // layer.operands, sources[0].height, sources[0].width)

    def _check(self, number: int, layer: Layer) -> None:
        where = f"layer {number} ({layer.name}) of {self.name}"

        def refuse(expected: str, found: object) -> TilewrightError:
            return TilewrightError("network", where, expected, str(found))

        if layer.kind not in KINDS:
            raise refuse(f"a kind of {', '.join(KINDS)}", layer.kind)
        if any(not 0 <= i < number for i in layer.producers):
            raise refuse("producers among the layers before it", layer.producers)
        if any(not 0 <= i < len(self.inputs) for i in layer.external) or not (layer.inputs or layer.external):
            raise refuse("a producer or a network input", layer.external)
        if min(*layer.shape, *layer.kernel, *layer.stride, layer.groups, layer.operands) < 1:
            raise refuse("positive sizes", layer)
        if len({source[1:] for source in self.sources(layer)}) > 1:
            raise refuse("inputs of one height and width", self.sources(layer))
        channels = self._input_shape(layer).channels
        if layer.shape.channels % layer.groups or channels % layer.groups:
            raise refuse(f"channels that {layer.groups} groups divide", (channels, layer.shape.channels))
        given = self._input_shape(layer)
        if layer.kind == "upsample" and (layer.shape.height % given.height or layer.shape.width % given.width):
            raise refuse("a map that whole repetitions of pixels fill", (given, layer.shape))
        if sorted(layer.permutation) != [0, 1, 2]:
            raise refuse("a permutation of channels, height, width", layer.permutation)


Sources = int | Sequence[int]

INPUT = -1
"""The number that stands for the network's first input; further ones are -2, -3 and so on."""


class Table:
    """Layers so far; every method adds one and gives its number.  Several sources are concatenated along channels."""

    def __init__(self, name: str, shape: tuple[int, int, int], given: str = "input") -> None:
        self.name = name
        self.inputs = [(given, Shape(*shape))]
        self.layers: list[Layer] = []

    def network(self) -> Network:
        """The finished table."""
        return Network(self.name, tuple(self.inputs), tuple(self.layers))

    def input(self, name: str, shape: tuple[int, int, int]) -> int:
        """One more input of the network."""
        self.inputs.append((name, Shape(*shape)))
        return -len(self.inputs)

    def shape(self, sources: Sources) -> Shape:
        """The concatenation of `sources`."""
        shapes = [self.layers[i].shape if i >= 0 else self.inputs[-1 - i][1] for i in _numbers(sources)]
        return Shape(sum(shape.channels for shape in shapes), shapes[0].height, shapes[0].width)

    def conv(self, name: str, sources: Sources, channels: int, kernel: int = 1, stride: int = 1) -> int:
        """Convolution, padded so that the extents are divided by `stride`, rounded up."""
        return self._window(name, "conv", sources, channels, kernel, stride)

    def depthwise(self, name: str, sources: Sources, kernel: int, stride: int = 1) -> int:
        """Convolution of each channel alone."""
        channels = self.shape(sources).channels
        return self._window(name, "group_conv", sources, channels, kernel, stride, groups=channels)

    def separable(self, name: str, sources: Sources, channels: int, kernel: int, stride: int = 1) -> int:
        """A depthwise convolution, then one of 1x1."""
        return self.conv(f"{name}_point", self.depthwise(f"{name}_depth", sources, kernel, stride), channels)

    def pool(self, name: str, sources: Sources, kernel: int, stride: int) -> int:
        """Pooling, padded as `conv`."""
        return self._window(name, "pool", sources, self.shape(sources).channels, kernel, stride)

    def global_pool(self, name: str, sources: Sources) -> int:
        """Pooling of the whole map."""
        shape = self.shape(sources)
        return self._window(name, "pool", sources, shape.channels, shape.height, shape.height)

    def add(self, name: str, sources: Sequence[int], operands: int | None = None) -> int:
        """Elementwise sum of `operands` equal parts of the concatenation (default: of each source)."""
        total, operands = self.shape(sources), operands or len(sources)
        shape = Shape(total.channels // operands, total.height, total.width)
        return self.layer(name, "eltwise", shape, sources, operands=operands)

    def pointwise(self, name: str, sources: Sources) -> int:
        """A function of each element, or of each row (softmax, normalisation)."""
        return self.layer(name, "pointwise", self.shape(sources), sources)

    def upsample(self, name: str, sources: Sources, times: int) -> int:
        """Each pixel `times` squared times."""
        channels, height, width = self.shape(sources)
        return self.layer(name, "upsample", Shape(channels, times * height, times * width), sources)

    def transpose(self, name: str, sources: Sources) -> int:
        """Channels and rows change places."""
        channels, height, width = self.shape(sources)
        return self.layer(name, "transpose", Shape(height, channels, width), sources, permutation=(1, 0, 2))

    def fc(self, name: str, sources: Sources, channels: int) -> int:
        """Fully connected: a convolution whose kernel is the whole map."""
        shape = self.shape(sources)
        return self.layer(name, "fc", Shape(channels, 1, 1), sources, kernel=(shape.height, shape.width))

    def product(self, name: str, sources: Sources, weights: int, channels: int, heads: int = 1) -> int:
        """A matrix product, in each of `heads` groups of channels, with what layer `weights` makes as weights."""
        shape, kind = Shape(channels, self.shape(sources).height, 1), "conv" if heads == 1 else "group_conv"
        return self.layer(name, kind, shape, sources, weights_from=(weights,), groups=heads)

    def layer(
        self,
        name: str,
        kind: Kind,
        shape: Shape,
        sources: Sources,
        *,
        kernel: tuple[int, int] = (1, 1),
        stride: tuple[int, int] = (1, 1),
        groups: int = 1,
        operands: int = 1,
        weights_from: tuple[int, ...] = (),
        permutation: tuple[int, int, int] = (0, 1, 2),
    ) -> int:
        """Any layer."""
        numbers = _numbers(sources)
        self.layers.append(
            Layer(
                name,
                kind,
                shape,
                tuple(i for i in numbers if i >= 0),
                tuple(-1 - i for i in numbers if i < 0),
                weights_from,
                kernel,
                stride,
                groups,
                operands,
                permutation,
            )
        )
        return len(self.layers) - 1

    def _window(
        self, name: str, kind: Kind, sources: Sources, channels: int, kernel: int, stride: int, groups: int = 1
    ) -> int:
        given = self.shape(sources)
        shape = Shape(channels, -(-given.height // stride), -(-given.width // stride))
        return self.layer(name, kind, shape, sources, kernel=(kernel, kernel), stride=(stride, stride), groups=groups)


def _numbers(sources: Sources) -> tuple[int, ...]:
    return (sources,) if isinstance(sources, int) else tuple(sources)
