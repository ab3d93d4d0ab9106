"""Functions, branches, loops and sequences: expanded while a model is read, within limits."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import AttributeProto, FunctionProto, ModelProto, TensorProto, helper, numpy_helper

from tilewright.errors import TilewrightError
from tilewright.frontends.onnx import constant_inputs, control, expansion, import_onnx
from tilewright.interpreters.graph import run_graph

X = np.array([-2.0, 0.5, 3.0], np.float32)
OPSET = [helper.make_opsetid("", 23), helper.make_opsetid("own", 1)]


def value(name: str, shape: Any = None, element: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, element, shape)


def const(name: str, array: Any, dtype: Any = np.int64) -> Any:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(array, dtype)))


def model(
    nodes: list[Any], functions: list[FunctionProto] | None = None, inputs: list[Any] | None = None
) -> ModelProto:
    outputs = [helper.make_empty_tensor_value_info("y")]
    graph = helper.make_graph(nodes, "g", [value("x", [3]), *(inputs or [])], outputs)
    return helper.make_model(graph, opset_imports=OPSET, functions=functions or [])


def run(proto: ModelProto, **constants: Any) -> NDArray[Any]:
    module = import_onnx(proto, constants={n: np.asarray(a) for n, a in constants.items()})
    return run_graph(module, {"x": X})["y"]


def refused(proto: ModelProto, *words: str) -> TilewrightError:
    with pytest.raises(TilewrightError) as caught:
        import_onnx(proto)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    return caught.value


def function(name: str, nodes: list[Any], outputs: tuple[str, ...] = ("b",), **more: Any) -> FunctionProto:
    return helper.make_function("own", name, ["a"], list(outputs), nodes, OPSET, **more)


def call(name: str, source: str, target: str, **attributes: Any) -> Any:
    return helper.make_node(name, [source], [target], domain="own", **attributes)


def test_functions_are_inlined_and_keep_their_names_apart() -> None:
    leaky = helper.make_node("LeakyRelu", ["a"], ["t"])
    leaky.attribute.add(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT)
    inner = function("inner", [leaky, helper.make_node("Neg", ["t"], ["b"])], attributes=["slope"])
    twice = function("twice", [call("inner", "a", "t", slope=0.5), call("inner", "t", "b", slope=0.25)])
    found = run(model([call("twice", "x", "t"), helper.make_node("Relu", ["t"], ["y"])], [inner, twice]))
    assert found.tolist() == [0.0, 0.125, 0.75]
    defaulted = [helper.make_attribute("slope", 0.5)]
    inner = function("inner", [leaky, helper.make_node("Neg", ["t"], ["b"])], attribute_protos=defaulted)
    assert run(model([call("inner", "x", "y")], [inner])).tolist() == [1.0, -0.5, -3.0]


def test_the_result_of_a_function_is_called_as_in_the_model() -> None:
    doubled = function("double", [helper.make_node("Add", ["a", "a"], ["b"])])
    assert 'name = "y"' in str(import_onnx(model([call("double", "x", "y")], [doubled])))


def test_functions_that_call_themselves() -> None:
    first = function("first", [call("second", "a", "b")])
    second = function("second", [call("first", "a", "b")])
    proto = model([call("first", "x", "y")], [first, second])
    error = refused(proto, "functions that do not call themselves", "own::first in own::second in own::first")
    assert error.kind == "parse"
    assert constant_inputs(proto) == ()


def test_functions_that_double_with_each_level_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "MAX_NODES", 2000)
    levels = [function("f0", [helper.make_node("Relu", ["a"], ["b"])])]
    levels += [function(f"f{i}", [call(f"f{i - 1}", "a", "t"), call(f"f{i - 1}", "t", "b")]) for i in range(1, 50)]
    proto = model([call("f49", "x", "y")], levels)
    assert refused(proto, "nodes after expansion").kind == "limit"
    assert constant_inputs(proto) == ()


def test_deep_nesting_is_limited() -> None:
    levels = [function("f0", [helper.make_node("Relu", ["a"], ["b"])])]
    levels += [function(f"f{i}", [call(f"f{i - 1}", "a", "b")]) for i in range(1, 200)]
    assert refused(model([call("f199", "x", "y")], levels), "in each other").kind == "limit"


def test_operators_that_onnx_defines_by_functions() -> None:
    assert np.allclose(run(model([helper.make_node("Celu", ["x"], ["y"], alpha=2.0)])), [2 * np.expm1(-1), 0.5, 3])
    found = run(model([helper.make_node("RMSNormalization", ["x", "s"], ["y"]), const("s", [1, 2, 3], np.float32)]))
    assert np.allclose(found, X / np.sqrt(np.mean(X * X) + 1e-5) * [1, 2, 3], rtol=1e-5)


def branches() -> dict[str, Any]:
    weights = numpy_helper.from_array(np.full(3, 2, np.float32), "w")
    scaled = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["t"])], "then", [], [value("t")], [weights])
    return {"then_branch": scaled, "else_branch": helper.make_graph([], "else", [], [value("x")])}


def test_if_takes_the_branch_of_a_constant_condition() -> None:
    proto = model([helper.make_node("If", ["c"], ["y"], **branches())], inputs=[value("c", [], TensorProto.BOOL)])
    assert constant_inputs(proto) == ("c",)
    assert run(proto, c=True).tolist() == (2 * X).tolist()
    assert run(proto, c=False).tolist() == X.tolist()
    refused(proto, "If node 'y'", "input 0 ('c') to be constant")


def loop_body(condition: Any, step: list[Any]) -> Any:
    inputs = [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("v", [3])]
    outputs = [value("on", [], TensorProto.BOOL), value("w"), value("each")]
    nodes = [condition, *step, helper.make_node("Identity", ["w"], ["each"])]
    return helper.make_graph(nodes, "body", inputs, outputs)


def looped(trips: int | None, condition: Any = None, step: list[Any] | None = None, result: str = "last") -> ModelProto:
    body = loop_body(
        condition or helper.make_node("Identity", ["go"], ["on"]), step or [helper.make_node("Add", ["v", "x"], ["w"])]
    )
    nodes = [] if trips is None else [const("m", trips)]
    nodes.append(helper.make_node("Loop", ["" if trips is None else "m", "", "x"], ["last", "all"], body=body))
    return model([*nodes, helper.make_node("Identity", [result], ["y"])])


def test_loops_are_unrolled() -> None:
    assert run(looped(3)).tolist() == (4 * X).tolist()
    assert run(looped(3, result="all")).tolist() == [(2 * X).tolist(), (3 * X).tolist(), (4 * X).tolist()]
    assert run(looped(0)).tolist() == X.tolist()


def test_loops_end_when_their_condition_does() -> None:
    less = helper.make_node("Less", ["i", "two"], ["on"])
    step = [const("two", 2), helper.make_node("Add", ["v", "x"], ["w"])]
    assert run(looped(None, less, step)).tolist() == (4 * X).tolist()


def test_loops_that_do_not_end_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "MAX_NODES", 500)
    assert refused(looped(1 << 40), "Loop node", "nodes after expansion").kind == "limit"
    assert refused(looped(None), "nodes after expansion").kind == "limit"
    monkeypatch.setattr(control, "MAX_STEPS", 5)
    less = helper.make_node("Less", ["i", "m"], ["on"])
    assert refused(looped(100, less), "Loop node", "at most 5 steps").kind == "limit"


def test_a_condition_known_at_run_time_only() -> None:
    total = [helper.make_node("Add", ["v", "x"], ["w"]), helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0)]
    step = [*total, const("ten", 10, np.float32)]
    refused(looped(3, helper.make_node("Less", ["s", "ten"], ["on"]), step), "Loop node", "condition that is constant")


def test_scan_runs_backwards_too() -> None:
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "e"], ["t"]), helper.make_node("Identity", ["t"], ["o"])],
        "body",
        [value("s", []), value("e", [])],
        [value("t"), value("o")],
    )
    start = const("start", 0, np.float32)
    for back, sums in ((0, [-2.0, -1.5, 1.5]), (1, [3.0, 3.5, 1.5])):
        node = helper.make_node(
            "Scan", ["start", "x"], ["final", "y"], body=body, num_scan_inputs=1, scan_input_directions=[back]
        )
        assert run(model([start, node])).tolist() == sums


def test_sequences_have_known_lengths() -> None:
    nodes = [
        helper.make_node("SplitToSequence", ["x"], ["s"], keepdims=0),
        helper.make_node("SequenceInsert", ["s", "n", "zero"], ["more"]),
        helper.make_node("Neg", ["x0"], ["n"]),
        helper.make_node("SequenceAt", ["s", "zero"], ["x0"]),
        const("zero", 0),
        helper.make_node("ConcatFromSequence", ["more"], ["y"], axis=0, new_axis=1),
    ]
    assert run(model(nodes)).tolist() == [2.0, -2.0, 0.5, 3.0]
    length = [nodes[0], helper.make_node("SequenceLength", ["s"], ["l"]), helper.make_node("Cast", ["l"], ["y"], to=1)]
    assert run(model(length)).tolist() == 3.0
    refused(model([helper.make_node("SplitToSequence", ["x"], ["y"])]), "output 'y'", "a sequence")


def test_functions_find_their_constant_inputs() -> None:
    shaped = helper.make_function(
        "own", "shaped", ["a", "s"], ["b"], [helper.make_node("Reshape", ["a", "s"], ["b"])], OPSET
    )
    nodes = [helper.make_node("shaped", ["x", "t"], ["y"], domain="own")]
    proto = model(nodes, [shaped], [value("t", [2], TensorProto.INT64)])
    assert constant_inputs(proto) == ("t",)
    assert run(proto, t=np.array([3, 1])).shape == (3, 1)


HUGE = np.array([1 << 40])


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("Tile", ["x", "huge"], {}),
        ("OneHot", ["i", "huge", "pair"], {}),
        ("Expand", ["x", "huge"], {}),
        ("Col2Im", ["m", "wide", "block"], {}),
        ("Resize", ["m", "", "", "size"], {"mode": "linear"}),
        ("Resize", ["m", "", "", "size"], {"mode": "nearest"}),
        ("Upsample", ["m", "scales"], {"mode": "linear"}),
        ("DFT", ["m", "huge"], {}),
        ("Einsum", ["big", "big"], {"equation": "ab,cd->abcd"}),
        ("BlackmanWindow", ["huge"], {}),
        ("CenterCropPad", ["x", "huge"], {}),
        ("ConvTranspose", ["m", "m"], {"strides": [1 << 40]}),
        ("ConvTranspose", ["m", "m"], {"output_padding": [1 << 40]}),
        ("MaxPool", ["m"], {"kernel_shape": [1], "pads": [1 << 40, 0]}),
        ("Range", ["zero", "huge", "one"], {}),
        ("SplitToSequence", ["x", "many"], {}),
    ],
)
def test_enormous_results_cost_nothing(op: str, inputs: list[str], attributes: dict[str, Any]) -> None:
    constants = {
        "huge": HUGE[0] if op in ("OneHot", "DFT", "BlackmanWindow", "Range") else HUGE,
        "i": np.array([1]),
        "pair": np.array([0.0, 1.0], np.float32),
        "wide": HUGE,
        "block": np.array([1]),
        "size": np.array([1, 1, 1 << 40]),
        "scales": np.array([1, 1, 1 << 40], np.float32),
        "zero": np.array(0),
        "one": np.array(1),
        "many": np.zeros(5000, np.int64),
    }
    nodes = [const(n, a, np.asarray(a).dtype) for n, a in constants.items()]
    nodes += [
        helper.make_node("Reshape", ["x", "three"], ["m"]),
        const("three", [1, 1, 3]),
        const("thousands", [1 << 10, 1 << 10]),
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Expand", ["sum", "thousands"], ["big"]),
    ]
    outputs = ["y"]
    opset = 9 if op == "Upsample" else 21
    if op == "Upsample":
        nodes = [n for n in nodes if n.output[0] not in ("sum", "big")]
    proto = model([*nodes, helper.make_node(op, inputs, outputs, **attributes)])
    proto.opset_import[0].version = opset
    with pytest.raises(TilewrightError):
        import_onnx(proto)
