"""What the search refuses, in words."""

from __future__ import annotations

from .....costs.hierarchy import Problem
from .....errors import TilewrightError
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
