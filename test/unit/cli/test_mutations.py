"""Files that were damaged at random: a small sample of bench/mutations.py, and what larger ones found."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tilewright import opt
from tilewright.cli import main
from tilewright.files import sealed_table
from tilewright.frontends.acg import target_files

ROOT = Path(__file__).parents[3]
KERNEL = "O[m,n] += A[m,k] * B[k,n]; m=4 n=8 k=6"
KINDS = """tflite acg mlir-graph mlir-nest mlir-codelet mlir-dram mlir-mnemonic mlir-acg foreign binaries assembly
folders""".split()


def test_a_sample_goes_without_a_fault():
    kinds = [word for kind in KINDS for word in ("--kind", kind)]
    command = [sys.executable, str(ROOT / "bench/mutations.py"), "--count", "6", *kinds]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert [(row[0], sum(map(int, row[1:-1]))) for row in rows] == [(kind, 6) for kind in KINDS]


@pytest.mark.parametrize("name", ["", "x"])
def test_an_expected_array_without_an_outputs_name(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "y.npz"
    arrays = {name: np.zeros((4, 8), np.float32)}
    np.savez(path, allow_pickle=True, **arrays)
    assert main(["run", KERNEL, "--target", "tiny", "-o", str(tmp_path), "--expect", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["subject"] == (name or "a nameless array")


def test_an_empty_text_in_json_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([{"arch": "", "problem": {"name": ""}}, ""]))
    assert main(["map", "--cases", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["found"]


LONG = "(" * 5000


def test_long_lines_make_no_long_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "x.mlir"
    path.write_text(f"builtin.module {{\n  acg.mnemonic @X {LONG}\n}}\n")
    assert opt.main([str(path)]) == 1
    assert len(capsys.readouterr().err) < 3000
    assert main(["compile", str(path), "--target", "tiny", "--json"]) == 1
    assert len(capsys.readouterr().out) < 3000


def test_a_long_name_in_a_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "x.acg"
    path.write_text(target_files()["tiny"].read_text().replace("SPAD", "S" * 5000, 1))
    assert main(["targets", "--target", str(path), "--json"]) == 1
    assert len(json.dumps(json.loads(capsys.readouterr().out)["error"])) < 5000


@pytest.mark.parametrize("number", ["Infinity", "NaN", "1e400"])
def test_a_number_in_a_folder_that_is_none(number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["compile", KERNEL, "--target", "tiny", "-o", str(tmp_path)]) == 0
    path = tmp_path / "program.json"
    table = json.loads(path.read_text())
    table["tensors"][0]["shape"][0] = json.loads(number)
    files = {name: tmp_path / name for name in table.pop("files")}
    del table["table"]
    path.write_text(sealed_table(table, files))
    capsys.readouterr()
    assert main(["run", str(tmp_path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["subject"] == str(path)
