"""What instructions of stages do to memories, compiled: copies with zeros around them, and walks over micro-ops.

Memories are two-dimensional: elements by numbers.  `ops` are the micro-ops of a walk as unsigned integers; `row` is its
row of the table (`costs.stages.code`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....costs.compiled import compiled, inner
from ....costs.stages.code import SHIFTS, Table, Walk

Numbers = NDArray[Any]


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
