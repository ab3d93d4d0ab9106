"""The layer graph as sets of bits, and what makes a set of sets a partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

from ...algebra.dag import Dag

Groups = tuple[int, ...]
"""Sets of layers, in an order of execution."""

MOST_KEPT = 100_000
"""Sets whose sources, readers and connected parts are remembered."""


def _lowest(group: int) -> int:
    return group & -group


class Space(Dag):
    """The layers of a network, and which sets of sets of them are partitions that can run."""

    def ordered(self, groups: Sequence[int]) -> list[int] | None:
        """The groups in an order of execution, those with the lowest layers first; None where they wait in a circle."""
        order: list[int] = []
        blocked: list[int] = []
        done, known = 0, self._needs
        for group in sorted(groups, key=_lowest):
            needs = known.get(group)
            if (self._waits(group) if needs is None else needs) & ~done:
                blocked.append(group)
                continue
            order.append(group)
            done |= group
            place = 0
            while place < len(blocked):
                if self._waits(blocked[place]) & ~done:
                    place += 1
                else:
                    order.append(blocked.pop(place))
                    done |= order[-1]
                    place = 0
        return None if blocked else order

    def _waits(self, group: int) -> int:
        """What others must have made before a group; remembered, for searches ask again and again."""
        found = self._needs.get(group)
        if found is None:
            if len(self._needs) >= MOST_KEPT:
                self._needs.clear()
            found = self._needs[group] = self.sources(group) & ~group
        return found

    @cached_property
    def _needs(self) -> dict[int, int]:
        return {}

    @cached_property
    def known_components(self) -> Callable[[int], list[int]]:
        """`components`, remembered."""
        return lru_cache(MOST_KEPT)(self.components)

    @cached_property
    def known_readers(self) -> Callable[[int], int]:
        """`readers`, remembered."""
        return lru_cache(MOST_KEPT)(self.readers)

    @cached_property
    def known_sources(self) -> Callable[[int], int]:
        """`sources`, remembered."""
        return lru_cache(MOST_KEPT)(self.sources)

    def fault(self, groups: Sequence[int]) -> str | None:
        """What makes the sets no partition into connected groups that can run one after another, in words."""
        union = 0
        for group in groups:
            if not group or union & group or group & ~self.everything:
                return "each layer in exactly one group"
            union |= group
            if not self.connected(group):
                return "connected groups"
        if union != self.everything:
            return "each layer in exactly one group"
        return None if self.ordered(groups) is not None else "groups that do not wait for each other in a circle"
