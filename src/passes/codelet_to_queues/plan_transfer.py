"""What a transfer of a given shape becomes: copies inside the tensor or of rows that an index names, and fills."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...algebra.affine import Range
from ...algebra.element import element_dtype
from ...algebra.lookup import Lookup, lookup_of
from .boxes import BoxAxis, Piece, Reach, Slot, cut, merge_axes, reach_of
from .isa import Binding, Isa
from .tree import Codelet, Fill, Surrogate, Transfer, box_axes

SIDES = 1, 0, 2
"""The sides of a transfer (source, destination, index) by their place as operands: target, source or table, index."""

TABLE = 1
"""The place of the table among the operands of a lookup."""


@dataclass(frozen=True)
class Box:
    """The elements that a transfer moves, per coordinate of the tensor: first, number, step.

    `clips` are how many of them lie before the tensor's first and after its last element; a transfer between locals
    clips nothing.
    """

    lows: tuple[int, ...]
    counts: tuple[int, ...]
    steps: tuple[int, ...]
    clips: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Side:
    """A surrogate of a transfer: its step in coordinates and in bytes per axis; boxes lie `shift` further on in it."""

    surrogate: int
    steps: tuple[int, ...]
    strides: tuple[int, ...]
    ring: tuple[int, ...] = ()
    shift: tuple[int, ...] = ()

    def offset(self, lows: Sequence[int], origin: Sequence[int]) -> int:
        """Bytes from the surrogate's first element to the box' corner."""
        if self.shift:
            lows = [low + by for low, by in zip(lows, self.shift, strict=True)]
        if self.ring:
            lows = [low % held if held else low for low, held in zip(lows, self.ring, strict=True)]
        pairs = zip(lows, origin, self.steps, self.strides, strict=True)
        return sum((low - start) // step * stride for low, start, step, stride in pairs)


@dataclass(frozen=True)
class PartOperand:
    """An address of an instruction: `offset` from the corner of `side`; `reach` is what is touched from there."""

    side: int
    index: int
    memory: int
    offset: int
    reach: Reach
    constant: bool


@dataclass(frozen=True)
class Part:
    """One instruction without its addresses; operands target first."""

    binding: Binding
    row: list[int]
    operands: tuple[PartOperand, ...]


@dataclass(frozen=True)
class TransferPlan:
    """All instructions of a transfer; `sides` are source and destination, and the index of rows."""

    sides: tuple[Side, ...]
    parts: tuple[Part, ...]


def box_of(codelet: Codelet, node: Transfer, ranges: Mapping[str, Range]) -> Box:
    """The box of a transfer while the dims run over `ranges`."""
    axes = box_axes(codelet, node)
    sides = [codelet.surrogates[node.source], codelet.surrogates[node.destination]]
    lows = tuple(axis.low(ranges) for axis in axes)
    counts = tuple(axis.count(ranges) for axis in axes)
    steps = tuple(axis.step for axis in axes)
    shape = next((side.shape for side in sides if side.axes is None), None)
    if shape is None:
        return Box(lows, counts, steps, ((0, 0),) * len(lows))
    clips = tuple(
        _clip(low, count, step, size) for low, count, step, size in zip(lows, counts, steps, shape, strict=True)
    )
    return Box(lows, counts, steps, clips)


def unrolled(codelet: Codelet, node: Transfer, box: Box) -> Iterator[Box]:
    """Pieces of a box in which no ring of either side comes round."""
    boxes = [box]
    for index in (node.source, node.destination):
        for axis, held in enumerate(codelet.surrogates[index].ring):
            shift = node.shift[axis] if node.shift and index == node.destination else 0
            if held:
                boxes = [piece for whole in boxes for piece in _cut_ring(whole, axis, held, shift)]
    yield from boxes


def _cut_ring(box: Box, axis: int, held: int, shift: int) -> Iterator[Box]:
    low, left = box.lows[axis], box.counts[axis]
    while left:
        count = min(left, held - (low + shift) % held)
        lows, counts = list(box.lows), list(box.counts)
        lows[axis], counts[axis] = low, count
        yield Box(tuple(lows), tuple(counts), box.steps, box.clips)
        low, left = low + count, left - count


def plan_fill(isa: Isa, codelet: Codelet, node: Fill) -> TransferPlan:
    """The instructions that set all elements of a surrogate."""
    target = codelet.surrogates[node.target]
    side = side_of(node.target, target)
    region = [(0, count) for count in target.kept]
    return TransferPlan((side, side), tuple(_fills(isa, target, node.value, region, target.strides_bytes)))


def _clip(low: int, count: int, step: int, size: int) -> tuple[int, int]:
    before = min(count, max(0, -(low // step)))
    inside = max(0, -((low - size) // step))
    return before, max(0, count - max(inside, before))


def plan_transfer(isa: Isa, codelet: Codelet, node: Transfer, box: Box) -> TransferPlan:
    """The instructions of a transfer of this shape; raises `TilewrightError` where the machine has none for it."""
    source, destination = codelet.surrogates[node.source], codelet.surrogates[node.destination]
    sides = (side_of(node.source, source), replace(side_of(node.destination, destination), shift=node.shift))
    per_step = [
        [step // s * stride for step, s, stride in zip(box.steps, side.steps, side.strides, strict=True)]
        for side in sides
    ]
    parts: list[Part] = []
    inside = [(first, count - first - last) for count, (first, last) in zip(box.counts, box.clips, strict=True)]
    if any(a or b for a, b in box.clips) and node.pad is not None:
        for outside in _slabs(box.counts, inside):
            parts += _fills(isa, destination, node.pad, outside, per_step[1])
    if source.rows is not None:
        index = codelet.surrogates[source.rows.index]
        places = tuple(stride if axis < source.rows.axes else 0 for axis, stride in enumerate(index.strides_bytes))
        parts += _lookups(isa, (destination, source, index), inside, per_step[1], places)
        return TransferPlan((*sides, Side(source.rows.index, (1,) * len(places), places)), tuple(parts))
    if all(count > 0 for _, count in inside):
        parts += _copies(isa, source, destination, inside, per_step)
    return TransferPlan(sides, tuple(parts))


def side_of(index: int, surrogate: Surrogate) -> Side:
    """A surrogate as a side of a transfer."""
    return Side(index, surrogate.steps, surrogate.strides_bytes, surrogate.ring)


Region = Sequence[tuple[int, int]]  # per coordinate: first step, number of steps


def _slabs(counts: Sequence[int], inside: Region) -> Iterator[Region]:
    """Disjoint boxes that make up everything outside of `inside`."""
    region = [(0, count) for count in counts]
    for axis, (first, count) in enumerate(inside):
        for start, size in ((0, first), (first + count, counts[axis] - first - count)):
            if size > 0:
                yield [*region[:axis], (start, size), *region[axis + 1 :]]
        if count <= 0:
            return
        region[axis] = (first, count)


@dataclass(frozen=True)
class _Mover:
    """A mnemonic on the types that its operands have then, `surrogates` their tensors, and its immediates' `values`.

    Of a `lookup` operands are target, table, and the index that names the rows.
    """

    isa: Isa
    binding: Binding
    surrogates: Sequence[Surrogate]
    types: Sequence[str]
    values: Mapping[str, float]
    lookup: Lookup | None = None

    @classmethod
    def of(cls, isa: Isa, bindings: Sequence[Binding], surrogates: Sequence[Surrogate]) -> "_Mover | None":
        """The first that moves bytes, or the tensor's own elements, from the second of `surrogates` to the first."""
        element, indices = surrogates[1].element, [index.element for index in surrogates[2:]]
        for types in ([kind, kind, *indices] for kind in ("u8", "i8", element)):
            for binding in bindings:
                operands = zip(binding.operands, types, surrogates, strict=True)
                if all(slot.allows(type_, one.memory) for slot, type_, one in operands):
                    return cls(isa, binding, surrogates, types, {})
        return None

    def elements(self, region: Region, steps: Sequence[tuple[int, ...]]) -> Iterator[Part]:
        """The instructions on a region of a tensor's elements, which may be moved in several parts each."""
        source, size = self.surrogates[1], element_dtype(self.types[0]).itemsize
        inside = (size, size, 0)[: len(self.surrogates)]
        return self.parts([*region, (0, source.element_bytes // size)], [*steps, inside])

    def parts(self, region: Region, steps: Sequence[tuple[int, ...]]) -> Iterator[Part]:
        """The instructions on a region; `steps` are bytes of each operand from one step of each axis to the next."""
        axes = [BoxAxis(count, own) for (_, count), own in zip(region, steps, strict=True)]
        operands = range(len(self.surrogates))
        start = [sum(first * own[i] for (first, _), own in zip(region, steps, strict=True)) for i in operands]
        for piece in cut(merge_axes(axes), self._slots(), len(operands)):
            yield self._part(piece, start)

    def _slots(self) -> list[Slot]:
        """The loops that an instruction offers; over the rows of a lookup the table's place is the index's to say."""
        slots: list[Slot] = []
        for name in (dim.name for dim in self.binding.capability.dims if dim.name in self.binding.extents):
            strides = [self.binding.stride_range(i, name) for i in range(len(self.binding.operands))]
            if self.lookup is not None and name == self.lookup.row:
                strides[TABLE] = (0, 0)
            slots.append(Slot(name, self.binding.limit(name), tuple(strides)))
        return slots

    def _part(self, piece: Piece, start: Sequence[int]) -> Part:
        """The instruction of a piece that begins `start` bytes after the corners of the operands."""
        binding, lookup = self.binding, self.lookup
        row = binding.row(self.types, {}, self.values, {})
        rows = self.surrogates[TABLE].rows if lookup is not None else None
        if lookup is not None and rows is not None:
            binding.set_stride(row, TABLE, lookup.row, rows.row_bytes, f"rows of {self.surrogates[TABLE].name}")
        for dim, axis in piece.slots:
            row[binding.extents[dim]] = axis.count
            for place, (slot, stride) in enumerate(zip(binding.operands, axis.strides, strict=True)):
                if dim in slot.strides and (lookup is None or (dim, place) != (lookup.row, TABLE)):
                    row[slot.strides[dim]] = stride
        operands: list[PartOperand] = []
        for place, (slot, surrogate, type_) in enumerate(
            zip(binding.operands, self.surrogates, self.types, strict=True)
        ):
            steps = [(axis.count, axis.strides[place]) for _, axis in piece.slots]
            if rows is not None and place == TABLE:
                steps.append((rows.count, rows.row_bytes))
            reach = reach_of(steps, element_dtype(type_).itemsize)
            offset = start[place] + piece.offsets[place]
            side, memory = SIDES[place], self.isa.memories[slot.memory]
            operands.append(PartOperand(side, slot.address, memory, offset, reach, surrogate.constant))
        return Part(binding, row, tuple(operands))


def _copies(
    isa: Isa, source: Surrogate, destination: Surrogate, region: Region, per_step: Sequence[Sequence[int]]
) -> Iterator[Part]:
    """Copies of a region of the box; operands of a copy are target, source."""
    mover = _Mover.of(isa, isa.copies(source.memory, destination.memory), (destination, source))
    if mover is None:
        raise isa.missing(f"a copy of {source.element} from {source.memory}")
    yield from mover.elements(region, list(zip(per_step[1], per_step[0], strict=True)))


def _lookups(
    isa: Isa,
    surrogates: tuple[Surrogate, Surrogate, Surrogate],
    region: Region,
    to: Sequence[int],
    places: Sequence[int],
) -> Iterator[Part]:
    """Copies of rows of a table; operands and `surrogates` are target, table, and the index that names the rows.

    `to` and `places` are bytes of target and index from one step of each axis to the next.  Raises `TilewrightError`
    (kind `target`) where the machine has no instruction for it.
    """
    destination, source, index = surrogates
    assert source.rows is not None
    mover = _Mover.of(isa, isa.lookups(source.memory, destination.memory), surrogates)
    lookup = None if mover is None else lookup_of(mover.binding.capability.statement)
    if mover is None or lookup is None:
        found = f"none for {source.element} at {index.element} in {index.memory}"
        expected = f"a mnemonic that copies rows at indices from {source.memory} to {destination.memory}"
        raise isa.missing(expected, found)
    if all(count > 0 for _, count in region):
        mover = replace(mover, values={lookup.count: source.rows.count}, lookup=lookup)
        yield from mover.elements(region, list(zip(to, source.strides_bytes, places, strict=True)))


def _fills(isa: Isa, destination: Surrogate, value: float, region: Region, per_step: Sequence[int]) -> Iterator[Part]:
    element = destination.element
    binding = isa.fill(destination.memory, element, value)
    if binding is None:
        raise isa.missing(f"an instruction that fills {element} elements of {destination.memory} with {value}")
    mover = _Mover(isa, binding, (destination,), (element,), dict.fromkeys(binding.immediates, value))
    yield from mover.parts(region, [(stride,) for stride in per_step])
