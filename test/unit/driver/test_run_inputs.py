"""Made inputs are indices of rows where they are looked up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.driver import compile, run
from tilewright.driver.models import load_model
from tilewright.driver.run_arrays import choose_inputs, rows_of_inputs, rows_of_program
from tilewright.driver.run_options import RunOptions
from tilewright.errors import TilewrightError

TEXT = """func.func @main(%i: tensor<2xi64>, %j: tensor<2xi32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  attributes {graph.inputs = ["i", "j"], graph.outputs = ["y", "z"]} {
  %t = graph.weight @t = dense<[[0.1, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0]]>
    : tensor<4x4xf32> : tensor<4x4xf32>
  %c = graph.cast %i : (tensor<2xi64>) -> tensor<2xi32>
  %y = graph.lookup %t at %c : (tensor<4x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  %z = graph.lookup %t at %j : (tensor<4x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  func.return %y, %z : tensor<2x4xf32>, tensor<2x4xf32>
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "lookups.mlir"
    path.write_text(TEXT)
    return path


def test_made_integers_are_below_the_rows_of_their_tables(model: Path) -> None:
    assert rows_of_inputs(load_model(model)) == {"i": 4, "j": 4}
    signature = {"i": ((100,), np.dtype(np.int64)), "k": ((100,), np.dtype(np.int64))}
    made = choose_inputs(signature, RunOptions(), {"i": 3})
    assert (made["i"].max(), made["k"].max()) == (2, 7)


def test_programs_know_which_inputs_are_indices(model: Path, tmp_path: Path) -> None:
    program = compile(model, "edge16")
    assert rows_of_program(program) == {"j": 4}  # the other is converted on chip
    assert run(model, "edge16", folder=tmp_path / "out").agrees


def test_an_index_of_no_row_is_an_error_of_inputs(model: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "given.npz", i=np.array([0, 4]))
    with pytest.raises(TilewrightError, match="from -4 to 3"):
        run(model, "edge16", folder=tmp_path / "out", options=RunOptions(inputs=tmp_path / "given.npz"))


def test_files_of_other_inputs_are_refused_before_the_model_is_compiled(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tilewright.driver.models.compile", lambda *_, **__: pytest.fail("it was compiled"))
    np.savez(tmp_path / "other.npz", q=np.zeros(2))
    for name, found in (("other", "inputs named i, j, found 'q'"), ("missing", "no such file")):
        with pytest.raises(TilewrightError, match=found):
            run(model, "edge16", folder=tmp_path / "out", options=RunOptions(inputs=tmp_path / f"{name}.npz"))
