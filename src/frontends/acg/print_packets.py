"""The declarations of control model `packets` as canonical text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...machine.packets import PackedMnemonic, PacketIsa, Place

COLUMNS = 120


def packet_lines(isa: PacketIsa) -> Iterator[str]:
    """What packets are made of, and the register files."""
    yield "  packet {"
    yield f"    words {isa.words}; base {isa.base};{f' executor {isa.executor};' if isa.executor else ''}"
    if isa.resources:
        yield f"    resources {', '.join(isa.resources)};"
    yield "  }"
    for file in isa.files:
        yield f'  registers {file.name} {file.memory} width {file.width_bytes} count {file.count} "{file.syntax}";'


def packed_lines(mnemonic: PackedMnemonic) -> Iterator[str]:
    """An instruction of a packet."""
    yield f'  mnemonic {mnemonic.name} "{mnemonic.syntax}" {{'
    line = "   "
    for item in _items(mnemonic):
        if len(line) + len(item) + 2 > COLUMNS:
            yield line
            line = "   "
        line += f" {item};"
    yield line
    yield "  }"


def _items(mnemonic: PackedMnemonic) -> Iterator[str]:
    if mnemonic.registers:
        yield f"register {_pairs(mnemonic.registers)}"
    for field in mnemonic.fields:
        yield f"ifield {field.name} {field.width_bits}{' signed' if field.signed else ''}"
    if mnemonic.needs:
        yield f"use {', '.join(' | '.join(' + '.join(t) for t in need) for need in mnemonic.needs)}"
    sizes = {"words": mnemonic.words, "latency": mnemonic.latency_packets, "align": mnemonic.align_bytes}
    yield from (f"{name} {size}" for name, size in sizes.items() if size != 1)
    if mnemonic.capability:
        yield f"execute {mnemonic.node}.{mnemonic.capability}"
    if mnemonic.extents:
        yield f"extents {_pairs(mnemonic.extents)}"
    yield from (f"function {variable} {name}" for variable, name in mnemonic.functions)
    if mnemonic.immediates:
        yield f"immediates {_pairs(mnemonic.immediates)}"
    if mnemonic.from_identity:
        yield "from_identity"
    if mnemonic.given:
        yield f"given {_pairs(mnemonic.given)}"
    yield from (f"operand {_place(place)}" for place in mnemonic.places)
    if (advance := mnemonic.advance) is not None:
        yield f"advance {advance.base} by {advance.scale} * {advance.offset}"
    if (loop := mnemonic.loop) is not None:
        start = f"hardware_loop {loop.level} {loop.trips}"
        yield f"counted_loop {loop.trips}" if loop.level < 0 else f'{start} "{loop.suffix}"'


def _place(place: Place) -> str:
    offset = f" + {place.scale} * {place.offset}" if place.offset else ""
    rotated = f" rotated {place.rotated}" if place.rotated else ""
    strides = f"{{ {_pairs(place.strides)} }}" if place.strides else "{ }"
    return f"{place.operand} {place.memory}[{place.base}{offset}] {place.type_name} {strides}{rotated}"


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {word}" for name, word in pairs)
