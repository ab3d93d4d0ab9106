"""What an order of loops may mean for tensors: the loops they rest in, and whether a sliding loop moves them first.

Statement 14 of docs/exact-mapper.md.
"""

from __future__ import annotations

from ..space.model import EVERY, PLAIN, UNRELATED, WINDOW, Model

Outcome = tuple[tuple[int, int], ...]
"""Per tensor, the set of dimensions whose loops it rests in, and the sliding dimension that moves it first (or -1)."""

Way = tuple[int, int, int]
"""Of one tensor, with the set of dimensions in whose loops it finds something, see `tables.Boundary`."""

Case = tuple[Way, ...]
"""The same of all tensors."""


def outcomes_of(model: Model, kept: int, looping: int = -1) -> list[Outcome]:
    """What orders of loops of the dimensions `looping` may mean for the tensors `kept` (sets): all maximal outcomes."""
    tensors, dims = model.kind.shape
    kind, window = model.kind.tolist(), model.window.tolist()
    found: dict[Outcome, None] = {}

    def go(alive: int, remaining: int, rested: int, so_far: dict[int, tuple[int, int]]) -> None:
        resting = sum(1 << d for d in range(dims) if remaining >> d & 1 and not _moved(kind, alive, d))
        rested, remaining = rested | resting, remaining & ~resting
        if not alive or not remaining:
            rest = {t: (rested, -1) for t in range(tensors) if alive >> t & 1}
            full = so_far | rest
            found[tuple(full.get(t, (0, -1)) for t in range(tensors))] = None
            return
        seen: set[tuple[int, int]] = set()
        for d in range(dims):
            if not remaining >> d & 1:
                continue
            killed = _moved(kind, alive, d)
            sliding = any(killed >> t & 1 and kind[t][d] == WINDOW for t in range(tensors))
            if (killed, d if sliding else -1) in seen:
                continue
            seen.add((killed, d if sliding else -1))
            ends = {t: (rested, d if window[t][d] >= 0 else -1) for t in range(tensors) if killed >> t & 1}
            go(alive & ~killed, remaining & ~(1 << d), rested | 1 << d, so_far | ends)

    go(kept, (1 << dims) - 1 & looping, 0, {})
    relevant = [sum(1 << d for d in range(dims) if kind[t][d] == UNRELATED) for t in range(tensors)]
    cleaned = {
        tuple((run & relevant[t] if kept >> t & 1 else 0, first) for t, (run, first) in enumerate(outcome)): None
        for outcome in found
    }
    every = list(cleaned)
    return [mine for mine in every if not any(other != mine and _covers(other, mine) for other in every)]


def cases_of(model: Model, outcomes: list[Outcome]) -> list[Case]:
    """What `outcomes` of the outermost memory's loops mean for tensors with windows.

    Loops of a plain dimension leave nothing of a window.  Where another tensor rests in one, all loops outside of it
    find nothing, and it rests in all those inside; else none rests in any of them.  Perfect factors only; for others,
    any loop may find something.
    """
    kind = model.kind.tolist()
    plain = [sum(1 << d for d, k in enumerate(row) if k == PLAIN) if model.perfect else 0 for row in kind]
    found: dict[Case, None] = {}
    for outcome in outcomes:
        resting, loose = 0, 0
        for run, _ in outcome:
            resting |= run
        for t, (_, first) in enumerate(outcome):
            between = resting & plain[t] if first >= 0 else 0
            loose |= between
            if between:
                near = resting | 1 << first
                found[tuple((*pair, near if o == t else EVERY) for o, pair in enumerate(outcome))] = None
        found[tuple((run & ~loose, first, EVERY) for run, first in outcome)] = None
    every = list(found)
    return [mine for mine in every if not any(other != mine and _includes(other, mine) for other in every)]


def _includes(better: Case, worse: Case) -> bool:
    near = all(mine[2] | other[2] == mine[2] or other[1] < 0 for mine, other in zip(better, worse, strict=True))
    return near and _covers(tuple(mine[:2] for mine in better), tuple(mine[:2] for mine in worse))


def _moved(kind: list[list[int]], alive: int, d: int) -> int:
    return sum(1 << t for t, row in enumerate(kind) if alive >> t & 1 and row[d] != UNRELATED)


def _covers(better: Outcome, worse: Outcome) -> bool:
    return all(
        run | other == run and (first == slide or slide < 0)
        for (run, first), (other, slide) in zip(better, worse, strict=True)
    )


class Orders:
    """The sets of dimensions whose loops may all be chosen at some point of a walk, by the tensors that may rest."""

    def __init__(self, model: Model) -> None:
        self._kind: list[list[int]] = model.kind.tolist()
        self._dims = model.kind.shape[1]
        self._found: dict[int, tuple[int, ...]] = {}

    def masks(self, tensors: int) -> tuple[int, ...]:
        """All such sets where any of the set `tensors` may rest when the loops of a memory begin."""
        if tensors not in self._found:
            found = {0}
            seen: set[tuple[int, int]] = set()
            some = tensors
            while True:
                self._begin(some, found, seen)
                if some == 0:
                    break
                some = (some - 1) & tensors
            self._found[tensors] = tuple(sorted(found))
        return self._found[tensors]

    def _begin(self, alive: int, found: set[int], seen: set[tuple[int, int]]) -> None:
        every = (1 << self._dims) - 1
        self._branch(alive, self._loops(every, self._resting(alive, every), found), found, seen)
        self._branch(alive, every, found, seen)

    def _branch(self, alive: int, remaining: int, found: set[int], seen: set[tuple[int, int]]) -> None:
        if (alive, remaining) in seen or not remaining:
            return
        seen.add((alive, remaining))
        if not alive:
            self._loops(remaining, remaining, found)
            return
        for d in range(self._dims):
            killed = _moved(self._kind, alive, d)
            if not remaining >> d & 1 or not killed:
                continue
            rest = self._resting(alive & ~killed, remaining)
            self._branch(alive & ~killed, self._loops(remaining, rest, found), found, seen)
            if any(killed >> t & 1 and row[d] == WINDOW for t, row in enumerate(self._kind)):
                left = self._loops(remaining, 1 << d, found)
                self._branch(alive & ~killed, self._loops(left, rest & ~(1 << d), found), found, seen)

    def _loops(self, remaining: int, chosen: int, found: set[int]) -> int:
        """What remains after the loops `chosen`, the highest dimension first."""
        for d in reversed(range(self._dims)):
            if chosen >> d & 1:
                remaining &= ~(1 << d)
                found.add((1 << self._dims) - 1 & ~remaining)
        return remaining

    def _resting(self, alive: int, remaining: int) -> int:
        return sum(1 << d for d in range(self._dims) if remaining >> d & 1 and not _moved(self._kind, alive, d))
