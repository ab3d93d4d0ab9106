"""A look at MLIR text before xDSL's parser sees it.

xDSL's lexer takes time exponential in the length of a string literal that is never closed; here that is an error at
once.
"""

import re

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import ParseError

from ..errors import TilewrightError

LONGEST_SHOWN = 500
"""Characters of an error that a person is shown."""

_STRING = r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"'
_TOKENS = re.compile(rf'//[^\n]*|{_STRING}|(?P<open>")')


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
