"""The cost model of `timeloop-model`, quirks included: counts, cycles and energy of a mapped loop nest.

The tool: A. Parashar et al., "Timeloop: A Systematic Approach to DNN Accelerator Evaluation", ISPASS 2019, version
4cf6d4c of March 2025.  Covered: dense tensors, perfectly factorised mappings, one chain of storage levels.
"""

from .batch_model import price_batch
from .model import evaluate, violations_of
from .report import Prices, TensorReport

__all__ = ["Prices", "TensorReport", "evaluate", "price_batch", "violations_of"]
