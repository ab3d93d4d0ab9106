"""The exact mapper: perfect factors first, good mappings of other searches to compare with, and the whole space."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf, log

from .....costs.bounds import Bounds, bounds_of, timeloop_bounds
from .....costs.clock import processor_seconds
from .....costs.exact.axes import axes_of
from .....costs.hierarchy import Architecture, LevelMapping, Loop, LoopMapping, Problem
from .....costs.timeloop.batch_arrays import moves_one_axis
from .....errors import InfeasibleError, TilewrightError
from .....interruption import stop_unless, stoppable
from ...objective import bound_of, unit_of
from ...refine import solve as refine
from ...values import Mapped, Request
from .search import Search

MAX_DIMS = 16
MAX_TENSORS = 12
MAX_POINTS = 1 << 62
"""Largest problem whose sets fit into machine words, and counts too."""

PERFECT_SHARE, PLAIN_SHARE, NARROW_SHARE = 0.65, 0.3, 0.75
"""Parts of a time limit at most: for perfect factors before others, with sliding windows and without them, when others
are proven sooner; until a search goes for good mappings rather than for a proof."""


@dataclass(frozen=True)
class Help:
    """`share` of the time for `refine` when the part `after` is over, unless the best is `near` the bound."""

    after: float
    share: float
    near: float


HELP = Help(0.1, 0.06, 1.01), Help(0.4, 0.06, 1.05)
"""On some machines (many memories, `eyeriss_like`) a search's own dives end well above the optimum, or find nothing at
all; where best and bound are close help finds nothing, so it is short.  Imperfect factors begin where perfect ones
ended, and get the first help alone, as most of them are proven soon or not at all."""

FAR, FAR_HELP = 1.1, (Help(0.05, 0.35, 1.01),)
"""Where the perfect search ends this far above its bound, imperfect factors are not proven: more help, at once."""

LATE_HELP = Help(0.4, 0.35, FAR)
"""As much, later, where it was the imperfect search that did not come near its bound."""

OPEN, NEAR = 1.03, 1.01
"""How far from its bound a search goes on for a proof to the end, with imperfect factors or in Timeloop's model, and
with perfect ones.  Where the former is farther when it goes for good mappings, and its bound does not rise to it soon,
help takes the time that is left: `refine` finds more than wide walks do.  Shares chosen, not fitted."""

HELP_NODES = 200_000
"""Nodes after which a search without a time limit gets help."""


class _Clock:
    """Shares of a request's time limit."""

    def __init__(self, request: Request) -> None:
        self.began, self.limit_s = processor_seconds(), request.time_limit_s

    def after(self, share: float) -> float:
        """Processor time when this share is over; inf without a limit."""
        return inf if self.limit_s is None else self.began + share * self.limit_s


def solve(arch: Architecture, problem: Problem, request: Request) -> Mapped:
    """The best mapping of `problem` on `arch`, a lower bound over the space, and whether that is proven.

    The bound is the larger one of the search's own and of `costs.bounds`.  Timeloop's model is searched with perfect
    factors; where a dimension is on several axes of a tensor, or goes backwards, the answer is `refine`'s.  Raises
    `InfeasibleError` where nothing fits, `TilewrightError` beyond the limits.
    """
    if request.model == "timeloop":
        check_timeloop(request)
        if not moves_one_axis(problem):
            return refine(arch, problem, request)
    check(problem)
    clock = _Clock(request)
    limits = bounds_of(arch, problem) if request.model == "exact" else timeloop_bounds(arch, problem)
    floor = bound_of(limits, request.objective) / unit_of(request.objective)
    search: Search | None = None
    if request.space.factors == "imperfect":
        perfect = replace(request, space=replace(request.space, factors="perfect"))
        slides = any(axes_of(tensor, problem.bounds).windows for tensor in problem.tensors)
        share = PERFECT_SHARE if slides else PLAIN_SHARE
        first = _searched(arch, problem, perfect, limits, clock, share, None, HELP)
        far = first.best.value > FAR * max(first.low, floor)
        helps = FAR_HELP if far else (HELP[0], LATE_HELP)
        with stoppable():
            search = _searched(arch, problem, request, limits, clock, 1.0, first, helps)
        if search is None:  # stopped before it began
            return first.answer(min(floor, first.best.value), clock.began)
        search.settling.evaluated += first.settling.evaluated
    else:
        search = _searched(arch, problem, request, limits, clock, 1.0, None, HELP)
    return search.answer(min(max(search.low, floor), search.best.value), clock.began)


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


def _searched(
    arch: Architecture,
    problem: Problem,
    request: Request,
    limits: Bounds,
    clock: _Clock,
    share: float,
    first: Search | None,
    helps: Sequence[Help],
) -> Search:
    """Search a space up to a share of the time, from what `first` has found; a search that takes long gets help."""
    search = Search(arch, problem, request, limits)
    if first is not None and first.best.value < inf:
        search.take(first.best.mapping, first.best.energy, first.best.cycles)
    with stoppable():
        _go_on(search, clock, share, helps)
    stop_unless(search.best.value < inf)
    return search


def _go_on(search: Search, clock: _Clock, share: float, helps: Sequence[Help]) -> None:
    """Search up to a share of the time."""
    begun = processor_seconds()
    if clock.limit_s is None:
        if not search.run(inf, HELP_NODES):
            _help(search, None)
            search.wide = True
            search.run(inf)
        return
    last = clock.after(share)
    left, low, since = max(0.0, last - begun), inf, begun
    for stage in helps:
        if search.run(begun + stage.after * left, near=stage.near, last=last):
            return
        if search.best.value > stage.near * search.low and not _soon(search, low, since, last):
            _help(search, min(stage.share * share * clock.limit_s, last - processor_seconds()))
        low, since = search.low, processor_seconds()
    proves_late = share == 1.0 and (search.model.timeloop or not search.model.perfect)
    if search.run(begun + NARROW_SHARE * left, near=OPEN if proves_late else NEAR, last=last):
        return
    if proves_late and search.best.value > OPEN * search.low and not _soon(search, low, since, last):
        _help(search, last - processor_seconds())
    search.wide = True
    search.run(last if search.best.value < inf else inf)


def _soon(search: Search, low: float, since: float, last: float) -> bool:
    """Whether the bound, which was `low` at time `since`, reaches the best until `last` if it goes on to rise so."""
    now = processor_seconds()
    rising = log(search.low / low) / max(now - since, 1e-9) if search.low > low > 0 else 0.0
    return rising * (last - now) > log(search.best.value / search.low) if rising else False


def _help(search: Search, seconds: float | None) -> None:
    """Look for a better mapping by other means, from the best one."""
    starts = [search.best.mapping if search.best.value < inf else simplest(search)]
    request = replace(search.request, time_limit_s=seconds, report=None)
    with suppress(InfeasibleError):
        found = refine(search.arch, search.problem, request, starts)
        search.take(found.mapping, found.energy, found.cycles)
        search.settling.evaluated += found.evaluated


def simplest(search: Search) -> LoopMapping:
    """All loops in the outermost memory, on one unit; the others keep nothing where they may do so.

    It fits more often than random mappings do, where bounds are large and memories small.
    """
    tensors, bypass = search.problem.tensors, search.request.space.bypass
    away = [
        frozenset(tensor.name for tensor, may in zip(tensors, level, strict=True) if bypass or not may)
        for level in search.may[:-1]
    ]
    loops = tuple(Loop(d, bound) for d, bound in enumerate(search.problem.bounds) if bound > 1)
    return LoopMapping((*(LevelMapping((), (), (), names) for names in away), LevelMapping(loops, (), ())))
