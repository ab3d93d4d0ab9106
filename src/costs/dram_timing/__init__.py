"""When bursts move between a DRAM and its bus: command by command, and in closed form for regular streams."""

from .serve import Dram, DramCounts
from .streams import mixed_share, random_share, sequential_share, strided_share, unbroken_ticks

__all__ = ["Dram", "DramCounts", "mixed_share", "random_share", "sequential_share", "strided_share", "unbroken_ticks"]
