"""Programs of schedules of DRAM: what a search or a file decides runs, and the bytes are those of NumPy."""

from dataclasses import replace
from pathlib import Path
from re import findall

import pytest

from tilewright.driver import CompileOptions, RunOptions, run
from tilewright.driver.schedule_files import write_schedule
from tilewright.driver.schedules import ScheduleOptions, schedule_network_for
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.frontends.input_shapes import InputShapes
from tilewright.search.dram import METHODS, Effort

SHORT = CompileOptions(rounds=20, prove=False)
NETWORK = "gpt2_small_decode"
FEW = InputShapes(dims={"tokens": 9})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("network", [NETWORK, f"{NETWORK}:f32"])
def test_what_a_search_finds_runs(tmp_path: Path, network: str, method: str):
    options = replace(SHORT, schedule=method)
    done = run(network, folder=tmp_path, shapes=FEW, compile_options=options, options=RunOptions(trace=False))
    assert done.agrees
    assert done.simulation.cycles == done.predicted["cycles"]
    assert done.simulation.dram_bytes == done.predicted["dram_bytes"] >= done.bounds["lower_bound"]["dram_bytes"]
    assert done.bounds["gap"] >= 0


def scheduled(network: str, path: Path) -> Path:
    options = ScheduleOptions(shapes=FEW, effort=Effort(rounds=1, chains=1))
    answer, found = schedule_network_for(network, "edge16", options)
    write_schedule(path, found.timetable, answer["batch"], load_target("edge16"), exact=True)
    return path


def test_a_file_is_followed(tmp_path: Path):
    """A schedule as written runs; where every layer is a layer group no map stays on chip, and more bytes move."""
    path = scheduled(f"{NETWORK}:i8", tmp_path / "plan.mlir")
    text = path.read_text()
    groups = [line for line in text.splitlines() if "dram.fused_group" in line]
    layers = [name for line in groups for name in findall(r'"[^"]+"', line)]
    alone = [f"dram.layer_group {{ dram.fused_group tiles 1 [{name}] }}" for name in layers]
    head = text[: text.index("dram.layer_group")]
    (tmp_path / "alone.mlir").write_text("\n".join([head, *alone, "}", "}"]))
    moved: list[int] = []
    for name in ("plan", "alone"):
        options = replace(SHORT, schedule=str(tmp_path / f"{name}.mlir"))
        done = run(NETWORK, folder=tmp_path / name, shapes=FEW, compile_options=options)
        assert done.agrees
        moved.append(done.simulation.dram_bytes)
    assert moved[0] < moved[1]


def test_a_schedule_of_another_network_is_refused(tmp_path: Path):
    path = scheduled(NETWORK, tmp_path / "table.mlir")  # of the table of the paper, not of the program's graph
    with pytest.raises(TilewrightError, match="expected a schedule of the layers of the function, found none of layer"):
        run(NETWORK, folder=tmp_path, shapes=FEW, compile_options=replace(SHORT, schedule=str(path)))


def test_two_ways_to_choose_groups_are_refused():
    with pytest.raises(TilewrightError, match="one way to choose groups"):
        CompileOptions(partition="greedy", schedule="soma")
