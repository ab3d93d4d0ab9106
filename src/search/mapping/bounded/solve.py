"""The exact mapper: perfect factors first, good mappings of other searches to compare with, and the whole space."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from time import process_time

from ....costs.bounds import Bounds, bounds_of
from ....costs.hierarchy import Architecture, Problem
from ....errors import InfeasibleError
from ..exact.solve import solve as three_memories
from ..refine import solve as refine
from ..values import Mapped, Request
from .limits import check, check_timeloop
from .search import Search

PERFECT_SHARE, ALONE_SHARE, REFINE_SHARE, NARROW_SHARE = 0.4, 0.25, 0.15, 0.75
"""Parts of a time limit: for perfect factors before others; until a search gets help, and for that help; and until it
goes for good mappings rather than for a proof."""

FAR, FAR_SHARE = 1.1, 0.5
"""Where the perfect search ends this far above its bound, a proof over imperfect factors is out of reach: so much of
the time is for help there."""

TIMELOOP_LEVELS = 3
"""Memories of the machines that are searched in Timeloop's model."""

HELP_NODES = 200_000
"""Nodes after which a search without a time limit gets help."""


class _Clock:
    """Shares of a request's time limit."""

    def __init__(self, request: Request) -> None:
        self.began, self.limit_s = process_time(), request.time_limit_s

    def after(self, share: float) -> float:
        """Processor time when this share is over; inf without a limit."""
        return inf if self.limit_s is None else self.began + share * self.limit_s


def solve(arch: Architecture, problem: Problem, request: Request) -> Mapped:
    """The best mapping of `problem` on `arch`, a lower bound over the space, and whether that is proven.

    The bound is the larger one of the search's own and of `costs.bounds`.  Timeloop's model is searched with perfect
    factors on machines of three memories; on others the answer is `refine`'s.  Raises `InfeasibleError` where nothing
    fits, `TilewrightError` beyond the limits.
    """
    if request.model == "timeloop":
        check_timeloop(request)
        if len(arch.levels) != TIMELOOP_LEVELS:
            return refine(arch, problem, request)
        return three_memories(arch, problem, request.objective, request.space, request.time_limit_s)
    check(problem)
    clock = _Clock(request)
    limits = bounds_of(arch, problem)
    least = {"edp": limits.edp_j_cycle * 1e12, "energy": limits.energy_pj, "latency": float(limits.cycles)}
    floor = least[request.objective]
    evaluated = 0
    search: Search | None = None
    if request.space.factors == "imperfect":
        perfect = replace(request, space=replace(request.space, factors="perfect"))
        first = _searched(arch, problem, perfect, limits, clock, PERFECT_SHARE, None)
        far = first.best_value > FAR * max(first.low, floor)
        search = _searched(arch, problem, request, limits, clock, 1.0, first, FAR_SHARE if far else REFINE_SHARE)
        evaluated = first.evaluated
    else:
        search = _searched(arch, problem, request, limits, clock, 1.0, None)
    search.evaluated += evaluated
    return search.answer(min(max(search.low, floor), search.best_value), clock.began)


def _searched(
    arch: Architecture,
    problem: Problem,
    request: Request,
    limits: Bounds,
    clock: _Clock,
    share: float,
    first: Search | None,
    help_share: float = REFINE_SHARE,
) -> Search:
    """Search a space up to a share of the time, from what `first` has found; a search that takes long gets help."""
    search = Search(arch, problem, request, limits)
    if first is not None and first.best_value < inf:
        search.take(first.best_mapping, first.best_energy, first.best_cycles)
    begun = process_time()
    left = inf if clock.limit_s is None else max(0.0, clock.after(share) - begun)
    if search.run(begun + ALONE_SHARE * left, HELP_NODES):
        return search
    help_s = None if clock.limit_s is None else help_share * share * clock.limit_s
    starts = [search.best_mapping] if search.best_value < inf else []
    try:
        found = refine(arch, problem, replace(request, time_limit_s=help_s, report=None), starts)
    except InfeasibleError:
        found = None
    if found is not None:
        search.take(found.mapping, found.energy, found.cycles)
        search.evaluated += found.evaluated
    if help_s is not None and search.run(begun + NARROW_SHARE * left):
        return search
    search.wide = True
    end = clock.after(share)
    search.run(end if search.best_value < inf else inf)
    return search
