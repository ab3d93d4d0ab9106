"""Quantised layers on a machine of loops: bias, requantisation, pools, sums of two tensors, concatenation in place."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.backends.simulator import SimulationResult, simulate
from tilewright.driver import compile, load_model, make_context, parse_passes, reference
from tilewright.errors import TilewrightError

from ....onnx_files.networks import seeded_light_model
from ....onnx_files.quantized import quantized


def weight(name: str, values: np.ndarray, kind: str) -> str:
    shape = "".join(f"{n}x" for n in values.shape)
    return f"%{name} = graph.weight @{name} = dense<{values.tolist()}> : tensor<{shape}{kind}> : tensor<{shape}{kind}>"


def fire(lanes: tuple[int, int] = (64, 70), zero: int = -128) -> str:
    """Convolution with bias and requantisation to both parts of a concatenation, a pool over it, a sum with itself."""
    rng = np.random.default_rng(3)
    first, second = lanes
    both = first + second
    sizes = {"w": (first, 5, 3, 3), "v": (second, 5, 1, 1)}
    lines = [weight(n, rng.integers(-8, 8, shape), "si8") for n, shape in sizes.items()]
    for name, count in (("a", first), ("b", second)):
        lines.append(weight(f"{name}b", rng.integers(-900, 900, count), "i32"))
        lines.append(weight(f"{name}m", rng.integers(1 << 29, 1 << 31, count, dtype=np.int64), "i32"))
        lines.append(weight(f"{name}s", rng.integers(34, 39, count), "i32"))
    conv = """
  %{r} = nest.group @{r} dims {{k = {k}, p = 9, q = 7, c = 5{taps}}}
        ins(X = %x, W = %{w}, B = %{n}b, M = %{n}m, S = %{n}s) -> tensor<1x{k}x9x7xsi8> {{
  ^bb0(%X: tensor<1x5x9x7xsi8>, %W: tensor<{k}x5x{t}x{t}xsi8>, %B: tensor<{k}xi32>,
        %M: tensor<{k}xi32>, %S: tensor<{k}xi32>):
    %1 = nest.kernel @bias "Y[0, k, p, q] = B[k]" (B = %B) : (tensor<{k}xi32>) -> tensor<1x{k}x9x7xi32>
    %2 = nest.kernel @mac "Y[0, k, p, q] += X[0, c, {i}] * W[k, c, {j}]" (X = %X, W = %W) into %1 {pad}
        : (tensor<1x5x9x7xsi8>, tensor<{k}x5x{t}x{t}xsi8>)
        -> tensor<1x{k}x9x7xi32>
    %3 = nest.kernel @requantize "Y[0, k, p, q] = clip(rshift_round(A[0, k, p, q] * M[k], S[k]) + {zero}, -128, 127)"
        (A = %2, M = %M, S = %S) : (tensor<1x{k}x9x7xi32>, tensor<{k}xi32>, tensor<{k}xi32>) -> tensor<1x{k}x9x7xsi8>
    nest.yield %3 : tensor<1x{k}x9x7xsi8>
  }}"""
    text = "".join(f"\n  {line}" for line in lines)
    three = {"taps": ", r = 3, s = 3", "i": "p + r - 1, q + s - 1", "j": "r, s", "t": 3, "pad": "pad {X = -128} "}
    text += conv.format(r="l", k=first, w="w", n="a", zero=zero, **three)
    text += conv.format(r="h", k=second, w="v", n="b", taps="", i="p, q", j="0, 0", t=1, pad="", zero=zero)
    text += f"""
  %d = nest.group @low dims {{i1 = {first}, i2 = 9, i3 = 7}} ins(X = %l) -> tensor<1x{both}x9x7xsi8> {{
  ^bb0(%X: tensor<1x{first}x9x7xsi8>):
    %1 = nest.kernel @copy "Y[0, i1, i2, i3] = X[0, i1, i2, i3]" (X = %X)
        : (tensor<1x{first}x9x7xsi8>) -> tensor<1x{both}x9x7xsi8>
    nest.yield %1 : tensor<1x{both}x9x7xsi8>
  }}
  %e = nest.group @high dims {{i1 = {second}, i2 = 9, i3 = 7}} ins(X = %h, D = %d) -> tensor<1x{both}x9x7xsi8> {{
  ^bb0(%X: tensor<1x{second}x9x7xsi8>, %D: tensor<1x{both}x9x7xsi8>):
    %1 = nest.kernel @copy "Y[0, i1 + {first}, i2, i3] = X[0, i1, i2, i3]" (X = %X) into %D
        : (tensor<1x{second}x9x7xsi8>) -> tensor<1x{both}x9x7xsi8>
    nest.yield %1 : tensor<1x{both}x9x7xsi8>
  }}
  %m = nest.group @pool dims {{c = {both}, p = 4, q = 3, r = 3, s = 3}} ins(X = %e) -> tensor<1x{both}x4x3xsi8> {{
  ^bb0(%X: tensor<1x{both}x9x7xsi8>):
    %1 = nest.kernel @max "Y[0, c, p, q] max= X[0, c, 2 * p + r, 2 * q + s]" (X = %X)
        : (tensor<1x{both}x9x7xsi8>) -> tensor<1x{both}x4x3xsi8>
    nest.yield %1 : tensor<1x{both}x4x3xsi8>
  }}
  %y = nest.group @mean dims {{c = {both}, h = 4, w = 3}} ins(X = %m) -> tensor<1x{both}x1x1xi32> {{
  ^bb0(%X: tensor<1x{both}x4x3xsi8>):
    %1 = nest.kernel @sum "Y[0, c, 0, 0] += X[0, c, h, w]" (X = %X)
        : (tensor<1x{both}x4x3xsi8>) -> tensor<1x{both}x1x1xi32>
    %2 = nest.kernel @add "Y[0, c, 0, 0] = A[0, c, 0, 0] - 77"
        (A = %1) into %1 : (tensor<1x{both}x1x1xi32>) -> tensor<1x{both}x1x1xi32>
    nest.yield %2 : tensor<1x{both}x1x1xi32>
  }}
  %z = nest.group @twice dims {{c = {both}, p = 4, q = 3}} ins(A = %m, B = %m) -> tensor<1x{both}x4x3xi32> {{
  ^bb0(%A: tensor<1x{both}x4x3xsi8>, %B: tensor<1x{both}x4x3xsi8>):
    %1 = nest.kernel @sum "Y[0, c, p, q] = max(A[0, c, p, q] + B[0, c, p, q], -100)"
        (A = %A, B = %B) : (tensor<1x{both}x4x3xsi8>, tensor<1x{both}x4x3xsi8>) -> tensor<1x{both}x4x3xi32>
    nest.yield %1 : tensor<1x{both}x4x3xi32>
  }}"""
    results = f"tensor<1x{both}x1x1xi32>, tensor<1x{both}x4x3xi32>"
    names = 'attributes {graph.inputs = ["x"], graph.outputs = ["y", "z"]}'
    end = f"func.return %y, %z : {results}"
    return f"func.func @main(%x: tensor<1x5x9x7xsi8>) -> ({results}) {names} {{{text}\n  {end}\n}}"


def parsed(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def run(module: ModuleOp) -> tuple[SimulationResult, dict[str, np.ndarray]]:
    program = compile(module, "dnnweaver")
    rng = np.random.default_rng(5)
    inputs = {t.name: rng.integers(-128, 128, t.shape).astype(np.int8) for t in program.tensors if t.role == "input"}
    return simulate(program, inputs), reference(module, inputs)


@pytest.mark.parametrize("zero", [-128, 5])
def test_layers_of_a_fire_module(zero: int):
    result, expected = run(parsed(fire(zero=zero)))
    for name in ("y", "z"):
        assert (result.outputs[name] == expected[name]).all()


def test_parts_that_do_not_begin_at_a_row_are_refused():
    with pytest.raises(TilewrightError, match="whole rows of lanes"):
        compile(parsed(fire((60, 70))), "dnnweaver")


def test_nothing_is_copied():
    """Both convolutions store into the concatenation: no group of the vector engine copies."""
    module = parsed(fire())
    program = compile(module, "dnnweaver")
    assert not any(t.name in ("l", "h", "low") for t in program.tensors)


def test_rows_after_a_product_of_many_tiles():
    """The product stores its own results: the group behind it runs on its own tiles, not once for each of its."""
    module = parsed("""
