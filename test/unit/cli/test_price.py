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
