"""How much tiles take, and how much memories hold, under either cost model."""

from math import gcd

import numpy as np

from ...costs.hierarchy import Architecture, Problem
from .pricing import Bools, Floats, Ints, kept_tensors
from .values import CostModel, Space


class Room:
    """Sizes of tiles of one problem and capacities of one machine's memories, in one unit per level.

    Under Timeloop's model that is a word, a tensor's tile being its bounding box.  Under the exact model it is a bit,
    and elements that a stride leaves out do not count.  `kept` (L, T) is all that levels may hold; where the space has
    bypass and not one element of each fits, the first tensors that do.
    """

    def __init__(self, arch: Architecture, problem: Problem, model: CostModel, space: Space) -> None:
        self.arch, self.problem, self.model = arch, problem, model
        self.kept = kept_tensors(arch, problem)
        levels = arch.levels
        bits = [level.word_bits if model == "exact" else 1 for level in levels]
        self.capacity = [
            None if level.entries is None else level.entries * size / level.multiple_buffering
            for level, size in zip(levels, bits, strict=True)
        ]
        for level, capacity in enumerate(self.capacity if space.bypass else ()):
            left = np.inf if capacity is None else capacity
            for tensor in np.flatnonzero(self.kept[level]).tolist():
                left -= self.weight(level, tensor)
                self.kept[level, tensor] = left >= 0

    def weight(self, level: int, tensor: int) -> float:
        """Units of the level's capacity that one element takes."""
        if self.model == "timeloop":
            return 1.0
        return float(self.problem.tensors[tensor].word_bits or self.arch.levels[level].word_bits)

    def elements(self, tensor: int, tiles: Ints) -> Floats:
        """Elements in the tensor's tile of each iteration tile, (N, D) to (N,)."""
        total = np.ones(len(tiles))
        for row in self.problem.tensors[tensor].coefficients:
            total *= self.axis(row, tiles)
        return total

    def axis(self, row: tuple[int, ...], tiles: Ints) -> Floats:
        """Elements along an axis with these coefficients."""
        terms = [(abs(c), tiles[:, d].astype(np.float64)) for d, c in enumerate(row) if c]
        return _box(terms) if self.model == "timeloop" else _distinct(terms)

    def fits(self, level: int, tiles: Ints) -> Bools:
        """Whether iteration tiles (N, D) fit in `level`."""
        capacity = self.capacity[level]
        if capacity is None:
            return np.ones(len(tiles), np.bool_)
        kept: list[int] = np.flatnonzero(self.kept[level]).tolist()
        used = (self.elements(tensor, tiles) * self.weight(level, tensor) for tensor in kept)
        return sum(used, np.zeros(len(tiles))) <= capacity


def _box(terms: list[tuple[int, Floats]]) -> Floats:
    return sum((coefficient * (tile - 1) for coefficient, tile in terms), np.ones(1))


def _distinct(terms: list[tuple[int, Floats]]) -> Floats:
    """Values of a sum of indices; of two terms `a*i + b*j` without common factor, `(i + b, j - a)` is a value twice."""
    if len(terms) != 2:  # an upper bound
        return _box(terms) if len(terms) > 1 else terms[0][1]
    (a, m), (b, n) = terms
    common = gcd(a, b)
    return m * n - np.maximum(m - b // common, 0) * np.maximum(n - a // common, 0)
