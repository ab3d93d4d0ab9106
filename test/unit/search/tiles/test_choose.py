"""Tiles against exhaustive enumeration, and traffic against a walk over the tiles."""

from collections.abc import Mapping
from itertools import permutations, product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import InfeasibleError
from tilewright.search.tiles import Buffers, Loop, SumProblem, Tiling, choose
from tilewright.search.tiles.choice import LOOPS, Block, block_traffic, blocks_of, price, sizes, steps, vector_tiles

PROBLEMS = st.builds(
    SumProblem,
    st.integers(1, 2),
    st.integers(1, 5),
    st.builds(Loop, st.integers(1, 6), st.integers(1, 2), st.integers(1, 3)),
    st.builds(Loop, st.integers(1, 6), st.integers(1, 2), st.integers(1, 3)),
    st.integers(1, 4),
    st.just(64),
    st.just(4096),
    st.just(256),
    st.booleans(),
)
ROOMS = st.builds(Buffers, st.integers(9, 80), st.integers(9, 80), st.integers(1, 40), st.just(64.0), st.just(10))


@settings(max_examples=40, deadline=None)
@given(PROBLEMS, ROOMS)
def test_no_tiling_is_better(problem: SumProblem, buffers: Buffers):
    """All sizes that are `ceil(extent / i)` and all orders with the sums innermost."""
    scores: list[float] = []
    sizes_of = [steps(problem.extents[dim]) for dim in LOOPS[1:-1]]
    for n, y, x, k in product(*sizes_of, [k for k in range(1, problem.k + 1) if problem.k % k == 0]):
        tile = {"batch": 1, "n": n, "y": y, "x": x, "k": k}
        rows = sizes(problem, tile)
        rooms = {"input": buffers.input_rows, "weight": buffers.weight_rows, "output": buffers.output_rows}
        if all(rows[name] <= room for name, room in rooms.items()):
            for order in permutations(LOOPS[:-1]):
                cycles, traffic = price(problem, buffers, Tiling(tile, (*order, "k")))
                scores.append(cycles * traffic)
    if not scores:
        with pytest.raises(InfeasibleError):
            choose(problem, buffers)
        return
    choice = choose(problem, buffers)
    assert choice.cycles * choice.dram_bytes == pytest.approx(min(scores))


@settings(max_examples=60, deadline=None)
@given(PROBLEMS, st.permutations(LOOPS[:-1]), st.lists(st.integers(1, 3), min_size=5, max_size=5))
def test_traffic_is_what_a_walk_loads(problem: SumProblem, order: list[str], counts: list[int]):
    loops = (*order, "k")
    tile: dict[str, int] = dict.fromkeys(LOOPS, 1)
    block = Block(dict.fromkeys(LOOPS, 0), tile, dict(zip(LOOPS, counts, strict=True)))
    moved, _, _ = block_traffic(problem, loops, block)
    for name, dims, scale in (("input", ("batch", "y", "x", "k"), 64), ("weight", ("batch", "n", "k"), 4096)):
        deepest = max((i for i, dim in enumerate(loops) if dim in dims and block.count[dim] > 1), default=-1)
        loads = {point[: deepest + 1] for point in product(*(range(block.count[dim]) for dim in loops))}
        assert moved[name] == len(loads) * sizes(problem, tile)[name] * scale


@given(st.integers(1, 300))
def test_steps_are_all_sizes_of_equal_cuts(extent: int):
    assert steps(extent) == sorted({-(-extent // parts) for parts in range(1, extent + 1)}, reverse=True)


@settings(max_examples=40, deadline=None)
@given(PROBLEMS, st.lists(st.integers(1, 6), min_size=5, max_size=5))
def test_blocks_cover_everything_once(problem: SumProblem, tile: list[int]):
    tiling = Tiling(dict(zip(LOOPS, tile, strict=True)), LOOPS)
    seen: list[tuple[int, ...]] = []
    for block in tiling.blocks(problem):
        ranges = [range(block.start[d], block.start[d] + block.tile[d] * block.count[d]) for d in LOOPS]
        seen += product(*ranges)
    assert len(seen) == len(set(seen)) == prod(problem.extents.values())


def test_vector_tiles_fit():
    extents = {"batch": 1, "n": 3, "y": 20, "x": 20}
    window = Loop(20, 2, 3)

    def fits(tile: Mapping[str, int]) -> bool:
        return window.input(tile["y"]) * window.input(tile["x"]) * tile["n"] <= 500

    tile = vector_tiles(extents, window, window, fits)
    assert fits(tile)
    assert sum(prod(b.tile.values()) * prod(b.count.values()) for b in blocks_of(extents, tile, list(tile))) == 1200
    with pytest.raises(InfeasibleError):
        vector_tiles(extents, window, window, lambda _: False)


def test_tiles_of_folds_have_all_columns_and_few_rows():
    tile = vector_tiles({"batch": 1, "n": 3, "y": 20, "x": 20}, Loop(1), Loop(1), lambda _: True, 64)
    assert tile["n"] == 3
    assert 1 < tile["y"] * tile["x"] <= 64
