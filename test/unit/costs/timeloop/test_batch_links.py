"""Sets of numbers in compiled code."""

import numpy as np

from tilewright.costs.exact.compiled import Ints, bare_entry
from tilewright.costs.timeloop.batch_links import clear, place_of


@bare_entry
def distinct(keys: Ints, table: Ints) -> int:
    """How many different `keys` there are."""
    count, places = 0, clear(table, keys.shape[0])
    for i in range(keys.shape[0]):
        at = place_of(table, places, keys[i])
        count += 1 if table[at] < 0 else 0
        table[at] = keys[i]
    return count


def test_a_full_table_finds_every_key():
    keys = np.array([0, 7, 7, 15, 0, 22, 1, 1 << 40], np.int64)
    assert distinct(keys, np.full(4 * len(keys), 99, np.int64)) == len(set(keys.tolist()))
