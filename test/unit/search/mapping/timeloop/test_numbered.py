"""Sets of numbers, and ranks of values."""

import numpy as np
import pytest

from tilewright.costs.exact.compiled import Floats, Ints, bare_entry
from tilewright.search.mapping.timeloop.numbered import clear, place_of, rank


@bare_entry
def ranked(values: Floats, order: Ints, spare: Ints) -> None:
    """Compiled, to be called from here."""
    rank(values, values.shape[0], order, spare)


@bare_entry
def distinct(keys: Ints, table: Ints) -> int:
    """How many different `keys` there are."""
    count, places = 0, clear(table, keys.shape[0])
    for i in range(keys.shape[0]):
        at = place_of(table, places, keys[i])
        count += 1 if table[at] < 0 else 0
        table[at] = keys[i]
    return count


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 64, 65])
def test_rank_is_a_stable_sort(count: int):
    values = np.random.default_rng(count).integers(0, 5, count).astype(np.float64)
    values[values == 4] = np.inf
    order, spare = np.empty(count, np.int64), np.empty(count, np.int64)
    ranked(values, order, spare)
    assert order.tolist() == np.argsort(values, kind="stable").tolist()


def test_a_full_table_finds_every_key():
    keys = np.array([0, 7, 7, 15, 0, 22, 1, 1 << 40], np.int64)
    assert distinct(keys, np.full(4 * len(keys), 99, np.int64)) == len(set(keys.tolist()))
