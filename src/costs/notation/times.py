"""When each tile and each transfer runs: tiles in order on the cores, transfers in order on one channel.

J. Cai et al., "SoMa", HPCA 2025, section V-D.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..soma.run import PlanColumns, Scratch, TransferColumns, run
from .values import OUTPUT, Move, Parsed


@dataclass(frozen=True)
class Times:
    """Cycles at which tiles begin, by position, and transfers, in their order."""

    latency_cycles: int
    tile_begin: tuple[int, ...]
    move_begin: tuple[int, ...]


def transfer_cycles(parsed: Parsed, bandwidth: int, latency: int) -> tuple[int, ...]:
    """Cycles of each tensor's transfer at `bandwidth` bytes per cycle after `latency` cycles."""
    return tuple(latency - (-tensor.size_bytes // bandwidth) for tensor in parsed.tensors)


def columns_of(parsed: Parsed, transfers: Sequence[int]) -> PlanColumns:
    """Tiles and tensors as the compiled functions take them, each tensor's transfer taking so many cycles."""
    rows = [(t.layer, t.first, t.first if t.kind == OUTPUT else -1, t.size_bytes) for t in parsed.tensors]
    layer, first, made, size = np.array(rows, np.int64).reshape(-1, 4).T.copy()
    layers, cycles = np.array([tile.layer for tile in parsed.tiles]), np.array(parsed.tile_cycles, np.int64)
    return PlanColumns(cycles, layers, layer, first, made, size, np.array(transfers, np.int64))


def times_of(parsed: Parsed, moves: Sequence[Move], transfers: Sequence[int]) -> Times:
    """The times of a legal schedule (`check_schedule`), each tensor's transfer taking so many cycles."""
    tensors, count = parsed.tensors, len(parsed.tiles)
    order, start, end = np.array(moves, np.int64).reshape(-1, 3).T.copy()
    begins, ends = np.array([[t.first, t.last] for t in tensors], np.int64).T.copy()
    begins[order], ends[order] = start, end
    begin, move_begin, usage = np.zeros(count, np.int64), np.zeros(len(order), np.int64), np.zeros(count + 2, np.int64)
    scratch = Scratch(np.zeros(count + 1, np.int64), usage, begin, move_begin)
    _, latency, _ = run(columns_of(parsed, transfers), TransferColumns(order, begins, ends), scratch)
    return Times(latency, tuple(begin.tolist()), tuple(move_begin.tolist()))
