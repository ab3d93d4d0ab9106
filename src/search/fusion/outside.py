"""What results cost at least because of readers outside of a window, whatever readers inside of it do."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...algebra.dag import bits
from .forced import Forced
from .units import Units


@dataclass
class Outside:
    """A reader outside of a window that can be with neither the result's unit nor one of its readers in the window
    loads the result for itself: what the window's own chain says of loads comes on top.
    """

    units: Units
    forced: Forced
    _apart: dict[tuple[int, int], bool] = field(default_factory=dict[tuple[int, int], bool])

    def paid(self, members: Sequence[int]) -> dict[int, float]:
        """For units of `members` whose results must be stored for others: what that costs, with those loads."""
        units, made = self.units, {self.units.heads[i]: i for i in members}
        readers: dict[int, set[int]] = {i: set() for i in members}
        for j in range(len(units.heads)):
            for u in bits(units.reads(j)):
                if u in made:
                    readers[made[u]].add(j)
        inside, found = set(members), dict[int, float]()
        for i in members:
            near = [i, *(j for j in readers[i] if j in inside)]
            far = [j for j in sorted(readers[i] - inside) if all(self._are_apart(j, other) for other in near)]
            if far:
                loads = self.forced.packs([units.heads[j] for j in far])
                found[i] = units.store(i) + loads * units.tolls.loads[units.heads[i]]
        return found

    def _are_apart(self, i: int, j: int) -> bool:
        key = (min(i, j), max(i, j))
        if key not in self._apart:
            self._apart[key] = not self.forced.together(self.units.heads[key[0]], self.units.heads[key[1]])
        return self._apart[key]
