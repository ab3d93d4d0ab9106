"""Sunstone: its orders, tiles and spreads against the paper and brute force; its mappings against whole spaces."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from math import prod

import numpy as np
import pytest

from tilewright.algebra.factors import divisors_of
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.costs.timeloop import evaluate, price_batch
from tilewright.errors import InfeasibleError
from tilewright.search.mapping.room import Room
from tilewright.search.mapping.sunstone import orders_of, reuse_of, solve
from tilewright.search.mapping.sunstone.choices import maximal, maximal_with_fill, stages_of
from tilewright.search.mapping.sunstone.orders import allowed_dims, spreads
from tilewright.search.mapping.values import Objective, Request, Space
from tilewright.zoo.mapping_layers import layer

WHOLE = Request("edp", "timeloop", Space(split_axes=True))


def conv1d(p: int = 14, k: int = 4, c: int = 4, r: int = 3) -> Problem:
    """The paper's example: dimensions K, P, C, R."""
    tensors = (
        Tensor("I", ((0, 1, 0, 1), (0, 0, 1, 0))),
        Tensor("W", ((1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))),
        Tensor("O", ((1, 0, 0, 0), (0, 1, 0, 0)), is_output=True),
    )
    return Problem("conv1d", ("K", "P", "C", "R"), (k, p, c, r), tensors)


def names(problem: Problem, dims: frozenset[int] | tuple[int, ...]) -> str:
    return "".join(problem.dims[d] for d in dims)


def test_reuse_is_that_of_table_iii():
    problem = conv1d()
    reuse = reuse_of(problem)
    assert ["".join(sorted(names(problem, dims))) for dims in reuse.full] == ["K", "P", "CR"]
    assert ["".join(sorted(names(problem, dims))) for dims in reuse.sliding] == ["PR", "", ""]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("resnet18:conv2_1", 8),
        ("mttkrp:nell2", 7),
        ("sddmm:cant", 3),
        ("ttmc:nell2", 10),
        ("mmc:attention512", 8),
        ("tcl:vgg", 36),
    ],
)
def test_as_many_orders_as_in_the_paper(name: str, count: int):
    batch = 16 if name.startswith("resnet") else 1
    assert len(orders_of(reuse_of(layer(name, batch)))) == count


def test_orders_of_a_convolution():
    problem = layer("resnet18:conv2_1", 16)
    found = [names(problem, order.dims) for order in orders_of(reuse_of(problem))]
    assert sorted(order[0] + "".join(sorted(order[1:])) for order in found) == sorted(
        ["KP", "KQ", "KR", "KS", "PNQ", "QNP", "RCS", "SCR"]
    )


def test_orders_of_figure_4():
    """C innermost is pruned, as R before C reuses the same and the input; K, C adds nothing to K."""
    problem = conv1d()
    assert {names(problem, order.dims) for order in orders_of(reuse_of(problem))} == {"RC", "P", "KP", "KR"}


def test_a_problem_without_reuse_has_one_order():
    copy = Problem("copy", ("I",), (4,), (Tensor("A", ((1,),)), Tensor("Z", ((1,),), is_output=True)))
    assert [order.dims for order in orders_of(reuse_of(copy))] == [()]
    assert solve(machine(), copy, WHOLE).mapping.tiles(1)[-1][1] == (4,)


def test_tiles_of_figure_5():
    """A memory of eight words, grown along P and K only."""
    problem = conv1d()

    def fits(tiles: np.ndarray) -> np.ndarray:
        sizes = [[prod(t.extents(tuple(tile))) for t in problem.tensors] for tile in tiles.tolist()]
        return np.array([sum(size) <= 8 for size in sizes])

    assert maximal(problem.bounds, [0, 1], fits).tolist() == [[2, 2, 1, 1]]


