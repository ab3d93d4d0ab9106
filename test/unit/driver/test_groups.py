"""The choice between groups of layers and layer by layer."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tilewright
from tilewright.backends.program import Program
from tilewright.driver import CompileOptions, groups
from tilewright.driver.models import parse_mlir
from tilewright.driver.pipelines import Room, parse_passes, pipeline_text
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.passes.nest.nest_schedule import NestSchedulePass
from tilewright.resources import Resources

POOLS = """
func.func @main(%x : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %a = graph.pool max %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.pool max %a kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %b : tensor<1x4x8x8xf32>
}
"""  # noqa: E501


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> ModuleOp:
    path = tmp_path_factory.mktemp("pools") / "pools.mlir"
    path.write_text(POOLS)
    return parse_mlir(path)


def test_the_best_has_the_fewest_predicted_cycles_and_runs_in_as_many(pools: ModuleOp):
    ways = {
        method: tilewright.compile(pools, "cocco_npu", options=CompileOptions(partition=method))
        for method in ("", *groups.CANDIDATES, groups.BEST)
    }
    best = ways.pop(groups.BEST)
    assert best.predicted["cycles"] == min(way.predicted["cycles"] for way in ways.values())
    assert best.predicted["cycles"] < ways[""].predicted["cycles"]  # the map between the pools stays on chip
    x = np.random.default_rng(0).standard_normal((1, 4, 8, 8), np.float32)
    (name,) = (tensor.name for tensor in best.tensors if tensor.role == "input")
    results = [tilewright.simulate(program, {name: x}) for program in (best, ways[""])]
    for result, program in zip(results, (best, ways[""]), strict=True):
        assert result.cycles == program.predicted["cycles"]
        assert result.energy_pj == pytest.approx(program.predicted["energy_pj"], rel=1e-9)
        assert result.dram_bytes == program.predicted["dram_bytes"]
    for name, values in results[0].outputs.items():
        assert (values == results[1].outputs[name]).all()


def pretend(monkeypatch: pytest.MonkeyPatch, cycles: Mapping[str, float]) -> list[CompileOptions]:
    """Let each method have so many cycles, and those that are not there no room; what was asked for."""
    asked: list[CompileOptions] = []

    def compiled(module: ModuleOp, target: str, options: CompileOptions, progress: None, name: str) -> Program:
        asked.append(options)
        if options.partition not in cycles:
            raise InfeasibleError("GBUF", 2, 1, "bytes", "take a larger one", f"the way {options.partition!r}")
        return Program(
            load_target(target), b"", (), Resources({}), {"cycles": cycles[options.partition], "energy_pj": 1.0}, 0
        )

    monkeypatch.setattr(groups, "compile_module", compiled)
    return asked


@pytest.mark.parametrize(
    ("cycles", "chosen"),
    [({"": 3, "ours": 2, "greedy": 1}, "greedy"), ({"": 1, "ours": 1}, ""), ({"ours": 5}, "ours")],
)
def test_ways_without_room_are_left_out_and_only_the_chosen_one_is_proven(
    monkeypatch: pytest.MonkeyPatch, pools: ModuleOp, cycles: Mapping[str, float], chosen: str
):
    asked = pretend(monkeypatch, cycles)
    options = CompileOptions(partition=groups.BEST)
    best = groups.best_groups(pools, "cocco_npu", options, None)
    assert asked[-1] == replace(options, partition=chosen)
    assert [way.method for way in best.candidates if way.chosen] == [chosen or groups.LAYER_BY_LAYER]
    for method, way in zip(("", *groups.CANDIDATES), best.candidates, strict=True):
        assert way.cycles == cycles.get(method)
        assert ("expected at most 1 bytes of GBUF" in way.error) == (method not in cycles)
    assert not any(way.prove for way in asked[:-1])


@pytest.mark.parametrize(
    ("cycles", "chosen"),
    [
        ({"": 3, groups.SCHEDULE: 2}, groups.SCHEDULE),
        ({"": 1, groups.SCHEDULE: 2}, ""),
        ({"": 1}, ""),
        ({groups.SCHEDULE: 5}, groups.SCHEDULE),
    ],
)
def test_the_default_is_the_faster_of_two_ways(
    monkeypatch: pytest.MonkeyPatch, pools: ModuleOp, cycles: Mapping[str, float], chosen: str
):
    asked = pretend(monkeypatch, cycles)
    found = groups.default_program(pools, "cocco_npu", CompileOptions(), None)
    assert found.predicted["cycles"] == cycles[chosen]
    assert [way.partition for way in asked if way.prove][-1] == chosen


def test_kept_intermediates_go_layer_by_layer(monkeypatch: pytest.MonkeyPatch, pools: ModuleOp):
    asked = pretend(monkeypatch, {"": 3, groups.SCHEDULE: 2})
    groups.default_program(pools, "cocco_npu", CompileOptions(keep_intermediates=True), None)
    assert [way.partition for way in asked] == [""]


def test_where_no_way_has_room_the_error_is_that_of_layer_by_layer(monkeypatch: pytest.MonkeyPatch, pools: ModuleOp):
    pretend(monkeypatch, {})
    with pytest.raises(TilewrightError, match="the way ''"):
        groups.best_groups(pools, "cocco_npu", CompileOptions(partition=groups.BEST), None)


def test_the_module_stays_as_it_is(pools: ModuleOp):
    before = str(pools)
    tilewright.compile(pools, "cocco_npu", options=CompileOptions(partition=groups.BEST, prove=False))
    assert str(pools) == before


def test_small_shares_of_a_pipeline_are_read_as_they_were_written():
    text = pipeline_text("edge16", CompileOptions(partition="schedule"), room=Room(0.25, 5e-5))
    (schedule,) = (item for item in parse_passes(text).passes if isinstance(item, NestSchedulePass))
    assert (schedule.share, schedule.span_share) == (0.25, 5e-5)
