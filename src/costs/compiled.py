"""Numba's decorators with the types of the functions they compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

FOR_COMPILED_CODE: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of a function that only compiled code calls: no wrapper is made that takes Python objects."""


def compile_with(**options: Any) -> Callable[[F], F]:
    """Compile a function with numba's `options` to machine code at its first call; the code is kept beside the source.

    Kept code holds that of the functions it calls, and is made anew only if its own file changes: after editing another
    one, delete `__pycache__/*.nbi`.
    """
    return lambda function: cast(F, njit(cache=True, **options)(function))


compiled = compile_with()
inner = compile_with(**FOR_COMPILED_CODE)
