"""Attention with heads as samples: the same numbers, before and after, and as a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.helper as h
from onnx import ModelProto, numpy_helper

from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions, load_model
from tilewright.driver.models import lower, make_context
from tilewright.driver.pipelines import SCHEDULE, Room, parse_passes, pipeline_text
from tilewright.interpreters.graph import run_graph
from tilewright.passes.graph.graph_heads import has_heads

HEADS, TOKENS, WIDTH = 3, 20, 8


def attention(samples: int = 1) -> ModelProto:
    """Scores of each head with a mask, softmax, and the values, turned back to words."""
    x, y = (h.make_tensor_value_info(name, 1, [samples, TOKENS, HEADS * WIDTH]) for name in "xy")
    mask = np.triu(np.full((TOKENS, TOKENS), -9.0, np.float32), 1)
    stored = {"mask": mask, "split": np.array([samples, TOKENS, HEADS, WIDTH]), "back": np.array([samples, TOKENS, -1])}
    nodes: list[Any] = [h.make_node("Reshape", ["x", "split"], ["parts"])]
    for name, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes.append(h.make_node("Transpose", ["parts"], [name], perm=perm))
    nodes += [
        h.make_node("MatMul", ["q", "k"], ["scores"]),
        h.make_node("Add", ["scores", "mask"], ["masked"]),
        h.make_node("Softmax", ["masked"], ["shares"], axis=-1),
        h.make_node("MatMul", ["shares", "v"], ["mixed"]),
        h.make_node("Transpose", ["mixed"], ["turned"], perm=[0, 2, 1, 3]),
        h.make_node("Reshape", ["turned", "back"], ["y"]),
    ]
    graph = h.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(a, name) for name, a in stored.items()])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)])


def test_a_program_head_by_head_agrees_and_is_predicted() -> None:
    x = np.random.default_rng(0).standard_normal((1, TOKENS, HEADS * WIDTH)).astype(np.float32)
    module = load_model(attention())
    parse_passes("graph-normalize").apply(make_context(), module)
    expected = run_graph(module, {"x": x})["y"]
    assert has_heads(module)
    parse_passes("graph-heads").apply(make_context(), module)
    assert not has_heads(module)
    assert np.array_equal(run_graph(module, {"x": x})["y"], expected)
    options = CompileOptions(partition=SCHEDULE)
    text = pipeline_text("edge16:GBUF.depth=64", options, room=Room(heads=True))
    program = lower(load_model(attention()), text, options, None, "attention")
    ran = simulate(program, {"x": x})
    np.testing.assert_allclose(ran.outputs["y"], expected, rtol=1e-4, atol=1e-5)
    assert program.predicted["cycles"] == ran.cycles


def test_several_samples_stay() -> None:
    module = load_model(attention(2))
    assert not has_heads(module)
