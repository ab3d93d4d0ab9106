"""Prices of leaves: a leaf's orders."""

from __future__ import annotations

from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.values import Request, Space

from ..skeletons import verdict_of_each


def test_orders_of_least_energy_may_take_more_cycles():
    """Of two orders of a window's loops with equal energy, one takes fewer cycles: a leaf is priced in all of them."""
    tensors = Tensor("I", ((1, 1),), word_bits=8), Tensor("W", ((0, 1),)), Tensor("Z", ((1, 0),), True, 8)
    levels = (
        Level("L0", 3, 1, 1, 2, 0.3, None, 1.0, 0.5, latency_cycles=3, holds=("O", "I", "W")),
        Level("L1", None, 1, 1, 1, 20.0, 1.0, write_energy_pj=2.0),
    )
    arch = Architecture("slow", levels, "MAC", 1, 1, 1.0)
    problem, space = Problem("line", ("p", "r"), (10, 3), tensors), Space(True, True, "perfect")
    assert verdict_of_each(arch, problem, Request("edp", "exact", space), 400) == "proven"
