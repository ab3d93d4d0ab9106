"""What a moved vector operand adds too much: for each row, -flip times the sum of the scalar operand, as a word.

(w + f) * a = w * a + f * a, so sums start from -f times the sum of a.  A vector of a row's bytes is multiplied with -f
lane by lane, bytes that do not count with 0.  Two such vectors at a time, their lanes dealt into those of even and of
odd numbers and added, become one; the last has a lane for each row:

a0 a1 a2 a3 | b0 b1 b2 b3  ->  a0+a1 a2+a3 b0+b1 b2+b3, with c and d in the same way  ->  a b c d
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...machine.packet_program import Instruction
from ...machine.packet_storage import Storage
from ...machine.packets import PackedMnemonic
from .emit import Emitter
from .regions import Pipelined, Region, Repeat, Straight
from .roles import Contraction
from .tiles import SUMS, WORD_BYTES, Multiply, X

MOST_LOADS = 32
"""Vectors of the scalar operand in one iteration, where two rows do not need more."""

LOADED = 4

Pattern = tuple[bool, ...]
"""Which of the bytes of a vector count; those between or after channels do not."""


@dataclass(frozen=True)
class Layout:
    """Words of corrections: `rows` of them from one tree, trees side by side, `pitch_bytes` for each inner loop.

    `shared`: rows that are in one vector of the scalar operand.
    """

    shared: int
    rows: int
    pitch_bytes: int


def layout_of(emitter: Emitter, contraction: Contraction, multiply: Multiply) -> Layout:
    """How many rows a vector and a tree of vectors have, and where their words lie."""
    width, run, walk = emitter.vector_bytes, contraction.run_bytes, contraction.rows[-1]
    shared = 1
    if len(contraction.segments) == 1 and walk.step_bytes == run and width % run == 0:
        words = run // multiply.group
        shared = width // run if words & (words - 1) == 0 else 1
    rows = multiply.lanes
    while rows > max(shared, 2) and rows // shared * -(-run // width) * len(contraction.segments) > MOST_LOADS:
        rows //= 2
    trees = -(-walk.extent // rows)
    return Layout(shared, rows, -(-((trees - 1) * rows * WORD_BYTES + width) // width) * width)


class Correction:
    """The pass over all rows of X at address register `base` that writes a word for each row from `address` on."""

    def __init__(
        self, emitter: Emitter, storage: Storage, contraction: Contraction, multiply: Multiply, base: int, address: int
    ) -> None:
        self.emitter, self.contraction, self.multiply = emitter, contraction, multiply
        self.storage, self.base, self.address = storage, base, address
        self.layout = layout_of(emitter, contraction, multiply)
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
            counted *= self.layout.shared
            chunks = [(at, tuple(counted[at : at + width])) for at in range(0, len(counted), width)]
            for i in range(0, len(chunks), per_stream):
                part = chunks[i : i + per_stream]
                anchor = part[0][0] - reach[0] if part[-1][0] - part[0][0] > reach[-1] else part[0][0]
                streams.append((segment + anchor, [(at - anchor, pattern) for at, pattern in part]))
        return streams

    def aligned(self) -> bool:
        walks = (*self.contraction.rows[:-1], *self.contraction.batch)
        places = [*(walk.step_bytes for walk in walks if walk.extent > 1), *self.contraction.segments, self.step_bytes]
        return not any(place % self.emitter.vector_bytes for place in places)

    @property
    def step_bytes(self) -> int:
        """Bytes of the scalar operand from one vector's rows to the next's."""
        walk = self.contraction.rows[-1]
        return walk.step_bytes * self.layout.shared if walk.extent > 1 else 0

    def take(self, file: str) -> int:
        number = self.emitter.pool.take(file)
        self.taken.append((file, number))
        return number

    def regions(self) -> list[Region]:
        """The whole pass."""
        emitter, deal = self.emitter, required(self.multiply.deal)
        start: list[Instruction] = []
        self.given = {name: self.take(dict(deal.registers)[name]) for name, _ in deal.given}
        start += [emitter.constant(self.given[name], int(number)) for name, number in deal.given]
        pointer, target = self.take(emitter.scalars), self.take(emitter.scalars)
        self.masks: dict[Pattern, int] = {}
        for pattern in self.patterns:
            self.masks[pattern] = self.take(emitter.vectors)
            mask = bytes((256 - self.multiply.flip) * counts for counts in pattern).ljust(emitter.vector_bytes, b"\0")
            start.append(emitter.address(pointer, self.storage.constant(mask)))
            start.append(emitter.load(emitter.vectors, self.masks[pattern], pointer, 0, "masks"))
        self.loads = [self.take(emitter.vectors) for _ in range(LOADED)]
        self.turn = 0
        out, inside = deal.places if deal.places[0].operand == "O" else deal.places[::-1]
        files = dict(deal.registers)
        levels = (self.multiply.lanes // self.layout.shared).bit_length() - 1
        self.pairs = [(self.take(files[inside.base]), self.take(files[out.base])) for _ in range(levels)]
        self.total = self.take(emitter.vectors)
        start.append(emitter.address(target, self.address))
        start.append(emitter.add(pointer, self.base, 0))
        regions = [Straight(tuple(start)), *self.walk(0, pointer, target)]
        for file, number in self.taken:
            emitter.pool.give(file, number)
        return regions

    def walk(self, level: int, pointer: int, target: int) -> list[Region]:
        """The loops over rows from `level` inward; `pointer` is at the first row."""
        walk, emitter, rows = self.contraction.rows[level], self.emitter, self.layout.rows
        if level < len(self.contraction.rows) - 1:
            inner = self.take(emitter.scalars)
            start = Straight((emitter.add(inner, pointer, 0), emitter.add(pointer, pointer, walk.step_bytes)))
            return [Repeat(walk.extent, (start, *self.walk(level + 1, inner, target)))]
        at = [self.take(emitter.scalars) for _ in self.streams]
        first = [emitter.add(register, pointer, anchor) for register, (anchor, _) in zip(at, self.streams, strict=True)]
        trips, left = divmod(walk.extent, rows)
        rest = self.tree(left, at, target) if left else []
        on = emitter.add(target, target, self.layout.pitch_bytes - trips * rows * WORD_BYTES)
        return [Straight(tuple(first)), Pipelined(trips, tuple(self.rows(at, target))), Straight((*rest, on))]

    def rows(self, at: Sequence[int], target: int) -> Iterator[Instruction]:
        """A whole tree, and on to the next."""
        yield from self.tree(self.layout.rows, at, target)
        yield self.emitter.add(target, target, WORD_BYTES * self.layout.rows)

    def tree(self, rows: int, at: Sequence[int], target: int) -> list[Instruction]:
        """The sums of a few rows, stored at `target`, with what is in the other lanes behind them."""
        emitter = self.emitter
        made = list(self.node(len(self.pairs), -(-rows // self.layout.shared), at, self.total))
        store = emitter.store(emitter.vectors, self.total, target, 0, SUMS, WORD_BYTES * self.layout.rows)
        return [*made, replace(store, reads=store.writes)]  # one tree writes over what another left behind its sums

    def node(self, level: int, vectors: int, at: Sequence[int], target: int) -> Iterator[Instruction]:
        """So many vectors of rows as one, in register `target`, each row's lanes added `level` times."""
        if level == 0:
            yield from self.leaf(at, target)
            return
        pair, dealt = self.pairs[level - 1]
        half = 1 << level - 1
        yield from self.node(level - 1, min(vectors, half), at, 2 * pair)
        if vectors > half:
            yield from self.node(level - 1, vectors - half, at, 2 * pair + 1)
        deal = self.emitter.place(required(self.multiply.deal), (dealt, pair))
        yield replace(deal, values=(*deal.values, *self.given.items()))
        yield self.emitter.place(required(self.multiply.add), (target, 2 * dealt, 2 * dealt + 1))

    def leaf(self, at: Sequence[int], target: int) -> Iterator[Instruction]:
        """The next vector of rows, multiplied with -flip."""
        emitter, item = self.emitter, required(self.multiply.first_dot)
        for register, (_, chunks) in zip(at, self.streams, strict=True):
            for offset, pattern in chunks:
                load, self.turn = self.loads[self.turn % LOADED], self.turn + 1
                yield emitter.load(emitter.vectors, load, register, offset, X, self.align)
                yield emitter.place(item, (target, load, self.masks[pattern]))
                item = required(self.multiply.dot)
            yield emitter.add(register, register, self.step_bytes)


def required(item: PackedMnemonic | None) -> PackedMnemonic:
    """The mnemonic, which `select` found for a moved operand."""
    assert item is not None
    return item
