"""Reads the text of scalar expressions and tensor statements (see `expr`) by recursive descent."""

import re
from dataclasses import dataclass

from ..errors import TilewrightError
from .expr import Access, Call, Expr, Name, Num, Statement, Strided, reduction_dims
from .functions import FUNCTIONS

MAX_CHARACTERS = 8192
MAX_DEPTH = 64
MAX_OPERATORS = 256

_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<symbol>//|==|!=|<=|>=|\+=|[-+*/%<>=()\[\]{},])",
    re.ASCII,
)
_PATH = re.compile(r"(?P<path>[A-Za-z_][A-Za-z_0-9]*(?:->[A-Za-z_][A-Za-z_0-9]*)?\.[A-Za-z_][A-Za-z_0-9]*)", re.ASCII)
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_SUMS = {"+": "add", "-": "sub"}
_PRODUCTS = {"*": "mul", "/": "div", "//": "floordiv", "%": "mod"}
_LITERAL_NAMES = {"inf": float("inf"), "nan": float("nan")}


def parse_statement(text: str, source: str = "statement", line: int = 1, column: int = 1) -> Statement:
    """The statement that `text` spells, e.g. `O[i] += A[i,j] * B[j]`.

    Errors are `TilewrightError`s of kind `parse` whose subject is `source:line:column`; `line` and `column` say where
    the text begins in `source`.
    """
    parser = _Parser(text, source, line, column)
    statement = parser.statement()
    parser.expect_end()
    return statement


def parse_expr(text: str, source: str = "expression", line: int = 1, column: int = 1, *, paths: bool = False) -> Expr:
    """The expression that `text` spells, e.g. `ceildiv(k, 32) * r`; errors as for `parse_statement`.

    With `paths`, names may be paths: `GBUF.depth`, `DRAM->GBUF.bandwidth`.
    """
    parser = _Parser(text, source, line, column, paths)
    expr = parser.expression()
    parser.expect_end()
    return expr


@dataclass(frozen=True)
class _Token:
    kind: str  # number, name, path, symbol, end
    text: str
    offset: int


