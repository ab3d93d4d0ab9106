"""Einsum text to a module with one kernel."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions

from tilewright.dialects import nest
from tilewright.driver import load_model
from tilewright.errors import TilewrightError
from tilewright.frontends.einsum import check_written, einsum_module, parse_einsum
from tilewright.interpreters.nest import NestFunctions

CONV = "O[n,k,p,q] += I[n,c,2*p+r,2*q+s] * W[k,c,r,s]; n=1 k=4 c=3 p=5 q=6 r=3 s=2"


def run(text: str, *arrays: np.ndarray, types: dict[str, str] | None = None) -> np.ndarray:
    module = einsum_module(text, types)
    module.verify()
    interpreter = Interpreter(module)
    interpreter.register_implementations(NestFunctions())
    interpreter.register_implementations(FuncFunctions())
    (result,) = interpreter.call_op("main", arrays)
    return result


def test_shapes_follow_from_indices():
    module = einsum_module(CONV, {"I": "u8", "W": "i8", "O": "i32"})
    module.verify()
    group = next(op for op in module.walk() if isinstance(op, nest.GroupOp))
    assert group.extents == {"n": 1, "k": 4, "c": 3, "p": 5, "q": 6, "r": 3, "s": 2}
    assert [str(v.type) for v in (*group.inputs, *group.outs)] == [
        "tensor<1x3x11x12xui8>",
        "tensor<4x3x3x2xsi8>",
        "tensor<1x4x5x6xi32>",
    ]


def test_mttkrp():
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((3, 4, 5), (4, 2), (5, 2)))
    found = run("M[i,r] += A[i,j,k] * B[j,r] * C[k,r]; i=3 j=4 k=5 r=2", a, b, c)
    np.testing.assert_allclose(found, np.einsum("ijk,jr,kr->ir", a, b, c), rtol=1e-5)


def test_integers_are_exact():
    x, w = np.arange(12, dtype=np.int8).reshape(3, 4), np.arange(20, dtype=np.int8).reshape(4, 5)
    found = run("Y[m,n] += X[m,k]*W[k,n]; m=3, k=4, n=5", x, w, types={"X": "i8", "W": "i8", "Y": "i32"})
    np.testing.assert_array_equal(found, x.astype(np.int32) @ w.astype(np.int32))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("O[i] += X[i,j]", "expected `statement; dim=extent ...`, found no `;`; add the extents of the dims"),
        ("O[i] += X[i,j]; i=3", "dim j: expected an extent, found none; add `j=...` after the `;`"),
        ("O[i] += X[i,j]; i=3 j=4 k=5", "bound k: expected one of the dims i, j, found k"),
        ("O[i] += X[i,j]; i=3 j=0", "bound j: expected one extent from 1 to 1099511627776, found 0"),
        ("O[i] += X[i,j]; i=3 j=x", "einsum:1:21: expected `dim=extent ...` after the `;`, found `j=x`"),
        ("O[i] += X[i,j; i=3 j=4", "einsum:1:14: expected `,` or `]`, found the end"),
        ("O[i] += X[i-1,j]; i=3 j=4", "X[i - 1, j]: expected indices of at least 0, found -1; add 1 to the index"),
        ("O[i] += X[i,j] * s; i=3 j=4", "expected tensors, dims and numbers, found the name s"),
        ("O{i} += X{i,j}; i=3 j=4", "O{i}: expected indices in square brackets, found free strides"),
    ],
)
def test_errors(text: str, message: str):
    with pytest.raises(TilewrightError) as error:
        einsum_module(text)
    assert message in str(error.value)


FORMS = st.tuples(*[st.integers(0, 4)] * 3, st.integers(0, 1))


@given(st.lists(FORMS, min_size=1, max_size=2), *[st.integers(1, 4)] * 3)
def test_targets_that_are_not_written_everywhere(axes: list[tuple[int, ...]], a: int, b: int, c: int):
    """Against NumPy, which leaves out of the target's box what no point writes."""
    indices = ",".join("{}*a+{}*b+{}*c+{}".format(*axis) for axis in axes)
    statement, extents = parse_einsum(f"O[{indices}] += X[a,b,c]; a={a} b={b} c={c}")
    points = np.stack([*np.indices((a, b, c)), np.ones((a, b, c))], -1).astype(int)
    places = [(points @ np.array(axis)).ravel() for axis in axes]
    written = np.zeros([place.max() + 1 for place in places], bool)
    written[tuple(places)] = True
    if written.all():
        check_written(statement, extents)
    else:
        with pytest.raises(TilewrightError, match="every element of the target written"):
            check_written(statement, extents)


@given(st.lists(FORMS, min_size=1, max_size=2), *[st.integers(1, 4)] * 3)
def test_assignments_write_each_element_once(axes: list[tuple[int, ...]], a: int, b: int, c: int):
    """What is taken writes no element of NumPy's box twice; what is refused leaves an axis of several strides."""
    indices = ",".join("{}*a+{}*b+{}*c+{}".format(*axis) for axis in axes)
    points = np.stack([*np.indices((a, b, c)), np.ones((a, b, c))], -1).astype(int).reshape(-1, 4)
    places = points @ np.array(axes).T
    once = len(np.unique(places, axis=0)) == len(points)
    text = f"O[{indices}] = X[a,b,c]; a={a} b={b} c={c}"
    missing = any(not any(axis[dim] for axis in axes) for dim in range(3))
    separate = all(sum(map(bool, axis[:3])) <= 1 for axis in axes)
    refused = contextlib.nullcontext() if once and separate and not missing else contextlib.suppress(TilewrightError)
    with refused:
        parse_einsum(text)
        assert once


@pytest.mark.parametrize("index", ["2*m+n", "m+n,m-n+3"])
def test_sums_may_write_an_element_twice(index: str):
    with pytest.raises(TilewrightError, match="several values of m, n may write; reduce, or give each dim an index"):
        parse_einsum(f"O[{index}] = A[m,n]; m=4 n=4")
    parse_einsum(f"O[{index}] += A[m,n]; m=4 n=4")


@pytest.mark.parametrize("index", ["4*m+n", "m+n,m", "n,m"])
def test_assignments_that_write_each_element_once(index: str):
    parse_einsum(f"O[{index}] = A[m,n]; m=4 n=4")


@pytest.mark.parametrize("target", ["m,m", "2*m", "m+1"])
def test_a_program_writes_all_of_its_output(target: str):
    with pytest.raises(TilewrightError, match="every element of the target written"):
        load_model(f"O[{target}] += A[m]; m=4")


@given(st.text(alphabet="OX[]{}ij+*=;, 0123456789-/()", max_size=60))
def test_no_text_crashes(text: str):
    try:
        parse_einsum(text)
    except TilewrightError:
        pass
