"""Studies: which points there are, that none is computed twice, and what is lost when a process is killed: nothing."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tilewright.cli import main
from tilewright.driver.pipelines import CompileOptions
from tilewright.driver.points import Point
from tilewright.driver.sweep import Note, figures_of, front_of, key_of, sweep
from tilewright.driver.sweep_spec import Row, Study, read_study
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.machine.changes import attribute

SPEC = """
networks = ["O[m,n] += A[m,k] * B[k,n]; m=16 n=16 k=16"]
objectives = ["cycles", "room"]
[attributes]
"GBUF.depth" = [4096, 16384]
"DRAM.bandwidth" = [8, 16, 32]
[formulas]
room = "GBUF.depth * GBUF.banks + DRAM->GBUF.bandwidth"
"""


def here(study: Study, rows: Sequence[Row], note: Note) -> None:
    """Points in this process, without the start of others."""
    for place, row in enumerate(rows):
        note(place, figures_of(study, row))


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(SPEC)
    return path


def test_a_grid_and_a_random_part_of_it(spec: Path):
    study = read_study(spec)
    grid = list(product((4096, 16384), (8, 16, 32)))
    assert [tuple(values.values()) for values in study.machines()] == grid
    spec.write_text(f"samples = 4\nseed = 3\n{SPEC}")
    some = [tuple(values.values()) for values in read_study(spec).machines()]
    assert len(set(some)) == 4
    assert set(some) < set(grid)
    assert some == [tuple(values.values()) for values in read_study(spec).machines()]


def test_listed_machines_times_the_grid(tmp_path: Path):
    """Two machines, of a file that names their attributes in another order, with each bandwidth: all computed."""
    spec = tmp_path / "study.toml"
    spec.write_text(
        """
        target = "tiny"
        networks = ["O[m,n] += A[m,k] * B[k,n]; m=10 n=4 k=6"]
        attributes = { "DRAM.bandwidth" = [8, 16] }
        [[machines]]
        "SPAD.depth" = 128
        "frequency" = 1000000000
        [[machines]]
        "frequency" = 2000000000
        "SPAD.depth" = 256
        """
    )
    study = read_study(spec)
    expected = list(product(((128, 10**9), (256, 2 * 10**9)), (8, 16)))
    machines = study.machines()
    assert [((one["SPAD.depth"], one["frequency"]), one["DRAM.bandwidth"]) for one in machines] == expected
    assert {tuple(one) for one in machines} == {("SPAD.depth", "frequency", "DRAM.bandwidth")}
    answer = sweep(study, tmp_path / "points.sqlite", run=here)
    assert [row["attributes"] for row in answer["rows"]] == machines
    assert (answer["points"], answer["computed"], answer["failed"]) == (4, 4, 0)
    slow, fast = (
        [row["cycles"] for row in answer["rows"] if row["attributes"]["DRAM.bandwidth"] == b] for b in (8, 16)
    )
    assert all(a > b for a, b in zip(slow, fast, strict=True))


def test_machines_within_ranges_of_a_cost(spec: Path):
    """The room of 6 machines is 64 x depth + bandwidth: those that lie in one of the ranges, ends included, stay."""
    spec.write_text(f"{SPEC}\n[within]\nroom = [[262144, 262160], [1048608, 2000000]]")
    kept = [tuple(values.values()) for values in read_study(spec).machines()]
    assert kept == [(4096, 8), (4096, 16), (16384, 32)]


def test_the_edge_study_is_of_the_machines_that_its_document_lists():
    root = Path(__file__).parents[3]
    study = read_study(root / "bench/study_edge.toml")
    machines = [
        (
            *(f"{study.costs_of(study.machine_of(one))['area_mm2']:.1f}", f"{64 * one['GBUF.depth'] / 2**20:g} MB"),
            *(str(one["DRAM.bandwidth"]), str(one["MXU.instances_x"])),
        )
        for one in study.machines()
    ]
    lines = (root / "docs/study.md").read_text().splitlines()
    listed = [tuple(cell.strip() for cell in line.split("|")[1:5]) for line in lines if line.startswith("| ")]
    assert sorted(listed[1:]) == sorted(machines)


def test_points_say_what_the_machine_costs(spec: Path):
    study = read_study(spec)
    (told, point), *_ = study.points(study.machines())
    assert told["room"] == 4096 * 64 + 8
    assert attribute(point.machine, "GBUF.depth") == 4096


def test_a_point_is_known_by_all_that_its_answer_depends_on(tmp_path: Path):
    edge, tiny = load_target("edge16"), load_target("tiny")
    model = tmp_path / "net.mlir"
    model.write_text("one")
    keys = [key_of(Point("resnet50", edge)), key_of(Point("resnet50", tiny)), key_of(Point(str(model), edge))]
    model.write_text("two")
    assert len({*keys, key_of(Point(str(model), edge))}) == 4
    assert key_of(Point("resnet50", edge)) == keys[0]


def test_nothing_is_computed_twice(spec: Path, tmp_path: Path):
    database = tmp_path / "points.sqlite"
    told: list[tuple[str, int, int]] = []
    answer = sweep(read_study(spec), database, jobs=2, progress=lambda *what: told.append(what))
    assert (answer["points"], answer["done"], answer["computed"], answer["failed"]) == (6, 6, 6, 0)
    assert told[-1] == ("sweep, 0 s left", 6, 6)
    again = sweep(read_study(spec), database)
    assert again == answer | {"computed": 0}
    spec.write_text(SPEC.replace("[8, 16, 32]", "[8, 16, 64]"))
    assert sweep(read_study(spec), database, run=here)["computed"] == 2


def test_a_machine_without_a_program_is_a_point(spec: Path, tmp_path: Path):
    spec.write_text(SPEC.replace("[4096, 16384]", "[16384, 8388608]").replace("[8, 16, 32]", "[16]"))
    answer = sweep(read_study(spec), tmp_path / "points.sqlite", run=here)
    assert answer["failed"] == 1
    assert answer["rows"][1]["error"]["kind"] == "target"
    assert [machine["attributes"]["GBUF.depth"] for machine in answer["front"]] == [16384]


@pytest.mark.parametrize(
    ("command", "target", "network", "effort", "moved"),
    [
        ("schedule", "edge16", "gpt2_small_decode", ("rounds", 50), "dram_bytes"),
        ("partition", "cocco_npu", "vgg16", ("gap", 0.5), "ema_bytes"),
    ],
)
def test_points_may_be_plans(
    tmp_path: Path,
    command: str,
    target: str,
    network: str,
    effort: tuple[str, float],
    moved: str,
    capsys: pytest.CaptureFixture[str],
):
    """Each point is what the command answers for that machine; a machine that is none of its kind is an error."""
    spec = tmp_path / "study.toml"
    text = f"""
        target = "{target}"
        command = "{command}"
        networks = ["{network}"]
        attributes = {{ "DRAM.bandwidth" = [8, 16] }}
        options = {{ seed = 3, {effort[0]} = {effort[1]}, objective = "latency" }}
        """
    spec.write_text(text)
    answer, figures = (
        sweep(read_study(spec), tmp_path / "points.sqlite", run=here),
        ("latency_cycles", "energy_pj", moved, "gap"),
    )
    for row in answer["rows"]:
        machine = f"{target}:DRAM.bandwidth={row['attributes']['DRAM.bandwidth']}"
        words = [command, network, "--target", machine, "--seed", "3", "--objective", "latency"]
        assert main([*words, f"--{effort[0]}", str(effort[1]), "--json"]) == 0
        plan = json.loads(capsys.readouterr().out)
        assert [row[key] for key in ("cycles", "energy_pj", "dram_bytes", "gap")] == [plan[key] for key in figures]
    assert answer["rows"][0]["cycles"] > answer["rows"][1]["cycles"]
    spec.write_text(text.replace(target, "hvx").replace("DRAM.bandwidth", "frequency"))
    assert sweep(read_study(spec), tmp_path / "points.sqlite", run=here)["failed"] == 2


def test_layer_by_layer_has_its_name(spec: Path):
    spec.write_text(f"{SPEC}\n[options]\npartition = 'none'")
    options = read_study(spec).options
    assert isinstance(options, CompileOptions)
    assert options.partition == ""


def count(database: Path) -> int:
    """Points in a database; 0 before there is one."""
    try:
        with closing(sqlite3.connect(database)) as connection:
            return connection.execute("SELECT COUNT(*) FROM points").fetchone()[0]
    except sqlite3.Error:
        return 0


def test_a_killed_sweep_goes_on(spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    database = tmp_path / "sweep.sqlite"
    arguments = ["sweep", str(spec), "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tilewright", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + 120
    while count(database) < 2 and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = count(database)
    assert kept >= 2
    assert main(arguments) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["done"], answer["computed"]) == (6, 6 - kept)
    assert count(database) == 6


def machine(cycles: float, room: float, depth: int) -> dict[str, Any]:
    return {
        "attributes": {"GBUF.depth": depth},
        **dict.fromkeys(("energy_pj", "dram_bytes"), 1.0),
        "cycles": cycles,
        "area_mm2": 1.0,
        "room": room,
    }


def test_the_front_is_what_nothing_is_better_than():
    study = Study(load_target("edge16"), ("a",), {}, objectives=("cycles", "room"), formulas={"room": Any})  # type: ignore[dict-item]
    rows = [machine(3, 1, 1), machine(2, 2, 2), machine(3, 3, 3), machine(1, 5, 4)]
    assert [one["attributes"]["GBUF.depth"] for one in front_of(study, rows)["front"]] == [4, 2, 1]


def test_figures_of_several_networks_are_geometric_means():
    study = Study(load_target("edge16"), ("a", "b"), {})
    rows = [machine(4, 1, 1), machine(9, 1, 1), machine(1, 1, 2)]
    (one,) = front_of(study, rows)["machines"]
    assert one["cycles"] == pytest.approx(6)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("networks = [", "TOML"),
        ("networks = []", "at least one network"),
        ("network = ['a']", "no such key"),
        ("networks = ['a']\nbatches = [0]", "above 0"),
        ("networks = ['a']\n[attributes]\n'GBUF.size' = [1]", "no such path"),
        ("networks = ['a']\n[attributes]\n'GBUF.depth' = []", "a list of numbers"),
        ("networks = ['a']\n[attributes]\n'GBUF.depth' = [true]", "a list of numbers"),
        ("networks = ['a']\nobjectives = ['area']", "'area'"),
        ("target = 'tiny'\nnetworks = ['a']\nobjectives = ['area_mm2']", "'area_mm2'"),
        ("networks = ['a']\nsearch = 3\nsamples = 3", "leave some out"),
        ("networks = ['a']\n[formulas]\nroom = 'GBUF.depth *'", "room"),
        ("networks = ['a']\n[options]\nspeed = 1", "no such option"),
        ("networks = ['a']\ncommand = 'map'", "compile, partition, schedule"),
        ("networks = ['a']\ncommand = 'schedule'\n[options]\nprove = false", "no such option"),
        ("networks = ['a']\ncommand = 'partition'\n[options]\nrounds = 3", "no such option"),
        ("networks = ['a']\ncommand = 'partition'\n[options]\nmethod = 'soma'", "'soma'"),
        ("networks = ['a']\ncommand = 'schedule'\n[options]\nobjective = 'dram'", "'dram'"),
        ("networks = ['a']\nsamples = 'all'", "a whole number"),
        ("networks = ['a']\nmachines = [3]", "tables of the same attributes"),
        ("networks = ['a']\nmachines = {'GBUF.depth' = 1}", "a list"),
        ("networks = ['a']\n[[machines]]\n'GBUF.depth' = [1]", "a list of numbers"),
        ("networks = ['a']\n[[machines]]\n'GBUF.depth' = -1", "numbers above 0"),
        ("networks = ['a']\n[[machines]]\n'GBUF.size' = 1", "no such path"),
        ("networks = ['a']\n[[machines]]\n'GBUF.depth' = 1\n[[machines]]\n'GBUF.banks' = 1", "the same attributes"),
        ("networks = ['a']\n[attributes]\n'GBUF.depth' = [1]\n[[machines]]\n'GBUF.depth' = 1", "given once"),
        ("networks = ['a']\nsamples = 3\n[[machines]]\n'GBUF.depth' = 1", "leave some out"),
        ("networks = ['a']\n[within]\nroom = [[1, 2]]", "within.*'room'"),
        ("networks = ['a']\n[within]\narea_mm2 = [1, 2]", "a list of pairs"),
        ("networks = ['a']\n[within]\narea_mm2 = [[2, 1]]", "a list of pairs"),
        ("networks = ['a']\nsearch = 3\n[within]\narea_mm2 = [[1, 2]]", "leave one out"),
        ("networks = ['a']\n[attributes]\n'GBUF.depth' = [8192]\n[within]\narea_mm2 = [[1, 2]]", "no machine"),
    ],
)
def test_other_files_are_refused(spec: Path, text: str, told: str):
    spec.write_text(text)
    with pytest.raises(TilewrightError, match=told):
        read_study(spec)


def test_a_database_of_others_is_refused(spec: Path, tmp_path: Path):
    (tmp_path / "points.sqlite").write_text("no database, but text that is long enough to be looked at")
    with pytest.raises(TilewrightError, match="an SQLite file"):
        sweep(read_study(spec), tmp_path / "points.sqlite")
