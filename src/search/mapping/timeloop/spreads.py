"""All ways to spread a problem over the array and to leave tensors out of memories, in the order of a first bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ....costs.timeloop.batch_arrays import Floats, Ints, Model
from .bound import Spread
from .spatial import Factors

Kept = tuple[int, ...]


@dataclass(frozen=True)
class Candidate:
    """A spread with a lower bound of its objective; `near` and `far` are the factors of `spread`, as is `kept`."""

    low: float
    near: Factors
    far: Factors
    kept: tuple[Kept, Kept]
    spread: Spread


class Spreads:
    """Pairs (P) of factors below the inner memories and above them, with what follows from the factors alone."""

    def __init__(self, model: Model, near: Sequence[Factors], far: Sequence[Factors]) -> None:
        pairs = np.array(list(product(near, far)), np.int64)
        pairs = pairs[(model.bounds % pairs.prod(axis=1) == 0).all(axis=1)]
        self._model = model
        self._near, self._far = pairs[:, 0], pairs[:, 1]
        left = model.bounds // pairs.prod(axis=1)
        self._instances, self._compute = self._far.prod(axis=1), left.prod(axis=1)
        shape = len(pairs), model.axis.shape[0]
        self._operands, self._copies, self._groups = (np.ones(shape, np.int64) for _ in range(3))
        for t in range(shape[1]):
            uses = model.axis[t] >= 0
            self._copies[:, t] = np.where(uses, 1, self._far).prod(axis=1)
            self._groups[:, t] = _least_groups(model, t, self._far)
            groups = np.where(uses, self._near, 1).prod(axis=1)
            sure = 0 if model.slides[t].any() else groups * np.where(uses, left, 1).prod(axis=1)
            self._operands[:, t] = np.where(self._near.prod(axis=1) == 1, self._compute, sure)

    def ranked(
        self, objective: int, kept: Sequence[Sequence[Kept]], beyond: dict[Kept, float], least: dict[Kept, Ints]
    ) -> Iterator[Candidate]:
        """Every pair with every choice of kept tensors, `kept` by inner memory, most promising first.

        `beyond` is the least energy outside the middle memory, by what that keeps, and `least` (T,) the least words.
        """
        self._beyond = {middle: self._moved(middle, least[middle]) for middle in kept[1] if beyond[middle] < np.inf}
        choices = [(inner, middle) for middle in kept[1] for inner in kept[0] if beyond[middle] < np.inf]
        if not choices or not len(self._near):
            return
        lows = np.stack([self._low(objective, choice, beyond[choice[1]]) for choice in choices])
        for number in np.argsort(lows, axis=None, kind="stable").tolist():
            choice, pair = divmod(number, lows.shape[1])
            made = self._spread(pair, choices[choice])
            near, far = (tuple(factors[pair].tolist()) for factors in (self._near, self._far))
            yield Candidate(float(lows[choice, pair]), near, far, choices[choice], made)

    def _spread(self, pair: int, kept: tuple[Kept, Kept]) -> Spread:
        scale = np.array([self._instances[pair], self._compute[pair]], np.int64)
        return Spread(
            self._near[pair].copy(),
            self._far[pair].copy(),
            np.array([*kept, [1] * len(kept[0])], np.int64),
            self._operands[pair].copy(),
            self._copies[pair].copy(),
            scale,
            self._beyond[kept[1]],
        )

    def _moved(self, kept: Kept, least: Ints) -> Floats:
        """Words that each memory reads and writes (2, 3) at least for tensors that the middle one keeps."""
        moved = np.zeros((2, 3))
        for t in np.flatnonzero(kept).tolist():
            words = int(least[t])
            again = max(0, words - int(self._model.full[t])) if self._model.is_output[t] else words
            moved[0, 2] += again
            moved[1, 1] += again
            moved[1, 2] += words if self._model.is_output[t] else 0
        return moved

    def _low(self, objective: int, kept: tuple[Kept, Kept], beyond: float) -> Floats:
        """The bound of every pair: tensors cross each boundary once, operands are read and written."""
        model = self._model
        energy = np.full(len(self._near), beyond + model.macs * model.mac_energy)
        read, write = np.zeros((3, len(energy))), np.zeros((3, len(energy)))
        for t in range(model.axis.shape[0]):
            words, served, owned = self._crossing(t, bool(kept[0][t]))
            operands = self._operands[:, t]
            output = bool(model.is_output[t])
            if kept[0][t]:
                away = owned if output else 0
                read[0] += np.maximum(0, operands - away)
                write[0] += np.maximum(0, words - away) + (operands if output else 0)
            level = 1 if kept[1][t] else 2
            read[level] += np.maximum(0, served - model.full[t]) if output else served
            write[level] += served if output else 0
        for level, instances in enumerate((self._instances, 1, 1)):
            energy += (read[level] * model.read_word[level] + write[level] * model.write_word[level]) * instances
        cycles = self._compute.astype(np.float64)
        read, write = read + self._beyond[kept[1]][0][:, None], write + self._beyond[kept[1]][1][:, None]
        for level in range(3):
            for words, bandwidth in (
                (read[level], model.read[level]),
                (write[level], model.write[level]),
                (read[level] + write[level], model.shared[level]),
            ):
                cycles = np.maximum(cycles, words / bandwidth)
        return (energy * cycles, energy, cycles)[objective]

    def _crossing(self, t: int, kept: bool) -> tuple[Ints, Ints, Ints]:
        """Words into one inner memory, and from its parent to all of them, at least; words it owns, at most."""
        model = self._model
        uses = model.axis[t] >= 0
        points = int(np.where(uses, model.bounds, 1).prod())
        parts = points // np.where(uses, self._far, 1).prod(axis=1)
        exact = not model.slides[t].any() and not (model.step[t] > 1).any()
        owned = parts if exact else np.full_like(parts, model.full[t])
        words = np.zeros_like(parts) if model.slides[t].any() else parts
        if kept:
            return words, np.full_like(parts, 0 if model.slides[t].any() else points), owned
        return words, np.maximum(0, self._operands[:, t] * self._groups[:, t] - 1), owned


def _least_groups(model: Model, t: int, far: Ints) -> Ints:
    """Different tiles among the inner memories, at least: offsets along an axis coincide in all but one dimension."""
    groups = np.ones(len(far), np.int64)
    for axis in range(model.axes):
        users = model.axis[t] == axis
        if users.any():
            groups *= far[:, users].max(axis=1)
    return groups
