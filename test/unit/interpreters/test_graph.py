"""Networks run through the interpreter: inputs and outputs by name, weights, groups, every kind of operation."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import InterpretationError

from tilewright.driver import make_context
from tilewright.errors import TilewrightError
from tilewright.interpreters.graph import run_graph
from tilewright.resources import Resources, attach

OPS = Path(__file__).parents[2] / "lit/dialects/graph/ops.mlir"

NETWORK = """
func.func @main(%x : tensor<2xf32>, %y : tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    attributes {graph.inputs = ["a", "b"], graph.outputs = ["sum", "relu"]} {
  %w = graph.weight @w : tensor<2xf32>
  %0 = graph.binary add %x, %y {name = "sum"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.layer_group (%g = %0 : tensor<2xf32>, %v = %w : tensor<2xf32>) -> (tensor<2xf32>)
      attributes {name = "group"} {
    %2 = graph.fused_group tiles 1 (%h = %g : tensor<2xf32>, %u = %v : tensor<2xf32>) -> (tensor<2xf32>) {
      %3 = graph.binary mul %h, %u {name = "scaled"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %4 = graph.unary relu %3 : (tensor<2xf32>) -> tensor<2xf32>
      graph.yield %4 : tensor<2xf32>
    }
    graph.yield %2 : tensor<2xf32>
  }
  func.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
"""

INPUTS = {"a": np.array([1, 2], np.float32), "b": np.array([10, 20], np.float32)}


def parse(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def network() -> ModuleOp:
    module = parse(NETWORK)
    attach(module, Resources({"w": np.array([-1, 2], np.float32)}))
    return module


def test_inputs_and_outputs_by_name():
    outputs = run_graph(network(), INPUTS)
    assert {name: array.tolist() for name, array in outputs.items()} == {"sum": [11, 22], "relu": [0, 44]}


def test_named_values():
    named: dict[str, np.ndarray] = {}
    run_graph(network(), INPUTS, named=named)
    assert {name: array.tolist() for name, array in named.items()} == {
        "sum": [11, 22],
        "scaled": [-11, 44],
        "group": [0, 44],
    }


def test_names_by_position():
    text = NETWORK.replace('attributes {graph.inputs = ["a", "b"], graph.outputs = ["sum", "relu"]}', "")
    module = parse(text)
    attach(module, Resources({"w": np.ones(2, np.float32)}))
    outputs = run_graph(module, {"arg0": INPUTS["a"], "arg1": INPUTS["b"]})
    assert list(outputs) == ["result0", "result1"]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"a": INPUTS["a"]}, r"b: expected an input of type tensor<2xf32>, found none of that name"),
        ({**INPUTS, "b": np.zeros(3, np.float32)}, r"b: expected .*, found float32 of shape \[3\]"),
        ({**INPUTS, "b": np.zeros(2)}, r"b: expected .*, found float64 of shape \[2\]"),
    ],
)
def test_inputs_that_do_not_fit(inputs: dict[str, np.ndarray], message: str):
    with pytest.raises(TilewrightError, match=message):
        run_graph(network(), inputs)


def test_missing_weights_and_functions():
    with pytest.raises(InterpretationError, match=r"no bytes for graph\.weight @w"):
        run_graph(parse(NETWORK), INPUTS)
    with pytest.raises(TilewrightError, match="@other: expected a function with a body"):
        run_graph(network(), INPUTS, function="other")
    wrong = parse(NETWORK.replace('["a", "b"]', '["a"]'))
    with pytest.raises(TilewrightError, match=r"2 different strings in graph\.inputs"):
        run_graph(wrong, INPUTS)


def test_every_operation_runs_and_keeps_its_type():
    """All operations of the round-trip test, on ones."""
    text = (
        OPS.read_text()
        .replace('@"a/b c"', "@ab")
        .replace("@conv1.weight :", "@zero4 = dense<0.0> : tensor<4x3x3x3xf32> :")
    )
    module = parse(text)
    from tilewright.dialects import graph
    from tilewright.dialects.types import dtype_of, element_of, shape_of
    from tilewright.interpreters.graph import find_function

    seen: set[str] = set()
    for function in (
        "weights",
        "conv",
        "products",
        "reductions",
        "normalisations",
        "elementwise",
        "movement",
        "quantised",
    ):
        entry = find_function(module, function)
        inputs = {f"arg{i}": np.ones(shape_of(a), dtype_of(element_of(a))) for i, a in enumerate(entry.body.block.args)}
        for i, op in enumerate(entry.body.block.ops):
            if isinstance(op, graph.LayerOp):
                graph.set_name(op, f"{i}")
        named: dict[str, np.ndarray] = {}
        run_graph(module, inputs, function=function, named=named)
        for i, op in enumerate(entry.body.block.ops):
            if isinstance(op, graph.LayerOp):
                seen.add(op.name)
                assert named[f"{i}"].shape == shape_of(op.result), op.name
                assert named[f"{i}"].dtype == dtype_of(element_of(op.result)), op.name
    assert len(seen) == 28
