"""Image networks with more weights in a layer than an edge accelerator's buffer holds."""

from __future__ import annotations

from .layers import Layer, Network, Shape


class _Table:
    """Layers in order; -1 stands for the network's input."""

    def __init__(self, given: Shape) -> None:
        self.given = given
        self.layers: list[Layer] = []

    def shape(self, source: int) -> Shape:
        return self.given if source < 0 else self.layers[source].shape

    def _add(self, layer: Layer) -> int:
        self.layers.append(layer)
        return len(self.layers) - 1

    def conv(self, name: str, sources: tuple[int, ...], channels: int, kernel: int = 3) -> int:
        """A convolution of the concatenation of `sources`, padded to keep the size."""
        shape = self.shape(sources[0])._replace(channels=channels)
        inputs, external = tuple(source for source in sources if source >= 0), (0,) if -1 in sources else ()
        return self._add(Layer(name, "conv", shape, inputs, external, kernel=(kernel, kernel)))

    def halved(self, name: str, source: int) -> int:
        """Maxima of 2x2 pixels."""
        channels, height, width = self.shape(source)
        shape = Shape(channels, height // 2, width // 2)
        return self._add(Layer(name, "pool", shape, (source,), kernel=(2, 2), stride=(2, 2)))

    def doubled(self, name: str, source: int) -> int:
        """Each pixel four times."""
        channels, height, width = self.shape(source)
        return self._add(Layer(name, "upsample", Shape(channels, 2 * height, 2 * width), (source,)))

    def dense(self, name: str, source: int, channels: int) -> int:
        """All pixels and channels to `channels` values."""
        _, height, width = self.shape(source)
        return self._add(Layer(name, "fc", Shape(channels, 1, 1), (source,), kernel=(height, width)))

    def network(self, name: str) -> Network:
        """What has been added."""
        return Network(name, (("image", self.given),), tuple(self.layers))


def vgg19() -> Network:
    """Configuration E of Simonyan and Zisserman (2015), table 1, with its fully connected layers, 224x224 images."""
    table = _Table(Shape(3, 224, 224))
    x = -1
    for stage, (count, channels) in enumerate(((2, 64), (2, 128), (4, 256), (4, 512), (4, 512)), 1):
        for index in range(1, count + 1):
            x = table.conv(f"conv{stage}_{index}", (x,), channels)
        x = table.halved(f"pool{stage}", x)
    for index, channels in ((6, 4096), (7, 4096), (8, 1000)):
        x = table.dense(f"fc{index}", x, channels)
    return table.network("vgg19")


def unet() -> Network:
    """Ronneberger et al. (2015), figure 1, on 512x512 images with padded convolutions; 2x2 ones after repeated pixels
    bring a level up.
    """
    table = _Table(Shape(1, 512, 512))
    x, kept = -1, list[int]()
    for level, channels in enumerate((64, 128, 256, 512), 1):
        x = table.conv(f"down{level}_b", (table.conv(f"down{level}_a", (x,), channels),), channels)
        kept.append(x)
        x = table.halved(f"pool{level}", x)
    x = table.conv("bottom_b", (table.conv("bottom_a", (x,), 1024),), 1024)
    for level, channels in ((4, 512), (3, 256), (2, 128), (1, 64)):
        x = table.conv(f"up{level}_half", (table.doubled(f"up{level}", x),), channels, 2)
        x = table.conv(f"up{level}_a", (kept[level - 1], x), channels)
        x = table.conv(f"up{level}_b", (x,), channels)
    table.conv("classes", (x,), 2, 1)
    return table.network("unet")
