"""Covenant's algorithm 1: enumeration and Z3 find the same tilings; cost chooses better than the first valid one."""

import random

import pytest

from tilewright import load_target
from tilewright.algebra.factors import divisors_of
from tilewright.costs.mapping.binding import Pricer
from tilewright.dialects import nest
from tilewright.driver import load_model, make_context, parse_passes
from tilewright.errors import TilewrightError
from tilewright.passes.nest.trees import group_of
from tilewright.search.group_tiles.tiling import tile_group

from .covenant_tilings import Move, TilingProblem, tiling_problem, valid_tilings, valid_tilings_by_z3

FIGURE_8 = TilingProblem((("n", 12),), tuple(Move(("n",), 16, 32, "MEM2") for _ in range(3)), {"MEM2": 3 * 16 * 6})


def group(kernel: str):
    module = load_model(kernel)
    parse_passes("graph-normalize,convert-graph-to-nest").apply(make_context(), module)
    (op,) = [inner for inner in module.walk() if isinstance(inner, nest.GroupOp)]
    return group_of(op)


def random_problem(seed: int) -> TilingProblem:
    rng = random.Random(seed)
    loops = tuple((name, rng.choice([4, 6, 8, 12, 15])) for name in "mnk"[: rng.randint(1, 3)])
    names = [name for name, _ in loops]
    moves = tuple(
        Move(
            tuple(sorted(rng.sample(names, rng.randint(1, len(names))))),
            rng.choice([8, 16, 32]),
            rng.choice([8, 32, 64]),
            m,
        )
        for m in rng.choices(["A", "B"], k=rng.randint(1, 4))
    )
    return TilingProblem(loops, moves, {"A": rng.choice([256, 1024, 4096]), "B": 2048})


def test_figure_8_has_the_tiling_of_the_paper():
    """Two bytes an element, pairs are addressed, six elements of three tensors fit: steps of 6 and 2 (and 4)."""
    assert list(valid_tilings(FIGURE_8)) == [(6,), (4,), (2,)]


@pytest.mark.parametrize("seed", range(12))
def test_enumeration_and_z3_agree(seed: int):
    problem = random_problem(seed)
    assert set(valid_tilings(problem)) == valid_tilings_by_z3(problem)


def test_every_kind_of_answer_occurs():
    counts = [len(set(valid_tilings(random_problem(seed)))) for seed in range(12)]
    assert 0 in counts
    assert max(counts) > 10


def test_a_kernel_on_a_target():
    problem = tiling_problem(group("O[m,n] += A[m,k] * B[k,n]; m=24 n=16 k=40"), load_target("tiny"))
    found = set(valid_tilings(problem))
    assert found
    assert found == valid_tilings_by_z3(problem)
    bits = problem.moves[0].element_bits
    largest = max(a * b * bits for a, b, _ in found)
    assert largest <= 8 * 1024


def test_the_tile_is_chosen_by_cost_and_need_not_divide():
    """Of 61 x 67 sums, whose factors are 1 and all, the first valid tiling moves twice what the chosen one does."""
    chosen = group("O[m,n] += A[m,k] * B[k,n]; m=61 n=67 k=64")
    tiling = tile_group(chosen, Pricer(load_target("tiny")))
    problem = tiling_problem(chosen, load_target("tiny"))
    extents = dict(problem.loops)
    step = dict(zip(extents, next(iter(valid_tilings(problem))), strict=True))
    loads = 61 * 64 * (67 // step["n"]) + 64 * 67 * (61 // step["m"])
    assert 2 * tiling.dram_bytes < 4 * (loads + 61 * 67)
    assert any(1 < size < extents[dim] and extents[dim] % size for dim, size in tiling.loops)


def test_bounds():
    assert divisors_of(36) == (1, 2, 3, 4, 6, 9, 12, 18, 36)
    wide = TilingProblem(tuple((f"d{i}", 5040) for i in range(4)), (), {})
    with pytest.raises(TilewrightError, match="combinations of factors"):
        next(valid_tilings(wide))
