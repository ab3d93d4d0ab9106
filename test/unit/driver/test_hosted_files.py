"""A folder of steps is enough to compute a network: the machine's programs simulated, the host's graphs interpreted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tilewright import simulate
from tilewright.backends.program import load_program
from tilewright.cli import main
from tilewright.driver import load_model, reference

MIXED = """!bytes = tensor<1x16x4x4xsi8>
!sums = tensor<1x16x4x4xi32>
!one = tensor<i32>
func.func @main(%x: !bytes) -> !bytes attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %m = graph.weight @m = dense<1> : !one : !one
  %s = graph.weight @s = dense<7> : !one : !one
  %p = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (!bytes) -> !bytes
  %a = graph.cast %p : (!bytes) -> !sums
  %q = graph.binary mul %a, %a : (!sums, !sums) -> !sums
  %r = graph.requantize %q, %m, %s axis 1 zero_point 0 range [-128, 127] : (!sums, !one, !one) -> !bytes
  %y = graph.pool max %r kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (!bytes) -> !bytes
  func.return %y : !bytes
}
"""


def test_the_folder_has_all_that_a_run_needs(tmp_path: Path) -> None:
    model, folder = tmp_path / "mixed.mlir", tmp_path / "steps"
    model.write_text(MIXED)
    assert main(["compile", str(model), "--target", "vta", "--host", "-o", str(folder)]) == 0
    table = json.loads((folder / "steps.json").read_text())
    given = {"x": np.random.default_rng(3).integers(-128, 128, (1, 16, 4, 4)).astype(np.int8)}
    values = dict(given)
    for step in table["steps"]:
        inputs = {name: values[name] for name in step["inputs"]}
        if step["on"] == "host":
            made = reference(load_model(folder / step["file"]), inputs)
        else:
            result = simulate(load_program(folder / step["file"]), inputs)
            made, cycles = result.outputs, result.cycles
            assert cycles == step["cycles"]
        values |= {name: made[name] for name in step["outputs"]}
    assert [step["on"] for step in table["steps"]] == ["machine", "host", "machine"]
    expected = reference(load_model(model), given)["y"]
    assert (values[table["outputs"]["y"]] == expected).all()
    assert len(np.unique(expected)) > 2


def test_the_command_runs_a_folder_of_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it runs the model: the same outputs in the same cycles, without knowing the model."""
    model, folder = tmp_path / "mixed.mlir", tmp_path / "steps"
    model.write_text(MIXED)
    assert main(["compile", str(model), "--target", "vta", "--host", "-o", str(folder)]) == 0
    capsys.readouterr()
    assert main(["run", str(model), "--target", "vta", "--host", "-o", str(tmp_path / "of_model"), "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    expected = ["--expect", str(tmp_path / "of_model" / "outputs.npz")]
    assert main(["run", str(folder), "-o", str(tmp_path / "of_folder"), "--json", *expected]) == 0
    steps = json.loads(capsys.readouterr().out)
    same = "cycles", "dram_bytes", "steps", "host_layers"
    assert [steps[key] for key in same] == [whole[key] for key in same]
    assert steps["equal"]


@pytest.mark.parametrize(("old", "new"), [('"file": "step_1"', '"file": "../step_1"'), ('"inputs"', '"given"')])
def test_a_table_of_something_else_is_refused(old: str, new: str, tmp_path: Path) -> None:
    model, folder = tmp_path / "mixed.mlir", tmp_path / "steps"
    model.write_text(MIXED)
    assert main(["compile", str(model), "--target", "vta", "--host", "-o", str(folder)]) == 0
    text = (folder / "steps.json").read_text()
    (folder / "steps.json").write_text(text.replace(old, new))
    assert old in text
    assert main(["run", str(folder), "-o", str(tmp_path / "out")]) != 0
    assert not (tmp_path / "out").exists()


def test_options_of_one_program_are_refused(tmp_path: Path) -> None:
    model = tmp_path / "mixed.mlir"
    model.write_text(MIXED)
    options = ["--target", "vta", "--host", "--image", str(tmp_path / "image"), "-o", str(tmp_path / "steps")]
    assert main(["compile", str(model), *options]) == 2
    assert not (tmp_path / "steps").exists()


def test_other_machines_are_refused(tmp_path: Path) -> None:
    model = tmp_path / "mixed.mlir"
    model.write_text(MIXED)
    assert main(["compile", str(model), "--host", "-o", str(tmp_path / "steps")]) != 0
    assert not (tmp_path / "steps").exists()
