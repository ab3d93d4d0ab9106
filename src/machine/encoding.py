"""Instruction words of a `Machine`: fields to bits and back, one at a time and in bulk.

A word is its fields' bits, most significant first, in big-endian bytes, or (`Machine.little`) the other way round; a
program is words one after another.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..algebra.element import Array, Ints
from ..errors import TilewrightError
from .model import Machine, Mnemonic, PlacedField, Word


@dataclass(frozen=True)
class DecodedPart:
    """All instructions of one mnemonic: their positions in the program and, per field (header's too), int64 values."""

    mnemonic: Mnemonic
    positions: Ints
    fields: dict[str, Ints]


@dataclass(frozen=True)
class Decoded:
    """A program as arrays; `offsets_bytes` tells where each instruction begins, `parts` hold the fields."""

    offsets_bytes: Ints
    parts: tuple[DecodedPart, ...]


def word_of(machine: Machine, mnemonic: str) -> Word:
    """The word layout of a mnemonic; `TilewrightError` (kind `program`) if the machine has none of that name."""
    word = machine.words.get(mnemonic)
    if word is None:
        known = ", ".join(machine.words) or "none at all"
        raise TilewrightError("program", machine.name, f"a mnemonic among {known}", f"`{mnemonic}`")
    return word


def _place(word: Word, name: str) -> PlacedField:
    place = word.by_name.get(name)
    if place is None:
        subject = word.mnemonic.name
        raise TilewrightError("program", subject, f"a field among {', '.join(word.by_name)}", f"`{name}`")
    return place


def _overflow(word: Word, place: PlacedField, value: int) -> TilewrightError:
    return TilewrightError(
        "program",
        f"{word.mnemonic.name}.{place.name}",
        f"{place.lowest} to {place.highest} ({place.width_bits} bits)",
        str(value),
    )


def encode(machine: Machine, mnemonic: str, fields: Mapping[str, int]) -> bytes:
    """One instruction; fields that are not given are 0.

    `TilewrightError` (kind `program`) names an unknown mnemonic or field, or a value that the field cannot hold.
    """
    word = word_of(machine, mnemonic)
    constants = constants_of(word.mnemonic)
    opcode = word.fields[0]
    bits = word.mnemonic.opcode << (word.bits - opcode.offset_bits - opcode.width_bits)
    for name, value in {**constants, **fields}.items():
        place = _place(word, name)
        if not place.lowest <= value <= place.highest:
            raise _overflow(word, place, value)
        if value != constants.get(name, value):
            raise TilewrightError("program", f"{mnemonic}.{name}", f"{constants[name]}, a constant", str(value))
        code = value & ((1 << place.width_bits) - 1)
        bits |= code << (word.bits - place.offset_bits - place.width_bits)
    return bits.to_bytes(word.bytes, byte_order(machine))


def byte_order(machine: Machine) -> Literal["big", "little"]:
    """How the bytes of a word are stored."""
    return "little" if machine.little else "big"


def constants_of(mnemonic: Mnemonic) -> dict[str, int]:
    """The fields that have one value only."""
    return {item.name: item.constant for item in mnemonic.fields if item.constant is not None}


def encode_many(machine: Machine, mnemonic: str, fields: Mapping[str, Array | int], count: int) -> NDArray[np.uint8]:
    """`count` instructions of one mnemonic as rows of bytes; a field is an array of `count` integers or one for all.

    Errors as for `encode`.
    """
    word = word_of(machine, mnemonic)
    rows = np.zeros((count, word.bytes), np.uint8)
    _insert(rows, word.fields[0], np.asarray(word.mnemonic.opcode, np.int64))
    for name, values in {**constants_of(word.mnemonic), **fields}.items():
        place, array = _place(word, name), np.asarray(values, np.int64)
        bad = (array < place.lowest) | (array > place.highest)
        if bad.any():
            raise _overflow(word, place, int(array[bad][0]) if array.ndim else int(array))
        _insert(rows, place, array)
    return np.ascontiguousarray(rows[:, ::-1]) if word.little else rows


def _byte_shifts(place: PlacedField) -> Iterator[tuple[int, int]]:
    """The bytes that a field touches, each with the shift to the left that takes its bits to the field's value."""
    last = (place.offset_bits + place.width_bits - 1) // 8
    spare = 8 * (last + 1) - place.offset_bits - place.width_bits
    for byte in range(place.offset_bits // 8, last + 1):
        yield byte, 8 * (last - byte) - spare


def _insert(rows: NDArray[np.uint8], place: PlacedField, values: Ints) -> None:
    codes = values.astype(np.uint64) & np.uint64((1 << place.width_bits) - 1)
    for byte, shift in _byte_shifts(place):
        part = codes >> np.uint64(shift) if shift >= 0 else codes << np.uint64(-shift)
        rows[:, byte] |= (part & np.uint64(0xFF)).astype(np.uint8)


def _extract(rows: NDArray[np.uint8], place: PlacedField) -> Ints:
    codes = np.zeros(len(rows), np.uint64)
    for byte, shift in _byte_shifts(place):
        part = rows[:, byte].astype(np.uint64)
        codes |= part << np.uint64(shift) if shift >= 0 else part >> np.uint64(-shift)
    codes &= np.uint64((1 << place.width_bits) - 1)
    if place.signed:
        sign = np.uint64(1 << (place.width_bits - 1))
        codes = (codes ^ sign) - sign
    return codes.view(np.int64)


def join_rows(parts: Sequence[tuple[Ints, NDArray[np.uint8]]]) -> bytes:
    """One program of the rows of several mnemonics; each part is (positions in the program, rows of bytes).

    Positions of all parts together are 0, 1, 2, ... in any order.
    """
    lengths = np.zeros(sum(len(positions) for positions, _ in parts), np.int64)
    for positions, rows in parts:
        lengths[positions] = rows.shape[1]
    starts = np.cumsum(lengths) - lengths
    program = np.zeros(int(lengths.sum()), np.uint8)
    for positions, rows in parts:
        program[starts[positions][:, None] + np.arange(rows.shape[1])] = rows
    return program.tobytes()


def instruction_offsets(machine: Machine, program: bytes) -> tuple[Ints, Ints]:
    """Where each instruction begins, in bytes, and the index of its mnemonic in `machine.mnemonics`."""
    kinds = _Kinds(machine)
    lengths = [machine.words[mnemonic.name].bytes for mnemonic in machine.mnemonics]
    opcode_bytes = -(-machine.opcode_bits // 8)
    spare = 0 if machine.little else 8 * opcode_bytes - machine.opcode_bits
    order, mask = byte_order(machine), (1 << machine.opcode_bits) - 1
    offsets: list[int] = []
    found: list[int] = []
    at, end = 0, len(program)
    while at < end:
        opcode = int.from_bytes(program[at : at + opcode_bytes], order) >> spare & mask
        kind = kinds.find(opcode, program, at)
        if kind is None or at + lengths[kind] > end:
            expected = "a known opcode" if kind is None else f"{lengths[kind]} bytes of {machine.mnemonics[kind].name}"
            raise TilewrightError("program", f"byte {at}", expected, f"0x{program[at : at + 8].hex()}")
        offsets.append(at)
        found.append(kind)
        at += lengths[kind]
    return np.array(offsets, np.int64), np.array(found, np.int64)


class _Kinds:
    """Which mnemonic a word is: by the opcode, then by constants, where those with more of them come first."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.alone: dict[int, int] = {}
        self.masks: dict[int, list[tuple[int, int, int, int]]] = {}  # opcode -> (bytes, mask, value, mnemonic)
        rows = [(constants_of(mnemonic), index) for index, mnemonic in enumerate(machine.mnemonics)]
        for constants, index in sorted(rows, key=lambda row: (-len(row[0]), row[1])):
            word = machine.words[machine.mnemonics[index].name]
            mask = value = 0
            for place in (word.by_name[name] for name in constants):
                shift = word.bits - place.offset_bits - place.width_bits
                mask |= ((1 << place.width_bits) - 1) << shift
                value |= constants[place.name] << shift
            self.masks.setdefault(word.mnemonic.opcode, []).append((word.bytes, mask, value, index))
        for opcode, found in list(self.masks.items()):
            if len(found) == 1 and not found[0][1]:
                self.alone[opcode] = found[0][3]

    def find(self, opcode: int, program: bytes, at: int) -> int | None:
        """The number of the mnemonic of the word at byte `at`; None if there is none."""
        kind = self.alone.get(opcode)
        if kind is not None:
            return kind
        for size, mask, value, index in self.masks.get(opcode, ()):
            if int.from_bytes(program[at : at + size], byte_order(self.machine)) & mask == value:
                return index
        return None


def decode_arrays(machine: Machine, program: bytes) -> Decoded:
    """A whole program, field by field as arrays: about 2 us an instruction.

    `TilewrightError` (kind `program`) for unknown opcodes, a last word cut short, bits set in padding, and codes that
    an efield does not have.
    """
    offsets, kinds = instruction_offsets(machine, program)
    data = np.frombuffer(program, np.uint8)
    parts: list[DecodedPart] = []
    for index, mnemonic in enumerate(machine.mnemonics):
        positions = np.flatnonzero(kinds == index).astype(np.int64)
        if len(positions):
            word = machine.words[mnemonic.name]
            rows = data[offsets[positions][:, None] + np.arange(word.bytes)]
            rows = np.ascontiguousarray(rows[:, ::-1]) if word.little else rows
            fields = {place.name: _extract(rows, place) for place in word.fields[1:]}
            _check(machine, word, rows, fields, positions)
            parts.append(DecodedPart(mnemonic, positions, fields))
    return Decoded(offsets, tuple(parts))


def _check(machine: Machine, word: Word, rows: NDArray[np.uint8], fields: dict[str, Array], positions: Ints) -> None:
    padding = (rows & _padding(word.fields, word.bytes)).any(axis=1)
    if padding.any():
        subject = f"instruction {positions[padding][0]} ({word.mnemonic.name})"
        raise TilewrightError("program", subject, "zeros in the padding", "other bits")
    for item in machine.fields_of(word.mnemonic).values():
        if item.enum:
            unknown = ~np.isin(fields[item.name], [code for _, code in item.enum])
            if unknown.any():
                subject = f"instruction {positions[unknown][0]} ({word.mnemonic.name}.{item.name})"
                names = ", ".join(f"{name} = {code}" for name, code in item.enum)
                raise TilewrightError("program", subject, f"a code of {names}", str(fields[item.name][unknown][0]))


@lru_cache(maxsize=256)
def _padding(fields: tuple[PlacedField, ...], size: int) -> NDArray[np.uint8]:
    """The bits of a word of `size` bytes that are no field's."""
    used = np.zeros((1, size), np.uint8)
    for place in fields:
        _insert(used, place, np.asarray(-1, np.int64))
    return ~used


def decode(machine: Machine, program: bytes) -> list[tuple[str, dict[str, int]]]:
    """A whole program as (mnemonic, all its fields); errors as for `decode_arrays`."""
    decoded = decode_arrays(machine, program)
    found: list[tuple[str, dict[str, int]]] = [("", {})] * len(decoded.offsets_bytes)
    for part in decoded.parts:
        columns = {name: values.tolist() for name, values in part.fields.items()}
        for row, position in enumerate(part.positions.tolist()):
            found[position] = part.mnemonic.name, {name: values[row] for name, values in columns.items()}
    return found
