"""Serialised models without their bulk: large values of tensors stay where they lie, and are not parsed.

Protocol Buffers keeps a copy of what it parses, and another one for each look at it; weights would be held three times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from onnx import TensorProto

BULK_BYTES = 1 << 12
"""Messages and values below this size are kept as they are."""

MODEL, GRAPH, NODE, ATTRIBUTE, TENSOR = "model", "graph", "node", "attribute", "tensor"

CHILDREN: Mapping[str, Mapping[int, str]] = {
    MODEL: {7: GRAPH},
    GRAPH: {1: NODE, 5: TENSOR},
    NODE: {5: ATTRIBUTE},
    ATTRIBUTE: {5: TENSOR},
}
"""By message, the fields that lead to tensors (onnx.proto3)."""

DATA_TYPE, LOCATION_FIELD, EXTERNAL_DATA = 2, 14, 13
VALUES: Mapping[int, int | None] = {4: TensorProto.FLOAT, 10: TensorProto.DOUBLE, 9: None}
"""Fields of a tensor that are its little-endian bytes, with the type that they are for: float, double, raw data."""

STORAGE = {4, 5, 6, 7, 9, 10, 11}
"""Fields of a tensor that hold values."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class Field:
    """A field of a message: from `start` to `end`, its payload from `payload` on; `value` of a number."""

    number: int
    kind: int
    start: int
    payload: int
    end: int
    value: int = 0


def without_bulk(data: memoryview) -> bytes:
    """The model in `data`, its large values replaced by external data with an empty location: `data` itself.

    Raises `ValueError` where `data` is no message.
    """
    return b"".join(_rewrite(data, 0, len(data), MODEL))


def _rewrite(data: memoryview, start: int, end: int, message: str) -> list[bytes | memoryview]:
    fields = _fields(data, start, end)
    if message == TENSOR:
        return _without_values(data, list(fields))
    pieces: list[bytes | memoryview] = []
    for field in fields:
        child = CHILDREN[message].get(field.number)
        if child is None or field.kind != BYTES or field.end - field.payload < BULK_BYTES:
            pieces.append(data[field.start : field.end])
        else:
            inside = _rewrite(data, field.payload, field.end, child)
            pieces += [_tag(field.number, BYTES), _varint(sum(map(len, inside))), *inside]
    return pieces


def _without_values(data: memoryview, fields: list[Field]) -> list[bytes | memoryview]:
    types = [field.value for field in fields if field.number == DATA_TYPE]
    stored = [field for field in fields if field.number in STORAGE]
    moved = stored[0] if len(stored) == 1 and stored[0].kind == BYTES and stored[0].number in VALUES else None
    if moved is None or VALUES[moved.number] not in (None, *types) or moved.end - moved.payload < BULK_BYTES:
        return [data[field.start : field.end] for field in fields]
    entries = {"location": "", "offset": str(moved.payload), "length": str(moved.end - moved.payload)}
    pieces: list[bytes | memoryview] = [data[field.start : field.end] for field in fields if field is not moved]
    pieces += [
        _bytes(EXTERNAL_DATA, _bytes(1, key.encode()) + _bytes(2, text.encode())) for key, text in entries.items()
    ]
    return [*pieces, _tag(LOCATION_FIELD, VARINT), _varint(TensorProto.EXTERNAL)]


def _fields(data: memoryview, start: int, end: int) -> Iterator[Field]:
    place = start
    while place < end:
        key, payload = _read_varint(data, place, end)
        number, kind, value = key >> 3, key & 7, 0
        if kind == BYTES:
            length, payload = _read_varint(data, payload, end)
            after = payload + length
        elif kind == VARINT:
            value, after = _read_varint(data, payload, end)
        elif kind in (FIXED32, FIXED64):
            after = payload + (4 if kind == FIXED32 else 8)
        else:
            raise ValueError(f"wire type {kind}")
        if after > end or not number:
            raise ValueError("a field that ends behind its message")
        yield Field(number, kind, place, payload, after, value)
        place = after


def _read_varint(data: memoryview, place: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while place < end and shift < 70:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    raise ValueError("a number that does not end")


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _bytes(number: int, content: bytes) -> bytes:
    return _tag(number, BYTES) + _varint(len(content)) + content
