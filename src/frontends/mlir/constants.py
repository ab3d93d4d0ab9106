"""Types, attributes and constants of MLIR text as Python has them."""

import re
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from ...algebra.element import Array
from ...errors import TilewrightError
from .source import LINEAR_CONSTANT, MAX_DEPTH, AffineMap, Dense, Lexer, Reference, Type

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


DAMAGED = "the text is damaged"

LARGEST = 1 << 63


class ValueReader(Lexer):
    """A lexer that takes types and values; names of either (`#map`, `!t`) stand for what `aliases` has."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self.aliases: dict[str, Any] = {}
        self.depth = 0

    def type(self) -> Type:
        """A type at the token."""
        if self.at("("):
            return Type(f"({self.raw()})")
        if self.token.kind not in ("word", "alias"):
            raise self.error("a type")
        start = self.token
        if start.text in self.aliases and isinstance(alias := self.aliases[start.text], Type):
            self.advance()
            return alias
        self.advance()
        if not self.at("<"):
            return Type(start.text)
        if start.text != "tensor" and start.text != "vector":
            return Type(f"{start.text}<{self.raw()}>")
        body = self.raw()
        found = tensor_type(body)
        if found is None:
            raise TilewrightError(
                "parse", f"{self.name}:{self.line(start.start)}", "a ranked tensor type", repr(body[:60])
            )
        return found

    def braces(self) -> dict[str, Any]:
        """A dictionary in braces, if there is one."""
        found: dict[str, Any] = {}
        if not self.take("{"):
            return found
        while not self.take("}"):
            if self.token.kind not in ("word", "string"):
                raise self.error("the name of an attribute")
            name = self.advance().text.strip('"')
            found[name] = self.value() if self.take("=") else True
            self.take(",")
        return found

    def list_of(self) -> list[Any]:
        """A list in brackets; `0:4:2` in it is the list of its numbers."""
        self.need("[")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TilewrightError("limit", f"{self.name}:{self.line()}", f"at most {MAX_DEPTH} levels", "more")
        found: list[Any] = []
        while not self.take("]"):
            item = self.value()
            if self.at(":"):
                item = [item]
                while self.take(":"):
                    item.append(self.value())
            found.append(item)
            self.take(",")
        self.depth -= 1
        return found

    def value(self) -> Any:
        """A value as Python has it; lists joined by `x` and `->` are one list of them."""
        first = self._one_value()
        if isinstance(first, list) and self.at("x", "->"):
            several: list[Any] = [first]
            while self.take("x", "->"):
                several.append(self.list_of())
            return several
        return first

    def _one_value(self) -> Any:
        token = self.token
        if token.text == "[":
            return self.list_of()
        if token.text == "{":
            return self.braces()
        if token.kind == "value":
            return Reference(self.advance().text)
        if token.kind == "number":
            return self._number()
        if token.kind in ("string", "symbol"):
            return self.advance().text.strip('"')
        if token.kind == "alias":
            return self._alias()
        if token.kind != "word":
            raise self.error("a value")
        if token.text == "loc" and self.peek().text == "(":
            return self.location()
        if token.text in ("dense", "dense_resource", "array", "affine_map") and self.peek().text == "<":
            return self._constant(self.advance().text)
        if token.text in ("true", "false"):
            value = self.advance().text == "true"
            return (
                Dense(dense(str(value).lower(), self.type(), "a constant").array, Type("i1"))
                if self.take(":")
                else value
            )
        found = self.type()
        return found.element if found.shape is None else found

    def _number(self) -> Any:
        token = self.advance()
        element = "f64" if "." in token.text or ("e" in token.text.lower() and "0x" not in token.text) else "i64"
        if self.at(":") and self.peek().text in DTYPES:
            self.advance()
            element = self.type().element
            if element not in ("i64", "i32", "index"):
                return dense(token.text, Type(element, ()), f"{self.name}:{self.line(token.start)}")
        try:
            found = number(token.text, element)
        except ValueError:
            raise TilewrightError(
                "parse",
                f"{self.name}:{self.line(token.start)}",
                f"a number of type {element}",
                token.text[:80],
                DAMAGED,
            ) from None
        if isinstance(found, int) and not -LARGEST <= found < 2 * LARGEST:
            subject = f"{self.name}:{self.line(token.start)}"
            raise TilewrightError("parse", subject, "an integer of 64 bits", token.text[:80], DAMAGED)
        return found

    def _alias(self) -> Any:
        name = self.advance().text
        if name in self.aliases:
            return self.aliases[name]
        if not self.at("<"):
            return name
        body = self.raw()
        if "." not in name:  # #stablehlo<comparison_direction GT>
            return body.split()[-1] if body.split() else ""
        inner = ValueReader(f"{{{body}}}", self.name)
        return inner.braces()

    def _constant(self, kind: str) -> Any:
        line, body = self.line(), self.raw()
        subject = f"{self.name}:{line}"
        if kind == "affine_map":
            found = affine_map(body)
            if found is None:
                lever = "maps of sums of dims times numbers are taken"
                raise TilewrightError("unsupported", subject, "a linear map", body[:80], lever)
            return found
        if kind == "array":
            try:
                return [number(text.strip(), "i64") for text in body.partition(":")[2].split(",") if text.strip()]
            except ValueError as error:
                raise TilewrightError("parse", subject, "an array of numbers", repr(body[:60]), DAMAGED) from error
        self.need(":")
        type_ = self.type()
        if kind == "dense_resource":
            digits = resources(self.text).get(body.strip())
            if digits is None:
                raise TilewrightError("parse", subject, f"bytes of the resource {body[:40]}", "none in the file")
            body = f'"0x{digits[8:]}"'  # after the alignment
        return dense(body, type_, subject)

    def location(self) -> None:
        """Go beyond `loc(...)`, if it is there."""
        if self.at("loc"):
            self.advance()
            self.raw()
