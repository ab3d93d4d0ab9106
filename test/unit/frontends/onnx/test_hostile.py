"""Models that are made to cost much: each is answered in 20 s of CPU and 2 GB, all in one process of its own.

The largest that a program may have are tried elsewhere; here sizes, depths and counts are beyond all that can be.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tilewright.driver import compile
from tilewright.errors import TilewrightError

SECONDS, BYTES = 20, 2 << 30

HUGE = 1 << 40

CASES: dict[str, Callable[[], ModelProto]] = {}


def case(make: Callable[[], ModelProto]) -> Callable[[], ModelProto]:
    CASES[make.__name__] = make
    return make


def model(
    nodes: list[NodeProto],
    shape: tuple[int, ...] = (4, 4),
    constants: dict[str, Any] | None = None,
    functions: tuple[FunctionProto, ...] = (),
    stored: tuple[TensorProto, ...] = (),
) -> ModelProto:
    given = [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, s) for name, s in (("x", shape), ("y", None))]
    graph = helper.make_graph(nodes, "hostile", ends[:1], ends[1:], [*given, *stored])
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=9)


def node(op: str, inputs: str, outputs: str = "y", **attributes: Any) -> NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def function(name: str, *nodes: NodeProto) -> FunctionProto:
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    return helper.make_function("own", name, ["x"], ["y"], list(nodes), imports)


def body(nodes: list[NodeProto]) -> Any:
    """A graph without inputs."""
    return helper.make_graph(nodes, "body", [], [helper.make_tensor_value_info("b", TensorProto.FLOAT, None)])


@case
def an_input_of_huge_extent() -> ModelProto:
    return model([node("Relu", "x")], (HUGE,))


@case
def a_product_of_huge_extents() -> ModelProto:
    return model([node("Reshape", "x s", "z"), node("MatMul", "x z")], (1 << 22, 1), {"s": np.array([1, 1 << 22])})


@case
def nodes_in_a_circle() -> ModelProto:
    return model([node("Relu", "z"), node("Neg", "y", "z")])


@case
def a_function_in_itself() -> ModelProto:
    inside = helper.make_node("f", ["x"], ["y"], domain="own")
    return model([inside], functions=(function("f", inside),))


@case
def functions_that_double() -> ModelProto:
    made = [function("f0", node("Relu", "x"))]
    for i in range(1, 50):
        twice = [helper.make_node(f"f{i - 1}", [a], [b], domain="own") for a, b in (("x", "z"), ("z", "y"))]
        made.append(function(f"f{i}", *twice))
    return model([helper.make_node("f49", ["x"], ["y"], domain="own")], functions=tuple(made))


@case
def branches_in_branches() -> ModelProto:
    inner = body([node("Relu", "x", "b")])
    for _ in range(28):
        inner = body([node("If", "true", "b", then_branch=inner, else_branch=body([node("Neg", "x", "b")]))])
    outer = node("If", "true", then_branch=inner, else_branch=body([node("Neg", "x", "b")]))
    return model([outer], constants={"true": np.array(True)})


@case
def a_file_outside() -> ModelProto:
    stored = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    stored.external_data.add(key="location", value="../../../../../../etc/passwd")
    return model([node("Add", "x w")], stored=(stored,))


@case
def a_constant_that_is_not_there() -> ModelProto:
    stored = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[HUGE], raw_data=b"\0" * 16)
    return model([node("Add", "x w")], stored=(stored,))


@case
def constants_of_huge_shapes() -> ModelProto:
    return model([node("ConstantOfShape", "s", "w"), node("Add", "x w")], constants={"s": np.array([1 << 20, 1 << 20])})


@case
def repeats_of_repeats() -> ModelProto:
    nodes = [node("Tile", f"{'x' if i == 0 else f'v{i}'} n", f"v{i + 1}") for i in range(8)]
    return model([*nodes, node("Relu", "v8")], constants={"n": np.array([1 << 10, 1 << 10])})


@case
def a_sort_of_many() -> ModelProto:
    return model([node("TopK", "x k", "y i")], (1 << 22,), {"k": np.array([1 << 21])})


@case
def a_window_of_huge_extent() -> ModelProto:
    return model([node("MaxPool", "x", kernel_shape=[HUGE], pads=[HUGE, HUGE])], (1, 1, 4))


@case
def strides_of_huge_extent() -> ModelProto:
    w = {"w": np.zeros((1, 1, 2), np.float32)}
    return model([node("ConvTranspose", "x w", strides=[HUGE])], (1, 1, 4), w)


@case
def sums_over_many_letters() -> ModelProto:
    letters = "".join(chr(ord("a") + i) for i in range(24))
    return model([node("Einsum", "x x", equation=f"{letters},{letters[::-1]}->{letters}")], (16,) * 24)


@case
def dimensions_without_end() -> ModelProto:
    return model([node("Relu", "x")], (2,) * 60)


def stepping(step: list[NodeProto]) -> Any:
    """The body of a Loop that carries `v`."""
    ends = ("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("v", TensorProto.FLOAT, None)
    outs = ("on", TensorProto.BOOL, []), ("w", TensorProto.FLOAT, None)
    read, made = ([helper.make_tensor_value_info(*value) for value in side] for side in (ends, outs))
    return helper.make_graph([node("Identity", "go", "on"), *step], "body", read, made)


def looped(trips: str, inner: Any, result: str = "y", start: str = "x") -> NodeProto:
    return helper.make_node("Loop", [trips, "", start], [result], body=inner)


def scanning(step: list[NodeProto]) -> Any:
    """The body of a Scan with state `s` over rows `e`."""
    read, made = ([helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in side] for side in ("se", "t"))
    return helper.make_graph(step, "body", read, made)


ADD = node("Add", "v v", "w")


@case
def a_loop_of_many_steps() -> ModelProto:
    return model([looped("m", stepping([ADD]))], constants={"m": np.array(HUGE)})


@case
def a_loop_whose_steps_are_computed() -> ModelProto:
    size = [node("Size", "x", "n"), node("Mul", "n n", "m")]
    return model([*size, looped("m", stepping([ADD]))], (1 << 20, 1))


@case
def a_loop_without_end() -> ModelProto:
    return model([looped("", stepping([ADD]))])


@case
def loops_in_loops() -> ModelProto:
    inner = stepping([ADD])
    for _ in range(8):
        inner = stepping([looped("m", inner, "w", "v")])
    return model([looped("m", inner)], constants={"m": np.array(1 << 10)})


@case
def functions_of_loops() -> ModelProto:
    count = helper.make_node("Constant", [], ["m"], value_int=300)
    made = [function("f0", count, looped("m", stepping([ADD])))]
    for i in range(1, 10):
        twice = [helper.make_node(f"f{i - 1}", [a], [b], domain="own") for a, b in (("x", "z"), ("z", "y"))]
        made.append(function(f"f{i}", *twice))
    return model([helper.make_node("f9", ["x"], ["y"], domain="own")], functions=tuple(made))


@case
def a_scan_of_many_rows() -> ModelProto:
    zero = {"zero": np.zeros(1, np.float32)}
    last = helper.make_node("Scan", ["zero", "x"], ["y"], body=scanning([node("Add", "s e", "t")]), num_scan_inputs=1)
    return model([last], (1 << 20, 1), zero)


@case
def loops_in_a_scan() -> ModelProto:
    body = scanning([looped("m", stepping([ADD]), "t", "s")])
    last = helper.make_node("Scan", ["zero", "x"], ["y"], body=body, num_scan_inputs=1)
    return model([last], (1 << 10, 1), {"zero": np.zeros(1, np.float32), "m": np.array(1 << 10)})


@case
def a_recurrent_layer_of_many_steps() -> ModelProto:
    weights = {name: np.ones((2, 24, 8), np.float32) for name in "wr"}
    return model([node("GRU", "x w r", hidden_size=8, direction="bidirectional")], (4096, 1, 8), weights)


UNROLLED = (
    *("a_loop_of_many_steps", "a_loop_whose_steps_are_computed", "a_loop_without_end", "loops_in_loops"),
    *("functions_of_loops", "functions_that_double", "a_scan_of_many_rows", "loops_in_a_scan"),
    "a_recurrent_layer_of_many_steps",
)
"""Refused before anything is unrolled."""


def limited() -> dict[str, list[Any]]:
    """For each case the kind of refusal and the seconds of CPU that it took."""
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    found: dict[str, list[Any]] = {}
    for name, make in CASES.items():
        proto, start = make(), time.process_time()
        try:
            compile(proto, "edge16")
        except TilewrightError as error:
            verdict = error.kind
        except BaseException as error:  # told by name
            verdict = f"fault: {type(error).__name__}"
        else:
            verdict = "accepted"
        found[name] = [verdict, time.process_time() - start]
    return found


@pytest.fixture(scope="module")
def verdicts() -> dict[str, list[Any]]:
    code = "import json, sys; sys.path.insert(0, sys.argv[1]); import test_hostile as t; print(json.dumps(t.limited()))"
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", CASES)
def test_costs_little(name: str, verdicts: dict[str, list[Any]]) -> None:
    verdict, seconds = verdicts[name]
    assert not verdict.startswith("fault")
    assert (verdict == "accepted") == (name == "branches_in_branches")
    assert seconds < (1 if name in UNROLLED else SECONDS)
    if name in UNROLLED:
        assert verdict == "limit"
