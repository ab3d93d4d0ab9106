"""How much of one tile each of several unequal nodes takes, so that all are done as early as can be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...machine import Capability
from .binding import Binding, Pricer
from .matching import Match


@dataclass(frozen=True)
class Helper:
    """A capability, the dim of it that is shared, and the iterations of all its dims over the whole tile."""

    capability: Capability
    dim: str
    extents: Mapping[str, int]


def best_shares(pricer: Pricer, helpers: Sequence[Helper], extent: int) -> tuple[int, ...]:
    """Iterations of the shared dim for each helper, `extent` in all; the latest to finish finishes first.

    Exact: the deadline is found by bisection over the cycles that shares can take, earlier helpers have what they can
    do by then.  A node's cycles may not fall with more iterations (else: never worse than the first helper alone).
    """
    times = [[_cycles(pricer, helper, n) for n in range(extent + 1)] for helper in helpers]
    deadlines = sorted({cycles for row in times for cycles in row})
    low, high = 0, len(deadlines) - 1
    while low < high:
        middle = (low + high) // 2
        if sum(_possible(row, deadlines[middle]) for row in times) >= extent:
            high = middle
        else:
            low = middle + 1
    shares: list[int] = []
    for row in times:
        shares.append(min(_possible(row, deadlines[low]), extent - sum(shares)))
    return tuple(shares)


def _possible(times: Sequence[float], deadline: float) -> int:
    return max(n for n, cycles in enumerate(times) if n == 0 or cycles <= deadline)


def _cycles(pricer: Pricer, helper: Helper, share: int) -> float:
    if share == 0:
        return 0.0
    match = Match(helper.capability, (), (), (), ())
    return float(pricer.issue_cycles(match, Binding((), ()), {**helper.extents, helper.dim: share}))
