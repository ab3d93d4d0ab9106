"""What a reader finds in MLIR text, whatever its dialect: functions of operations with operands, words and values."""

import re
from dataclasses import dataclass, field
from typing import Any

from ...algebra.element import Array
from ...errors import TilewrightError

_TOKEN = re.compile(
    r"""
    (?P<string>"(?:[^"\\\n]++|\\.)*+")
  | (?P<value>%(?:\d+|[A-Za-z_$.][\w$.-]*)(?:\#\d+)?)
  | (?P<symbol>@(?:[A-Za-z_][\w$.]*|"(?:[^"\\\n]++|\\.)*+"))
  | (?P<block>\^[\w$.-]+)
  | (?P<alias>[\#!][A-Za-z_$.][\w$.]*)
  | (?P<number>-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))
  | (?P<word>[A-Za-z_][\w$.]*)
  | (?P<sign>->|=>|::|\{-\#|\#-\}|[-+*/|&(){}\[\]<>=:,?!\#])
    """,
    re.VERBOSE,
)
_SPACE = re.compile(r"(?:\s++|//[^\n]*+)*+")

_OPENING, _CLOSING = "<([{", ">)]}"

_BALANCE = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|->|[<>()\[\]{}]')

MAX_DEPTH = 50
"""How deep brackets, regions and calls may be nested."""


@dataclass(frozen=True)
class Token:
    """A token's kind (`string`, `value`, ..., `end`), its text, and where that begins."""

    kind: str
    text: str
    start: int


