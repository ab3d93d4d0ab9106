"""One chain of cuts over all segments of a network: a lower bound that counts what passes between segments.

At the end of a segment only its own last result is live.  Either a cut is there, and the result is stored; or one group
goes on over it, of which only its cost and its needs so far matter.  So segments are solved one after another, each for
all ways in which the one before it may have ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...algebra.element import Floats
from ...costs.pareto import undominated
from .cuts import Cuts, UnitTables, describe_cuts, find_cuts
from .relaxed import Chains, by_level, packed, unpacked
from .steps import Found, cheapest, leave

MOST_ENTRIES = 2_000
"""Ways to begin a segment; where there are more, their needs are rounded down."""


@dataclass(frozen=True)
class Passed:
    """One segment solved: `order` are its units (the first is given, where there is a border), `origins` says for each
    entry of the next segment which cut it left (or -2 - k: it is entry k, gone through)."""

    order: list[int]
    cuts: Cuts
    found: Found
    entries: Floats
    origins: list[int]


@dataclass
class Joined:
    """`floors[k]` is what transfers within segment k cost at least.

    `strict` counts all that groups of whole units need: what is found is a partition, and no bound.
    """

    chains: Chains
    segments: Sequence[range]
    floors: Sequence[float]
    strict: bool = False
    passed: list[Passed] = field(default_factory=list[Passed])

    def bound(self, target: float) -> float | None:
        """What a chain costs at least, if that is below `target`; else `target`; None where there are too many cuts."""
        self.passed = []
        entries, best = np.zeros((1, 4)), 0.0
        for k in range(len(self.segments)):
            limit = target - sum(self.floors[k + 1 :])
            if entries[:, 0].min() > limit:
                return target
            passed = self._pass(k, entries, limit)
            if passed is None:
                return None
            self.passed.append(passed)
            entries, best = passed.entries, passed.found.bound
        return min(best, target)

    def groups(self) -> tuple[int, ...]:
        """The groups (layers) of the chain that the last bound found."""
        made: list[int] = []
        layers_of = self.chains.units.layers_of
        place, entry = len(self.passed[-1].cuts.masks) - 1, 0
        pieces = 0
        for k in reversed(range(len(self.passed))):
            part = self.passed[k]
            rows = unpacked(part.cuts.masks, len(part.order))
            if entry > 0:
                place = part.origins[entry]
                whole = len(rows) - 1
                start = 0 if place < 0 else place
                pieces |= layers_of(rows[whole] & ~rows[start], part.order)
                if place < 0:
                    entry = -2 - place
                    continue
                made.append(pieces)
                pieces = 0
            else:
                place = len(rows) - 1
            while (before := int(part.found.came[place])) >= 0:
                made.append(layers_of(rows[place] & ~rows[before], part.order))
                place = before
            entry = 0
            if before <= -2:
                entry = -2 - before
                pieces = layers_of(rows[place] & ~rows[0], part.order)
        return tuple(reversed(made))

    def _pass(self, k: int, entries: Floats, limit: float) -> Passed | None:
        chains, units = self.chains, self.chains.units
        given = [self.segments[k - 1][-1]] if k else []
        members = list(self.segments[k])
        net = units.tables(members, given, strict=self.strict)
        masks = find_cuts(net, len(given), limit - float(entries[:, 0].min()), chains.most_cuts)
        if len(masks) == 0:
            return None
        order = [*given, *members]
        begin = packed(np.arange(len(order))[None, :] < len(given))
        if not (masks == begin).all(axis=1).any():
            masks = np.concatenate((begin, masks))
        cuts = describe_cuts(net, *by_level(masks, len(order)))
        border = units.store(given[0]) if given else 0.0
        found = cheapest(net, cuts, chains.room, entries, border, limit, chains.steps)
        if not found.complete:
            return None
        after, origins = self._leave(net, cuts, found, entries, members[-1], limit)
        return Passed(order, cuts, found, after, origins)

    def _leave(
        self, net: UnitTables, cuts: Cuts, found: Found, entries: Floats, last: int, limit: float
    ) -> tuple[Floats, list[int]]:
        """The ways to begin the next segment, the first without an open group."""
        units = self.chains.units
        number = len(cuts.masks)
        left, origins = leave(net, cuts, found), found.kept.copy()
        through = entries[1:].copy()
        through[:, 1:] += cuts.needs[number - 1] - cuts.needs[0]
        rows = np.concatenate((left, through))
        origins = np.concatenate((origins, -2 - np.arange(1, len(entries))))
        closed = float(found.cost[number - 1]) + units.store(last)
        ends = (closed + units.tolls.loads[units.heads[last]], 1.0, units.least_held(last))
        good = (rows[:, 0] <= limit) & (rows[:, 1:] <= self.chains.room).all(axis=1)
        good &= ~((rows[:, 0] >= ends[0]) & (rows[:, 2] >= ends[1]) & (rows[:, 3] >= ends[2]))
        rows, origins = rows[good], origins[good]
        kept = undominated(rows)
        if len(kept) > MOST_ENTRIES:
            step = self.chains.room / 64
            rows[:, 1:] = np.where(np.isfinite(step), np.floor(rows[:, 1:] / step) * step, rows[:, 1:])
            kept = undominated(rows)
        first = np.array([[closed, 0.0, 0.0, 0.0]])
        return np.concatenate((first, rows[kept])), [number - 1, *origins[kept].tolist()]
