"""Graphs with open extents: fixed at a point they are what an import at that point gives."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import onnx.helper as h
import pytest
from onnx import ModelProto, numpy_helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from tilewright.dialects.graph.extents import Extent, ExtentsAttr, Term
from tilewright.driver import load_model
from tilewright.driver.models import make_context
from tilewright.errors import TilewrightError
from tilewright.frontends.input_shapes import InputShapes
from tilewright.frontends.onnx import import_onnx, import_open
from tilewright.interpreters.graph import run_graph
from tilewright.resources import resources_of

from ...bench_scripts import bench

whole_networks = bench("whole_networks")


ATTRIBUTES = {"Concat": [("axis", 0)], "Cast": [("to", 1)], "MaxPool": [("kernel_shape", [2, 2]), ("strides", [2, 2])]}


def model(
    inputs: Mapping[str, Sequence[int | str]], nodes: Sequence[tuple[str, str, str]], **constants: object
) -> ModelProto:
    """Nodes as (operator, inputs, output), of which the last is the output."""
    made = [h.make_node(kind, read.split(), [result]) for kind, read, result in nodes]
    for node in (node for node in made if node.op_type in ATTRIBUTES):
        node.attribute.extend(h.make_attribute(*attribute) for attribute in ATTRIBUTES[node.op_type])
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    values = [h.make_tensor_value_info(name, 1, shape) for name, shape in inputs.items()]
    output = h.make_tensor_value_info(nodes[-1][2], 1, None)
    graph = h.make_graph(made, "g", values, [output], stored)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)])


def text_of(module: ModuleOp) -> str:
    """The text without the names of weights."""
    return re.sub(r'@"?[\w.:/]+"?| \{name = "[^"]*"\}', "", str(module))


def positions() -> ModelProto:
    """Rows of `x`, each with its position added, times a matrix, in the middle of a reshape."""
    return model(
        {"x": ("n", "tokens", 4)},
        [
            ("Shape", "x", "shape"),
            ("Slice", "shape one two", "length"),
            ("Slice", "places zero length zero", "part"),
            ("Add", "x part", "a"),
            ("Reshape", "a flat", "rows"),
            ("MatMul", "rows w", "m"),
            ("Slice", "shape zero two", "leading"),
            ("Concat", "leading three", "back"),
            ("Reshape", "m back", "y"),
        ],
        places=np.arange(256, dtype=np.float32).reshape(64, 4),
        w=np.arange(12, dtype=np.float32).reshape(4, 3),
        flat=[-1, 4],
        zero=[0],
        one=[1],
        two=[2],
        three=[3],
    )


def test_extents_are_products_and_constants_are_cut() -> None:
    opened = import_open(positions(), {"n": range(1, 9), "tokens": range(2, 65)})
    assert "tensor<?x4xf32, #graph.extents<[n * tokens, 4]>>" in str(opened)
    fixed = load_model(opened, InputShapes(3, dims={"tokens": 17}))
    x = np.random.default_rng(0).standard_normal((3, 17, 4)).astype(np.float32)
    direct = import_onnx(positions(), shapes=InputShapes(3, dims={"tokens": 17}))
    assert np.array_equal(run_graph(fixed, {"x": x})["y"], run_graph(direct, {"x": x})["y"])
    assert {array.shape for array in resources_of(fixed).values()} == {(17, 4), (4, 3)}
    assert "?" in str(opened)  # the caller's stays as it is


def test_sums_have_a_divisor() -> None:
    pool = model({"x": (1, 2, "size", 8)}, [("MaxPool", "x", "y")])
    opened = import_open(pool, {"size": range(4, 65, 2)})
    assert "#graph.extents<[1, 2, (size) floordiv 2, 4]>" in str(opened)
    with pytest.raises(TilewrightError, match=r"extent size: expected 4 to 64 in steps of 2, found 7"):
        load_model(opened, InputShapes(dims={"size": 7}))
    with pytest.raises(TilewrightError, match="integers that are sums of products"):
        import_open(pool, {"size": range(4, 65)})


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([("Shape", "x", "s"), ("Cast", "s", "f"), ("Mul", "x f", "y")], "the leading part of what it is at n=8"),
        ([("Shape", "x", "s"), ("Min", "s four", "m"), ("Slice", "x zero m", "y")], "as many operations at n=2"),
        ([("Shape", "x", "s"), ("Mul", "s s", "q"), ("Expand", "z q", "y")], "integers that are sums of products"),
    ],
)
def test_what_depends_on_extents_in_another_way_is_refused(nodes: list[tuple[str, str, str]], words: str) -> None:
    made = model({"x": ("n",)}, nodes, four=[4], zero=[0], z=np.array([0.5], np.float32))
    with pytest.raises(TilewrightError, match=words):
        import_open(made, {"n": range(2, 9)})


@pytest.mark.parametrize("name", ["bloom", "deberta", "gpt2", "lstm", "segformer", "shufflenet_v2", "swin", "yolos"])
def test_networks_at_a_point_are_those_of_that_batch(name: str) -> None:
    network = whole_networks.load(name)
    fixed = load_model(import_open(network, {"batch": range(1, 9)}), InputShapes(3))
    direct = import_onnx(network, shapes=InputShapes(3))
    assert text_of(fixed) == text_of(direct)
    arrays = [[a.tobytes() for a in resources_of(module).values()] for module in (fixed, direct)]
    assert sorted(set(arrays[0])) == sorted(set(arrays[1]))


def test_at_most_four_extents_stay_open() -> None:
    wide = model({"x": tuple("abcde")}, [("Relu", "x", "y")])
    with pytest.raises(TilewrightError, match="open extents: expected 1 to 4, found 5"):
        import_open(wide, {name: range(2, 4) for name in "abcde"})


def test_a_name_without_a_number_has_none() -> None:
    extent = Extent((Term(2, ("n", "m")), Term(-1, ())), 3)
    assert extent.at({"n": 2, "m": 4}) == 5
    with pytest.raises(VerifyException, match="expected an extent among n, found m"):
        extent.at({"n": 2})
    with pytest.raises(VerifyException, match="expected a sum of which 3 is a divisor, found 5"):
        extent.at({"n": 1, "m": 3})


def test_divisors_are_above_0() -> None:
    with pytest.raises(ParseError, match="expected a divisor of at least 1, found 0"):
        Parser(make_context(), "#graph.extents<[(n) floordiv 0]>").parse_attribute()
    assert str(ExtentsAttr([Extent.fixed(-4)])) == "#graph.extents<[-4]>"
