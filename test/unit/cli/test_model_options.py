"""`--batch`, `--shape` and `--dim` in every command that takes a model."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.cli import main
from tilewright.driver import load_model
from tilewright.frontends.input_shapes import InputShapes

COMMANDS = {
    "compile": ("--target", "tiny", "--no-prove", "-o", "out"),
    "run": ("--target", "tiny", "--no-prove", "--no-trace", "-o", "out"),
    "map": ("--target", "simba_like", "--mapper", "random", "--time-limit", "0.05"),
    "partition": ("--method", "greedy"),
    "explore": ("--samples", "20"),
    "schedule": ("--time-limit", "0.2"),
}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A convolution on maps whose batch, rows and columns are open."""
    monkeypatch.chdir(tmp_path)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ("n", 4, "h", "w"))
    y = helper.make_empty_tensor_value_info("y")
    weights = numpy_helper.from_array(np.ones((4, 4, 1, 1), np.float32), "w")
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"], name="c")], "g", [x], [y], [weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), "model.onnx")
    return "model.onnx"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert main([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_them(command: str, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = COMMANDS[command]
    error = answer(capsys, command, model, *options, code=1)["error"]
    assert "--dim n=1 --dim h=224 --dim w=224" in error["lever"]
    assert "warnings" not in answer(capsys, command, model, *options, "--batch", "2", "--dim", "h=4", "--dim", "w=4")
    (warning,) = answer(capsys, command, model, *options, "--dim", "h=4", "--dim", "w=4")["warnings"]
    assert "batch 1 is assumed for input 'x' [n, 4, h, w]" in warning
    error = answer(capsys, command, model, *options, "--shape", "x=1x3x4x4", code=1)["error"]
    assert error["expected"] == "the file's [n, 4, h, w]"
    assert answer(capsys, command, model, "--shape", "x=1xax4x4", code=2)["error"]["kind"] == "usage"


def test_samples_count(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (answer(capsys, "partition", model, "--shape", f"x={n}x4x4x4") for n in (1, 2))
    moved = 4 * 4 * 4 * 4 + 4 * 4
    assert two["groups"][0]["input_bytes"] == 2 * one["groups"][0]["input_bytes"] < 4 * moved
    one, two = (answer(capsys, "schedule", model, "--batch", n, "--dim", "h=4", "--dim", "w=4") for n in "12")
    assert (one["batch"], two["batch"]) == (1, 2)


@pytest.mark.parametrize("command", ["compile", "partition", "map"])
def test_a_fixed_file(command: str, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("model.mlir").write_text(str(load_model(model, InputShapes(shapes={"x": (2, 4, 4, 4)}))))
    error = answer(capsys, command, "model.mlir", *COMMANDS[command], "--batch", "3", code=1)["error"]
    assert (error["expected"], error["found"]) == ("the file's batch of 2", "--batch 3")


@pytest.mark.parametrize(
    "wrong",
    [
        ("--shape", "x"),
        ("--shape", "=1x3"),
        ("--shape", "x=1xax3"),
        ("--shape", "x=1x-3"),
        ("--shape", "x=0x3"),
        ("--shape", "x=1", "--shape", "x=1"),
        ("--dim", "n=two"),
        ("--dim", "n=1", "--dim", "n=2"),
        ("--batch", "0"),
        ("--batch", "two"),
        ("--batch", "1", "--batch", "2"),
    ],
)
def test_wrong_usage(wrong: tuple[str, ...], model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "compile", model, *wrong, code=2)["error"]["kind"] == "usage"


@pytest.mark.parametrize("command", ["compile", "run", "map"])
@pytest.mark.parametrize("option", ["--batch 2", "--shape A=4x6", "--dim m=4"])
def test_kernels_and_programs_have_their_shapes(
    command: str, option: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = "O[m,n] += A[m,k] * B[k,n]; m=4 n=5 k=6"
    error = answer(capsys, command, kernel, "--target", "tiny", *option.split(), code=2)["error"]
    assert error["subject"] == option.split()[0]
    if command == "run":
        Path("program").mkdir()
        Path("program/target.acg").touch()
        error = answer(capsys, "run", "program", "--target", "tiny", *option.split(), code=2)["error"]
        assert error["subject"] == option.split()[0]


@pytest.mark.parametrize("option", ["--shape", "--dim"])
def test_networks_by_name_have_no_names_inside(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "partition", "googlenet", option, "x=1", code=2)["error"]["subject"] == option


def test_several_points(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--target", "tiny", "--no-prove", "-o", "out", "--batch", "1", "--dim", "h=4")
    found = answer(capsys, "compile", model, *options, "--dim", "w=2,4")
    assert list(found["points"]) == ["w=2", "w=4"]
    assert [Path(point["dir"]).name for point in found["points"].values()] == ["w=2", "w=4"]
    assert json.loads(Path("out/points.json").read_text()) == {"w=2": "w=2", "w=4": "w=4"}
    both = answer(capsys, "compile", model, *options[:-2], "--dim", "w=2,4", "--dim", "h=2,4")
    assert list(both["points"]) == ["w=2,h=2", "w=2,h=4", "w=4,h=2", "w=4,h=4"]
    for extra in (("--dim", "w=2,"), ("--dim", "w=2,x"), ("--dim", f"w={','.join(map(str, range(1, 66)))}")):
        assert answer(capsys, "compile", model, *options, *extra, code=2)["error"]["kind"] == "usage"
    error = answer(capsys, "run", model, "--target", "tiny", "--dim", "h=4", "--dim", "w=2,4", code=2)["error"]
    assert (error["found"], error["lever"]) == ("w=2, w=4", "compile takes several")
    error = answer(capsys, "compile", model, *options, "--dim", "w=2,4", "--csv", "layers.csv", code=2)["error"]
    assert "--csv" in error["subject"]
