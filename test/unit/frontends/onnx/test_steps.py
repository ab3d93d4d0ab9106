"""Several steps of a decoder in one program."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions, compile
from tilewright.errors import TilewrightError
from tilewright.frontends.input_shapes import InputShapes
from tilewright.frontends.onnx import import_onnx
from tilewright.frontends.onnx.steps import Carry, Steps, repeated, usual_carries
from tilewright.interpreters.graph import run_graph

from ....bench_scripts import bench

decoders = bench("decoder_models")
COUNT = 3

FIRST_WAY = CompileOptions(gap=1000.0)
"""Any program is near enough to the bound, so that one is made, not twenty to choose from."""


@pytest.mark.parametrize(("family", "kind"), [(decoders.GPT2, "int8"), (decoders.LLAMA, "f16")])
def test_tokens_are_those_of_onnxruntime_step_by_step(family: str, kind: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    sizes = decoders.Sizes(1, 6, kind, 64, 2, 40, family, shared=1, hidden=96, whole=True)
    model = decoders.model_of(sizes, 1)
    random = np.random.default_rng(2)
    given = {f"h0.{part}.cache": random.standard_normal(sizes.cache, np.float32) for part in "kv"}
    given |= {"ids": np.array([7]), "start": np.array([2])}
    texts = ["argmax(logits)=ids", "start+1=start", *(f"h0.{part}.whole=h0.{part}.cache" for part in "kv")]
    module = import_onnx(model, steps=Steps(COUNT, [Carry.parse(text) for text in texts]))
    program = compile(module, options=FIRST_WAY)
    result = simulate(program, given)
    assert (result.cycles, result.dram_bytes) == (program.predicted["cycles"], program.predicted["dram_bytes"])

    options = onnxruntime.SessionOptions()  # which by itself rounds activations beside weights of 8 bits
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    tokens, wanted = list[int](), dict[str, object]()
    for _ in range(COUNT):
        names = [value.name for value in model.graph.output]
        wanted = dict(zip(names, session.run(None, given), strict=True))
        tokens.append(int(np.argmax(wanted["logits"])))
        given |= {"ids": np.array([tokens[-1]]), "start": given["start"] + 1}
        given |= {f"h0.{part}.cache": wanted[f"h0.{part}.whole"] for part in "kv"}
    assert result.outputs["ids.steps"].tolist() == tokens
    for name, array in wanted.items():
        np.testing.assert_allclose(result.outputs[name], np.asarray(array), rtol=1e-3, atol=1e-5)
    alone = compile(model, options=FIRST_WAY)
    assert program.predicted["dram_bytes"] < 0.8 * COUNT * alone.predicted["dram_bytes"]  # weights come once


def _growing():
    """A cache that grows by the token, and a mask and a place beside it, as exporters name them."""
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["x"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["position_ids"], ["p"], to=TensorProto.FLOAT),
        helper.make_node("Concat", ["past.0.key", "x"], ["present.0.key"], axis=1, name="grow"),
        helper.make_node("Cast", ["attention_mask"], ["m"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["m"], ["n"], keepdims=1),
        helper.make_node("ReduceSum", ["present.0.key"], ["s"], keepdims=1),
        helper.make_node("Add", ["s", "n"], ["t"]),
        helper.make_node("Add", ["t", "p"], ["u"]),
        helper.make_node("Mul", ["u", "w"], ["logits"]),
    ]
    inputs = [("input_ids", 7, [1, 1]), ("position_ids", 7, [1, 1]), ("attention_mask", 7, [1, "seen"])]
    values = [helper.make_tensor_value_info(*value) for value in [*inputs, ("past.0.key", 1, [1, "past"])]]
    outputs = [helper.make_tensor_value_info(name, 1, None) for name in ("logits", "present.0.key")]
    factors = numpy_helper.from_array(np.array([[1.0, -1.0, 1.5]], np.float32), "w")
    graph = helper.make_graph(nodes, "g", values, outputs, [factors])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_caches_and_masks_grow_by_the_names_of_exporters() -> None:
    model = _growing()
    assert [carry.kind for carry in usual_carries(model.graph)] == ["argmax", "+", ",", "output"]
    module = import_onnx(model, shapes=InputShapes(dims={"seen": 3, "past": 2}), steps=Steps(3))
    given = {"input_ids": np.array([[5]]), "position_ids": np.array([[2]]), "attention_mask": np.ones((1, 3), np.int64)}
    found = run_graph(module, given | {"past.0.key": np.array([[1, 2]], np.float32)})
    assert found["input_ids.steps"].tolist() == [2, 2, 2]
    assert found["present.0.key"].tolist() == [[1, 2, 5, 2, 2]]
    last = 12 + (3 + 2) + (2 + 2)
    assert found["logits"].tolist() == [[last, -last, 1.5 * last]]


def test_names_of_the_model_stay_its_own() -> None:
    """Values are called as what the steps add would be."""
    model = _growing()
    own = {"m": "carry.last", "n": "s.step0", "t": "attention_mask.number", "u": "input_ids.after0"}
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [own.get(name, name) for name in names]
    model.graph.initializer[0].name = model.graph.node[-1].input[1] = "input_ids.steps"
    module = import_onnx(model, shapes=InputShapes(dims={"seen": 3, "past": 2}), steps=Steps(3))
    given = {"input_ids": np.array([[5]]), "position_ids": np.array([[2]]), "attention_mask": np.ones((1, 3), np.int64)}
    found = run_graph(module, given | {"past.0.key": np.array([[1, 2]], np.float32)})
    assert found["input_ids.steps'"].tolist() == [2, 2, 2]
    assert found["logits"].tolist()[0][0] == 12 + (3 + 2) + (2 + 2)


def test_random_numbers_of_a_tensor_differ_from_step_to_step() -> None:
    """What makes them reads a constant only, and is there in each step."""
    nodes = [helper.make_node("RandomNormalLike", ["w"], ["noise"]), helper.make_node("Add", ["x", "noise"], ["y"])]
    x, y = (helper.make_tensor_value_info(name, 1, [2]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(np.zeros(2, np.float32), "w")])
    made = repeated(helper.make_model(graph), Steps(3, [Carry("x", "output", "y")]))
    assert [node.op_type for node in made.graph.node].count("RandomNormalLike") == 3


def test_what_depends_on_constants_is_there_once_and_the_last_step_has_the_names() -> None:
    model = decoders.model_of(decoders.Sizes(1, 6, "int8", 64, 2, 40, decoders.GPT2, whole=True), 1)
    once = [node for node in model.graph.node if node.op_type == "DequantizeLinear"]
    made = repeated(model, Steps(4, [Carry("ids", "argmax", "logits")]))
    assert [node.op_type for node in made.graph.node].count("DequantizeLinear") == len(once)
    names = [name for node in made.graph.node if node.op_type == "Gelu" for name in node.output]
    assert [name.rpartition(".")[2] for name in names[:3]] == ["step0", "step1", "step2"]
    assert any(name == node.output[0] for node in model.graph.node for name in names[3:])
    assert [value.name for value in made.graph.output] == [*(v.name for v in model.graph.output), "ids.steps"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["logits"], "OUTPUT=INPUT"),
        (["nothing=ids"], "a source among 'logits'"),
        (["logits=nothing"], "an input among 'ids'"),
        (["logits=ids", "argmax(logits)=ids"], "one source of 'ids'"),
        ([], "none by their names; name them"),
    ],
)
def test_carries_that_are_none_are_refused(texts: list[str], message: str) -> None:
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Relu", ["ids"], ["logits"])],
            "g",
            [helper.make_tensor_value_info("ids" if texts else "x", 1, [2])],
            [helper.make_tensor_value_info("logits", 1, [2])],
        )
    )
    with pytest.raises(TilewrightError, match=message):
        repeated(model, Steps(2, [Carry.parse(text) for text in texts]))


def test_steps_are_bounded() -> None:
    with pytest.raises(TilewrightError, match="1 to 4096 steps"):
        Steps(1 << 40)
