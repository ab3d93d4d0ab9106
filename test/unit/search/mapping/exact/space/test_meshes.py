"""Children of memories that a sum wants."""

from __future__ import annotations

import pytest

from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact import solve
from tilewright.search.mapping.values import Request, Space

from ..enumerate import cheapest


def test_more_children_than_half_of_the_terms_come_back_to_fewer_sums():
    """Of 3 x 2 visits for 4 terms of a sum, 3 find no sum yet and 1 finds one; of 2 x 2 visits, 2 do."""
    levels = (
        Level("L0", 4, 12, 6, 1, 5.0, hop_energy_pj=0.5, multiple_buffering=2.0),
        Level("L1", 4, 3, 3, 2, 1.2, multiple_buffering=2.0, write_energy_pj=2.0),
        Level("L2", 12, 3, 3, 2, 80.0),
        Level("L3", None, 1, 1, 2, 320.0, write_energy_pj=2.0),
    )
    arch = Architecture("sums", levels, "MAC", 12, 6, 1.0)
    tensors = (
        Tensor("I", ((0, 1, 0), (1, 0, 1))),
        Tensor("W", ((0, 1, 0), (0, 0, 1)), word_bits=8),
        Tensor("Z", ((1, 0, 0),), True, 8),
    )
    problem = Problem("conv2d", ("q", "r", "s"), (2, 4, 2), tensors)
    space = Space(bypass=False, split_axes=True, factors="imperfect")
    mapping, least = cheapest(arch, problem, space, 3000)
    assert mapping.levels[3].spatial_x[0].bound == 3
    found = solve(arch, problem, Request(space=space))
    assert found.proven
    assert found.edp == pytest.approx(least, rel=1e-9)
