"""The choice between groups of layers and layer by layer."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, save
from xdsl.dialects.builtin import ModuleOp

import tilewright
from tilewright.backends.program import Candidate, Program, load_program
from tilewright.cli import main
from tilewright.driver import CompileOptions, groups, load_model, make_context, parse_passes, pipeline_text
from tilewright.driver.choice import GREEDY, LAYER_BY_LAYER, WORDS
from tilewright.driver.lowering import Lowering
from tilewright.driver.models import parse_mlir
from tilewright.driver.pipelines import Room
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.passes.nest import program_bound
from tilewright.passes.nest.nest_schedule import NestSchedulePass
from tilewright.passes.nest_to_codelet import fused_program
from tilewright.resources import Resources

from ...onnx_files.quantized import quantized
from ..passes.nest_to_codelet.fused_models import branches, classifier, residual, skipping

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


def method_of(way: Candidate) -> str:
    return "" if way.method == LAYER_BY_LAYER else way.method


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

    def predicted(module: ModuleOp, target: str, options: CompileOptions, *others: Any) -> Mapping[str, float]:
        return compiled(module, target, options, *others[:2]).predicted

    monkeypatch.setattr(groups, "compile_module", compiled)
    monkeypatch.setattr(groups, "_predicted", predicted)
    return asked


@pytest.mark.parametrize(
    ("cycles", "chosen"), [({"": 3, "ours": 2, "greedy": 1}, "greedy"), ({"": 1, "ours": 1}, ""), ({"ours": 5}, "ours")]
)
def test_ways_without_room_are_left_out_and_only_the_chosen_one_is_proven(
    monkeypatch: pytest.MonkeyPatch, pools: ModuleOp, cycles: Mapping[str, float], chosen: str
):
    asked = pretend(monkeypatch, cycles)
    options = CompileOptions(partition=groups.BEST)
    best = groups.best_groups(pools, "cocco_npu", options, None)
    assert asked[-1] == replace(options, partition=chosen)
    assert [way.method for way in best.candidates if way.chosen] == [chosen or LAYER_BY_LAYER]
    for method, way in zip(("", *groups.CANDIDATES), best.candidates, strict=True):
        assert way.cycles == cycles.get(method)
        assert ("expected at most 1 bytes of GBUF" in way.error) == (method not in cycles)
    assert not any(way.prove for way in asked[:-1])


@pytest.mark.parametrize(
    ("cycles", "chosen"),
    [
        ({"": 3e6, groups.SCHEDULE: 2e6}, groups.SCHEDULE),
        ({"": 1e6, groups.SCHEDULE: 2e6}, ""),
        ({"": 1e6}, ""),
        ({groups.SCHEDULE: 5e6}, groups.SCHEDULE),
        ({"": 3e6, GREEDY: 1e6, groups.SCHEDULE: 2e6}, GREEDY),
        ({"": 1e6, GREEDY: 2e6}, ""),
        ({GREEDY: 2e6}, GREEDY),
    ],
)
def test_the_default_is_the_fastest_way(
    monkeypatch: pytest.MonkeyPatch, pools: ModuleOp, cycles: Mapping[str, float], chosen: str
):
    asked = pretend(monkeypatch, cycles)
    monkeypatch.setattr(groups, "_is_worth_groups", lambda program, gap: GREEDY in cycles)
    found = groups.default_program(pools, "cocco_npu", CompileOptions(), None)
    assert found.predicted["cycles"] == cycles[chosen]
    assert [way.partition for way in asked if way.prove][-1] == chosen
    assert [way.method for way in found.candidates if way.chosen] == [chosen or LAYER_BY_LAYER] * bool(found.candidates)
    assert all(way.cycles == cycles[method_of(way)] for way in found.candidates if not way.error)
    assert all("the way" in way.error for way in found.candidates if method_of(way) not in cycles)
    assert found.why.startswith(WORDS[chosen])


@pytest.mark.parametrize(("time_limit_s", "cycles"), [(0, 1e6), (1e-9, 2e6)])
def test_no_other_way_is_tried_when_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch, pools: ModuleOp, time_limit_s: float, cycles: float
):
    pretend(monkeypatch, {"": 1e6, groups.SCHEDULE: 2e6})
    found = groups.default_program(pools, "cocco_npu", CompileOptions(time_limit_s=time_limit_s), None)
    assert found.predicted["cycles"] == cycles
    assert ("--time-limit" in found.why) == (time_limit_s > 0)


@pytest.mark.parametrize(("gap", "ways"), [(99.0, {groups.SCHEDULE}), (0.0, {groups.SCHEDULE, GREEDY, ""})])
def test_within_the_gap_no_other_way_is_tried(gap: float, ways: set[str], monkeypatch: pytest.MonkeyPatch):
    asked: set[str] = set()
    real = groups.compile_module

    def compile_module(module: ModuleOp, target: str, options: CompileOptions, *others: Any) -> Program:
        asked.add(options.partition)
        return real(module, target, options, *others)

    monkeypatch.setattr(groups, "compile_module", compile_module)
    figures = {"cycles": 1e9, "energy_pj": 1e9}
    monkeypatch.setattr(
        groups, "_predicted", lambda module, target, options, *_: asked.add(options.partition) or figures
    )
    found = tilewright.compile(skipping(), "edge16", options=CompileOptions(gap=gap))
    assert asked == ways
    told = "other ways are tried above 9900 % (--gap)" if gap else f"the fastest of {len(found.candidates)} ways tried"
    assert found.why.startswith(WORDS[groups.SCHEDULE])
    assert found.why.endswith(told)


@pytest.mark.parametrize(("net", "is_left_out"), [(branches, True), (classifier, True), (skipping, False)])
def test_layer_by_layer_is_not_compiled_where_its_traffic_alone_takes_longer(
    monkeypatch: pytest.MonkeyPatch, net: Callable[[], ModelProto], is_left_out: bool
):
    asked: list[str] = []
    real = Lowering.program

    def program(lowering: Lowering, text: str, dump: Path | None = None, *, recorded: bool = True) -> Program:
        asked.append(lowering.options.partition)
        return real(lowering, text, dump, recorded=recorded)

    monkeypatch.setattr(Lowering, "program", program)
    options = CompileOptions(gap=0)
    found = tilewright.compile(net(), "edge16", options=options)
    assert ("" not in asked) == is_left_out
    asked.clear()
    monkeypatch.setattr(program_bound, "cycles_apart", lambda module, machine: 0)
    assert tilewright.compile(net(), "edge16", options=options).code == found.code
    assert "" in asked


@pytest.mark.parametrize("target", ["edge16", "cloud128", "cocco_npu"])
@pytest.mark.parametrize(("rows", "partition"), [(5, ""), (14, GREEDY)])
def test_no_program_goes_below_what_its_groups_move(partition: str, rows: int, target: str):
    nets = [branches(rows), residual(2, rows), classifier(), skipping()]
    if target == "edge16":  # random integer networks are on the others, in test/networks/test_random.py
        nets += [quantized(net) for net in nets[::2]]
    for model in nets:
        options = CompileOptions(partition=partition, prove=False)
        text = pipeline_text(target, options)
        before, _, _ = text.partition(",nest-tile")
        module = load_model(model)
        parse_passes(before).apply(make_context(), module)
        least = program_bound.cycles_apart(module, load_target(target))
        program = tilewright.compile(model, target, options=options)
        assert 0 < least <= tilewright.simulate(program, functional=False).cycles


def test_kept_intermediates_go_layer_by_layer(monkeypatch: pytest.MonkeyPatch, pools: ModuleOp):
    asked = pretend(monkeypatch, {"": 3, groups.SCHEDULE: 2})
    groups.default_program(pools, "cocco_npu", CompileOptions(keep_intermediates=True), None)
    assert [way.partition for way in asked] == [""]


def test_where_no_way_has_room_the_error_is_that_of_layer_by_layer(monkeypatch: pytest.MonkeyPatch, pools: ModuleOp):
    pretend(monkeypatch, {})
    with pytest.raises(TilewrightError, match="the way ''"):
        groups.best_groups(pools, "cocco_npu", CompileOptions(partition=groups.BEST), None)


def test_the_command_says_why_it_gave_up_groups(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(fused_program, "MOST_TURNS", 4)
    (tmp_path / "pools.mlir").write_text(POOLS)
    options = ["--target", "cocco_npu", "--partition", "best", "--tile-rows", "1", "-o", str(tmp_path / "out")]
    assert main(["compile", str(tmp_path / "pools.mlir"), *options]) == 0
    out = capsys.readouterr().out
    told = out[out.index("Way taken: ") :].splitlines()[1:]
    ways = [line.partition(":")[0].removesuffix(" (chosen)") for line in told]
    assert [way for way in ways if "," not in way] == [LAYER_BY_LAYER, *groups.CANDIDATES]
    assert sum("(chosen): " in line for line in told) == 1
    for line in told[-2:]:
        assert ": expected at most 4 tiles, found more; give more rows a tile" in line


def test_the_module_stays_as_it_is(pools: ModuleOp):
    before = str(pools)
    tilewright.compile(pools, "cocco_npu", options=CompileOptions(partition=groups.BEST, prove=False))
    assert str(pools) == before


def test_small_shares_of_a_pipeline_are_read_as_they_were_written():
    text = pipeline_text("edge16", CompileOptions(partition="schedule"), room=Room(5e-5, (0, 3)))
    (schedule,) = (item for item in parse_passes(text).passes if isinstance(item, NestSchedulePass))
    assert (schedule.share, schedule.cuts) == (5e-5, (0, 3))


def test_groups_are_tried_where_not_all_fits_on_chip():
    """Kept maps leave so little room that a layer runs in small tiles; what the answer is, is the faster program."""
    model, target = residual(2, 14), "edge16:GBUF.depth=96"
    ways = {
        way: tilewright.compile(model, target, options=CompileOptions(partition=way)).predicted["cycles"]
        for way in (groups.SCHEDULE, GREEDY, "")
    }
    assert tilewright.compile(model, target).predicted["cycles"] == min(ways.values())


@pytest.mark.parametrize(
    ("way", "name"),
    [(CompileOptions(partition="ours"), "graph-partition"), (CompileOptions(schedule="ours"), "dram-schedule")],
)
@pytest.mark.parametrize(("gap", "limit"), [(0.25, 1e-6), (1e-7, 3), (None, 0)])
def test_searches_inside_end_by_the_same_options(way: CompileOptions, name: str, gap: float | None, limit: float):
    options = replace(way, gap=gap, time_limit_s=limit)
    search: Any = next(one for one in parse_passes(pipeline_text("edge16", options)).passes if one.name == name)
    assert (search.gap, search.time_limit_s) == (gap or 0, limit)
    assert options.near == (0.01 if gap is None else gap)


def test_why_a_way_was_taken_is_printed_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    save(branches(), tmp_path / "x.onnx")
    common = ["--no-prove", "-o", str(tmp_path / "out")]
    assert main(["compile", str(tmp_path / "x.onnx"), "--target", "cocco_npu", "--gap", "0", *common]) == 0
    program, out = load_program(tmp_path / "out"), capsys.readouterr().out
    assert f"Way taken: {program.why}" in out.splitlines()
    assert len(program.candidates) > 1
    assert all(any(line.startswith(way.method) for line in out.splitlines()) for way in program.candidates)
    assert main(["run", str(tmp_path / "out"), "--json", "-o", str(tmp_path / "ran")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["why"], len(answer["candidates"])) == (program.why, len(program.candidates))


@pytest.mark.parametrize(
    ("padded", "lacks", "unpadded", "taken"),
    [(9, False, 1, 9), (9, True, 8, 8), (9, True, 10, 9), (9, True, None, 9), (None, True, 8, 8)],
)
def test_room_around_maps_is_left_out_where_it_does_not_fit(
    padded: float | None, lacks: bool, unpadded: float | None, taken: float, pools: ModuleOp
):
    """Cycles with it, whether it takes a smaller share of the memory, cycles without, and those of what is taken."""
    program = tilewright.compile(pools, "edge16", options=CompileOptions(partition="schedule"))
    dumps = list[tuple[bool, Path | None]]()

    def first(room: Room, dump: Path | None) -> Program:
        dumps.append((room.unpadded, dump))
        cycles = unpadded if room.unpadded else padded
        if cycles is None:
            raise InfeasibleError("GBUF", 2, 1, "bytes", "use smaller groups")
        return replace(
            program, predicted={"cycles": cycles}, refused=("no room",) if lacks and not room.unpadded else ()
        )

    found = groups.with_or_without_padding(first, Room(), Path("dump"))
    assert found.predicted["cycles"] == taken
    assert [unpadded for unpadded, dump in dumps if dump is not None][-1] == (taken == unpadded)
