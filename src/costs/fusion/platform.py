"""The accelerator that groups run on, as the numbers that their cost depends on."""

from __future__ import annotations

from dataclasses import dataclass

from .values import KIB, Buffers

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
