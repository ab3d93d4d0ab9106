"""Divisors of a number, and chains of them."""

from __future__ import annotations

from tilewright.algebra.factors import chains_of, divisors_of


def test_chains_are_of_divisors_that_divide_the_next():
    assert divisors_of(12) == (1, 2, 3, 4, 6, 12)
    assert sorted(chains_of(8, 100)) == [(1, 1, 1), (1, 2, 3), (1, 4, 5), (1, 4, 7), (2, 2, 2), (2, 4, 6), (4, 4, 4)]
    assert chains_of(1, 100) == ()
    assert (1, 6, 9) in chains_of(12, 100)  # 1, 2, 6


def test_too_many_chains_are_none():
    assert len(chains_of(8, 7)) == 7
    assert chains_of(8, 6) == ()
