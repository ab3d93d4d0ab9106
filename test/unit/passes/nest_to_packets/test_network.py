"""Programs of several kernels on HVX: outputs in simulation and under qemu are those of the statements one by one."""

from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright.arrays import make_inputs
from tilewright.backends.hexagon import missing_tools
from tilewright.driver import load_model, parse_passes, reference
from tilewright.driver.models import make_context, parse_mlir
from tilewright.driver.pipelines import INTEGER_PART
from tilewright.frontends.layers import OPERATORS, operator_file

INTEGERS = [name for name in OPERATORS if "f32" not in operator_file(name).read_text()]
FUNCTION = 'func.func @main({args}) -> {result} attributes {{graph.inputs = [{names}], graph.outputs = ["y"]}} {{'

NETWORK = """
  %w1 = graph.weight @w1 = dense<W1> : tensor<12x5x3x3xsi8> : tensor<12x5x3x3xsi8>
  %w2 = graph.weight @w2 = dense<W2> : tensor<12x1x3x3xsi8> : tensor<12x1x3x3xsi8>
  %b = graph.weight @b = dense<-700> : tensor<12xi32> : tensor<12xi32>
  %m = graph.weight @m = dense<1518500250> : tensor<12xi32> : tensor<12xi32>
  %s = graph.weight @s = dense<40> : tensor<12xi32> : tensor<12xi32>
  %a = graph.conv %x, %w1, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
     : (tensor<1x5x6x7xui8>, tensor<12x5x3x3xsi8>, tensor<12xi32>) -> tensor<1x12x6x7xi32>
  %q = graph.requantize %a, %m, %s axis 1 zero_point 3 range [0, 255]
     : (tensor<1x12x6x7xi32>, tensor<12xi32>, tensor<12xi32>) -> tensor<1x12x6x7xui8>
  %d = graph.conv %q, %w2 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 12
     : (tensor<1x12x6x7xui8>, tensor<12x1x3x3xsi8>) -> tensor<1x12x6x7xi32>
  %e = graph.requantize %d, %m, %s axis 1 zero_point 0 range [0, 255]
     : (tensor<1x12x6x7xi32>, tensor<12xi32>, tensor<12xi32>) -> tensor<1x12x6x7xui8>
  %c = graph.concat %q, %e axis 1 : (tensor<1x12x6x7xui8>, tensor<1x12x6x7xui8>) -> tensor<1x24x6x7xui8>
  %y = graph.pool max %c kernel [3, 3] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
     : (tensor<1x24x6x7xui8>) -> tensor<1x24x2x3xui8>
  func.return %y : tensor<1x24x2x3xui8>
}
"""


def check(file: Path | str) -> None:
    module = load_model(file)
    parse_passes(INTEGER_PART).apply(make_context(), module)
    program = tilewright.compile(module, "hvx")
    signature = {t.name: (t.shape, np.dtype(t.dtype)) for t in program.tensors if t.role == "input"}
    inputs = {name: array if array.itemsize == 1 else (array - 3) * 98765432 for name, array in
              make_inputs(signature, 1).items()}  # fmt: skip
    result, independent = tilewright.simulate(program, inputs), program.control.execute(program, inputs)
    assert independent is not None
    for name, array in reference(module, inputs).items():
        assert len(np.unique(array)) > 2
        np.testing.assert_array_equal(result.outputs[name], array)
        if not missing_tools():
            assert independent.outputs is not None
            np.testing.assert_array_equal(independent.outputs[name], array)
    assert missing_tools() or independent.packets == result.cycles


def dense(rng: np.random.Generator, *shape: int) -> str:
    return str(rng.integers(-128, 128, shape).tolist())


@pytest.mark.parametrize(
    "operator", [pytest.param(name, marks=[pytest.mark.slow] if name == "conv" else []) for name in INTEGERS]
)
def test_operators_on_integers(operator: str):
    check(f"operator:{operator}")


def test_a_network_of_sums_pools_and_joined_channels(tmp_path: Path):
    rng = np.random.default_rng(0)
    head = FUNCTION.format(args="%x: tensor<1x5x6x7xui8>", result="tensor<1x24x2x3xui8>", names='"x"')
    body = NETWORK.replace("W1", dense(rng, 12, 5, 3, 3)).replace("W2", dense(rng, 12, 1, 3, 3))
    (tmp_path / "network.mlir").write_text(head + body)
    parse_mlir(tmp_path / "network.mlir")
    check(tmp_path / "network.mlir")
