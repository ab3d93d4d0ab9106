"""Where tensors lie for code of loops: bytes per step of each dim of a tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import TilewrightError
from ...search.tiles import Loop, SumProblem

MAX_SIZE = (1 << 16) - 1


@dataclass(frozen=True)
class Rows:
    """A tensor in DRAM as rows of lanes: the address of the first, and bytes per step of each dim (0 if not named)."""

    address: int
    pitches: Mapping[str, int]
    row_bytes: int

    def pitch(self, dim: str) -> int:
        """Bytes per step of a dim."""
        return self.pitches.get(dim, 0)

    def at(self, start: Mapping[str, int]) -> int:
        """The address of the row at a point."""
        return self.address + sum(self.pitch(dim) * n for dim, n in start.items())


@dataclass(frozen=True)
class Vector:
    """A constant row of lanes for each block of columns (a channel's factor): its place in DRAM."""

    rows: Rows


@dataclass(frozen=True)
class Operation:
    """`target = text(A, B)` on rows: `A` and `B` are `sum`, `out`, `vector0`, ..., `tensor0`, ..., or an integer."""

    text: str
    a: str | int
    b: str | int | None = None
    shift: int = 0


@dataclass(frozen=True)
class Epilogue:
    """What the vector engine makes of rows of sums (or of tensors): operations in order, each on the last's result.

    The first reads; every one writes `out`.  `width_bits` are those of an element that is stored.
    """

    operations: tuple[Operation, ...]
    vectors: tuple[Rows, ...] = ()
    tensors: tuple[tuple[Rows, int], ...] = ()  # with the width of an element in bits
    width_bits: int = 32


@dataclass(frozen=True)
class SumLayer:
    """A sum of products and what is made of it: `problem` with the places of its tensors.

    `weight` rows are blocks; a last dim `column` says how many columns a narrow block has (`columns`, else all).
    """

    name: str
    problem: SumProblem
    input: Rows
    weight: Rows
    output: Rows
    bias: Rows | None = None
    epilogue: Epilogue | None = None


@dataclass(frozen=True)
class VectorLayer:
    """Rows from tensors by the vector engine alone: `tensors[0]` read through taps along y and x, folded by `fold`.

    `fold` is the instruction's text over A and B (`max(A, B)`) that combines taps; without taps the epilogue's first
    operation reads the tensors.
    """

    name: str
    extents: Mapping[str, int]  # batch, y, x, n
    y: Loop
    x: Loop
    tensor: Rows
    width_bits: int
    fold: str
    output: Rows
    epilogue: Epilogue = field(default_factory=lambda: Epilogue(()))


def pieces(
    loops: Sequence[tuple[int, int]], size: int, granule: int, subject: str
) -> tuple[list[tuple[int, int]], int]:
    """Loops (iterations, stride in bytes) around contiguous pieces, and the granules of a piece.

    Loops that continue where their inside ends become part of the piece.
    """
    kept = [loop for loop in loops if loop[0] > 1]
    while kept and kept[-1][1] == size:
        size *= kept.pop()[0]
    if size % granule:
        raise TilewrightError("program", subject, f"pieces of whole granules of {granule} bytes", f"{size} bytes")
    count = size // granule
    parts = next(n for n in range(1, count + 1) if count % n == 0 and count // n <= MAX_SIZE)
    return ([*kept, (parts, count // parts * granule)] if parts > 1 else kept), count // parts
