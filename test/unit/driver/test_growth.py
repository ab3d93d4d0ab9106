"""How work grows with the layers: counted in operations and solver queries, never in seconds."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright
from tilewright.driver import watch
from tilewright.errors import TilewrightError
from tilewright.passes.codelet import codelet_verify

SHAPE = (1, 4, 6, 6)


def chain(layers: int) -> onnx.ModelProto:
    """`layers` times the same convolution and Relu, with weights of their own."""
    random = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    for number in range(layers):
        weight = random.integers(-2, 3, (4, 4, 3, 3)).astype(np.float32)
        weights.append(numpy_helper.from_array(weight, f"w{number}"))
        nodes.append(helper.make_node("Conv", [f"x{number}", f"w{number}"], [f"c{number}"], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{number}"], [f"x{number + 1}"]))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in ("x0", f"x{layers}")]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_operations_are_as_many_for_each_layer():
    most = [tilewright.compile(chain(layers)).ops_max for layers in (4, 8, 16)]
    assert most[2] - most[1] == 2 * (most[1] - most[0])
    assert most[1] - most[0] < 4 * watch.OPS_PER_OP


def test_the_limit_grows_with_the_model_and_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    path = tmp_path / "deep.onnx"
    onnx.save(chain(8), path)
    monkeypatch.setattr(watch, "OPS_BASE", 20)
    assert tilewright.compile(path).ops_max > 100
    monkeypatch.setattr(watch, "OPS_PER_OP", 1)
    with pytest.raises(TilewrightError, match=r"deep\.onnx: expected at most \d+ operations, found \d+ after") as error:
        tilewright.compile(path)
    assert error.value.kind == "limit"


def test_layers_that_are_alike_are_proven_once(monkeypatch: pytest.MonkeyPatch):
    proven: list[str] = []
    refute = codelet_verify.refute
    monkeypatch.setattr(codelet_verify, "refute", lambda problem: proven.append(problem.codelet) or refute(problem))
    program = tilewright.compile(chain(12))
    ways = len(program.choice["candidates"])
    assert ways < 12
    assert len(proven) <= ways
