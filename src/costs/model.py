"""The cost models of mapped nests by name."""

from __future__ import annotations

from typing import Literal

from ..errors import TilewrightError
from . import exact, timeloop
from .hierarchy.values import Architecture, LoopMapping, Problem
from .timeloop.report import Prices, Violation
from .timeloop.validity import factor_violations

CostModel = Literal["exact", "timeloop"]

MODELS: tuple[CostModel, ...] = ("exact", "timeloop")


def evaluate_with(model: str, arch: Architecture, problem: Problem, mapping: LoopMapping) -> Prices:
    """The price of `mapping` under the `model` of that name; TilewrightError (kind `usage`) for any other name."""
    check_model(model)
    return (exact if model == "exact" else timeloop).evaluate(arch, problem, mapping)


def violations_with(model: str, arch: Architecture, problem: Problem, mapping: LoopMapping) -> tuple[Violation, ...]:
    """Why `mapping` is not valid under the `model` of that name."""
    check_model(model)
    return (exact if model == "exact" else timeloop).violations_of(arch, problem, mapping)


def factors_refused(model: str, problem: Problem, mapping: LoopMapping) -> tuple[Violation, ...]:
    """Dimensions whose factors `model` cannot price: too short for all, not perfect for Timeloop's."""
    found = factor_violations(problem, mapping)
    return found if model == "timeloop" else tuple(wrong for wrong in found if wrong.demand < wrong.bound)


def check_model(model: str) -> None:
    """Refuse names of no model."""
    if model not in MODELS:
        raise TilewrightError("usage", f"model {model}", f"one of {', '.join(MODELS)}", model)
