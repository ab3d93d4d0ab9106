"""Imperfect factors that leave the last child less work than the others."""

from __future__ import annotations

from math import inf
from typing import Literal

import numpy as np
import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.exact import price_batch
from tilewright.costs.hierarchy import Architecture, Level, Loop, Problem, Tensor
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.exact import solve
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Request, Space

from ..enumerate import every_mapping


def test_a_child_with_less_work_may_let_its_result_rest():
    """Of 6 rows on two children, 5 and 1 are better than 3 and 3: the single one stays while k advances outside."""
    tensors = Tensor("A", ((1, 0), (0, 1))), Tensor("B", ((0, 1),)), Tensor("Z", ((1, 0),), is_output=True, word_bits=8)
    levels = (
        Level("L0", 4, 8, 8, 1, 5.0, read_bandwidth=2),
        Level("L1", 16, 2, 2, 1, 1.2, read_bandwidth=2, write_energy_pj=2.0, holds=("O", "I")),
        Level("L2", None, 1, 1, 1, 80.0, write_bandwidth=2, shared_bandwidth=2, latency_cycles=3),
    )
    arch, problem = Architecture("pair", levels, "MAC", 8, 8, 1.0), Problem("rows", ("m", "k"), (6, 6), tensors)
    _is_found(arch, problem, rows=5)


@pytest.mark.parametrize("name", ["perfect", "imperfect"])
def test_loops_that_cost_the_same_on_both_sides_of_a_border_are_searched_on_one(name: Literal["perfect", "imperfect"]):
    """The large tensor passes once in whatever tiles, which may be smallest; there are thousands of others."""
    tensors = (
        Tensor("A", ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))),
        Tensor("B", ((0, 1, 0, 0), (0, 0, 0, 1))),
        Tensor("C", ((0, 0, 1, 0), (0, 0, 0, 1))),
        Tensor("Z", ((1, 0, 0, 0), (0, 0, 0, 1)), is_output=True),
    )
    problem = Problem("mttkrp", ("i", "j", "k", "l"), (1210, 912, 1440, 32), tensors)
    arch = find_architecture("conventional")
    request = Request(space=Space(bypass=True, split_axes=True, factors=name))
    search = Search(arch, problem, request, bounds_of(arch, problem))
    assert search.run(inf)
    assert search.low >= search.best.value * (1 - 1e-9)
    assert search.nodes < 30_000


def test_the_smallest_factor_of_those_that_fit_is_tried():
    """Of 5 rows a memory has room for three results: two tiles of three come after four, which are two tiles, too."""
    tensors = Tensor("A", ((1, 0), (0, 1))), Tensor("B", ((0, 1),)), Tensor("Z", ((1, 0),), is_output=True)
    levels = (
        Level("L0", 2, 1, 1, 1, 1.0, read_bandwidth=2, holds=("O", "W")),
        Level("L1", 3, 1, 1, 1, 3.0, shared_bandwidth=2, holds=("O",)),
        Level("L2", None, 1, 1, 1, 10.0, shared_bandwidth=1),
    )
    arch, problem = Architecture("room", levels, "MAC", 1, 1, 1.0), Problem("rows", ("m", "k"), (5, 4), tensors)
    _is_found(arch, problem, rows=3)


def _is_found(arch: Architecture, problem: Problem, rows: int):
    """The search finds the best of all mappings; without a loop over so many `rows` at level 1 none is as good."""
    space = Space(bypass=False, split_axes=False, factors="imperfect")
    mappings = every_mapping(arch, problem, space, 2500)
    assert mappings is not None
    prices = price_batch(arch, problem, mappings)
    values = np.where(prices.valid, prices.edp_j_cycle, np.inf)
    have = np.array([Loop(0, rows) in mapping.levels[1].temporal for mapping in mappings])
    assert values[have].min() < values[~have].min() * 0.999
    found = solve(arch, problem, Request(space=space))
    assert found.proven
    assert found.edp == pytest.approx(values.min(), rel=1e-12, abs=0)
