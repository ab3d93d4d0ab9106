"""No program goes below the bound of all programs; some reach it."""

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import tilewright
from tilewright.backends.program import Program, load_program
from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions, load_model, make_context, parse_passes
from tilewright.driver.choice import LOADS
from tilewright.driver.pipelines import AUTO
from tilewright.frontends.acg import load_target
from tilewright.passes.nest.program_bound import bound_of, weight_cycles
from tilewright.resources import Resources, attach

from ....onnx_files.networks import mobilenet
from ....onnx_files.quantized import quantized

KERNELS = (
    "O[m,n] += A[m,k] * B[k,n]; m=20 n=15 k=30",
    "O[m,n] += A[m,k] * B[k,n]; m=1 n=64 k=64",
    "O[p,q,k] += X[2*p+r,2*q+s,c] * W[r,s,c,k]; p=5 q=6 k=7 r=3 s=3 c=3",
    "O[m] = relu(A[m]); m=100",
    "O[m,n] = A[n,m]; m=30 n=20",
    "O[m,n] = A[m,n] + B[n]; m=30 n=20",
)
QUEUES = "edge16", "cloud128", "cocco_npu", "tiny", "uneven"


def check(model: str | ModelProto | ModuleOp, target: str, method: str = "") -> Program:
    """A program that does not go below its bound."""
    program = tilewright.compile(model, target, options=CompileOptions(partition=method, prove=False, time_limit_s=1))
    run = simulate(program, functional=False, checks=False)
    least = program.lower_bound
    assert least["cycles"] <= run.cycles
    assert least["energy_pj"] <= run.energy_pj
    assert least["dram_bytes"] <= run.dram_bytes
    assert program.bounds(run.cycles)["gap"] == run.cycles / least["cycles"] - 1
    return program


@pytest.mark.parametrize("target", QUEUES)
@pytest.mark.parametrize("text", KERNELS)
def test_kernels(text: str, target: str):
    check(text, target)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("O[m] = relu(A[m]); m=4", "edge16"),  # a cycle each to load, to work and to store
        ("O[m,n] += A[m,k] * B[k,n]; m=1 n=1 k=4", "edge16"),
        ("O[m,n] += A[m,k] * B[k,n]; m=64 n=50 k=60", "cocco_npu"),  # work hides behind transfers
    ],
)
def test_exact(text: str, target: str):
    program = check(text, target)
    assert program.bounds(program.predicted["cycles"])["gap"] == 0


BRANCHES = """
func.func @main(%x : tensor<1x4x9x9xf32>) -> tensor<1x6x9x9xf32> {
  %a = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x9x9xf32>) -> tensor<1x4x9x9xf32>
  %w = graph.weight @w : tensor<2x4x1x1xf32>
  %b = graph.conv %a, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x4x9x9xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x9x9xf32>
  %c = graph.concat %a, %b axis 1 : (tensor<1x4x9x9xf32>, tensor<1x2x9x9xf32>) -> tensor<1x6x9x9xf32>
  %d = graph.unary exp %c : (tensor<1x6x9x9xf32>) -> tensor<1x6x9x9xf32>
  func.return %d : tensor<1x6x9x9xf32>
}
"""  # noqa: E501


def branches() -> ModuleOp:
    module = load_model(Parser(make_context(), BRANCHES).parse_module())
    attach(module, Resources({"w": np.full((2, 4, 1, 1), 0.1, np.float32)}))
    return module


@pytest.mark.parametrize("target", ["edge16", "cloud128", "cocco_npu"])
def test_methods_share_a_bound_that_none_goes_below(target: str):
    """Joins of pieces on chip need what copies need."""
    found = [check(branches(), target, method) for method in ("", "ours", "greedy", "best")]
    assert len({tuple(program.lower_bound.items()) for program in found}) == 1
    assert found[0].lower_bound["dram_bytes"] == 4 * (4 * 81 + 8 + 6 * 81)


def test_a_network_in_groups():
    check(quantized(mobilenet(size=16, width=0.25, classes=10), samples=1), "edge16", "greedy")


def test_a_folder_keeps_the_bound(tmp_path: Path):
    program = tilewright.compile(KERNELS[3], "edge16")
    kept = load_program(program.save(tmp_path))
    assert (kept.lower_bound, kept.bound_by) == (program.lower_bound, program.bound_by)
    assert program.bound_by == "DRAM traffic"


def test_weights_of_one_name_come_once():
    text = """
    func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %a = graph.weight @w : tensor<4xf32>
      %b = graph.weight @w : tensor<4xf32>
      %y = graph.binary add %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %z = graph.binary mul %y, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %z : tensor<4xf32>
    }
    """
    module = load_model(Parser(make_context(), text).parse_module())
    parse_passes('load-target{target="edge16"},convert-graph-to-nest').apply(make_context(), module)
    found = bound_of(module, load_target("edge16"))
    assert found is not None
    assert found.dram_bytes == 3 * 16


@pytest.mark.parametrize(("width", "times"), [(1600, 2), (64, 1)])
def test_a_weight_that_the_chip_cannot_hold_is_loaded_for_each_layer(width: int, times: int):
    text = f"""
      func.func @main(%x: tensor<1x{width}xf32>) -> tensor<1x{width}xf32>
          attributes {{graph.inputs = ["x"], graph.outputs = ["y"]}} {{
        %w = graph.weight @w : tensor<{width}x{width}xf32>
        %a = graph.matmul %x, %w : (tensor<1x{width}xf32>, tensor<{width}x{width}xf32>) -> tensor<1x{width}xf32>
        %b = graph.unary relu %a : (tensor<1x{width}xf32>) -> tensor<1x{width}xf32>
        %y = graph.matmul %b, %w : (tensor<1x{width}xf32>, tensor<{width}x{width}xf32>) -> tensor<1x{width}xf32>
        func.return %y : tensor<1x{width}xf32>
      }}
    """
    given = Parser(make_context(), text).parse_module()
    values = np.random.default_rng(0).standard_normal((width, width), np.float32)
    attach(given, Resources({"w": values}))
    module, machine = load_model(given), load_target("edge16")
    parse_passes("graph-normalize,convert-graph-to-nest{in_place=true}").apply(make_context(), module)
    least = weight_cycles(module, machine)
    assert least == times * width * width * 4 / 16
    program = check(given, "edge16", AUTO)
    assert program.predicted["cycles"] >= least
    assert (LOADS in program.why) == (times > 1)
