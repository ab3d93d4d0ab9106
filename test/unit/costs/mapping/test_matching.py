"""Statements of kernels against statements of capabilities."""

import pytest

from tilewright.algebra.expr import dims_of, tensors_of
from tilewright.algebra.parser import parse_expr, parse_statement
from tilewright.costs.mapping.matching import Match, match, matches
from tilewright.costs.mapping.problem import Kernel
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.machine import Capability, CapabilityDim


def kernel(text: str, *types: str) -> Kernel:
    statement = parse_statement(text)
    names = tensors_of(statement)
    given = types or ("f32",) * len(names)
    pairs = tuple((name, name) for name in names)
    return Kernel("k", statement, pairs, tuple(zip(names, given, strict=True)), False)


def capability(text: str, functions: str = "", immediates: str = "", types: tuple[str, ...] = ()) -> Capability:
    statement = parse_statement(text)
    count = len(tensors_of(statement))
    dims = tuple(CapabilityDim(d, 100) for d in dims_of(statement))
    variables = (("F", tuple(functions.split())),) if functions else ()
    numbers = tuple((name, "f32") for name in immediates.split())
    row = types or ("f32",) * count
    return Capability("c", "N", dims, statement, (row,), parse_expr("1"), parse_expr("0"), variables, numbers)


def found(text: str, pattern: Capability, *types: str) -> Match:
    result = match(kernel(text, *types), pattern)
    assert result is not None
    return result


MATMUL = capability("O{k, p} += X{p, c} * W{k, c}")
CONV = capability("O{g, k, p, q} += X{g, p, q, c, r, s} * W{g, k, c, r, s}")


def test_dims_go_where_their_operands_are():
    slots = dict(found("Y[n,k,p,q] += X[n,c,2*p+r,2*q+s] * W[k,c,r,s]", CONV).slots)
    assert slots["k"] == ("g", "k")
    assert slots["p"] == slots["q"] == slots["n"] == ("g", "p", "q")
    assert slots["c"] == slots["r"] == ("c", "r", "s")


def test_a_dim_of_all_operands_needs_a_slot_of_all():
    slots = dict(found("Y[b,m,n] += A[b,m,k] * B[b,k,n]", CONV).slots)
    assert slots["b"] == ("g",)
    slots = dict(found("Y[b,m,n] += A[b,m,k] * B[b,k,n]", MATMUL).slots)
    assert slots["b"] == ()


def test_functions_and_identity():
    unary = capability("O{a} = F(A{a})", "identity relu")
    assert found("Y[i] = X[i]", unary).functions == (("F", "identity"),)
    assert found("Y[i] = relu(X[i])", unary).functions == (("F", "relu"),)
    assert match(kernel("Y[i] = exp(X[i])"), unary) is None


def test_numbers_fill_immediates_on_either_side():
    scale = capability("O{a} = F(A{a}, V)", "mul sub rsub", "V")
    assert found("Y[i] = 2.0 * X[i]", scale).immediates == (("V", 2.0),)
    assert found("Y[i] = X[i] - 3.0", scale).functions == (("F", "sub"),)
    assert found("Y[i] = 3.0 - X[i]", scale).functions == (("F", "rsub"),)


def test_nested_values():
    requant = capability("O{a} = clip(rshift_round(A{a} * M{a}, S{a}) + Z, L, H)", "", "Z L H")
    text = "Y[i] = clip(rshift_round(X[i] * M[], S[]) + 3, 0, 255)"
    result = found(text, requant)
    assert result.immediates == (("Z", 3), ("L", 0), ("H", 255))
    assert result.tensors == (("O", "Y"), ("A", "X"), ("M", "M"), ("S", "S"))


def test_commuted_operands_keep_their_types():
    mac = capability("O{k, p} += X{p, c} * W{k, c}", types=("i32", "u8", "i8"))
    result = found("Y[m,n] += A[n,k] * B[m,k]", mac, "i32", "i8", "u8")
    assert dict(result.tensors) == {"O": "Y", "X": "B", "W": "A"}
    assert match(kernel("Y[m,n] += A[n,k] * B[m,k]", "i32", "i8", "i8"), mac) is None


def test_reductions_must_agree():
    total = capability("O{a} += A{a, r}")
    assert match(kernel("Y[i] max= X[i,j]"), total) is None
    assert match(kernel("Y[i] = X[i]"), total) is None


def test_a_tensor_read_at_two_places_needs_two_names():
    add = capability("O{a} = A{a} + B{a}")
    assert match(kernel("Y[i] = X[i] + X[i + 1]"), add) is None
    assert match(kernel("Y[i] = X[i] + X[i]"), add) is not None


def test_no_capability_is_an_error_with_the_statement():
    with pytest.raises(TilewrightError, match=r"kernel @k: expected a capability of tiny for `Y\[i\] = sin\(X\[i\]\)`"):
        matches(kernel("Y[i] = sin(X[i])"), load_target("tiny"))
