"""Kernels compiled for machines of control model `loops`: the simulator's outputs are NumPy's, bit for bit."""

from pathlib import Path

import numpy as np
import pytest

from tilewright.backends.program import Program, load_program
from tilewright.backends.simulator import SimulationResult, simulate
from tilewright.driver import compile, load_model, reference
from tilewright.errors import TilewrightError
from tilewright.frontends.einsum import einsum_module
from tilewright.zoo.covenant_layers import LAYERS

INTEGERS = {"O": "i32", "A": "i8", "B": "i8"}

KERNELS = {
    "gemm": "O[m,n] += A[m,k] * B[k,n]; m=70 n=130 k=200",
    "transposed": "O[m,n] += A[m,k] * B[n,k]; m=9 n=65 k=64",
    "batched": "O[b,m,n] += A[b,m,k] * B[b,k,n]; b=3 m=5 n=70 k=66",
    "heads": "O[h,m,n] += A[m,k] * B[h,k,n]; h=2 m=7 n=64 k=130",
    "conv": "O[n,k,p,q] += A[n,c,p+r,q+s] * B[k,c,r,s]; n=2 k=70 c=65 p=9 q=11 r=3 s=2",
    "strided": "O[n,k,p,q] += A[n,c,2*p+r,3*q+s] * B[k,c,r,s]; n=1 k=5 c=3 p=6 q=7 r=3 s=3",
    "long rows": "O[m,n] += A[m,k] * B[k,n]; m=3 n=64 k=9000",
}


def both(text: str, target: str = "dnnweaver") -> tuple[Program, SimulationResult, dict[str, np.ndarray]]:
    module = einsum_module(text, INTEGERS)
    program = compile(module, target)
    rng = np.random.default_rng(7)
    inputs = {t.name: rng.integers(-128, 128, t.shape).astype(np.int8) for t in program.tensors if t.role == "input"}
    return program, simulate(program, inputs), reference(module, inputs)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str):
    program, result, expected = both(KERNELS[name])
    assert (result.outputs["O"] == expected["O"]).all()
    assert result.dram_bytes == program.predicted["model_dram_bytes"]
    counted = {"cycles": result.cycles, "energy_pj": result.energy_pj, "dram_bytes": result.dram_bytes}
    assert {key: program.predicted[key] for key in counted} == counted
    assert result.energy_pj > 0


@pytest.mark.parametrize("name", LAYERS)
def test_cuts_of_layers(name: str):
    module = load_model(f"covenant_cut:{name}")
    program = compile(module, "dnnweaver")
    rng = np.random.default_rng(1)
    inputs = {t.name: rng.integers(-128, 128, t.shape).astype(np.int8) for t in program.tensors if t.role == "input"}
    result = simulate(program, inputs)
    assert (result.outputs["Y"] == reference(load_model(f"covenant_cut:{name}"), inputs)["Y"]).all()


def test_traffic_of_a_large_product_is_near_the_least():
    """BERT-large's first: 1.15 of what must be moved at least, and most of the array's cycles are used."""
    program = compile(load_model("covenant:bert_gemm1"), "dnnweaver")
    result = simulate(program, functional=False)
    assert result.dram_bytes <= 1.15 * (384 * 1024 + 1024 * 4096 + 4 * 384 * 4096)
    assert result.utilization["PE"] > 0.85
    assert result.cycles == pytest.approx(program.predicted["model_cycles"], rel=0.02)


def test_programs_are_saved_with_their_layouts(tmp_path: Path):
    program, result, _ = both("O[m,n] += A[m,k] * B[k,n]; m=6 n=20 k=40")
    again = load_program(program.save(tmp_path))
    assert again == program
    rng = np.random.default_rng(7)
    inputs = {t.name: rng.integers(-128, 128, t.shape).astype(np.int8) for t in program.tensors if t.role == "input"}
    assert (simulate(again, inputs).outputs["O"] == result.outputs["O"]).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("O[m,n] += A[m,k] * B[k,n] * B[k,n]; m=4 n=4 k=4", "a sum of products of two tensors"),
        ("O[m] += A[m,k] * B[m,k]; m=4 k=4", "a dim that is summed over lanes, and columns"),
        (
            "O[m,0] = A[m]; m=4",
            "the same dim over lanes in the result and what it reads, found no dim in the result, m",
        ),
        ("O[m,0] = A[m,3]; m=4", "an index of axis 1 that begins at a multiple of 64 lanes, found A[m, 3]"),
        ("O[m,n] += A[m,k+2*j] * B[k,j,n]; m=4 n=4 k=4 j=2", "taps next to each other"),
    ],
)
def test_what_the_array_does_not_take(text: str, message: str):
    with pytest.raises(TilewrightError) as error:
        compile(einsum_module(text, INTEGERS), "dnnweaver")
    assert message in str(error.value)


def test_floats_are_refused():
    with pytest.raises(TilewrightError, match="kernel @O: expected integers: dnnweaver has no floats, found f32"):
        compile(einsum_module("O[m,n] += A[m,k] * B[k,n]; m=4 n=4 k=4"), "dnnweaver")
