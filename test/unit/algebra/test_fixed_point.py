"""Factors as integers and shifts."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.algebra.fixed_point import MAX_SHIFT, common_shift, multiplier_and_shift


@given(st.floats(2.0**-31, 2.0**30))
def test_nearest_of_31_bits(ratio: float):
    pair = multiplier_and_shift(ratio)
    assert pair is not None
    multiplier, shift = pair
    assert 2**30 <= multiplier < 2**31
    assert 0 <= shift <= MAX_SHIFT
    assert abs(Fraction(multiplier, 2**shift) - Fraction(ratio)) <= Fraction(1, 2 ** (shift + 1)) * 2


@pytest.mark.parametrize(
    ("ratio", "pair"),
    [
        (1.0, (2**30, 30)),
        (0.125, (2**30, 33)),
        (0.75, (3 * 2**29, 31)),
        (1 - 2.0**-40, (2**30, 30)),
        (2.0**-40, (2**22, 62)),
        (1e-30, (0, 62)),
    ],
)
def test_by_hand(ratio: float, pair: tuple[int, int]):
    assert multiplier_and_shift(ratio) == pair


@pytest.mark.parametrize("ratio", [0.0, -1.0, float("inf"), float("nan"), 2.0**31])
def test_what_cannot_be_expressed(ratio: float):
    assert multiplier_and_shift(ratio) is None


@given(st.floats(1e-6, 1e3), st.floats(1e-6, 1e3))
def test_common_shift_is_near(a: float, b: float):
    found = common_shift((a, -b), 20)
    assert found is not None
    (ma, mb), shift = found
    assert 2**19 <= max(ma, -mb) <= 2**20
    assert abs(ma / 2**shift - a) <= max(a, b) * 2.0**-19
    assert abs(mb / 2**shift + b) <= max(a, b) * 2.0**-19


@pytest.mark.parametrize("ratios", [(0.0, 0.0), (float("inf"), 1.0), (2.0**25, 1.0)])
def test_no_common_shift(ratios: tuple[float, ...]):
    assert common_shift(ratios, 20) is None