class _Parser:
    def __init__(self, text: str, source: str, line: int, column: int, paths: bool = False) -> None:
        self.text = text
        self.paths = paths
        self.source = source
        self.line = line
        self.column = column
        self.depth = 0
        self.operators = 0
        self.position = 0
        if len(text) > MAX_CHARACTERS:
            raise self.error(0, f"at most {MAX_CHARACTERS} characters", f"{len(text)}")
        self.tokens = self.tokenize()

    def error(self, offset: int, expected: str, found: str) -> TilewrightError:
        before = self.text[:offset]
        line = self.line + before.count("\n")
        last = before.rfind("\n")
        column = self.column + offset if last < 0 else offset - last
        return TilewrightError("parse", f"{self.source}:{line}:{column}", expected, found)

    def tokenize(self) -> list[_Token]:
        tokens: list[_Token] = []
        offset = 0
        while offset < len(self.text):
            path = _PATH.match(self.text, offset) if self.paths else None
            match = path or _TOKEN.match(self.text, offset)
            if match is None:
                raise self.error(offset, "a number, a name or an operator", repr(self.text[offset]))
            kind = str(match.lastgroup)
            if kind != "space":
                tokens.append(_Token(kind, match.group(), offset))
            offset = match.end()
        tokens.append(_Token("end", "the end", len(self.text)))
        return tokens

    @property
    def next(self) -> _Token:
        return self.tokens[self.position]

    def unexpected(self, expected: str) -> TilewrightError:
        found = self.next.text if self.next.kind == "end" else f"`{self.next.text}`"
        return self.error(self.next.offset, expected, found)

    def accept(self, *symbols: str) -> str | None:
        if self.next.kind == "symbol" and self.next.text in symbols:
            self.position += 1
            return self.tokens[self.position - 1].text
        return None

    def expect(self, symbol: str) -> None:
        if self.accept(symbol) is None:
            raise self.unexpected(f"`{symbol}`")

    def expect_end(self) -> None:
        if self.next.kind != "end":
            raise self.unexpected("an operator or the end")

    def name(self, what: str) -> str:
        if self.next.kind != "name" or self.next.text in _LITERAL_NAMES:
            raise self.unexpected(what)
        self.position += 1
        return self.tokens[self.position - 1].text

    def statement(self) -> Statement:
        start = self.next.offset
        tensor = self.name("the name of the target tensor")
        target = self.access(tensor)
        if target is None:
            raise self.unexpected("`[` or `{` with the target's indices")
        reduce = self.reduction()
        statement = Statement(target, reduce, self.expression())
        self.check(statement, start)
        return statement

    def reduction(self) -> str:
        token = self.next
        if token.kind == "name" and token.text in ("max", "min"):
            self.position += 1
            self.expect("=")
            return f"{token.text}="
        symbol = self.accept("=", "+=")
        if symbol is None:
            raise self.unexpected("`=`, `+=`, `max=` or `min=`")
        return symbol

    def check(self, statement: Statement, offset: int) -> None:
        extra = reduction_dims(statement)
        if statement.reduce == "=" and extra:
            expected = "a reduction (`+=`, `max=`, `min=`), or every dim in the target"
            raise self.error(offset, expected, f"`=` over {extra[0]}")

    def expression(self) -> Expr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(self.next.offset, f"at most {MAX_DEPTH} levels of nesting", "more")
        left = self.sum()
        operator = self.accept(*_COMPARISONS)
        if operator is not None:
            left = self.call(_COMPARISONS[operator], left, self.sum())
        self.depth -= 1
        return left

    def call(self, fn: str, *args: Expr) -> Call:
        self.operators += 1
        if self.operators > MAX_OPERATORS:
            raise self.error(self.next.offset, f"at most {MAX_OPERATORS} operators", "more")
        return Call(fn, args)

    def sum(self) -> Expr:
        left = self.product()
        while (operator := self.accept(*_SUMS)) is not None:
            left = self.call(_SUMS[operator], left, self.product())
        return left

    def product(self) -> Expr:
        left = self.unary()
        while (operator := self.accept(*_PRODUCTS)) is not None:
            left = self.call(_PRODUCTS[operator], left, self.unary())
        return left

    def unary(self) -> Expr:
        negations = 0
        while self.accept("-") is not None:
            negations += 1
        literal = negations > 0 and (self.next.kind == "number" or self.next.text in _LITERAL_NAMES)
        value = self.atom()
        if literal and isinstance(value, Num):
            value = Num(-value.value)
            negations -= 1
        for _ in range(negations):
            value = self.call("neg", value)
        return value

    def atom(self) -> Expr:
        token = self.next
        if token.kind == "number":
            self.position += 1
            return Num(self.number(token))
        if token.text in _LITERAL_NAMES:
            self.position += 1
            return Num(_LITERAL_NAMES[token.text])
        if token.kind == "path":
            self.position += 1
            return Name(token.text)
        if token.kind == "name":
            self.position += 1
            return self.named(token)
        if self.accept("(") is None:
            raise self.unexpected("a number, a name or `(`")
        inner = self.expression()
        self.expect(")")
        return inner

    def number(self, token: _Token) -> int | float:
        if token.text[:2] in ("0x", "0X"):
            return int(token.text, 16)
        if token.text.isdigit():
            if len(token.text) > 40:
                raise self.error(token.offset, "an integer of at most 40 digits", f"{len(token.text)} digits")
            return int(token.text)
        return float(token.text)

    def named(self, token: _Token) -> Expr:
        if self.accept("(") is not None:
            args = self.separated(")")
            function = FUNCTIONS.get(token.text)
            if function is not None and len(args) != function.arity:
                raise self.error(token.offset, f"{function.arity} arguments of {token.text}", f"{len(args)}")
            return self.call(token.text, *args)
        return self.access(token.text) or Name(token.text)

    def access(self, tensor: str) -> Access | Strided | None:
        if self.accept("[") is not None:
            return Access(tensor, self.separated("]"))
        if self.accept("{") is None:
            return None
        dims: list[str] = []
        while self.accept("}") is None:
            if dims:
                self.expect(",")
            offset = self.next.offset
            dims.append(self.name("the name of a dim"))
            if dims[-1] in dims[:-1]:
                raise self.error(offset, "different dims", f"`{dims[-1]}` twice")
        return Strided(tensor, tuple(dims))

    def separated(self, close: str) -> tuple[Expr, ...]:
        items: list[Expr] = []
        while self.accept(close) is None:
            if items and self.accept(",") is None:
                raise self.unexpected(f"`,` or `{close}`")
            items.append(self.expression())
        return tuple(items)
