"""Problems of the kernels that mappers are asked about."""

import pytest

from tilewright.algebra.parser import parse_statement
from tilewright.costs.hierarchy import Problem
from tilewright.costs.hierarchy.statement import problem_of_statement
from tilewright.errors import TilewrightError


def problem(text: str, **extents: int) -> Problem:
    return problem_of_statement(parse_statement(text), extents)


def axes(found: Problem) -> dict[str, list[dict[str, int]]]:
    """Of each tensor, the coefficients of each axis by dim."""
    return {
        tensor.name: [{d: c for d, c in zip(found.dims, row, strict=True) if c} for row in tensor.coefficients]
        for tensor in found.tensors
    }


def test_a_convolution_with_stride_dilation_and_padding() -> None:
    found = problem(
        "O[n,k,p,q] += I[n,c,2*p+3*r-1,q+s] * W[k,c,r,s]", n=1, k=64, c=32, p=28, q=28, r=3, s=3
    )  # fmt: skip
    assert (found.dims, found.bounds) == (("n", "k", "c", "p", "q", "r", "s"), (1, 64, 32, 28, 28, 3, 3))
    assert axes(found) == {
        "I": [{"n": 1}, {"c": 1}, {"p": 2, "r": 3}, {"q": 1, "s": 1}],
        "W": [{"k": 1}, {"c": 1}, {"r": 1}, {"s": 1}],
        "O": [{"n": 1}, {"k": 1}, {"p": 1}, {"q": 1}],
    }
    assert [tensor.is_output for tensor in found.tensors] == [False, False, True]


def test_digits_of_an_index_are_axes() -> None:
    found = problem("O[4*g+k] += I[8*g+c] * W[4*g+k,c]", g=16, k=4, c=8)
    assert axes(found) == {"I": [{"g": 1}, {"c": 1}], "W": [{"g": 1}, {"k": 1}, {"c": 1}], "O": [{"g": 1}, {"k": 1}]}


def test_windows_that_do_not_overlap_are_digits() -> None:
    assert axes(problem("O[p] max= I[2*p+r]", p=5, r=2)) == {"I": [{"p": 1}, {"r": 1}], "O": [{"p": 1}]}
    assert axes(problem("O[p] max= I[2*p+r]", p=5, r=3)) == {"I": [{"p": 2, "r": 1}], "O": [{"p": 1}]}


def test_a_stride_without_a_window_stays() -> None:
    assert axes(problem("O[p] += I[2*p+r] * W[r]", p=5, r=1))["I"] == [{"p": 2, "r": 1}]


def test_constants_and_mirrored_indices() -> None:
    assert axes(problem("O[p] += I[0,p+3] * W[7-p]", p=8)) == {"I": [{"p": 1}], "W": [{"p": 1}], "O": [{"p": 1}]}
    assert axes(problem("O[p] += I[p-r+2]", p=8, r=3))["I"] == [{"p": 1, "r": -1}]


def test_many_operands() -> None:
    found = problem("M[i,r] += A[i,j,k] * B[j,r] * C[k,r]", i=3, j=4, k=5, r=2)
    assert [tensor.name for tensor in found.tensors] == ["A", "B", "C", "M"]
    assert found.macs == 120


def test_a_tensor_that_is_read_twice() -> None:
    assert len(problem("O[i] += A[i,j] * A[i,j]", i=3, j=4).tensors) == 2
    with pytest.raises(TilewrightError) as error:
        problem("O[i] += A[i] * A[j]", i=3, j=4)
    expected = "tensor A: expected one index of A (A[i]), found A[j] too; give the second access a tensor of its own"
    assert str(error.value) == expected


def test_sizes_beyond_the_limits() -> None:
    with pytest.raises(TilewrightError, match="extents to 2147483648"):
        problem("O[i] = A[i]", i=1 << 40)
    with pytest.raises(TilewrightError, match="found no dims"):
        problem("O[0] = A[0]")


def test_bits_of_elements() -> None:
    found = problem_of_statement(parse_statement("O[i] += A[i,j]"), {"i": 2, "j": 3}, word_bits={"A": 8, "O": 32})
    assert [(tensor.name, tensor.word_bits) for tensor in found.tensors] == [("A", 8), ("O", 32)]
