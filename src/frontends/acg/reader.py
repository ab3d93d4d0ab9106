"""Values out of a tree of the grammar: tokens, numbers and properties, with located errors."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar, get_type_hints

from lark import Token, Tree

from ...algebra.expr import Expr
from ...algebra.parser import parse_expr
from ...errors import TilewrightError

Node = Tree[Token]

_N = TypeVar("_N", int, float)


def quote(text: str) -> str:
    """The text as an error shows it."""
    return f"`{text}`" if len(text) <= 40 else f"`{text[:40]}...`"


class Reader:
    """Reads the parts of a tree and remembers the line of each declaration (`memory DRAM` -> 7)."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.lines: dict[str, int] = {}

    def error(self, token: Token | Node, expected: str, found: str) -> TilewrightError:
        place = token if isinstance(token, Token) else token.meta
        return TilewrightError("parse", f"{self.file}:{place.line}:{place.column}", expected, found)

    def mark(self, subject: str, node: Node) -> None:
        self.lines[subject] = node.meta.line

    def declared(self, kind: str, node: Node) -> str:
        """The name that a declaration of `kind` gives, remembered with its line."""
        name = str(token_of(node, 0))
        self.mark(f"{kind} {name}", node)
        return name

    def size(self, node: Node, index: int, default: int) -> int:
        """The number that may be the child of that index."""
        token = node.children[index]
        return self.integer(token) if isinstance(token, Token) else default

    def number(self, token: Token) -> float:
        if "x" in token.lower():
            return float(self.integer(token))
        value = float(token)
        if not math.isfinite(value) or value < 0:
            raise self.error(token, "a finite number that is not negative", quote(token))
        return value

    def integer(self, token: Token) -> int:
        if len(token) > 20 or not re.fullmatch(r"0[xX][0-9a-fA-F]+|[0-9]+", token):
            raise self.error(token, "a whole number below 2^63", quote(token))
        value = int(token, 16) if token[:2] in ("0x", "0X") else int(token)
        if value >= 1 << 63:
            raise self.error(token, "a whole number below 2^63", quote(token))
        return value

    def once(self, node: Node, kinds: Iterable[str], expected: str = "{} once") -> dict[str, Node]:
        """The parts of a body of `kinds`, each at most once, as `expected` says."""
        found: dict[str, Node] = {}
        for child in nodes_of(node):
            kind = str(child.data)
            if kind in found:
                raise self.error(child, expected.format(kind), "it twice")
            if kind in kinds:
                found[kind] = child
        return found

    def executed(self, node: Node) -> tuple[str, str]:
        """The node or link, and its capability, that a body executes; "" where there is none."""
        for child in parts_of(node, "execute"):
            src, _, dst, capability = child.children
            return (f"{src}->{dst}" if isinstance(dst, Token) else str(src)), str(capability)
        return "", ""

    def properties(self, node: Node, allowed: Iterable[str]) -> dict[str, Token | None]:
        """The `name value;` pairs of a body, each at most once and among `allowed`."""
        found: dict[str, Token | None] = {}
        for item in (child for child in nodes_of(node) if child.data == "property"):
            name = token_of(item, 0)
            if name not in allowed:
                raise self.error(name, " or ".join(allowed), quote(name))
            if str(name) in found:
                raise self.error(name, f"{name} once", "it twice")
            value = item.children[1]
            found[str(name)] = value if isinstance(value, Token) else None
        return found

    def area(self, node: Node) -> Expr | None:
        found = self.once(node, ["area"])
        return self.formula(found["area"]) if found else None

    def formula(self, node: Node) -> Expr:
        token = token_of(node, 0)
        return parse_expr(str(token), self.file, token.line or 1, token.column or 1, paths=True)

    def value(self, node: Node, properties: dict[str, Token | None], name: str, kind: str = "NUMBER") -> Token | None:
        """The value of a property, which must be a token of `kind`; None where the property is absent."""
        if name not in properties:
            return None
        token = properties[name]
        if token is None or token.type != kind:
            raise self.error(token or node, f"a {kind.lower()} after {name}", quote(token) if token else "none")
        return token

    def optional(
        self, node: Node, properties: dict[str, Token | None], name: str, read: Callable[[Token], _N]
    ) -> _N | None:
        """The number under `name`, None where the property is absent."""
        token = self.value(node, properties, name)
        return None if token is None else read(token)

    def numbers(
        self,
        node: Node,
        properties: dict[str, Token | None],
        kind: type[Any],
        words: Mapping[str, str],
        /,
        **usual: float | None,
    ) -> dict[str, Any]:
        """By the fields of `kind` that the words stand for: the numbers that are given, others as `usual`."""
        whole = {name for name, hint in get_type_hints(kind).items() if hint in (int, int | None)}
        read = {
            field: self.optional(node, properties, word, self.integer if field in whole else self.number)
            for word, field in words.items()
        }
        return usual | {field: value for field, value in read.items() if value is not None}

    def pairs(self, node: Node, signed: bool = False) -> tuple[tuple[str, str], ...]:
        """The `name word` pairs of a list; integer literals (`signed`: also negative ones) become decimal text."""
        return tuple((str(token_of(child, 0)), self.word(token_of(child, 1), signed)) for child in nodes_of(node))

    def listed(self, node: Node, kind: str, signed: bool = False) -> tuple[tuple[str, str], ...]:
        """The pairs of all parts of that kind."""
        return tuple(pair for child in parts_of(node, kind) for pair in self.pairs(child, signed))

    def word(self, token: Token, signed: bool = False) -> str:
        if token.type == "NAME":
            return str(token)
        if signed and token.startswith("-"):
            return f"-{self.integer(Token(token.type, token[1:], line=token.line, column=token.column))}"
        return str(self.integer(token))


def token_of(node: Node, index: int) -> Token:
    """The child of that number, which the grammar makes a token."""
    child = node.children[index]
    assert isinstance(child, Token)
    return child


def nodes_of(node: Node) -> Iterator[Node]:
    """The children that are trees."""
    for child in node.children:
        if isinstance(child, Tree):
            yield child


def parts_of(node: Node, kind: str) -> list[Node]:
    """The parts of a body that are of that kind."""
    return [child for child in nodes_of(node) if child.data == kind]


def names_of(node: Node) -> tuple[str, ...]:
    """The children that are tokens, as text."""
    return tuple(str(child) for child in node.children if isinstance(child, Token))


def named(node: Node, kind: str) -> str:
    """The first name in the parts of that kind; "" where there is none."""
    return next((str(token_of(child, 0)) for child in parts_of(node, kind)), "")
