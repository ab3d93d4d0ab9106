"""The sixteen layers that Covenant is measured on (Kinzer et al., table 2), and small cuts of them.

Where the table contradicts itself or its networks, this holds: sixteen rows count (the introduction says fourteen).
MobileNetV3's CONV2 is dense, as the table's channels say, though the network's is depthwise.  ResNet50's FC1 has the
table's 512 inputs (the network has 2048).  ResNet50's CONV2 is the network's, 56x56 to 56x56 with stride 1: the table's
224 to 56 gives the image before the stem; read literally, stride 4 with padding 1, it is `resnet50_conv2_literal`.
Padding is that of the networks.  The attention products have 16 heads: ATN1 projects one input by 16 matrices, ATN2 and
ATN3 multiply activations with each other.
"""

from dataclasses import dataclass, replace

from ..errors import TilewrightError


@dataclass(frozen=True)
class Product:
    """`heads` products of `rows` x `depth` by `depth` x `columns`.

    `shared`: all heads have the same left side.  `activations`: the right side is no weight.
    """

    rows: int
    depth: int
    columns: int
    heads: int = 1
    shared: bool = False
    activations: bool = False

    @property
    def macs(self) -> int:
        """Multiplications."""
        return self.heads * self.rows * self.depth * self.columns

    def cut(self) -> "Product":
        """A small product with remainders against arrays of 4, 8, 16 and 64."""
        return replace(
            self,
            rows=min(self.rows, 18),
            depth=min(self.depth, 72),
            columns=min(self.columns, 38),
            heads=min(self.heads, 2),
        )

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Of the two factors."""
        if self.heads == 1:
            return (self.rows, self.depth), (self.depth, self.columns)
        left = (self.rows, self.depth) if self.shared else (self.heads, self.rows, self.depth)
        return left, (self.heads, self.depth, self.columns)


@dataclass(frozen=True)
class Convolution:
    """A square convolution of one image: `size` pixels a side, `taps` x `taps` weights, `pad` on every side."""

    size: int
    depth: int
    channels: int
    taps: int
    stride: int
    pad: int
    activations: bool = False

    @property
    def output(self) -> int:
        """Pixels a side of the result."""
        return (self.size + 2 * self.pad - self.taps) // self.stride + 1

    @property
    def macs(self) -> int:
        """Multiplications, those by padding counted."""
        return self.output**2 * self.channels * self.depth * self.taps**2

    def cut(self) -> "Convolution":
        """The corner of the image, and few channels."""
        size = self.taps + 9 * self.stride
        return replace(self, size=min(self.size, size), depth=min(self.depth, 18), channels=min(self.channels, 22))

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Of image (1, C, H, W) and weights (K, C, R, S)."""
        return (1, self.depth, self.size, self.size), (self.channels, self.depth, self.taps, self.taps)


Layer = Product | Convolution

LAYERS: dict[str, Layer] = {
    "bert_gemm1": Product(384, 1024, 4096),
    "bert_gemm2": Product(384, 4096, 1024),
    "bert_atn1": Product(384, 1024, 64, heads=16, shared=True),
    "bert_atn2": Product(384, 64, 384, heads=16, activations=True),
    "bert_atn3": Product(384, 384, 64, heads=16, activations=True),
    "bert_atn4": Product(384, 1024, 1024),
    "dlrm_fc1": Product(1, 745, 367),
    "dlrm_fc2": Product(1, 367, 512),
    "dlrm_fc3": Product(1, 512, 256),
    "dlrm_fc4": Product(1, 256, 1),
    "inceptionv3_fc1": Product(1, 2048, 1000),
    "mobilenetv3_conv1": Convolution(299, 3, 32, 3, 2, 0),
    "mobilenetv3_conv2": Convolution(112, 16, 64, 3, 1, 1),
    "resnet50_fc1": Product(1, 512, 1000),
    "resnet50_conv1": Convolution(224, 3, 64, 7, 2, 3),
    "resnet50_conv2": Convolution(56, 64, 64, 3, 1, 1),
}
"""Table 2, in its order."""

EXTRA: dict[str, Layer] = {"resnet50_conv2_literal": Convolution(224, 64, 64, 3, 4, 1)}

NETWORKS = ("covenant", "covenant_cut", "covenant_u8", "covenant_u8_cut", "covenant_f32", "covenant_f32_cut")
"""Prefixes of names that `frontends.layers` takes: type of the activations (i8 if not said), and whether it is cut."""


def covenant_layer(name: str) -> Layer:
    """The shape of `bert_gemm1`, ...; `TilewrightError` (kind `layer`) for another name."""
    found = LAYERS.get(name) or EXTRA.get(name)
    if found is None:
        raise TilewrightError("layer", name, f"one of {', '.join((*LAYERS, *EXTRA))}", "an unknown name")
    return found
