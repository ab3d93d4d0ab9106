"""Reads MLIR text of any dialect into `source`: the forms that printers write, by their common shape.

xDSL has no StableHLO, lacks most named operations of linalg, takes the bits of a float (`0xFF800000`) for its value and
makes all elements of a splat constant; so this reader has no table of operations.  An operation ends where a new line
begins another one.
"""

from ...errors import TilewrightError
from .constants import ValueReader
from .source import MAX_DEPTH, Function, Op, Region, Source, Type

FUNCTIONS = ("func.func", "util.func")
BARE = ("return", "call", "func", "module")
"""Operations that are written without a dialect."""

GROUPS = ("ins", "outs", "join", "wait")
"""Words before operands in parentheses."""

MAX_OPS = 100_000


def read_source(text: str, name: str) -> Source:
    """The functions of a text; `TilewrightError` (kind `parse`) with file, line and column where it is none."""
    return _Reader(text, name).module()


class _Reader(ValueReader):
    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self.ops = 0

    # structure

    def module(self) -> Source:
        source = Source()
        while self.token.kind != "end":
            if self.token.kind == "alias" and self.peek().text == "=":
                alias = self.advance().text
                self.need("=")
                self.aliases[alias] = self.value()
            elif self.at("{-#"):
                break
            elif self.at("module", "builtin.module"):
                self._enter_module()
            elif self.at("}"):
                self.advance()
            elif self.at("loc"):
                self.location()
            elif self.at(*FUNCTIONS):
                function = self.function()
                source.functions[function.name] = function
            else:
                found = repr(self.token.text[:40])
                lever = "give a file of functions; globals, sharding and devices are not taken"
                raise TilewrightError("unsupported", f"{self.name}:{self.line()}", "a function", found, lever)
        if not source.functions:
            raise self.error("a function", "none", "the text is cut")
        return source

    def _enter_module(self) -> None:
        self.advance()
        if self.token.kind == "symbol":
            self.advance()
        if self.take("attributes"):
            self.raw()
        self.need("{")

    def function(self) -> Function:
        line = self.line()
        self.advance()
        private = False
        while self.at("public", "private", "nested"):
            private = self.advance().text == "private"
        name = self.need_kind("symbol", "a function's name")[1:].strip('"')
        self.need("(")
        function = Function(name, line, body := Region(), private=private)
        while not self.take(")"):
            argument = self.need_kind("value", "an argument")
            self.need(":")
            body.arguments.append((argument, self.type()))
            function.attributes.append(self.braces())
            self.location()
            self.take(",")
        if self.take("->"):
            self._results(function)
        if self.take("attributes"):
            self.braces()
        if self.at("{"):
            body.ops = self.block_of(Region())
        self.location()
        return function

    def _results(self, function: Function) -> None:
        several = self.take("(")
        while not several or not self.take(")"):
            function.results.append(self.type())
            named = self.braces().get("jax.result_info", "") if several else ""
            function.result_names.append(named if isinstance(named, str) else "")
            if not several:
                return
            self.take(",")

    def block_of(self, region: Region) -> list[Op]:
        """The operations between braces, whose block's arguments go to `region`."""
        self.need("{")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TilewrightError("limit", f"{self.name}:{self.line()}", f"at most {MAX_DEPTH} levels", "more")
        while not self.take("}"):
            if self.token.kind == "block":
                if region.arguments or region.ops:
                    lever = "branches between blocks are not taken: give a function of one block"
                    raise TilewrightError("unsupported", f"line {self.line()}", "one block", "several", lever)
                self.advance()
                self.arguments(region)
                self.need(":")
            else:
                region.ops.append(self.operation())
        self.depth -= 1
        return region.ops

    def arguments(self, region: Region) -> None:
        """Arguments with types in parentheses, if there are any."""
        if self.take("("):
            while not self.take(")"):
                name = self.need_kind("value", "an argument")
                self.need(":")
                region.arguments.append((name, self.type()))
                self.location()
                self.take(",")

    # operations

    def operation(self) -> Op:
        line, results = self.line(), list[tuple[str, int]]()
        while self.token.kind == "value":
            name, count = self.advance().text, 1
            if self.take(":"):
                text = self.need_kind("number", "how many results")
                count = int(text) if text.isdigit() and len(text) < 5 else 0
                if not count:
                    raise self.error("one to 9999 results", text)
            results.append((name, count))
            self.take(",")
        if results:
            self.need("=")
        self.ops += 1
        if self.ops > MAX_OPS:
            raise TilewrightError("limit", self.name, f"at most {MAX_OPS} operations", "more")
        if self.token.kind == "string":
            op = Op(self.advance().text[1:-1], line, results)
            self._generic(op)
        else:
            op = Op(self.need_kind("word", "an operation"), line, results)
            self._items(op, "")
        return op

    def _generic(self, op: Op) -> None:
        """`(operands) <{properties}> ({regions}) {attributes} : type`."""
        self.need("(")
        while not self.take(")"):
            op.operands.append(self.need_kind("value", "an operand"))
            self.take(",")
        if self.take("<"):
            op.attributes |= self.braces()
            self.need(">")
        if self.take("("):
            while not self.take(")"):
                self._region(op)
                self.take(",")
        op.attributes |= self.braces()
        self.need(":")
        self._types(op)
        self.location()

    def _region(self, op: Op) -> None:
        region = Region()
        op.regions.append(region)
        self.block_of(region)

    def _begins_operation(self) -> bool:
        """Whether the token, the first of its line, begins another operation or ends the block."""
        token = self.token
        if token.kind == "value":
            return self.peek().text in ("=", ":", ",") and not self._is_operand()
        if token.kind == "word":
            return token.text in BARE or ("." in token.text and self.peek().text not in ("=", "<"))
        return (
            token.kind in ("block", "end") or token.text == "}" or (token.kind == "string" and self.peek().text == "(")
        )

    def _is_operand(self) -> bool:
        """Whether the value at a line's beginning goes on a list of operands: no `=` follows it and its count."""
        count = 1
        while self.peek(count).kind in ("number", "value") or self.peek(count).text in (":", ","):
            count += 1
            if count > 2 * MAX_DEPTH:
                return True
        return self.peek(count).text != "="

    def _items(self, op: Op, closing: str) -> None:
        """What follows an operation's name, up to its end or a closing parenthesis."""
        group = ""
        while not (self.fresh_line and self._begins_operation()) or closing:
            token = self.token
            if closing and self.take(closing):
                return
            if token.kind == "end" or (not closing and token.text in (")", "]", "}")):
                return
            if token.kind == "value" and closing and self.peek().text == "=":  # of a loop: `%argument = %start`
                op.groups.setdefault("arguments", []).append(self.advance().text)
                self.need("=")
            elif token.kind == "value":
                op.operands.append(self.advance().text)
            elif token.kind == "word":
                group = self._word(op)
            elif token.kind in ("symbol", "string"):
                op.words.append(self.advance().text)
            elif token.text == "[":
                op.lists.append(self.list_of())
            elif token.text == "{":
                self._braces_of(op)
            elif token.text == "(":
                self._parenthesis(op, group)
            elif token.text in (":", "->"):
                self._types(op, types_follow=token.text == ":")
            elif token.text == "<" and self.peek().text == "{":
                self.advance()
                op.attributes |= self.braces()
                self.need(">")
            elif token.kind in ("number", "alias"):
                op.values.append(self.value())
            elif token.text in (",", "=>", "::"):
                self.advance()
            else:
                raise self.error(f"the rest of {op.name}")

    def _parenthesis(self, op: Op, group: str) -> None:
        self.need("(")
        if group not in GROUPS:
            self._items(op, ")")
            return
        members = op.groups.setdefault(group, [])
        while not self.take(")"):
            if self.token.kind == "value":
                members.append(self.advance().text)
                op.operands.append(members[-1])
            elif self.take(":"):
                while not self.at(")"):
                    op.operand_types.append(self.type())
                    self.take(",")
            elif not self.take(","):
                raise self.error(f"operands of {op.name}")

    def _word(self, op: Op) -> str:
        """A word: the name of a value, or one that stands for itself."""
        following = self.peek().text
        word = self.token.text
        if word == "loc" and following == "(":
            self.location()
        elif word == "reducer" and following == "(":
            self.advance()
            region = Region()
            op.regions.append(region)
            while self.at("("):
                self.arguments(region)
            region.ops = self.block_of(Region())
        elif following == "=":
            self.advance()
            self.advance()
            op.attributes[word] = self.value()
        elif word == "init":  # of a reduction: `%x init: %y`
            self.advance()
            self.take(":")
        elif following == "[":
            self.advance()
            op.attributes[word] = self.list_of()
        elif following == "<" or word in ("true", "false"):
            op.values.append(self.value())
        else:
            op.words.append(self.advance().text)
        return word

    def _braces_of(self, op: Op) -> None:
        """Attributes or a region, whichever braces hold."""
        first, second = self.peek(), self.peek(2).text
        named = first.kind in ("word", "string") and second in ("=", ",", "}") and first.text not in BARE
        if first.text == "}" or (named and not (second == "}" and "." in first.text)):
            op.attributes |= self.braces()
        elif named:  # the short form `{ arith.addf }`
            self.advance()
            op.words.append(self.advance().text)
            self.need("}")
        else:
            self._region(op)

    def _types(self, op: Op, types_follow: bool = True) -> None:
        """Types after `:` or `->`; those behind `->`, `to` or `into`, else the last, are the results'."""
        if types_follow:
            self.take(":")
            op.operand_types += self._type_list()
        arrow = self.take("->", "to", "into")
        op.result_types = self._type_list() if arrow else op.operand_types[-1:]

    def _type_list(self) -> list[Type]:
        found: list[Type] = []
        several = self.take("(")
        while not (several and self.take(")")):
            found.append(self.type())
            if not several and not self.at(","):
                break
            self.take(",")
        return found
