"""The cost models of mapped nests by name."""

from typing import Literal

import numpy as np

from ..algebra.element import Bools, Floats
from ..errors import TilewrightError
from . import exact, timeloop
from .exact.batch import MAX_MACS as EXACT_MACS
from .hierarchy.batch import MappingBatch
from .hierarchy.values import Architecture, LoopMapping, Problem
from .timeloop.batch_model import MAX_MACS as TIMELOOP_MACS
from .timeloop.model import factor_violations
from .timeloop.report import Prices, Violation

CostModel = Literal["exact", "timeloop"]

MODELS: tuple[CostModel, ...] = ("exact", "timeloop")


def evaluate_with(model: str, arch: Architecture, problem: Problem, mapping: LoopMapping) -> Prices:
    """The price of `mapping` under the `model` of that name; TilewrightError (kind `usage`) for any other name."""
    check_model(model)
    return (exact if model == "exact" else timeloop).evaluate(arch, problem, mapping)


def price_batch_with(
    model: CostModel, arch: Architecture, problem: Problem, batch: MappingBatch
) -> tuple[Floats, Floats, Bools]:
    """Energy (pJ), cycles and validity of N mappings under the `model` of that name, each (N,); one by one where counts
    may exceed the machine words of the batch."""
    if problem.macs <= (EXACT_MACS if model == "exact" else TIMELOOP_MACS):
        found = (exact if model == "exact" else timeloop).price_batch(arch, problem, batch)
        return found.energy_pj, found.cycles.astype(np.float64), found.valid
    prices = [evaluate_with(model, arch, problem, batch.mapping(n, problem)) for n in range(len(batch))]
    figures = np.array([(found.energy_pj, found.cycles) for found in prices], np.float64).reshape(-1, 2)
    return figures[:, 0], figures[:, 1], np.array([found.valid for found in prices], np.bool_)


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
