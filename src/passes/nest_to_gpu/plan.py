"""What a mapping means for blocks of threads: loops by where they run, tensors by where their tiles lie, as plain data.

Of the three memories of the chain the innermost one is a thread's registers, the next one a block's shared memory.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ...algebra.element import ELEMENT_TYPES
from ...machine.threads import SIDE, THREADS

REGISTERS, SHARED, GLOBAL = range(3)
"""Places in the chain of memories."""

WIDEST_BYTES = 16
"""The most that a thread moves at once; arrays in global memory begin at a multiple of it."""


@dataclass(frozen=True)
class RunLoop:
    """A loop over a dim of so many pieces; each piece moves the dim's index by `stride`."""

    dim: str
    bound: int
    stride: int


@dataclass(frozen=True)
class Row:
    """A digit of an index: `sum(c * dim)`, a dim alone without a factor, which the index counts `scale` times."""

    axis: int
    scale: int
    terms: tuple[tuple[str, int], ...]

    @property
    def alone(self) -> str | None:
        """The dim that this is, if it is just one."""
        return self.terms[0][0] if len(self.terms) == 1 else None

    def extent(self, tile: Mapping[str, int]) -> int:
        """How many values it takes in a tile."""
        return 1 + sum(abs(c) * (tile[dim] - 1) for dim, c in self.terms)

    def low(self, tile: Mapping[str, int]) -> int:
        """How far below the value at the tile's first point the least one is, at most 0."""
        return sum(min(c, 0) * (tile[dim] - 1) for dim, c in self.terms)


@dataclass(frozen=True)
class Operand:
    """A tensor: its `shape`, the digits of its indices and their constants, and what it gives outside, `pad`.

    `kept` tells whether its tiles are staged in registers and in shared memory.
    """

    name: str
    element: str
    shape: tuple[int, ...]
    rows: tuple[Row, ...]
    constants: tuple[int, ...]
    pad: float
    kept: tuple[bool, bool]

    @property
    def dims(self) -> frozenset[str]:
        """The dims that index it."""
        return frozenset(dim for row in self.rows for dim, _ in row.terms)

    def box(self, tile: Mapping[str, int]) -> tuple[int, ...]:
        """The extents of its part in a tile, one per row."""
        return tuple(row.extent(tile) for row in self.rows)


