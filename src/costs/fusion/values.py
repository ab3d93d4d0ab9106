"""What the price of a group of layers is asked with, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

KIB = 1 << 10

Metric = Literal["ema", "energy", "latency"]


@dataclass(frozen=True)
class Buffers:
    """Capacities of each core's memories, in bytes; `weight_bytes` None: weights share the global buffer."""

    global_bytes: int
    weight_bytes: int | None = None

    @property
    def shared(self) -> bool:
        """Whether activations and weights lie in one buffer."""
        return self.weight_bytes is None

    @property
    def total_bytes(self) -> int:
        """Both buffers (BUF_SIZE of Cocco's formula 2)."""
        return self.global_bytes + (self.weight_bytes or 0)

    def holds(self, global_bytes: int, weight_bytes: int) -> bool:
        """Whether a demand of so many bytes for activations and for weights fits."""
        if self.weight_bytes is None:
            return global_bytes + weight_bytes <= self.global_bytes
        return global_bytes <= self.global_bytes and weight_bytes <= self.weight_bytes


@dataclass(frozen=True)
class SubgraphCost:
    """One group of layers for a whole batch, on all cores together; demands are per core.

    `weight_bytes`, `input_bytes` and `output_bytes` pass between DRAM and the chip.  `tile` is rows and columns of the
    tile of the group's results (0 columns: full rows); `passes` counts how often a layer on its own goes over its
    weights or its map because they do not fit (1 for all others).
    """

    weight_bytes: int
    input_bytes: int
    output_bytes: int
    energy_pj: float
    compute_cycles: int
    transfer_cycles: int
    global_demand_bytes: int
    weight_demand_bytes: int
    regions: int
    tile: tuple[int, int]
    passes: int = 1

    @property
    def ema_bytes(self) -> int:
        """External memory access."""
        return self.weight_bytes + self.input_bytes + self.output_bytes

    @property
    def latency_cycles(self) -> int:
        """The longer of computing and external communication (Cocco, section 5.1.2)."""
        return max(self.compute_cycles, self.transfer_cycles)

    @property
    def bandwidth_bytes_per_cycle(self) -> float:
        """What DRAM must deliver for computing never to wait."""
        return self.ema_bytes / self.compute_cycles

    def value(self, metric: Metric) -> float:
        """The quantity called `metric`."""
        return {"ema": self.ema_bytes, "energy": self.energy_pj, "latency": self.latency_cycles}[metric]
