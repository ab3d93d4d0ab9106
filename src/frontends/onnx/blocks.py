"""Products with weights of few bits whose blocks of rows have scales of their own."""

from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...dialects import graph
from ...dialects.types import shape_of
from .formulas import Formulas
from .load import Array


@dataclass(frozen=True)
class BlockedWeights:
    """Integers less their zero points `[rows, columns]`, and a scale for each `block` of rows of a column."""

    steps: Array
    scales: Array
    block: int

    @property
    def fits_bytes(self) -> bool:
        """Whether the integers are signed bytes."""
        most = np.abs(self.steps).max(initial=0)
        return bool(most <= np.iinfo(np.int8).max and np.all(self.steps == np.rint(self.steps)))


def blocked_product(make: Formulas, x: SSAValue, weights: BlockedWeights) -> SSAValue:
    """`x [..., rows]` (f32) by weights: a product for each row of blocks, times its scales, and their sum."""
    shape, (rows, columns), block = shape_of(x), weights.steps.shape, weights.block
    count, samples = len(weights.scales), prod(shape[:-1])
    flat = make.pad(make.reshape(x, (samples, rows)), 1, 0, count * block - rows)
    blocks = make.transpose(make.reshape(flat, (samples, count, block)), [1, 0, 2])
    steps = np.pad(weights.steps, ((0, count * block - rows), (0, 0))).reshape(count, block, columns)
    factors = np.ascontiguousarray(weights.scales.reshape(count, 1, columns), np.float32)
    if weights.fits_bytes:
        one = make.constant(np.ones((), np.float32))
        whole = make.scope.emit(graph.DequantizeOp(make.constant(steps.astype(np.int8)), one))
        products = make.mul(make.matmul(blocks, whole), make.constant(factors))
    else:
        products = make.matmul(blocks, make.constant(steps * factors))
    return make.reshape(make.reduce("sum", products, [0]), (*shape[:-1], columns))
