"""One interface to all ways of choosing capacities and partition together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np

from ...algebra.dag import bits
from ...costs.clock import Limit, processor_seconds
from ...costs.fusion.values import Buffers, Metric
from ...errors import TilewrightError
from ...interruption import stop_unless
from .capacity import Choices, WaysPricer, separate_buffers, shared_buffers
from .codesign import Best, Plan, annealing, genetic, grid_candidates, random_candidates, two_step
from .floors import Scene
from .forced import Forced
from .front import Front, ours
from .result import ExploreResult, FrontPoint, Report

EXPLORERS = ("ours", "genetic", "annealing", "random+genetic", "grid+genetic")
"""Ours; Cocco's co-optimisation; annealing of both; random and grid search of capacities with genetic partitions."""


@dataclass(frozen=True)
class ExploreOptions:
    """What is explored: formula 2, bytes of buffers plus `alpha` times the metric.

    Up to `samples` points are scored, of which two-step schemes give `per_candidate` to each capacity; ours prices a
    tenth as many groups.  A search ends soon after `time_limit_s` CPU seconds of all processes, and where its best
    costs at most `gap` (0.01 for 1 %) more than the bound.
    """

    method: str = "ours"
    metric: Metric = "energy"
    alpha: float = 0.002
    shared: bool = True
    seed: int = 0
    samples: int = 50_000
    per_candidate: int = 5_000
    time_limit_s: float | None = None
    gap: float = 0.0


def explore(
    scene: Scene,
    pricer: WaysPricer,
    options: ExploreOptions,
    candidates: tuple[Buffers, ...] | None = None,
    report: Report | None = None,
) -> ExploreResult:
    """Choose buffers among `candidates` (None: those of Cocco, section 5.3.1) and a partition for them."""
    if options.method not in EXPLORERS:
        raise TilewrightError("usage", "method", f"one of {', '.join(EXPLORERS)}", repr(options.method))
    if options.alpha <= 0 or options.samples < 1 or options.per_candidate < 1:
        found = f"alpha {options.alpha}, samples {options.samples}, per candidate {options.per_candidate}"
        raise TilewrightError("usage", "explore", "alpha above 0 and at least one sample", found)
    if candidates is None:
        candidates = shared_buffers() if options.shared else separate_buffers()
    regions = scene.platform.regions if scene.platform is not None else 64
    choices = Choices(scene.space, pricer, options.metric, candidates, regions)
    pricer.ways((0,))
    start = processor_seconds()
    limit = Limit(options.time_limit_s)
    bound = lower_bound(scene, choices, options.alpha)
    enough = (1 + options.gap) * bound
    plan = Plan(choices, options.alpha, options.samples, options.per_candidate, options.seed, limit, report, enough)
    best, front = _search(plan, scene, options)
    stop_unless(best.groups)
    if not best.groups:
        raise TilewrightError(
            "infeasible", scene.graph.name, "capacities that some layer fits", "none", "try larger ones"
        )
    proven = best.cost <= bound * (1 + 1e-9) or (front is not None and front.proven)
    costs = tuple(cost for group in best.groups if (cost := choices.best_way(group, best.candidate)) is not None)
    points = () if front is None else tuple((c, float(front.costs[c])) for c in front.pareto())
    return ExploreResult(
        buffers=candidates[best.candidate],
        groups=tuple(tuple(bits(group)) for group in best.groups),
        costs=costs,
        cost=best.cost,
        lower_bound=best.cost if proven else min(bound, best.cost),
        proven=proven,
        evaluations=choices.evaluations,
        distinct=choices.groups,
        samples=best.samples,
        cpu_s=processor_seconds() - start,
        front=tuple(FrontPoint(candidates[candidate], metric) for candidate, metric in points),
        history=tuple(best.history),
        points=tuple(best.points),
    )


def _search(plan: Plan, scene: Scene, options: ExploreOptions) -> tuple[Best, Front | None]:
    match options.method:
        case "ours":
            return ours(
                plan, scene.tolls(options.metric), _widest(scene, plan.choices.candidates).possible, scene.cores
            )
        case "genetic":
            return genetic(plan), None
        case "annealing":
            return annealing(plan), None
        case "random+genetic":
            return two_step(plan, random_candidates(plan)), None
        case _:
            return two_step(plan, grid_candidates(plan)), None


def _widest(scene: Scene, candidates: Sequence[Buffers]) -> Scene:
    """The scene with room for all that fits some candidate."""
    maps = max(buffers.global_bytes for buffers in candidates)
    shared = candidates[0].weight_bytes is None
    weights = maps if shared else max(buffers.weight_bytes or 0 for buffers in candidates)
    return replace(scene, weight_capacity=float(weights * scene.cores), map_capacity=float(maps), shared=shared)


BOUNDED = 64
"""Blocks of candidates that are bounded before the least bound of a block is taken as it is."""


def lower_bound(scene: Scene, choices: Choices, alpha: float) -> float:
    """What formula 2 is at least, whatever the buffers and the partition.

    A block of candidates costs at least its least size, and the bound of partitions for the most room that one has; the
    block of the least bound is halved until it is a single candidate.
    """
    tolls, widest = scene.tolls(choices.metric), _widest(scene, choices.candidates).possible
    order = [int(place) for place in np.argsort(choices.sizes, kind="stable")]

    def least(first: int, last: int) -> tuple[float, int, int]:
        room = _widest(scene, [choices.candidates[place] for place in order[first:last]])
        capacities = {"weight_capacity": room.weight_capacity, "map_capacity": room.map_capacity}
        metric = Forced(scene.space, replace(widest, **capacities, known={}), tolls).bound(windows=False)
        return float(choices.sizes[order[first]]) + alpha * metric, first, last

    blocks = [least(0, len(order))]
    for _ in range(BOUNDED):
        _, first, last = blocks[0]
        if last - first == 1:
            break
        heappop(blocks)
        middle = (first + last) // 2
        heappush(blocks, least(first, middle))
        heappush(blocks, least(middle, last))
    return blocks[0][0]
