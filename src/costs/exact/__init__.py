"""The cost model without simplifications: what a mapped loop nest really moves, takes and costs.

Imperfect factors, sliding windows counted element by element, words of different widths, draining and filling: see
docs/cost-model.md for the definition and for each difference from Timeloop's model.
"""

from .axes import axes_of
from .batch import BatchTotals, price_batch
from .model import ExactPrices, TensorTotals, dram_bits, dram_bytes, evaluate
from .validity import violations_of

__all__ = [
    "BatchTotals",
    "ExactPrices",
    "TensorTotals",
    "axes_of",
    "dram_bits",
    "dram_bytes",
    "evaluate",
    "price_batch",
    "violations_of",
]
