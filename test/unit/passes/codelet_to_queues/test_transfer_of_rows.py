"""Rows of tables that an index names, from the graph to the simulated machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright import compile, simulate
from tilewright.backends.simulator.traps import Trap
from tilewright.dialects.codelet import ProgramOp, RowsOp
from tilewright.dialects.codelet_fused import FusedOp
from tilewright.driver import CompileOptions
from tilewright.driver.models import load_model, make_context, parse_passes, pipeline_text
from tilewright.errors import TilewrightError
from tilewright.interpreters.codelet import run_program
from tilewright.interpreters.graph import run_graph
from tilewright.resources import Resources, attach, resources_of

ROWS = 64
TYPES = {"f32": np.float32, "f16": np.float16, "si8": np.int8}

TEXT = """func.func @main(%i: tensor<{index}xi64>) -> tensor<{index}x{width}xf32>
  attributes {{graph.inputs = ["i"], graph.outputs = ["y"]}} {{
  %t = graph.weight @table : tensor<64x{width}x{element}>
  {layers}
  func.return %y : tensor<{index}x{width}xf32>
}}
"""
DIRECT = """%r = graph.lookup %t at %i
    : (tensor<64x{width}x{element}>, tensor<{index}xi64>) -> tensor<{index}x{width}x{element}>
  %y = graph.cast %r : (tensor<{index}x{width}x{element}>) -> tensor<{index}x{width}xf32>"""
COMPUTED = """%c = graph.cast %i : (tensor<{index}xi64>) -> tensor<{index}xi32>
  %k = graph.binary add %c, %c : (tensor<{index}xi32>, tensor<{index}xi32>) -> tensor<{index}xi32>
  %r = graph.lookup %t at %k : (tensor<64x{width}x{element}>, tensor<{index}xi32>) -> tensor<{index}x{width}x{element}>
  %y = graph.unary neg %r : (tensor<{index}x{width}x{element}>) -> tensor<{index}x{width}xf32>"""


def _model(path: Path, index: str, width: int, element: str, layers: str = DIRECT) -> ModuleOp:
    inner = {"index": index, "width": width, "element": element}
    path.write_text(TEXT.format(**inner, layers=layers.format(**inner)))
    table = np.random.default_rng(1).integers(-100, 100, (ROWS, width)).astype(np.dtype(TYPES[element]))
    module = load_model(path)
    attach(module, Resources({"table": table + np.float32(0.1) if element == "f32" else table}))
    return module


def _index(shape: str, most: int = ROWS) -> np.ndarray:
    return np.random.default_rng(2).integers(-most, most, [int(n) for n in shape.split("x")])


@pytest.mark.parametrize("partition", ["schedule", ""])
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize(("index", "width"), [("1", 24), ("2x5", 7), ("3", 300)])
def test_rows_are_read_as_predicted_and_no_less_than_the_bound(
    index: str, width: int, element: str, partition: str, tmp_path: Path
) -> None:
    module = _model(tmp_path / "t.mlir", index, width, element)
    given = {"i": _index(index)}
    program = compile(module, "edge16", options=CompileOptions(partition=partition))
    result = simulate(program, given)
    assert np.array_equal(result.outputs["y"], run_graph(module, given)["y"])
    assert (result.cycles, result.dram_bytes) == (program.predicted["cycles"], program.predicted["dram_bytes"])
    assert program.lower_bound["cycles"] <= result.cycles
    assert program.lower_bound["dram_bytes"] <= result.dram_bytes
    if partition:
        count, size = given["i"].size, np.dtype(TYPES[element]).itemsize
        assert result.dram_bytes == count * (width * size + 8 + width * 4)


@pytest.mark.parametrize("partition", ["schedule", ""])
def test_an_index_that_a_layer_makes_is_there_before_rows_are_read(partition: str, tmp_path: Path) -> None:
    module = _model(tmp_path / "t.mlir", "4x3", 40, "f32", COMPUTED)
    given = {"i": _index("4x3", ROWS // 2)}
    program = compile(module, "edge16", options=CompileOptions(partition=partition))
    result = simulate(program, given)  # a load too early would be of an index that nothing wrote
    assert np.array_equal(result.outputs["y"], run_graph(module, given)["y"])
    with pytest.raises(Trap, match="-64 to 63, found 64"):
        simulate(program, {"i": np.full((4, 3), 32)})


def _lowered(module: ModuleOp, last: str) -> ProgramOp:
    text = pipeline_text("edge16", CompileOptions(partition="schedule"))
    parse_passes(text[: text.index(last)].rstrip(",")).apply(make_context(), module)
    return next(op for op in module.body.block.ops if isinstance(op, ProgramOp))


def test_codelets_mean_the_same(tmp_path: Path) -> None:
    module = _model(tmp_path / "t.mlir", "4x3", 40, "f32", COMPUTED)
    given = _index("4x3", ROWS // 2)
    expected = run_graph(module, {"i": given})["y"]
    program = _lowered(module, "codelet-verify")
    weights = resources_of(module)
    (found,) = run_program(program, (given,), {name: weights[name] for name in weights})
    assert np.array_equal(found, expected)


def test_rows_at_an_index_that_nothing_wrote_are_refuted(tmp_path: Path) -> None:
    module = _model(tmp_path / "t.mlir", "4x3", 40, "f32", COMPUTED)
    program = _lowered(module, "codelet-verify")
    assert any(isinstance(op, RowsOp) for op in program.body.block.ops)
    groups = [op for op in program.body.block.ops if isinstance(op, FusedOp)]
    for group in groups:
        if "y.fused" not in group.sym_name.data:
            group.detach()
    with pytest.raises(TilewrightError, match="of k to be written before it is read"):
        parse_passes("codelet-verify").apply(make_context(), module)


INPUT = """func.func @main(%t: tensor<{rows}x2x{width}x{element}>, %i: tensor<3xi64>) -> tensor<3x{wide}x{element}>
  attributes {{graph.inputs = ["t", "i"], graph.outputs = ["y"]}} {{
  %v = graph.reshape %t : (tensor<{rows}x2x{width}x{element}>) -> tensor<{rows}x{wide}x{element}>
  %y = graph.lookup %v at %i : (tensor<{rows}x{wide}x{element}>, tensor<3xi64>) -> tensor<3x{wide}x{element}>
  func.return %y : tensor<3x{wide}x{element}>
}}
"""


@pytest.mark.parametrize("partition", ["schedule", "", "greedy"])
@pytest.mark.parametrize("element", ["f32", "i32", "si8"])
def test_rows_of_an_input_are_read_too_or_compared(element: str, partition: str, tmp_path: Path) -> None:
    path, rows, width = tmp_path / "t.mlir", 64, 20
    path.write_text(INPUT.format(rows=rows, width=width, wide=2 * width, element=element))
    dtype = np.dtype({"f32": np.float32, "i32": np.int32, "si8": np.int8}[element])
    table = np.random.default_rng(3).integers(-100, 100, (rows, 2, width)).astype(dtype)
    places = np.array([5, -1, 63])
    given = {"t": table, "i": places}
    program = compile(load_model(path), "edge16", options=CompileOptions(partition=partition))
    result = simulate(program, given)
    assert np.array_equal(result.outputs["y"], table[places].reshape(3, -1))
    assert result.dram_bytes == program.predicted["dram_bytes"] >= program.lower_bound["dram_bytes"]
    if partition == "schedule":
        assert result.dram_bytes == 3 * (2 * 2 * width * dtype.itemsize + 8)
