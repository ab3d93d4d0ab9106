"""Reads types, attributes and constants of MLIR text as Python has them."""

from __future__ import annotations

from typing import Any

from ...errors import TilewrightError
from .constants import DTYPES, affine_map, dense, number, resources, tensor_type
from .lexer import MAX_DEPTH, Lexer
from .source import Dense, Reference, Type

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
