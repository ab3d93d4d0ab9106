"""Bounds by tables of all memories, one skeleton at a time."""

from __future__ import annotations

from math import inf

import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.exact import price_batch
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Factors, Request, Space

from ..skeletons import verdict_of_each


def _search(arch: Architecture, problem: Problem, factors: Factors) -> Search:
    """A search for least energy."""
    request = Request(objective="energy", space=Space(bypass=True, split_axes=True, factors=factors))
    return Search(arch, problem, request, bounds_of(arch, problem))


@pytest.mark.parametrize(("m", "children"), [(7, 4), (5, 3), (10, 4), (8, 4)])
def test_children_share_a_bound_unevenly(m: int, children: int) -> None:
    """B rests in the children's memories while all of m goes by: each takes it once, also the one with less work."""
    tensors = (
        Tensor("A", ((1, 0, 0), (0, 0, 1)), False, None),
        Tensor("B", ((0, 0, 1), (0, 1, 0)), False, None),
        Tensor("Z", ((1, 0, 0), (0, 1, 0)), True, None),
    )
    problem = Problem("gemm", ("m", "n", "k"), (m, 2, 4), tensors)
    levels = (
        Level("L0", 16, children, children, 1, 1.0, write_energy_pj=50.0),
        Level("L1", 256, 1, 1, 1, 3.0),
        Level("D", None, 1, 1, 1, 9.0),
    )
    arch = Architecture("uneven", levels, "MAC", children, children, 1.0)
    own = Loop(2, 4), Loop(1, 2), Loop(0, -(-m // children))
    only_b = LevelMapping(own, (), (), frozenset("AZ"))
    mapping = LoopMapping((only_b, LevelMapping((), (Loop(0, children),), ()), LevelMapping((), (), ())))
    priced = price_batch(arch, problem, [mapping])
    assert priced.valid[0]
    search = _search(arch, problem, "imperfect")
    spread, kept = ((1, 1, 1), (children, 1, 1), (1, 1, 1)), ((0, 1), (1, 1), (0, 1))
    assert search.estimates.by_tables(spread, kept, 0.0, inf) <= priced.energy_pj[0] * (1 + 1e-9)


def test_loops_that_rest_one_tensor_move_another() -> None:
    """Half of B fits at a time: either it comes again for each block of n, or all C comes again for its other half.

    The loops of n in the memory beyond B move C.  Though B rests in them, C is that of a child's single element.
    """
    tensors = (
        Tensor("A", ((1, 0, 0), (0, 1, 0), (0, 0, 1))),
        Tensor("B", ((0, 1, 0),)),
        Tensor("C", ((0, 0, 1),)),
        Tensor("Z", ((1, 0, 0),), is_output=True),
    )
    problem = Problem("vectors", ("m", "k", "n"), (2, 4, 20), tensors)
    levels = (
        Level("L0", 1, 4, 4, 1, 1.0, holds=("C",)),
        Level("L1", 2, 1, 1, 1, 2.0, holds=("B",)),
        Level("L2", 64, 1, 1, 1, 4.0, holds=("Z",)),
        Level("D", None, 1, 1, 1, 100.0),
    )
    arch = Architecture("two_rest", levels, "MAC", 4, 4, 1.0, operands=("Z", "A", "B"))
    search = _search(arch, problem, "imperfect")
    spread = (1, 1, 1), (1, 1, 4), (1, 1, 1), (1, 1, 1)
    kept = (0, 0, 0), (0, 1, 0), (1, 0, 0), (0, 0, 1)
    once = search.estimates.set_up(spread, kept)[1]
    assert search.estimates.by_tables(spread, kept, 0.0, inf) > once + 0.7 * 100.0 * min(4 * 4, 20)


def test_tiles_for_which_memories_outside_have_no_room() -> None:
    """One element of A fits: loops of `k` come outside of its memory, and move A for every m, or Z for every k.

    None of them need be in that memory, but those further in, of which Z sees nothing, can be no longer either.
    """
    tensors = (Tensor("A", ((0, 1),)), Tensor("B", ((1, 0), (0, 1))), Tensor("Z", ((1, 0),), is_output=True))
    problem = Problem("matrix_vector", ("m", "k"), (6, 8), tensors)
    levels = (
        Level("L0", 1, 1, 1, 1, 1.0, holds=("Z",)),
        Level("L1", 1, 1, 1, 1, 2.0, holds=("A",)),
        Level("L2", 64, 1, 1, 1, 4.0, holds=("B",)),
        Level("D", None, 1, 1, 1, 100.0),
    )
    arch = Architecture("no_room", levels, "MAC", 1, 1, 1.0, operands=("A", "B", "Z"))
    search = _search(arch, problem, "perfect")
    spread = ((1, 1),) * 4
    kept = (0, 1, 0), (0, 0, 0), (1, 0, 0)
    once = search.estimates.set_up(spread, kept)[1]
    again = 100.0 * (6 * 8 - 8)
    assert once + 0.9 * again < search.estimates.by_tables(spread, kept, 0.0, inf) < once + 1.1 * again


def test_a_ragged_end_rests_while_a_loop_advances() -> None:
    """Two children have 3 and 1 rows of `i`: in the second of two blocks one child has no work, and keeps its tiles."""
    tensors = (
        Tensor("A", ((1, 0, 0), (0, 1, 0))),
        Tensor("B", ((1, 0, 0), (0, 0, 1))),
        Tensor("C", ((0, 0, 1), (0, 1, 0))),
        Tensor("Z", ((1, 0, 0), (0, 1, 0)), is_output=True),
    )
    problem = Problem("sddmm", ("i", "j", "k"), (4, 2, 2), tensors)
    levels = (
        Level("L0", 6, 4, 2, 1, 1.0),
        Level("L1", 40, 4, 2, 1, 4.0),
        Level("L2", 36, 1, 1, 1, 16.0, holds=("I",)),
        Level("D", None, 1, 1, 1, 320.0),
    )
    arch = Architecture("ragged", levels, "MAC", 8, 4, 1.0)
    outside = LevelMapping((), (), (Loop(0, 2),), frozenset("BCZ"))
    inside = LevelMapping((Loop(2, 2),), (), ()), LevelMapping((Loop(0, 3),), (), ())
    priced = price_batch(arch, problem, [LoopMapping((*inside, outside, LevelMapping((Loop(1, 2),), (), ())))])
    assert priced.valid[0]
    search = _search(arch, problem, "imperfect")
    spread, kept = ((1, 1, 1), (1, 1, 1), (2, 1, 1), (1, 1, 1)), ((1, 1, 1), (1, 1, 0), (1, 1, 0), (1, 1, 0))
    bound = search.estimates.by_tables(spread, kept, 0.0, inf)
    assert 0.99 * priced.energy_pj[0] < bound <= priced.energy_pj[0] * (1 + 1e-9)


def test_cells_of_imperfect_tiles_end_where_one_memory_alone_is_full() -> None:
    """A bound by cells of any tiles up to 62451 is 2.7 % lower, and far below the best mapping, of 7.739e21."""
    tensors = (
        Tensor("A", ((1, 0, 0), (0, 1, 0))),
        Tensor("B", ((1, 0, 0), (0, 0, 1))),
        Tensor("C", ((0, 0, 1), (0, 1, 0))),
        Tensor("Z", ((1, 0, 0), (0, 1, 0)), is_output=True),
    )
    problem, arch = Problem("sddmm", ("i", "j", "k"), (62451, 62451, 512), tensors), find_architecture("simba_like")
    alone = (1, 1, 1)
    spread = alone, (1, 16, 4), alone, alone, (1, 1, 16), alone
    kept = tuple(tuple(int(level in levels) for level in range(5)) for levels in ((4,), (2,), (0, 2), (4,)))
    request = Request(space=Space(bypass=True, split_axes=True, factors="imperfect"))
    estimates = Search(arch, problem, request, bounds_of(arch, problem)).estimates
    assert 7.7e21 < estimates.by_tables(spread, kept, 0.0, inf) <= 7.7391e21


@pytest.mark.parametrize("words", [6, 7, 8])
def test_tiles_that_are_cut_off_at_the_bound_need_no_more_room(words: int) -> None:
    """Two tiles of 4 are 7 results: where these fit in L1, one pass over B is enough."""
    tensors = Tensor("A", ((1, 0), (0, 1))), Tensor("B", ((0, 1),)), Tensor("Z", ((1, 0),), is_output=True)
    problem = Problem("matrix_vector", ("m", "k"), (7, 3), tensors)
    levels = (
        Level("L0", 1, 4, 4, 1, 1.0, holds=("A",)),
        Level("L1", words, 1, 1, 1, 2.0, holds=("Z",)),
        Level("L2", 2, 1, 1, 1, 4.0, holds=("B",)),
        Level("D", None, 1, 1, 1, 100.0),
    )
    arch = Architecture("cut_off", levels, "MAC", 4, 4, 1.0, operands=("Z", "A", "B"))
    space = Space(bypass=False, split_axes=False, factors="imperfect")
    assert verdict_of_each(arch, problem, Request("energy", space=space), 20_000) == "proven"
