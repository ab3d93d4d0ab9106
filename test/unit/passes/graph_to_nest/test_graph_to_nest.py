"""Every graph layer means the same as its kernels, tiled and mapped or not, on machines large and small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from tilewright.dialects import graph, nest
from tilewright.dialects.acg import GraphOp
from tilewright.dialects.types import dtype_of, shape_of
from tilewright.driver import make_context
from tilewright.frontends.acg import load_target
from tilewright.interpreters.graph import GraphFunctions
from tilewright.interpreters.nest import NestFunctions
from tilewright.passes.graph_to_nest.convert_graph_to_nest import ConvertGraphToNestPass
from tilewright.passes.nest.nest_map import NestMapPass
from tilewright.passes.nest.nest_tile import NestTilePass
from tilewright.passes.nest.trees import group_of
from tilewright.resources import resources_of

Array = NDArray[Any]
LAYERS = (Path(__file__).parent / "layers.mlir").read_text()
CASES = {part.split("(", 1)[0]: f"func.func @{part}" for part in LAYERS.split("func.func @")[1:]}


def parse(text: str, capacity_bytes: int | None = None) -> ModuleOp:
    """The module of a case, with a machine if a capacity of its on-chip memory is given."""
    module = Parser(make_context(), text).parse_module()
    module.verify()
    if capacity_bytes is not None:
        machine = load_target("edge16")
        memories = tuple(
            m if m.offchip else replace(m, banks=1, depth=capacity_bytes, align_bytes=4) for m in machine.memories
        )
        entry = GraphOp.get(replace(machine, memories=memories))
        module.body.block.insert_ops_before([entry], cast(Any, module.body.block.first_op))
    return module


def apply(module: ModuleOp, *passes: ModulePass) -> ModuleOp:
    for one in passes:
        one.apply(make_context(), module)
        module.verify()
    return module


def arguments(module: ModuleOp) -> list[Array]:
    rng = np.random.default_rng(0)
    main = next(op for op in module.ops if isinstance(op, func.FuncOp))
    return [random(rng, cast(TensorType[Attribute], type_)) for type_ in main.function_type.inputs]


def random(rng: np.random.Generator, type_: TensorType[Attribute]) -> Array:
    """Positive floats, all values of bytes, small positive other integers (shifts, multipliers)."""
    dtype, shape = dtype_of(type_.element_type), type_.get_shape()
    if dtype.kind == "f":
        return np.asarray(rng.uniform(0.1, 2.0, shape)).astype(dtype)
    if dtype.itemsize == 1:
        info = np.iinfo(dtype)
        return np.asarray(rng.integers(info.min, info.max, shape, endpoint=True)).astype(dtype)
    return np.asarray(rng.integers(1, 9, shape)).astype(dtype)


def run(module: ModuleOp, inputs: list[Array]) -> tuple[Array, ...]:
    interpreter = Interpreter(module)
    interpreter.register_implementations(GraphFunctions(resources_of(module)))
    interpreter.register_implementations(NestFunctions())
    interpreter.register_implementations(FuncFunctions())
    main = next(op for op in module.ops if isinstance(op, func.FuncOp))
    return interpreter.call_op(main.sym_name.data, tuple(inputs))


def assert_same(found: tuple[Array, ...], expected: tuple[Array, ...]) -> None:
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        if a.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", CASES)
def test_kernels_mean_the_same_as_layers(name: str) -> None:
    module = parse(CASES[name])
    inputs = arguments(module)
    expected = run(module, inputs)
    apply(module, ConvertGraphToNestPass())
    layers = [op.name for op in module.walk() if isinstance(op, graph.LayerOp | graph.GroupOp)]
    assert [layer for layer in layers if layer != "graph.weight"] == []
    assert_same(run(module, inputs), expected)


@pytest.mark.parametrize("capacity_bytes", [1 << 20, 1200, 400])
@pytest.mark.parametrize("name", CASES)
def test_tiles_mean_the_same_as_kernels(name: str, capacity_bytes: int) -> None:
    module = parse(CASES[name], capacity_bytes)
    inputs = arguments(module)
    expected = run(module, inputs)
    apply(module, ConvertGraphToNestPass(), NestTilePass())
    assert all(op.is_mapped for op in module.walk() if isinstance(op, nest.GroupOp))
    assert_same(run(module, inputs), expected)
    apply(module, NestMapPass())
    assert_same(run(module, inputs), expected)


def test_channels_that_are_shuffled_stay_channels_of_a_map() -> None:
    """So that the layer may run in rows."""
    module = apply(parse(CASES["shuffle"]), ConvertGraphToNestPass(in_place=True))
    groups = [op for op in module.walk() if isinstance(op, nest.GroupOp)]
    assert [shape_of(value) for op in groups for value in (*op.inputs, *op.outs)] == [(2, 6, 4, 5)] * 4
    assert not [op for op in module.walk() if isinstance(op, nest.ViewOp)]


MASKED = """
func.func @main(%a: tensor<1x2x4x3xf32>, %b: tensor<1x2x3x5xf32>) -> tensor<1x2x4x5xf32> {
  %m = graph.weight @m = dense<MASK> : tensor<SHAPExsi8> : tensor<SHAPExsi8>
  %s = graph.weight @s = dense<0.5> : tensor<f32> : tensor<f32>
  %d = graph.dequantize %m, %s axis 0 : (tensor<SHAPExsi8>, tensor<f32>) -> tensor<SHAPExf32>
  %n = graph.unary neg %d : (tensor<SHAPExf32>) -> tensor<SHAPExf32>
  %p = graph.matmul %a, %b : (tensor<1x2x4x3xf32>, tensor<1x2x3x5xf32>) -> tensor<1x2x4x5xf32>
  %y = graph.binary add %p, %n : (tensor<1x2x4x5xf32>, tensor<SHAPExf32>) -> tensor<1x2x4x5xf32>
  func.return %y : tensor<1x2x4x5xf32>
}
"""


@pytest.mark.parametrize("shape", [(4, 5), (1, 1, 4, 5), (4, 1), (2, 4, 5)])
def test_what_is_made_of_weights_is_a_part_of_the_layer_that_reads_it(shape: tuple[int, ...]) -> None:
    mask = np.arange(np.prod(shape)).reshape(shape).tolist()
    module = parse(MASKED.replace("SHAPE", "x".join(map(str, shape))).replace("MASK", str(mask)), 1 << 20)
    inputs = arguments(module)
    expected = run(module, inputs)
    apply(module, ConvertGraphToNestPass(in_place=True))
    (group,) = [op for op in module.walk() if isinstance(op, nest.GroupOp)]
    assert list(group_of(group).extents) == ["h", "m", "n", "k"]
    assert_same(run(module, inputs), expected)
    apply(module, NestTilePass(), NestMapPass())
    assert_same(run(module, inputs), expected)
