"""Addresses of a loop nest over rows: one register for accesses that move together, the rest in their offsets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ...algebra.expr import Access
from ...machine.packet_program import Instruction
from .emit import Emitter
from .forms import Buffer
from .regions import Pipelined, Region, Repeat, Straight
from .virtual import Section

Steps = tuple[int, ...]
"""Bytes from one iteration to the next of each loop, outermost first, and last from one chunk of lanes to the next."""

CHUNK, TARGET = "", "target"
"""What a loop over a row's chunks has instead of a dim; the memory that is written."""


@dataclass(frozen=True)
class Level:
    """A loop: dims that are one walk through memory for all accesses, the outermost first, with their extents."""

    dims: tuple[tuple[str, int], ...]

    @property
    def extent(self) -> int:
        """Iterations."""
        return prod(extent for _, extent in self.dims)


@dataclass
class Pointer:
    """An address register, `anchor` at the start."""

    register: int
    anchor: int
    steps: Steps


@dataclass
class Pointers:
    """Address registers that move over the loops `levels`."""

    emitter: Emitter
    levels: tuple[Level, ...]
    pointers: list[Pointer]

    def moves(self, amounts: Sequence[int]) -> list[Instruction]:
        """Each pointer on by its amount."""
        pairs = zip(self.pointers, amounts, strict=True)
        return [self.emitter.add(p.register, p.register, amount) for p, amount in pairs if amount]

    def step(self, level: int) -> list[int]:
        """What an iteration of a loop moves each pointer by; -1 is from chunk to chunk."""
        return [pointer.steps[level] for pointer in self.pointers]

    def whole(self, level: int) -> list[int]:
        """What all iterations of a loop move each pointer by."""
        extent = self.levels[level].extent
        return [extent * pointer.steps[level] for pointer in self.pointers]

    def nest(self, first: int, end: int, body: Section | list[Region], inside: list[int] | None = None) -> list[Region]:
        """Loops `first` to `end` around a body that has moved pointers by `inside`; the first one's moves are left."""
        straight = [item for item in body if isinstance(item, Instruction)]
        regions: list[Region] = [item for item in body if not isinstance(item, Instruction)]
        moved = inside or [0] * len(self.pointers)
        if first == end:
            undo = self.moves([-amount for amount in moved])
            return [*regions, Straight((*straight, *undo))]
        for level in reversed(range(first, end)):
            step = self.moves([s - m for s, m in zip(self.step(level), moved, strict=True)])
            if level == end - 1 and straight:
                regions = [Pipelined(self.levels[level].extent, (*straight, *step))]
            else:
                regions = [Repeat(self.levels[level].extent, (*regions, Straight(tuple(step))))]
            moved = self.whole(level)
        return regions


@dataclass
class Streams(Pointers):
    """Pointers of the accesses that move over `levels`; the target's is `target`.

    With `hoist` what is the same in all rows is loaded before them, from addresses of its own.
    """

    buffers: Mapping[str, Buffer]
    target: Access
    chunk_elements: int
    along: Mapping[str, bool]
    scratch: int
    chunks: int
    hoist: bool = True

    def steps(self, access: Access) -> tuple[int, Steps]:
        """The first address of an access, and its steps."""
        buffer = self.buffers[access.tensor]
        at, by_dim = buffer.steps(access)
        chunk = self.chunk_elements * buffer.form.itemsize if self.along.get(access.tensor.split(".")[0]) else 0
        by_dim[CHUNK] = chunk
        return at, (*(by_dim.get(level.dims[-1][0], 0) for level in self.levels), chunk)

    def plan(self, accesses: Sequence[tuple[Access, int]]) -> None:
        """Registers for accesses of so many bytes in a row."""
        width, found = self.emitter.vector_bytes, dict[Steps, set[int]]()
        reach = self.emitter.reach(self.emitter.vectors)
        for access, count in accesses:
            at, steps = self.steps(access)
            if any(steps[:-1]) or access is self.target or not self.hoist:
                found.setdefault(steps, set()).update(range(at, at + count, width))
        for steps, places in found.items():
            left = sorted(places)
            while left:
                near = left[0] + reach[-1] >= left[-1]
                anchor = left[0] if near else left[0] - reach[0]
                self.pointers.append(Pointer(self.emitter.pool.take(self.emitter.scalars), anchor, steps))
                left = [place for place in left if place > anchor + reach[-1]]

    def lasting(self, access: Access) -> bool:
        """Whether an access reads the same in all rows."""
        return self.hoist and not any(self.steps(access)[1][:-1])

    def find(self, at: int, steps: Steps) -> tuple[int, int]:
        """The register that reaches an address, and the offset from it."""
        reach = self.emitter.reach(self.emitter.vectors)
        for pointer in self.pointers:
            if pointer.steps == steps and at - pointer.anchor in reach:
                return pointer.register, at - pointer.anchor
        self.pointers.append(Pointer(self.emitter.pool.take(self.emitter.scalars), at, steps))
        return self.pointers[-1].register, 0

    def load(self, section: Section, register: int, access: Access, extra: int) -> None:
        """A vector `extra` bytes after an access's place; where there is but one chunk, what lasts needs no pointer."""
        emitter = self.emitter
        at, steps = self.steps(access)
        if self.lasting(access) and (self.chunks == 1 or not steps[-1]):
            section.append(emitter.address(self.scratch, at + extra))
            section.append(emitter.load(emitter.vectors, register, self.scratch, 0, access.tensor))
            return
        base, offset = self.find(at + extra, steps)
        part = self.part(access)
        section.append(emitter.load(emitter.vectors, register, base, offset, part))

    def part(self, access: Access) -> str:
        """The memory that a load touches; what is read at the place that is then written keeps its order anyway."""
        same = self.buffers[access.tensor].address == self.buffers[self.target.tensor].address
        return TARGET if same and access.indices != self.target.indices else access.tensor

    def store(self, section: Section, register: int, extra: int) -> None:
        """A vector to the target's place."""
        at, steps = self.steps(self.target)
        base, offset = self.find(at + extra, steps)
        section.append(self.emitter.store(self.emitter.vectors, register, base, offset, TARGET))

    def starts(self) -> list[Instruction]:
        """The pointers' first addresses."""
        return [self.emitter.address(pointer.register, pointer.anchor) for pointer in self.pointers]


def merged(levels: Sequence[tuple[str, int]], steps: Sequence[Mapping[str, int]]) -> tuple[Level, ...]:
    """Dims as loops: neighbours that every access walks through evenly are one; those of one iteration are none."""
    result: list[Level] = []
    for dim, extent in levels:
        if extent == 1:
            continue
        if result:
            last, _ = result[-1].dims[-1]
            if all(by.get(last, 0) == extent * by.get(dim, 0) for by in steps):
                result[-1] = Level((*result[-1].dims, (dim, extent)))
                continue
        result.append(Level(((dim, extent),)))
    return tuple(result)
