"""Values beside the model's file, and large values inside it: what is read, and what is refused."""

import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import tilewright
from tilewright.errors import TilewrightError
from tilewright.frontends.onnx import import_onnx
from tilewright.interpreters.graph import run_graph
from tilewright.resources import resources_of

WEIGHTS = np.arange(96 * 256, dtype=np.float32).reshape(96, 256)


def model(**entries: Any) -> ModelProto:
    """x + w; the values of w are external where entries are given."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, WEIGHTS.shape) for name in "xy")
    tensor = numpy_helper.from_array(WEIGHTS, "w")
    if entries:
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=str(value))
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [tensor])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def saved(folder: Path, **entries: Any) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "model.onnx"
    path.write_bytes(model(**entries).SerializeToString())
    return path


def weights_of(source: Any) -> Any:
    (array,) = resources_of(import_onnx(source)).values()
    return array


def refused(source: Any, *words: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        import_onnx(source)
    assert all(word in str(caught.value) for word in ("initializer 'w'", *words)), caught.value
    assert caught.value.lever or caught.value.kind == "parse"


@pytest.mark.parametrize("entries", [{"offset": 0}, {"location": ""}])
def test_external_data_without_a_location_is_refused(tmp_path: Path, entries: dict[str, Any]) -> None:
    """It is not the bytes of the model."""
    proto = model(**entries)
    proto.doc_string = "d" * WEIGHTS.nbytes  # as many bytes as it would take
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    refused(tmp_path / "model.onnx", "external data in ''")
    refused(proto.SerializeToString())


@pytest.mark.parametrize("offset", [0, 4096, 4, 3])
def test_external_data_is_read_where_it_lies(tmp_path: Path, offset: int) -> None:
    path = saved(tmp_path, location="data/w.bin", offset=offset, length=WEIGHTS.nbytes)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/w.bin").write_bytes(b"\1" * offset + WEIGHTS.tobytes() + b"\2\2")
    array = weights_of(path)
    assert (array == WEIGHTS).all()
    assert not array.flags.writeable
    assert array.flags.aligned
    base = resources_of(import_onnx(path)).as_stored("w")
    assert base.flags.aligned == (offset % 4 == 0)
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)


def test_without_length_the_shape_says_it(tmp_path: Path) -> None:
    path = saved(tmp_path, location="w.bin")
    (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
    assert (weights_of(path) == WEIGHTS).all()


def test_what_onnx_saves(tmp_path: Path) -> None:
    onnx.save(model(), tmp_path / "model.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    assert (weights_of(tmp_path / "model.onnx") == WEIGHTS).all()


@pytest.mark.parametrize(
    "location",
    ["../w.bin", "data/../../w.bin", "/etc/passwd", "..\\w.bin", "C:\\w.bin", "out/w.bin", "link.bin", ".", "", "a\0b"],
)
def test_no_way_out_of_the_folder(tmp_path: Path, location: str) -> None:
    (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
    path = saved(tmp_path / "model", location=location)
    (path.parent / "link.bin").symlink_to(tmp_path / "w.bin")
    (path.parent / "out").symlink_to(tmp_path)
    with pytest.raises(TilewrightError, match="initializer 'w'"):
        import_onnx(path)


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    path = saved(folder, location="link.bin")
    (folder / "w.bin").write_bytes(WEIGHTS.tobytes())
    (folder / "link.bin").symlink_to("w.bin")
    (tmp_path / "other").symlink_to(folder)
    assert (weights_of(path) == weights_of(tmp_path / "other" / "model.onnx")).all()


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "w.bin")
    refused(saved(tmp_path, location="w.bin"), "no file")


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({}, ("no such file", "'w.bin'")),
        ({"offset": 4}, ("98304 bytes from 4 on", "a file of 98304 bytes", "cut")),
        ({"offset": 1 << 60}, ("a file of 98304 bytes",)),
        ({"offset": -4}, ("offset", "'-4'")),
        ({"offset": "four"}, ("offset", "'four'")),
        ({"length": 4}, ("98304 bytes for shape [96, 256] of float32", "4 bytes")),
        ({"length": "9" * 30}, ("length",)),
    ],
)
def test_data_that_is_not_there(tmp_path: Path, entries: dict[str, Any], words: tuple[str, ...]) -> None:
    path = saved(tmp_path, location="w.bin", **entries)
    if entries:
        (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
    refused(path, *words)


def test_a_model_without_a_folder_has_no_external_data(tmp_path: Path) -> None:
    external = model(location="w.bin")
    refused(external, "values inside the model", "'w.bin'", "path of its file")
    refused(external.SerializeToString(), "values inside the model")


@pytest.mark.parametrize("values", ["raw_data", "float_data", "double_data", "int64_data"])
def test_large_values_inside_the_model(tmp_path: Path, values: str) -> None:
    """They are not parsed, and mean the same, in an initializer and in a Constant node."""
    dtype, element = {"double_data": (np.float64, TensorProto.DOUBLE), "int64_data": (np.int64, TensorProto.INT64)}.get(
        values, (np.float32, TensorProto.FLOAT)
    )
    array = WEIGHTS.astype(dtype)
    raw = values == "raw_data"
    tensor = helper.make_tensor("w", element, array.shape, array.tobytes() if raw else array.reshape(-1), raw=raw)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, WEIGHTS.shape) for name in "xy")
    nodes = [
        helper.make_node("Constant", [], ["c"], value=tensor),
        helper.make_node("Cast", ["c"], ["cf"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["w"], ["wf"], to=TensorProto.FLOAT),
        helper.make_node("Sum", ["x", "cf", "wf"], ["y"]),
    ]
    proto = helper.make_model(
        helper.make_graph(nodes, "g", [x], [y], [tensor]), opset_imports=[helper.make_opsetid("", 17)]
    )
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    inputs = {"x": np.ones(WEIGHTS.shape, np.float32)}
    for source in (path, path.read_bytes(), proto):
        (found,) = run_graph(import_onnx(source), inputs).values()
        assert (found == 2 * WEIGHTS + 1).all()


def test_fewer_values_than_the_shape_says(tmp_path: Path) -> None:
    proto = model()
    proto.graph.initializer[0].dims[0] = 97
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    refused(path, "99328 bytes", "98304 bytes")


def test_large_values_are_not_copied(tmp_path: Path) -> None:
    large = np.zeros((1 << 11, 1 << 11), np.float32)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, large.shape) for name in "xy")
    tensor = numpy_helper.from_array(large, "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [tensor])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    import_onnx(path)  # imports and caches
    tracemalloc.start()
    try:
        import_onnx(path)
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held < 0.3 * large.nbytes  # mapped


def test_unaligned_values_stay_in_the_file_until_a_program_runs(tmp_path: Path) -> None:
    large = np.random.default_rng(0).standard_normal((256, 128), np.float32)
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, e]) for n, e in (("x", 256), ("y", 128)))
    path = tmp_path / "model.onnx"
    for pad in range(4):
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g" * (pad + 1), [x], [y])
        graph.initializer.append(numpy_helper.from_array(large, "w"))
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="p" * pad), path)
        if path.read_bytes().index(large.tobytes()) % 4:
            break
    program = tilewright.compile(path)
    assert not program.constants.as_stored("w").flags.aligned
    assert program.constants["w"].flags.aligned
    given = np.ones((1, 256), np.float32)
    found = tilewright.simulate(program, {"x": given}).outputs["y"]
    np.testing.assert_allclose(found, given @ large, rtol=1e-4, atol=1e-4)
