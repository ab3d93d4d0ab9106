"""Numba's decorators with the types of the functions they compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile `function` to machine code at its first call; the code is kept beside the source."""
    return cast(F, njit(cache=True)(function))


def inner(function: F) -> F:
    """As `compiled`, for functions that only compiled code calls: no wrapper is made that takes Python objects."""
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(F, njit(cache=True, **options)(function))
