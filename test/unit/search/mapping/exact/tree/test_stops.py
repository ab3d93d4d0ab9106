"""A search that stops and goes on proves what one does that never stops."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.exact.tree.leaves import LEAVES
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Request, Space
from tilewright.zoo.mapping_layers.tables import ConvShape, convolution

from ..enumerate import random_machine, random_problem

NEVER = 1e300


def test_many_stops_prove_the_same(monkeypatch: pytest.MonkeyPatch):
    settled = 0
    for seed in range(12):
        random = Random(seed)
        problem, arch = random_problem(random), random_machine(random)
        arch = replace(arch, levels=tuple(replace(level, hop_energy_pj=0.0) for level in arch.levels))
        request = Request(space=Space(factors="perfect"))
        whole = Search(arch, problem, request, bounds_of(arch, problem))
        whole.run(NEVER)
        stopped = Search(arch, problem, request, bounds_of(arch, problem))
        with monkeypatch.context() as hasty:
            hasty.setattr(stopped, "late", lambda random=random: random.random() < 0.5)
            hasty.setattr(stopped.settling, "late", lambda random=random: random.random() < 0.05)
            stops = 0
            while not stopped.run(NEVER):
                stops += 1
        assert (stopped.best.value, stopped.low) == pytest.approx((whole.best.value, whole.low)), seed
        settled += stops > 0
    assert settled > 6


def test_leaves_are_left_when_it_is_late(monkeypatch: pytest.MonkeyPatch):
    """What is priced after the clock has run out is at most what was looked at together, however many orders wait."""
    shape = ConvShape(1, 8, 8, 8, 8, 3, 3)
    arch, problem = find_architecture("tiny"), convolution("conv", shape)
    search = Search(arch, problem, Request(), bounds_of(arch, problem))
    settling = search.settling
    for asked in (search, settling):
        monkeypatch.setattr(asked, "late", lambda: settling.evaluated >= 3 * LEAVES)
    assert not search.run(NEVER)
    assert settling.evaluated < 5 * LEAVES
    assert search.low <= search.best.value


def test_while_the_best_is_near_the_bound_a_search_goes_on():
    random = Random(3)
    problem, arch = random_problem(random), random_machine(random)
    search = Search(arch, problem, Request(space=Space(factors="perfect")), bounds_of(arch, problem))
    search.best.value = 1e200
    assert not search.run(0.0)
    assert not search.run(0.0, near=1e300, last=0.0)
    assert not search.run(0.0, near=0.5)
    assert search.run(0.0, near=1e300)
    assert search.low == pytest.approx(search.best.value)
