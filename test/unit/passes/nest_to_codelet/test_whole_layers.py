"""Layers that run as a whole, their maps on chip: as layer by layer, with no more traffic, in the cycles foretold."""

from functools import cache

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute
from xdsl.parser import Parser

from tilewright.backends.link import link
from tilewright.backends.program import Program
from tilewright.backends.simulator import SimulationResult, simulate
from tilewright.dialects import nest
from tilewright.driver import CompileOptions, compile, load_model, make_context, parse_passes, pipeline_text, reference
from tilewright.driver.pipelines import Room
from tilewright.errors import InfeasibleError

from .fused_models import Net, branches, classifier, inputs_of, residual


def joined(batch: int = 1) -> ModelProto:
    """Maps with borders of two widths, a concat that is read in place, a residual sum, and a result that is reread."""
    net = Net((batch, 3, 12, 9))
    net.conv("x", "a", 4)
    net.add("Relu", ["a"], "b", 4)
    net.add("MaxPool", ["b"], "c", 4, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    net.conv("b", "d", 5, kernel=5)
    net.add("Concat", ["c", "d"], "e", 9, axis=1)
    net.conv("e", "f", 4)
    net.add("Add", ["f", "b"], "g", 4)
    net.add("Relu", ["g"], "y", 4)
    net.conv("y", "z", 6, kernel=3, stride=2)
    return net.model("z", "y")


def heavy() -> ModelProto:
    """More weights than maps."""
    net = Net((1, 16, 6, 6))
    net.conv("x", "a", 32)
    net.add("Relu", ["a"], "b", 32)
    net.conv("b", "c", 48)
    net.conv("c", "y", 16, kernel=1)
    return net.model("y")


MODELS = {
    "joined": joined,
    "joined of 2": lambda: joined(2),
    "residual of 2": lambda: residual(2),
    "branches": branches,
    "classifier": classifier,
    "heavy": heavy,
}
WHOLE = [(name, target) for name in MODELS for target in ("edge16", "cocco_npu")]
SMALL = [
    ("joined", "edge16:GBUF.depth=128"),
    ("joined", "edge16:GBUF.depth=96"),
    ("joined of 2", "edge16:GBUF.depth=128"),
    ("residual of 2", "edge16:GBUF.depth=128"),
    ("branches", "edge16:GBUF.depth=64"),
    ("heavy", "edge16:GBUF.depth=256"),
]


@cache
def run(name: str, target: str, partition: str) -> tuple[Program, SimulationResult]:
    model = MODELS[name]()
    program = compile(model, target, options=CompileOptions(partition=partition, gap=1000.0))
    return program, simulate(program, inputs_of(model))


@cache
def marks(name: str, target: str) -> list[tuple[int | None, ...]]:
    """The step, the rows and the bytes of pieces that groups are marked with."""
    module = load_model(MODELS[name]())
    before, _, _ = pipeline_text(target, CompileOptions(partition="schedule")).partition(",nest-tile")
    parse_passes(before).apply(make_context(), module)
    groups = [op.attributes for op in module.walk() if isinstance(op, nest.GroupOp)]
    return [tuple(number_of(marks.get(key)) for key in ("fused", "tile_rows", "piece_bytes")) for marks in groups]


def number_of(mark: Attribute | None) -> int | None:
    return mark.value.data if isinstance(mark, IntegerAttr) else None


@pytest.mark.parametrize(("name", "target"), [*WHOLE, *SMALL])
def test_results_are_those_of_layer_by_layer_with_no_more_traffic(name: str, target: str):
    program, result = run(name, target, "schedule")
    _, alone = run(name, target, "")
    expected = reference(load_model(MODELS[name]()), inputs_of(MODELS[name]()))
    assert result.outputs.keys() == expected.keys()
    for key, values in expected.items():
        np.testing.assert_array_equal(result.outputs[key], values)
        np.testing.assert_array_equal(result.outputs[key], alone.outputs[key])
    assert result.cycles == program.predicted["cycles"]
    assert result.dram_bytes == program.predicted["dram_bytes"]
    assert result.energy_pj == pytest.approx(program.predicted["energy_pj"], rel=1e-9)
    assert result.dram_bytes < alone.dram_bytes


@pytest.mark.parametrize(("name", "target"), WHOLE)
def test_with_room_for_all_each_tensor_moves_once(name: str, target: str):
    assert [mark[1:] for mark in marks(name, target)] == [(0, None)] * len(marks(name, target))
    program, result = run(name, target, "schedule")
    assert result.dram_bytes == sum(t.size_bytes for t in program.tensors if t.role in ("input", "weight", "output"))
    assert result.cycles < run(name, target, "")[1].cycles


@pytest.mark.parametrize(("name", "target"), SMALL)
def test_the_small_buffers_lead_to_rows_or_pieces(name: str, target: str):
    assert any(rows or piece for _, rows, piece in marks(name, target))


def test_streamed_weights_move_once():
    program, result = run("heavy", "edge16:GBUF.depth=256", "schedule")
    assert [piece is not None for _, _, piece in marks("heavy", "edge16:GBUF.depth=256")] == [True, True, False]
    assert result.dram_bytes == run("heavy", "edge16", "schedule")[1].dram_bytes
    (buffer,) = (memory for memory in program.machine.memories if memory.name == "GBUF")
    weights = sum(t.size_bytes for t in program.tensors if t.role == "weight")
    assert weights > 2 * buffer.capacity_bytes


@cache
def batch_of(rows: int) -> ModelProto:
    """Eight samples of maps of `rows` rows and columns, through two convolutions."""
    net = Net((8, 16, rows, rows))
    net.conv("x", "a", 32, kernel=1)
    net.conv("a", "y", 32)
    return net.model("y")


@pytest.mark.parametrize(("rows", "together"), [(2, True), (12, False)])
def test_samples_of_small_maps_are_made_together(rows: int, together: bool):
    """Instructions of one sample of 2 x 2 would leave most of the array idle."""
    model, options = batch_of(rows), CompileOptions(partition="schedule", gap=1000.0)
    module = load_model(model)
    passes = pipeline_text("edge16", options).partition(",convert-nest-to-codelet")[0]
    parse_passes(passes).apply(make_context(), module)
    loops = [op for op in module.walk() if isinstance(op, nest.ForOp)]
    assert any(loop.dim.data == "n" and loop.step.value.data == 1 for loop in loops) != together
    program = compile(model, "edge16", options=options)
    result = simulate(program, inputs_of(model))
    (expected,) = reference(load_model(model), inputs_of(model)).values()
    np.testing.assert_array_equal(result.outputs["y"], expected)
    assert result.cycles == program.predicted["cycles"]
    assert result.dram_bytes == sum(t.size_bytes for t in program.tensors if t.role in ("input", "weight", "output"))


def test_a_pool_is_made_in_rows_as_the_rows_before_it_come():
    """It could be made in 16 pieces of four channels, too, each of which waits for all rows of the convolution."""
    net = Net((1, 3, 56, 56))
    net.conv("x", "a", 64)
    net.add("MaxPool", ["a"], "y", 64, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    module = load_model(net.model("y"))
    passes = pipeline_text("edge16", CompileOptions(partition="schedule")).partition(",convert-nest-to-codelet")[0]
    parse_passes(passes).apply(make_context(), module)
    *_, pool = [op for op in module.walk() if isinstance(op, nest.GroupOp)]
    loops = {op.dim.data: op.step.value.data for op in pool.walk() if isinstance(op, nest.ForOp)}
    cut = {dim for dim, step in loops.items() if 1 < step < pool.extents[dim]}
    assert cut == {"p"}


def test_a_layer_works_on_its_first_weights_while_others_come():
    """Its weights take longer to load than all work before; cut by rows it would begin when the last are there."""
    net = Net((1, 512, 8, 8))
    net.conv("x", "a", 1024, kernel=1)
    net.add("GlobalAveragePool", ["a"], "y", 1024)
    model, options = net.model("y"), CompileOptions(partition="schedule", gap=1000.0)
    program = compile(model, "edge16", options=options)
    result = simulate(program, inputs_of(model))
    (expected,) = reference(load_model(model), inputs_of(model)).values()
    np.testing.assert_allclose(result.outputs["y"], expected, rtol=1e-5)
    assert result.cycles == program.predicted["cycles"]
    loads = [row for row in program.timeline if row.name == "LOAD"]
    first = next(row for row in program.timeline if row.name == "FMAC")
    weights = max(tensor.size_bytes for tensor in program.tensors if tensor.role == "weight")
    assert sum(row.dram_bytes for row in loads if row.end_cycle <= first.start_cycle) < weights / 2
    assert result.cycles < 1.1 * program.lower_bound["cycles"]


@pytest.mark.parametrize("samples", [1, 2])
def test_a_map_has_room_around_it_for_readers_of_a_view(samples: int):
    """Shuffled channels: no product of the depthwise layer is cut at a border, as none is where the map is padded."""
    net = Net((samples, 4, 14, 14))
    net.conv("x", "a", 24, kernel=1)
    for name, shape in (("split", [samples, 4, 6, 14, 14]), ("join", [samples, 24, 14, 14])):
        net.weights.append(numpy_helper.from_array(np.array(shape), name))
    net.add("Reshape", ["a", "split"], "b", 24)
    net.add("Transpose", ["b"], "c", 24, perm=[0, 2, 1, 3, 4])
    net.add("Reshape", ["c", "join"], "d", 24)
    net.conv("d", "y", 24, kernel=3, group=24)
    model, options = net.model("y"), CompileOptions(partition="schedule", gap=1000.0)
    program = compile(model, "edge16", options=options)
    result = simulate(program, inputs_of(model))
    (expected,) = reference(load_model(model), inputs_of(model)).values()
    np.testing.assert_array_equal(result.outputs["y"], expected)
    assert result.cycles == program.predicted["cycles"]
    products = [row.ops for row in program.timeline if row.name == "FMAC" and row.layer == "y"]
    assert sum(products) == samples * 24 * 14 * 14 * 9
    assert len(products) <= 16 * samples


def test_a_map_has_no_room_around_it_where_a_view_joins_its_axes() -> None:
    """The places of a map, one after another, are read as a sequence: elements of a border would be among them."""
    net = Net((1, 4, 8, 8))
    net.conv("x", "a", 4, kernel=1)
    net.conv("a", "y", 8)
    net.weights.append(numpy_helper.from_array(np.array([1, 4, 64]), "places"))
    net.add("Reshape", ["a", "places"], "b", 4)
    net.add("Transpose", ["b"], "z", 4, perm=[0, 2, 1])
    model = net.model("y", "z")
    found = simulate(
        compile(model, "edge16", options=CompileOptions(partition="schedule", gap=1000.0)), inputs_of(model)
    ).outputs
    for name, expected in reference(load_model(model), inputs_of(model)).items():
        np.testing.assert_array_equal(found[name], expected)


def test_a_sum_over_samples_is_not_made_row_by_row() -> None:
    """Layers that read one input would load it once in a group, but a row of the sum needs all samples."""
    lines = """func.func @main(%x : tensor<128x1x8xf32>, %w : tensor<128x8x4xf32>) -> tensor<1x1x4xf32> {
      %a = graph.matmul %x, %w : (tensor<128x1x8xf32>, tensor<128x8x4xf32>) -> tensor<128x1x4xf32>
      %b = graph.reduce sum %a axes [0] keepdims : (tensor<128x1x4xf32>) -> tensor<1x1x4xf32>
      %c = graph.matmul %x, %w : (tensor<128x1x8xf32>, tensor<128x8x4xf32>) -> tensor<128x1x4xf32>
      %d = graph.reduce sum %c axes [0] keepdims : (tensor<128x1x4xf32>) -> tensor<1x1x4xf32>
      %y = graph.binary add %b, %d : (tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
      func.return %y : tensor<1x1x4xf32>
    }"""
    module = Parser(make_context(), lines).parse_module()
    random = np.random.default_rng(0)
    shapes = {"arg0": (128, 1, 8), "arg1": (128, 8, 4)}
    given = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    program = compile(module, options=CompileOptions(partition="schedule", gap=1000.0))
    (found,), (expected,) = (list(v.values()) for v in (simulate(program, given).outputs, reference(module, given)))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def unpadded(name: str, target: str) -> Program:
    """The program without room around rings, in half of the memory."""
    text = pipeline_text(target, CompileOptions(partition="schedule"), room=Room(unpadded=True, share=0.5))
    module = load_model(MODELS[name]())
    parse_passes(text).apply(make_context(), module)
    return link(module)


@pytest.mark.parametrize(("name", "target"), [case for case in SMALL if case[0] != "branches"])
def test_rings_without_room_around_them_give_the_same(name: str, target: str):
    program, inputs = unpadded(name, target), inputs_of(MODELS[name]())
    result = simulate(program, inputs)
    assert (result.cycles, result.dram_bytes) == (program.predicted["cycles"], program.predicted["dram_bytes"])
    for key, values in reference(load_model(MODELS[name]()), inputs).items():
        np.testing.assert_array_equal(result.outputs[key], values)


def test_joined_maps_that_have_no_room_are_infeasible():
    """What reads them is tiled from DRAM, where they are not: other ways copy them together."""
    with pytest.raises(InfeasibleError, match="larger GBUF"):
        unpadded("branches", "edge16:GBUF.depth=64")


def test_an_operand_of_other_rows_than_the_result_is_not_read_row_by_row() -> None:
    """The rows of a product's second factor, an input that has no room on chip, are what it sums over."""
    text = """func.func @main(%x : tensor<1x64xf32>, %d : tensor<64x128xf32>) -> tensor<1x128xf32> {
      %y = graph.matmul %x, %d : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
      func.return %y : tensor<1x128xf32>
    }"""
    program = compile(
        Parser(make_context(), text).parse_module(),
        "edge16:GBUF.depth=256",
        options=CompileOptions(partition="schedule", gap=10.0),
    )
    rng = np.random.default_rng(0)
    x, d = (rng.integers(-8, 8, shape).astype(np.float32) for shape in ((1, 64), (64, 128)))
    ran = simulate(program, {"arg0": x, "arg1": d})
    np.testing.assert_array_equal(ran.outputs["result0"], x @ d)
    assert ran.cycles >= program.lower_bound["cycles"]


def test_a_joined_map_leaves_once_where_layers_run_in_rows_before_its_last_part() -> None:
    """The first part is copied in rows beside other readers of the input, the last one as a whole."""
    text = """func.func @main(%x : tensor<1x3x2x12xf32>, %w : tensor<5x3x2x3xf32>)
        -> (tensor<1x3x2x12xf32>, tensor<1x3x2x12xf32>, tensor<1x10x1x4xf32>) {
      %a = graph.conv %x, %w strides [2, 3] pads [0, 1, 0, 1] dilations [1, 2] groups 1
        : (tensor<1x3x2x12xf32>, tensor<5x3x2x3xf32>) -> tensor<1x5x1x4xf32>
      %b = graph.unary erf %x : (tensor<1x3x2x12xf32>) -> tensor<1x3x2x12xf32>
      %c = graph.unary neg %x : (tensor<1x3x2x12xf32>) -> tensor<1x3x2x12xf32>
      %y = graph.concat %a, %a axis 1 : (tensor<1x5x1x4xf32>, tensor<1x5x1x4xf32>) -> tensor<1x10x1x4xf32>
      func.return %b, %c, %y : tensor<1x3x2x12xf32>, tensor<1x3x2x12xf32>, tensor<1x10x1x4xf32>
    }"""
    module = Parser(make_context(), text).parse_module()
    program = compile(module, "cocco_npu", options=CompileOptions(prove=False))
    random = np.random.default_rng(0)
    given = {t.name: random.integers(-8, 8, t.shape).astype(np.float32) for t in program.tensors if t.role == "input"}
    result = simulate(program, given)
    assert result.counts.memories["DRAM"].write_bytes == sum(array.nbytes for array in result.outputs.values())
    for found, expected in zip(result.outputs.values(), reference(module, given).values(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
