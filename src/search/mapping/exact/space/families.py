"""Ways to keep tensors for which the same meshes act as one, and the spreads over those.

Statement 7 of docs/exact-mapper.md.
"""

from collections.abc import Sequence

import numpy as np

from ...pricing import ROUNDING
from ..dominance.symmetries import Kept, Places, Spread, first_of_its_kind
from .model import Ints
from .narrowing import Narrowing
from .spreads import Columns, chain_arrays, mesh_of
from .ways import Ways


class Family:
    """Ways `kept` to keep tensors for which the same groups of meshes act as one; spreads are over the whole group,
    and stand in its innermost memory's row."""

    def __init__(self, kept: list[Kept], ways: Ways, places: Places, spread: Sequence[bool]) -> None:
        self.kept, self._places, model = kept, places, places.model
        levels, tensors = len(places.meshes), len(kept[0])
        self.every = np.ones((len(kept), levels, tensors), np.int64)
        self.every[:, :-1] = np.array(kept, np.int64).transpose(0, 2, 1)
        self.masks = np.array([last_kept(chosen) for chosen in kept], np.int64)
        chains = [sorted({chosen[t] for chosen in kept}) for t in range(tensors)]
        self.ways = ways._replace(**dict(zip(("chains", "many"), chain_arrays(chains), strict=True)))
        self.mesh = mesh_of(model, self._merged(places.meshes), spread, split=places.split)
        self._narrowing = Narrowing(model, self.mesh)
        self.reached, self.stuck = 0.0, False
        kinds: dict[object, list[int]] = {}
        for n, chosen in enumerate(kept):
            kinds.setdefault(places.moves(chosen), []).append(n)
        self._kinds = [(kept[found[0]], found) for found in kinds.values()]

    def _merged(self, meshes: list[Columns]) -> list[list[Columns]]:
        """The meshes that act as one, by their innermost memory."""
        found = [[mesh] for mesh in meshes]
        for first, *others in self._places.merged(self.kept[0]):
            found[first] = [meshes[level] for level in (first, *others)]
            for level in others:
                found[level] = [(1, 1)]
        return found

    def more(
        self, first: float, most: float, front: float, symmetries: list[tuple[int, ...]]
    ) -> list[tuple[float, Spread]]:
        """Look for spreads of the next bounds, from `first` on, up to the `front` of others; there may be none yet."""
        spreads, bounds = self._narrowing.look(self.ways, most, max(first, front))
        self.reached, self.stuck = self._narrowing.reached * (1 - ROUNDING), self._narrowing.stuck
        found: list[tuple[float, Spread]] = []
        for bound, spread in zip(bounds.tolist(), spreads.tolist(), strict=True):
            chosen = tuple(tuple(row) for row in spread)
            if bound < most and first_of_its_kind(chosen, symmetries):
                found.append((bound, chosen))
        return found

    def worthwhile(self, spread: Spread) -> Ints:
        """The numbers of those ways to keep tensors for which no other spread is as good."""
        found = [n for kept, numbers in self._kinds if not self._places.superfluous(spread, kept) for n in numbers]
        return np.array(found, np.int64)


def families_of(kept: list[Kept], ways: Ways, places: Places, spread: Sequence[bool]) -> list[Family]:
    """All ways to keep tensors, by the meshes that act as one, with the spreads of those dims that `spread` lets."""
    found: dict[object, list[Kept]] = {}
    for chosen in kept:
        found.setdefault(places.merged(chosen), []).append(chosen)
    return [Family(members, ways, places, spread) for members in found.values()]


def last_kept(kept: Kept) -> int:
    """The set of tensors that the last memory before the outermost keeps."""
    return sum(1 << t for t, chain in enumerate(kept) if chain[-1])
