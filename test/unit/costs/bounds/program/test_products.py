"""Bounds of bytes and products against programs of configured loops and of packets."""

import pytest

from tilewright.driver import compile

PRODUCT = "O[m,n] += A[m,k] * B[k,n]; m=64 n=64 k=64"
KERNELS = [
    PRODUCT,
    "O[m,n] += A[m,k] * B[k,n]; m=1 n=1 k=1",
    "O[m,n] += A[m,k] * B[k,n]; m=5 n=130 k=70",
    "O[n,k,p,q] += I[n,c,p+r,q+s] * W[k,c,r,s]; n=1 k=16 c=16 p=8 q=8 r=3 s=3",
    "O[n,c,p,q] += I[n,c,p+r,q+s] * W[c,r,s]; n=1 c=64 p=8 q=8 r=3 s=3",
    "O[m,n] = relu(A[m,n]); m=64 n=64",
    "O[m,n] = A[m,n] + B[m,n]; m=64 n=100",
    "operator:requantize",
    "operator:softmax_i8",
    "operator:add",
]


@pytest.mark.parametrize("target", ["dnnweaver", "hvx"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_programs_are_not_below(target: str, kernel: str):
    program = compile(kernel, target)
    assert set(program.lower_bound) == {"cycles", "energy_pj", "dram_bytes"}
    for name, least in program.lower_bound.items():
        assert least <= program.predicted.get(name, float("inf")) * (1 + 1e-9)
    assert program.lower_bound["dram_bytes"] > 0


def test_bytes_of_inputs_and_results_over_the_links():
    """64 bytes a cycle; two products of 128 elements in a packet, and two of a scalar core."""
    program = compile(PRODUCT, "dnnweaver")
    moved = 2 * 64 * 64 + 4 * 64 * 64
    assert program.lower_bound["dram_bytes"] == moved
    assert (program.lower_bound["cycles"], program.bound_by) == (moved / 64, "DRAM traffic")
    assert program.lower_bound["energy_pj"] == 84 * moved
    program = compile(PRODUCT, "hvx")
    assert program.bound_by == "sums of products"
    assert program.lower_bound["cycles"] == -(-(64**3) // (2 * 128 + 2))
