"""What a machine of stages does for a layer: sums of products or maxima over windows, then shifts and bounds.

Maps lie as [samples][blocks of channels][rows][columns][lanes], weights as
[blocks out][blocks in][rows of taps][columns of taps][lanes out][lanes in].
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import ceil, gcd
from typing import Any

from xdsl.ir import SSAValue

from ...errors import InfeasibleError
from ...machine.stage_isa import StageIsa


@dataclass(frozen=True)
class Plane:
    """A map: `blocks` blocks of channels from `first` on of a tensor, rows and columns of `samples`.

    `flat` maps have a single element a sample, and lie block after block; of one `image` samples are the columns.
    """

    tensor: SSAValue | None
    blocks: int
    height: int
    width: int
    samples: int
    first: int = 0
    flat: bool = False
    image: bool = False

    @property
    def elements(self) -> int:
        """How many it has."""
        return self.samples * self.blocks * self.height * self.width

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of a tensor that has this map alone, without its lanes."""
        if self.flat:
            return self.blocks, self.samples, 1, 1
        return self.samples, self.blocks, self.height, self.width

    def part(self, first: int, blocks: int) -> Plane:
        """Some of its blocks."""
        return replace(self, first=self.first + first, blocks=blocks)

    def at(self, block: str, row: str, column: str, lane: str) -> str:
        """Indices into the tensor, of sample `n`."""
        block = f"{block} + {self.first}" if self.first else block
        if self.image:
            return f"{block}, {column}, 0, 0, {lane}"
        return ", ".join((block, "n", row, column, lane) if self.flat else ("n", block, row, column, lane))

    def one_image(self) -> Plane:
        """Samples of a single element each as the columns of one."""
        return replace(self, height=1, width=self.samples, samples=1, image=True)


@dataclass(frozen=True)
class Window:
    """Taps, how far they are apart, their steps over the input, and how far the first lies outside of it."""

    rows: int = 1
    columns: int = 1
    row_step: int = 1
    column_step: int = 1
    top: int = 0
    left: int = 0
    row_gap: int = 1
    column_gap: int = 1

    @property
    def taps(self) -> int:
        """How many taps there are."""
        return self.rows * self.columns

    def reach(self, rows: int, columns: int) -> tuple[int, int]:
        """Rows and columns of the input that so many of the output reach over."""
        height = (rows - 1) * self.row_step + (self.rows - 1) * self.row_gap + 1
        return height, (columns - 1) * self.column_step + (self.columns - 1) * self.column_gap + 1

    def skips(self, rows: int, columns: int) -> tuple[int, int]:
        """Of how many rows and columns of the input one is read, for so many of the output."""
        down = gcd(self.row_step * (rows > 1), self.row_gap * (self.rows > 1)) or 1
        return down, gcd(self.column_step * (columns > 1), self.column_gap * (self.columns > 1)) or 1

    def row(self, shift: int = 0) -> str:
        """The row of the input that tap `r` of row `p` reads, or so many less."""
        return index(("p", self.row_step), ("r", self.row_gap * (self.rows > 1)), more=-shift)

    def column(self, shift: int = 0) -> str:
        """The column of the input that tap `s` of column `q` reads, or so many less."""
        return index(("q", self.column_step), ("s", self.column_gap * (self.columns > 1)), more=-shift)


def index(*factors: tuple[str, int], more: int = 0) -> str:
    """A sum of dims times numbers, and a number."""
    terms = [dim if factor == 1 else f"{factor}*{dim}" for dim, factor in factors if factor]
    return " + ".join(terms) + (f" {'+-'[more < 0]} {abs(more)}" if more else "")


@dataclass(frozen=True)
class Applied:
    """A step (`scales.Step`) whose numbers have a place: one is `number`, one a channel the tensor `vector`.

    Sums `target` are changed; where there are neither, the other operand is sums `source`.
    """

    function: str
    target: int = 0
    source: int = 0
    number: int | None = None
    vector: SSAValue | None = None

    @property
    def kind(self) -> tuple[str, int, int, int | None]:
        """The step without the vector's place."""
        return self.function, self.target, self.source, self.number

    @property
    def passes(self) -> int:
        """Cycles that a machine takes for each sum, about."""
        return 3 if self.function == "copy" else 2 if self.number is None else 1


@dataclass(frozen=True, kw_only=True)
class Form:
    """What a layer does over its window, of which `nodes` of the graph: wherever its tensors are.

    Sources follow each other along the summed channels; with `diagonal` a channel of the result reads that channel of
    each source instead.  `maximum` takes the largest tap instead of the sum.  Around maps lies the number `pad`.
    """

    name: str
    nodes: tuple[str, ...]
    window: Window
    diagonal: bool = False
    maximum: bool = False
    pad: int = 0

    @property
    def form(self) -> dict[str, Any]:
        """These fields by name, for the same layer with other tensors."""
        return {item.name: getattr(self, item.name) for item in fields(Form)}


