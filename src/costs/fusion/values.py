"""What the price of a group of layers is asked with, the accelerator's numbers among it, and what it says."""

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


COCCO_BUFFERS = Buffers(1024 * KIB, 1152 * KIB)


@dataclass(frozen=True)
class Platform:
    """Cores of `array` processing elements of `lanes` (reduced, made) multiply-accumulates; energies in pJ per byte.

    `dram_bytes_per_cycle` is for each core.  `regions` is how many regions the buffer's region manager tells apart,
    `align_bytes` what the size of each is rounded up to.  The defaults are those of Cocco, section 5.1.2 (1 GHz,
    16 GB/s and 12.5 pJ/bit of DRAM); the paper gives no energies of its 12 nm library: buffers are priced as SoMa's
    public code does for 1 MB, a multiply-accumulate with its registers at 0.1 pJ, the crossbar at 0.1 pJ per bit.
    """

    name: str = "cocco"
    buffers: Buffers = COCCO_BUFFERS
    array: tuple[int, int] = (4, 4)
    lanes: tuple[int, int] = (8, 8)
    mac_pj: float = 0.1
    dram_read_pj: float = 100.0
    dram_write_pj: float = 100.0
    global_read_pj: float = 1.0422
    global_write_pj: float = 1.12332
    weight_read_pj: float = 1.0422
    weight_write_pj: float = 1.12332
    crossbar_pj: float = 0.8
    dram_bytes_per_cycle: float = 16.0
    regions: int = 64
    align_bytes: int = 8
