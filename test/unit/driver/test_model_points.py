"""A model at several points of its open extents: programs as if each were compiled alone, weights held once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tilewright import compile, simulate
from tilewright.backends.program import SHARED, load_program
from tilewright.costs.clock import copies
from tilewright.driver import CompileOptions
from tilewright.driver.model_points import compile_points, save_points
from tilewright.errors import TilewrightError
from tilewright.frontends.input_shapes import InputShapes

QUICK = CompileOptions(prove=False, partition="")


def model(average: bool = False) -> ModelProto:
    """A convolution of maps with open columns; an average with borders has counts that depend on them."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 4, 4, "w"))
    y = helper.make_empty_tensor_value_info("y")
    weights = numpy_helper.from_array(np.random.default_rng(0).standard_normal((4, 4, 1, 1), np.float32), "k")
    nodes = [helper.make_node("Conv", ["x", "k"], ["c" if average else "y"], name="conv")]
    if average:
        nodes.append(helper.make_node("AveragePool", ["c"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
    graph = helper.make_graph(nodes, "g", [x], [y], [weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def points(*columns: int) -> dict[str, InputShapes]:
    return {f"w={w}": InputShapes(dims={"w": w}) for w in columns}


@pytest.mark.parametrize("average", [False, True])
def test_programs_are_those_of_each_point(average: bool, tmp_path: Path):
    programs = compile_points(model(average), "edge16", points(4, 8), options=QUICK)
    folders = save_points(programs, tmp_path / "out")
    assert [path.name for path in folders.values()] == ["w=4", "w=8"]
    for name, shapes in points(4, 8).items():
        alone = compile(model(average), "edge16", shapes=shapes, options=QUICK)
        loaded = load_program(folders[name])
        assert loaded.code == programs[name].code == alone.code
        assert dict(loaded.constants).keys() == dict(alone.constants).keys()
        x = {"x": np.random.default_rng(1).standard_normal((1, 4, 4, shapes.dims["w"]), np.float32)}
        results: list[Any] = [simulate(program, x).outputs["y"] for program in (loaded, alone)]
        np.testing.assert_array_equal(*results)


def test_processes_compile_the_same_points():
    """What differs is told of the first point at fault, and their processor seconds count."""
    one, several = (
        compile_points(model(), "edge16", points(4, 8, 12), options=replace(QUICK, jobs=jobs)) for jobs in (1, 2)
    )
    assert list(several) == list(one) == ["w=4", "w=8", "w=12"]
    assert [program.code for program in several.values()] == [program.code for program in one.values()]
    assert [program.origin for program in several.values()] == [program.origin for program in one.values()]
    spent_s, unknown = copies.spent_s, {f"v={v}": InputShapes(dims={"v": v}) for v in (1, 2)}
    with pytest.raises(TilewrightError) as refused:
        compile_points(model(), "edge16", points(4) | unknown, options=replace(QUICK, jobs=2))
    assert refused.value.subject.startswith("v=1: ")
    assert copies.spent_s > spent_s


def test_weights_lie_on_the_disk_once(tmp_path: Path):
    folders = save_points(compile_points(model(), "edge16", points(4, 8), options=QUICK), tmp_path)
    one, two = (path / SHARED for path in folders.values())
    assert one.samefile(two)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_arrays_are_held_once():
    one, two = compile_points(model(), "edge16", points(4, 8), options=QUICK).values()
    assert one.constants
    assert all(np.shares_memory(array, two.constants[name]) for name, array in one.constants.items())


def test_a_folder_of_points_is_no_program(tmp_path: Path):
    save_points(compile_points(model(), "edge16", points(4, 8), options=QUICK), tmp_path)
    with pytest.raises(TilewrightError, match="name one of its folders: w=4, w=8"):
        load_program(tmp_path)


def test_altered_weights_are_refused(tmp_path: Path):
    folders = save_points(compile_points(model(), "edge16", points(4, 8), options=QUICK), tmp_path)
    (folders["w=4"] / SHARED).write_bytes(b"other")
    with pytest.raises(TilewrightError, match="as they were written"):
        load_program(folders["w=8"])


def test_an_error_names_its_point(tmp_path: Path):
    onnx.save(model(), tmp_path / "model.onnx")
    with pytest.raises(TilewrightError) as error:
        compile_points(tmp_path / "model.onnx", "edge16", {"h=1": InputShapes(dims={"h": 1})}, options=QUICK)
    assert error.value.subject == "h=1: --dim h"
