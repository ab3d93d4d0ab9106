"""Prices of a batch of mappings: the same numbers as `evaluate`, thousands of mappings at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...algebra.element import Bools, Floats, Ints
from ...errors import TilewrightError
from ..hierarchy.batch import MappingBatch, pack
from ..hierarchy.values import Architecture, LoopMapping, Problem
from .batch_arrays import model_of, moves_one_axis
from .model import evaluate

MAX_CHILDREN = 1 << 16
"""Children of one memory, in use in some mapping, with which compiled code has room."""

MAX_MACS = 1 << 46
"""Largest problem whose counts surely fit 64-bit integers."""


@dataclass(frozen=True)
class BatchPrices:
    """Prices of N mappings: `cycles`, `energy_pj` and `valid` (N,); words per instance by level and tensor (N, L, T).

    Counts of a tensor that a level does not keep are 0.
    """

    cycles: Ints
    energy_pj: Floats
    valid: Bools
    reads: Ints
    fills: Ints
    updates: Ints

    @property
    def edp_j_cycle(self) -> Floats:
        """Energy times delay, in joule cycles."""
        return self.energy_pj * 1e-12 * self.cycles


def price_batch(
    arch: Architecture, problem: Problem, mappings: MappingBatch | Sequence[LoopMapping], *, link_transfers: bool = True
) -> BatchPrices:
    """Price all `mappings` of `problem` on `arch`.

    Raises TilewrightError (kind `mapping`) where factors do not multiply to the bounds or nothing keeps a tensor.
    """
    batch = mappings if isinstance(mappings, MappingBatch) else pack(arch, problem, mappings)
    _check(arch, problem, batch)
    if problem.macs > MAX_MACS:
        raise TilewrightError("mapping", problem.name, f"at most {MAX_MACS} operations in a batch", str(problem.macs))
    most = (batch.spatial_x * batch.spatial_y).prod(axis=2).max(initial=1)
    return Workspace(arch, problem, int(most)).price(batch, links=link_transfers)


def _check(arch: Architecture, problem: Problem, batch: MappingBatch) -> None:
    if batch.temporal.shape[1:] != (len(arch.levels), len(problem.dims)):
        expected = f"factors of shape (N, {len(arch.levels)}, {len(problem.dims)})"
        raise TilewrightError("mapping", f"batch for {problem.name}", expected, str(batch.temporal.shape))
    products = (batch.temporal * batch.spatial_x * batch.spatial_y).prod(axis=1)
    wrong = (products != np.array(problem.bounds)).any(axis=1)
    if wrong.any():
        n = int(wrong.argmax())
        expected = f"factors that multiply to {problem.bounds}"
        raise TilewrightError("mapping", f"mapping {n} of {problem.name}", expected, str(tuple(products[n].tolist())))
    lost = ~batch.kept.any(axis=1)
    if lost.any():
        n, t = np.argwhere(lost)[0].tolist()
        subject = f"tensor {problem.tensors[t].name} of mapping {n}"
        raise TilewrightError("mapping", subject, "a level that keeps it", "bypass at every level")


class Workspace:
    """Room to price mappings of one problem whose memories have at most so many `children` each.

    Without compiled code, one by one, where it does not know the problem, or numbers are too large for it.
    """

    def __init__(self, arch: Architecture, problem: Problem, children: int) -> None:
        from .batch_kernel import new_nest
        from .batch_links import new_links

        self._arch, self._problem = arch, problem
        self._able = moves_one_axis(problem) and problem.macs <= MAX_MACS and children <= MAX_CHILDREN
        if self._able:
            self._model = model_of(arch, problem, range(len(problem.dims)))
            sizes = len(arch.levels), len(problem.tensors), len(problem.dims), self._model.axes
            self._nest, self._links = new_nest(*sizes), new_links(*sizes, children)

    def price(self, batch: MappingBatch, *, links: bool = True) -> BatchPrices:
        """Prices of mappings whose factors multiply to the bounds."""
        from .batch_kernel import Answers, price_all

        if not self._able:
            return _price_each(self._arch, self._problem, batch, links)
        shape = len(batch), len(self._arch.levels), len(self._problem.tensors)
        cycles, energy, used = np.zeros(shape[0], np.int64), np.zeros(shape[0]), np.zeros(shape[:2], np.int64)
        answers = Answers(cycles, energy, np.zeros((*shape, 3), np.int64), used)
        price_all(self._model, batch.arrays(), self._nest, self._links, links, answers)
        reads, fills, updates = (answers.counts[..., kind] for kind in range(3))
        return BatchPrices(cycles, energy, _fits(self._arch, batch, used), reads, fills, updates)


def _price_each(arch: Architecture, problem: Problem, batch: MappingBatch, links: bool) -> BatchPrices:
    """The same without compiled code, mapping by mapping."""
    mappings = [batch.mapping(n, problem) for n in range(len(batch))]
    found = [evaluate(arch, problem, mapping, link_transfers=links) for mapping in mappings]
    counts = np.zeros((len(batch), len(arch.levels), len(problem.tensors), 3), np.int64)
    for n, prices in enumerate(found):
        for level, memory in enumerate(arch.levels):
            for t, tensor in enumerate(problem.tensors):
                report = prices.levels[memory.name].tensors.get(tensor.name)
                if report is not None:
                    counts[n, level, t] = report.reads, report.fills, report.updates
    return BatchPrices(
        np.array([prices.cycles for prices in found], np.int64),
        np.array([prices.energy_pj for prices in found]),
        np.array([prices.valid for prices in found], np.bool_),
        *(counts[..., kind] for kind in range(3)),
    )


def _fits(arch: Architecture, batch: MappingBatch, used: Ints) -> Bools:
    valid = np.ones(len(batch), np.bool_)
    columns, rows = batch.spatial_x.prod(axis=2), batch.spatial_y.prod(axis=2)
    for index, level in enumerate(arch.levels):
        if level.capacity_words is not None:
            valid &= used[:, index] <= level.capacity_words
        width, height = arch.fan_out(index)
        valid &= (columns[:, index] <= width) & (rows[:, index] <= height)
    return valid
