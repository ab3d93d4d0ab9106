"""Files of cases."""

import json
from pathlib import Path

import pytest

from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.mapping.cases import cases_file

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


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_objects_and_names(tmp_path: Path):
    write(tmp_path / "tables.json", {"archs": {"small": ARCH}, "problems": {"gemm": GEMM}})
    entries = [{"arch": ARCH, "problem": GEMM}, {"arch": "small", "problem": "gemm", "bypass_in_space": True}]
    done: list[tuple[int, int]] = []
    answer = cases_file(write(tmp_path / "cases.json", entries), progress=lambda i, n: done.append((i, n)))
    results = answer["results"]
    assert isinstance(results, list)
    assert [result["proven"] for result in results] == [True, True]
    assert results[1]["edp_J_cycle"] <= results[0]["edp_J_cycle"]
    assert {"energy_pJ", "cycles", "cpu_s", "mapping"} <= set(results[0])
    assert done == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({}, "a list of cases"),
        ([{"arch": "nowhere", "problem": GEMM}], "a name under archs"),
        ([{"arch": ARCH, "problem": GEMM, "bypass_in_space": 1}], "true or false"),
        ([3], "an object"),
    ],
)
def test_wrong_files(tmp_path: Path, content: object, expected: str):
    with pytest.raises(TilewrightError, match=expected):
        cases_file(write(tmp_path / "cases.json", content))


def test_nothing_fits(tmp_path: Path):
    arch = ARCH | {"levels": [ARCH["levels"][0] | {"entries": 2}, *ARCH["levels"][1:]]}  # type: ignore[index]
    with pytest.raises(InfeasibleError, match="L1"):
        cases_file(write(tmp_path / "cases.json", [{"arch": arch, "problem": GEMM}]))


def test_a_request_to_stop_leaves_solved_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    other = {**GEMM, "dims": {"M": 2, "K": 2, "N": 2}}
    path = write(tmp_path / "cases.json", [{"arch": ARCH, "problem": problem} for problem in (GEMM, other)])
    asked: list[bool] = []
    monkeypatch.setattr("tilewright.mapping.cases.requested", lambda: bool(asked))
    results = cases_file(path, progress=lambda *_: asked.append(True))["results"]
    assert isinstance(results, list)
    assert [result["problem"] for result in results] == ["gemm"]
