"""A look at MLIR text before xDSL's parser sees it.

xDSL's lexer takes time exponential in the length of a string literal that is never closed; here that is an error at
once.
"""

from __future__ import annotations

import re

from ..errors import TilewrightError

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
