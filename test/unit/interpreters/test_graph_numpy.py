"""The NumPy meaning of layers against loops over single elements."""

from collections.abc import Sequence
from itertools import product
from math import cos, erf, exp, isclose, log, sin
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tilewright.dialects import graph
from tilewright.interpreters import graph_numpy as layers

Array = NDArray[Any]

RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def bytes_(dtype: type, *shape: int) -> Array:
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max, shape, dtype, endpoint=True)


def element(x: Array, index: Sequence[int], pad: float) -> float:
    inside = all(0 <= i < e for i, e in zip(index, x.shape, strict=True))
    return x[tuple(index)].item() if inside else pad


def conv_by_loops(x: Array, w: Array, stride: int, pad: int, dilation: int, groups: int, pad_value: float) -> Array:
    n, k, c = x.shape[0], w.shape[0], w.shape[1]
    p, q = (
        ((e + 2 * pad - dilation * (r - 1) - 1) // stride + 1) for e, r in zip(x.shape[2:], w.shape[2:], strict=True)
    )
    y = np.zeros((n, k, p, q))
    for b, o, i, j in np.ndindex(n, k, p, q):
        first = o // (k // groups) * c
        for ch, r, s in np.ndindex(*w.shape[1:]):
            at = (b, first + ch, i * stride + r * dilation - pad, j * stride + s * dilation - pad)
            y[b, o, i, j] += element(x, at, pad_value) * w[o, ch, r, s].item()
    return y


@pytest.mark.parametrize(
    ("stride", "pad", "dilation", "groups"), [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 4), (3, 1, 1, 1)]
)
def test_conv(stride: int, pad: int, dilation: int, groups: int):
    window = ([stride] * 2, [pad] * 4, [dilation] * 2, groups)
    x, w, b = floats(2, 4, 6, 7), floats(8, 4 // groups, 3, 2), floats(8)
    expected = conv_by_loops(x, w, stride, pad, dilation, groups, 0.0) + b.reshape(-1, 1, 1)
    found = layers.conv(x, w, b, *window, 0.0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    x, w = bytes_(np.uint8, 2, 4, 6, 7), bytes_(np.int8, 8, 4 // groups, 3, 2)
    found = layers.conv(x, w, None, *window, 7)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, conv_by_loops(x, w, stride, pad, dilation, groups, 7))


def test_conv_of_one_and_three_axes():
    x, w = floats(1, 2, 5), floats(3, 2, 2)
    flat = layers.conv(x, w, None, [1], [1, 0], [1], 1, 0.0)
    square = layers.conv(x[..., None], w[..., None], None, [1, 1], [1, 0, 0, 0], [1, 1], 1, 0.0)
    np.testing.assert_array_equal(flat, square[..., 0])
    deep = layers.conv(x[..., None, None], w[..., None, None], None, [1] * 3, [1, 0, 0, 0, 0, 0], [1] * 3, 1, 0.0)
    np.testing.assert_array_equal(flat, deep[..., 0, 0])


@pytest.mark.parametrize("kind", ["max", "sum", "average", "average with pads"])
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_pool(kind: str, dtype: type):
    if dtype == np.int8 and "average" in kind:
        return
    x = floats(1, 2, 5, 5) - 3 if dtype == np.float32 else bytes_(np.int8, 1, 2, 5, 5)
    found = layers.pool(kind.split()[0], x, [3, 2], [2, 1], [1, 0, 1, 1], [1, 2], "with" in kind)
    expected = np.zeros(found.shape)
    for b, c, i, j in np.ndindex(*found.shape):
        seen = [
            x[b, c, h, w].item()
            for h, w in product(range(2 * i - 1, 2 * i + 2), range(j, j + 3, 2))
            if 0 <= h < 5 and 0 <= w < 5
        ]
        divisor = {"average": len(seen), "average with pads": 6}.get(kind, 1)
        expected[b, c, i, j] = max(seen) if kind == "max" else sum(seen) / divisor
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found.dtype == (np.int32 if dtype == np.int8 and kind == "sum" else dtype)


def test_products_of_integers_are_exact():
    a, b = bytes_(np.uint8, 3, 200), bytes_(np.int8, 200, 4)
    np.testing.assert_array_equal(layers.matmul(a, b), a.astype(np.int64) @ b.astype(np.int64))
    c = np.arange(4, dtype=np.int32)
    np.testing.assert_array_equal(layers.gemm(a, b, c, 1.0, 1.0), a.astype(np.int64) @ b.astype(np.int64) + c)
    assert layers.matmul(a, b).dtype == np.int32


def test_gemm_factors():
    a, b, c = floats(2, 3), floats(3, 4), floats(4)
    np.testing.assert_allclose(layers.gemm(a, b, c, 0.5, 2.0), 0.5 * (a @ b) + 2 * c, rtol=1e-5)


def test_reduce_types():
    x = bytes_(np.uint8, 2, 300)
    assert layers.reduce("sum", x, [1], True).dtype == np.int32
    np.testing.assert_array_equal(layers.reduce("sum", x, [1], True)[:, 0], x.astype(int).sum(axis=1))
    assert layers.reduce("max", x, [0], False).dtype == np.uint8
    assert layers.reduce("mean", floats(2, 3), [0, 1], False).shape == ()


def test_softmax_of_large_numbers():
    x = np.array([[1000.0, 1001.0], [-1000.0, 0.0]], np.float32)
    expected = [[1 / (1 + exp(1)), 1 / (1 + exp(-1))], [0.0, 1.0]]
    powers, totals = layers.softmax(x, None, 1, None, bounded=False)
    np.testing.assert_allclose(powers / totals, expected, rtol=1e-6)


def test_layer_norm_over_two_axes():
    x, s, b = floats(2, 3, 4), floats(3, 4), floats(3, 4)
    flat = x.reshape(2, -1)
    normal = (flat - flat.mean(1, keepdims=True)) / np.sqrt(flat.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(
        layers.layer_norm(x, s, b, 1, 1e-5), normal.reshape(x.shape) * s + b, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_standardize_is_near_to_real_numbers(dtype: type):
    info, bits = np.iinfo(dtype), 18
    outlier = np.full(32, info.max, dtype)
    outlier[3] -= 1
    rows = [bytes_(dtype, 32), outlier, np.resize([info.min, info.max], 32).astype(dtype), np.full(32, info.max, dtype)]
    x = np.stack(rows).astype(np.float64)
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(np.maximum(x.var(1, keepdims=True), 31 / 32**2) + 1e-6)
    found = layers.standardize(np.stack(rows), 1, 1e-6, bits) / 2.0**bits
    np.testing.assert_allclose(found, expected, atol=256 * 0.5 / 2**bits + 1e-3)
    assert abs(found[1]).max() > 5  # the only one that differs


def test_standardize_has_no_larger_numbers_than_its_bits_say():
    for count in (2, 3, 768, 1 << 15):
        row = np.full((1, count), 255, np.uint8)
        row[0, 0] = 254
        factor = (count << (bits := graph.most_bits(count))) / (count - 1) ** 0.5
        assert 256 * factor <= 2**31
        expected = -((count - 1) ** 0.5) * 2.0**bits
        assert layers.standardize(row, 1, 0.0, bits)[0, 0] == pytest.approx(expected, abs=256)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_lrn_by_loops(size: int):
    x = floats(1, 6, 2)
    expected = np.zeros(x.shape)
    for n, c, i in np.ndindex(*x.shape):
        low, high = max(0, c - (size - 1) // 2), min(5, c + -(-(size - 1) // 2))
        total = sum(float(x[n, j, i]) ** 2 for j in range(low, high + 1))
        expected[n, c, i] = x[n, c, i] / (1.5 + 0.1 / size * total) ** 0.75
    np.testing.assert_allclose(layers.lrn(x, size, 0.1, 0.75, 1.5), expected, rtol=1e-5)


def test_batch_norm():
    x, s, b, m, v = floats(2, 3, 4), floats(3), floats(3), floats(3), abs(floats(3))
    expected = (x - m[:, None]) / np.sqrt(v[:, None] + 0.1) * s[:, None] + b[:, None]
    np.testing.assert_allclose(layers.batch_norm(x, s, b, m, v, 0.1), expected, rtol=1e-4, atol=1e-5)


SCALARS = {
    "gelu": lambda x: x / 2 * (1 + erf(x / 2**0.5)),
    "hard_swish": lambda x: x * min(max(x / 6 + 0.5, 0), 1),
    "sigmoid": lambda x: 1 / (1 + exp(-x)),
    "relu": lambda x: max(x, 0),
    "rint": round,
    "identity": lambda x: x,
    "sign": lambda x: (x > 0) - (x < 0),
    "softplus": lambda x: log(1 + exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "sin": sin,
    "cos": cos,
}


@pytest.mark.parametrize("kind", SCALARS)
def test_unary(kind: str):
    x = np.array([-7.5, -2.5, -0.5, 0.0, 0.5, 1.5, 2.5, 9.0], np.float32)
    found = layers.UNARY[kind](x)
    assert found.dtype == np.float32
    assert all(isclose(f, SCALARS[kind](float(e)), rel_tol=1e-4, abs_tol=1e-6) for f, e in zip(found, x, strict=True))


def test_unary_with_scalars():
    x = np.array([-2.0, 4.0], np.float32)
    assert layers.UNARY["leaky_relu"](x, 0.5).tolist() == [-1.0, 4.0]
    assert layers.UNARY["elu"](x, 0.5).tolist() == [np.float32(0.5) * np.expm1(np.float32(-2)), 4.0]
    assert layers.UNARY["hard_sigmoid"](x, 0.25, 0.5).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("kind", layers.UNARY)
def test_unary_stays_f32(kind: str):
    scalars = {"leaky_relu": (0.1,), "elu": (1.0,), "hard_sigmoid": (0.2, 0.5)}.get(kind, ())
    assert layers.UNARY[kind](np.ones(3, np.float32), *scalars).dtype == np.float32


def test_integer_division_goes_toward_zero():
    a, b = np.array([7, -7, 7, -7, 5], np.int32), np.array([2, 2, -2, -2, 0], np.int32)
    assert layers.BINARY["div"](a, b).tolist() == [3, -3, -3, 3, 0]


def test_remainders_have_the_sign_of_the_divisor():
    a, b = np.array([7, -7, 7, -7, 5], np.int32), np.array([3, 3, -3, -3, 0], np.int32)
    assert layers.BINARY["mod"](a, b).tolist() == [1, 2, -2, -1, 0]
    assert layers.BINARY["mod"](np.array([-7.5], np.float32), np.array([2.0], np.float32)).tolist() == [0.5]


def test_powers_of_integers_wrap_and_lose_fractions():
    a, b = np.array([2, 16, 255, 3], np.uint8), np.array([3, 2, 3, 0], np.uint8)
    assert layers.BINARY["pow"](a, b).tolist() == [8, 0, 255, 1]
    assert layers.BINARY["pow"](np.array([2, -1], np.int32), np.array([-1, -3], np.int32)).tolist() == [0, -1]


@pytest.mark.parametrize(("kind", "expected"), [("eq", 0), ("ne", 1), ("lt", 0), ("le", 0), ("gt", 0), ("ge", 0)])
def test_comparisons_are_0_or_1_in_the_type_of_their_operands(kind: str, expected: int):
    nan = np.array([np.nan], np.float32)
    assert layers.BINARY[kind](nan, nan).tolist() == [expected]
    for dtype in (np.float32, np.uint8, np.int64):
        a, b = np.array([1, 2, 3], dtype), np.array([2, 2, 2], dtype)
        found = layers.BINARY[kind](a, b)
        assert found.dtype == dtype
        wanted = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[kind]
        assert found.tolist() == wanted.astype(dtype).tolist()


def test_bits():
    a, b = np.array([12, -1, 200], np.int32), np.array([10, 7, 255], np.int32)
    found = [layers.BINARY[kind](a, b).tolist() for kind in ("band", "bor", "bxor")]
    assert found == [[8, 7, 200], [14, -1, 255], [6, -8, 55]]


def test_shifts_round_down_by_at_most_31_bits():
    a, b = np.array([7, -7, -1, 5, 6], np.int32), np.array([1, 1, 40, -2, 31], np.int32)
    assert layers.BINARY["shr"](a, b).tolist() == [3, -4, -1, 5, 0]


def test_integers_wrap():
    a = np.array([200, 100], np.uint8)
    assert layers.BINARY["add"](a, a).tolist() == [144, 200]
    assert layers.cast(np.array([300, -1], np.int32), np.dtype(np.uint8)).tolist() == [44, 255]


def test_cast_from_floats_saturates():
    x = np.array([1.9, -1.9, 300.0, -np.inf, np.nan], np.float32)
    assert layers.cast(x, np.dtype(np.int8)).tolist() == [1, -1, 127, -128, 0]
    assert layers.cast(x, np.dtype(np.uint8)).tolist() == [1, 0, 255, 0, 0]
    huge = layers.cast(np.array([1e30, -1e30, 2.0**62], np.float32), np.dtype(np.int64))
    assert huge.tolist() == [2**63 - 1, -(2**63), 2**62]


def test_clip():
    assert layers.clip(np.array([-1.0, 9.0], np.float32), 0.0, 6.0).tolist() == [0.0, 6.0]
    assert layers.clip(np.array([3, 200], np.uint8), -5.0, 1000.0).tolist() == [3, 200]
    assert layers.clip(np.array([3, 200], np.uint8), 7.0, None).tolist() == [7, 200]


def test_quantize_rounds_to_even_and_saturates():
    x, scale = np.array([0.25, 0.75, 1.25, 100.0, -100.0], np.float32), np.array(0.5, np.float32)
    assert layers.quantize(x, scale, None, 0, np.dtype(np.int8)).tolist() == [0, 2, 2, 127, -128]
    zero = np.array(3, np.uint8)
    assert layers.quantize(x, scale, zero, 0, np.dtype(np.uint8)).tolist() == [3, 5, 5, 203, 0]


def test_quantize_and_dequantize_per_channel():
    x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    scale, zero = np.array([0.5, 2.0], np.float32), np.array([1, -1], np.int8)
    q = layers.quantize(x, scale, zero, 1, np.dtype(np.int8))
    assert q.tolist() == [[3, 0], [7, 1]]
    np.testing.assert_array_equal(layers.dequantize(q, scale, zero, 1), x)
    np.testing.assert_array_equal(layers.quantize(x.T, scale, zero, 0, np.dtype(np.int8)), q.T)


def test_requantize_is_exact():
    x = np.array([2**31 - 1, -(2**31), 5, -5, 0], np.int32)
    for multiplier, shift in ((2**31 - 1, 62), (1, 1), (3, 0), (2**30, 31)):
        pair = (np.array(multiplier, np.int32), np.array(shift, np.int32))
        found = layers.requantize(x, *pair, 0, 7, -100, 127, np.dtype(np.int8))
        half = 1 << (shift - 1) if shift else 0
        exact = [min(max((int(v) * multiplier + half >> shift) + 7, -100), 127) for v in x]
        assert found.tolist() == exact


def test_movement():
    x = floats(3, 4)
    np.testing.assert_array_equal(layers.slice_(x, [2, 0], [-1, 3], [3, 2]), x[::-1, ::3])
    np.testing.assert_array_equal(layers.resize(x, [2, 1]), np.repeat(x, 2, axis=0))
    np.testing.assert_array_equal(layers.pad(x, [0, 1, 0, 0], "constant", 5.0)[:, 0], [5.0] * 3)
    np.testing.assert_array_equal(layers.pad(x, [1, 0, 0, 0], "reflect", 0.0)[0], x[1])
    np.testing.assert_array_equal(layers.pad(x, [4, 0, 0, 0], "wrap", 0.0)[0], x[2])
    np.testing.assert_array_equal(layers.pad(x, [1, 0, 0, 0], "edge", 0.0)[0], x[0])
