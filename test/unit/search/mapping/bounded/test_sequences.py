"""Orders that are looked at against all orders."""

from __future__ import annotations

from math import inf
from random import Random

import numpy as np
import pytest

from tilewright.costs.exact import price_batch
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.search.mapping.bounded import solve
from tilewright.search.mapping.bounded.model import Ints, Model, model_of
from tilewright.search.mapping.bounded.orders import Blocks, Order, orders_of
from tilewright.search.mapping.bounded.sequences import Leaf, Sequences
from tilewright.search.mapping.bounded.skeleton import fill, new_skeleton
from tilewright.search.mapping.values import Request, Space

DIMS = "kcpqr"


def convolution(random: Random) -> Problem:
    """`Z[k, p, q] += I[c, 2 p + r, q] W[k, c, r]` with random bounds; windows overlap."""
    bounds = [random.choice([2, 3, 4]) for _ in "kcpq"]
    rows = {name: tuple(tuple(int(d == e) for e in DIMS) for d in dims) for name, dims in (("W", "kcr"), ("Z", "kpq"))}
    sliding = (0, 1, 0, 0, 0), (0, 0, 2, 0, 1), (0, 0, 0, 1, 0)
    tensors = Tensor("I", sliding), Tensor("W", rows["W"]), Tensor("Z", rows["Z"], is_output=True)
    return Problem("conv", tuple(DIMS), (*bounds, random.choice([3, 4])), tensors)


def machine(random: Random) -> Architecture:
    """Three memories with room for all."""
    ports = [(random.choice([None, 1]), random.choice([None, 2])) for _ in range(3)]
    levels = [Level(f"L{n}", None, 1, 1, 1, 4.0**n, reads, writes) for n, (reads, writes) in enumerate(ports)]
    return Architecture("row", tuple(levels), "MAC", 1, 1, 1.0)


def nest(random: Random, problem: Problem) -> tuple[Ints, Blocks]:
    """Random factors, mostly of the outermost memory, and blocks."""
    factors = np.ones((3, len(DIMS)), np.int64)
    for d, bound in enumerate(problem.bounds):
        factors[random.choice([0, 1, 2, 2, 2]), d] = bound
    every = tuple(range(len(DIMS)))
    return factors, [[(False, every)], [(True, every[:2]), (False, every[2:])], [(True, every)]]


def mapping(factors: Ints, order: tuple[Order, ...], kept: Ints) -> LoopMapping:
    """Loops of all memories in this order."""
    levels: list[LevelMapping] = []
    for level, dims in enumerate(order):
        loops = tuple(Loop(d, int(factors[level, d])) for d in dims if factors[level, d] > 1)
        away = frozenset(name for name, keeps in zip("IWZ", kept[level], strict=True) if not keeps)
        levels.append(LevelMapping(loops, bypass=away))
    return LoopMapping(tuple(levels))


def chosen(model: Model, factors: Ints, blocks: Blocks, kept: Ints, most: float = inf) -> list[tuple[Order, ...]]:
    """What is needed of all orders; the leaf's own energy is 0."""
    skeleton = new_skeleton(len(factors), len(DIMS), 3)
    skeleton.kept[:] = kept
    fill(model, skeleton)
    order = np.array(next(orders_of(blocks)), np.int64)
    found = Sequences(model).needed(Leaf(factors, order, blocks, 0.0, 0.0), skeleton, most)
    assert found is not None
    return [tuple(tuple(row) for row in chosen) for chosen in found.tolist()]


@pytest.mark.parametrize("seed", range(6))
def test_orders_that_are_left_out_are_no_better(seed: int):
    random = Random(seed)
    arch, problem = machine(random), convolution(random)
    factors, blocks = nest(random, problem)
    kept = np.array([[random.randrange(2) for _ in "IWZ"], [random.randrange(2) for _ in "IWZ"], [1, 1, 1]])
    model = model_of(arch, problem, Space())[0]
    needed = chosen(model, factors, blocks, kept)
    every = list(orders_of(blocks))
    prices = [price_batch(arch, problem, [mapping(factors, o, kept) for o in some]) for some in (every, needed)]
    assert prices[0].valid.all()
    assert len(needed) < len(every)
    for name in ("energy_pj", "cycles", "edp_j_cycle"):
        all_of_them, some = (getattr(price, name) for price in prices)
        assert some.min() == pytest.approx(all_of_them.min(), rel=1e-12)
    assert {round(e) for e in prices[1].energy_pj} <= {round(e) for e in prices[0].energy_pj}


def test_an_unrelated_loop_inside_a_plain_one_lets_the_window_fall_back():
    random = Random(0)
    model = model_of(machine(random), convolution(random), Space())[0]
    factors = np.ones((2, 5), np.int64)
    factors[1, :3] = 2
    kept = np.array([[1, 0, 0], [1, 1, 1]])
    needed = chosen(model, factors, [[(False, (0, 1, 2, 3, 4))], [(True, (0, 1, 2, 3, 4))]], kept)
    found = {tuple(d for d in order[1] if d < 3) for order in needed}
    # c first; k, c; p, c; k, p, c; and p, k, c.
    assert len(found) == 5
    assert {(2, 0, 1), (2, 1, 0), (0, 2, 1)} <= found


def test_too_many_orders_are_not_looked_at():
    random = Random(0)
    model = model_of(machine(random), convolution(random), Space())[0]
    factors, order = np.full((3, 5), 2, np.int64), np.array([[0, 1, 2, 3, 4]] * 3)
    leaf = Leaf(factors, order, [[(True, (0, 1, 2, 3, 4))]] * 3, 0.0, 0.0)
    assert Sequences(model).needed(leaf, new_skeleton(3, 5, 3), inf) is None


@pytest.mark.parametrize("seed", range(4))
def test_energies_of_tensors_without_windows_are_exact(seed: int):
    random = Random(seed)
    arch, problem = machine(random), convolution(random)
    model = model_of(arch, problem, Space())[0]
    factors, blocks = nest(random, problem)
    kept = np.array([[0, random.randrange(2), 1], [0, 1, random.randrange(2)], [1, 1, 1]])
    every = list(orders_of(blocks))
    price = price_batch(arch, problem, [mapping(factors, o, kept) for o in every])
    gains = price.energy_pj - price.energy_pj[0]
    for limit in sorted(set(np.round(gains, 6).tolist()))[:4]:
        found = chosen(model, factors, blocks, kept, limit + 1e-3)
        again = price_batch(arch, problem, [mapping(factors, o, kept) for o in found]).energy_pj - price.energy_pj[0]
        assert again.max() < limit + 1e-3
        assert again.min() == pytest.approx(gains.min())


def test_least_energy_is_found_without_other_orders(monkeypatch: pytest.MonkeyPatch):
    """Where energy counts, the best order of a mapping's loops settles it."""

    def never(*_: object) -> None:
        raise AssertionError

    small = Level("L0", 12, 1, 1, 1, 1.0), Level("L1", 40, 1, 1, 1, 5.0), Level("L2", None, 1, 1, 1, 60.0, 1, 2)
    arch, request = Architecture("row", small, "MAC", 1, 1, 1.0), Request(space=Space(True, True, "perfect"))
    problems = [convolution(Random(seed)) for seed in range(6)]
    monkeypatch.setattr(Sequences, "needed", never)
    found = [solve(arch, problem, request) for problem in problems]
    assert all(answer.proven for answer in found)
