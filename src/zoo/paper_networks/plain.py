"""VGG16 and ResNet: chains of convolutions, with shortcuts or without."""

from __future__ import annotations

from ..schedule_networks.layers import Network
from .table import INPUT, Table


def vgg16() -> Network:
    """Configuration D of Simonyan and Zisserman (2015), table 1, on 224x224 images."""
    table = Table("vgg16", (3, 224, 224))
    x = INPUT
    for stage, (count, channels) in enumerate(((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)), 1):
        for index in range(1, count + 1):
            x = table.conv(f"conv{stage}_{index}", x, channels, 3)
        x = table.pool(f"pool{stage}", x, 2, 2)
    for index, channels in ((6, 4096), (7, 4096), (8, 1000)):
        x = table.fc(f"fc{index}", x, channels)
    return table.network()


def resnet(name: str, blocks: tuple[int, int, int, int]) -> Network:
    """He et al. (2016), table 1, bottlenecks with the stride on the first 1x1 convolution, on 224x224 images."""
    table = Table(name, (3, 224, 224))
    x = table.pool("pool1", table.conv("conv1", INPUT, 64, 7, 2), 3, 2)
    for stage, count in enumerate(blocks, 2):
        width = 32 << (stage - 1)
        for block in range(count):
            stride = 2 if stage > 2 and block == 0 else 1
            y = table.conv(f"conv_{stage}_{block}_a", x, width, 1, stride)
            y = table.conv(f"conv_{stage}_{block}_b", y, width, 3)
            y = table.conv(f"conv_{stage}_{block}_c", y, 4 * width)
            parts = [x, y] if block else [y, table.conv(f"conv_{stage}_br", x, 4 * width, 1, stride)]
            x = table.add(f"conv_{stage}_{block}_res", parts)
    table.fc("fc", table.global_pool("pool5", x), 1000)
    return table.network()


def resnet152() -> Network:
    """He et al. (2016), table 1, column 152."""
    return resnet("resnet152", (3, 8, 36, 3))
