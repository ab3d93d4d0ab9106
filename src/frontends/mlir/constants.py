"""Types and constants of MLIR text: `tensor<2x?xf32>`, `dense<...>`, `affine_map<...>`, numbers by their bits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from ...errors import TilewrightError
from .source import LINEAR_CONSTANT, AffineMap, Array, Dense, Type

_TENSOR = re.compile(r"\s*((?:(?:\d+|\?)\s*x\s*)*)([A-Za-z_!][\w.]*(?:<.*>)?)\s*(?:,.*)?", re.DOTALL)
_EXTENT = re.compile(r"\d+|\?")
_NUMBER = re.compile(r"-?0x[0-9A-Fa-f]+|-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|true|false")
_TERM = re.compile(r"([+-]?)\s*(?:(\d+)\s*\*\s*)?(?:([ds]\d+)(?:\s*\*\s*(-?\d+))?|(\d+))\s*")

DTYPES: Mapping[str, str] = {
    **{"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool", "index": "int64"},
    **{f"{sign}{bits}": f"int{bits}" for sign in ("i", "si") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
"""NumPy's names of the element types that tensors may have here."""

MAX_RANK = 32


def dtype_of(element: str, subject: str) -> np.dtype[Any]:
    """The NumPy type of elements; `TilewrightError` (kind `unsupported`) for those that are not computed with."""
    if element not in DTYPES:
        lever = "lower the model with f32, or quantised to 8 bits"
        known = ", ".join(name for name in DTYPES if not name.startswith("s"))
        raise TilewrightError("unsupported", subject, f"an element type of {known}", element, lever)
    return np.dtype(DTYPES[element])


def tensor_type(body: str) -> Type | None:
    """The type of `tensor<BODY>`, or None."""
    match = _TENSOR.fullmatch(body)
    if match is None:
        return None
    extents = _EXTENT.findall(match[1])
    if len(extents) > MAX_RANK or any(len(extent) > 18 for extent in extents):
        return None
    return Type(match[2], tuple(None if extent == "?" else int(extent) for extent in extents))


def number(text: str, element: str) -> int | float:
    """A number; hexadecimal digits of a float are its bits.  `ValueError` where it is none of the type."""
    if text in ("true", "false"):
        return int(text == "true")
    if element.startswith(("f", "bf")):
        if "0x" not in text:
            return float(text)
        width = int(element.lstrip("bf"))
        bits = int(text, 16)
        if bits >> width or element not in DTYPES:
            raise ValueError(text)
        return float(np.array([bits], f"uint{width}").view(DTYPES[element])[0])
    return int(text, 16 if "0x" in text else 10)


def dense(body: str, type_: Type, subject: str) -> Dense:
    """The constant `dense<BODY> : TYPE`."""
    dtype, shape = dtype_of(type_.element, subject), type_.shape
    if shape is None or any(extent is None for extent in shape):
        raise TilewrightError("parse", subject, "a static tensor type", str(type_), "the text is damaged")
    extents, body = tuple(extent or 0 for extent in shape), body.strip()
    expected = f"{prod(extents)} elements of {type_.element}, or one for all"
    try:
        if body.startswith('"0x'):
            data = bytes.fromhex(body[3:-1])
            array = np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).astype(dtype, copy=False)
        elif body.startswith("["):
            found = [number(text, type_.element) for text in _NUMBER.findall(body)]
            array = np.array(found, np.float64 if dtype.kind == "f" else np.int64 if dtype.kind != "u" else np.uint64)
        elif body:
            array = np.array([number(body, type_.element)])
        else:
            array = np.zeros(0)
        one = array.size == 1 and not body.startswith("[")
        return Dense(_typed(array, dtype).reshape(() if one else extents), type_)
    except (ValueError, OverflowError) as error:
        raise TilewrightError("parse", subject, expected, f"{body[:60]!r}", "the text is cut or damaged") from error


def _typed(array: Array, dtype: np.dtype[Any]) -> Array:
    """The elements in their type; an `OverflowError` where one is none of it (a byte of 1 is true)."""
    if array.dtype == dtype or dtype.kind in "fb":
        with np.errstate(over="ignore"):
            return array.astype(dtype)
    info = np.iinfo(dtype)
    if array.size and not (int(array.min()) >= info.min and int(array.max()) <= info.max):
        unsigned = np.iinfo(f"u{dtype.name}").max if dtype.kind == "i" else info.max
        if int(array.min()) < info.min or int(array.max()) > unsigned:
            raise OverflowError
    return array.astype(dtype)


def affine_map(body: str) -> AffineMap | None:
    """The map `affine_map<BODY>`; None where it is not linear."""
    head, arrow, tail = body.partition("->")
    dims = re.findall(r"d\d+", head)
    if not arrow or len(dims) > MAX_RANK:
        return None
    inner = tail.strip().removeprefix("(").removesuffix(")").strip()
    rows: list[dict[int, int]] = []
    for text in filter(None, (part.strip() for part in inner.split(","))):
        row: dict[int, int] = {}
        position = 0
        while position < len(text):
            match = _TERM.match(text, position)
            if match is None or match.end() == position or (match[3] or "d").startswith("s"):
                return None
            sign = -1 if match[1] == "-" else 1
            key = LINEAR_CONSTANT if match[3] is None else int(match[3][1:])
            size = int(match[5]) if match[3] is None else int(match[2] or 1) * int(match[4] or 1)
            row[key] = row.get(key, 0) + sign * size
            position = match.end()
        rows.append(row)
    return AffineMap(len(dims), tuple(rows))


def resources(text: str) -> dict[str, str]:
    """The digits of the constants in a file's metadata (`{-# dialect_resources: ... #-}`), by name."""
    _, opening, metadata = text.partition("{-#")
    found = re.finditer(r'([\w$.]+)\s*:\s*"0x([0-9A-Fa-f]*)"', metadata) if opening else ()
    return {match[1]: match[2] for match in found}
