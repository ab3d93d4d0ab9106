"""What a transfer becomes: copies of rows of elements, with zeros or other numbers around them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from ...errors import InfeasibleError, TilewrightError
from ...machine.model import Mnemonic
from ...machine.stage_isa import StageIsa
from ..codelet_to_queues.boxes import BoxAxis, merge_axes
from ..codelet_to_queues.plan_transfer import Box, Side, side_of
from ..codelet_to_queues.tree import Codelet, Surrogate, Transfer


@dataclass(frozen=True)
class Rows:
    """Rows of elements: where they begin on chip and off chip, how many, their length, what lies around them.

    They are `stride` elements apart off chip, and follow each other on chip.
    """

    chip: int
    offchip: int
    rows: int
    columns: int
    stride: int
    above: int = 0
    below: int = 0
    left: int = 0
    right: int = 0

    @property
    def height(self) -> int:
        """Rows with those around."""
        return self.above + self.rows + self.below

    @property
    def width(self) -> int:
        """Elements of a row with those around."""
        return self.left + self.columns + self.right

    @property
    def reach(self) -> int:
        """Elements off chip from the first to the last."""
        return (self.rows - 1) * self.stride + self.columns

    def sizes(self) -> dict[str, int]:
        """All but the addresses, by the roles of a `copy`."""
        around = {"above": self.above, "below": self.below, "left": self.left, "right": self.right}
        return {"rows": self.rows, "columns": self.columns, "stride": self.stride, **around}

    def border(self) -> Iterator[tuple[int, int]]:
        """The elements around the rows, on chip: the first and the number of each run."""
        runs = [(0, self.above * self.width + self.left)]
        if self.left or self.right:
            starts = range(self.above, self.above + self.rows - 1)
            runs += [((row + 1) * self.width - self.right, self.right + self.left) for row in starts]
        runs.append(((self.above + self.rows) * self.width - self.right, self.right + self.below * self.width))
        yield from ((first, count) for first, count in runs if count)


@dataclass(frozen=True)
class CopyPlan:
    """The copies of a transfer: `chip` and `offchip` sides, bytes of an element at each, and rows from the corner."""

    mnemonic: Mnemonic
    chip: Side
    offchip: Side
    chip_bytes: int
    offchip_bytes: int
    pieces: tuple[Rows, ...]


@dataclass(frozen=True)
class _Axis:
    """Steps along an axis, in elements on chip and off chip, and how many lie outside, before and after."""

    count: int
    chip: int
    offchip: int
    before: int
    after: int


def plan_copies(isa: StageIsa, codelet: Codelet, node: Transfer, box: Box) -> CopyPlan:
    """The copies of a transfer of this shape; raises `TilewrightError` where the machine has none for it."""
    offchip = isa.machine.offchip
    source, destination = codelet.surrogates[node.source], codelet.surrogates[node.destination]
    inward = source.memory in offchip
    outer, inner = (source, destination) if inward else (destination, source)
    ends = (node.source, node.destination) if inward else (node.destination, node.source)
    memory = isa.machine.memory_by_name[inner.memory]
    if inner.memory in offchip or outer.memory not in offchip or (not inward and memory != isa.sums):
        found = f"{source.memory} -> {destination.memory}"
        raise TilewrightError("target", f"codelet @{codelet.name}", "loads, and stores of sums", found)
    mnemonic = isa.loads[memory.name] if inward else isa.store
    sizes = memory.element_bytes, (memory if inward else isa.results).element_bytes
    sides = [side_of(number, codelet.surrogates[number]) for number in ends]
    axes = _axes(codelet, box, (inner, outer), sizes, (sides[1], sides[0]))
    most = _most_padding(mnemonic) if inward else 0
    pieces = tuple(_around(axes) if any(a.before or a.after for a in axes) else _plain(axes, most))
    for piece in pieces:
        if min(piece.rows, piece.columns) < 1 or max(piece.above, piece.below, piece.left, piece.right) > most:
            found = max(piece.above, piece.below, piece.left, piece.right)
            raise InfeasibleError(memory.name, found, most, "elements of padding", "choose other tiles", codelet.name)
    return CopyPlan(mnemonic, sides[1], sides[0], *sizes, pieces)


def _most_padding(mnemonic: Mnemonic) -> int:
    """Elements that a copy can write beside each row."""
    roles = dict(mnemonic.action.roles) if mnemonic.action is not None else {}
    widths = [item.width_bits for item in mnemonic.fields if item.name == roles.get("right")]
    return (1 << widths[0]) - 1 if widths else 0


def _axes(
    codelet: Codelet,
    box: Box,
    surrogates: tuple[Surrogate, Surrogate],
    sizes: tuple[int, int],
    sides: tuple[Side, Side],
) -> list[_Axis]:
    """The axes of a box, on chip and off chip, without those inside an element."""
    inner, outer = surrogates
    lanes, rank = sizes[0] // inner.element_bytes, len(box.counts)
    while rank and prod(box.counts[rank:]) < lanes:
        rank -= 1
    whole = inner.shape[rank:] == outer.shape[rank:] == box.counts[rank:]
    if prod(box.counts[rank:]) != lanes or not whole:
        expected = f"whole elements of {inner.memory}, {lanes} numbers each"
        raise TilewrightError("program", f"codelet @{codelet.name}", expected, f"{list(box.counts)} of {outer.name}")
    found: list[_Axis] = []
    for axis in range(rank):
        near, far = (s.strides[axis] * box.steps[axis] // s.steps[axis] for s in sides)
        before, after = box.clips[axis]
        count = box.counts[axis] - before - after
        found.append(_Axis(count, near // sizes[0], far // sizes[1], before, after))
    return found


def _each(axes: Sequence[tuple[int, int, int]], piece: Rows) -> Iterator[Rows]:
    """The piece at each step of axes of (count, elements on chip, elements off chip)."""
    for steps in product(*(range(count) for count, _, _ in axes)):
        chip = sum(step * near for step, (_, near, _) in zip(steps, axes, strict=True))
        offchip = sum(step * far for step, (_, _, far) in zip(steps, axes, strict=True))
        yield replace(piece, chip=piece.chip + chip, offchip=piece.offchip + offchip)


def _around(axes: Sequence[_Axis]) -> Iterator[Rows]:
    """Copies of areas with elements around them; the last two axes are rows and columns."""
    *outer, rows, columns = axes
    if any(a.before or a.after for a in outer) or (columns.count > 1 and (columns.chip, columns.offchip) != (1, 1)):
        raise TilewrightError("unsupported", "transfer", "padding of rows and columns", "of other axes")
    width, height = columns.before + columns.count + columns.after, rows.before + rows.count + rows.after
    extra = rows.chip - width if height > 1 else 0
    start = rows.before * rows.offchip + columns.before * columns.offchip
    around = rows.before, rows.after, columns.before, columns.after + max(extra, 0)
    piece = Rows(0, start, rows.count, columns.count, rows.offchip, *around)
    yield from _each([(a.count, a.chip, a.offchip) for a in outer if a.count > 1], piece)


def _plain(axes: Sequence[_Axis], most: int) -> Iterator[Rows]:
    """Copies of boxes: neighbours that continue each other are one axis, the last two are rows and columns."""
    merged = [
        (a.count, a.strides[0], a.strides[1]) for a in merge_axes([BoxAxis(a.count, (a.chip, a.offchip)) for a in axes])
    ]
    columns, right = 1, 0
    if merged and merged[-1][1:] == (1, 1):
        columns = merged.pop()[0]
    piece = Rows(0, 0, 1, columns, columns)
    if merged and columns <= merged[-1][1] <= columns + most:
        rows, near, far = merged.pop()
        right = near - columns
        piece = Rows(0, 0, rows, columns, far, right=right)
    yield from _each(merged, piece)
