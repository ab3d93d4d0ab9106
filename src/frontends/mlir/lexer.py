"""Tokens of MLIR text."""

import re
from dataclasses import dataclass

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
