"""Layers that run sample after sample: the same results in the cycles foretold, with each tensor moved once."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto
from onnx.parser import parse_model
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.parser import Parser

from tilewright.backends.program import Program
from tilewright.backends.simulator import SimulationResult, simulate
from tilewright.dialects import nest
from tilewright.dialects.graph import WeightOp
from tilewright.dialects.types import bytes_of
from tilewright.driver import CompileOptions, compile, load_model, make_context, parse_passes, pipeline_text, reference
from tilewright.driver.models import lower
from tilewright.driver.pipelines import Room
from tilewright.errors import TilewrightError
from tilewright.passes.functions import functions_of
from tilewright.passes.nest.storage import storage_of
from tilewright.passes.nest_to_codelet.fused_marks import BY_SAMPLE, KEPT, KEPT_LATER

from .fused_models import Net, inputs_of, residual
from .test_whole_layers import joined

OPTIONS = CompileOptions(partition="schedule")
ALL = 99
"""More layers than any of these models has."""

MODELS = {"joined": joined, "residual": residual}


def text(span: int, *, reload: bool = False) -> str:
    return pipeline_text("edge16", OPTIONS, room=Room(cuts=(0, span), reload=reload))


@cache
def run(name: str, samples: int, span: int, *, reload: bool = False) -> tuple[Program, SimulationResult]:
    model = MODELS[name](samples)
    program = lower(load_model(model), text(span, reload=reload), OPTIONS, None, name)
    return program, simulate(program, inputs_of(model))


def cycles(model: ModelProto, span: int) -> float:
    """Those of the program with so long a span, which is not proven here."""
    options = replace(OPTIONS, prove=False)
    way = pipeline_text("edge16", options, room=Room(cuts=(0, span)))
    return lower(load_model(model), way, options, None, "span").predicted["cycles"]


def scheduled(model: ModelProto, span: int) -> ModuleOp:
    """The module before tiles are chosen."""
    module = load_model(model)
    parse_passes(text(span).partition(",nest-tile")[0]).apply(make_context(), module)
    return module


def marked(module: ModuleOp) -> list[bool]:
    return [BY_SAMPLE in op.attributes for op in module.walk() if isinstance(op, nest.GroupOp)]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("samples", [2, 3])
def test_results_and_traffic_are_those_of_layers_one_after_another(name: str, samples: int):
    model = MODELS[name](samples)
    assert all(marked(scheduled(model, ALL)))
    assert not any(marked(scheduled(model, 0)))
    program, result = run(name, samples, ALL)
    expected = reference(load_model(model), inputs_of(model))
    for key, values in expected.items():
        np.testing.assert_array_equal(result.outputs[key], values)
    assert result.cycles == program.predicted["cycles"]
    assert result.dram_bytes == program.predicted["dram_bytes"] == run(name, samples, 0)[1].dram_bytes


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("samples", [2, 3])
def test_weights_are_loaded_for_each_sample(name: str, samples: int):
    """Results are the same; all that is loaded beyond one span are the weights, for each sample but the first."""
    model = MODELS[name](samples)
    program, result = run(name, samples, ALL, reload=True)
    for key, values in reference(load_model(model), inputs_of(model)).items():
        np.testing.assert_array_equal(result.outputs[key], values)
    assert result.cycles == program.predicted["cycles"]
    ops = [op for op in scheduled(model, ALL).walk() if isinstance(op, WeightOp)]
    weights = sum(bytes_of(op.result) for op in ops)
    assert weights > 0
    once = run(name, samples, ALL)[1].dram_bytes
    assert result.dram_bytes == once + (samples - 1) * weights


@pytest.mark.parametrize(("room_bytes", "is_kept"), [(1 << 23, True), (26_000, False), (20_000, False)])
def test_what_leaves_a_span_of_reloaded_weights_may_be_stored(room_bytes: int, is_kept: bool):
    """Three samples of a map take 18,432 bytes, which have no room beside one sample of two maps and weights."""
    net = Net((3, 3, 16, 8))
    for source, made in pairwise("xabcd"):
        net.conv(source, made, 12)
    model, room = net.model("d"), Room(cuts=(0, 2), reload=True, share=room_bytes / (1 << 23))
    way, module = pipeline_text("edge16", OPTIONS, room=room), load_model(model)
    parse_passes(way.partition(",nest-tile")[0]).apply(make_context(), module)
    groups = [op for op in module.walk() if isinstance(op, nest.GroupOp)]
    assert [BY_SAMPLE in op.attributes for op in groups] == [True, True, False, False]
    assert (KEPT in groups[1].attributes) == is_kept
    program = lower(load_model(model), way, OPTIONS, None, "stored")
    result = simulate(program, inputs_of(model))
    np.testing.assert_array_equal(result.outputs["d"], reference(load_model(model), inputs_of(model))["d"])
    assert (result.cycles, result.dram_bytes) == (program.predicted["cycles"], program.predicted["dram_bytes"])


@pytest.mark.parametrize("kernel", [1, 3])
@pytest.mark.parametrize(("room_bytes", "mark", "moves"), [(1 << 23, KEPT, 0), (36_000, KEPT_LATER, 2)])
def test_a_map_that_leaves_a_span_is_loaded_once_for_several_readers(
    room_bytes: int, mark: str, moves: int, kernel: int
):
    """Three samples of a map, 9,216 bytes, have no room beside one sample of larger ones before.

    Where no reader looks past its ends, the last of them makes its result in its place.
    """
    net = Net((3, 3, 32, 8))
    net.conv("x", "a", 12)
    net.conv("a", "b", 12)
    net.conv("b", "c", 12, stride=2)
    net.conv("c", "d", 12, kernel=kernel)
    net.conv("d", "e", 12, kernel=kernel)
    net.add("Add", ["e", "c"], "f", 12)
    net.add("MaxPool", ["f"], "g", 12, kernel_shape=[2, 2])
    model, room = net.model("g"), Room(cuts=(0, 3), reload=True, share=room_bytes / (1 << 23))
    way, module = pipeline_text("edge16", OPTIONS, room=room), load_model(model)
    parse_passes(way.partition(",nest-tile")[0]).apply(make_context(), module)
    groups = [op for op in module.walk() if isinstance(op, nest.GroupOp)]
    assert [BY_SAMPLE in op.attributes for op in groups] == [True, True, True, False, False, False]
    assert mark in groups[2].attributes
    assert (storage_of(groups[4].results[0]) is groups[2].results[0]) == (kernel == 1)
    program = lower(load_model(model), way, OPTIONS, None, "later")
    result = simulate(program, inputs_of(model))
    np.testing.assert_array_equal(result.outputs["g"], reference(load_model(model), inputs_of(model))["g"])
    assert (result.cycles, result.dram_bytes) == (program.predicted["cycles"], program.predicted["dram_bytes"])
    weights = [bytes_of(op.result) for op in module.walk() if isinstance(op, WeightOp)]
    ends = sum(map(bytes_of, (*next(iter(functions_of(module))).body.block.args, groups[-1].outs[0])))
    again = 2 * sum(weights[:6])
    assert result.dram_bytes == ends + sum(weights) + again + moves * bytes_of(groups[2].outs[0])


@pytest.mark.parametrize(("room_bytes", "is_streamed"), [(1 << 23, False), (500_000, True)])
def test_a_span_may_begin_after_layers_in_rows_and_stream_its_weights(room_bytes: int, is_streamed: bool):
    """The last layer has 589,824 bytes of weights."""
    net = Net((3, 8, 24, 24))
    net.conv("x", "a", 8)
    net.conv("a", "b", 8)
    net.add("MaxPool", ["b"], "c", 8, kernel_shape=[4, 4], strides=[4, 4])
    net.conv("c", "d", 128)
    net.conv("d", "e", 128)
    model, room = net.model("e"), Room(cuts=(3, 5), reload=True, share=room_bytes / (1 << 23))
    way, module = pipeline_text("edge16", OPTIONS, room=room), load_model(model)
    parse_passes(way.partition(",nest-tile")[0]).apply(make_context(), module)
    groups = [op for op in module.walk() if isinstance(op, nest.GroupOp)]
    assert [BY_SAMPLE in op.attributes for op in groups] == [False, False, False, True, True]
    assert any("piece_bytes" in op.attributes for op in groups[3:]) == is_streamed
    program = lower(load_model(model), way, OPTIONS, None, "after rows")
    result = simulate(program, inputs_of(model))
    np.testing.assert_array_equal(result.outputs["e"], reference(load_model(model), inputs_of(model))["e"])
    assert (result.cycles, result.dram_bytes) == (program.predicted["cycles"], program.predicted["dram_bytes"])


def test_the_span_is_the_first_layers():
    model = joined(2)
    count = len(marked(scheduled(model, 0)))
    for span in range(2, count + 1):
        assert marked(scheduled(model, span)) == [True] * span + [False] * (count - span)


def test_one_sample_has_no_span():
    assert not any(marked(scheduled(joined(1), ALL)))


def test_a_marked_group_without_a_dim_of_samples_is_named():
    module = scheduled(joined(1), 0)
    for op in module.walk():
        if isinstance(op, nest.GroupOp):
            op.attributes[BY_SAMPLE] = UnitAttr()
    rest = text(0).partition("nest-tile")
    with pytest.raises(
        TilewrightError, match=r"group @.*expected a layer that runs as a whole.*remove its `by_sample`"
    ):
        parse_passes(rest[1] + rest[2]).apply(make_context(), module)


@pytest.mark.parametrize("name", MODELS)
def test_the_faster_way_is_taken_and_its_ir_is_dumped(name: str, tmp_path: Path):
    model = MODELS[name](2)
    program = compile(model, "edge16", options=replace(OPTIONS, dump=tmp_path))
    spans = range(len(marked(scheduled(model, 0))) + 1)
    assert program.predicted["cycles"] <= min(cycles(model, span) for span in spans)
    (written,) = tmp_path.glob("*-nest-schedule.mlir")
    (chosen,) = (one.method for one in program.candidates if one.chosen)
    assert (BY_SAMPLE in written.read_text()) == ("sample by sample" in chosen)


def test_a_number_from_outside_has_no_samples():
    """As `Clip` with bounds that are inputs is written out."""
    model = parse_model("""<ir_version: 7, opset_import: ["": 13]>
    clip (float[3] x, float low, float high) => (float[3] y) {
      less = Less (x, low)
      raised = Where (less, low, x)
      more = Less (high, raised)
      y = Where (more, high, raised)
    }""")
    assert all(marked(scheduled(model, ALL)))
    values = {"x": [-3, 0.5, 2], "low": -1, "high": 1}
    given = {name: np.asarray(value, np.float32) for name, value in values.items()}
    program = lower(load_model(model), text(ALL), OPTIONS, None, "clip")
    result = simulate(program, given)
    np.testing.assert_array_equal(result.outputs["y"], [-1, 0.5, 1])
    assert (result.cycles, result.dram_bytes) == (program.predicted["cycles"], program.predicted["dram_bytes"])


def test_a_scalar_from_outside_is_there_for_each_sample():
    text_of_module = """func.func @main(%x : tensor<3x8xf32>, %least : tensor<f32>) -> tensor<3x8xf32> {
      %s = graph.softmax %x axis 1 : (tensor<3x8xf32>) -> tensor<3x8xf32>
      %t = graph.transpose %s perm [0, 1] : (tensor<3x8xf32>) -> tensor<3x8xf32>
      %y = graph.binary max %t, %least : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
      %e = graph.unary exp %y : (tensor<3x8xf32>) -> tensor<3x8xf32>
      func.return %e : tensor<3x8xf32>
    }"""
    module = Parser(make_context(), text_of_module).parse_module()
    given = {"arg0": np.eye(3, 8, dtype=np.float32), "arg1": np.array(0.13, np.float32)}
    result = simulate(lower(load_model(module), text(ALL), OPTIONS, None, "scalar"), given)
    (found,), (expected,) = (list(values.values()) for values in (result.outputs, reference(module, given)))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_one_span_follows_another():
    """All samples pass through two layers, then through the next ones."""
    name = "joined"
    model = MODELS[name](2)
    way = pipeline_text("edge16", OPTIONS, room=Room(cuts=(0, 2, 4)))
    program = lower(load_model(model), way, OPTIONS, None, name)
    result = simulate(program, inputs_of(model))
    for key, values in reference(load_model(model), inputs_of(model)).items():
        np.testing.assert_array_equal(result.outputs[key], values)
    assert result.cycles == program.predicted["cycles"]
    module = load_model(model)
    parse_passes(way.partition(",nest-tile")[0]).apply(make_context(), module)
    numbers = [str(op.attributes[BY_SAMPLE]) for op in module.walk() if BY_SAMPLE in op.attributes]
    assert len(set(numbers)) == 2
