"""Channels that are written where they are moved to."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.driver import CompileOptions, RunOptions, compile, run
from tilewright.passes.nest import nest_fold_moves


def shuffled_block(path: Path, rows: int) -> str:
    """A product in groups, its channels shuffled, a depthwise convolution, and both joined with another product."""
    numbers = np.random.default_rng(0)
    shapes = {"a": (24, 4, 1, 1), "b": (24, 1, 3, 3), "c": (8, 12, 1, 1), "d": (16, 32, 1, 1)}
    weights = [
        numpy_helper.from_array(numbers.normal(0, 0.3, shape).astype(np.float32), n) for n, shape in shapes.items()
    ]
    for name, shape in (("cut", [1, 3, 8, rows, 8]), ("joined", [1, 24, rows, 8])):
        weights.append(numpy_helper.from_array(np.array(shape, np.int64), name))
    nodes = [
        helper.make_node("Conv", ["x", "a"], ["grouped"], group=3),
        helper.make_node("Relu", ["grouped"], ["active"]),
        helper.make_node("Reshape", ["active", "cut"], ["apart"]),
        helper.make_node("Transpose", ["apart"], ["turned"], perm=[0, 2, 1, 3, 4]),
        helper.make_node("Reshape", ["turned", "joined"], ["shuffled"]),
        helper.make_node("Conv", ["shuffled", "b"], ["deep"], group=24, pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["x", "c"], ["beside"]),
        helper.make_node("Concat", ["deep", "beside"], ["both"], axis=1),
        helper.make_node("Conv", ["both", "d"], ["y"]),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, extent, rows, 8])
        for name, extent in (("x", 12), ("y", 16))
    ]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return str(path)


@pytest.mark.parametrize("target", ["edge16", "cocco_npu", "edge16:GBUF.depth=256"])
def test_what_is_written_in_place_of_a_move_is_the_same(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As wholes, and where maps have so little room that layers run in rows."""
    model, cycles, moved = shuffled_block(tmp_path / "model.onnx", 16), list[int](), list[bool]()
    compiling, running = CompileOptions(partition="schedule", gap=0), RunOptions(trace=False)
    for number in range(2):
        done = run(model, target, folder=tmp_path / str(number), compile_options=compiling, options=running)
        assert done.agrees
        assert done.simulation.cycles == done.predicted["cycles"] >= done.bounds["lower_bound"]["cycles"]
        cycles.append(done.simulation.cycles)
        moved.append(any(layer.nodes == ("turned",) for layer in compile(model, target, options=compiling).layers))
        monkeypatch.setattr(nest_fold_moves, "moves", lambda *_: ())
    assert cycles[0] <= cycles[1]
    assert moved == [False, True]
