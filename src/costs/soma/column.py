"""What compiled functions of this package work on."""

from __future__ import annotations

from typing import Protocol


class Column(Protocol):
    """An array of integers, as a compiled function sees it."""

    def __getitem__(self, place: int, /) -> int: ...

    def __setitem__(self, place: int, value: int, /) -> None: ...

    def __len__(self) -> int: ...
