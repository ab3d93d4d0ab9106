"""What mappings mean for blocks of threads."""

from collections.abc import Mapping
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.costs.hierarchy import LevelMapping, Loop, LoopMapping, architecture_of
from tilewright.costs.hierarchy.statement import problem_of_statement
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.frontends.einsum import parse_einsum
from tilewright.passes.nest_to_gpu.plan import Plan
from tilewright.passes.nest_to_gpu.planning import plan_of

GEMM = "O[m,n] += A[m,k] * B[k,n]; m=12 n=20 k=9"


def plan(text: str, mapping: LoopMapping, shapes: Mapping[str, tuple[int, ...]]) -> Plan:
    statement, extents = parse_einsum(text)
    problem = problem_of_statement(statement, extents)
    arch = architecture_of(load_target("gpu_k80"))
    return plan_of(statement, problem, arch, mapping, shapes, dict.fromkeys(shapes, "f32"), {})


def level(*temporal: tuple[int, int], x: tuple[tuple[int, int], ...] = (), bypass: str = "") -> LevelMapping:
    """Loops (dim, bound) from inner to outer, in time and along columns."""
    return LevelMapping(tuple(Loop(*t) for t in temporal), tuple(Loop(*s) for s in x), (), frozenset(bypass))


def covered(found: Plan) -> dict[str, list[int]]:
    """Every index that the loops of a dim reach, sorted."""
    loops = (*found.grid, *found.serial, *found.inner, *found.threads, *found.points)
    reached = {dim: [0] for dim in found.bounds}
    for loop in loops:
        reached[loop.dim] = [at + i * loop.stride for at in reached[loop.dim] for i in range(loop.bound)]
    return {dim: sorted(values) for dim, values in reached.items()}


SHAPES = {"A": (12, 9), "B": (9, 20), "O": (12, 20)}


def test_loops_run_where_their_memory_says():
    mapping = LoopMapping(
        (level((2, 2), (0, 3)), level((2, 5), x=((1, 4), (0, 2)), bypass="O"), level((1, 5), x=((0, 2),)))
    )
    found = plan(GEMM, mapping, SHAPES)
    assert (found.blocks, found.block_size) == (10, 8)
    assert [(loop.dim, loop.bound) for loop in found.inner] == [("k", 5)]
    assert found.serial == ()
    assert found.shared_elements == {"A": 6 * 10, "B": 10 * 4}
    assert found.register_elements == {"A": 3 * 2, "B": 2, "O": 3}
    assert found.ragged == {"k"}
    assert found.guarded == ()  # both factors are zero beyond the last k
    assert covered(found) == {"m": list(range(12)), "n": list(range(20)), "k": list(range(10))}
    (row,) = (loop for loop in found.points if loop.dim == "m")
    assert row.stride == 2  # points are dealt out: the two threads of m take turns


def test_tails_of_windows_are_guarded():
    text = "O[p] += I[p+r] * W[r]; p=8 r=3"
    mapping = LoopMapping((level((1, 2)), level((1, 2), x=((0, 4),), bypass="O"), level((0, 2))))
    assert plan(text, mapping, {"I": (10,), "W": (3,), "O": (8,)}).guarded == ("r",)


def test_sums_are_not_spread():
    mapping = LoopMapping((level(), level(x=((2, 9), (1, 20)), bypass="O"), level((0, 12))))
    with pytest.raises(TilewrightError, match="expected sums within a thread, found k spread"):
        plan(GEMM, mapping, SHAPES)


def test_results_that_gather_are_refused():
    mapping = LoopMapping((level(), level(bypass="O"), level((0, 4), (1, 3))))
    with pytest.raises(TilewrightError, match="one dim in each index of the output"):
        plan("O[p+r] += I[p] * W[r]; p=4 r=3", mapping, {"I": (4,), "W": (3,), "O": (6,)})


def test_tensors_whose_indices_take_more_than_32_bits_are_refused():
    rows = 1 << 23
    mapping = LoopMapping((level(), level((2, 256), bypass="O"), level((0, rows), (1, 20))))
    text = f"{GEMM.split(';')[0]}; m={rows} n=20 k=256"
    plan(text, mapping, {"A": (rows, 256), "B": (256, 20), "O": (rows, 20)})
    with pytest.raises(TilewrightError, match=f"at most 2\\^31 elements, found A of {(1 << 31) + 256}"):
        plan(text, mapping, {"A": (rows + 1, 256), "B": (256, 20), "O": (rows, 20)})


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_point_is_visited_once(data: st.DataObject):
    """Whatever the factors, and also where points are dealt out to threads."""
    factor = st.integers(1, 4)
    factors = [[data.draw(factor) for _ in range(3)] for _ in range(5)]
    factors[1][2] = factors[3][2] = 1  # k is not spread
    loops = [tuple((d, n) for d, n in enumerate(row)) for row in factors]
    mapping = LoopMapping((level(*loops[0]), level(*loops[2], x=loops[1], bypass="O"), level(*loops[4], x=loops[3])))
    reach = {dim: prod(row[d] for row in factors) for d, dim in enumerate("mnk")}
    text = f"{GEMM.split(';')[0]}; m={reach['m']} n={reach['n']} k={reach['k']}"
    m, n, k = reach.values()
    found = plan(text, mapping, {"A": (m, k), "B": (k, n), "O": (m, n)})
    assert covered(found) == {dim: list(range(size)) for dim, size in reach.items()}
    assert found.ragged == frozenset()
