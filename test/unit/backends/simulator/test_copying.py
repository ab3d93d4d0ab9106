import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.algebra.evaluate import run_strided
from tilewright.algebra.layout import Operand
from tilewright.algebra.parser import parse_statement
from tilewright.backends.simulator.plan import make_copy

COPY = parse_statement("D{c,b,a} = S{c,b,a}")


def copy_both_ways(
    extents: dict[str, int], to: tuple[int, ...], from_: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    source = np.random.default_rng(0).integers(0, 255, 4096).astype(np.uint8)
    fast, slow = np.zeros(4096, np.uint8), np.zeros(4096, np.uint8)
    operands = [Operand(np.dtype(np.uint8), dict(zip("cba", s, strict=True))) for s in (to, from_)]
    copy = make_copy(COPY, {}, extents, operands)
    shape = tuple(extents.values())
    views = {"D": np.ndarray(shape, np.uint8, slow, 2000, to), "S": np.ndarray(shape, np.uint8, source, 2000, from_)}
    run_strided(COPY, views, extents)
    if copy is None:
        return slow, slow
    copy(fast, 2000, source, 2000)
    return fast, slow


@settings(max_examples=200, deadline=None)
@given(
    st.tuples(*[st.integers(1, 6)] * 3),
    st.tuples(*[st.sampled_from([1, 2, 4, 6, 8, 24, 36, 64, -8, 0])] * 3),
    st.tuples(*[st.sampled_from([1, 2, 4, 6, 8, 24, 36, 64, -8, 0])] * 3),
)
def test_same_bytes_as_the_statement(shape: tuple[int, ...], to: tuple[int, ...], from_: tuple[int, ...]):
    fast, slow = copy_both_ways(dict(zip("cba", shape, strict=True)), to, from_)
    assert np.array_equal(fast, slow)


def test_dense_copies_are_plain():
    fast, slow = copy_both_ways({"c": 2, "b": 3, "a": 8}, (24, 8, 1), (24, 8, 1))
    assert fast.any()
    assert np.array_equal(fast, slow)


def test_other_statements_are_no_copies():
    operands = [Operand(np.dtype(np.uint8), {"a": 1})] * 2
    assert make_copy(parse_statement("D{a} += S{a}"), {}, {"a": 4}, operands) is None
    assert make_copy(parse_statement("D{a} = F(S{a})"), {"F": "relu"}, {"a": 4}, operands) is None
    assert make_copy(parse_statement("D{a} = F(S{a})"), {"F": "identity"}, {"a": 4}, operands) is not None
