"""A program of packets as bytes and back: JSON text of its packets and of where its tensors lie, read as untrusted."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import prod
from typing import Any, cast

import numpy as np

from ..errors import TilewrightError
from .packet_program import Instruction, Isa, Loop, Packet, PacketProgram, Packing, Stored

MOST_BYTES = 1 << 28
"""Bytes of text that are read."""

MOST_MEMORY_BYTES = 1 << 32
MOST_TRIPS = 1 << 40
DEEPEST_LOOPS = 32
ROLES = ("input", "output", "weight", "scratch")


def encode_packets(program: PacketProgram) -> bytes:
    """The program without its constants (`images`)."""
    stored = [asdict(item) for item in program.stored]
    whole = {"memory_bytes": program.memory_bytes, "stored": stored, "code": list(map(_plain, program.code))}
    return json.dumps(whole, separators=(",", ":")).encode()


def _plain(item: Packet | Loop) -> Any:
    if not isinstance(item, Loop):
        return [_plain_instruction(instruction) for instruction in item]
    end = _plain_instruction(item.end) if item.end is not None else None
    body = list(map(_plain, item.body))
    return {"label": item.label, "trips": item.trips, "suffix": item.suffix, "end": end, "body": body}


def _plain_instruction(instruction: Instruction) -> Any:
    return [instruction.mnemonic, dict(instruction.values), *([instruction.label] if instruction.label >= 0 else [])]


def decode_packets(isa: Isa, code: bytes) -> PacketProgram:
    """What `encode_packets` wrote, without constants.

    `TilewrightError` (kind `program`) for text of another form, instructions that the machine has not, packets that do
    not fit together, and tensors outside of the memory.
    """
    if len(code) > MOST_BYTES:
        raise _error(f"at most {MOST_BYTES} bytes", f"{len(code)}")
    try:
        whole = cast("dict[str, Any]", json.loads(code))
        most = isa.machine.memory_by_name[isa.memory].capacity_bytes
        size = _number(whole["memory_bytes"], 1, min(most, MOST_MEMORY_BYTES))
        stored = tuple(_stored(entry, size) for entry in whole["stored"])
        return PacketProgram(_Reader(isa).code(whole["code"], 0), stored, size)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        found = f"{type(error).__name__}: {error}"[:200]
        raise _error("packets and tensors as `compile` writes them", found) from error


def _error(expected: str, found: str) -> TilewrightError:
    return TilewrightError("program", "packets", expected, found, "compile again")


def _number(value: object, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise _error(f"a whole number from {least} to {most}", str(value)[:100])
    return value


def _numbers(values: Sequence[object], least: int, most: int) -> tuple[int, ...]:
    return tuple(_number(value, least, most) for value in values)


class _Reader:
    """Reads packets of a machine."""

    def __init__(self, isa: Isa) -> None:
        self.isa = isa
        loops = [item.loop for item in isa.packets.mnemonics if item.loop is not None]
        self.suffixes = {"", *(loop.suffix for loop in loops)}
        self.limits = {name: item.limits(isa.packets.files) for name, item in isa.mnemonics.items()}

    def code(self, items: Sequence[Any], depth: int) -> tuple[Packet | Loop, ...]:
        """Packets, and loops `depth` loops deep."""
        if depth > DEEPEST_LOOPS:
            raise _error(f"at most {DEEPEST_LOOPS} loops in each other", "more")
        return tuple(self.loop(item, depth) if isinstance(item, dict) else self.packet(item) for item in items)

    def loop(self, entry: Mapping[str, Any], depth: int) -> Loop:
        """One loop."""
        label, trips = _number(entry["label"], 0, 1 << 31), _number(entry["trips"], 0, MOST_TRIPS)
        suffix, body = entry["suffix"], self.code(entry["body"], depth + 1)
        if suffix not in self.suffixes or not body:
            raise _error(f"a loop with packets that ends with one of {sorted(self.suffixes)}", str(suffix)[:100])
        end = self.instruction(entry["end"]) if entry["end"] is not None else None
        return Loop(label, trips, body, suffix, end)

    def packet(self, items: Sequence[Any]) -> Packet:
        """One packet, whose instructions fit together."""
        packet = tuple(map(self.instruction, items))
        names = [item.mnemonic for item in packet]
        if not self.isa.fits(names):
            raise _error("instructions that fit into a packet", ", ".join(names)[:200])
        return packet

    def instruction(self, entry: Sequence[Any]) -> Instruction:
        """One instruction, each field within its limits."""
        name, values, label = entry[0], cast("dict[str, object]", entry[1]), entry[2] if len(entry) > 2 else -1
        limits = self.limits.get(name)
        if limits is None or set(values) != set(limits):
            expected = f"fields {', '.join(limits)} of {name}" if limits is not None else "a mnemonic of the machine"
            raise _error(expected, f"{str(name)[:100]}: {', '.join(values)}"[:200])
        pairs = tuple((field, _number(value, *limits[field])) for field, value in values.items())
        return Instruction(name, pairs, label=_number(label, -1, 1 << 31))


def _stored(entry: Mapping[str, Any], memory_bytes: int) -> Stored:
    """A tensor whose bytes lie in memory."""
    dtype, role = np.dtype(str(entry["dtype"])), str(entry["role"])
    if dtype.kind not in "iufb" or role not in ROLES:
        raise _error(f"a type of numbers, and a role among {', '.join(ROLES)}", f"{dtype}, {role}"[:200])
    shape = _numbers(entry["shape"], 0, memory_bytes)
    size = _number(entry["size_bytes"], 0, memory_bytes)
    found = Stored(
        str(entry["name"]),
        role,
        dtype.name,
        shape,
        _numbers(entry["strides"], 0, memory_bytes),
        _number(entry["address"], 0, memory_bytes - size),
        size,
        _packing(entry["packing"], shape) if entry["packing"] is not None else None,
        _number(entry["origin_bytes"], 0, memory_bytes),
        _number(entry["copies"], 1, memory_bytes),
    )
    for expected, holds in _rules(found):
        if not holds:
            raise _error(f"{found.name[:100]}: {expected}", "others")
    return found


def _rules(item: Stored) -> Iterator[tuple[str, bool]]:
    """What must hold for a tensor to be packed and read in its bytes."""
    itemsize, elements = np.dtype(item.dtype).itemsize, prod(item.shape)
    if item.packing is not None:
        yield "a packed form of its size", item.packing.size_bytes(item.shape) == item.size_bytes
        yield "a packed form of bytes that the host fills", itemsize == 1 and item.role in ("input", "weight")
        return
    yield "a stride for each axis", len(item.strides) == len(item.shape)
    reach = sum((n - 1) * step for n, step in zip(item.shape, item.strides, strict=True)) if elements else 0
    yield "its elements in its bytes", item.origin_bytes + (item.copies * itemsize) + reach <= item.size_bytes
    yield "bytes of whole elements", (item.size_bytes - item.origin_bytes) % itemsize == 0
    yield "elements apart from each other", elements * itemsize <= item.size_bytes


def _packing(entry: Mapping[str, Any], shape: tuple[int, ...]) -> Packing:
    """The packed form of a tensor of that shape."""
    rank = len(shape)
    axes = _numbers(entry["axes"], 0, rank)
    batches, reduced = (_number(entry[name], 0, rank) for name in ("batch_axes", "reduced_axes"))
    if sorted(axes) != list(range(rank)) or batches + reduced > rank:
        raise _error(f"the {rank} axes once", str(axes))
    extents = [shape[axis] for axis in axes]
    depth, lanes = prod(extents[batches : batches + reduced]), prod(extents[batches + reduced :])
    most = prod(shape) + (1 << 20)
    found = Packing(
        axes,
        batches,
        reduced,
        _numbers(entry["sources"], -1, depth - 1),
        _number(entry["lanes"], 1, most),
        _number(entry["group"], 1, most),
        _numbers(entry["tiles"], 1, most),
        _number(entry["flip"], -256, 256),
    )
    if len(found.sources) % found.group or sum(found.tiles) * found.lanes < lanes:
        raise _error("whole groups, and vectors for all lanes", "fewer")
    return found
