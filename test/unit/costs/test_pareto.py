"""Pareto fronts by their definition."""

import numpy as np
import pytest

from tilewright.costs.compiled import compiled, popcount
from tilewright.costs.pareto import each_lower, undominated


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_undominated_by_its_definition(columns: int):
    rows = np.random.default_rng(columns).integers(0, 4, (60, columns)).astype(np.float64)
    kept = undominated(rows)
    fronts = {tuple(row) for row in rows if not ((rows <= row).all(axis=1) & (rows < row).any(axis=1)).any()}
    assert [tuple(row) for row in rows[kept]] == sorted(fronts)
    assert all(place == np.flatnonzero((rows == rows[place]).all(axis=1))[0] for place in kept)


def test_each_lower():
    assert list(each_lower([5, 5, 7, 3, 4, 3, 1], float)) == [5, 3, 1]


@compiled
def bits_of(words: np.ndarray) -> int:  # type: ignore[type-arg]
    return sum([popcount(word) for word in words])


def test_bits_of_words():
    words = np.random.default_rng(0).integers(0, 1 << 63, 50, dtype=np.uint64)
    words[:3] = 0, (1 << 64) - 1, 1 << 63
    assert bits_of(words) == sum(int(word).bit_count() for word in words)
