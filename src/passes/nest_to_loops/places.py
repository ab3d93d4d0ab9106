"""Where tensors lie for code of loops: bytes per step of each dim of a tile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
class Operation:
    """`target = text(A, B)`: on every row of a tile (`rows`), or on a row that has an element for each (`column`).

    Names of operands: `sum`, `tensor0`, `vector0` (a constant row per block of columns), those of operations before, or
    an integer.  `fold` makes a column of the lanes and blocks of its rows, `spread` rows of a column's elements; `text`
    of a fold is the function of two rows.
    """

    target: str
    text: str
    a: str | int
    b: str | int | None = None
    shift: int = 0
    kind: str = "rows"

    @property
    def operands(self) -> tuple[str, ...]:
        """The names that it reads."""
        return tuple(item for item in (self.a, self.b) if isinstance(item, str))


@dataclass(frozen=True)
class Store:
    """Rows that leave: whose they are, where to, and bits of an element that is stored."""

    name: str
    rows: Rows
    width_bits: int = 32


@dataclass(frozen=True)
class Epilogue:
    """What the vector engine makes of the rows of a tile: operations in order, and what of it is stored.

    `vectors` and `tensors` (with the bits of an element) are what is loaded.
    """

    operations: tuple[Operation, ...]
    stores: tuple[Store, ...]
    vectors: tuple[Rows, ...] = ()
    tensors: tuple[tuple[Rows, int], ...] = ()

    @property
    def folds(self) -> bool:
        """Whether lanes meet, so that a tile has all columns and no more rows than lanes."""
        return any(operation.kind == "fold" for operation in self.operations)


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
class Window:
    """Rows of a tensor read through taps along y and x, and folded by a function of two rows (`max(A, B)`).

    With `weight`, what is folded are products with a constant row for each tap and block of columns.
    """

    y: Loop
    x: Loop
    rows: Rows
    width_bits: int
    fold: str
    weight: Rows | None = None


@dataclass(frozen=True)
class VectorLayer:
    """Rows by the vector engine alone: operations on tensors, or on a window's result (`sum`)."""

    name: str
    extents: Mapping[str, int]  # batch, y, x, n
    epilogue: Epilogue
    window: Window | None = None


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