@dataclass(frozen=True, kw_only=True)
class Work(Form):
    """A layer whose maps and weights have places, cut into blocks of channels.

    Weights have `digits` of 8 bits, the highest first; `shared` ones are those of all blocks.  `steps` are applied to
    the sums.  Results are bytes, or `wide`: four planes of the bytes of sums.
    """

    sources: tuple[Plane, ...]
    result: Plane
    weights: SSAValue
    shared: bool = False
    digits: int = 1
    steps: tuple[Applied, ...] = ()
    wide: bool = False

    def alike(self) -> object:
        """What the layer's tiles depend on: all but names and places."""
        planes = tuple(replace(plane, tensor=None, first=0) for plane in (*self.sources, self.result))
        steps = tuple((step.kind, step.vector is None) for step in self.steps)
        flags = self.diagonal, self.shared, self.maximum, self.digits, self.pad != 0, self.wide
        return planes, self.window, flags, steps, self.kept_sources

    @property
    def kept_sources(self) -> tuple[bool, ...]:
        """Whether what is loaded of each source stays as it is while the layer runs."""
        return tuple(plane.tensor is not self.result.tensor for plane in self.sources)

    @property
    def parts(self) -> int:
        """Blocks that a block of the result sums over."""
        return len(self.sources) if self.diagonal else sum(plane.blocks for plane in self.sources)

    @property
    def weight_parts(self) -> int:
        """Blocks of weights of a block of the result and a tap."""
        return self.parts * self.digits

    @property
    def vectors(self) -> tuple[SSAValue, ...]:
        """Vectors of which each block's lie beside the sums."""
        return tuple(step.vector for step in self.steps if step.vector is not None)

    @property
    def copies(self) -> int:
        """Copies of the sums beside them."""
        return max((step.target for step in self.steps), default=0)

    def reach(self, rows: int, columns: int) -> tuple[int, int]:
        """Rows and columns on chip for so many of the result; a maximum over all of them has none of the padding."""
        plane, (height, width) = self.sources[0], self.window.reach(rows, columns)
        if self.maximum and rows >= self.result.height:
            height = min(height - self.window.top, plane.height)
        if self.maximum and columns >= self.result.width:
            width = min(width - self.window.left, plane.width)
        return height, width

    def of_one_image(self) -> Work:
        """The same layer, where all maps have a single element a sample: samples are columns then."""
        planes = (*self.sources, self.result)
        if self.window != Window() or any(not plane.flat for plane in planes):
            return self
        sources = tuple(plane.one_image() for plane in self.sources)
        return replace(self, sources=sources, result=self.result.one_image())

    @property
    def compulsory_bytes(self) -> int:
        """Bytes of inputs, weights and result, each once, in blocks of 16 lanes."""
        planes = sum(plane.elements for plane in (*self.sources, self.result))
        blocks = (1 if self.shared else self.result.blocks) * self.weight_parts * self.window.taps
        more = 3 * self.result.elements if self.wide else 0
        return 16 * (planes + more) + 256 * (1 if self.maximum else blocks)


SLICE = 256
"""Sums of a slice at least, where a tile has so many."""


@dataclass(frozen=True)
class Tiles:
    """How a layer is cut: blocks of the result, rows and columns of it, blocks that are summed at a time.

    `turns` parts of the sums take turns; up to `kept` parts of the weights are on chip; with `outer` blocks of the
    result change last, else rows and columns do.
    """

    blocks: int
    rows: int
    columns: int
    parts: int
    turns: int = 1
    kept: int = 2
    outer: bool = True

    @property
    def block_elements(self) -> int:
        """Sums of a block."""
        return self.rows * self.columns

    @property
    def slice_blocks(self) -> int:
        """Blocks that are finished and stored together."""
        return min(self.blocks, max(1, -(-SLICE // self.block_elements)))

    def maps(self, result: Plane) -> int:
        """How many tiles cut a block of a result, of all samples."""
        return result.samples * ceil(result.height / self.rows) * ceil(result.width / self.columns)


@dataclass(frozen=True)
class Copies:
    """How many copies a layer's tiles have of rows and of weights."""

    rows: int
    weights: int


def copies(work: Work, tiles: Tiles) -> Copies:
    """Two of what changes, for loads ahead; as many of the weights as tiles keep."""
    block_tiles = ceil(work.result.blocks / tiles.blocks)
    chunks = 1 if work.diagonal else ceil(work.parts / tiles.parts)
    steps = tiles.maps(work.result) * chunks * (block_tiles if work.diagonal else 1)
    return Copies(1 if steps == 1 else 2, min(tiles.kept, 1 if work.shared else block_tiles * chunks))


def require_room(isa: StageIsa, work: Work, tiles: Tiles) -> None:
    """Raises `InfeasibleError` where a memory has not the elements that tiles take."""
    window = work.window
    rows, columns = work.reach(tiles.rows, tiles.columns)
    down = 1 if work.maximum else window.skips(tiles.rows, tiles.columns)[0]
    area = ceil(rows / down) * columns
    depth = len(work.sources) * tiles.blocks if work.diagonal else tiles.parts
    kept = work.weight_parts if work.diagonal else tiles.parts
    weights = (1 if work.shared else tiles.blocks) * kept * (1 if work.maximum else window.taps)
    slices = (work.copies + 4 * work.wide) * tiles.slice_blocks * tiles.block_elements
    beside = tiles.blocks * area if work.maximum else slices
    sums = tiles.turns * tiles.blocks * tiles.block_elements + beside + tiles.blocks * len(work.vectors)
    count = copies(work, tiles)
    demands = (isa.rows, count.rows * depth * area), (isa.blocks, count.weights * weights), (isa.sums, sums)
    for memory, demand in demands:
        assert memory.depth is not None
        if demand > memory.depth:
            raise InfeasibleError(memory.name, demand, memory.depth, "elements", "choose smaller tiles", work.name)
