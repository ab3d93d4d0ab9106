"""What a machine of stages does for a layer: sums of products or maxima over windows, then shifts and bounds.

Maps lie as [samples][blocks of channels][rows][columns][lanes], weights as
[blocks out][blocks in][taps][lanes out][lanes in].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from ...errors import InfeasibleError
from ...machine.stage_isa import StageIsa


@dataclass(frozen=True)
class Plane:
    """A map in memory: its first element (of `lanes` bytes), and extents in blocks of channels, rows and columns.

    Blocks are `block_step` elements apart, samples `sample_step`.
    """

    element: int
    blocks: int
    height: int
    width: int
    samples: int
    block_step: int
    sample_step: int

    @staticmethod
    def of(element: int, blocks: int, height: int, width: int, samples: int) -> Plane:
        """A map of its own: sample after sample; where samples have a single element, block after block."""
        if height * width == 1:
            return Plane(element, blocks, 1, 1, samples, samples, 1)
        return Plane(element, blocks, height, width, samples, height * width, blocks * height * width)

    @property
    def elements(self) -> int:
        """How many it has."""
        return self.samples * self.blocks * self.height * self.width

    def part(self, first: int, blocks: int) -> Plane:
        """Some of its blocks."""
        return replace(self, element=self.at(0, first), blocks=blocks)

    def at(self, sample: int, block: int) -> int:
        """The first element of a block."""
        return self.element + sample * self.sample_step + block * self.block_step

    def one_image(self) -> Plane:
        """Samples of a single element each as the columns of one."""
        return Plane(self.element, self.blocks, 1, self.samples, 1, self.block_step, 0)


@dataclass(frozen=True)
class Window:
    """Taps, their steps over the input, and how far the first lies outside of it."""

    rows: int = 1
    columns: int = 1
    row_step: int = 1
    column_step: int = 1
    top: int = 0
    left: int = 0

    @property
    def taps(self) -> int:
        """How many taps there are."""
        return self.rows * self.columns

    def reach(self, rows: int, columns: int) -> tuple[int, int]:
        """Rows and columns of the input that so many of the output read."""
        return (rows - 1) * self.row_step + self.rows, (columns - 1) * self.column_step + self.columns


@dataclass(frozen=True)
class Applied:
    """A step (`scales.Step`) whose numbers have a place: one is `number`, one a channel vectors from `vector` on.

    Sums `target` are changed; where there are neither, the other operand is sums `source`.
    """

    function: str
    target: int = 0
    source: int = 0
    number: int | None = None
    vector: int | None = None

    @property
    def passes(self) -> int:
        """Cycles that a machine takes for each sum, about."""
        return 3 if self.function == "copy" else 2 if self.number is None else 1


@dataclass(frozen=True)
class Work:
    """A layer.

    `sources` are maps that follow each other along the summed channels; with `diagonal` a block of channels of the
    result reads that block of each source instead, and weights have `digits` of 8 bits, the highest first.  `weights`
    is the first element of the weights; `shared` ones are those of all blocks.  `maximum` takes the largest tap instead
    of the sum.  `steps` are applied to the sums.  Around maps lies the element `pad`, off chip, or (None) 0.
    """

    name: str
    nodes: tuple[str, ...]
    sources: tuple[Plane, ...]
    result: Plane
    window: Window
    weights: int
    diagonal: bool = False
    shared: bool = False
    maximum: bool = False
    digits: int = 1
    steps: tuple[Applied, ...] = ()
    pad: int | None = None

    def alike(self) -> Work:
        """The layer without names and places: equal ones have equal tiles."""
        sources = tuple(replace(plane, element=0) for plane in self.sources)
        steps = tuple(replace(step, vector=None if step.vector is None else 0) for step in self.steps)
        result, pad = replace(self.result, element=0), None if self.pad is None else 0
        return replace(self, name="", nodes=(), sources=sources, result=result, weights=0, steps=steps, pad=pad)

    @property
    def parts(self) -> int:
        """Blocks that a block of the result sums over."""
        return len(self.sources) if self.diagonal else sum(plane.blocks for plane in self.sources)

    @property
    def weight_parts(self) -> int:
        """Blocks of weights of a block of the result and a tap."""
        return self.parts * self.digits

    @property
    def vectors(self) -> tuple[int, ...]:
        """First elements of vectors of which each block's lie beside the sums."""
        return tuple(step.vector for step in self.steps if step.vector is not None)

    @property
    def copies(self) -> int:
        """Copies of the sums beside them."""
        return max((step.target for step in self.steps), default=0)

    def of_one_image(self) -> Work:
        """The same layer, where all maps have a single element a sample: samples are columns then."""
        planes = (*self.sources, self.result)
        if self.window != Window() or any(plane.height * plane.width > 1 for plane in planes):
            return self
        sources = tuple(plane.one_image() for plane in self.sources)
        return replace(self, sources=sources, result=self.result.one_image())

    @property
    def compulsory_bytes(self) -> int:
        """Bytes of inputs, weights and result, each once, in blocks of 16 lanes."""
        planes = sum(plane.elements for plane in (*self.sources, self.result))
        blocks = (1 if self.shared else self.result.blocks) * self.weight_parts * self.window.taps
        return 16 * planes + 256 * (1 if self.maximum else blocks)


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
class Rooms:
    """Elements of memories on chip that the tiles of a layer take: slots, and the size of each."""

    row_slots: int
    row_size: int
    weight_slots: int
    weight_size: int
    scratch: int
    vector: int


def rooms(isa: StageIsa, work: Work, tiles: Tiles) -> Rooms:
    """The elements that tiles take; `InfeasibleError` where a memory has not so many."""
    result, window = work.result, work.window
    rows, columns = window.reach(tiles.rows, tiles.columns)
    block_tiles = ceil(result.blocks / tiles.blocks)
    maps = tiles.maps(result)
    chunks = 1 if work.diagonal else ceil(work.parts / tiles.parts)
    depth = len(work.sources) * tiles.blocks if work.diagonal else tiles.parts
    row_slots = 1 if maps * chunks * (block_tiles if work.diagonal else 1) == 1 else 2
    weight_chunks = 1 if work.shared else block_tiles * chunks
    kept = work.weight_parts if work.diagonal else tiles.parts
    weights = (1 if work.shared else tiles.blocks) * kept * (1 if work.maximum else window.taps)
    weight_slots = min(tiles.kept, weight_chunks)
    scratch = tiles.blocks * rows * columns if work.maximum else work.copies * tiles.slice_blocks * tiles.block_elements
    vectors = tiles.blocks * len(work.vectors)
    found = Rooms(row_slots, depth * rows * columns, weight_slots, weights, scratch, vectors)
    sums = tiles.turns * tiles.blocks * tiles.block_elements + scratch + found.vector
    demands = (
        (isa.rows, found.row_slots * found.row_size),
        (isa.blocks, found.weight_slots * found.weight_size),
        (isa.sums, sums),
    )
    for memory, demand in demands:
        assert memory.depth is not None
        if demand > memory.depth:
            raise InfeasibleError(memory.name, demand, memory.depth, "elements", "choose smaller tiles", work.name)
    return found
