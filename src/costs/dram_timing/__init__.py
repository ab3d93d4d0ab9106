"""When bursts move between a DRAM and its bus, command by command."""

from .serve import Dram, DramCounts

__all__ = ["Dram", "DramCounts"]
