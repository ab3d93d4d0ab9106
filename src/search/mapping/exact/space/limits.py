"""What the search refuses, in words."""

from __future__ import annotations

from math import inf

from .....costs.hierarchy import Architecture, Problem
from .....errors import InfeasibleError, TilewrightError
from ...values import Request

MAX_DIMS = 16
MAX_TENSORS = 12
MAX_POINTS = 1 << 62
"""Largest problem whose sets fit into machine words, and counts too."""


def check(problem: Problem) -> None:
    """Raise TilewrightError (kind `mapping`) for a problem beyond the limits."""
    looping = sum(bound > 1 for bound in problem.bounds)
    if looping > MAX_DIMS or len(problem.tensors) > MAX_TENSORS:
        expected = f"at most {MAX_DIMS} dimensions above 1 and {MAX_TENSORS} tensors"
        raise TilewrightError("mapping", problem.name, expected, f"{looping} and {len(problem.tensors)}")
    if problem.macs > MAX_POINTS:
        raise TilewrightError("mapping", problem.name, f"at most {MAX_POINTS} operations", str(problem.macs))


def check_timeloop(request: Request) -> None:
    """Raise TilewrightError (kind `usage`) for a request that Timeloop's model cannot price."""
    if request.space.factors != "perfect":
        expected = "perfect factors: Timeloop's model prices no others"
        lever = "ask for perfect factors, or for the exact model"
        raise TilewrightError("usage", "factors", expected, request.space.factors, lever)


def infeasible(arch: Architecture, problem: Problem) -> InfeasibleError:
    """The tightest memory: too small for a tile of one word of each tensor that it must hold."""
    counts = [sum(arch.may_hold(level, problem)) for level in range(len(arch.levels))]
    level = min(range(len(arch.levels) - 1), key=lambda i: (arch.levels[i].capacity_words or inf) - counts[i])
    found = arch.levels[level]
    lever = f"give {found.name} room for one word of each tensor, or let tensors pass it by"
    subject = f"{problem.name} on {arch.name}"
    return InfeasibleError(found.name, counts[level], found.capacity_words or 0, "words", lever, subject)
