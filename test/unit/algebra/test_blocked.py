"""Layouts of tensors in memory: what is packed comes back, and bytes lie where the layout says."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.algebra.blocked import BlockedLayout

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("planes", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float64])
def test_what_is_packed_comes_back(dtype: type, planes: bool) -> None:
    layout = BlockedLayout(((0, 0), (0, 2), (0, 0)), (0, 4, 0), (0, 1, 3, 2), planes=planes)
    array = RNG.integers(-100, 100, (3, 6, 5)).astype(dtype)
    data = layout.pack(array)
    assert data.nbytes == layout.size_bytes(array.shape, array.itemsize) == 3 * 8 * 5 * array.itemsize
    seen = layout.view(data.tobytes(), 0, array.shape, array.dtype)
    assert (layout.unpack(seen, array.shape, array.dtype) == array).all()


def test_bytes_lie_apart_the_lowest_first() -> None:
    layout = BlockedLayout(((0, 0),), (0,), (0,), planes=True)
    assert layout.pack(np.array([0x01020304, 0x05060708], np.int32)).tolist() == [[4, 8], [3, 7], [2, 6], [1, 5]]
    assert layout.text == "pads 0+0; blocks 0; axes 0; bytes apart"
