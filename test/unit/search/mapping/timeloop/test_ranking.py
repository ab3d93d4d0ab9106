"""Ranks of values."""

import numpy as np
import pytest

from tilewright.costs.exact.compiled import Floats, Ints, bare_entry
from tilewright.search.mapping.timeloop.ranking import rank


@bare_entry
def ranked(values: Floats, order: Ints, spare: Ints) -> None:
    """Compiled, to be called from here."""
    rank(values, values.shape[0], order, spare)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 64, 65])
def test_rank_is_a_stable_sort(count: int):
    values = np.random.default_rng(count).integers(0, 5, count).astype(np.float64)
    values[values == 4] = np.inf
    order, spare = np.empty(count, np.int64), np.empty(count, np.int64)
    ranked(values, order, spare)
    assert order.tolist() == np.argsort(values, kind="stable").tolist()
