"""The commands that price files of mappings and of schedules."""

import json
from pathlib import Path

import pytest

from tilewright.cli import main

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize(
    ("command", "sample", "list_name"),
    [("price", "timeloop_sample.json", "random_mappings"), ("price-schedule", "soma_sample.json", "runs")],
)
def test_one_result_per_entry(command: str, sample: str, list_name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(DATA / sample), "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert len(results) >= len(json.loads((DATA / sample).read_text())[list_name]) > 0
    assert main([command, str(DATA / sample)]) == 0
    assert "energy" in capsys.readouterr().out


def test_numbers_of_the_reference(capsys: pytest.CaptureFixture[str]) -> None:
    entries = json.loads((DATA / "timeloop_sample.json").read_text())["random_mappings"]
    main(["price", str(DATA / "timeloop_sample.json"), "--model", "timeloop", "--json"])
    results = json.loads(capsys.readouterr().out)["results"]
    assert [r["cycles"] for r in results[: len(entries)]] == [e["stats"]["cycles"] for e in entries]


@pytest.mark.parametrize("command", ["price", "price-schedule"])
@pytest.mark.parametrize("content", ["", "[]", '{"runs": 3, "random_mappings": 4}', '{"runs": [{}]}'])
def test_bad_files(command: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    assert main([command, str(path), "--json"]) == 1
    assert "error" in json.loads(capsys.readouterr().out)


def test_a_target_stands_for_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A machine in the file is used where no target has its name."""
    data = json.loads((DATA / "timeloop_sample.json").read_text())
    entry = next(e for e in data["random_mappings"] if e["arch"] == "conventional")
    expensive = data["archs"]["conventional"] | {"mac": data["archs"]["conventional"]["mac"] | {"energy": 1000}}
    data["archs"] = {"conventional": expensive, "own": expensive}
    data["random_mappings"] = [entry, entry | {"arch": "own"}]
    path = tmp_path / "two.json"
    path.write_text(json.dumps(data | {"link_transfer_mappings": []}))
    assert main(["price", str(path), "--model", "timeloop", "--json"]) == 0
    target, own = json.loads(capsys.readouterr().out)["results"]
    assert target["energy_pJ"] == pytest.approx(entry["stats"]["energy_pJ"], rel=1e-9)
    assert own["energy_pJ"] - target["energy_pJ"] == pytest.approx(target["macs"] * (1000 - 2.2))


MACHINE = """arch:
  arithmetic: {instances: 8, meshX: 8, energy: 1}
  storage:
  - {name: L1, entries: 24, instances: 8, meshX: 8, vector_access_energy: 1}
  - {name: DRAM, instances: 1, vector_access_energy: 100}
"""
PROBLEM = "problem: {shape: gemm-ABZ, M: 8, N: 8, K: 7}\n"
MAPPING = """mapping:
- {target: DRAM, type: spatial, factors: M=8}
- {target: L1, type: temporal, factors: K=7 N=8, permutation: KN}
"""


def test_timeloop_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tiles of 7 + 56 + 8 words do not fit into 24, which is told; another machine may be named."""
    files = [str(tmp_path / f"{name}.yaml") for name in ("arch", "problem", "mapping")]
    for file, text in zip(files, (MACHINE, PROBLEM, MAPPING), strict=True):
        Path(file).write_text(text)
    assert main(["price", *files, "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["valid"], result["violations"][0]["demand"]) == (False, 71)
    assert result["levels"]["DRAM"]["tensors"]["Z"]["updates"] == 64
    assert main(["price", *files]) == 0
    assert "does not fit: L1: 71 words of capacity, bound 24" in capsys.readouterr().out
    mapping = MAPPING.replace("DRAM, type: spatial", "L2, type: spatial")
    Path(files[2]).write_text(mapping)
    assert main(["price", *files[1:], "--target", "conventional", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["arch"], result["valid"]) == ("conventional", True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["problem.yaml", "mapping.yaml"], 1, "expected a problem, a machine and a mapping, found no architecture"),
        (["problem.yaml", "x.json"], 2, "expected one .json file, or .yaml files"),
        (["x.json", "--target", "tiny"], 2, "expected one .json file, or .yaml files, found x.json --target tiny"),
    ],
)
def test_files_that_do_not_go_together(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("problem.yaml").write_text(PROBLEM)
    Path("mapping.yaml").write_text(MAPPING)
    assert main(["price", *arguments]) == code
    assert message in capsys.readouterr().err
