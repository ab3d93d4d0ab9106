"""The memories of a machine of stages, what instructions do to them, and what they must not do."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....costs.stages.code import SHIFTS, Copy, Kind, Row, StageCode, Table, Walk, element_type, moved_types
from ....machine.stages import element_bytes
from ...assembler import format_instruction
from ..memory import Storage
from ..traps import Trap
from . import kernels

Numbers = NDArray[Any]
GRAIN_BYTES = 16
"""Accesses to the memory off chip are compared in pieces of so many bytes."""
MOST_GRAINS = 1 << 24
OPERANDS = ((Walk.TARGET, Walk.DO, Walk.DI), (Walk.SOURCE, Walk.SO, Walk.SI), (Walk.WEIGHT, Walk.WO, Walk.WI))


def text_of(code: StageCode, index: int) -> str:
    """An instruction as assembly text."""
    return format_instruction(code.machine, code.mnemonic(index).name, code.values(index))


class Chip:
    """Memories and what instructions do to them; `clocks` say what each instruction comes after (`costs.stages`)."""

    def __init__(self, code: StageCode, storage: Storage, clocks: Table) -> None:
        self.code, self.storage = code, storage
        machine, stages = code.machine, code.machine.stages
        assert stages is not None
        numbers = {memory.name: number for number, memory in enumerate(machine.memories)}
        self.clocks = np.concatenate([clocks, np.full((len(clocks), 1), 1 << 62, np.int64)], 1)
        self.data: dict[int, Numbers] = {}
        self.last: dict[int, Table] = {}
        self.off, units = numbers[storage.name], len(machine.units)
        for number, memory in enumerate(machine.memories):
            if not memory.offchip and memory.depth is not None:
                dtype = element_type(machine, memory)
                count = max(element_bytes(memory) // dtype.itemsize, 1)
                self.data[number] = np.zeros((memory.depth, count), dtype)
                self.last[number] = np.zeros((units, 2, memory.depth), np.int64)
        grains = -(-storage.size_bytes // GRAIN_BYTES)
        self.grains = grains if grains <= MOST_GRAINS else 0
        self.last[self.off] = np.zeros((units + 1, 2, self.grains), np.int64)
        self.last[self.off][units, kernels.WRITTEN] = 1  # all of it holds something from the beginning
        self.moved = moved_types(machine)
        self.micro = numbers.get(stages.microops, -1)
        self.shadows = {numbers[original]: numbers[narrow] for narrow, original in stages.shadows}

    def run(self, index: int) -> None:
        """One instruction; raises `Trap` for what the machine forbids."""
        row = self.code.rows[index]
        if row[Row.KIND] in (Kind.LOAD, Kind.STORE):
            if row[Copy.COLUMNS] and row[Copy.ROWS]:
                self._copy(index, row)
        elif row[Row.KIND] != Kind.FINISH:
            self._walk(index, row)
        else:
            self._finish(index)

    def _finish(self, index: int) -> None:
        counts = np.bincount(self.code.rows[:, Row.UNIT], minlength=self.clocks.shape[1] - 1)
        late = np.flatnonzero(self.clocks[index, :-1] < counts)
        if len(late):
            unit = self.code.machine.units[int(late[0])].name
            found = f"{counts[late[0]] - self.clocks[index, late[0]]} of unit {unit} that it does not wait for"
            raise self._trap("hazard", index, "all instructions to be complete before the end", found)

    def _trap(self, reason: str, index: int, expected: str, found: str) -> Trap:
        return Trap(reason, index, text_of(self.code, index), expected, found)

    def _check(self, index: int, memory: int, result: tuple[int, int], what: str) -> None:
        kind, element = result
        if not kind:
            return
        name = self.code.machine.memories[memory].name
        place = f"{name}[{element}]" if memory != self.off else f"{name}[{element * GRAIN_BYTES:#x}]"
        if kind == 1:
            found = f"{place} in use by another unit, perhaps at the same time"
            raise self._trap("hazard", index, f"tokens that order the accesses of units to {name}", found)
        if kind == 2:
            raise self._trap("uninitialised", index, f"{what} to be written before it is read", f"{place}, not written")
        raise self._trap("range", index, f"{what} within the {self.data[memory].shape[0]} elements of {name}", place)

    def _copy(self, index: int, row: Table) -> None:
        memory, inward = int(row[Copy.MEMORY]), bool(row[Row.KIND] == Kind.LOAD)
        rows, columns, size = int(row[Copy.ROWS]), int(row[Copy.COLUMNS]), int(row[Copy.OFF_BYTES])
        high, width = (
            int(row[Copy.ABOVE]) + rows + int(row[Copy.BELOW]),
            int(row[Copy.LEFT]) + columns + int(row[Copy.RIGHT]),
        )
        first, depth = int(row[Copy.CHIP]), self.data[memory].shape[0]
        if first + high * width > depth:
            expected = f"elements within the {depth} of {self.code.machine.memories[memory].name}"
            raise self._trap("range", index, expected, f"{first} to {first + high * width - 1}")
        starts = (int(row[Copy.OFF]) + np.arange(rows) * int(row[Copy.STRIDE])) * size
        unit, known = int(row[Row.UNIT]), self.clocks[index]
        for start in starts.tolist() if self.grains else ():
            low, high_ = start // GRAIN_BYTES, -(-(start + columns * size) // GRAIN_BYTES)
            found = kernels.touch_range(self.last[self.off], low, high_ - low, unit, known, not inward)
            self._check(index, self.off, found, "what is loaded")
        found = kernels.touch_range(self.last[memory], first, high * width, unit, known, inward)
        self._check(index, memory, found, "what is stored")
        block = self.data[memory][first : first + high * width].reshape(high, width, -1)
        part = block[row[Copy.ABOVE] : row[Copy.ABOVE] + rows, row[Copy.LEFT] : row[Copy.LEFT] + columns]
        kind = self.moved[int(self.code.names[index])]
        strides = (int(row[Copy.STRIDE]) * size, size, kind.itemsize)
        outside = np.ndarray(part.shape, kind, self.storage.data, int(starts[0]), strides)
        if inward:
            block[:] = 0
            part[:] = outside
        else:
            outside[:] = part

    def _walk(self, index: int, row: Table) -> None:
        first, end, depth = int(row[Walk.FIRST]), int(row[Walk.END]), self.data[self.micro].shape[0]
        if end > depth:
            name = self.code.machine.memories[self.micro].name
            raise self._trap("range", index, f"micro-ops within the {depth} of {name}", f"up to {end}")
        if end > first:
            found = kernels.touch_range(
                self.last[self.micro], first, end - first, int(row[Row.UNIT]), self.clocks[index], False
            )
            self._check(index, self.micro, found, "micro-ops")
            ops = self.data[self.micro][first:end, 0].astype(np.int64)
            self._check_walk(index, row, ops)
            self._compute(row, ops)

    def _check_walk(self, index: int, row: Table, ops: Table) -> None:
        count = {Kind.MULTIPLY: 3, Kind.VECTORS: 2}.get(Kind(int(row[Row.KIND])), 1)
        touches = [(place, int(row[OPERANDS[place][0]]), False) for place in reversed(range(count))]
        if row[Row.KIND] == Kind.SET:
            touches = []
        touches.append((0, int(row[Walk.TARGET]), True))
        if (shadow := self._shadow(row)) is not None:
            touches.append((0, shadow, True))
        for place, memory, write in touches:
            _, outer, inner = OPERANDS[place]
            fields = row[SHIFTS + 2 * place : SHIFTS + 2 * place + 2]
            strides = np.array([row[outer], row[inner], *fields], np.int64)
            last, unit, known = self.last[memory], int(row[Row.UNIT]), self.clocks[index]
            self._check(index, memory, kernels.touch_walk(row, ops, strides, last, unit, known, write), "an operand")

    def _shadow(self, row: Table) -> int | None:
        return None if row[Walk.UNSHADOWED] else self.shadows.get(int(row[Walk.TARGET]))

    def _compute(self, row: Table, ops: Table) -> None:
        kind, sums = row[Row.KIND], self.data[int(row[Walk.TARGET])]
        if kind == Kind.MULTIPLY:
            kernels.multiply(row, ops, sums, self.data[int(row[Walk.SOURCE])], self.data[int(row[Walk.WEIGHT])])
        elif kind == Kind.SET:
            kernels.fill(row, ops, sums)
        else:
            kernels.elementwise(row, ops, sums, bool(kind == Kind.VECTORS))
        if (shadow := self._shadow(row)) is not None:
            kernels.narrowed(row, ops, sums, self.data[shadow])
