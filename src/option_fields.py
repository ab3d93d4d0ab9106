"""Fields of options that callers give in Python: wrong ones are told as every other error is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from .errors import TilewrightError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_WORDS: dict[Any, str] = {Integral: "a whole number", Real: "a number", type(None): "None", str: "text", Path: "a path"}


def check_fields(options: DataclassInstance, **least: float) -> None:
    """Raise `TilewrightError` for a field of another type than declared (kind `type`), or below `least` (`usage`).

    Text for a path becomes one.
    """
    for name, kinds in _kinds_of(type(options)).items():
        value: Any = getattr(options, name)
        if Path in kinds and isinstance(value, str):
            value = Path(value)
            object.__setattr__(options, name, value)
        subject = f"{type(options).__name__}.{name}"
        if not any(_is_of(value, kind) for kind in kinds):
            expected = " or ".join(_WORDS.get(kind) or getattr(kind, "__name__", repr(kind)) for kind in kinds)
            found = repr(value)[:80] if isinstance(value, str) else f"a value of type {type(value).__name__}"
            raise TilewrightError("type", subject, expected, found, "give one of those")
        if name in least and value is not None and not value >= least[name]:
            raise TilewrightError("usage", subject, f"at least {least[name]}", str(value), "give such a number")


def answer_fields(options: DataclassInstance) -> dict[str, Any]:
    """What an answer depends on, as plain data: not where IR is written, nor how many processes work."""
    return {name: value for name, value in asdict(options).items() if name not in ("dump", "jobs")}


@cache
def _kinds_of(options: type[DataclassInstance]) -> dict[str, list[Any]]:
    """Of each field by name."""
    hints = get_type_hints(options)
    return {field.name: list(_kinds(hints[field.name])) for field in fields(options)}


def _kinds(hint: Any) -> Iterator[Any]:
    """Classes, and words as they are, of which a field may be."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        for part in get_args(hint):
            yield from _kinds(part)
    elif origin is Literal:
        yield from get_args(hint)
    else:
        yield {int: Integral, float: Real}.get(hint, origin or hint)


def _is_of(value: object, kind: Any) -> bool:
    if isinstance(kind, str):
        return value == kind
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