@dataclass(frozen=True)
class Plan:
    """A kernel of blocks of threads.

    `grid` loops are spread over blocks, `serial` ones run in each block around all others, then `inner` ones; `threads`
    are spread over the threads of a block, and `points` run in each thread on its registers.  All outer to inner.
    `factors` are the operands that are multiplied, perhaps one several times.

    Where warps multiply matrices, `threads` and `points` are those of a warp, and `matrix` has the loops inside of all
    others, over rows, columns and what is summed of a product of fragments.  Lines of tiles in shared memory are
    `line_padding` elements longer than what they hold.
    """

    bounds: Mapping[str, int]
    grid: tuple[RunLoop, ...]
    serial: tuple[RunLoop, ...]
    inner: tuple[RunLoop, ...]
    threads: tuple[RunLoop, ...]
    points: tuple[RunLoop, ...]
    inputs: tuple[Operand, ...]
    output: Operand
    factors: tuple[str, ...]
    matrix: tuple[RunLoop, ...] = ()
    line_padding: int = 0

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(loop.bound for loop in self.grid)

    @property
    def block_size(self) -> int:
        """Threads of a block."""
        return prod(loop.bound for loop in self.threads) * (THREADS if self.matrix else 1)

    @cached_property
    def register_tile(self) -> dict[str, int]:
        """Iterations of each dim in the registers of a thread, or of a warp."""
        return {dim: extent((*self.matrix, *self.points), dim) for dim in self.bounds}

    @cached_property
    def shared_tile(self) -> dict[str, int]:
        """Iterations of each dim in a block's shared memory."""
        loops = (*self.matrix, *self.points, *self.threads, *self.inner)
        return {dim: extent(loops, dim) for dim in self.bounds}

    @cached_property
    def reach(self) -> dict[str, int]:
        """How far all loops over a dim reach together."""
        loops = (*self.matrix, *self.points, *self.threads, *self.inner, *self.serial, *self.grid)
        return {dim: extent(loops, dim) for dim in self.bounds}

    @cached_property
    def ragged(self) -> frozenset[str]:
        """Dims whose tiles reach beyond the bound."""
        return frozenset(dim for dim, bound in self.bounds.items() if self.reach[dim] > bound)

    @cached_property
    def sides(self) -> dict[str, tuple[Operand, tuple[str, str]]]:
        """The factors of a product of matrices, `left` and `right`, with the dims of their rows and columns."""
        rows, summed, columns = (loop.dim for loop in self.matrix)
        left = next(x for x in self.inputs if rows in x.dims)
        right = next(x for x in self.inputs if columns in x.dims)
        return {"left": (left, (rows, summed)), "right": (right, (summed, columns))}

    def matrix_axes(self, role: str) -> tuple[int, int]:
        """Which of the operand's digits a fragment's two indices are."""
        x, dims = self.sides[role]
        first, second = (next(i for i, row in enumerate(x.rows) if dim in dict(row.terms)) for dim in dims)
        return first, second

    def tile_order(self, x: Operand) -> list[int]:
        """The operand's digits as its tile in shared memory has them, the one whose elements are neighbours last.

        Where warps load fragments that is an axis of whole lines of 16.
        """
        places = list(range(len(x.rows)))
        if self.matrix:
            role = next(role for role, (side, _) in self.sides.items() if side is x)
            last = max(place for place in self.matrix_axes(role) if x.rows[place].alone is not None)
            places.append(places.pop(last))
        return places

    def tile_shape(self, x: Operand) -> list[int]:
        """The extents of an operand's tile in shared memory."""
        box = x.box(self.shared_tile)
        shape = [box[place] for place in self.tile_order(x)]
        return [*shape[:-1], shape[-1] + self.line_padding] if shape else []

    @property
    def alignment(self) -> int:
        """Bytes of which tiles in shared memory begin at a multiple; fragments are loaded from multiples of 32."""
        return 2 * WIDEST_BYTES if self.matrix else WIDEST_BYTES

    @property
    def shared_elements(self) -> dict[str, int]:
        """Elements of each operand in shared memory."""
        return {x.name: prod(self.tile_shape(x)) for x in self.inputs if x.kept[SHARED]}

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block: tiles one after another, each at a multiple of `alignment`."""
        sizes = {x.name: ELEMENT_TYPES[x.element].itemsize for x in self.inputs}
        end = 0
        for name, count in self.shared_elements.items():
            end = -(-end // self.alignment) * self.alignment + count * sizes[name]
        return end + self.exchanged_bytes

    @property
    def register_elements(self) -> dict[str, int]:
        """Elements of each operand in a thread's registers."""
        staged = [x for x in (*self.inputs, self.output) if x.kept[REGISTERS]]
        threads = THREADS if self.matrix else 1
        return {x.name: prod(x.box(self.register_tile)) // threads for x in staged}

    @property
    def exchanged_bytes(self) -> int:
        """Bytes of shared memory through which warps hand on their fragments of sums."""
        return self.block_size // THREADS * 4 * SIDE**2 if self.matrix else 0

    @property
    def guarded(self) -> tuple[str, ...]:
        """Reduced dims whose points beyond the bound must not be summed, because not every factor is 0 there."""
        return tuple(dim for dim in sorted(self.ragged - self.output.dims) if not self._vanishes(dim))

    def _vanishes(self, dim: str) -> bool:
        """Whether all factors are 0 beyond the bound of a dim, since they are staged or read as that."""
        return all(x.pad == 0 and [row.alone for row in x.rows if dim in dict(row.terms)] == [dim] for x in self.inputs)


def extent(loops: Iterable[RunLoop], dim: str) -> int:
    """Over how many iterations of a dim the loops go together."""
    return prod(loop.bound for loop in loops if loop.dim == dim)
