"""A certificate that a mapping is the best of its space: regions are split until a statement closes them."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from ...certificates.bounds import Bounds, price
from ...certificates.check import ARRAY, BOUND, CAPACITY, PRICED, SLACK, SPLIT, Certificate
from ...certificates.space import Goal, Question, Region
from ...costs.hierarchy import Architecture, LoopMapping, Problem
from ...errors import TilewrightError
from .values import Request

MOST_REGIONS = 100_000
"""Regions of a certificate at most."""


def certify(arch: Architecture, problem: Problem, mapping: LoopMapping, request: Request) -> Certificate:
    """The certificate that no mapping of the request's space is better than `mapping`.

    Raises TilewrightError: `unsupported` for spaces without statements, `limit` where there are too many regions, and
    `refuted` where a better mapping turns up.
    """
    subject = f"certificate of {problem.name} on {arch.name}"
    if request.model != "exact" or request.space.factors != "perfect":
        found = f"model {request.model}, {request.space.factors} factors"
        lever = "take --factors perfect --model exact, or leave out --certificate"
        raise TilewrightError("unsupported", subject, "perfect factors in the exact model", found, lever)
    dims = tuple(sorted(range(len(problem.dims)), key=lambda d: problem.bounds[d], reverse=True))
    goal: Goal = request.objective
    question = Question(arch, problem, goal, request.space.bypass, request.space.split_axes, dims)
    value = price(arch, problem, mapping, goal)
    assert value < inf
    least, bounds = Fraction(value) * SLACK, Bounds(question)
    steps, waiting = list[str](), [Region(question)]
    while waiting:
        region = waiting.pop()
        letter = _closed(region, bounds, least)
        steps.append(letter)
        if letter == SPLIT:
            waiting += reversed(list(region.parts()))
        elif letter == PRICED:
            _price_all(region, least, subject)
        if len(steps) + len(waiting) > MOST_REGIONS:
            lever = "certify a smaller kernel, or leave out --certificate"
            raise TilewrightError("limit", subject, f"at most {MOST_REGIONS} regions", "more", lever)
    return Certificate(question, mapping, "".join(steps))


def _closed(region: Region, bounds: Bounds, least: Fraction) -> str:
    """The statement that closes a region, or that it is split."""
    if region.kept is None:
        return SPLIT
    if region.exceeds_array():
        return ARRAY
    if region.exceeds_memory():
        return CAPACITY
    if bounds.least(region) >= least:
        return BOUND
    return PRICED if region.decided else SPLIT


def _price_all(region: Region, least: Fraction, subject: str) -> None:
    """Price every order; none may be better."""
    question = region.question
    for mapping in region.mappings():
        found = price(question.arch, question.problem, mapping, question.goal)
        if found < least:
            lever = "this is a fault of the search: please report it"
            raise TilewrightError("refuted", subject, "no better mapping", f"one of {float(found):.6g}", lever)
