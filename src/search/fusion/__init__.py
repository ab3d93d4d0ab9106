"""Which layers run together: partitions of layer graphs, by the methods of Cocco's evaluation and by our own.

Z. Tan, Z. Zhu and K. Ma, "Cocco: Hardware-Mapping Co-Exploration towards Memory Capacity-Communication Optimization",
ASPLOS 2024, section 4.
"""

from .explore import EXPLORERS, ExploreOptions, explore
from .floors import Scene
from .result import ExploreResult, PartitionResult
from .run import CONSTRUCTED, METHODS, SAMPLES, SEEDED, PartitionOptions, partition
from .space import Space

__all__ = [
    "CONSTRUCTED",
    "EXPLORERS",
    "METHODS",
    "SAMPLES",
    "SEEDED",
    "ExploreOptions",
    "ExploreResult",
    "PartitionOptions",
    "PartitionResult",
    "Scene",
    "Space",
    "explore",
    "partition",
]
