"""The layer graph as sets of bits, and what makes a set of sets a partition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...costs.fusion.graph import mask_of

Groups = tuple[int, ...]
"""Sets of layers, in an order of execution."""

MOST_KEPT = 100_000
"""Sets whose sources are remembered."""


def bits(mask: int) -> Iterator[int]:
    """The numbers in a set, ascending."""
    first = (mask & -mask).bit_length() - 1
    mask >>= max(0, first)  # a few late layers of a deep network become a small integer
    while mask:
        low = mask & -mask
        yield first + low.bit_length() - 1
        mask ^= low


def union(groups: Iterable[int]) -> int:
    """All layers of some groups."""
    found = 0
    for group in groups:
        found |= group
    return found


def _lowest(group: int) -> int:
    return group & -group


@dataclass(frozen=True)
class Space:
    """Layers in a topological order, each with the layers it reads; sets of layers are integers, one bit a layer."""

    producers: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """Number of layers."""
        return len(self.producers)

    @property
    def everything(self) -> int:
        """The set of all layers."""
        return (1 << self.size) - 1

    @cached_property
    def before(self) -> tuple[int, ...]:
        """For each layer the set of those it reads."""
        return tuple(map(mask_of, self.producers))

    @cached_property
    def after(self) -> tuple[int, ...]:
        """For each layer the set of those that read it."""
        found = [0] * self.size
        for number, producers in enumerate(self.producers):
            for producer in producers:
                found[producer] |= 1 << number
        return tuple(found)

    @cached_property
    def beside(self) -> tuple[int, ...]:
        """For each layer the set of its neighbours either way."""
        return tuple(a | b for a, b in zip(self.before, self.after, strict=True))

    @cached_property
    def depth(self) -> tuple[int, ...]:
        """For each layer the number of layers on the longest path before it."""
        found: list[int] = []
        for producers in self.producers:
            found.append(1 + max((found[i] for i in producers), default=-1))
        return tuple(found)

    def component(self, mask: int) -> int:
        """The connected part of `mask` that holds its lowest layer."""
        reached = frontier = mask & -mask
        while frontier:
            step = 0
            for number in bits(frontier):
                step |= self.beside[number]
            frontier = step & mask & ~reached
            reached |= frontier
        return reached

    def connected(self, mask: int) -> bool:
        """Whether a set is connected, directions aside."""
        return self.component(mask) == mask

    def components(self, mask: int) -> list[int]:
        """The connected parts of a set, by their lowest layers."""
        parts: list[int] = []
        while mask:
            part = self.component(mask)
            parts.append(part)
            mask &= ~part
        return parts

    def readers(self, mask: int) -> int:
        """All layers that read one of `mask`."""
        found = 0
        for number in bits(mask):
            found |= self.after[number]
        return found

    def sources(self, mask: int) -> int:
        """All layers that one of `mask` reads."""
        found = 0
        for number in bits(mask):
            found |= self.before[number]
        return found

    @cached_property
    def ancestors(self) -> tuple[int, ...]:
        """For each layer all layers that a path leads from."""
        found: list[int] = []
        for producers in self.producers:
            mask = 0
            for producer in producers:
                mask |= found[producer] | 1 << producer
            found.append(mask)
        return tuple(found)

    @cached_property
    def descendants(self) -> tuple[int, ...]:
        """For each layer all layers that a path leads to."""
        found = [0] * self.size
        for number in reversed(range(self.size)):
            for reader in bits(self.after[number]):
                found[number] |= found[reader] | 1 << reader
        return tuple(found)

    def convex(self, mask: int) -> bool:
        """Whether no path leaves the set and comes back."""
        above = below = 0
        for number in bits(mask):
            above |= self.ancestors[number]
            below |= self.descendants[number]
        return above & below & ~mask == 0

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
