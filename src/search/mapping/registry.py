"""The mappers by name, each imported when it is first used: a command's help knows the names and needs no kernels."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, cast

from ...errors import TilewrightError

if TYPE_CHECKING:
    from .values import Mapper

MAPPERS = {name: f".{name}" for name in ("exact", "refine", "cosa", "sunstone", "random", "hybrid")}
"""Name -> module of this package whose `solve(arch, problem, request)` is the mapper."""

GROUP = "tilewright.mappers"
"""Entry points of other packages that are mappers, by name; a name of `MAPPERS` stays ours."""


def mapper_names() -> list[str]:
    """All names that `find_mapper` knows, those of other packages last."""
    return list(dict.fromkeys((*MAPPERS, *sorted(entry_points(group=GROUP).names))))


def find_mapper(name: str) -> Mapper:
    """The mapper of a name; raises `TilewrightError` (kind `usage`) if there is none."""
    if name in MAPPERS:
        return cast("Mapper", import_module(MAPPERS[name], __package__).solve)
    found = list(entry_points(group=GROUP, name=name))
    if not found:
        raise TilewrightError("usage", "mapper", f"one of {', '.join(mapper_names())}", name)
    try:
        return cast("Mapper", found[0].load())
    except (ImportError, AttributeError) as error:
        expected, lever = "a mapper that can be imported", "mend or remove the package that it is of"
        raise TilewrightError("usage", f"mapper {name}", expected, f"{found[0].value}: {error}", lever) from error
