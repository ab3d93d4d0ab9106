"""The machine that SoMa schedules for, from its command-line arguments.

One cycle is one nanosecond, one element one byte.  Memories: DRAM, a global buffer with one read port, and in each core
buffers for activations (AL1), weights (WL1) and partial sums (OL1); OL2 costs energy only.
"""

from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from ...errors import TilewrightError

KIB, MIB = 1 << 10, 1 << 20

UNITS = {32: (4, 8), 64: (8, 8), 128: (8, 16), 256: (16, 16), 512: (16, 32), 4096: (64, 64)}
"""MACs of a core as (vector, lanes)."""

TECHNOLOGY = 0.6
DRAM_PJ = 84.0
MAC_PJ = 0.018
VECTOR_PJ = 0.0873
HOP_PJ = 0.018
BUS_BYTES = 64
"""Bytes per cycle of the bus between cores."""

SRAM_PJ_PER_BIT: dict[tuple[int, int], tuple[float, float]] = {
    (256, 4): (0.049, 0.064),
    (256, 8): (0.051290625, 0.04560625),
    (256, 16): (0.06311875, 0.05563125),
    (256, 32): (0.065678125, 0.0641375),
    (128, 2): (0.06025625, 0.06025625),
    (128, 4): (0.05336875, 0.0476625),
    (128, 8): (0.06553125, 0.057975),
    (128, 16): (0.06848125, 0.06684375),
    (128, 32): (0.106675, 0.10539375),
    (64, 2): (0.057525, 0.051775),
    (64, 4): (0.0703625, 0.0626625),
    (64, 8): (0.0740875, 0.0722625),
    (64, 16): (0.112, 0.110675),
    (64, 32): (0.194775, 0.1923),
    (32, 1): (0.07952, 0.0981),
    (32, 2): (0.06326, 0.08034),
    (32, 4): (0.07422, 0.09414),
    (32, 8): (0.11608, 0.13898),
    (32, 16): (0.112, 0.110675),
    (32, 32): (0.194775, 0.1923),
}
"""Read and write energy by (width in bits, size in KiB)."""


class CoreArray(NamedTuple):
    """What the cost of a tile depends on; energies in pJ per byte.

    `side` squared cores of `vector` x `lanes` MACs; `activations` and `weights` are bytes of AL1 and WL1 per vector
    element, `sums` bytes of OL1 per lane; `read_port` is bytes per cycle out of the global buffer.
    """

    side: int
    vector: int
    lanes: int
    activations: int
    weights: int
    sums: int
    read_port: int
    vector_ops: int
    al1_read: float
    al1_write: float
    wl1_read: float
    wl1_write: float
    ol1_read: float
    ol1_write: float
    ol2_read: float
    ol2_write: float
    buffer_read: float
    buffer_write: float


@dataclass(frozen=True)
class Hardware:
    """`dram_bandwidth` in bytes per cycle, shared by loads and stores."""

    array: CoreArray
    buffer_bytes: int
    dram_bandwidth: int


def hardware(buffer_mib: int, bandwidth_ratio: float, side: int, read_port: int, macs: int) -> Hardware:
    """The machine of SoMa's arguments `bufMB bwratio pedim l2bw macs`.

    `bandwidth_ratio` is DRAM bytes per cycle for each TOPS (of 1024 Gops); the product is rounded down, and where that
    gives none, three quarters of a byte per cycle for each 4 TOPS are taken.
    """
    _check(buffer_mib, bandwidth_ratio, side, read_port, macs)
    tops = 2 * macs * side * side // 1024
    bandwidth = int(tops * bandwidth_ratio) or int(0.75 * tops / 4)
    if bandwidth < 1:
        raise TilewrightError("hardware", "DRAM", "a bandwidth of 1 byte per cycle or more", f"ratio {bandwidth_ratio}")
    return Hardware(_array(buffer_mib * MIB, side, read_port, *UNITS[macs]), buffer_mib * MIB, bandwidth)


def _check(buffer_mib: int, bandwidth_ratio: float, side: int, read_port: int, macs: int) -> None:
    if macs not in UNITS:
        raise TilewrightError("hardware", "MACs of a core", f"one of {', '.join(map(str, UNITS))}", str(macs))
    for name, value, most in (
        ("buffer MiB", buffer_mib, 2048),
        ("array side", side, 64),
        ("read port", read_port, 1 << 20),
    ):
        if not 1 <= value <= most:
            raise TilewrightError("hardware", name, f"1 to {most}", str(value))
    if not (isfinite(bandwidth_ratio) and 0 <= bandwidth_ratio <= 1e6):
        raise TilewrightError("hardware", "bandwidth ratio", "0 to 1e6", str(bandwidth_ratio))


def _array(buffer_bytes: int, side: int, read_port: int, vector: int, lanes: int) -> CoreArray:
    al1, wl1, ol1 = vector * KIB, 4 * lanes * vector // 64 * KIB, 2 * lanes * KIB // 8
    al1_read, al1_write = _sram_pj(vector * 8, al1)
    wl1_read, wl1_write = _sram_pj(vector * 8, wl1)
    ol1_read, ol1_write = _sram_pj(lanes * 16, ol1)
    byte = 8 * TECHNOLOGY
    large = byte * 1.1 ** (buffer_bytes // (2 * MIB))
    return CoreArray(
        side,
        vector,
        lanes,
        al1 // vector,
        wl1 // vector,
        ol1 // lanes,
        read_port,
        vector * lanes * side * side // 16,
        (al1_read + 0.1 * lanes / 8) * byte,
        al1_write * byte,
        wl1_read * byte,
        wl1_write * byte,
        ol1_read * byte,
        ol1_write * byte,
        0.07648125 * large,
        0.0989875 * large,
        0.217125 * large,
        0.234025 * large,
    )


def _sram_pj(width_bits: int, size_bytes: int) -> tuple[float, float]:
    """Read and write energy in pJ per bit; wide memories are banks of 256 bits."""
    size, growth = size_bytes, 1.0
    if width_bits >= 512:
        size = size_bytes // (width_bits // 256)
        growth = 1.1 ** (size_bytes // size)
        width_bits, size = 256, min(size, 32 * KIB)
    read, write = SRAM_PJ_PER_BIT[width_bits, size // KIB]
    return read * growth, write * growth
