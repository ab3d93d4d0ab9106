"""A lower bound that adds up: what each layer costs in any group, and what each transfer of a result costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.dag import bits
from .space import Space


@dataclass(frozen=True)
class Tolls:
    """Every group costs at least the `floors` of its layers and the tolls of what passes between it and DRAM.

    A result is stored (`stores`) where a layer outside of its group reads it or the network gives it, and loaded
    (`loads`) by each other group that reads it.  What the network is given is part of `floors` where one layer reads
    it.
    """

    space: Space
    floors: Sequence[float]
    stores: Sequence[float]
    loads: Sequence[float]
    exits: int

    def least(self, group: int) -> float:
        """What `group` costs at least."""
        total = 0.0
        for number in bits(group):
            total += self.floors[number]
            if self.space.after[number] & ~group or self.exits >> number & 1:
                total += self.stores[number]
        for number in bits(self.space.sources(group) & ~group):
            total += self.loads[number]
        return total

    def rest(self, done: int) -> float:
        """What the layers outside of the downset `done` cost at least: their floors, and loads of what is live."""
        total = 0.0
        missing = self.space.everything & ~done
        for number in bits(missing):
            total += self.floors[number]
            if self.exits >> number & 1:
                total += self.stores[number]
        for number in bits(self.space.sources(missing) & done):
            total += self.loads[number]
        return total
