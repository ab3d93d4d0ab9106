"""The mappers by name, each imported when it is first used: a command's help knows the names and needs no kernels."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from ...errors import TilewrightError

if TYPE_CHECKING:
    from .values import Mapper

MAPPERS: dict[str, str] = {
    "exact": ".bounded",
    "refine": ".refine",
    "cosa": ".cosa",
    "sunstone": ".sunstone",
    "random": ".random",
    "hybrid": ".hybrid",
}
"""Name -> module of this package whose `solve(arch, problem, request)` is the mapper."""


def find_mapper(name: str) -> Mapper:
    """The mapper of a name; raises `TilewrightError` (kind `usage`) if there is none."""
    if name not in MAPPERS:
        raise TilewrightError("usage", "mapper", f"one of {', '.join(MAPPERS)}", name)
    return cast("Mapper", import_module(MAPPERS[name], __package__).solve)
