"""Prices of a batch of mappings: the same numbers as `evaluate`, thousands of mappings at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import TilewrightError
from ..hierarchy.batch import Bools, Ints, MappingBatch, pack
from ..hierarchy.values import Architecture, LoopMapping, Problem
from .batch_nest import Nest, nest_of
from .batch_traffic import Analysis, Flows

Floats = NDArray[np.float64]

CHUNK = 2048
"""Mappings that are priced together: bounds temporaries to a few MB."""

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
    arch: Architecture,
    problem: Problem,
    mappings: MappingBatch | Sequence[LoopMapping],
    *,
    link_transfers: bool = True,
) -> BatchPrices:
    """Price all `mappings` of `problem` on `arch`.

    Raises TilewrightError (kind `mapping`) where factors do not multiply to the bounds or nothing keeps a tensor.
    """
    batch = mappings if isinstance(mappings, MappingBatch) else pack(arch, problem, mappings)
    _check(arch, problem, batch)
    parts = [
        _price_chunk(arch, problem, batch.part(slice(start, start + CHUNK)), link_transfers)
        for start in range(0, max(1, len(batch)), CHUNK)
    ]
    return BatchPrices(
        np.concatenate([part.cycles for part in parts]),
        np.concatenate([part.energy_pj for part in parts]),
        np.concatenate([part.valid for part in parts]),
        np.concatenate([part.reads for part in parts]),
        np.concatenate([part.fills for part in parts]),
        np.concatenate([part.updates for part in parts]),
    )


def _check(arch: Architecture, problem: Problem, batch: MappingBatch) -> None:
    if problem.macs > MAX_MACS:
        raise TilewrightError("mapping", problem.name, f"at most {MAX_MACS} operations in a batch", str(problem.macs))
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


def _price_chunk(arch: Architecture, problem: Problem, batch: MappingBatch, links: bool) -> BatchPrices:
    nest = nest_of(batch)
    analysis = Analysis(arch, problem, batch, nest, links=links)
    shape = len(batch), len(arch.levels), len(problem.tensors)
    reads, fills, updates = (np.zeros(shape, np.int64) for _ in range(3))
    instances = np.cumprod(nest.fan_out[:, ::-1], axis=1)[:, ::-1] // nest.fan_out
    network = np.zeros(shape[0])
    used = np.zeros(shape[:2], np.int64)
    hop_energy = np.array([level.hop_energy_pj for level in arch.levels])
    for t, tensor in enumerate(problem.tensors):
        flows = analysis.flows(t)
        kept = batch.kept[:, :, t]
        used += flows.tiles * kept
        network += ((flows.hop_words + flows.link_words) * hop_energy * instances).sum(axis=1)
        counted = _output_counts(flows) if tensor.is_output else _input_counts(flows)
        for counts, found in zip((reads, fills, updates), counted, strict=True):
            counts[:, :, t] = found * kept
    energy = problem.macs * arch.mac_energy_pj + network
    blocks = np.array([level.block_size for level in arch.levels])[None, :, None]
    of_read, of_write = (
        np.array([level.energy_pj for level in arch.levels]) * instances,
        np.array([level.energy_of_write_pj for level in arch.levels]) * instances,
    )
    for counts, of_access in ((reads, of_read), (fills, of_write), (updates, of_write)):
        energy += ((-(-counts // blocks)).sum(axis=2) * of_access).sum(axis=1)
    cycles = _cycles(arch, nest, reads, fills + updates)
    return BatchPrices(cycles, energy, _fits(arch, batch, used), reads, fills, updates)


def _nearest(words: Floats) -> Ints:
    return np.maximum(0, (words + 0.5).astype(np.int64))


def _input_counts(flows: Flows) -> tuple[Ints, Ints, Ints]:
    reads = _nearest(flows.content + flows.peer)
    return reads, (flows.received + flows.peer).astype(np.int64), np.zeros_like(reads)


def _output_counts(flows: Flows) -> tuple[Ints, Ints, Ints]:
    fills = _nearest(flows.received + flows.peer - flows.partitions)
    fills[np.arange(len(fills)), flows.outermost] = 0
    return _nearest(flows.content + flows.peer - flows.partitions), fills, _nearest(flows.content)


def _cycles(arch: Architecture, nest: Nest, reads: Ints, writes: Ints) -> Ints:
    compute = np.prod(nest.bounds, axis=1)
    cycles = compute
    for index, level in enumerate(arch.levels):
        read, write = np.zeros(len(compute)), np.zeros(len(compute))
        for t in range(reads.shape[2]):
            read += reads[:, index, t] / compute
            write += writes[:, index, t] / compute
        slowdown = np.ones(len(compute))
        for bandwidth, demand in (
            (level.read_bandwidth, read),
            (level.write_bandwidth, write),
            (level.shared_bandwidth, read + write),
        ):
            if bandwidth is not None:
                slowdown = np.minimum(slowdown, bandwidth / np.maximum(demand, bandwidth))
        cycles = np.maximum(cycles, np.ceil(compute / slowdown).astype(np.int64))
    return cycles


def _fits(arch: Architecture, batch: MappingBatch, used: Ints) -> Bools:
    valid = np.ones(len(batch), np.bool_)
    columns, rows = batch.spatial_x.prod(axis=2), batch.spatial_y.prod(axis=2)
    for index, level in enumerate(arch.levels):
        if level.capacity_words is not None:
            valid &= used[:, index] <= level.capacity_words
        width, height = arch.fan_out(index)
        valid &= (columns[:, index] <= width) & (rows[:, index] <= height)
    return valid
