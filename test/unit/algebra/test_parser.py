import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.algebra.expr import (
    Access,
    Call,
    Expr,
    Name,
    Num,
    Statement,
    Strided,
    dims_of,
    print_expr,
    print_statement,
    reduction_dims,
    scalars_of,
    substitute_statement,
    tensors_of,
)
from tilewright.algebra.parser import parse_expr, parse_statement
from tilewright.errors import TilewrightError


def test_convolution():
    s = parse_statement("O[n,k,p,q] += X[n, c, 2*p + r, 2*q + s] * W[k,c,r,s]")
    assert isinstance(s.target, Access)
    assert s.reduce == "+="
    assert tensors_of(s) == ("O", "X", "W")
    assert dims_of(s) == ("n", "k", "p", "q", "c", "r", "s")
    assert reduction_dims(s) == ("c", "r", "s")
    assert parse_statement(print_statement(s)) == s


def test_capability():
    s = parse_statement("O{a,b} = clip(rshift_round(A{a,b} * M{a,b}, S{a,b}) + Z, L, H)")
    assert isinstance(s.target, Strided)
    assert scalars_of(s) == ("Z", "L", "H")
    assert tensors_of(s) == ("O", "A", "M", "S")


def test_zero_dims():
    assert parse_statement("O[] max= A{}") == Statement(Access("O", ()), "max=", Strided("A", ()))


@pytest.mark.parametrize(
    "text",
    [
        "a + b * c - d / e",
        "a - (b - c)",
        "(a + b) * c",
        "a // (b % c)",
        "-(a + b) * -c",
        "-3 * a",
        "neg(3) - -4.0",
        "a == b + 1",
        "(a == b) < c",
        "max(1, min(16 // c, 32 // k))",
        "-inf",
        "1e-05 + 0.1",
    ],
)
def test_prints_as_written(text: str):
    assert print_expr(parse_expr(text)) == text


def test_numbers_keep_their_kind():
    assert repr(parse_expr("3")) == "Num(value=3)"
    assert repr(parse_expr("3.0")) == "Num(value=3.0)"
    assert parse_expr("0x10") == Num(16)


@pytest.mark.parametrize(
    ("text", "subject", "expected"),
    [
        ("O[i] = A[i", "statement:1:11", "`,` or `]`"),
        ("O[i] =\n A[i] $", "statement:2:7", "a number, a name or an operator"),
        ("O[i] = A[i,j]", "statement:1:1", "a reduction"),
        ("O[i] == A[i]", "statement:1:6", "`=`"),
        ("O = A[i]", "statement:1:3", "`[` or `{`"),
        ("O[i] = relu(A[i], 3)", "statement:1:8", "1 arguments of relu"),
        ("O{i,i} = A{i}", "statement:1:5", "different dims"),
        ("O[i] = A[i] A[i]", "statement:1:13", "an operator or the end"),
        ("", "statement:1:1", "the name of the target"),
    ],
)
def test_errors_are_located(text: str, subject: str, expected: str):
    with pytest.raises(TilewrightError) as info:
        parse_statement(text)
    assert info.value.kind == "parse"
    assert info.value.subject == subject
    assert expected in info.value.expected


def test_hostile_sizes():
    for text in ("(" * 5000 + "1", "-" * 5000 + "a", "+".join("a" * 4000), "1" * 5000, "a" * 10000, "f(" * 100):
        with pytest.raises(TilewrightError):
            parse_expr(text)


def test_substitute():
    s = parse_statement("O[i] += F(A[i,j])")
    renamed = substitute_statement(s, {"i": parse_expr("2*k+1")}, {"A": "X"}, {"F": "relu"})
    assert print_statement(renamed) == "O[2 * k + 1] += relu(X[2 * k + 1, j])"


names = st.sampled_from(["a", "b", "i", "x_1"])
leaves: st.SearchStrategy[Expr] = st.one_of(
    st.integers(-(10**9), 10**9).map(Num),
    st.floats(allow_nan=False).map(Num),
    names.map(Name),
    st.lists(names, unique=True).map(lambda dims: Strided("T", tuple(dims))),
)


def grown(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    binary = st.sampled_from(["add", "sub", "mul", "div", "floordiv", "mod", "eq", "lt", "max", "pow"])
    return st.one_of(
        st.builds(lambda fn, a, b: Call(fn, (a, b)), binary, inner, inner),
        st.builds(lambda fn, a: Call(fn, (a,)), st.sampled_from(["neg", "relu", "F"]), inner),
        st.builds(lambda indices: Access("A", tuple(indices)), st.lists(inner, max_size=3)),
    )


@settings(max_examples=300, deadline=None)
@given(st.recursive(leaves, grown, max_leaves=20))
def test_print_then_parse_is_the_same(expr: Expr):
    assert repr(parse_expr(print_expr(expr))) == repr(expr)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="Oi[]{}(),+-*/%<=>!0.1ex max", max_size=40))
def test_any_text_parses_or_is_refused(text: str):
    try:
        parse_statement(text)
    except TilewrightError as error:
        if error.kind != "parse":
            raise
