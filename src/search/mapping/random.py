"""Timeloop's random mapper (A. Parashar et al., ISPASS 2019): draw, drop what does not fit, keep the best."""

from collections.abc import Callable, Iterable
from math import inf

import numpy as np

from ...costs.hierarchy import Architecture, MappingBatch, Problem
from ...costs.places import nothing_fits
from ...interruption import stop_unless, stoppable
from .draw import BATCH, Sampler, fits_arrays
from .pricing import Floats, Pricer
from .values import Mapped, Request

Priced = tuple[MappingBatch, Floats]
"""Mappings with their objectives (N,), infinite where they do not fit."""


def solve(
    arch: Architecture, problem: Problem, request: Request, victory: int = 20_000, timeout: int = 200_000
) -> Mapped:
    """The best of random mappings.

    Ends after `victory` valid mappings in a row without a better one, after `timeout` drawn ones in a row that do not
    fit, or at the time limit.  Raises InfeasibleError if nothing that fits was found.
    """
    pricer = Pricer(arch, problem, request)
    sampler = Sampler(arch, problem, request.space, request.seed)
    return best_drawn(pricer, sampler, lambda drawn, values: [(drawn, values)], victory, timeout, "random")


def best_drawn(
    pricer: Pricer,
    sampler: Sampler,
    around: Callable[[MappingBatch, Floats], Iterable[Priced]],
    victory: int,
    timeout: int,
    mapper: str,
) -> Mapped:
    """The best of the mappings `around` random ones, some of which fit, for the mapper of that name.

    Ends as `solve` says.
    """
    arch, problem = pricer.arch, pricer.problem
    best, least, stale, misses = None, inf, 0, 0
    with stoppable():
        while stale < victory and misses < timeout and not (pricer.late and best is not None):
            drawn = fits_arrays(arch, sampler.draw(BATCH))
            values = pricer.values(drawn)
            misses = 0 if np.isfinite(values).any() else misses + BATCH
            for batch, prices in around(drawn, values) if misses == 0 else ():
                index = int(prices.argmin())
                stale += int(np.isfinite(prices).sum())
                if prices[index] < least:
                    best, least, stale = batch.mapping(index, problem), float(prices[index]), 0
                    pricer.report(least)
                if stale >= victory or (pricer.late and best is not None):
                    break
    stop_unless(best)
    if best is None:
        raise nothing_fits(arch, problem, mapper)
    return pricer.answer(best)
