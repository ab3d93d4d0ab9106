"""DianNao's programs: words of 256 bits, passes with loops in hardware, 16-bit numbers that wrap."""

from pathlib import Path

import numpy as np
import pytest

from tilewright import Program, compile, load_target, simulate
from tilewright.driver import load_model, reference
from tilewright.frontends.einsum import einsum_module
from tilewright.frontends.layers import named_module
from tilewright.zoo.covenant_layers import LAYERS

MACHINE = load_target("diannao")


def run(program: Program, seed: int = 0) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], int]:
    rng = np.random.default_rng(seed)
    inputs = {t.name: rng.integers(-100, 100, t.shape).astype(t.dtype) for t in program.tensors if t.role == "input"}
    result = simulate(program, inputs)
    return inputs, dict(result.outputs), result.cycles


def test_words_have_256_bits():
    assert {word.bytes for word in MACHINE.words.values()} == {32}


@pytest.mark.parametrize(
    "text",
    [
        "O[n,k,p,q] += I[n,c,p+r,q+s] * W[k,c,r,s]; n=1 k=40 c=20 p=9 q=11 r=3 s=3",
        "O[n,k,p,q] += I[n,c,2*p+r,2*q+s] * W[k,c,r,s]; n=2 k=18 c=3 p=8 q=9 r=5 s=5",
        "O[m,n] += A[m,k] * B[k,n]; m=33 n=50 k=700",
    ],
)
def test_products_of_16_bits_wrap_as_those_of_numpy(text: str):
    names = "OIW" if "I[" in text else "OAB"
    module = einsum_module(text, dict.fromkeys(names, "i16"))
    program = compile(module, "diannao")
    inputs, outputs, _ = run(program)
    np.testing.assert_array_equal(outputs["O"], reference(module, inputs)["O"])


def test_hardware_loops_carry_hundreds_of_operations_an_instruction():
    module = einsum_module(
        "O[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]; k=64 c=64 p=28 q=28 r=3 s=3", dict.fromkeys("OIW", "i16")
    )
    program = compile(module, "diannao")
    _, _, cycles = run(program)
    macs = 64 * 64 * 28 * 28 * 9
    assert macs / program.instruction_count > 5000
    assert 1 <= cycles / (macs / 256) < 2


@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_covenant_run(name: str):
    module = named_module(f"covenant_cut:{name}")
    assert module is not None
    inputs, outputs, _ = run(compile(module, "diannao"))
    np.testing.assert_array_equal(outputs["Y"], reference(module, inputs)["Y"])


def test_what_follows_a_product_runs_on_the_output_buffer(tmp_path: Path):
    path = tmp_path / "layer.mlir"
    path.write_text("""
func.func @main(%x: tensor<1x8x12x12xsi8>, %w: tensor<20x8x3x3xsi8>, %b: tensor<20xi32>) -> tensor<1x20x6x6xi32> {
  %a = graph.conv %x, %w, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
     : (tensor<1x8x12x12xsi8>, tensor<20x8x3x3xsi8>, tensor<20xi32>) -> tensor<1x20x12x12xi32>
  %r = graph.unary relu %a : (tensor<1x20x12x12xi32>) -> tensor<1x20x12x12xi32>
  %y = graph.pool max %r kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
     : (tensor<1x20x12x12xi32>) -> tensor<1x20x6x6xi32>
  func.return %y : tensor<1x20x6x6xi32>
}
""")
    module = load_model(path)
    program = compile(module, "diannao")
    inputs, outputs, _ = run(program)
    (name,) = outputs
    np.testing.assert_array_equal(outputs[name], reference(module, inputs)[name])
