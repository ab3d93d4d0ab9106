"""Measuring ranked candidates ends where the best is near the floor, where estimates say so, and with the effort."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.costs.clock import Limit
from tilewright.search.tiles.choice import MOST, MOST_ASKED, SLACK, Effort

RANKED = [(100.0 + n, n) for n in range(40)]


def test_the_best_is_found_where_estimates_are_close() -> None:
    for seed in range(50):
        random = np.random.default_rng(seed)
        figures = random.uniform(100, 200, 20)
        estimates = figures * random.uniform(1 - SLACK / 2, 1 + SLACK / 2, 20)
        ranked = sorted((float(estimate), n) for n, estimate in enumerate(estimates))
        found = Effort().measured(ranked[:MOST], lambda n, figures=figures: float(figures[n]), 0.0)
        assert min(found)[0] == figures.min()


@pytest.mark.parametrize(("gap", "most"), [(None, MOST), (0.0, MOST_ASKED)])
def test_no_more_are_measured_than_the_effort_allows(gap: float | None, most: int) -> None:
    assert len(Effort(gap).measured(RANKED, lambda n: 200.0 - n, 0.0)) == most


def test_it_ends_near_the_floor() -> None:
    found = Effort(0.1).measured(RANKED, lambda n: 130.0 - 10 * n, 100.0)
    assert found == [(130.0, 0), (120.0, 1), (110.0, 2)]


def test_what_is_estimated_far_above_the_best_is_not_measured() -> None:
    ranked = [(100.0, "a"), (101.0, "b"), (103.0, "c")]
    assert Effort().measured(ranked, lambda _: 100.0, 0.0) == [(100.0, "a"), (100.0, "b")]
    assert len(Effort(0.0).measured(ranked, lambda _: 100.0, 0.0)) == 3


def test_one_is_measured_when_the_time_is_over() -> None:
    assert Effort(0.0, Limit(0)).measured(RANKED, lambda n: None if n < 2 else 100.0, 0.0) == [(100.0, 2)]
