"""What more of each resource brings, compiled again."""

from dataclasses import replace
from pathlib import Path

import pytest

import tilewright
from tilewright.driver.explain import explain
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, print_target
from tilewright.machine.changes import scaled

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
