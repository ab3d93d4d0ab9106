"""The best mapping of each skeleton, by enumeration, and searches that begin with prices just above: checks that are
sharper than the best of all mappings."""

from __future__ import annotations

from math import inf, prod

from tilewright.costs import exact, timeloop
from tilewright.costs.bounds import bounds_of, timeloop_bounds
from tilewright.costs.hierarchy import Architecture, LoopMapping, Problem
from tilewright.search.mapping.exact.dominance.symmetries import Kept, Spread
from tilewright.search.mapping.exact.tree.leaves import Incumbent
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Request

from .enumerate import SLACK, every_mapping

ABOVE = 1 + 1e-6
"""A search that begins with a price so far above the least leaves out all that a bound puts above it, and with a bound
that is too high the best mapping, too."""


def _skeleton(mapping: LoopMapping, names: list[str], dims: tuple[int, ...]) -> tuple[Spread, Kept]:
    spread = tuple(
        tuple(prod(loop.bound for loop in (*level.spatial_x, *level.spatial_y) if loop.dim == d) for d in dims)
        for level in mapping.levels
    )
    return spread, tuple(tuple(int(name not in level.bypass) for level in mapping.levels[:-1]) for name in names)


def best_of_each(
    arch: Architecture, problem: Problem, request: Request, most: int
) -> dict[tuple[Spread, Kept], float] | None:
    """The least value of each skeleton's valid mappings; None if there are more than `most` mappings."""
    counts = timeloop if request.model == "timeloop" else exact
    mappings = every_mapping(arch, problem, request.space, most, ordered=counts is timeloop)
    if mappings is None:
        return None
    names, best = [tensor.name for tensor in problem.tensors], dict[tuple[Spread, Kept], float]()
    dims = tuple(d for d, bound in enumerate(problem.bounds) if bound > 1) or (0,)
    prices = counts.price_batch(arch, problem, mappings)
    values = {"edp": prices.edp_j_cycle * 1e12, "energy": prices.energy_pj, "latency": prices.cycles}
    for mapping, value, valid in zip(mappings, values[request.objective], prices.valid, strict=True):
        if valid:
            key = _skeleton(mapping, names, dims)
            best[key] = min(best.get(key, inf), float(value))
    return best


def verdict_of_each(arch: Architecture, problem: Problem, request: Request, most: int) -> str:
    """Bound and walk through each skeleton and compare: `proven`, `nothing` (nothing fits), `many`, or what is wrong.

    Skeletons are left out for which others are as good.
    """
    best = best_of_each(arch, problem, request, most)
    if best is None:
        return "many"
    search, first = _search(arch, problem, request), _first_bounds(_search(arch, problem, request))
    for (spread, kept), value in best.items():
        if first.get((spread, kept), 0.0) > value * (1 + SLACK):
            return f"first bound {first[spread, kept]} above {value} of {spread}, {kept}"
        if search.places.superfluous(spread, kept):
            continue
        for price in (inf, value * ABOVE):
            search.estimates.forget(spread, kept)
            bound = search.estimates.by_tables(spread, kept, search.estimates.by_tile(spread, kept, 0.0), price)
            if bound > value * (1 + SLACK):
                return f"bound {bound} above {value} of {spread}, {kept}"
            search.best = search.settling.best = Incumbent(0.0, price)
            low, _ = search.explore(spread, kept, inf)
            if min(low, search.best.value) > value * (1 + SLACK):
                return f"found {search.best.value}, open from {low}, best {value} of {spread}, {kept}"
    return _from_above(arch, problem, request, min(best.values())) if best else "nothing"


def _search(arch: Architecture, problem: Problem, request: Request) -> Search:
    limits = timeloop_bounds(arch, problem) if request.model == "timeloop" else bounds_of(arch, problem)
    return Search(arch, problem, request, limits)


def _first_bounds(search: Search) -> dict[tuple[Spread, Kept], float]:
    """The bounds with which skeletons come to the queue: of spreads, and of all ways to keep tensors at once."""
    found = dict[tuple[Spread, Kept], float]()
    for n, family in enumerate(search.families):
        while family.reached < inf:
            for bound, spread in family.more(1.0, inf, inf, search.symmetries):
                for value, mine, _, kept in search.skeletons(spread, n):
                    found[mine, kept] = max(bound, value)
    return found


def _from_above(arch: Architecture, problem: Problem, request: Request, value: float) -> str:
    """`proven` if a search that begins just above the optimum finds it, or what is wrong."""
    search = _search(arch, problem, request)
    search.best.value = value * ABOVE
    search.run(inf)
    if min(search.low, search.best.value) > value * (1 + SLACK):
        return f"found {search.best.value}, open from {search.low}, optimum {value}"
    return "proven"