class Lexer:
    """The tokens of a text, one at a time; what stands between brackets can be taken as it is."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.position = 0
        self.token = Token("end", "", 0)
        self.fresh_line = True
        """Whether the token is the first of its line."""
        self._counted = 0, 1  # a position and its line
        self.advance()

    def advance(self) -> Token:
        """The token, and go on to the next one."""
        taken = self.token
        space = _SPACE.match(self.text, self.position)
        start = space.end() if space is not None else self.position
        self.fresh_line = start == 0 or "\n" in self.text[self.position : start]
        match = _TOKEN.match(self.text, start)
        if match is not None:
            self.token = Token(match.lastgroup or "", match[0], start)
            self.position = match.end()
        elif start == len(self.text):
            self.token, self.position = Token("end", "", start), start
        else:
            self.token = Token("", self.text[start : start + 20].splitlines()[0], start)
            raise self.error("MLIR text", repr(self.token.text))
        return taken

    def line(self, position: int | None = None) -> int:
        """The line of a position, or of the token."""
        position = self.token.start if position is None else position
        start, line = self._counted if self._counted[0] <= position else (0, 1)
        self._counted = position, line + self.text.count("\n", start, position)
        return self._counted[1]

    def error(self, expected: str, found: str | None = None, lever: str = "") -> TilewrightError:
        """The error at the token."""
        start = self.token.start
        column = start - self.text.rfind("\n", 0, start)
        found = found or (repr(self.token.text[:40]) if self.token.text else "the end of the file")
        lever = lever or "the text is cut, or of a version that is not known here"
        return TilewrightError("parse", f"{self.name}:{self.line()}:{column}", expected, found, lever)

    def at(self, *texts: str) -> bool:
        """Whether the token is one of these signs or words."""
        return self.token.text in texts and self.token.kind in ("sign", "word")

    def take(self, *texts: str) -> bool:
        """Go beyond one of these signs or words, if the token is one."""
        if self.at(*texts):
            self.advance()
            return True
        return False

    def need(self, text: str) -> None:
        """Go beyond a sign or word, which has to be there."""
        if not self.take(text):
            raise self.error(repr(text))

    def need_kind(self, kind: str, what: str) -> str:
        """The text of the token, which has to be of a kind."""
        if self.token.kind != kind:
            raise self.error(what)
        return self.advance().text

    def peek(self, count: int = 1) -> Token:
        """A token behind this one."""
        state = self.position, self.token, self.fresh_line
        for _ in range(count):
            self.advance()
        found = self.token
        self.position, self.token, self.fresh_line = state
        return found

    def raw(self) -> str:
        """The text between the bracket at the token and its partner; goes beyond both."""
        start, depth = self.token.start, 0
        for match in _BALANCE.finditer(self.text, start):
            sign = match[0]
            depth += (sign in _OPENING) - (sign in _CLOSING) if len(sign) == 1 else 0
            if depth == 0 and len(sign) == 1:
                self.position = match.end()
                self.advance()
                return self.text[start + 1 : match.start()]
        raise self.error(f"a partner of {self.token.text!r}", "none", "the text is cut")


LINEAR_CONSTANT = -1
"""The key of the constant in a row of an affine map."""


@dataclass(frozen=True)
class Type:
    """A scalar type (`shape` None), a tensor of elements (an open extent is None), or another type as its text."""

    element: str
    shape: tuple[int | None, ...] | None = None

    def __str__(self) -> str:
        if self.shape is None:
            return self.element
        extents = "".join("?x" if extent is None else f"{extent}x" for extent in self.shape)
        return f"tensor<{extents}{self.element}>"


@dataclass(frozen=True)
class Dense:
    """A constant tensor: its elements, or one number for all of them."""

    array: Array
    type: Type


@dataclass(frozen=True)
class AffineMap:
    """Rows `sum(coefficient * dim) + constant` of a map of `dims` dims; the constant stands at `LINEAR_CONSTANT`."""

    dims: int
    rows: tuple[dict[int, int], ...]


@dataclass(frozen=True)
class Reference:
    """A value of the function where an attribute may stand: an operand in a list of sizes."""

    name: str


@dataclass
class Region:
    """Arguments and operations of a block."""

    arguments: list[tuple[str, Type]] = field(default_factory=list[tuple[str, Type]])
    ops: "list[Op]" = field(default_factory=list["Op"])


@dataclass
class Op:
    """An operation: `results` with how many values each stands for, and whatever its text has.

    `groups` are operands in parentheses behind a word (`ins`, `outs`); they are among `operands`, too.  `lists` are
    those in brackets without a name, `values` constants without a name.
    """

    name: str
    line: int
    results: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    operands: list[str] = field(default_factory=list[str])
    groups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    words: list[str] = field(default_factory=list[str])
    lists: list[list[Any]] = field(default_factory=list[list[Any]])
    values: list[Any] = field(default_factory=list[Any])
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    regions: list[Region] = field(default_factory=list[Region])
    operand_types: list[Type] = field(default_factory=list[Type])
    result_types: list[Type] = field(default_factory=list[Type])

    @property
    def type(self) -> Type:
        """The type of the first result."""
        if not self.result_types:
            raise self.error("a result type", "none", kind="parse")
        return self.result_types[0]

    def error(self, expected: str, found: str, lever: str = "", kind: str = "unsupported") -> TilewrightError:
        """The error about this operation; its line is the reader's."""
        return TilewrightError(kind, f"{self.name} (line {self.line})", expected, found, lever)

    def integers(self, name: str, default: list[int] | None = None) -> list[int]:
        """The integers of attribute `name`, one number being one for all of a vector."""
        value = self.attributes.get(name, default)
        if isinstance(value, Dense):
            shape = tuple(e or 0 for e in value.type.shape or ())
            value = (
                [value.array.item()] * min(shape[0], 64) if value.array.ndim == 0 and shape else value.array.tolist()
            )
        if value is None:
            raise self.error(f"integers as {name}", "none", kind="parse")
        return self.whole_numbers(value, name)

    def whole_numbers(self, values: object, name: str) -> list[int]:
        """The list `values`, which has to be one of integers."""
        if not isinstance(values, list | tuple) or not all(isinstance(value, int) for value in values):
            raise self.error(f"integers as {name}", str(values)[:80])
        return [value for value in values if isinstance(value, int)]

    def dictionary(self, name: str) -> dict[str, Any]:
        """The attribute `name` that has parts with names; empty where there is none."""
        value = self.attributes.get(name, {})
        if not isinstance(value, dict):
            raise self.error(f"parts with names as {name}", str(value)[:80], kind="parse")
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        """The integer attribute `name`."""
        value = self.attributes.get(name, default)
        if not isinstance(value, int):
            raise self.error(f"an integer as {name}", "none" if value is None else str(value)[:80], kind="parse")
        return value

    def region(self) -> Region:
        """The only region."""
        if len(self.regions) != 1:
            raise self.error("one region", str(len(self.regions)), kind="parse")
        return self.regions[0]


@dataclass
class Function:
    """A function: arguments, result types, names that the text gives to results, and its body."""

    name: str
    line: int
    body: Region
    attributes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Those of each argument."""
    results: list[Type] = field(default_factory=list[Type])
    result_names: list[str] = field(default_factory=list[str])
    private: bool = False


@dataclass
class Source:
    """A module."""

    functions: dict[str, Function] = field(default_factory=dict[str, Function])
