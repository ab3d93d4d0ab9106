"""A layer table that is written layer by layer, with the usual "same" arithmetic of shapes."""

from __future__ import annotations

from collections.abc import Sequence

from .layers import Kind, Layer, Network, Shape

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