@pytest.mark.parametrize("bounds", [(12, 6, 5), (16, 9, 1), (7, 4, 30)])
@pytest.mark.parametrize("limit", [1, 10, 40, 10_000])
def test_tiles_are_all_that_cannot_grow(bounds: tuple[int, ...], limit: int):
    def fits(tiles: np.ndarray) -> np.ndarray:
        return tiles[:, 0] * tiles[:, 1] + tiles[:, 2] * tiles[:, 1] + tiles[:, 0] - 3 < limit

    every = {f for f in product(*map(divisors_of, bounds)) if fits(np.array([f]))[0]}

    def grows(tile: tuple[int, ...], dims: tuple[int, ...]) -> bool:
        after = {d: [f for f in divisors_of(bounds[d]) if f > tile[d]] for d in dims}
        return any(fs and (*tile[:d], fs[0], *tile[d + 1 :]) in every for d, fs in after.items())

    assert set(map(tuple, maximal(bounds, [0, 1, 2], fits).tolist())) == {t for t in every if not grows(t, (0, 1, 2))}
    along = set(map(tuple, maximal(bounds, [0, 1], fits).tolist()))
    assert along == {t for t in every if t[2] == 1 and not grows(t, (0, 1))}
    for tile in map(tuple, maximal_with_fill(bounds, [0, 1], [2], fits).tolist()):
        assert (*tile[:2], 1) in along
        assert not grows(tile, (2,))


def test_dimensions_to_unroll_are_those_of_the_paper():
    problem = layer("resnet18:conv2_1", 16)
    reuse = reuse_of(problem)
    found = [set(names(problem, allowed_dims(reuse, t))) for t in range(3)]
    assert found == [set("CRSPQN"), set("CRSK"), set("KPQN")]


def test_spreads_fill_the_array_if_they_can():
    found = spreads((8, 6, 9), [0, 1], [0, 1, 2], (4, 3), split=True)
    assert {prod(x) * prod(y) for x, y in found} == {12}
    assert all(x[2] == y[2] == 1 for x, y in found)
    assert len({tuple(np.multiply(x, y)) for x, y in found}) == len(found) == 2


def test_spreads_use_other_dimensions_where_the_allowed_ones_leave_instances_idle():
    found = spreads((7, 1, 16), [0], [0, 1, 2], (8, 2), split=True)
    assert max(prod(x) * prod(y) for x, y in found) == 16
    assert ((7, 1, 1), (1, 1, 1)) in found
    alone = spreads((7, 1, 13), [0], [0, 1, 2], (8, 2), split=True)
    assert max(prod(x) * prod(y) for x, y in alone) == 7


def test_a_dimension_is_split_over_both_axes_only_where_allowed():
    assert spreads((4, 1), [0], [0, 1], (2, 2), split=True) == [((2, 1), (2, 1))]
    assert {prod(x) * prod(y) for x, y in spreads((4, 1), [0], [0, 1], (2, 2), split=False)} == {2}


def machine(inner: int = 8, middle: int | None = 24, shape: tuple[int, int] = (2, 2)) -> Architecture:
    count = shape[0] * shape[1]
    levels = [Level("L1", inner, count, shape[0], 1, 1.0), Level("DRAM", None, 1, 1, 1, 60.0, read_bandwidth=2.0)]
    if middle is not None:
        levels.insert(1, Level("L2", middle, 1, 1, 1, 6.0))
    return Architecture("small", tuple(levels), "MAC", count, shape[0], 0.5)


def small_conv() -> Problem:
    tensors = (
        Tensor("I", ((1, 1, 0),)),
        Tensor("W", ((0, 1, 0), (0, 0, 1))),
        Tensor("O", ((1, 0, 0), (0, 0, 1)), is_output=True),
    )
    return Problem("conv", ("P", "R", "K"), (4, 3, 2), tensors)


def small_gemm() -> Problem:
    tensors = (
        Tensor("A", ((1, 0, 0), (0, 1, 0))),
        Tensor("B", ((0, 1, 0), (0, 0, 1))),
        Tensor("Z", ((1, 0, 0), (0, 0, 1)), is_output=True),
    )
    return Problem("gemm", ("M", "K", "N"), (4, 2, 3), tensors)


def loops(factors: tuple[int, ...]) -> list[tuple[Loop, ...]]:
    return list(permutations([Loop(d, f) for d, f in enumerate(factors) if f > 1]))


