"""The cost model of `timeloop-model`, quirks included: counts, cycles and energy of a mapped loop nest.

The tool: A. Parashar et al., "Timeloop: A Systematic Approach to DNN Accelerator Evaluation", ISPASS 2019, version
4cf6d4c of March 2025.  Covered: dense tensors, perfectly factorised mappings, one chain of storage levels.
"""

from .batch import MappingBatch, pack
from .batch_model import BatchPrices, price_batch
from .mapping_json import mapping_as_json, parse_mapping
from .model import evaluate
from .parse import parse_architecture, parse_problem
from .price import price_file
from .report import LevelReport, NetworkReport, Prices, TensorReport, Violation
from .values import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor

__all__ = [
    "Architecture",
    "BatchPrices",
    "Level",
    "LevelMapping",
    "LevelReport",
    "Loop",
    "LoopMapping",
    "MappingBatch",
    "NetworkReport",
    "Prices",
    "Problem",
    "Tensor",
    "TensorReport",
    "Violation",
    "evaluate",
    "mapping_as_json",
    "pack",
    "parse_architecture",
    "parse_mapping",
    "parse_problem",
    "price_batch",
    "price_file",
]
