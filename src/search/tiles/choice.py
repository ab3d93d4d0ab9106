"""The tiles with the least product of cycles and DRAM traffic.

All sizes `ceil(extent / i)` of every dim are tried with all orders of the loops over more than one tile.  Sums stay on
chip: the loop over blocks of sums is innermost, and its tiles are equal.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, permutations, product
from math import prod
from typing import TypeVar

from ...costs.clock import Limit
from ...errors import InfeasibleError

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
    of a row of one block of results as they leave the chip.
    """

    batch: int
    n: int
    y: Loop
    x: Loop
    k: int
    input_bytes: int
    weight_bytes: int
    output_bytes: int
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


DEPENDS = {"input": ("batch", "y", "x", "k"), "weight": ("batch", "n", "k"), "output": ("batch", "n", "y", "x")}
"""The dims that move each tensor."""


def sizes(problem: SumProblem, tile: dict[str, int]) -> dict[str, int]:
    """Rows that a tile of each tensor takes on chip."""
    halo = problem.y.input(tile["y"]) * problem.x.input(tile["x"])
    taps = problem.y.taps * problem.x.taps
    return {
        "input": halo * tile["k"],
        "weight": taps * tile["n"] * tile["k"],
        "output": tile["n"] * tile["y"] * tile["x"],
    }


MAX_CANDIDATES = 20_000


@dataclass(frozen=True)
class Choice:
    """A tiling with its predicted cycles and DRAM traffic."""

    tiling: Tiling
    cycles: float
    dram_bytes: int


def choose(problem: SumProblem, buffers: Buffers, first: bool = False) -> Choice:
    """The best tiling, or the first that is valid; `InfeasibleError` where not even the smallest tiles fit."""
    best: tuple[float, float, Choice] | None = None
    for tile in _tiles(problem, buffers):
        for order in _orders(problem, tile):
            tiling = Tiling(tile, order)
            cycles, traffic = price(problem, buffers, tiling)
            score = (cycles * traffic, cycles)
            if best is None or score < best[:2]:
                best = (*score, Choice(tiling, cycles, traffic))
            if first:
                return best[2]
    if best is None:
        ones = sizes(problem, dict.fromkeys(LOOPS, 1))
        rooms = {"input": buffers.input_rows, "weight": buffers.weight_rows, "output": buffers.output_rows}
        name = max(ones, key=lambda n: ones[n] / max(rooms[n], 1))
        raise InfeasibleError(name, ones[name], rooms[name], "rows", "shrink the taps or enlarge the memory")
    return best[2]


