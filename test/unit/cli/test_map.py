"""The command that maps the cases of a file."""

import json
from pathlib import Path

import pytest

from tilewright.cli import main

ARCH = {
    "name": "small",
    "mac": {"name": "MAC", "instances": 4, "meshX": 2, "energy": 1.0},
    "levels": [
        {"name": "L1", "entries": 16, "instances": 4, "meshX": 2, "energy": 0.8},
        {"name": "L2", "entries": 64, "instances": 1, "meshX": 1, "energy": 7.0},
        {"name": "DRAM", "entries": None, "instances": 1, "meshX": 1, "energy": 60.0},
    ],
}
GEMM = {
    "name": "gemm",
    "dims": {"M": 4, "K": 4, "N": 2},
    "tensors": [
        {"name": "A", "proj": [[["M"]], [["K"]]]},
        {"name": "B", "proj": [[["K"]], [["N"]]]},
        {"name": "Z", "proj": [[["M"]], [["N"]]], "write": True},
    ],
}


def test_cases_are_solved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([{"arch": ARCH, "problem": GEMM}, {"arch": ARCH, "problem": GEMM}]))
    assert main(["map", "--cases", str(path), "--json", "--model", "timeloop", "--factors", "perfect"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [result["proven"] for result in results] == [True, True]
    assert main(["map", "--cases", str(path), "--objective", "energy"]) == 0
    assert "proven" in capsys.readouterr().out


def test_a_case_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cases.json"
    path.write_text("[3]")
    assert main(["map", "--cases", str(path), "--json"]) == 1
    assert "error" in json.loads(capsys.readouterr().out)
