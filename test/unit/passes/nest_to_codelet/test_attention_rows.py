"""Attention row by row: scores, softmax and the products with the values, none of which is on chip as a whole."""

from functools import cache

import numpy as np
from onnx import ModelProto, TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

from tilewright.backends.simulator import simulate
from tilewright.costs.mapping.binding import Pricer
from tilewright.costs.mapping.tree import Loop
from tilewright.dialects import nest
from tilewright.dialects.acg import machine_of
from tilewright.driver import CompileOptions, compile, load_model, make_context, parse_passes, pipeline_text, reference
from tilewright.frontends.networks import network_module
from tilewright.passes.nest.nest_map import bind_tree
from tilewright.passes.nest.nest_tile import row_tree
from tilewright.passes.nest_to_codelet.fused_layers import FusedGroup, read_layer
from tilewright.passes.nest_to_codelet.fused_tiles import row_trees

HEADS, ROWS, WIDTH = 4, 64, 16
SMALL = "edge16:GBUF.depth=1024"
"""A buffer of 65,536 bytes: as many as the scores take."""


@cache
def attention() -> ModelProto:
    nodes = [
        helper.make_node("MatMul", ["q", "k"], ["scores"], name="scores"),
        helper.make_node("Softmax", ["scores"], ["shares"], name="shares", axis=3),
        helper.make_node("MatMul", ["shares", "v"], ["y"], name="y"),
    ]
    shapes = {"q": (1, HEADS, ROWS, WIDTH), "k": (1, HEADS, WIDTH, ROWS), "v": (1, HEADS, ROWS, WIDTH)}
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, HEADS, ROWS, WIDTH))
    graph = helper.make_graph(nodes, "attention", given, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def scheduled(module: ModuleOp, target: str) -> ModuleOp:
    before, _, _ = pipeline_text(target, CompileOptions(partition="schedule")).partition(",nest-tile")
    parse_passes(before).apply(make_context(), module)
    return module


def groups_of(module: ModuleOp) -> list[nest.GroupOp]:
    return [op for op in module.walk() if isinstance(op, nest.GroupOp)]


def test_attention_is_one_group_and_moves_nothing_twice():
    marks = [op.attributes for op in groups_of(scheduled(load_model(attention()), SMALL))]
    assert len(marks) == 3
    assert len({mark["fused"] for mark in marks}) == 1
    program = compile(attention(), SMALL, options=CompileOptions(gap=1000.0))
    rng = np.random.default_rng(3)
    inputs = {t.name: rng.normal(size=t.shape).astype(np.float32) for t in program.tensors if t.role == "input"}
    result = simulate(program, inputs)
    expected = reference(load_model(attention()), inputs)["y"]
    np.testing.assert_allclose(result.outputs["y"], expected, rtol=1e-4, atol=1e-6)
    assert result.cycles == program.predicted["cycles"]
    assert result.dram_bytes == program.predicted["dram_bytes"] == program.lower_bound["dram_bytes"]


def test_products_read_the_rows_of_the_left_factor_that_they_make():
    module = scheduled(load_model(attention()), SMALL)
    pricer = Pricer(machine_of(module))
    layers = tuple(read_layer(op, pricer) for op in groups_of(module))
    group = FusedGroup(pricer.machine, layers, (4, 0))
    q, k, v, scores, shares, y = (group.scheme.by_number[n].main.size // 4 for n in (-1, -2, -3, 0, 1, 2))
    assert q == y == HEADS * 4 * WIDTH
    assert k == v == HEADS * ROWS * WIDTH
    assert scores == shares == HEADS * 4 * ROWS


def test_what_is_between_kernels_is_cut_so_that_the_arrays_read_little():
    module = scheduled(network_module("gpt2_small_prefill", tokens=256), "edge16")
    pricer = Pricer(machine_of(module))
    scores = next(op for op in groups_of(module) if op.sym_name.data == "scores.q")
    layer = read_layer(scores, pricer)
    group = FusedGroup(pricer.machine, (layer,), (32, 0))
    trees = [own[0] for own in row_trees(group, layer)]
    cycles = [bind_tree(layer.problem, tree, pricer)[1].queue_cycles["MX"] for tree in trees]
    assert len(trees) == 2
    assert 3 * cycles[1] < 2 * cycles[0]
    chosen = row_tree(group, layer, pricer)
    assert chosen == trees[1]
    assert isinstance(chosen[0], Loop)
    assert (chosen[0].dim, chosen[0].step) == (layer.row, 32)
