"""Loops that are as good as one with the loop of their dimension further in."""

from __future__ import annotations

from math import inf

import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.exact import solve
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Request, Space

from ..enumerate import cheapest

TTMC = (
    Tensor("A", ((1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0))),
    Tensor("B", ((0, 1, 0, 0, 0), (0, 0, 0, 1, 0))),
    Tensor("C", ((0, 0, 1, 0, 0), (0, 0, 0, 0, 1))),
    Tensor("Z", ((1, 0, 0, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1)), is_output=True),
)


def _nodes_of_proof(machine: str, problem: Problem) -> int:
    """Nodes after which an imperfect search is over, with a proof."""
    arch = find_architecture(machine)
    request = Request(space=Space(bypass=True, split_axes=True, factors="imperfect"))
    search = Search(arch, problem, request, bounds_of(arch, problem))
    assert search.run(inf)
    assert search.low >= search.best.value * (1 - 1e-9)
    return search.nodes


def test_loops_that_tensors_between_do_not_see_are_searched_once():
    """Of the loops of `i`, `j` and `k` only those move something that the memories between keep."""
    tensors = (
        Tensor("A", ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))),
        Tensor("B", ((0, 1, 0, 0), (0, 0, 0, 1))),
        Tensor("C", ((0, 0, 1, 0), (0, 0, 0, 1))),
        Tensor("Z", ((1, 0, 0, 0), (0, 0, 0, 1)), is_output=True),
    )
    problem = Problem("mttkrp", ("i", "j", "k", "l"), (1210, 912, 2880, 32), tensors)
    assert _nodes_of_proof("simba_like", problem) < 5000


def test_two_loops_of_a_dimension_may_let_a_tensor_rest_between():
    """Three k are two and one: B stays at the single one while m goes on, which one loop of k does not allow.

    The ports of L1 and L2 are busy for about as long then: with k inside of m, B is read 12 times, outside 3 times, but
    then C 12 times instead of 4.
    """
    tensors = (
        Tensor("B", ((0, 1),), word_bits=64),
        Tensor("C", ((1, 0),), word_bits=64),
        Tensor("Z", ((1, 0), (0, 1)), is_output=True, word_bits=1),
    )
    levels = (
        Level("L0", 8, 1, 1, 1, 1.0, holds=("I", "W")),
        Level("L1", 8, 1, 1, 1, 2.0, read_bandwidth=2, write_bandwidth=1, holds=("W",)),
        Level("L2", None, 1, 1, 1, 2.0, read_bandwidth=3),
    )
    arch, problem = Architecture("single", levels, "MAC", 1, 1, 1.0), Problem("outer", ("m", "k"), (4, 3), tensors)
    space = Space(bypass=False, split_axes=False, factors="imperfect")
    best, edp = cheapest(arch, problem, space, 100)
    assert [len([loop for level in best.levels for loop in level.temporal if loop.dim == d]) for d in (0, 1)] == [2, 2]
    found = solve(arch, problem, Request(space=space))
    assert found.proven
    assert found.edp == pytest.approx(edp, rel=1e-12)


def test_tiles_of_tensors_that_pass_once_are_not_searched_for_their_own_sake():
    """A passes once, whatever its tile: the loops of `k` at two memories are as good as one, while B rests in both."""
    problem = Problem("ttmc", ("i", "j", "k", "l", "m"), (610, 514, 720, 8, 8), TTMC)
    assert _nodes_of_proof("cosa_simba", problem) < 80_000
