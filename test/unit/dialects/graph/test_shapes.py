"""Result shapes against NumPy and counting."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.graph import shapes

EXTENTS = st.lists(st.integers(1, 4), max_size=4).map(tuple)


@given(EXTENTS, EXTENTS)
def test_broadcast_is_numpys(a: tuple[int, ...], b: tuple[int, ...]):
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(VerifyException, match="do not broadcast"):
            shapes.broadcast(a, b)
        return
    assert shapes.broadcast(a, b) == expected


@given(EXTENTS, EXTENTS)
def test_matmul_is_numpys(a: tuple[int, ...], b: tuple[int, ...]):
    try:
        expected = np.matmul(np.zeros(a), np.zeros(b)).shape if len(a) > 1 and len(b) > 1 else None
    except ValueError:
        expected = None
    if expected is None:
        with pytest.raises(VerifyException):
            shapes.matmul(a, b)
    else:
        assert shapes.matmul(a, b) == expected


@pytest.mark.parametrize(
    ("extent", "kernel", "stride", "begin", "end", "dilation"),
    list(product((5, 8), (1, 3), (1, 2, 3), (0, 1), (0, 2), (1, 2))),
)
def test_window_counts_the_positions(extent: int, kernel: int, stride: int, begin: int, end: int, dilation: int):
    reach = dilation * (kernel - 1) + 1
    positions = [p for p in range(0, extent + begin + end, stride) if p + reach <= extent + begin + end]
    assert shapes.window((extent,), (kernel,), (stride,), (begin, end), (dilation,)) == (len(positions),)


@given(EXTENTS.filter(bool), st.data())
def test_reduce_is_numpys(x: tuple[int, ...], data: st.DataObject):
    axes = sorted(data.draw(st.sets(st.integers(0, len(x) - 1), min_size=1)))
    for keepdims in (False, True):
        assert shapes.reduce(x, axes, keepdims) == np.sum(np.zeros(x), axis=tuple(axes), keepdims=keepdims).shape


@given(EXTENTS.filter(bool), st.data())
def test_slices_stay_inside(x: tuple[int, ...], data: st.DataObject):
    def number(low: int, high: int) -> int:
        return data.draw(st.integers(low, high))

    starts = [number(0, e) for e in x]
    steps = [number(1, 3) * (1 - 2 * number(0, 1)) for _ in x]
    sizes = tuple(number(1, 4) for _ in x)
    reached = [s + i * p for s, p, n in zip(starts, steps, sizes, strict=True) for i in range(n)]
    owners = [e for e, n in zip(x, sizes, strict=True) for _ in range(n)]
    inside = all(0 <= r < e for r, e in zip(reached, owners, strict=True))
    if inside:
        shapes.check_slice(x, starts, steps, sizes)
    else:
        with pytest.raises(VerifyException, match="leaves axis"):
            shapes.check_slice(x, starts, steps, sizes)


def test_conv_and_gemm():
    assert shapes.conv((2, 4, 9, 9), (6, 2, 3, 3), (2, 1), (1, 0, 1, 0), (1, 2), 2) == (2, 6, 5, 5)
    assert shapes.gemm((3, 2), (4, 3), True, True) == (2, 4)
    assert shapes.pool((1, 2, 5), (2,), (2,), (0, 1), (1,)) == (1, 2, 3)
    assert shapes.concat([(1, 2), (1, 3)], 1) == (1, 5)
    assert shapes.pad((2, 3), (1, 0, 0, 4), False) == (3, 7)
    assert shapes.transpose((2, 3, 4), (2, 0, 1)) == (4, 2, 3)
