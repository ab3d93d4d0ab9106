"""What more of each resource brings, compiled again."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tilewright
from tilewright.backends.simulator.layers import unit_nodes
from tilewright.backends.simulator.waiting import main_wait
from tilewright.driver.explain import Trials, explain, hiding, layers_with_waits
from tilewright.driver.points import Point
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, print_target
from tilewright.machine.changes import scaled

UNITS = unit_nodes(load_target("edge16"))
KERNEL = "O[m,n] += A[m,k] * B[k,n]; m=100 n=40 k=60"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tilewright.compile(KERNEL).save(tmp_path_factory.mktemp("explain") / "kernel")


def test_a_lever_is_what_compile_says(folder: Path, tmp_path: Path):
    answer = explain(folder, ["DRAM.bandwidth"])
    target = tmp_path / "fast.acg"
    target.write_text(print_target(scaled(load_target("edge16"), "DRAM.bandwidth", 2)))
    program = tilewright.compile(KERNEL, target)
    (lever,) = answer["levers"]
    assert answer["as_compiled"]
    assert {key: lever[key] for key in ("attribute", "factor", "value")} == {
        "attribute": "DRAM.bandwidth",
        "factor": 2,
        "value": 16,
    }
    assert lever["cycles"] == program.predicted["cycles"] < answer["cycles"]
    assert lever["lower_bound"] == program.lower_bound
    (layer,) = answer["layers"]
    assert layer["levers"] == [{"attribute": "DRAM.bandwidth", "factor": 2, "cycles": program.layers[0].cycles}]


def test_machines_without_energies(tmp_path: Path):
    program = tilewright.compile(KERNEL, "hvx")
    answer = explain(program.save(tmp_path / "kernel"), ["VRF.depth"])
    (lever,) = answer["levers"]
    assert (answer["energy_pj"], lever["energy_pj"]) == (None, None)
    assert answer["cycles"] == program.predicted["cycles"] >= lever["lower_bound"]["cycles"]


def test_what_hides_a_wait_is_compiled_again(folder: Path):
    """The array waits for DRAM: what is left of that with each attribute is what a program for that machine waits."""
    answer = explain(folder, ["DRAM.bandwidth", "GBUF.depth", "MXU.instances_x"])
    (layer,) = answer["layers"]
    rows = {row["attribute"]: row for row in layer["hiding"]}
    assert set(rows) == {"DRAM.bandwidth", "GBUF.depth"}

    def waits(path: str, factor: float) -> int:
        program = tilewright.compile(KERNEL, scaled(load_target("edge16"), path, factor))
        wait = main_wait(layers_with_waits(program)[0], UNITS)
        return wait.cycles if wait is not None else 0

    before = waits("DRAM.bandwidth", 1)
    assert before > 0.01 * answer["cycles"]
    for path, row in rows.items():
        assert row["wait_cycles"] == waits(path, row["factor"])
        assert (row["wait"] == "left") == (row["wait_cycles"] > 0.1 * before)
    assert rows["DRAM.bandwidth"]["wait"] == "hidden" or rows["DRAM.bandwidth"]["factor"] == 4
    assert rows["GBUF.depth"]["wait"] != "hidden"
    assert rows["GBUF.depth"]["factor"] == 2  # addresses of its instructions do not reach four times as much
    assert rows["GBUF.depth"]["size_bytes"] == rows["GBUF.depth"]["factor"] * 8 * 2**20


def test_less_is_tried_where_that_hides_a_wait_and_more_where_it_does_not():
    """A layer whose wait ends at 1.5 times the bandwidth, and with more room begins elsewhere."""
    layer = {"nodes": ["a"], "busy_cycles": {"MXU": 9}, "cycles": 1000}
    point = Point(KERNEL, load_target("edge16"))

    def answer(left: int, cycles: int) -> dict[str, Any]:
        wait = {"unit": "MX", "for_unit": "LD", "for_layer": 0, "for_what": "weights", "cycles": left}
        return {"cycles": cycles, "layers": [{**layer, "waits": [wait]}]}

    class Told(Trials):
        def compute(self, pairs: Iterable[tuple[str, float]]) -> None:
            for path, factor in pairs:
                if path == "GBUF.depth" and factor >= 4:
                    self.answers[path, factor] = answer(50, 980)
                else:
                    hidden = path == "DRAM.bandwidth" and factor >= 1.5
                    self.answers[path, factor] = answer(50, 300) if hidden else answer(800, 1000)

    trials = Told(point)
    ((fast, large),) = hiding(trials, ["DRAM.bandwidth", "GBUF.depth", "frequency"], 2.0)
    assert {(path, factor) for path, factor in trials.answers if path == "DRAM.bandwidth"} == {
        ("DRAM.bandwidth", factor) for factor in (1.25, 1.5, 2.0)
    }
    assert {factor for path, factor in trials.answers if path == "GBUF.depth"} == {2.0, 4.0}
    assert (fast["factor"], fast["value"], fast["wait"], fast["cycles"]) == (1.5, 24, "hidden", 300)
    assert (large["factor"], large["wait"], large["wait_cycles"]) == (4.0, "moved", 50)


def test_processes_answer_the_same(folder: Path):
    paths = ["DRAM.bandwidth", "MXU.instances_x"]
    one, two = explain(folder, paths), explain(folder, paths, jobs=2)
    assert one | {"cpu_s": 0} == two | {"cpu_s": 0}


def test_resources_that_hardly_work_are_left_out(folder: Path):
    """The kernel uses the array, and no vector unit."""
    told: list[str] = []
    answer = explain(folder, progress=lambda what, done, total: told.append(what))
    assert {lever["attribute"].split(".")[0] for lever in answer["levers"]} == {"GBUF", "DRAM", "MXU"}
    assert told[0] == "compile again"


def test_a_machine_without_a_program_is_told(folder: Path):
    (lever,) = explain(folder, ["GBUF.depth"], factor=64)["levers"]
    assert lever["error"]["kind"] == "target"
    assert "widen" in lever["error"]["lever"] or "widen" in lever["error"]["found"]


def test_what_has_no_name_cannot_be_compiled_again(folder: Path, tmp_path: Path):
    nameless = replace(tilewright.compile(KERNEL), origin={}).save(tmp_path / "p")
    with pytest.raises(TilewrightError, match="without a name"):
        explain(nameless)
