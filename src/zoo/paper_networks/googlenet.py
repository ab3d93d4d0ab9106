"""GoogLeNet: inception modules of four branches."""

from __future__ import annotations

from ..schedule_networks.layers import Network
from ..schedule_networks.table import INPUT, Table

MODULES = (
    ("3a", (64, 96, 128, 16, 32, 32)),
    ("3b", (128, 128, 192, 32, 96, 64)),
    ("4a", (192, 96, 208, 16, 48, 64)),
    ("4b", (160, 112, 224, 24, 64, 64)),
    ("4c", (128, 128, 256, 24, 64, 64)),
    ("4d", (112, 144, 288, 32, 64, 64)),
    ("4e", (256, 160, 320, 32, 128, 128)),
    ("5a", (256, 160, 320, 32, 128, 128)),
    ("5b", (384, 192, 384, 48, 128, 128)),
)
"""Channels of 1x1; 3x3 reduce, 3x3; 5x5 reduce, 5x5; pool projection (Szegedy et al. 2015, table 1)."""


def googlenet(size: int = 224) -> Network:
    """Szegedy et al. (2015), table 1, on `size` x `size` images; without the training heads and the response norms."""
    table = Table("googlenet", (3, size, size))
    x = table.pool("pool1", table.conv("conv1", INPUT, 64, 7, 2), 3, 2)
    x = table.conv("conv2", table.conv("conv2_reduce", x, 64), 192, 3)
    y = (table.pool("pool2", x, 3, 2),)
    for name, channels in MODULES:
        if name in ("4a", "5a"):
            y = (table.pool(f"pool{'3' if name == '4a' else '4'}", y, 3, 2),)
        y = _module(table, f"inception_{name}", y, channels)
    table.fc("fc", table.global_pool("pool5", y), 1000)
    return table.network()


def _module(
    table: Table, name: str, x: tuple[int, ...], channels: tuple[int, int, int, int, int, int]
) -> tuple[int, ...]:
    one = table.conv(f"{name}_1x1", x, channels[0])
    three = table.conv(f"{name}_3x3", table.conv(f"{name}_3x3_reduce", x, channels[1]), channels[2], 3)
    five = table.conv(f"{name}_5x5", table.conv(f"{name}_5x5_reduce", x, channels[3]), channels[4], 5)
    pool = table.conv(f"{name}_proj", table.pool(f"{name}_pool", x, 3, 1), channels[5])
    return one, three, five, pool
