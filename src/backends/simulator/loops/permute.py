"""Rows that go from one memory to another, as they are or with rows and lanes exchanged."""

from dataclasses import dataclass, field
from math import prod

import numpy as np

from ....algebra.element import Ints
from .actions import Step
from .chip import Chip, offsets, span

MAX_ROWS = 1 << 20
MAX_LOOPS = 16


@dataclass(frozen=True)
class Side:
    """Rows of a memory in order: the first, and loops (iterations, stride in rows), outermost first."""

    memory: str
    base: int
    loops: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        """How many rows."""
        return prod(n for n, _ in self.loops)

    @property
    def inner(self) -> int:
        """Rows of a block: iterations of the innermost loop."""
        return self.loops[-1][0] if self.loops else 1


@dataclass(frozen=True)
class Permute:
    """Row `i` of the source becomes row `i` of the target.

    With `shuffle`, in blocks of the innermost loops: lane `j` of row `i` becomes lane `i` of row `j`; lanes of the
    target beyond the rows of a source's block become 0.
    """

    step: Step
    target: Side
    source: Side
    shuffle: bool

    @property
    def rows(self) -> int:
        """Rows that are read or written, whichever are more."""
        return max(self.target.count, self.source.count)


@dataclass
class PermuteReader:
    """Takes the instructions that configure a permutation; the loops of both sides are gone after it."""

    bases: dict[int, int] = field(default_factory=dict[int, int])
    loops: dict[int, dict[int, int]] = field(default_factory=lambda: {0: {}, 1: {}})
    strides: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def take(self, step: Step) -> Permute | None:
        """Another instruction; what it starts, if it does."""
        side = step.number("side")
        match step.kind:
            case "permute_base":
                self.bases[side] = step.number("value")
            case "permute_loop":
                if len(self.loops[side]) >= MAX_LOOPS:
                    raise step.trap("illegal", f"at most {MAX_LOOPS} loops", "another")
                self.loops[side][step.number("id")] = step.number("last") + 1
            case "permute_stride":
                value = step.number("value")
                self.strides[side, step.number("loop")] = value - (value >> 15 << 16)
            case _:
                return self._start(step)
        return None

    def _start(self, step: Step) -> Permute:
        sides: list[Side] = []
        for number, space in enumerate(("A_space", "O_space")):
            loops = tuple((n, self.strides.get((number, loop), 0)) for loop, n in self.loops[number].items())
            sides.append(Side(step.names[space], self.bases.get(number, 0), loops))
        self.loops = {0: {}, 1: {}}
        return Permute(step, sides[1], sides[0], bool(step.number("shuffle")))


def permute(chip: Chip, event: Permute) -> None:
    """Carries a permutation out on words of 32 bits."""
    source, target = event.source, event.target
    check(chip, event)
    chip.check_written(event.step, source.memory, _rows(source).reshape(-1))
    words = chip.data[source.memory].view(np.int32).reshape(chip.rows_of(source.memory), -1)
    moved = words[_rows(source).reshape(-1)]
    if event.shuffle:
        lanes = words.shape[1]
        turned = moved.reshape(-1, source.inner, lanes).transpose(0, 2, 1)[:, : target.inner]
        moved = np.zeros((turned.shape[0], target.inner, lanes), np.int32)
        moved[:, :, : source.inner] = turned
        moved = moved.reshape(-1, lanes)
    rows = _rows(target).reshape(-1)
    chip.data[target.memory].view(np.int32).reshape(chip.rows_of(target.memory), -1)[rows] = moved
    chip.written[target.memory][rows] = True


def check(chip: Chip, event: Permute) -> None:
    """Traps rows outside of a memory, and sides that do not fit each other."""
    source, target, step = event.source, event.target, event.step
    sizes = [chip.row_bytes(side.memory) for side in (source, target)]
    if sizes[0] != sizes[1] or sizes[0] % 4:
        raise step.trap("illegal", "two memories with rows alike", f"rows of {sizes[0]} and {sizes[1]} bytes")
    if event.rows > MAX_ROWS:
        raise step.trap("illegal", f"at most {MAX_ROWS} rows", str(event.rows))
    for side in (source, target):
        low, high = span(side.loops)
        chip.check_rows(step, side.memory, side.base + low, side.base + high + 1)
    blocks = [side.count // side.inner if event.shuffle else side.count for side in (source, target)]
    if blocks[0] != blocks[1]:
        raise step.trap("illegal", f"as many rows or blocks as are read, {blocks[0]}", str(blocks[1]))
    lanes = sizes[0] // 4
    if event.shuffle and max(source.inner, target.inner) > lanes:
        raise step.trap("illegal", f"blocks of at most {lanes} rows", f"{max(source.inner, target.inner)}")


def _rows(side: Side) -> Ints:
    return offsets(side.loops) + side.base
