"""Searches of studies: what they find, and that it is the same again, however it is computed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tilewright.driver.points import Point
from tilewright.driver.sweep import Note, Run, key_of, sweep
from tilewright.driver.sweep_spec import Row, Study, read_study
from tilewright.errors import TilewrightError
from tilewright.machine.changes import attribute

SPEC = """
target = "tiny"
networks = ["a"]
objectives = ["cycles", "room"]
search = 40
[attributes]
"SPAD.depth" = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072]
"DRAM.bandwidth" = [2, 4, 8, 16, 32, 64, 128, 256]
"frequency" = [1000000000, 2000000000, 4000000000, 8000000000]
[formulas]
room = "SPAD.depth + 64 * DRAM->SPAD.bandwidth + 3e-6 * frequency"
"""


def cost_of(depth: int, bandwidth: int, frequency: int) -> tuple[float, float] | None:
    """Cycles and room as a machine could have them; small buffers with fast memory have no program."""
    cycles = max(1e9 / depth / bandwidth, 1e14 / frequency) + 1e4
    return (cycles, depth + 64 * bandwidth + 3e-6 * frequency) if depth >= 8 * bandwidth else None


def answer_of(point: Point) -> dict[str, Any]:
    paths = "frequency", "SPAD.depth", "DRAM->SPAD.bandwidth"
    frequency, depth, bandwidth = (int(attribute(point.machine, path)) for path in paths)
    cost = cost_of(depth, bandwidth, frequency)
    if cost is None:
        return {"error": TilewrightError("infeasible", "a", "room", "less").as_dict(), "cpu_s": 0.0}
    return {"cycles": cost[0], "energy_pj": 1.0, "dram_bytes": 1, "layers": [], "cpu_s": 0.0}


def counting(computed: list[Point], backwards: bool = False) -> Run:
    def run(study: Study, rows: Sequence[Row], note: Note) -> None:
        points = [study.point(row) for row in rows]
        computed.extend(points)
        for place in reversed(range(len(points))) if backwards else range(len(points)):
            note(place, answer_of(points[place]))

    return run


@pytest.fixture
def study(tmp_path: Path) -> Study:
    path = tmp_path / "study.toml"
    path.write_text(SPEC)
    return read_study(path)


def test_a_search_asks_for_no_machine_twice_and_finds_most_of_the_front(study: Study, tmp_path: Path):
    pytest.importorskip("optuna")
    computed: list[Point] = []
    answer = sweep(study, tmp_path / "points.sqlite", run=counting(computed))
    assert answer["points"] == answer["computed"] == len({key_of(point) for point in computed}) == len(computed) == 40
    grid = {values: cost for values in product(*study.attributes.values()) if (cost := cost_of(*map(int, values)))}
    front = {
        one for one, (a, b) in grid.items() if not any((c, d) != (a, b) and c <= a and d <= b for c, d in grid.values())
    }
    assert (len(grid), len(front)) == (252, 13)
    found = {tuple(machine["attributes"].values()) for machine in answer["front"]}
    assert len(found & front) >= 5  # 2 of so many machines at random


def test_a_search_that_was_stopped_goes_on_to_the_same_end(study: Study, tmp_path: Path):
    pytest.importorskip("optuna")
    whole = sweep(study, tmp_path / "whole.sqlite", run=counting([]))

    class Killed(Exception):
        pass

    def short(study: Study, rows: Sequence[Row], note: Note) -> None:
        for place, point in enumerate(map(study.point, rows)):
            if len(computed) == 17:
                raise Killed
            computed.append(point)
            note(place, answer_of(point))

    computed: list[Point] = []
    with pytest.raises(Killed):
        sweep(study, tmp_path / "parts.sqlite", run=short)
    rest = sweep(study, tmp_path / "parts.sqlite", run=counting(computed, backwards=True))
    assert rest["computed"] == 40 - 17
    assert len({key_of(point) for point in computed}) == len(computed) == 40
    assert {**rest, "computed": 40, "database": ""} == {**whole, "database": ""}


def test_a_grid_smaller_than_the_search_ends(study: Study, tmp_path: Path):
    pytest.importorskip("optuna")
    small = {"SPAD.depth": (8192, 16384), "DRAM.bandwidth": (8, 16)}
    answer = sweep(Study(study.machine, study.networks, small, search=30), tmp_path / "points.sqlite", run=counting([]))
    assert answer["points"] == 4


def test_a_missing_package_is_told(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(TilewrightError, match=r"expected the package optuna.*pip install 'tilewright\[search\]'"):
        sweep(study, tmp_path / "points.sqlite", run=counting([]))
