"""A sum of products in units of an array's rows and columns, and how it is cut."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

LOOPS = ("batch", "n", "y", "x", "k")
"""Dims of a tile: copies of everything, blocks of columns, two dims of rows, blocks of what is summed."""


@dataclass(frozen=True)
class Loop:
    """A dim of rows: its extent, the step of the input per step of it, and the taps that are summed along it."""

    extent: int
    stride: int = 1
    taps: int = 1

    def input(self, tile: int) -> int:
        """Input steps that a tile touches."""
        return (tile - 1) * self.stride + self.taps


@dataclass(frozen=True)
class SumProblem:
    """`batch` sums over `k` blocks and the taps of `y` and `x`, for all y, x and `n` blocks of columns.

    Sizes in bytes: `input_bytes` of a row of one block of inputs, `weight_bytes` of a block of weights, `output_bytes`
    of a row of one block of results as they leave the chip.  `shared_input`: all of the batch have the same.
    """

    batch: int
    n: int
    y: Loop
    x: Loop
    k: int
    input_bytes: int
    weight_bytes: int
    output_bytes: int
    shared_input: bool = False
    vector_cycles: int = 0  # issues of the vector engine per row of one block of results

    @property
    def extents(self) -> dict[str, int]:
        """Extent of each dim of a tile."""
        return {"batch": self.batch, "n": self.n, "y": self.y.extent, "x": self.x.extent, "k": self.k}

    @property
    def issues(self) -> int:
        """Issues of the array: one per row, block of columns, block of sums and tap."""
        return prod(self.extents.values()) * self.y.taps * self.x.taps


@dataclass(frozen=True)
class Buffers:
    """Rows that a tile may use of the memories; DRAM in bytes per cycle and cycles per request; the array's latency."""

    input_rows: int
    weight_rows: int
    output_rows: int
    dram_bytes_per_cycle: float
    latency_cycles: int
    request_cycles: int = 0


@dataclass(frozen=True)
class Block:
    """A box of equal tiles: per dim where it begins, the size of a tile, and how many there are."""

    start: dict[str, int]
    tile: dict[str, int]
    count: dict[str, int]


@dataclass(frozen=True)
class Tiling:
    """Sizes of tiles, and the loops over them, outermost first; `k` is innermost."""

    tile: dict[str, int]
    order: tuple[str, ...]

    def blocks(self, problem: SumProblem) -> list[Block]:
        """Boxes of equal tiles: the whole tiles, and along each dim what is left."""
        return blocks_of(problem.extents, self.tile, self.order)


def blocks_of(extents: Mapping[str, int], tile: Mapping[str, int], dims: Sequence[str]) -> list[Block]:
    """Boxes of equal tiles that cover the extents, the last of `dims` fastest."""
    parts: list[list[tuple[int, int, int]]] = []
    for dim in dims:
        whole, rest = divmod(extents[dim], tile[dim])
        parts.append(([(0, tile[dim], whole)] if whole else []) + ([(whole * tile[dim], rest, 1)] if rest else []))
    return [
        Block(*({dim: part[i] for dim, part in zip(dims, choice, strict=True)} for i in range(3)))
        for choice in product(*parts)
    ]


def depends(problem: SumProblem) -> dict[str, tuple[str, ...]]:
    """The dims that move each tensor."""
    inputs = ("y", "x", "k") if problem.shared_input else ("batch", "y", "x", "k")
    return {"input": inputs, "weight": ("batch", "n", "k"), "output": ("batch", "n", "y", "x")}


def sizes(problem: SumProblem, tile: dict[str, int]) -> dict[str, int]:
    """Rows that a tile of each tensor takes on chip."""
    halo = problem.y.input(tile["y"]) * problem.x.input(tile["x"])
    taps = problem.y.taps * problem.x.taps
    return {
        "input": halo * tile["k"],
        "weight": taps * tile["n"] * tile["k"],
        "output": tile["n"] * tile["y"] * tile["x"],
    }
