"""Names that nothing else has."""

from __future__ import annotations

from collections.abc import Collection


def unique_name(name: str, taken: Collection[str], separator: str = ".") -> str:
    """`name`, or the first of `name.1`, `name.2`, ... that is not among `taken`."""
    candidate, number = name, 0
    while candidate in taken:
        number += 1
        candidate = f"{name}{separator}{number}"
    return candidate
