"""Children that a window wants."""

from __future__ import annotations

import pytest

from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact import solve
from tilewright.search.mapping.values import Request, Space

from ..enumerate import cheapest


def test_a_window_may_want_more_children_than_half_of_a_bound():
    """Three children for r = 4: the window 3 p + 2 r of the first is then where it was when p advances by two."""
    tensors = (Tensor("I", ((3, 2),)), Tensor("W", ((0, 1),)), Tensor("Z", ((1, 0),), is_output=True, word_bits=8))
    levels = (
        Level("L0", 16, 6, 6, 1, 5.0, write_energy_pj=2.0, holds=("I",)),
        Level("L1", 64, 2, 2, 1, 20.0, holds=()),
        Level("L2", None, 1, 1, 1, 80.0, write_energy_pj=2.0),
    )
    arch, problem = Architecture("pairs", levels, "MAC", 6, 6, 1.0), Problem("s3", ("p", "r"), (4, 4), tensors)
    space = Space(bypass=False, split_axes=True, factors="imperfect")
    best, edp = cheapest(arch, problem, space, 3000)
    assert any(loop.bound == 3 for level in best.levels for loop in level.spatial_x)
    found = solve(arch, problem, Request(space=space))
    assert found.proven
    assert found.edp == pytest.approx(edp, rel=1e-12)
