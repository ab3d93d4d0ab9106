"""The memories of a machine of stages, what instructions do to them, and what they must not do."""

from typing import Any

import numpy as np

from ....algebra.element import Array
from ....costs.compiled import compiled, inner
from ....costs.stages.code import SHIFTS, Copy, Kind, Row, StageCode, Table, Walk, element_type, moved_types
from ...assembler import format_instruction
from ..memory import Storage
from ..traps import Trap

Numbers = Array


@compiled
def multiply(row: Table, ops: Table, sums: Numbers, rows: Numbers, blocks: Numbers) -> None:
    """sums[a][n] += sum over k of rows[x][k] blocks[w][n][k], modulo 2^32."""
    lanes, depth = sums.shape[1], rows.shape[1]
    for i in range(row[Walk.OUTER]):
        for j in range(row[Walk.INNER]):
            for op in ops:
                a = (op >> row[SHIFTS] & row[SHIFTS + 1]) + i * row[Walk.DO] + j * row[Walk.DI]
                x = (op >> row[SHIFTS + 2] & row[SHIFTS + 3]) + i * row[Walk.SO] + j * row[Walk.SI]
                w = (op >> row[SHIFTS + 4] & row[SHIFTS + 5]) + i * row[Walk.WO] + j * row[Walk.WI]
                for n in range(lanes):
                    total = np.int32(0)
                    for k in range(depth):
                        total += np.int32(rows[x, k]) * np.int32(blocks[w, n * depth + k])
                    sums[a, n] += total


@inner
def _wrapped(value: Any) -> Any:
    """The number of 32 bits with the same lowest bits."""
    return ((value + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


@inner
def _apply(function: Any, a: Any, b: Any) -> Any:
    if function == 0:
        return min(a, b)
    if function == 1:
        return max(a, b)
    if function == 2:
        return a + b
    if function == 3:
        if b >= 0:
            return a >> min(b, 31)
        return 0 if b <= -32 else a << -b
    if function == 4:
        return a * b
    return a - b


@compiled
def elementwise(row: Table, ops: Table, sums: Numbers, vectors: bool) -> None:
    """sums[a][n] = F(sums[a][n], number or sums[s][n]), modulo 2^32."""
    function, value = row[Walk.FUNCTION], row[Walk.VALUE]
    for i in range(row[Walk.OUTER]):
        for j in range(row[Walk.INNER]):
            for op in ops:
                a = (op >> row[SHIFTS] & row[SHIFTS + 1]) + i * row[Walk.DO] + j * row[Walk.DI]
                s = (op >> row[SHIFTS + 2] & row[SHIFTS + 3]) + i * row[Walk.SO] + j * row[Walk.SI]
                for n in range(sums.shape[1]):
                    other = np.int64(sums[s, n]) if vectors else value
                    sums[a, n] = _wrapped(_apply(function, np.int64(sums[a, n]), other))


@compiled
def fill(row: Table, ops: Table, sums: Numbers) -> None:
    """sums[a][n] = a number."""
    for i in range(row[Walk.OUTER]):
        for j in range(row[Walk.INNER]):
            for op in ops:
                sums[(op >> row[SHIFTS] & row[SHIFTS + 1]) + i * row[Walk.DO] + j * row[Walk.DI]] = row[Walk.VALUE]


@compiled
def narrowed(row: Table, ops: Table, sums: Numbers, shadow: Numbers) -> None:
    """The elements of the shadow that a walk writes: the lowest bits of the numbers."""
    for i in range(row[Walk.OUTER]):
        for j in range(row[Walk.INNER]):
            for op in ops:
                a = (op >> row[SHIFTS] & row[SHIFTS + 1]) + i * row[Walk.DO] + j * row[Walk.DI]
                for n in range(shadow.shape[1]):
                    shadow[a, n] = sums[a, n]


READ, WRITTEN = 0, 1


@inner
def _touch(last: Table, element: int, unit: int, known: Table, write: bool) -> int:
    """Notes an access; 1 where another unit's is not ordered before it, 2 where nothing was written before a read."""
    units, fresh = last.shape[0], True
    for other in range(units):
        if last[other, WRITTEN, element]:
            fresh = False
        if other != unit and last[other, WRITTEN, element] > known[other]:
            return 1
        if other != unit and write and last[other, READ, element] > known[other]:
            return 1
    last[unit, WRITTEN if write else READ, element] = known[unit]
    return 2 if fresh and not write else 0


@compiled
def touch_range(last: Table, first: int, count: int, unit: int, known: Table, write: bool) -> tuple[int, int]:
    """Accesses to elements one after another: what is wrong (`_touch`; 0 nothing), and with which element."""
    for element in range(first, first + count):
        found = _touch(last, element, unit, known, write)
        if found:
            return found, element
    return 0, 0


@compiled
def touch_walk(
    row: Table, ops: Table, strides: Table, last: Table, unit: int, known: Table, write: bool
) -> tuple[int, int]:
    """Accesses of a walk through an operand (`strides`: outer, inner, shift, mask); 3: an element beyond the last."""
    depth = last.shape[2]
    for i in range(row[Walk.OUTER]):
        for j in range(row[Walk.INNER]):
            for op in ops:
                element = (op >> strides[2] & strides[3]) + i * strides[0] + j * strides[1]
                if element >= depth:
                    return 3, element
                found = _touch(last, element, unit, known, write)
                if found:
                    return found, element
    return 0, 0


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
                count = max(memory.element_bytes // dtype.itemsize, 1)
                self.data[number] = np.zeros((memory.depth, count), dtype)
                self.last[number] = np.zeros((units, 2, memory.depth), np.int64)
        grains = -(-storage.size_bytes // GRAIN_BYTES)
        self.grains = grains if grains <= MOST_GRAINS else 0
        self.last[self.off] = np.zeros((units + 1, 2, self.grains), np.int64)
        self.last[self.off][units, WRITTEN] = 1  # all of it holds something from the beginning
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
            found = touch_range(self.last[self.off], low, high_ - low, unit, known, not inward)
            self._check(index, self.off, found, "what is loaded")
        found = touch_range(self.last[memory], first, high * width, unit, known, inward)
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
            found = touch_range(
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
            self._check(index, memory, touch_walk(row, ops, strides, last, unit, known, write), "an operand")

    def _shadow(self, row: Table) -> int | None:
        return None if row[Walk.UNSHADOWED] else self.shadows.get(int(row[Walk.TARGET]))

    def _compute(self, row: Table, ops: Table) -> None:
        kind, sums = row[Row.KIND], self.data[int(row[Walk.TARGET])]
        if kind == Kind.MULTIPLY:
            multiply(row, ops, sums, self.data[int(row[Walk.SOURCE])], self.data[int(row[Walk.WEIGHT])])
        elif kind == Kind.SET:
            fill(row, ops, sums)
        else:
            elementwise(row, ops, sums, bool(kind == Kind.VECTORS))
        if (shadow := self._shadow(row)) is not None:
            narrowed(row, ops, sums, self.data[shadow])