def steps(extent: int) -> list[int]:
    """The sizes that cut an extent into 1, 2, 3, ... parts, decreasing."""
    found: list[int] = []
    parts = 1
    while parts <= extent:
        size = -(-extent // parts)
        found.append(size)
        parts = max(parts + 1, -(-extent // max(size - 1, 1))) if size > 1 else extent + 1
    return found


def _tiles(problem: SumProblem, buffers: Buffers) -> Iterator[dict[str, int]]:
    """Sizes that fit, the largest first; for each of the others the largest `x` that fits and those below it."""
    divisors = [k for k in range(problem.k, 0, -1) if problem.k % k == 0]
    tried = 0
    for k, n, y in product(divisors, steps(problem.n), steps(problem.y.extent)):
        for x in steps(problem.x.extent):
            tile = {"batch": 1, "n": n, "y": y, "x": x, "k": k}
            rows = sizes(problem, tile)
            if rows["weight"] > buffers.weight_rows or tried >= MAX_CANDIDATES:
                break
            if rows["input"] <= buffers.input_rows and rows["output"] <= buffers.output_rows:
                tried += 1
                yield tile


def _orders(problem: SumProblem, tile: dict[str, int]) -> list[tuple[str, ...]]:
    """Orders of the loops over several tiles, the others outside; sums innermost."""
    cut = [dim for dim in LOOPS[:-1] if problem.extents[dim] > tile[dim]]
    whole = [dim for dim in LOOPS[:-1] if dim not in cut]
    return [(*whole, *order, "k") for order in permutations(cut)]


def price(problem: SumProblem, buffers: Buffers, tiling: Tiling) -> tuple[float, int]:
    """Cycles and DRAM traffic of a tiling, block after block.

    While the array sums one tile, DRAM brings what the next needs: a block takes the longer of both, the vector engine
    included.  What cannot overlap are the first load and the last store, or a tile of computing where DRAM is slower.
    """
    cycles, traffic = 0.0, 0
    for number, block in enumerate(tiling.blocks(problem)):
        moved, first, requests = block_traffic(problem, tiling.order, block)
        compute = prod(block.tile.values()) * prod(block.count.values()) * problem.y.taps * problem.x.taps
        compute += prod(block.count.values()) * buffers.latency_cycles
        outputs = prod(block.count[d] * block.tile[d] for d in ("batch", "n", "y", "x"))
        vector = outputs * problem.vector_cycles
        total = sum(moved.values())
        waits = requests * buffers.request_cycles
        last = moved["output"] / prod(block.count[d] for d in ("batch", "n", "y", "x"))
        ends = (last + (first if number == 0 else 0)) / buffers.dram_bytes_per_cycle
        tiles = prod(block.count.values())
        moving = total / buffers.dram_bytes_per_cycle + waits + (compute + vector) / tiles
        cycles += max(max(compute, vector) + ends, moving)
        traffic += total
    return cycles, traffic


def block_traffic(problem: SumProblem, order: tuple[str, ...], block: Block) -> tuple[dict[str, int], int, int]:
    """Bytes that a box of tiles moves by tensor, those before the first tile can start, and the number of requests.

    A tile of a tensor is loaded anew at each iteration of the loops down to the innermost that moves it.
    """
    rows = sizes(problem, block.tile)
    scale = {"input": problem.input_bytes, "weight": problem.weight_bytes, "output": problem.output_bytes}
    moved: dict[str, int] = {}
    requests = 0
    for name, dims in DEPENDS.items():
        deepest = max((i for i, dim in enumerate(order) if dim in dims and block.count[dim] > 1), default=-1)
        loads = prod(block.count[dim] for dim in order[: deepest + 1])
        if name == "output":
            loads = prod(block.count[dim] for dim in dims)
        moved[name] = loads * rows[name] * scale[name]
        requests += loads
    return moved, rows["input"] * scale["input"] + rows["weight"] * scale["weight"], requests


def vector_tiles(
    extents: Mapping[str, int], y: Loop, x: Loop, fits: Callable[[Mapping[str, int]], bool], lanes: int = 0
) -> dict[str, int]:
    """Sizes by dim (batch 1) of tiles that `fits` says fit.

    With `lanes`, a tile has all blocks of columns and at most so many rows.  `InfeasibleError` where nothing fits.
    """
    best: tuple[tuple[float, int], dict[str, int]] | None = None
    for n, ty, tx in product(*(steps(extents[dim]) for dim in ("n", "y", "x"))):
        if lanes and (n < extents["n"] or ty * tx > lanes):
            continue
        tiles = prod(-(-extents[dim] // size) for dim, size in (("n", n), ("y", ty), ("x", tx)))
        score = (y.input(ty) * x.input(tx) / (ty * tx), tiles)
        tile = {"batch": 1, "n": n, "y": ty, "x": tx}
        if (best is None or score < best[0]) and fits(tile):
            best = score, tile
    if best is None:
        rows = extents["n"] if lanes else 1
        raise InfeasibleError("vector memory", rows * y.taps * x.taps, 0, "rows", "fewer columns, taps or operations")
    return best[1]


WITHIN = 0.01
"""How far above the floor of any candidate the best may be for no other to be measured, where a caller says nothing."""

MOST, MOST_ASKED = 6, 24
"""Candidates that are measured at most, and where a caller says how near the best must be."""

SLACK = 0.02
"""Candidates estimated so far above the best are not measured, where a caller does not say how near it must be."""

Candidate = TypeVar("Candidate")


@dataclass
class Effort:
    """When measuring ends: within `gap` of the floor (None: `WITHIN`, or after fewer candidates), or with the time."""

    gap: float | None = None
    limit: Limit = field(default_factory=lambda: Limit(None))

    def measured(
        self, ranked: Iterable[tuple[float, Candidate]], measure: Callable[[Candidate], float | None], floor: float
    ) -> list[tuple[float, Candidate]]:
        """Candidates with their measures, of `ranked` with estimates, the least first; none measures less than `floor`.

        At least one is measured; a measure of None is no candidate.
        """
        found: list[tuple[float, Candidate]] = []
        gap, most = (WITHIN, MOST) if self.gap is None else (self.gap, MOST_ASKED)
        best = float("inf")
        for estimate, candidate in islice(ranked, most):
            is_pruned = self.gap is None and estimate > (1 + SLACK) * best
            if best <= (1 + gap) * floor or is_pruned or (found and self.limit.late):
                break
            figure = measure(candidate)
            if figure is not None:
                found.append((figure, candidate))
                best = min(best, figure)
        return found
