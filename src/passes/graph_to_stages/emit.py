"""A layer as instructions: loads a step ahead of the products, slices of sums stored while others are finished.

Tokens: each step that loads gives one to the products that use it; when they are done they give one back, which the
loads two steps later take, or those that replace what the products used.  Every other tile sums its parts from the
last to the first, which begins with those that the tile before has left on chip.  Each slice of sums gives one to the
instruction that stores it, which gives one back for the tile that uses the slice's place next.  At the end of a layer
all are taken back, and one more says that all is stored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...machine.model import Mnemonic
from ...machine.stage_isa import Instruction, StageIsa, StageWriter
from .scales import FARTHEST_SHIFT
from .slots import Slots
from .works import Applied, Plane, Rooms, Tiles, Work, rooms

LOWEST = -128
"""The smallest byte."""

DIGIT_BITS = 8
"""Of weights larger than a byte."""


@dataclass(frozen=True)
class Tile:
    """A tile of the result: a sample, first and number of blocks, rows and columns."""

    sample: int
    block: int
    blocks: int
    row: int
    rows: int
    column: int
    columns: int

    @property
    def place(self) -> tuple[int, int, int]:
        """Where it lies among samples, rows and columns."""
        return self.sample, self.row, self.column


@dataclass
class LayerWriter:
    """Writes one layer; `place` says where its micro-ops lie off chip."""

    writer: StageWriter
    work: Work
    tiles: Tiles
    ops: list[int] = field(default_factory=list[int])
    starts: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])
    steps: int = 0
    stored: deque[tuple[int, int]] = field(default_factory=deque[tuple[int, int]])
    returned: int = 0
    loaded: int = 0
    vectors_of: int = -1
    first: Instruction = field(init=False)

    def __post_init__(self) -> None:
        self.rooms: Rooms = rooms(self.isa, self.work, self.tiles)
        self.rows, self.weights = Slots(self.rooms.row_slots), Slots(self.rooms.weight_slots)

    @property
    def isa(self) -> StageIsa:
        return self.writer.isa

    def write(self) -> None:
        """The whole layer."""
        isa, writer = self.isa, self.writer
        sizes = {"chip": 0, "offchip": 0, "rows": 1, "columns": 0, "stride": 0}
        self.first = writer.copy(isa.loads[isa.micro.name], sizes)
        for number, tile in enumerate(tiles_of(self.work, self.tiles)):
            self.tile(tile, number)
        self._patch("columns", len(self.ops))
        if self.steps:
            writer.push(isa.computing, isa.loading)
        writer.pop(isa.computing, isa.loading, self.steps - self.returned)
        writer.pop(isa.storing, isa.computing, len(self.stored))
        self.stored.clear()
        writer.push(isa.computing, isa.loading)
        writer.pop(isa.computing, isa.loading)

    def place(self, element: int) -> None:
        """The micro-ops lie off chip from that element on."""
        self._patch("offchip", element)

    def _patch(self, role: str, value: int) -> None:
        action = self.first.mnemonic.action
        assert action is not None
        self.first.fields[dict(action.roles)[role]] = value

    def tile(self, tile: Tile, number: int) -> None:
        """One tile: sums over all parts, then slices are finished and stored."""
        work, parts = self.work, self.tiles.parts
        base = number % self.tiles.turns * self.tiles.blocks * self.tiles.block_elements
        firsts = range(0, 1 if work.diagonal else work.parts, parts)
        for turn, part in enumerate(reversed(firsts) if number % 2 else firsts):
            count = work.parts if work.diagonal else min(parts, work.parts - part)
            loads = self.step(tile, part, count)
            if loads:
                self.writer.pop(self.isa.loading, self.isa.computing)
            if turn == 0:
                self.begin(tile, base)
            if work.maximum:
                self.largest(tile, base)
            else:
                self.products(tile, base, count)
        for first, end in self.slices(tile):
            self.finish(tile, base, first, end)

    def slices(self, tile: Tile) -> Iterator[tuple[int, int]]:
        """Blocks that are finished and stored together: from a first to before an end."""
        size = self.tiles.slice_blocks
        for first in range(0, tile.blocks, size):
            yield first, min(first + size, tile.blocks)

    def step(self, tile: Tile, part: int, count: int) -> bool:
        """Loads what the next products lack; whether there was anything."""
        work = self.work
        rows_of = (*tile.place, tile.block if work.diagonal else part)
        weights_of = () if work.shared else (tile.block, 0 if work.diagonal else part)
        lack_rows, lack_weights = not self.rows.holds(rows_of), not self.weights.holds(weights_of)
        if self.steps:
            self.writer.push(self.isa.computing, self.isa.loading)
        self.steps += 1
        replaced = self.rows.use(rows_of, self.steps), self.weights.use(weights_of, self.steps)
        if not lack_rows and not lack_weights:
            return False
        done = max(self.returned, self.loaded - 1, *replaced)
        self.writer.pop(self.isa.computing, self.isa.loading, done - self.returned)
        self.returned, self.loaded = done, self.steps
        if lack_rows:
            self.load_rows(tile, part, count)
        if lack_weights:
            self.load_weights(tile, part, count)
        self.writer.push(self.isa.loading, self.isa.computing)
        return True

    def area(self, tile: Tile) -> tuple[int, int, int, int, int, int]:
        """First row and column of the input that a tile reads, how many, and those among them above and left of it."""
        window, plane = self.work.window, self.work.sources[0]
        top, left = tile.row * window.row_step - window.top, tile.column * window.column_step - window.left
        rows, columns = window.reach(tile.rows, tile.columns)
        if self.work.maximum:  # only what there is
            below, right = min(top + rows, plane.height), min(left + columns, plane.width)
            top, left = max(top, 0), max(left, 0)
            rows, columns = below - top, right - left
        return top, left, rows, columns, max(0, -top), max(0, -left)

    def load_rows(self, tile: Tile, part: int, count: int) -> None:
        top, left, rows, columns, above, before = self.area(tile)
        mnemonic = self.isa.loads[self.isa.rows.name]
        chip = self.rows.now * self.rooms.row_size
        for plane, first, blocks in self.planes(tile, part, count):
            below = max(0, top + rows - plane.height)
            after = max(0, left + columns - plane.width)
            inside = {"rows": rows - above - below, "columns": columns - before - after, "stride": plane.width}
            start = plane.at(tile.sample, first) + (top + above) * plane.width + left + before
            whole = columns == plane.width and not before + after + above + below
            if whole and (blocks == 1 or rows * columns == plane.block_step):
                inside = {"rows": 1, "columns": blocks * rows * columns, "stride": 0}
            elif whole:
                inside = {"rows": blocks, "columns": rows * columns, "stride": plane.block_step}
            pads = {"above": above, "below": below, "left": before, "right": after}
            for block in range(1 if whole else blocks):
                at = {"chip": chip + block * rows * columns, "offchip": start + block * plane.block_step}
                self.writer.copy(mnemonic, at | inside | pads)
                if self.work.pad is not None and any(pads.values()):
                    self.surround(chip + block * rows * columns, (rows, columns), (above, below), (before, after))
            chip += blocks * rows * columns

    def surround(self, chip: int, area: tuple[int, int], rows: tuple[int, int], columns: tuple[int, int]) -> None:
        """Writes the padding of an area where it is not 0: rows above and below, columns before and after."""
        (height, width), (above, below), (before, after) = area, rows, columns
        runs = [(0, above * width + before)]
        if before or after:
            runs += [((row + 1) * width - after, after + before) for row in range(above, height - below - 1)]
        runs.append(((height - below) * width - after, after + below * width))
        for first, count in runs:
            if count:
                sizes = {"chip": chip + first, "offchip": self.work.pad or 0, "rows": count, "columns": 1, "stride": 0}
                self.writer.copy(self.isa.loads[self.isa.rows.name], sizes)

    def planes(self, tile: Tile, part: int, count: int) -> Iterator[tuple[Plane, int, int]]:
        """The maps that a step reads: first block and number of blocks of each."""
        if self.work.diagonal:
            yield from ((plane, tile.block, tile.blocks) for plane in self.work.sources)
            return
        first = 0
        for plane in self.work.sources:
            low, high = max(part, first), min(part + count, first + plane.blocks)
            if low < high:
                yield plane, low - first, high - low
            first += plane.blocks

    def load_weights(self, tile: Tile, part: int, count: int) -> None:
        work = self.work
        taps = 1 if work.maximum else work.window.taps
        kept = count * work.digits
        first = 0 if work.shared else (tile.block * work.weight_parts + part) * taps
        rows = 1 if work.shared else tile.blocks
        sizes = {"chip": self.weights.now * self.rooms.weight_size, "offchip": work.weights + first}
        if kept == work.weight_parts:
            sizes |= {"rows": 1, "columns": rows * kept * taps, "stride": 0}
        else:
            sizes |= {"rows": rows, "columns": kept * taps, "stride": work.weight_parts * taps}
        self.writer.copy(self.isa.loads[self.isa.blocks.name], sizes)

    def begin(self, tile: Tile, base: int) -> None:
        """Sums are 0, once what was there is stored; vectors of these blocks are loaded."""
        isa, work = self.isa, self.work
        block = self.tiles.block_elements
        for first, end in self.slices(tile):
            low, high = base + first * block, base + end * block
            taken = [i for i, (start, stop) in enumerate(self.stored) if start < high and low < stop]
            for _ in range(taken[-1] + 1 if taken else 0):
                self.stored.popleft()
                self.writer.pop(isa.storing, isa.computing)
            self.walk(isa.clear, tile, self.places(base, range(first, end)))
        if work.vectors and self.vectors_of != tile.block:
            self.vectors_of = tile.block
            for number, start in enumerate(work.vectors):
                at = self.vector_base + number * self.tiles.blocks
                sizes = {"chip": at, "offchip": start + tile.block, "rows": 1, "columns": tile.blocks, "stride": 0}
                self.writer.copy(isa.loads[isa.sums.name], sizes)

    @property
    def vector_base(self) -> int:
        """The first element of vectors among the sums."""
        return self.scratch + self.rooms.scratch

    @property
    def scratch(self) -> int:
        """The first element of what lies beside the sums of tiles."""
        return self.tiles.turns * self.tiles.blocks * self.tiles.block_elements

    def places(self, base: int, blocks: range) -> list[int]:
        """First elements of blocks of sums."""
        return [base + k * self.tiles.block_elements for k in blocks]

    def walk(self, mnemonic: Mnemonic, tile: Tile, sums: list[int]) -> None:
        """An instruction without operands on all sums of blocks."""
        trips, stride = _loops(tile)
        self.writer.walk(mnemonic, self.listed([self.isa.micro_op(at) for at in sums]), trips, [stride, (0, 0), (0, 0)])

    def over(self, name: str, tile: Tile, sums: list[int], other: int | list[int], moving: bool = False) -> None:
        """A function of all sums of blocks and a number, or an element for each block; `moving` ones of other sums."""
        trips, stride = _loops(tile)
        value, sources = (other, [0] * len(sums)) if isinstance(other, int) else (None, other)
        wanted = [self.isa.micro_op(at, source) for at, source in zip(sums, sources, strict=True)]
        self.writer.apply(name, value, self.listed(wanted), trips, [stride, stride if moving else (0, 0), (0, 0)])

    def apply(self, step: Applied, tile: Tile, sums: list[list[int]], vector: list[int]) -> None:
        """A step on sums and the copies beside them."""
        target = sums[step.target]
        if step.function == "shift_right" and step.number is not None:
            for distance in shifts_of(step.number):
                self.over(step.function, tile, target, distance)
        elif step.number is not None:
            self.over(step.function, tile, target, step.number)
        elif step.vector is not None:
            self.over(step.function, tile, target, vector)
        elif step.function == "copy":
            self.walk(self.isa.clear, tile, target)
            self.over("add", tile, target, sums[step.source], True)
        else:
            self.over(step.function, tile, target, sums[step.source], True)

    def listed(self, wanted: list[int]) -> tuple[int, int]:
        """Where micro-ops lie one after another; they are added where they do not."""
        key = tuple(wanted)
        if key not in self.starts:
            self.starts[key] = len(self.ops)
            self.ops += wanted
        return self.starts[key], self.starts[key] + len(key)

    def products(self, tile: Tile, base: int, count: int) -> None:
        """An instruction for each summed block and tap: rows and columns are its loops, blocks its micro-ops."""
        work, window, block = self.work, self.work.window, self.tiles.block_elements
        rows, columns = window.reach(tile.rows, tile.columns)
        for digit in range(work.digits):
            if digit:
                self.over("shift_right", tile, self.places(base, range(tile.blocks)), -DIGIT_BITS)
            for c, tap in ((c, tap) for c in range(count) for tap in range(window.taps)):
                row, column = divmod(tap, window.columns)
                wanted: list[int] = []
                for k in range(tile.blocks):
                    plane = c * tile.blocks + k if work.diagonal else c
                    src = self.rows.now * self.rooms.row_size + plane * rows * columns + row * columns + column
                    weight = ((0 if work.shared else k * work.digits) + digit) * count + c
                    weight = self.weights.now * self.rooms.weight_size + weight * window.taps + tap
                    wanted.append(self.isa.micro_op(base + k * block, src, weight))
                strides = [(tile.columns, 1), (window.row_step * columns, window.column_step), (0, 0)]
                self.writer.walk(self.isa.products, self.listed(wanted), (tile.rows, tile.columns), strides)

    def largest(self, tile: Tile, base: int) -> None:
        """The input becomes sums beside the result's, which take the largest of each tap that lies inside."""
        window, block, plane = self.work.window, self.tiles.block_elements, self.work.sources[0]
        top, left, rows, columns, _, _ = self.area(tile)
        scratch = self.scratch
        source = self.rows.now * self.rooms.row_size
        area = rows * columns
        wanted = [self.isa.micro_op(scratch + k * area, source + k * area, 0) for k in range(tile.blocks)]
        for mnemonic in (self.isa.clear, self.isa.products):
            self.writer.walk(mnemonic, self.listed(wanted), (rows, columns), [(columns, 1), (columns, 1), (0, 0)])
        self.over("add", tile, self.places(base, range(tile.blocks)), LOWEST)
        for tap in range(window.taps):
            row, column = divmod(tap, window.columns)
            first, count = _inside(tile.row, tile.rows, window.row_step, row - window.top, plane.height)
            start, width = _inside(tile.column, tile.columns, window.column_step, column - window.left, plane.width)
            if count < 1 or width < 1:
                continue
            y = (tile.row + first) * window.row_step + row - window.top - top
            x = (tile.column + start) * window.column_step + column - window.left - left
            wanted = [
                self.isa.micro_op(base + k * block + first * tile.columns + start, scratch + k * area + y * columns + x)
                for k in range(tile.blocks)
            ]
            strides = [(tile.columns, 1), (window.row_step * columns, window.column_step)]
            self.writer.apply("max", None, self.listed(wanted), (count, width), strides)

    def finish(self, tile: Tile, base: int, first: int, end: int) -> None:
        """The steps of a slice, and its store."""
        isa, work, blocks = self.isa, self.work, range(first, end)
        size = self.tiles.slice_blocks * self.tiles.block_elements
        copies = [self.places(self.scratch + size * number, range(len(blocks))) for number in range(work.copies)]
        vector = self.vector_base
        for step in work.steps:
            self.apply(step, tile, [self.places(base, blocks), *copies], [vector + k for k in blocks])
            vector += self.tiles.blocks * (step.vector is not None)
        self.writer.push(isa.computing, isa.storing)
        self.writer.pop(isa.computing, isa.storing)
        plane, block = work.result, self.tiles.block_elements
        for k in range(first, end):
            start = plane.at(tile.sample, tile.block + k) + tile.row * plane.width + tile.column
            sizes = {"chip": base + k * block, "offchip": start}
            if tile.columns == plane.width:
                sizes |= {"rows": 1, "columns": tile.rows * tile.columns, "stride": 0}
            else:
                sizes |= {"rows": tile.rows, "columns": tile.columns, "stride": plane.width}
            self.writer.copy(isa.store, sizes)
        self.writer.push(isa.storing, isa.computing)
        self.stored.append((base + first * block, base + end * block))