def every_mapping(problem: Problem) -> Iterator[LoopMapping]:
    """Temporal loops of L1 (in one order), columns and rows above it, temporal loops of L2 and DRAM."""
    splits = [[f for f in product(divisors_of(b), repeat=5) if prod(f) == b] for b in problem.bounds]
    for factors in product(*splits):
        inner, columns, rows, middle, outer = zip(*factors, strict=True)
        if prod(columns) > 2 or prod(rows) > 2:
            continue
        for m, o in product(loops(middle), loops(outer)):
            level = LevelMapping(m, loops(columns)[0], loops(rows)[0])
            yield LoopMapping((LevelMapping(loops(inner)[0]), level, LevelMapping(o)))


@pytest.mark.parametrize("problem", [small_conv(), small_gemm()], ids=lambda problem: problem.name)
@pytest.mark.parametrize("objective", ["edp", "energy"])
def test_mappings_are_close_to_the_best_of_the_whole_space(problem: Problem, objective: Objective):
    prices = price_batch(machine(), problem, list(every_mapping(problem)))
    best = float({"edp": prices.edp_j_cycle, "energy": prices.energy_pj}[objective][prices.valid].min())
    found = solve(machine(), problem, Request(objective, "timeloop", Space(split_axes=True)))
    value = {"edp": found.edp, "energy": found.energy}[objective]
    assert best * (1 - 1e-9) <= value <= best * 1.25
    price = evaluate(machine(), problem, found.mapping)
    assert price.valid
    assert (price.energy_pj, price.cycles) == (pytest.approx(found.energy), found.cycles)


def test_stages_join_memories_that_keep_different_tensors():
    levels = (
        Level("R", 1, 8, 4, 1, 0.1, holds=("W",)),
        Level("Sums", 16, 4, 2, 1, 1.0, holds=("O",)),
        Level("Weights", 64, 4, 2, 1, 1.0, holds=("W",)),
        Level("Inputs", 16, 4, 2, 1, 1.0, holds=("I",)),
        Level("L2", 256, 1, 1, 1, 6.0, holds=("I", "O")),
        Level("DRAM", None, 1, 1, 1, 60.0),
    )
    arch = Architecture("deep", levels, "MAC", 8, 4, 0.5)
    problem = small_conv()
    stages = stages_of(arch, Room(arch, problem, "timeloop", Space()))
    assert [stage.levels for stage in stages] == [(0,), (1, 2, 3), (4,), (5,)]
    assert [stage.array for stage in stages] == [(1, 1), (2, 1), (2, 2), (1, 1)]
    found = solve(arch, problem, WHOLE)
    price = evaluate(arch, problem, found.mapping)
    assert price.valid
    assert prod(loop.bound for level in found.mapping.levels for loop in level.spatial) == 8


def test_an_array_of_multipliers_below_the_innermost_memory_is_used():
    levels = Level("L1", 64, 1, 1, 1, 1.0), Level("DRAM", None, 1, 1, 1, 60.0)
    arch = Architecture("lanes", levels, "MAC", 4, 2, 0.5)
    found = solve(arch, small_conv(), WHOLE)
    assert evaluate(arch, small_conv(), found.mapping).valid
    assert prod(loop.bound for loop in found.mapping.levels[0].spatial) == 4


def test_primes_leave_instances_idle():
    problem = Problem("gemm", small_gemm().dims, (13, 61, 2), small_gemm().tensors)
    found = solve(machine(64, 256, (4, 2)), problem, WHOLE)
    assert evaluate(machine(64, 256, (4, 2)), problem, found.mapping).valid
    assert prod(loop.bound for loop in found.mapping.levels[1].spatial) == 2


def test_the_exact_model_is_searched_too():
    found = solve(machine(), small_conv(), Request("edp", "exact", Space(split_axes=True)))
    assert found.edp == pytest.approx(found.energy * 1e-12 * found.cycles)
    assert evaluate(machine(), small_conv(), found.mapping).valid


def test_where_nothing_fits_the_memory_is_named():
    with pytest.raises(InfeasibleError, match="L1") as error:
        solve(machine(2), small_conv(), WHOLE)
    assert (error.value.demand, error.value.bound) == (3, 2)
