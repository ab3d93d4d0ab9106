"""What a moved vector operand adds too much: for each row, -flip times the sum of the scalar operand, in all lanes.

(w + f) * a = w * a + f * a, so sums start from -f times the sum of a.  A row's bytes are multiplied with -f lane by
lane, bytes beyond a run with 0; rotating by halves and adding leaves the sum of all lanes in each.
"""

from __future__ import annotations

from ...machine.packets import PackedMnemonic
from .emit import Emitter
from .program import Instruction
from .regions import Pipelined, Region, Repeat, Straight
from .roles import Contraction
from .select import Multiply
from .storage import Storage
from .tiles import SUMS, X

ROWS_AT_ONCE = 2

Pattern = tuple[bool, ...]
"""Which of the bytes of a vector count; those between or after channels do not."""


class Correction:
    """The pass over all rows of X at address register `base` that writes a vector for each row to `address`."""

    def __init__(
        self, emitter: Emitter, storage: Storage, contraction: Contraction, multiply: Multiply, base: int, address: int
    ) -> None:
        self.emitter, self.contraction, self.multiply = emitter, contraction, multiply
        self.storage, self.base, self.address = storage, base, address
        self.taken: list[tuple[str, int]] = []
        self.streams = self.make_streams()
        self.patterns = sorted({pattern for _, chunks in self.streams for _, pattern in chunks})

    def make_streams(self) -> list[tuple[int, list[tuple[int, Pattern]]]]:
        """Address registers by bytes from the row's start, with the chunks that each reaches: offset, what counts."""
        width, run = self.emitter.vector_bytes, self.contraction.run_bytes
        self.align = width if self.aligned() else 1
        reach = self.emitter.reach(self.emitter.vectors)
        per_stream = (reach[-1] - reach[0]) // width + 1
        streams: list[tuple[int, list[tuple[int, Pattern]]]] = []
        for number, segment in enumerate(self.contraction.segments):
            counted = [source >= 0 for source in self.contraction.sources[number * run : (number + 1) * run]]
            chunks = [(at, tuple(counted[at : at + width])) for at in range(0, run, width)]
            for i in range(0, len(chunks), per_stream):
                part = chunks[i : i + per_stream]
                anchor = part[0][0] - reach[0] if part[-1][0] - part[0][0] > reach[-1] else part[0][0]
                streams.append((segment + anchor, [(at - anchor, pattern) for at, pattern in part]))
        return streams

    def aligned(self) -> bool:
        walks = (*self.contraction.rows, *self.contraction.batch)
        places = [*(walk.step_bytes for walk in walks if walk.extent > 1), *self.contraction.segments]
        return not any(place % self.emitter.vector_bytes for place in places)

    def take(self, file: str) -> int:
        number = self.emitter.pool.take(file)
        self.taken.append((file, number))
        return number

    def regions(self) -> list[Region]:
        """The whole pass."""
        emitter = self.emitter
        start: list[Instruction] = []
        pointer, target = self.take(emitter.scalars), self.take(emitter.scalars)
        self.masks: dict[Pattern, int] = {}
        for pattern in self.patterns:
            self.masks[pattern] = self.take(emitter.vectors)
            mask = bytes((256 - self.multiply.flip) * counts for counts in pattern).ljust(emitter.vector_bytes, b"\0")
            start.append(emitter.address(pointer, self.storage.constant(mask)))
            start.append(emitter.load(emitter.vectors, self.masks[pattern], pointer, 0, "masks"))
        self.turns = [self.take(emitter.scalars) for _ in self.rotations()]
        start += [emitter.constant(register, by) for by, register in zip(self.rotations(), self.turns, strict=True)]
        start.append(emitter.address(target, self.address))
        start.append(emitter.add(pointer, self.base, 0))
        regions = [Straight(tuple(start)), *self.walk(0, pointer, target)]
        for file, number in self.taken:
            emitter.pool.give(file, number)
        return regions

    def rotations(self) -> list[int]:
        """Half the vector's bytes, a quarter, ... down to one lane."""
        by, turns = self.emitter.vector_bytes // 2, list[int]()
        while by >= self.emitter.vector_bytes // self.multiply.lanes:
            turns.append(by)
            by //= 2
        return turns

    def walk(self, level: int, pointer: int, target: int) -> list[Region]:
        """The loops over rows from `level` inward; `pointer` is at the first row."""
        walk, emitter = self.contraction.rows[level], self.emitter
        if level < len(self.contraction.rows) - 1:
            inner = self.take(emitter.scalars)
            start = Straight((emitter.add(inner, pointer, 0), emitter.add(pointer, pointer, walk.step_bytes)))
            return [Repeat(walk.extent, (start, *self.walk(level + 1, inner, target)))]
        together = min(ROWS_AT_ONCE, walk.extent)
        at = [self.take(emitter.scalars) for _ in self.streams]
        first = [emitter.add(register, pointer, anchor) for register, (anchor, _) in zip(at, self.streams, strict=True)]
        sums = [[self.take(emitter.vectors) for _ in range(1 + len(self.turns) * 2)] for _ in range(together)]
        loads = [self.take(emitter.vectors) for _ in range(4)]
        trips, left = divmod(walk.extent, together)
        body = self.rows(sums, loads, at, target, walk.step_bytes)
        rest = self.rows(sums[:left], loads, at, target, walk.step_bytes)
        return [Straight(tuple(first)), Pipelined(trips, tuple(body)), Straight(tuple(rest))]

    def rows(self, sums: list[list[int]], loads: list[int], at: list[int], target: int, step: int) -> list[Instruction]:
        """A few rows, each with registers of its own for its sums."""
        emitter, made, turn = self.emitter, list[Instruction](), 0
        for own in sums:
            total, free = own[0], own[1:]
            item = self.multiply.first_dot
            for register, (_, chunks) in zip(at, self.streams, strict=True):
                for offset, pattern in chunks:
                    load = loads[turn % len(loads)]
                    turn += 1
                    made.append(emitter.load(emitter.vectors, load, register, offset, X, self.align))
                    made.append(emitter.place(required(item), (total, load, self.masks[pattern])))
                    item = self.multiply.dot
                made.append(emitter.add(register, register, step))
            for i, by in enumerate(self.turns):
                rotated, added = free[2 * i], free[2 * i + 1]
                made.append(emitter.rotated(required(self.multiply.rotate), rotated, total, by))
                made.append(emitter.place(required(self.multiply.add), (added, total, rotated)))
                total = added
            made.append(emitter.advancing(True, emitter.vectors, total, target, emitter.vector_bytes, SUMS))
        return made


def required(item: PackedMnemonic | None) -> PackedMnemonic:
    """The mnemonic, which `select` found for a moved operand."""
    assert item is not None
    return item
