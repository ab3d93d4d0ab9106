"""What a transfer of rows of a table becomes: instructions that copy rows at the places that an index names."""

from collections.abc import Iterator, Sequence

from ...algebra.element import element_dtype
from ...algebra.lookup import Lookup, lookup_of
from ...errors import TilewrightError
from .boxes import BoxAxis, Piece, Slot, cut, merge_axes, reach_of
from .isa import Binding, Isa
from .plan_transfer import Part, PartOperand, Region, Side
from .tree import Surrogate

TARGET, TABLE, INDEX = range(3)
"""The operands of such an instruction, and the strides of the axes of a box."""


def plan_lookup(
    isa: Isa, source: Surrogate, destination: Surrogate, index: Surrogate, region: Region, to: Sequence[int]
) -> tuple[Side, list[Part]]:
    """The index as a side of the transfer, and the instructions that copy a region of the box.

    `to` are the bytes of the destination from one step of each axis to the next.  Raises `TilewrightError` (kind
    `target`) where the machine has no instruction for it.
    """
    rows = source.rows
    assert rows is not None
    binding, lookup, element = _choose(isa, source, destination, index)
    size = element_dtype(element).itemsize
    places = [stride if axis < rows.axes else 0 for axis, stride in enumerate(index.strides_bytes)]
    steps = list(zip(to, source.strides_bytes, places, strict=True))
    axes = [BoxAxis(count, strides) for (_, count), strides in zip(region, steps, strict=True)]
    axes.append(BoxAxis(source.element_bytes // size, (size, size, 0)))
    start = [sum(first * stride[i] for (first, _), stride in zip(region, steps, strict=True)) for i in range(3)]
    surrogates, parts = (destination, source, index), list[Part]()
    if all(count > 0 for _, count in region):
        for piece in cut(merge_axes(axes), list(_slots(binding, lookup)), 3):
            parts.append(_part(isa, binding, lookup, piece, start, surrogates, element))
    return Side(rows.index, (1,) * len(places), tuple(places)), parts


def _choose(isa: Isa, source: Surrogate, destination: Surrogate, index: Surrogate) -> tuple[Binding, Lookup, str]:
    """An instruction, its statement's parts, and the type of the elements that it moves: bytes, or the table's own."""
    for element in ("u8", "i8", source.element):
        for binding in isa.lookups(source.memory, destination.memory):
            lookup = lookup_of(binding.capability.statement)
            pairs = zip(binding.operands, (destination, source, index), (element, element, index.element), strict=True)
            if lookup is not None and all(slot.allows(type_, one.memory) for slot, one, type_ in pairs):
                return binding, lookup, element
    found = f"none for {source.element} at {index.element} in {index.memory}"
    expected = f"a mnemonic that copies rows at indices from {source.memory} to {destination.memory}"
    raise TilewrightError("target", f"machine {isa.machine.name}", expected, found)


def _slots(binding: Binding, lookup: Lookup) -> Iterator[Slot]:
    """The loops that an instruction offers; over the rows the table's place is the index's to say."""
    for dim in binding.capability.dims:
        if dim.name in binding.extents:
            strides = [binding.stride_range(i, dim.name) for i in range(3)]
            strides[TABLE] = (0, 0) if dim.name == lookup.row else strides[TABLE]
            yield Slot(dim.name, binding.limit(dim.name), tuple(strides))


def _part(
    isa: Isa,
    binding: Binding,
    lookup: Lookup,
    piece: Piece,
    start: Sequence[int],
    surrogates: tuple[Surrogate, Surrogate, Surrogate],
    element: str,
) -> Part:
    table = surrogates[TABLE]
    assert table.rows is not None
    types = [element, element, surrogates[INDEX].element]
    row = binding.row(types, {}, {lookup.count: table.rows.count}, {})
    binding.set_stride(row, TABLE, lookup.row, table.rows.row_bytes, f"rows of {table.name}")
    for dim, axis in piece.slots:
        row[binding.extents[dim]] = axis.count
        for place, slot in enumerate(binding.operands):
            if dim in slot.strides and (dim, place) != (lookup.row, TABLE):
                row[slot.strides[dim]] = axis.strides[place]
    memories = {memory.name: number for number, memory in enumerate(isa.machine.memories)}
    axes, operands = [axis for _, axis in piece.slots], list[PartOperand]()
    for place, (slot, side, type_) in enumerate(zip(binding.operands, (1, 0, 2), types, strict=True)):
        steps = [(axis.count, axis.strides[place]) for axis in axes]
        if place == TABLE:
            steps.append((table.rows.count, table.rows.row_bytes))
        reach = reach_of(steps, element_dtype(type_).itemsize)
        offset = start[place] + piece.offsets[place]
        constant = surrogates[place].constant
        operands.append(PartOperand(side, slot.address, memories[slot.memory], offset, reach, constant))
    return Part(binding, row, tuple(operands))
