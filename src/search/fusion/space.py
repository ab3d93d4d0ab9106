"""The layer graph as sets of bits, and what makes a set of sets a partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from ...algebra.dag import Dag, bits

Groups = tuple[int, ...]
"""Sets of layers, in an order of execution."""

MOST_KEPT = 100_000
"""Sets whose sources, readers and connected parts are remembered."""


class Waiting(NamedTuple):
    """A group by its lowest layer, and what others must have made before it."""

    lowest: int
    needs: int
    group: int


class Space(Dag):
    """The layers of a network, and which sets of sets of them are partitions that can run."""

    def ordered(self, groups: Sequence[int]) -> list[int] | None:
        """The groups in an order of execution, those with the lowest layers first; None where they wait in a circle."""
        order: list[int] = []
        blocked: list[tuple[int, int]] = []
        done = 0
        for _, needs, group in sorted(map(self._known_needs, groups)):
            if needs & ~done:
                blocked.append((needs, group))
                continue
            order.append(group)
            done |= group
            place = 0
            while place < len(blocked):
                needs, group = blocked[place]
                if needs & ~done:
                    place += 1
                else:
                    del blocked[place]
                    order.append(group)
                    done |= group
                    place = 0
        return None if blocked else order

    @cached_property
    def _known_needs(self) -> Callable[[int], Waiting]:
        """What a group waits for; remembered."""
        return lru_cache(MOST_KEPT)(
            lambda group: Waiting((group & -group).bit_length() - 1, self.sources(group) & ~group, group)
        )

    @cached_property
    def known_members(self) -> Callable[[int], tuple[int, ...]]:
        """The layers of a set, ascending; remembered."""
        return lru_cache(MOST_KEPT)(lambda group: tuple(bits(group)))

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
