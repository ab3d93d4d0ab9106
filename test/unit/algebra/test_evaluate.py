import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tilewright.algebra.affine import to_affine
from tilewright.algebra.evaluate import run_statement, run_strided
from tilewright.algebra.expr import Access, Call, Expr, Name, Num, Statement, dims_of
from tilewright.algebra.functions import call_function
from tilewright.algebra.parser import parse_statement
from tilewright.errors import TilewrightError


def value_at(expr: Expr, point: Mapping[str, int], arrays: Mapping[str, np.ndarray], pad: Mapping[str, float]) -> Any:
    match expr:
        case Num(value):
            return np.float32(value) if isinstance(value, float) else np.int64(value)
        case Name(id):
            return np.int64(point[id])
        case Access(tensor, indices):
            array = arrays[tensor]
            at = tuple(to_affine(i).evaluate(point) for i in indices)
            inside = all(0 <= i < n for i, n in zip(at, array.shape, strict=True))
            return array[at] if inside else array.dtype.type(pad.get(tensor, 0))
        case Call(fn, args):
            return call_function(fn, [value_at(a, point, arrays, pad) for a in args])
        case _:
            raise AssertionError


def reference(s: Statement, arrays: Mapping[str, np.ndarray], extents: Mapping[str, int], out: np.ndarray, pad: Any):
    result = out.astype(np.float64 if out.dtype.kind == "f" else object)
    dims = dims_of(s)
    assert isinstance(s.target, Access)
    for row in itertools.product(*(range(extents[d]) for d in dims)):
        point = dict(zip(dims, row, strict=True))
        at = tuple(to_affine(i).evaluate(point) for i in s.target.indices)
        value = value_at(s.value, point, arrays, pad)
        value = float(value) if out.dtype.kind == "f" else int(value)
        old = result[at]
        result[at] = {"=": value, "+=": old + value, "max=": max(old, value), "min=": min(old, value)}[s.reduce]
    if out.dtype.kind == "f":
        return result.astype(out.dtype)
    bits = 8 * out.dtype.itemsize
    wrapped = [int(v) % (1 << bits) for v in result.reshape(-1)]
    return np.array(wrapped, np.uint64).astype(out.dtype).reshape(out.shape)


def random_array(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if dtype.startswith("f"):
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, endpoint=True).astype(dtype)


TYPES = [
    ("float32", "float32"),
    ("int32", "int8", "uint8"),
    ("int32", "int32"),
    ("int8", "int8"),
    ("int32", "float32"),
    ("float32", "int8"),
]
CASES = [
    ("O[n,k,p,q] += X[n,c,2*p+r-1,2*q+s-1] * W[k,c,r,s]", dict(n=2, k=3, p=3, q=4, c=5, r=3, s=3)),
    ("O[n,k,p,q] += X[n,c,p,q] * W[k,c]", dict(n=1, k=3, p=4, q=5, c=6)),
    ("O[n,p,q,k] += X[n,p+r,q+s,c] * W[r,s,c,k]", dict(n=2, k=3, p=4, q=3, c=2, r=2, s=3)),
    ("O[g,p,q] += X[g,p+r,q+s] * W[g,r,s]", dict(g=4, p=3, q=4, r=3, s=3)),
    ("O[g,k,p] += X[g,c,p] * W[g,k,c]", dict(g=3, k=4, p=5, c=6)),
    ("O[i,j] += A[i,k] * B[k,j]", dict(i=4, j=5, k=700)),
    ("O[i] += A[i,k] * B[k]", dict(i=4, k=7)),
    ("O[i,j] += A[i] * B[j]", dict(i=4, j=3)),
    ("O[] += A[i] * B[i]", dict(i=9)),
    ("O[i] += A[i,k] * B[j]", dict(i=3, k=4, j=2)),
    ("O[i,j,l] += A[i,k] * B[k,j]", dict(i=3, k=4, j=2, l=2)),
    ("O[p+r] += A[p] * W[r]", dict(p=5, r=3)),
    ("O[n,c,p,q] max= X[n,c,2*p+r-1,2*q+s-1]", dict(n=1, c=3, p=4, q=4, r=3, s=3)),
    ("O[n,c] += X[n,c,h,w]", dict(n=2, c=3, h=9, w=9)),
    ("O[n] min= X[n,h]", dict(n=2, h=100)),
    ("O[i,j] = A[j,i] + B[j]", dict(i=3, j=4)),
    ("O[2*i+a] = A[i]", dict(i=4, a=2)),
    ("O[i] = A[4 - i]", dict(i=5)),
    ("O[i] = A[i] * 2 + i - B[0]", dict(i=5)),
    ("O[i] = A[i,i]", dict(i=5)),
    ("O[i] = max(A[i], B[i])", dict(i=5)),
    ("O[i] = relu(A[i])", dict(i=5)),
    ("O[i] = A[i] - A[i+1]", dict(i=5)),
    ("O[i,r] += A[i,j] * B[k,r] * C[j,k,r]", dict(i=3, j=4, k=2, r=3)),
    ("O[i] = select(A[i] < B[i], A[i], 3)", dict(i=6)),
]


