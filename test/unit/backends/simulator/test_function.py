from typing import Any

import numpy as np
import pytest

from tilewright.errors import TilewrightError

MATMUL = """
LOAD TAG=1, D=0, S=0, N=12, NB=1
LOAD TAG=1, D=64, S=64, N=20, NB=1
MAC TAG=2, WT0=1, WC0=2, O=128, A=0, B=64, M=3, N=5, K=4, OM=20, ON=4, AM=4, AK=1, BK=5, BN=1
STORE WT0=2, WC0=1, D=256, S=128, N=60, NB=1
"""


def matmul_arrays() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.integers(-128, 127, (3, 4)).astype(np.int8), rng.integers(-128, 127, (4, 5)).astype(np.int8)


def test_matmul(bench: Any):
    a, b = matmul_arrays()
    out = np.zeros((3, 5), np.int32)
    tensors = (
        bench.tensor("a", "input", a, 0),
        bench.tensor("b", "weight", b, 64),
        bench.tensor("o", "output", out, 256),
    )
    result = bench.run(MATMUL, tensors, {"a": a}, constants={"b": b})
    np.testing.assert_array_equal(result.outputs["o"], a.astype(np.int32) @ b.astype(np.int32))
    np.testing.assert_array_equal(result.tensor("b"), b)


def test_accumulate_and_not(bench: Any):
    a = np.ones((1, 1), np.int8)
    out = np.zeros((1,), np.int32)
    text = """
LOAD TAG=1, D=0, S=0, N=1, NB=1
MAC TAG=2, WT0=1, WC0=1, O=128, A=0, B=0, M=1, N=1, K=1
MAC TAG=2, O=128, A=0, B=0, M=1, N=1, K=1, ACC=1
MAC TAG=2, O=128, A=0, B=0, M=1, N=1, K=1, ACC=1
STORE WT0=2, WC0=3, D=256, S=128, N=4, NB=1
"""
    tensors = (bench.tensor("a", "input", a, 0), bench.tensor("o", "output", out, 256))
    assert bench.run(text, tensors, {"a": a}).outputs["o"].tolist() == [3]
    assert bench.run(text.replace(", ACC=1", ""), tensors, {"a": a}).outputs["o"].tolist() == [1]


def test_fill_convert_function(bench: Any):
    out = np.zeros((4,), np.float32)
    text = """
FILL TAG=1, O=0, N=4, OA=4, V=0xFFFFFFFE
VEC TAG=1, O=64, TA=i32, A=0, NA=4, NB=1, OA=4, AA=4
VEC TAG=1, F=relu, O=64, A=64, NA=2, NB=1, OA=4, AA=4
STORE WT0=1, WC0=3, D=0, S=64, N=16, NB=1
"""
    assert bench.run(text, (bench.tensor("o", "output", out, 0),)).outputs["o"].tolist() == [0, 0, -2, -2]


def test_maximum_from_its_identity(bench: Any):
    a = np.array([[-3, -5], [4, 2]], np.int8)
    out = np.zeros(2, np.int8)
    text = """
LOAD TAG=1, D=0, S=0, N=4, NB=1
PEAK TAG=2, WT0=1, WC0=1, O=16, A=0, NA=2, NR=2, OA=1, AA=2, AR=1
STORE WT0=2, WC0=1, D=64, S=16, N=2, NB=1
"""
    tensors = (bench.tensor("a", "input", a, 0), bench.tensor("o", "output", out, 64))
    assert bench.run(text, tensors, {"a": a}).outputs["o"].tolist() == [-3, 4]


def test_strided_rows(bench: Any):
    a = np.arange(32, dtype=np.uint8).reshape(4, 8)
    out = np.zeros((4, 2), np.uint8)
    text = """
LOAD TAG=1, D=0, S=3, N=2, NB=4, DB=2, SB=8
STORE WT0=1, WC0=1, D=64, S=0, N=8, NB=1
"""
    tensors = (bench.tensor("a", "input", a, 0), bench.tensor("o", "output", out, 64))
    np.testing.assert_array_equal(bench.run(text, tensors, {"a": a}).outputs["o"], a[:, 3:5])


def test_later_instructions_may_release_earlier_ones(bench: Any):
    """The store stands before the load that it waits for."""
    a = np.arange(8, dtype=np.uint8)
    text = "STORE WT0=1, WC0=1, D=64, N=8, NB=1\nLOAD TAG=1, N=8, NB=1\n"
    tensors = (bench.tensor("a", "input", a, 0), bench.tensor("o", "output", a, 64))
    assert bench.run(text, tensors, {"a": a}).outputs["o"].tolist() == a.tolist()


def test_without_values(bench: Any):
    a, b = matmul_arrays()
    tensors = (bench.tensor("a", "input", a, 0), bench.tensor("b", "weight", b, 64))
    full = bench.run(MATMUL, tensors, {"a": a}, constants={"b": b})
    numbers = bench.run(MATMUL, tensors, functional=False)
    assert numbers.outputs == {}
    assert numbers.as_dict() == full.as_dict()
    assert bench.run(MATMUL, tensors, functional=False, timing=False).cycles == 0


@pytest.mark.parametrize("given", [{}, {"a": np.zeros((3, 5), np.int8)}, {"a": np.zeros((3, 4), np.uint8)}])
def test_inputs_are_checked(bench: Any, given: dict[str, np.ndarray]):
    with pytest.raises(TilewrightError, match=r"int8 of shape|an array for the input"):
        bench.run(MATMUL, (bench.tensor("a", "input", np.zeros((3, 4), np.int8), 0),), given)
