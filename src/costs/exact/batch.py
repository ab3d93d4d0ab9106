"""Prices of a batch of mappings: the same numbers as `evaluate`, tens of thousands a second."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...algebra.element import Bools
from ...errors import TilewrightError
from ..hierarchy.batch import MappingBatch, pack
from ..hierarchy.values import Architecture, LoopMapping, Problem
from ..timeloop.batch_model import BatchPrices
from .axes import axes_of
from .batch_kernel import Answers, Flow, Machine, price_all
from .compiled import MAX_DEPTH, MAX_WINDOW_DIMS, PLAIN, SLIDING, UNRELATED, Loops, Scratch, Shape, scratch
from .model import TensorTotals, evaluate
from .validity import bits_of_word

MAX_MACS = 1 << 52
"""Largest problem whose totals over all instances, in bits, surely fit 64-bit integers."""


@dataclass(frozen=True)
class BatchTotals(BatchPrices):
    """Prices of N mappings; `reads`, `fills` and `updates` (N, L, T) are words of all instances together."""


def price_batch(arch: Architecture, problem: Problem, mappings: MappingBatch | Sequence[LoopMapping]) -> BatchTotals:
    """Price all `mappings` of `problem` on `arch`, valid or not, as `evaluate` does.

    Raises TilewrightError (kind `mapping`) for arrays of another shape and problems beyond 64-bit counts.
    """
    batch = mappings if isinstance(mappings, MappingBatch) else pack(arch, problem, mappings)
    levels, dims = len(arch.levels), len(problem.dims)
    if batch.temporal.shape[1:] != (levels, dims):
        expected = f"factors of shape (N, {levels}, {dims})"
        raise TilewrightError("mapping", f"batch for {problem.name}", expected, str(batch.temporal.shape))
    if problem.macs > MAX_MACS:
        raise TilewrightError("mapping", problem.name, f"at most {MAX_MACS} operations in a batch", str(problem.macs))
    room = workspace(arch, problem, len(batch))
    answers = room.answers
    if room.able:
        room.price(batch)
    for n in np.flatnonzero(~answers.done).tolist():
        _price_one(arch, problem, batch.mapping(n, problem), answers, n)
    valid = answers.valid & spreads_allowed(arch, problem, batch)
    return BatchTotals(answers.cycles, answers.energy_pj, valid, answers.reads, answers.fills, answers.updates)


def spreads_allowed(arch: Architecture, problem: Problem, batch: MappingBatch) -> Bools:
    """Which mappings of a batch spread only dimensions that the machine spreads."""
    fixed = ~np.array(arch.may_spread(problem), np.bool_)
    spread = (batch.spatial_x[:, :, fixed] > 1) | (batch.spatial_y[:, :, fixed] > 1)
    return np.asarray(~spread.any(axis=(1, 2)), np.bool_)


class Workspace(NamedTuple):
    """What `price_all` needs besides a batch; not `able` to price problems beyond the limits of compiled code."""

    able: bool
    shape: Shape
    machine: Machine
    answers: Answers
    loops: Loops
    flow: Flow
    work: Scratch

    def price(self, batch: MappingBatch) -> Answers:
        """The `answers`, of as many mappings as there is room for at most; those beyond the limits are not `done`."""
        price_all(self.shape, self.machine, batch.arrays(), self.answers, self.loops, self.flow, self.work)
        return self.answers


def workspace(arch: Architecture, problem: Problem, count: int) -> Workspace:
    """Room to price `count` mappings from Python or from compiled code."""
    levels, dims, tensors = len(arch.levels), len(problem.dims), len(problem.tensors)
    shape = _shape(problem)
    able = shape is not None and 3 * levels <= MAX_DEPTH
    nothing = Shape(*(np.zeros((1,) * rank, np.int64) for rank in (1, 2, 1, 1, 3))) if shape is None else shape
    machine, answers = _machine(arch, problem), _answers(count, levels, tensors)
    return Workspace(able, nothing, machine, answers, _loops(levels, dims), _flow(levels, tensors), scratch())


def _answers(count: int, levels: int, tensors: int) -> Answers:
    reads, fills, updates = (np.zeros((count, levels, tensors), np.int64) for _ in range(3))
    valid, done = (np.zeros(count, np.bool_) for _ in range(2))
    return Answers(np.zeros(count, np.int64), np.zeros(count), valid, reads, fills, updates, done)


def _flow(levels: int, tensors: int) -> Flow:
    network, returns, first = (np.zeros((levels, tensors), np.int64) for _ in range(3))
    busiest = np.zeros((levels, tensors, 4), np.int64)
    return Flow(network, returns, first, busiest, np.ones(levels, np.int64), np.zeros(tensors, np.int64))


def _shape(problem: Problem) -> Shape | None:
    """The problem as arrays; None where an axis has too many dimensions for compiled code."""
    axes = [axes_of(tensor, problem.bounds) for tensor in problem.tensors]
    windows = [window for found in axes for window in found.windows]
    if any(len(window.dims) > MAX_WINDOW_DIMS for window in windows):
        return None
    kinds = np.full((len(axes), len(problem.dims)), UNRELATED, np.int64)
    first = [0]
    table = np.zeros((max(1, len(windows)), MAX_WINDOW_DIMS, 2), np.int64)
    for row, found in zip(kinds, axes, strict=True):
        row[list(found.plain)] = PLAIN
        for window in found.windows:
            row[list(window.dims)] = SLIDING
        first.append(first[-1] + len(found.windows))
    for n, window in enumerate(windows):
        if max(abs(c) for c in window.coefficients) > 1 << 30:
            return None
        table[n, : len(window.dims)] = list(zip(window.dims, window.coefficients, strict=True))
    sizes = np.array([len(window.dims) for window in windows] or [0], np.int64)
    return Shape(np.array(problem.bounds, np.int64), kinds, np.array(first, np.int64), sizes, table)


def _machine(arch: Architecture, problem: Problem) -> Machine:
    levels = arch.levels
    return Machine(
        np.array([-1 if level.entries is None else level.entries for level in levels], np.int64),
        np.array([level.word_bits for level in levels], np.int64),
        np.array([level.multiple_buffering for level in levels], np.float64),
        np.array(
            [
                [e / level.block_size for e in (level.energy_pj, _or(level.write_energy_pj, level.energy_pj))]
                for level in levels
            ]
        ),
        np.array(
            [
                [_or(b, 0.0) for b in (x.read_bandwidth, x.write_bandwidth, x.shared_bandwidth, x.network_bandwidth)]
                for x in levels
            ]
        ),
        np.array([level.hop_energy_pj for level in levels], np.float64),
        np.array([level.latency_cycles for level in levels], np.int64),
        np.array([arch.fan_out(level)[0] for level in range(len(levels))], np.int64),
        np.array([arch.fan_out(level)[1] for level in range(len(levels))], np.int64),
        np.array([arch.may_hold(level, problem) for level in range(len(levels))], np.bool_),
        np.array([[bits_of_word(tensor, level) for tensor in problem.tensors] for level in levels], np.int64),
        np.array([tensor.is_output for tensor in problem.tensors], np.bool_),
        float(arch.mac_energy_pj),
    )


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _loops(levels: int, dims: int) -> Loops:
    return Loops(
        np.zeros(dims + 1, np.int64),
        np.zeros((dims, 3 * levels, 5), np.int64),
        np.ones((levels + 1, dims), np.int64),
        np.zeros(dims, np.int64),
        np.zeros(dims, np.int64),
        np.zeros((levels * dims, 2), np.int64),
    )


def _price_one(arch: Architecture, problem: Problem, mapping: LoopMapping, answers: Answers, n: int) -> None:
    prices = evaluate(arch, problem, mapping)
    answers.cycles[n], answers.energy_pj[n], answers.valid[n] = prices.cycles, prices.energy_pj, prices.valid
    for level, memory in enumerate(arch.levels):
        for t, tensor in enumerate(problem.tensors):
            report = prices.levels[memory.name].tensors.get(tensor.name)
            counts = report.totals if isinstance(report, TensorTotals) else (0, 0, 0)
            answers.reads[n, level, t], answers.fills[n, level, t], answers.updates[n, level, t] = counts
