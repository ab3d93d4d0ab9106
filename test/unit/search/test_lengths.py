"""The best of many lengths by few tries."""

from collections.abc import Callable
from itertools import product

import pytest

from tilewright.search.lengths import NEAR, least_beside, least_price


def valley(least: int, left: float, right: float) -> Callable[[int], float]:
    return lambda length: left * (least - length) if length < least else right * (length - least)


@pytest.mark.parametrize("high", [2, 3, 5, 9, 40, 100])
def test_the_least_price_is_found_where_prices_fall_and_then_rise(high: int):
    for least in range(2, high + 1):
        for slopes, first in product(((1, 1), (1, 5), (5, 1)), sorted({2, min(8, high), high})):
            tried: list[int] = []
            price = valley(least, *slopes)

            def asked(length: int, price: Callable[[int], float] = price, tried: list[int] = tried) -> float:
                tried.append(length)
                return price(length)

            found = least_price(asked, 2, first, high)
            assert abs(found - least) <= max(0, NEAR * found)
            assert len(tried) == len(set(tried)) <= 18
            assert all(2 <= length <= high for length in tried)


def test_of_equal_prices_the_shortest_is_taken():
    assert least_price(lambda length: 1.0, 2, 8, 50) == 2


def test_nothing_else_is_tried_where_there_is_one_length():
    tried: list[int] = []
    assert least_price(lambda length: tried.append(length) or 0.0, 2, 2, 2) == 2
    assert tried == [2]


def test_a_worse_length_between_two_good_ones_does_not_end_the_search_above():
    prices = {2: 5.0, 4: 9.0, 8: 8.0, 16: 4.0, 32: 1.0, 64: 3.0}
    assert least_price(lambda length: prices.get(length, 10.0), 2, 16, 64) == 32


@pytest.mark.parametrize(
    ("least", "first", "more"),
    [(36, (2, 5, 13, 21, 27), [35, 43]), (20, (2, 5, 13, 21), [27]), (30, (2, 27), [35, 21])],
)
def test_neighbours_of_the_best_are_tried_while_they_are_better(least: int, first: tuple[int, ...], more: list[int]):
    asked: list[int] = []

    def price(length: int) -> float:
        asked.append(length)
        return abs(length - least)

    found = least_beside(price, [2, 5, 13, 21, 27, 35, 43, 51], first)
    assert found == min(asked, key=lambda length: abs(length - least))
    assert asked == [*first, *more]
