"""What a mapping moves where, as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

from ...costs.exact import TensorTotals
from ...costs.timeloop import Prices, TensorReport


@dataclass(frozen=True)
class TrafficRow:
    """One tensor at one memory: the tile that an instance keeps; words of all used instances together; energy in pJ."""

    level: str
    tensor: str
    tile_words: int
    instances: int
    reads: int
    fills: int
    updates: int
    energy_pj: float


def traffic_rows(prices: Prices) -> tuple[TrafficRow, ...]:
    """Rows of all kept tensors, from the outermost memory inward."""
    return tuple(
        TrafficRow(level, name, tensor.tile_words, tensor.instances, *_totals(tensor), tensor.energy_pj)
        for level, report in reversed(prices.levels.items())
        for name, tensor in report.tensors.items()
    )


def _totals(tensor: TensorReport) -> tuple[int, int, int]:
    if isinstance(tensor, TensorTotals):
        return tensor.total_reads, tensor.total_fills, tensor.total_updates
    return tensor.reads * tensor.instances, tensor.fills * tensor.instances, tensor.updates * tensor.instances
