"""A look at MLIR text before xDSL's parser sees it.

xDSL's lexer takes time exponential in the length of a string literal that is never closed; here that is an error at
once.  Its parser takes 0.1 ms for each number of a tensor; long ones are given to it as their bytes.
"""

import re
from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import ParseError

from ..errors import TilewrightError

LONGEST_SHOWN = 500
"""Characters of an error that a person is shown."""

_STRING = r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"'
_TOKENS = re.compile(rf'//[^\n]*|{_STRING}|(?P<open>")')

_SIGNS = r"[][ \t\n\r]*+"
_REALS, _INTEGERS = (
    re.compile(rf"(?:{_SIGNS}-?[0-9]++{rest}{_SIGNS}(?:,|$))++") for rest in (r"\.[0-9]*+(?:[eE][+-]?[0-9]++)?", "")
)
_DENSE = re.compile(
    rf"//[^\n]*|{_STRING}|(?<![\w$.])dense<(?P<body>\[[][0-9 \t\n\r,.eE+-]*+)>"
    r"(?P<type>\s*+:\s*+tensor<(?P<shape>(?:[0-9]{1,18}x)++)(?P<element>\w++)>)"
)
_TYPES = {"f16": "<f2", "f32": "<f4", "f64": "<f8", "i8": "i1", "i16": "<i2", "i32": "<i4", "i64": "<i8"}

LEAST_COMPACTED = 1024
"""Characters of a literal from which on the parser has it as bytes."""


def check_strings(text: str, name: str) -> None:
    """Raise `TilewrightError` (kind `parse`) at the first string literal of `text` that is not closed on its line."""
    for match in _TOKENS.finditer(text):
        if match["open"] is not None:
            start = match.start()
            line = text.count("\n", 0, start) + 1
            column = start - text.rfind("\n", 0, start)
            found = text[start : start + 20].splitlines()[0]
            lever = "close it, or escape what is in it"
            raise TilewrightError("parse", f"{name}:{line}:{column}", "a closed string literal", found, lever)


def compact_literals(text: str) -> str:
    """`text` with its long tensor literals of numbers as their bytes, `dense<"0x...">`; lines keep their numbers.

    What is not written as printers do, or is not of its type and shape, stays as it is: the parser says what is wrong.
    """
    return _DENSE.sub(_compacted, text)


def _compacted(literal: re.Match[str]) -> str:
    body = literal["body"]
    if body is None or len(body) < LEAST_COMPACTED or literal["element"] not in _TYPES:
        return literal[0]
    dtype = np.dtype(_TYPES[literal["element"]])
    form, number = (_REALS, float) if dtype.kind == "f" else (_INTEGERS, int)
    if form.fullmatch(body) is None or not _has_shape(
        body, [int(extent) for extent in literal["shape"].split("x")[:-1]]
    ):
        return literal[0]
    texts = re.sub(r"[][]", "", body).split(",")
    try:
        values = np.fromiter(map(number, texts), np.float64 if dtype.kind == "f" else np.int64, len(texts))
    except (ValueError, OverflowError):  # an integer that is too long
        return literal[0]
    with np.errstate(over="ignore"):
        found = values.astype(dtype)
    if not (np.isfinite(found) if dtype.kind == "f" else found == values).all():
        return literal[0]
    lines = "\n" * body.count("\n")
    return f'dense<"0x{found.tobytes().hex()}"{lines}>{literal["type"]}'


def _has_shape(body: str, extents: list[int]) -> bool:
    """Whether brackets and commas of a literal are those of a tensor."""
    signs, size = re.sub(r"[^][,]++", "", body), prod(extents)
    brackets = sum(prod(extents[:axis]) for axis in range(len(extents)))
    if size != signs.count(",") + 1 or 2 * brackets + size - 1 != len(signs):
        return False
    expected = ""
    for extent in reversed(extents):
        expected = f"[{','.join([expected] * extent)}]"
    return signs == expected


def shown(error: Exception) -> str:
    """The text of an error of xDSL's and the operation at fault; without its line of the source where that is long."""
    if isinstance(error, ParseError) and len(str(error)) > LONGEST_SHOWN:
        return f"{error.span.get_location()}: {error.msg}"[:LONGEST_SHOWN]
    marked = (marked_line(note)[:LONGEST_SHOWN] for note in getattr(error, "__notes__", ()))
    return "\n".join([str(error), *filter(None, marked)])


def marked_line(note: str) -> str:
    """The line at fault in xDSL's picture of an error, which is the whole module with a mark below that line."""
    lines = note.splitlines()
    marks = [index for index, line in enumerate(lines) if line.lstrip().startswith("^^^")]
    return f"  in: {lines[marks[0] - 1].strip()}" if marks and marks[0] > 0 else ""


def check_order(op: Operation, name: str, made: set[SSAValue] | None = None) -> None:
    """Raise `TilewrightError` (kind `ir`) for a value that an operation inside `op` reads before it is made.

    `made` are values that are known already; those inside of `op` are added.  Of several blocks of a region any may run
    first.
    """
    made = set() if made is None else made
    for region in op.regions:
        for block in region.blocks:
            made.update(block.args)
            if len(region.blocks) > 1:
                made.update(result for inner in block.ops for result in inner.results)
        for inner in (inner for block in region.blocks for inner in block.ops):
            if not made.issuperset(inner.operands):
                found = f"an operand of `{inner.name}` that is made later"
                raise TilewrightError("ir", name, "values that are made before they are read", found, "reorder them")
            check_order(inner, name, made)
            made.update(inner.results)
