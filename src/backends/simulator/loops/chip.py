"""The memories of a machine of loops: DRAM by bytes, the others by rows, each with what was written."""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ....algebra.element import Array, Bools, Ints
from ....errors import InfeasibleError
from ....machine import Machine
from .actions import Step

Bytes = NDArray[np.uint8]
Flags = Bools


class Chip:
    """All on-chip memories, and DRAM as far as a program reaches."""

    def __init__(self, machine: Machine, dram: Bytes) -> None:
        self.memories = machine.memory_by_name
        onchip = [memory for memory in machine.memories if not memory.offchip]
        try:
            self.data = {memory.name: np.zeros(memory.capacity_bytes, np.uint8) for memory in onchip}
            self.written = {memory.name: np.zeros(memory.depth or 0, np.bool_) for memory in onchip}
            self.dram_written: Flags = np.zeros(len(dram), np.bool_)
        except MemoryError:
            raise InfeasibleError("host memory", len(dram), 0, "bytes", "simulate where more memory is free") from None
        self.dram = dram
        self.peaks = dict.fromkeys(self.data, 0)

    def row_bytes(self, name: str) -> int:
        """Bytes in a row: all banks at one depth."""
        return self.memories[name].element_bytes

    def rows_of(self, name: str) -> int:
        """All rows of a memory."""
        return int(self.memories[name].depth or 0)

    def rows(self, name: str) -> int:
        """Rows of a memory that one tile may use."""
        memory = self.memories[name]
        return int((memory.depth or 0) // memory.buffering)

    def view(self, start: int, loops: Sequence[tuple[int, int]], size: int) -> tuple[Bytes, Flags]:
        """Pieces of `size` bytes of DRAM, one per point of the loops (iterations, stride), and what was written."""
        shape = (*(n for n, _ in loops), size)
        strides = (*(stride for _, stride in loops), 1)
        return (as_strided(self.dram[start:], shape, strides), as_strided(self.dram_written[start:], shape, strides))

    def check_rows(self, step: Step, name: str, low: int, high: int) -> None:
        """Traps rows outside of a memory (or of the part that one tile may use), and remembers how far they reach."""
        self.peaks[name] = max(self.peaks[name], high * self.row_bytes(name))
        if low < 0 or high > self.rows(name):
            raise step.trap("range", f"{name} within rows 0 to {self.rows(name) - 1}", f"rows {low} to {high - 1}")

    def check_written(self, step: Step, name: str, rows: Ints) -> None:
        """Traps reads of rows that nothing wrote."""
        missing = ~self.written[name][rows]
        if missing.any():
            row = int(rows[missing][0])
            raise step.trap("uninitialised", f"{name} to be written before it is read", f"row {row}, never written")


def span(loops: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The least and greatest offset that loops (iterations, stride) reach."""
    steps = [(n - 1) * stride for n, stride in loops]
    return sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps)


def offsets(loops: Sequence[tuple[int, int]]) -> Ints:
    """The offset at every point of loops (iterations, stride), outermost first, as an array with an axis per loop."""
    total: Array = np.zeros((1,) * len(loops), np.int64)
    for axis, (n, stride) in enumerate(loops):
        shape = [1] * len(loops)
        shape[axis] = n
        total = total + (np.arange(n, dtype=np.int64) * stride).reshape(shape)
    return np.broadcast_to(total, tuple(n for n, _ in loops))


def reached(loops: Sequence[tuple[int, int]]) -> Ints:
    """The different offsets that loops (iterations, stride) reach, sorted."""
    found = np.zeros(1, np.int64)
    for n, stride in loops:
        found = np.unique(found[:, None] + np.arange(n, dtype=np.int64) * stride)
    return found


def points(loops: Sequence[tuple[int, int]]) -> int:
    """Iterations of a nest."""
    return prod(n for n, _ in loops)
