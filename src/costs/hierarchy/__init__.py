"""A perfectly general loop nest on a memory hierarchy as plain data: machines, problems and mappings, single or many.

What every cost model prices and every mapper returns.
"""

from .batch import MappingBatch, pack
from .of_machine import architecture_of
from .parse import mapping_as_json, parse_architecture, parse_mapping, parse_problem
from .values import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor

__all__ = [
    "Architecture",
    "Level",
    "LevelMapping",
    "Loop",
    "LoopMapping",
    "MappingBatch",
    "Problem",
    "Tensor",
    "architecture_of",
    "mapping_as_json",
    "pack",
    "parse_architecture",
    "parse_mapping",
    "parse_problem",
]
