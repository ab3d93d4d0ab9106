"""Guesses of prices: exact where factors are perfect and nothing slides, near elsewhere, and of the same mappings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.costs.exact import price_batch
from tilewright.costs.hierarchy import Architecture, Level, MappingBatch, Problem, Tensor
from tilewright.search.mapping.draw import Sampler
from tilewright.search.mapping.pricing import Pricer
from tilewright.search.mapping.refine import Guess
from tilewright.search.mapping.refine.anneal import Annealer
from tilewright.search.mapping.refine.guess import GuessPricer
from tilewright.search.mapping.values import Objective, Request, Space

PERFECT = Space(bypass=True, split_axes=True)


def machine(bandwidth: float | None = None) -> Architecture:
    levels = (
        Level("L1", 24, 4, 2, 1, 1.0, read_bandwidth=bandwidth),
        Level("L2", 90, 1, 1, 1, 6.0, write_bandwidth=bandwidth),
        Level("DRAM", None, 1, 1, 1, 60.0, read_bandwidth=bandwidth),
    )
    return Architecture("small", levels, "MAC", 4, 2, 0.5)


def gemm(m: int = 8, n: int = 6, k: int = 12) -> Problem:
    tensors = (
        Tensor("A", ((1, 0, 0), (0, 0, 1))),
        Tensor("B", ((0, 0, 1), (0, 1, 0))),
        Tensor("C", ((1, 0, 0), (0, 1, 0)), is_output=True),
    )
    return Problem("gemm", ("M", "N", "K"), (m, n, k), tensors)


def conv() -> Problem:
    tensors = (
        Tensor("I", ((1, 1, 0),)),
        Tensor("W", ((0, 1, 0), (0, 0, 1))),
        Tensor("O", ((1, 0, 0), (0, 0, 1)), is_output=True),
    )
    return Problem("conv", ("P", "R", "K"), (16, 3, 8), tensors)


def drawn(problem: Problem, space: Space = PERFECT) -> MappingBatch:
    return Sampler(machine(), problem, space, 1).draw(400)


@pytest.mark.parametrize("objective", ["edp", "energy", "latency"])
def test_a_product_of_matrices_is_guessed_exactly(objective: Objective):
    batch = drawn(gemm())
    prices = price_batch(machine(), gemm(), batch)
    guessed = Guess(machine(), gemm(), objective).values(batch)
    assert (np.isfinite(guessed) == prices.valid).all()
    assert prices.valid.any()
    cycles = prices.cycles[prices.valid].astype(float)
    values = {"edp": prices.energy_pj[prices.valid] * cycles, "energy": prices.energy_pj[prices.valid]}
    assert guessed[prices.valid] == pytest.approx(values.get(objective, cycles), rel=1e-9)


def test_ports_are_guessed_but_for_filling_and_draining():
    batch = drawn(gemm())
    prices = price_batch(machine(0.5), gemm(), batch)
    guessed = Guess(machine(0.5), gemm(), "latency").values(batch)
    slower = guessed > Guess(machine(), gemm(), "latency").values(batch)
    assert slower[prices.valid].any()
    ratio = guessed[prices.valid] / prices.cycles[prices.valid]
    assert 0.5 < ratio.min() <= ratio.max() <= 1


def test_windows_are_guessed_nearly():
    batch = drawn(conv())
    prices = price_batch(machine(), conv(), batch)
    guessed = Guess(machine(), conv(), "energy").values(batch)
    assert (np.isfinite(guessed) == prices.valid).all()
    ratio = guessed[prices.valid] / prices.energy_pj[prices.valid]
    assert 0.7 < ratio.min() <= ratio.max() < 1.4
    assert abs(np.median(ratio) - 1) < 0.02


def test_steps_stay_in_the_space():
    problem, batch = gemm(), drawn(gemm())
    guess = Guess(machine(), problem, "edp")
    start = batch.part(np.isfinite(guess.values(batch))).part(slice(0, 1))
    around = Annealer(machine(), problem, Request(space=PERFECT), guess).around(start, 2000)
    factors = (around.temporal * around.spatial_x * around.spatial_y).prod(axis=1)
    assert len(around) > 40
    assert (factors == problem.bounds).all()
    assert (np.sort(around.order, axis=2) == np.arange(3)).all()
    one_axis = Request(space=replace(PERFECT, split_axes=False))
    around = Annealer(machine(), problem, one_axis, guess).around(start, 2000)
    assert not ((around.spatial_x > 1) & (around.spatial_y > 1)).any()


@pytest.mark.parametrize("space", [PERFECT, Space(), Space(bypass=True, factors="imperfect")])
def test_annealing_ends_at_the_best_that_it_saw_inside_the_space(space: Space):
    problem, request = gemm(), Request(space=space)
    guess = Guess(machine(), problem, "edp")
    batch = drawn(problem, space)
    row = int(np.flatnonzero(np.isfinite(guess.values(batch)))[0])
    start = batch.part(slice(row, row + 1))
    found = Annealer(machine(), problem, request, guess).run(start, 3000, 0.3, 0.003)
    assert guess.values(found)[0] < guess.values(start)[0]
    prices = price_batch(machine(), problem, found)
    assert prices.valid.all()
    covered = (found.temporal * found.spatial_x * found.spatial_y).prod(axis=1)
    assert (covered >= problem.bounds).all()
    if space.factors == "perfect":
        assert (covered == problem.bounds).all()
    if not space.bypass:
        assert found.kept.all()
    if not space.split_axes:
        assert not ((found.spatial_x > 1) & (found.spatial_y > 1)).any()
    again = Annealer(machine(), problem, request, guess).run(start, 3000, 0.3, 0.003)
    assert (again.temporal == found.temporal).all()


def test_a_pricer_that_guesses_prices_also_what_does_not_fit():
    batch, request = drawn(gemm()), Request(space=PERFECT)
    guess = Guess(machine(), gemm(), "edp")
    guessed = GuessPricer(guess, machine(), gemm(), request).prices(batch)
    exact = Pricer(machine(), gemm(), request).prices(batch)
    assert (guessed.valid == exact.valid).all()
    assert not exact.valid.all()
    assert np.isfinite(guessed.energy_pj).all()
    assert guessed.energy_pj[exact.valid] == pytest.approx(exact.energy_pj[exact.valid])
