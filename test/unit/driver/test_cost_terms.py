"""Costs of other packages in studies, and passes of others in a compilation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.driver.pipelines import CompileOptions, pipeline_text
from tilewright.driver.points import Point, evaluate
from tilewright.driver.sweep import front_of, key_of
from tilewright.driver.sweep_spec import read_study
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target

KERNEL = "O[m,n] += A[m,k] * B[k,n]; m=10 n=4 k=6"
SPEC = f"""
target = "tiny"
networks = ["{KERNEL}"]
objectives = ["cycles", "double"]
[attributes]
"DRAM.bandwidth" = [4, 8]
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package with costs, of which some fail."""
    code = "def double(program):\n    return 2 * program.predicted['cycles']\ndef no(program):\n    return [].pop()\n"
    (tmp_path / "plugged_costs.py").write_text(f"{code}nan = lambda program: float('nan')\n")
    folder = tmp_path / "plugged_costs-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged_costs\nVersion: 1.0\n")
    names = "".join(f"{name} = plugged_costs:{name}\n" for name in ("double", "no", "nan", "missing"))
    (folder / "entry_points.txt").write_text(f"[tilewright.costs]\n{names}")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_a_cost_is_an_objective(tmp_path: Path, package: Path):
    (tmp_path / "study.toml").write_text(SPEC)
    study = read_study(tmp_path / "study.toml")
    points = list(study.points(study.machines()))
    answer = evaluate(points[0][1])
    assert answer["double"] == 2 * answer["cycles"]
    assert front_of(study, [{**told, **answer} for told, _ in points])["front"][0]["double"] == answer["double"]
    key = key_of(points[0][1])
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged_costs\nVersion: 1.1\n")
    assert key_of(points[0][1]) != key


@pytest.mark.parametrize(
    ("name", "found"),
    [("no", "IndexError"), ("nan", "nan"), ("missing", "missing"), ("other", "one of the installed: double, missing")],
)
def test_what_is_no_cost_is_told(name: str, found: str):
    program = evaluate(Point(KERNEL, load_target("tiny"), costs=(name,)))
    assert found in f"{program['error']['expected']} {program['error']['found']}"


def test_objectives_that_nobody_adds_are_told(tmp_path: Path):
    (tmp_path / "study.toml").write_text(SPEC.replace("double", "triple"))
    with pytest.raises(TilewrightError, match="double"):
        read_study(tmp_path / "study.toml")


@pytest.mark.parametrize("extra", ["nest-tile", "no-stage: cse", "nest-tile: no-pass", "nest-tile: cse{nothing=1}"])
def test_passes_that_cannot_be_added_are_told(extra: str):
    with pytest.raises(TilewrightError) as caught:
        pipeline_text("tiny", CompileOptions(extra_passes=extra))
    assert caught.value.subject == "extra_passes"


def test_passes_are_added_behind_their_stage():
    text = pipeline_text("tiny", CompileOptions(extra_passes="nest-tile: cse; nest-map: dce"))
    assert ",nest-tile,cse,nest-map,dce," in text