def shapes_of(s: Statement, extents: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shapes that hold all accesses, cut at index 0 so that negative indices are padding."""
    from tilewright.algebra.expr import accesses

    shapes: dict[str, tuple[int, ...]] = {}
    for access in accesses(s):
        assert isinstance(access, Access)
        highs = [to_affine(i).range(extents)[1] for i in access.indices]
        old = shapes.get(access.tensor, (1,) * len(highs))
        shapes[access.tensor] = tuple(max(a, h + 1) for a, h in zip(old, highs, strict=True))
    return shapes


@pytest.mark.parametrize("types", TYPES, ids="-".join)
@pytest.mark.parametrize(("text", "extents"), CASES, ids=[c[0] for c in CASES])
def test_against_point_by_point(text: str, extents: dict[str, int], types: tuple[str, ...]):
    if types == ("int32", "float32"):
        if "*" in text or "+=" in text:
            pytest.skip("sums of floats in integers are rounded at other places")
    rng = np.random.default_rng(1)
    s = parse_statement(text)
    shapes = shapes_of(s, extents)
    out = random_array(rng, shapes[s.target.tensor], types[0])
    arrays = {
        name: random_array(rng, shape, types[1 + index % (len(types) - 1)])
        for index, (name, shape) in enumerate(shapes.items())
        if name != s.target.tensor
    }
    pad = {name: 7 for name in arrays}
    expected = reference(s, arrays, extents, out, pad)
    run_statement(s, arrays, extents, out, pad=pad)
    if out.dtype.kind == "f":
        np.testing.assert_allclose(out, expected, rtol=2e-5, atol=2e-5 * max(1.0, float(np.abs(expected).max())))
    else:
        np.testing.assert_array_equal(out, expected)


def test_without_accumulation():
    s = parse_statement("O[i] max= A[i,j]")
    out = np.full(3, 100, np.int8)
    run_statement(s, {"A": np.full((3, 2), -5, np.int8)}, dict(i=3, j=2), out, accumulate=False)
    assert out.tolist() == [-5, -5, -5]


def test_large_spaces_are_cut(monkeypatch: pytest.MonkeyPatch):
    from tilewright.algebra import contraction, kernel

    monkeypatch.setattr(contraction, "TEMPORARY_BYTES", 1000)
    monkeypatch.setattr(kernel, "CHUNK_ELEMENTS", 10)
    for text, extents in CASES:
        test_against_point_by_point(text, extents, ("int32", "int8", "uint8"))


def test_strided():
    memory = np.arange(24, dtype=np.float32)
    views = {
        "O": np.zeros((2, 3), np.float32),
        "A": np.lib.stride_tricks.as_strided(memory, (2, 4), (4, 8)),
        "B": np.lib.stride_tricks.as_strided(memory, (4, 3), (0, 4)),
    }
    run_strided(parse_statement("O{i,j} += A{i,k} * B{k,j}"), views, dict(i=2, j=3, k=4))
    np.testing.assert_array_equal(views["O"], views["A"] @ views["B"])


def test_operands_that_stand_still():
    out = np.zeros(2, np.int32)
    one = np.ones(1, np.int8)
    views = {
        "O": out,
        "A": np.lib.stride_tricks.as_strided(one, (2, 3), (0, 0)),
        "B": np.lib.stride_tricks.as_strided(one, (3,), (0,)),
    }
    run_strided(parse_statement("O{i} += A{i,k} * B{k}"), views, dict(i=2, k=3))
    assert out.tolist() == [3, 3]


def test_last_write_wins():
    out = np.zeros(1, np.int8)
    view = np.lib.stride_tricks.as_strided(out, (4,), (0,))
    run_strided(parse_statement("O{i} = A{i}"), {"O": view, "A": np.arange(4, dtype=np.int8)}, dict(i=4))
    assert out[0] == 3


def test_function_variable_and_scalars():
    out = np.zeros(3, np.float32)
    s = parse_statement("O[i] = F(A[i], V)")
    arrays = {"A": np.array([-1, 0, 2], np.float32)}
    run_statement(s, arrays, dict(i=3), out, scalars={"V": 0.5}, functions={"F": "leaky_relu"})
    np.testing.assert_array_equal(out, np.array([-0.5, 0, 2], np.float32))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("O[i-1] = A[i]", "indices within"),
        ("O[i] = B[i]", "a given array"),
        ("O[i] = A[i,i]", "1 indices"),
        ("O[i] = G(A[i])", "a known function"),
        ("O[j] = A[i]+A[j]", "an extent"),
    ],
)
def test_errors(text: str, word: str):
    s = parse_statement(text.replace("=", "+=")) if "O[j]" in text else parse_statement(text)
    with pytest.raises(TilewrightError, match=word):
        run_statement(s, {"A": np.zeros(3, np.float32)}, dict(i=3), np.zeros(3, np.float32))
