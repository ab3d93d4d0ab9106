"""The command that lists and imports targets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tilewright.cli import main
from tilewright.frontends.acg import target_files


def test_every_target_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets", "--json"]) == 0
    targets = {target["name"]: target for target in json.loads(capsys.readouterr().out)["targets"]}
    assert list(targets) == sorted(target_files())
    assert {"edge16", "tiny"} <= {name for name, target in targets.items() if target["has_mnemonics"]}
    assert not targets["simba_like"]["has_mnemonics"]
    simba = targets["simba_like"]
    assert simba["levels"] == ["DRAM", "L2", "PEInput", "PEWeight", "PEAccum", "WReg"]
    assert (simba["dtypes"], simba["has_mnemonics"], simba["multipliers"]) == (["i32", "i8"], False, 1024)
    assert [level["name"] for level in simba["chain"]] == simba["levels"]
    assert main(["targets"]) == 0
    assert "PEWeight" in capsys.readouterr().out


def test_one_target_with_what_mapping_sees(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["targets", "--target", "edge16"]) == 0
    printed = capsys.readouterr().out
    assert "1.64465" in printed
    assert "network 256" in printed
    assert main(["targets", "--target", "lanes"]) == 0
    assert "80 for 4" in capsys.readouterr().out


NOTHING_TO_MAP_ON = """acg copier {
  memory DRAM { data_width 8; offchip; }
  compute C {
    capability c { O{} = A{}; types i8 = i8; }
  }
  link DRAM <-> C;
}
"""

LISTS = """arch:
  arithmetic: {instances: 4, energy: 2}
  storage:
  - {name: my reg, entries: 4, instances: 4, vector-access-energy: 0.5}
  - {name: DRAM, instances: 1, vector-access-energy: 64}
"""


def test_a_machine_that_multiplies_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "copier.acg"
    path.write_text(NOTHING_TO_MAP_ON)
    assert main(["targets", "--target", str(path), "--json"]) == 0
    (target,) = json.loads(capsys.readouterr().out)["targets"]
    assert (target["chain"], target["multipliers"], target["levels"]) == ([], 0, ["DRAM"])
    assert main(["targets", "--target", str(path)]) == 0
    assert "For mapping" not in capsys.readouterr().out


def test_a_timeloop_architecture_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(LISTS)
    assert main(["targets", "--target", str(path), "--json"]) == 0
    (target,) = json.loads(capsys.readouterr().out)["targets"]
    assert (target["name"], target["levels"]) == ("mine", ["DRAM", "my_reg"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("my reg", "D RAM", ""),
        ("my reg", "DRAM", "each with a name of its own"),
        ("name: my reg", "name: DR.M}\n  - {name: DR!M", "memory DR_M: expected a name for one node only"),
        ("vector-access-energy: 64", "width: 64", "expected an energy for DRAM"),
    ],
)
def test_what_text_cannot_say(
    old: str, new: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.yaml"
    text = LISTS.replace(old, new)
    if "}" in new:
        text = text.replace("DR.M}", "DR.M, entries: 4, instances: 4, vector-access-energy: 0.5}")
    path.write_text(text)
    assert main(["targets", "--import", str(path)]) == (1 if message else 0)
    assert message in capsys.readouterr().err


def test_a_level_that_holds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.yaml"
    bypass = "bypass: [Inputs, Weights, Outputs]"
    path.write_text(f"{LISTS}architecture_constraints: [{{target: my reg, type: bypass, {bypass}}}]\n")
    assert main(["targets", "--import", str(path)]) == 1
    assert "expected levels that hold an operand, found my reg, which holds none" in capsys.readouterr().err


def test_output_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(LISTS)
    assert main(["targets", "--import", str(path), "-o", str(tmp_path / "no" / "x.acg")]) == 1
    assert "x.acg" in capsys.readouterr().err
