"""Names that nothing else has."""

from collections.abc import Collection


def unique_name(name: str, taken: Collection[str], separator: str = ".") -> str:
    """`name`, or the first of `name.1`, `name.2`, ... that is not among `taken`."""
    candidate, number = name, 0
    while candidate in taken:
        number += 1
        candidate = f"{name}{separator}{number}"
    return candidate


def take_name(name: str, taken: set[str], separator: str = ".") -> str:
    """A name as `unique_name` has it, which is among `taken` from then on."""
    found = unique_name(name, taken, separator)
    taken.add(found)
    return found
