"""Timeloop's random mapper (A. Parashar et al., ISPASS 2019): draw, drop what does not fit, keep the best."""

from __future__ import annotations

import numpy as np

from ...costs.hierarchy import Architecture, LoopMapping, Problem
from ...interruption import stop_unless, stoppable
from .draw import Sampler, fits_arrays
from .pricing import Pricer, nothing_fits
from .values import Mapped, Request

BATCH = 4096


def solve(
    arch: Architecture, problem: Problem, request: Request, victory: int = 20_000, timeout: int = 200_000
) -> Mapped:
    """The best of random mappings.

    Ends after `victory` valid mappings in a row without a better one, after `timeout` drawn ones in a row that do not
    fit, or at the time limit.  Raises InfeasibleError if nothing that fits was found.
    """
    pricer = Pricer(arch, problem, request)
    sampler = Sampler(arch, problem, request.space, request.seed)
    best: tuple[float, LoopMapping] | None = None
    stale = misses = 0
    with stoppable():
        while stale < victory and misses < timeout and not (pricer.late and best is not None):
            batch = fits_arrays(arch, sampler.draw(BATCH))
            values = pricer.values(batch)
            valid = int(np.isfinite(values).sum())
            stale, misses = stale + valid, 0 if valid else misses + BATCH
            if not valid:
                continue
            index = int(values.argmin())
            if values[index] < (np.inf if best is None else best[0]):
                best, stale = (float(values[index]), batch.mapping(index, problem)), 0
                pricer.report(best[0])
    stop_unless(best)
    if best is None:
        raise nothing_fits(arch, problem, "random")
    return pricer.answer(best[1])
