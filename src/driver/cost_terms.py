"""Costs of compiled programs that other packages add, by entry points: objectives of studies beside our own.

A package with

    [project.entry-points."tilewright.costs"]
    carbon_g = "my_package:carbon"

has the cost `carbon_g`: `carbon(program)` is called with each `Program`, and answers a number that is made small.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from ..errors import TilewrightError
from ..extras import plugged, plugged_names

if TYPE_CHECKING:
    from ..backends.program import Program

GROUP = "tilewright.costs"


def cost_names() -> list[str]:
    """The costs that installed packages add."""
    return plugged_names(GROUP)


def cost_of(name: str, program: Program) -> float:
    """The cost of a program; `TilewrightError` (kind `cost`) where that fails or is no finite number."""
    term, entry = plugged(GROUP, name, "cost")
    subject, expected, lever = f"cost {name}", "a finite number", f"mend {entry.value}"
    try:
        value = float(term(program))
    except TilewrightError:
        raise
    except Exception as error:
        raise TilewrightError("cost", subject, expected, f"{type(error).__name__}: {error}"[:200], lever) from error
    if not isfinite(value):
        raise TilewrightError("cost", subject, expected, str(value), lever)
    return value


def version_of(name: str) -> str:
    """The package and version that a cost is of: its figures may change with it."""
    _, entry = plugged(GROUP, name, "cost")
    return f"{entry.value} {entry.dist.version if entry.dist is not None else ''}"
