"""What an order of loops may mean for tensors: the loops they rest in, and whether a sliding loop moves them first.

Statements 14 and 17 of docs/exact-mapper.md.
"""

from collections.abc import Iterable
from itertools import product

from ..space.model import EVERY, PLAIN, Model

Way = tuple[int, int, int]
"""Of one tensor, the set of dimensions whose loops it rests in, the sliding dimension that moves it first (or -1), and
the set of those in whose loops it finds something, see `tables.Boundary`."""

Case = tuple[Way, ...]
"""The same of all tensors."""

MOVED: Way = (0, -1, EVERY)
"""Of a tensor that rests in no loop."""


def outcomes_of(model: Model, kept: int, looping: int = EVERY, helped: int = 0) -> list[Case]:
    """What orders of loops of the dimensions `looping` may mean for the tensors `kept` (sets): all maximal cases.

    Also those in which tensors `helped` by neighbours do not rest, as they are helped only then.
    """
    tensors, dims = model.kind.shape
    moved, slid, window = model.moved.tolist(), model.slid.tolist(), model.window.tolist()
    unrelated = [sum(1 << d for d in range(dims) if not moved[d] >> t & 1) for t in range(tensors)]
    found: list[Case] = []

    def go(alive: int, remaining: int, rested: int, so_far: dict[int, Way]) -> None:
        resting = sum(1 << d for d in range(dims) if remaining >> d & 1 and not alive & moved[d])
        rested, remaining = rested | resting, remaining & ~resting
        if not alive or not remaining:
            full = so_far | {t: (rested & unrelated[t], -1, EVERY) for t in range(tensors) if alive >> t & 1}
            found.append(tuple(full.get(t, MOVED) for t in range(tensors)))
            return
        seen: set[tuple[int, int]] = set()
        for d in range(dims):
            killed = alive & moved[d]
            which = killed, d if killed & slid[d] else -1
            if not remaining >> d & 1 or which in seen:
                continue
            seen.add(which)
            some = [t for t in range(tensors) if killed >> t & 1]
            ends = {t: (rested & unrelated[t], d if window[t][d] >= 0 else -1, EVERY) for t in some}
            go(alive & ~killed, remaining & ~(1 << d), rested | 1 << d, so_far | ends)

    go(kept, (1 << dims) - 1 & looping, 0, {})
    best = _maximal(found)
    ways = [[(w, at_once(model, t, w)) if helped >> t & 1 else (w,) for t, w in enumerate(case)] for case in best]
    return list(dict.fromkeys(one for case in ways for one in product(*case)))


def at_once(model: Model, t: int, way: Way) -> Way:
    """Where a loop of a sum moves tensor `t` first: that this comes before all loops in which it rests."""
    window = model.window[t].tolist()
    return (0, *way[1:]) if way[1] >= 0 and window.count(window[way[1]]) > 1 else way


def cases_of(model: Model, outcomes: list[Case]) -> list[Case]:
    """What `outcomes` of the outermost memory's loops mean for tensors with windows.

    Loops of a plain dimension leave nothing of a window.  Where another tensor rests in one, all loops outside of it
    find nothing, and it rests in all those inside; else none rests in any of them.  Perfect factors only; for others,
    any loop may find something.
    """
    kind = model.kind.tolist()
    plain = [sum(1 << d for d, k in enumerate(row) if k == PLAIN) if model.perfect else 0 for row in kind]
    found: list[Case] = []
    for outcome in outcomes:
        resting, loose = 0, 0
        for run, _, _ in outcome:
            resting |= run
        for t, (run, first, _) in enumerate(outcome):
            between = resting & plain[t] if first >= 0 else 0
            loose |= between
            if between:
                found.append((*outcome[:t], (run, first, resting | 1 << first), *outcome[t + 1 :]))
        found.append(tuple((run & ~loose, first, near) for run, first, near in outcome))
    return _maximal(found)


def _maximal(cases: Iterable[Case]) -> list[Case]:
    """Those of which no other has all, and more."""
    every = list(dict.fromkeys(cases))
    return [mine for mine in every if not any(other != mine and _covers(other, mine) for other in every)]


def _covers(better: Case, worse: Case) -> bool:
    return all(
        run | other == run and (slide < 0 or (first == slide and near | far == near))
        for (run, first, near), (other, slide, far) in zip(better, worse, strict=True)
    )


def sets_at_rest(model: Model, tensors: int) -> set[int]:
    """The sets of dimensions in whose loops some of the set `tensors` rest, and of those that move none of the others.

    When a walk has chosen such loops, the others may still come.
    """
    moved, found, some = list(enumerate(model.moved.tolist())), {0}, tensors
    while True:
        found.add(sum(1 << d for d, moves in moved if not some & moves))
        if some == 0:
            return found
        some = (some - 1) & tensors
