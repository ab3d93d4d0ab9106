"""Numba's decorators with the types of the functions they compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile `function` to machine code at its first call; the code is kept beside the source.

    Other Python threads go on while it runs.
    """
    return cast(F, njit(cache=True, nogil=True)(function))


def inner(function: F) -> F:
    """As `compiled`, for functions that only compiled code calls and that make no arrays.

    No wrapper is made that takes Python objects, and references to arrays are not counted, which takes more time than
    all else in small functions.
    """
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    return cast(F, njit(cache=True, **options)(function))
