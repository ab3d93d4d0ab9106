"""The memories of a simulated machine: their bytes, and which of those have been written."""

from typing import Any

import numpy as np

from ...algebra.byte_regions import BLOCK, Blocks, Region, lowest_bit
from ...algebra.element import Array
from ...arrays import release_pages
from ...errors import InfeasibleError
from ...machine import Memory

CHUNK_BYTES = 1 << 22
"""Bytes that are copied into a memory together."""

_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Storage:
    """`size_bytes` bytes of a memory and one bit for each that tells whether it was written.

    With `contents` False only the bits are kept.
    """

    def __init__(self, memory: Memory, size_bytes: int, contents: bool) -> None:
        self.name = memory.name
        self.size_bytes = size_bytes
        blocks = -(-size_bytes // BLOCK)
        try:
            self.written = np.zeros(blocks, np.uint64)
            self.data = np.zeros(blocks * BLOCK if contents else 0, np.uint8)
        except MemoryError:
            lever = "simulate where more memory is free"
            raise InfeasibleError("host memory", size_bytes, 0, "bytes", lever, memory.name) from None

    def place(self, address: int, array: Array | None, byte_count: int) -> None:
        """Writes an array's bytes (none where it is None) and marks them as written.

        Of values that are mapped from a file only a part is held at once.
        """
        if array is not None and len(self.data):
            raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            for start in range(0, byte_count, CHUNK_BYTES):
                part = raw[start : start + CHUNK_BYTES]
                self.data[address + start : address + start + len(part)] = part
                release_pages(raw)
        if byte_count:
            self.mark(address, Region(0, byte_count, ()))

    def read(self, address: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        """A copy of the array of that type and shape at `address`."""
        return np.ndarray(shape, dtype, self.data, address).copy()

    def mark(self, address: int, region: Region) -> None:
        """Marks a region as written."""
        blocks, index = self._locate(address, region)
        if blocks.masks is None:
            self.written[index] = _ALL
        else:
            self.written[index] |= blocks.masks

    def first_unwritten(self, address: int, region: Region) -> int | None:
        """The address of a byte of the region that was never written; None if all were."""
        blocks, index = self._locate(address, region)
        found = self.written[index]
        wanted = _ALL if blocks.masks is None else blocks.masks
        missing = ~found & wanted
        if not missing.any():
            return None
        first = int(np.flatnonzero(missing)[0])
        block = int(blocks.numbers()[first]) + (address + region.low) // BLOCK
        return block * BLOCK + lowest_bit(int(missing[first]))

    def _locate(self, address: int, region: Region) -> tuple[Blocks, slice | Array]:
        start = address + region.low
        blocks = region.blocks(start)
        return blocks, blocks.shifted(start // BLOCK)