func.func @main(%a: tensor<2100x8xsi8>, %b: tensor<8x64xsi8>) -> (tensor<2100x64xi32>, tensor<2100x64xi32>)
    attributes {graph.inputs = ["a", "b"], graph.outputs = ["y", "z"]} {
  %y = graph.matmul %a, %b : (tensor<2100x8xsi8>, tensor<8x64xsi8>) -> tensor<2100x64xi32>
  %m = graph.reduce max %y axes [1] keepdims : (tensor<2100x64xi32>) -> tensor<2100x1xi32>
  %z = graph.binary sub %y, %m : (tensor<2100x64xi32>, tensor<2100x1xi32>) -> tensor<2100x64xi32>
  func.return %y, %z : tensor<2100x64xi32>, tensor<2100x64xi32>
}""")
    program = compile(module, "dnnweaver")
    rng = np.random.default_rng(5)
    inputs = {t.name: rng.integers(-128, 128, t.shape).astype(np.int8) for t in program.tensors if t.role == "input"}
    result = simulate(program, inputs)
    assert (result.outputs["z"] == reference(module, inputs)["z"]).all()
    assert result.dram_bytes == program.predicted["model_dram_bytes"]


@pytest.mark.parametrize("operator", ["softmax_i8", "layer_norm_i8", "gelu_i8", "depthwise", "maxpool"])
def test_cycles_are_as_predicted(operator: str):
    """What a small program takes is rows and instructions; what it waits for DRAM at its ends is not foreseen."""
    program = compile(load_model(f"operator:{operator}"), "dnnweaver")
    result = simulate(program, functional=False)
    assert result.dram_bytes == program.predicted["model_dram_bytes"]
    assert result.cycles == pytest.approx(program.predicted["model_cycles"], rel=0.15)


@pytest.mark.slow
def test_squeezenet_bit_for_bit():
    module = load_model(quantized(seeded_light_model("squeezenet"), signed=True))
    parse_passes("graph-normalize,graph-quantize,graph-integers").apply(make_context(), module)
    result, expected = run(module)
    assert all((result.outputs[name] == expected[name]).all() for name in expected)
    assert result.utilization["PE"] > 0.35
