"""Reading an ONNX file: bytes to a checked `ModelProto`.

Large values of tensors stay where they lie, and are not parsed: Protocol Buffers keeps a copy of what it parses, and
another one for each look at it; weights would be held three times.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto

from ...algebra.element import ELEMENT_TYPES
from ...errors import TilewrightError, check_type
from ...files import read_bytes

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

INSIDE = "\0"
"""The location of values that are left in the model's own bytes; no file has this name."""

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
    """The model in `data`, its large values replaced by external data at `INSIDE`, which is `data` itself.

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
    entries = {"location": INSIDE, "offset": str(moved.payload), "length": str(moved.end - moved.payload)}
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


MAX_TENSOR_BYTES = 1 << 32
"""The largest constant tensor that the importer makes or reads."""

OPSETS = (1, 28)
"""The range of versions of the default operator set that the importer knows."""

NAMED_TYPES: dict[str, np.dtype[Any]] = {
    **{"BOOL": np.dtype(np.bool_), "FLOAT": ELEMENT_TYPES["f32"], "DOUBLE": ELEMENT_TYPES["f64"]},
    **{"FLOAT16": ELEMENT_TYPES["f16"], "BFLOAT16": ELEMENT_TYPES["bf16"]},
    **{f"INT{bits}": ELEMENT_TYPES[f"i{bits}"] for bits in (2, 4, 8, 16, 32, 64)},
    **{f"UINT{bits}": ELEMENT_TYPES[f"u{bits}"] for bits in (2, 4, 8, 16, 32, 64)},
    **{f"FLOAT{name}".upper(): ELEMENT_TYPES[f"f{name}"] for name in ("8e4m3fn", "8e4m3fnuz", "8e5m2", "8e5m2fnuz")},
    **{"FLOAT8E8M0": ELEMENT_TYPES["f8e8m0fnu"], "FLOAT4E2M1": ELEMENT_TYPES["f4e2m1fn"]},
}
"""Element types that constants may have on their way to being folded, by ONNX's names."""

NUMPY_TYPES = {number: NAMED_TYPES[name] for name, number in TensorProto.DataType.items() if name in NAMED_TYPES}
"""Those that the installed version of ONNX has, by number."""

_NARROW = {"INT4": 4, "UINT4": 4, "INT2": 2, "UINT2": 2, "FLOAT4E2M1": 4}

BITS = {number: _NARROW[name] for name, number in TensorProto.DataType.items() if name in _NARROW}
"""Types of which a byte of a file holds several elements, and their bits."""


TYPE_LEVER = "export the model in float32, or quantised to 8 bits"


def type_name(element_type: int) -> str:
    """The ONNX name of an element type, `FLOAT`, or its number if it has none."""
    names = {number: name for name, number in TensorProto.DataType.items()}
    return names.get(element_type, f"element type {element_type}")


def read_model(source: str | Path | bytes | ModelProto) -> ModelProto:
    """The model in a file, in serialised bytes, or given; its opset, graph and operator domains are checked.

    Large values of a file or of bytes are left where they lie, as external data at `INSIDE`.
    """
    told = "the path of an .onnx file, its bytes, or an onnx.ModelProto"
    check_type("model", source, (str, Path, bytes, ModelProto), told)
    model = source if isinstance(source, ModelProto) else _parse(source)
    subject = str(source) if isinstance(source, str | Path) else "ONNX model"
    if not model.HasField("graph") or not model.graph.output:
        raise TilewrightError("parse", subject, "a model with a graph that has outputs", "none", "the file may be cut")
    _check_names(model, subject)
    opset_of(model)
    return model


def _check_names(model: ModelProto, subject: str) -> None:
    """Refuse names that are no text, and inputs, initializers and outputs without a name or of the same name."""
    graph = model.graph
    lists = {"input": graph.input, "initializer": graph.initializer, "output": graph.output}
    named = {kind: [value.name for value in values] for kind, values in lists.items()}
    names: list[object] = [name for found in named.values() for name in found]
    names += [dim.dim_param for value in graph.input for dim in value.type.tensor_type.shape.dim]
    names += [value.name for value in graph.value_info] + [opset.domain for opset in model.opset_import]
    for node in graph.node:
        names += [node.name, node.op_type, node.domain, *node.input, *node.output, *(a.name for a in node.attribute)]
    for name in names:
        if not isinstance(name, str):  # what Protocol Buffers gives for bytes that are no UTF-8
            lever = "the file is damaged, or its names are in another encoding"
            raise TilewrightError("parse", subject, "names in UTF-8", f"{name!r:.80}", lever)
    for kind, found in named.items():
        wrong = next((place for place, name in enumerate(found) if not name or "\0" in name), None)
        if wrong is not None:
            told = repr(found[wrong])[:80] if found[wrong] else "none"
            raise TilewrightError("parse", f"{kind} {wrong}", "a name without zero bytes", told, "give it a name")
        twice = next((name for name, count in Counter(found).items() if count > 1), None)
        if twice is not None:
            lever = "rename one of them"
            raise TilewrightError("parse", f"{kind} {twice!r}", "each name once", "the name twice", lever)


def _parse(source: str | Path | bytes) -> ModelProto:
    given = isinstance(source, bytes)
    data = memoryview(source if given else read_bytes(source, "a readable .onnx file", BULK_BYTES))
    try:
        return onnx.load_model_from_string(without_bulk(data))
    except (DecodeError, ValueError, RecursionError) as error:
        found = f"{len(data)} bytes that do not decode"
        lever = "the file is cut or not ONNX"
        subject = "ONNX bytes" if given else str(source)
        raise TilewrightError("parse", subject, "a serialised ONNX ModelProto", found, lever) from error


def opset_of(model: ModelProto) -> int:
    """The version of the default operator set of `model`."""
    versions = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")]
    if not versions:
        lever = "the file is damaged, or no model of its own"
        raise TilewrightError("unsupported", "opset_import", "a version of the default operator set", "none", lever)
    low, high = OPSETS
    version = max(versions)
    if not low <= version <= high:
        lever = "convert the model with onnx.version_converter"
        raise TilewrightError("unsupported", "opset_import", f"an opset from {low} to {high}", str(version), lever)
    return version


def check_size(subject: str, shape: Sequence[int], item_bytes: int) -> None:
    """Refuse negative extents and tensors larger than `MAX_TENSOR_BYTES`, before anything is allocated."""
    lever = "make the tensor smaller; a file that has it by mistake is damaged"
    if len(shape) > 32 or any(extent < 0 for extent in shape):
        raise TilewrightError("shape", subject, "at most 32 extents, none negative", str(list(shape)[:40]), lever)
    if prod(shape) * item_bytes > MAX_TENSOR_BYTES:
        found = f"shape {list(shape)} ({prod(shape) * item_bytes} bytes)"
        raise TilewrightError("shape", subject, f"a tensor of at most {MAX_TENSOR_BYTES} bytes", found, lever)
