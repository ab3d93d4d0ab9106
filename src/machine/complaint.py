"""A broken rule of a machine, before it is known where the text or the IR says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Complaint:
    """`subject` is a declaration: `memory X`, `link A->B`, `capability N.c`, `mnemonic M`, `field M.F`, `isa`, ..."""

    subject: str
    expected: str
    found: str
    lever: str = ""


def repeated(names: Iterable[tuple[str, str]], expected: str) -> Iterator[Complaint]:
    """A complaint for each (name, subject) whose name came before."""
    seen: set[str] = set()
    for name, subject in names:
        if name in seen:
            yield Complaint(subject, expected, f"`{name}` twice")
        seen.add(name)