def tiles_of(work: Work, tiles: Tiles) -> Iterator[Tile]:
    """The tiles of a layer in order."""
    result = work.result
    places = [
        (sample, row, min(tiles.rows, result.height - row), column, min(tiles.columns, result.width - column))
        for sample in range(result.samples)
        for row in range(0, result.height, tiles.rows)
        for column in range(0, result.width, tiles.columns)
    ]
    blocks = [(first, min(tiles.blocks, result.blocks - first)) for first in range(0, result.blocks, tiles.blocks)]
    if tiles.outer:
        yield from (Tile(sample, *block, *place) for block in blocks for sample, *place in places)
    else:
        yield from (Tile(sample, *block, *place) for sample, *place in places for block in blocks)


def _loops(tile: Tile) -> tuple[tuple[int, int], tuple[int, int]]:
    """Trips of two loops over the sums of a block, and how far they step."""
    if tile.columns == 1:
        return (1, tile.rows), (0, 1)
    return (tile.rows, tile.columns), (tile.columns, 1)


def _inside(start: int, count: int, step: int, offset: int, extent: int) -> tuple[int, int]:
    """Of `count` results from `start` on, the first whose tap lies inside the input, and how many do."""
    first = max(0, -((start * step + offset) // step)) if start * step + offset < 0 else 0
    last = (extent - 1 - offset) // step - start
    return first, min(last, count - 1) - first + 1


def shifts_of(distance: int) -> list[int]:
    """A shift in steps of at most FARTHEST_SHIFT."""
    steps = [FARTHEST_SHIFT] * (distance // FARTHEST_SHIFT) if distance > 0 else []
    return [*steps, *([rest] if (rest := distance - sum(steps)) else [])]
