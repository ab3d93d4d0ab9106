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


POOLS = """
func.func @main(%x : tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32> {
  %a = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1]
    : (tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32>
  %b = graph.pool max %a kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1]
    : (tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32>
  func.return %b : tensor<1x8x32x32xf32>
}
"""
PLAN = """
dram.network @main {
  dram.input "x" 8x32x32
  dram.layer "a" pool 8x32x32 of ["x"] kernel 3x3
  dram.layer "b" pool 8x32x32 of ["a"] kernel 3x3
}
dram.schedule @schedule of @main batch 1 on <side 4, macs 512, capacity 8388608, buffer 8388608, read 256, write 256,
  bandwidth 16, latency 0, align 64, exact 1> {
  dram.layer_group { dram.fused_group tiles 2 reused ["a", "b"] }
  dram.transfers {
    load "a" tile 0 from input "x" during [-1, 1)
    load "a" tile 1 from input "x" during [0, 3)
    store "b" tile 0 during [1, 4)
    store "b" tile 1 during [3, 4)
  }
}
"""


def test_a_plan_by_hand_is_followed(tmp_path: Path):
    (tmp_path / "pools.mlir").write_text(POOLS)
    (tmp_path / "plan.mlir").write_text(PLAN)
    options = replace(SHORT, schedule=str(tmp_path / "plan.mlir"))
    assert run(str(tmp_path / "pools.mlir"), folder=tmp_path, compile_options=options).agrees


@pytest.mark.parametrize(
    ("line", "edit", "message"),
    [
        ("[0, 3)", "[0, 1)", "input of a, tile 1, from x: expected a life until 3, after its last use, found until 1"),
        ("[1, 4)", "[0, 4)", "result of b, tile 0: expected a life from 1, when it is made, found from 0"),
        ("tiles 2", "tiles 3", "input of a, tile 2, from x: expected one transfer, found none"),
        (
            "buffer 8388608",
            "buffer 8192",
            "expected at most 8192 bytes of global buffer, found 13568 bytes; 5376 bytes more",
        ),
        ("[0, 3)", "[3, 3)", "expected a life"),
        (
            'b" pool 8x32x32',
            'b" pool 8x16x32',
            "layer 'b' in layer group 0 of the schedule: expected pool 8x32x32 of 8x32x32, kernel",
        ),
        (
            'b" pool 8x32x32 of',
            'b" pool 8x30x30 of',
            "as the network has it, found pool 8x30x30 of 8x32x32, kernel 3x3",
        ),
        ('"x" 8x32x32', '"x" 8x34x34', "layer 'a' in layer group 0 of the schedule: expected pool 8x32x32 of 8x32x32"),
        (
            "batch 1",
            "batch 3",
            "main: expected a schedule of 1 samples, found one of 3; plan with `tilewright schedule --batch 1`",
        ),
    ],
)
def test_plans_that_cannot_be_are_refused(tmp_path: Path, line: str, edit: str, message: str):
    """Each error names the tile or transfer, the rule, what was found, and what would do."""
    (tmp_path / "pools.mlir").write_text(POOLS)
    (tmp_path / "plan.mlir").write_text(PLAN.replace(line, edit))
    options = replace(SHORT, schedule=str(tmp_path / "plan.mlir"))
    with pytest.raises(TilewrightError) as found:
        run(str(tmp_path / "pools.mlir"), folder=tmp_path, compile_options=options)
    assert message in str(found.value)
