"""What tiles of the last memory cost: those that may be best, and those of some skeletons, against all of them."""

from __future__ import annotations

import numpy as np

from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.bounds.grids import part_of
from tilewright.search.mapping.exact.bounds.outer import Outer
from tilewright.search.mapping.exact.bounds.tables import Tables
from tilewright.search.mapping.exact.space.model import model_of
from tilewright.search.mapping.values import Space

MTTKRP = Problem(
    "mttkrp",
    ("i", "k", "l", "j"),
    (12, 8, 6, 4),
    (
        Tensor("A", ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))),
        Tensor("B", ((0, 1, 0, 0), (0, 0, 0, 1))),
        Tensor("C", ((0, 0, 1, 0), (0, 0, 0, 1))),
        Tensor("Z", ((1, 0, 0, 0), (0, 0, 0, 1)), is_output=True),
    ),
)

MACHINE = Architecture(
    "two memories",
    (
        Level("near", 60, 1, 1, 1, 1.0, read_bandwidth=2.0, write_bandwidth=2.0),
        Level("far", None, 1, 1, 1, 20.0, shared_bandwidth=3.0),
    ),
    "MAC",
    1,
    1,
    1.0,
)


def outer() -> Outer:
    model = model_of(MACHINE, MTTKRP, Space(factors="perfect"))[0]
    return Outer(model, Tables(model), 1)


def test_tables_of_multiples_are_part_of_those_of_all_tiles():
    tables, begin = outer(), np.array([2, 1, 3, 4])
    (part, places), alone = part_of(tables.grid, begin), tables.multiples(begin.tolist(), 0, 1 << 15)
    assert (alone.grid.low == part.low).all()
    for kept in range(1 << 4):
        assert (alone.energies(kept) == tables.energies(kept)[np.ix_(*places)]).all()
