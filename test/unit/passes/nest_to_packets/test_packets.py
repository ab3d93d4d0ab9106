"""Kernels of all shapes on two machines: simulated outputs are NumPy's, packets are what the code says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.backends.packets.simulator import simulate_packets
from tilewright.errors import TilewrightError
from tilewright.frontends.einsum import integer_types, parse_einsum
from tilewright.machine.packet_program import executed_packets
from tilewright.passes.nest_to_packets.network import Switches

from ....bench_scripts import bench
from .machines import isa_of, make

KERNELS = (
    "O[i] = A[i] + B[i]; i=1",
    "O[i,j] = max(A[i,j], 7) + B[i,j]; i=5 j=61",
    "O[i] = relu(A[i]); i=1100",
    "O[m,n] += A[m,k] * B[k,n]; m=1 n=1 k=1",
    "O[m,n] += A[m,k] * B[k,n]; m=13 n=70 k=37",
    "O[m,n] += A[m,k] * B[k,n]; m=29 n=8 k=8",  # one iteration in a tile, rows left over
    "O[n,m] += A[m,k] * B[k,n]; m=5 n=33 k=8",
    "O[h,m,n] += A[h,m,k] * B[h,k,n]; h=3 m=6 n=9 k=16",
    "O[m,h,n] += A[m,k] * B[h,k,n]; h=3 m=6 n=9 k=16",
    "O[p,q,k] += A[p + r, q + s, c] * B[r,s,c,k]; p=5 q=4 k=20 r=3 s=3 c=8",
    "O[n,k,p,q] += A[n, c, 2*p + r, 2*q + s] * B[k,c,r,s]; n=2 p=3 q=5 k=6 r=3 s=2 c=3",
    "O[m,n] += A[m,k] * B[k,n]; m=77 n=8 k=16",  # eight rows in a vector, more than a tree of them
    "O[p,q,k] += A[p + r, q, c] * B[r,c,k]; p=2 q=37 k=8 r=2 c=8",  # corrections of each row of places apart
    "O[p,k] += A[p + 2*r, c] * B[r,c,k]; p=9 k=33 r=3 c=12",
    "O[p,q,c] max= A[2*p + r, 2*q + s, c]; p=5 q=4 c=70 r=3 s=2",
    "O[c] += A[i,c]; i=7 c=3",
    "O[i] += A[i,j]; i=4 j=3",
)


@pytest.mark.parametrize("name", ["hvx", "pair"])
@pytest.mark.parametrize("text", KERNELS)
def test_kernels_are_numpy_s(text: str, name: str):
    isa = isa_of(name)
    program, inputs, expected = make(isa, text, {"A": "i8"} if "* B" in text and name == "pair" else None)
    run = simulate_packets(isa, program, inputs)
    np.testing.assert_array_equal(run.outputs["O"], expected)
    assert run.packets == executed_packets(program.code)


@given(m=st.integers(1, 40), n=st.integers(1, 80), k=st.integers(1, 70), pack=st.booleans(), pipeline=st.booleans())
@settings(max_examples=12)
def test_any_product_with_and_without_scheduling(m: int, n: int, k: int, pack: bool, pipeline: bool):
    isa = isa_of("hvx")
    switches = Switches(pack=pack, pipeline=pipeline, unroll=pack)
    program, inputs, expected = make(isa, f"O[m,n] += A[m,k] * B[k,n]; m={m} n={n} k={k}", None, switches)
    np.testing.assert_array_equal(simulate_packets(isa, program, inputs).outputs["O"], expected)


@given(p=st.integers(1, 9), q=st.integers(1, 9), k=st.integers(1, 40), c=st.integers(1, 20), taps=st.integers(1, 3),
       step=st.integers(1, 2))  # fmt: skip
@settings(max_examples=12)
def test_any_convolution(p: int, q: int, k: int, c: int, taps: int, step: int):
    isa = isa_of("hvx")
    text = f"O[p,q,k] += A[{step}*p + r, {step}*q + s, c] * B[r,s,c,k]; p={p} q={q} k={k} c={c} r={taps} s={taps}"
    program, inputs, expected = make(isa, text)
    np.testing.assert_array_equal(simulate_packets(isa, program, inputs).outputs["O"], expected)


@pytest.mark.parametrize("text", [KERNELS[1], KERNELS[4], KERNELS[8]])
@pytest.mark.parametrize("off", ["pack", "unroll", "pipeline", "choose"])
def test_each_optimisation_is_worth_something(text: str, off: str):
    """Without it outputs are the same, and packets not fewer."""
    isa = isa_of("hvx")
    switches = Switches(**{off: False})
    program, inputs, expected = make(isa, text, None, switches)
    np.testing.assert_array_equal(simulate_packets(isa, program, inputs).outputs["O"], expected)
    assert executed_packets(program.code) >= executed_packets(make(isa, text)[0].code)


@pytest.mark.parametrize("text", [KERNELS[1], KERNELS[4]])
def test_scalars_give_the_same_in_more_packets(text: str):
    """The program that the bench compares with."""
    isa = isa_of("hvx")
    program, inputs, expected = make(isa, text)
    statement, extents = parse_einsum(text)
    types = integer_types(statement)
    alone = bench("hvx_scalars").scalar_program(isa, statement, extents, types, Switches())
    np.testing.assert_array_equal(simulate_packets(isa, alone, inputs).outputs["O"], expected)
    assert executed_packets(alone.code) > executed_packets(program.code)


def test_the_same_program_every_time():
    text = "O[m,n] += A[m,k] * B[k,n]; m=20 n=70 k=64"
    assert make(isa_of("hvx"), text)[0] == make(isa_of("hvx"), text)[0]


def test_products_fill_packets():
    """At least 252 of 256 possible multiplications a packet, corrections counted, where the product is large."""
    program, _, _ = make(isa_of("hvx"), "O[m,n] += A[m,k] * B[k,n]; m=56 n=512 k=1024")
    assert 56 * 512 * 1024 / executed_packets(program.code) >= 245


def test_elementwise_at_the_limit_of_loads_and_stores():
    add, _, _ = make(isa_of("hvx"), "O[i] = A[i] + B[i]; i=32768")
    assert executed_packets(add.code) <= 1024 * 2 + 8
    relu, _, _ = make(isa_of("hvx"), "O[i] = relu(A[i]); i=32768")
    assert executed_packets(relu.code) <= 1024 + 12


@pytest.mark.parametrize(
    ("text", "types", "expected"),
    [
        ("O[i] = exp(A[i]); i=4", {}, "functions of integers"),
        ("O[i] = max(A[i] + B[i], 7); i=4", {}, "values that i32 holds"),
        ("O[m] += A[m,k] * B[k]; m=4 k=3", {"A": "i16"}, "an instruction of hvx"),
        ("O[m,n] += A[m + k] * B[k,n]; m=4 n=4 k=3", {}, "a reduced dim as an index"),
    ],
)
def test_what_has_no_instruction_is_refused(text: str, types: dict[str, str], expected: str):
    with pytest.raises(TilewrightError) as caught:
        make(isa_of("hvx"), text, types)
    assert expected in f"{caught.value}"


@pytest.mark.parametrize(
    ("text", "packed"),
    [
        ("O[m,n] += A[m,k] * B[k,n]; m=499 n=1 k=500", "A"),
        ("O[m,n] += B[k,n] * A[m,k]; m=499 n=1 k=500", "A"),
        ("O[m,n] += A[m,k] * B[k,n]; m=1 n=499 k=500", "B"),
        ("O[h,m,n] += A[h,m,k] * B[h,k,n]; h=2 m=60 n=9 k=16", "A"),
        ("O[m,n] += A[m,k] * B[k,n]; m=64 n=64 k=32", "B"),  # no matter, so what has weights
    ],
)
def test_the_better_operand_is_packed(text: str, packed: str):
    program, inputs, expected = make(isa_of("hvx"), text)
    run = simulate_packets(isa_of("hvx"), program, inputs)
    np.testing.assert_array_equal(run.outputs["O"], expected)
    assert [tensor.name for tensor in program.stored if tensor.packing is not None] == [packed]
    if "m=499" in text:
        assert run.packets < 2100
