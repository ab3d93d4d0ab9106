"""Tables as CSV and as Parquet."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import pytest

from tilewright.cli.table_files import write_csv, write_parquet
from tilewright.errors import TilewrightError

GOOD = {"network": "a", "batch": None, "cycles": 2.5, "GBUF.depth": 64}
BAD = {"network": "b", "batch": 2, "GBUF.depth": 32, "error": "target"}


def test_csv_and_parquet_have_the_same_columns(tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_csv(tmp_path / "points.csv", [GOOD, BAD])
    write_parquet(tmp_path / "points.parquet", [GOOD, BAD], "--parquet")
    with (tmp_path / "points.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    table: Any = parquet.read_table(tmp_path / "points.parquet")
    assert table.column_names == list(rows[0])
    assert table.to_pylist() == [
        {"network": "a", "batch": None, "cycles": 2.5, "GBUF.depth": 64, "error": None},
        {"network": "b", "batch": 2, "cycles": None, "GBUF.depth": 32, "error": "target"},
    ]


def test_parquet_without_its_package_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TilewrightError, match=r"--parquet.*tilewright\[parquet\]"):
        write_parquet(tmp_path / "points.parquet", [GOOD], "--parquet")
