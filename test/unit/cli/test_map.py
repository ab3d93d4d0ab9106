"""The command that maps the cases of a file."""

import json
import re
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


GEMM_TEXT = "O[m,n] += A[m,k] * B[k,n]; m=12 n=8 k=6"
KEYS = "edp energy_pj cycles valid proven lower_bound gap evaluated cpu_s mapping".split()


@pytest.fixture
def machine(tmp_path: Path) -> str:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(ARCH))
    return str(path)


def test_a_kernel_as_json_and_for_people(machine: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["map", GEMM_TEXT, "--target", machine, "--model", "timeloop"]
    assert main([*command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(KEYS) <= set(answer)
    assert set(answer["lower_bound"]) >= {"edp", "energy_pj", "cycles", "dram_words"}
    assert [level["target"] for level in answer["mapping"]] == ["DRAM", "L2", "L1"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert answer["loops"] in shown
    assert f"{answer['edp']:.5g} J*cycle" in shown


@pytest.mark.parametrize("target", ["conventional", "eyeriss_like", "simba_like", "diannao_like", "tpu_like"])
def test_fewest_words_without_bypass(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All fits on chip, so that each word of A, B and O moves once."""
    assert main(["map", GEMM_TEXT, "--target", target, "--objective", "dram", "--no-bypass", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["dram_words"] == answer["lower_bound"]["dram_words"] == 12 * 6 + 6 * 8 + 12 * 8
    assert answer["proven"]


def test_what_is_not_proven_says_how_far_it_may_be_from_the_best(
    machine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["map", GEMM_TEXT, "--target", machine, "--method", "random", "--time-limit", "0.01"]
    assert main([*command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["search_gap"] == answer["edp"] / answer["search_bound"] - 1 > 0
    assert main(command) == 0
    told = re.search(r"not proven best, at most ([\d.]+) % above it", capsys.readouterr().out)
    assert told is not None
    assert float(told[1]) > 0  # another run, which may have found something else


def test_a_network(machine: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    command = ["map", "resnet18", "--target", machine, "--method", "random", "--model", "timeloop"]
    assert main([*command, "--time-limit", "0.01"]) == 0
    shown = capsys.readouterr().out
    assert "conv5_1" in shown
    assert "12 different layers" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([GEMM_TEXT], 2, "no --target"),
        (["--target", "T"], 2, "no KERNEL"),
        ([GEMM_TEXT, "--target", "T", "--jobs", "0"], 2, "--jobs: expected at least 1"),
        ([GEMM_TEXT, "--target", "T", "--time-limit", "nan"], 2, "--time-limit"),
        ([GEMM_TEXT, "--target", "T", "--gap", "-1"], 2, "--gap: expected at least 0"),
        ([GEMM_TEXT, "--target", "T", "--types", "A=i9"], 2, "--types A=i9: expected TENSOR=TYPE"),
        ([GEMM_TEXT, "--target", "T"], 1, "target: T: expected one of"),
        (["resnet18", "--target", "T", "-o", "x.svg"], 2, "expected one kernel, found 12 layers"),
        (["--cases", "x.json", "--model", "exact"], 2, "--method exact --model timeloop --factors perfect"),
        ([GEMM_TEXT, "--cases", "x.json"], 2, "found both"),
    ],
)
def test_what_is_refused(arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", *arguments]) == code
    assert message in capsys.readouterr().err


def test_ir_that_does_not_parse(machine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text("func.func @x(")
    assert main(["map", str(path), "--target", machine, "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], error["subject"]) == ("ir", str(path))
    assert f"{path}:1:" in error["found"]


def test_what_is_written(machine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    svg, mlir, folder = (str(tmp_path / name) for name in ("g.svg", "g.mlir", "t"))
    files = ["-o", svg, "-o", mlir, "--write-timeloop", folder]
    assert main(["map", GEMM_TEXT, "--target", machine, "--model", "timeloop", *files, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert sorted(Path(file).name for file in answer["files"]) == [
        "arch.yaml", "g.mlir", "g.svg", "mapping.yaml", "problem.yaml"
    ]  # fmt: skip
    assert all(Path(file).stat().st_size > 0 for file in answer["files"])
    assert main(["price", str(tmp_path / "g.mlir"), "--target", machine, "--model", "timeloop", "--json"]) == 0
    (priced,) = json.loads(capsys.readouterr().out)["results"]
    assert (priced["cycles"], priced["energy_pj"]) == (answer["cycles"], answer["energy_pj"])


def test_nothing_is_written_where_one_of_the_files_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    files = ["-o", str(tmp_path / "x.svg"), "--certificate", str(tmp_path / "x.json"), "--factors", "imperfect"]
    assert main(["map", GEMM_TEXT, "--target", "conventional", "--time-limit", "0.5", *files]) == 1
    assert "expected perfect factors" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_certificate_that_no_statement_covers_is_refused_before_the_search(monkeypatch: pytest.MonkeyPatch):
    searched: list[str] = []
    monkeypatch.setattr("tilewright.mapping.map_layers", lambda *_: searched.append("searched"))
    assert main(["map", GEMM_TEXT, "--target", "conventional", "--certificate", "x.json"]) == 1
    assert not searched
