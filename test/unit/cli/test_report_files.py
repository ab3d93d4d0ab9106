"""Figures and tables of a report as files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tilewright
from tilewright.cli import main
from tilewright.cli.report_files import formats_of
from tilewright.errors import TilewrightError

KERNEL = "O[m,n] += A[m,k] * B[k,n]; m=100 n=40 k=60"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tilewright.compile(KERNEL).save(tmp_path_factory.mktemp("report") / "kernel")


def test_tables_have_the_numbers_of_the_answer(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "out"
    assert main(["report", str(folder), "--export", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    names = ["roofline.svg", "energy.svg", "timeline.svg", "layers.csv", "timeline.csv"]
    assert answer["exported"] == [str(out / name) for name in names]
    assert sorted(path.name for path in out.iterdir()) == sorted(names)
    with (out / "layers.csv").open(newline="") as file:
        (layer,) = csv.DictReader(file)
    assert (int(layer["cycles"]), int(layer["dram_bytes"])) == (answer["cycles"], answer["dram_bytes"])
    with (out / "timeline.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == answer["instructions"]
    assert max(int(row["end_cycle"]) for row in rows) == answer["cycles"]
    first = (out / "timeline.svg").read_bytes()
    assert main(["report", str(folder), "--export", str(out), "--json"]) == 0
    assert (out / "timeline.svg").read_bytes() == first


def test_a_machine_that_keeps_no_times_has_no_timeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tilewright.compile("O[m,n] += A[m,k] * B[k,n]; m=8 n=16 k=8", "dnnweaver").save(tmp_path / "kernel")
    assert main(["report", str(folder), "--export", str(tmp_path / "out"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [Path(name).name for name in answer["exported"]] == ["roofline.svg", "energy.svg", "layers.csv"]


def test_pictures_are_png(folder: Path, tmp_path: Path):
    pytest.importorskip("cairosvg")
    assert main(["report", str(folder), "--export", str(tmp_path), "--formats", "png", "--json"]) == 0
    assert (tmp_path / "roofline.png").read_bytes().startswith(b"\x89PNG")


def test_formats():
    assert formats_of("csv, svg,csv") == ("csv", "svg")
    with pytest.raises(TilewrightError, match="some of svg, png, csv, parquet, found 'pdf'"):
        formats_of("svg,pdf")
