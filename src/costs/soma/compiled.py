"""Numba's decorator with the types of the function it compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


class Column(Protocol):
    """An array of integers, as a compiled function sees it."""

    def __getitem__(self, place: int, /) -> int: ...

    def __setitem__(self, place: int, value: int, /) -> None: ...

    def __len__(self) -> int: ...


def compiled(function: F) -> F:
    """Compile `function` to machine code at its first call; the code is kept beside the source."""
    return cast(F, njit(cache=True)(function))
