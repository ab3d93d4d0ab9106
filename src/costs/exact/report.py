"""What the model answers beyond the reports it shares with Timeloop's model."""

from __future__ import annotations

from dataclasses import dataclass

from ..timeloop.report import Json, Prices, TensorReport


@dataclass(frozen=True)
class TensorTotals(TensorReport):
    """Counts of one tensor at one level: the average per used instance, rounded, and exact sums over all instances.

    `partition_words` is 0 for inputs: only an output's first updates depend on it.
    """

    total_reads: int
    total_fills: int
    total_updates: int

    @property
    def totals(self) -> tuple[int, int, int]:
        """Reads, fills and updates of all instances."""
        return self.total_reads, self.total_fills, self.total_updates

    def as_json(self) -> Json:
        """The shared keys, and the totals."""
        totals = {"reads": self.total_reads, "fills": self.total_fills, "updates": self.total_updates}
        shared = super().as_json()
        if not self.partition_words:
            del shared["partition_size"]
        return shared | {"total": totals}


@dataclass(frozen=True)
class ExactPrices(Prices):
    """Cycles are `steady_cycles`, the longest of computing and every port, after `fill_cycles`, before `drain_cycles`.

    `compute_cycles` are the steps of the slowest instance.  `network_words` are those that the network below a level
    carries for a tensor: inputs inwards, the output outwards.
    """

    compute_cycles: int
    steady_cycles: int
    fill_cycles: int
    drain_cycles: int
    network_words: dict[str, dict[str, int]]

    def as_json(self) -> Json:
        """The shared keys, and the phases."""
        return super().as_json() | {
            "compute_cycles": self.compute_cycles,
            "steady_cycles": self.steady_cycles,
            "fill_cycles": self.fill_cycles,
            "drain_cycles": self.drain_cycles,
        }
