"""Pipelines that begin alike: equal programs, and their beginning runs once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from xdsl.passes import ModulePass

from tilewright.backends.program import Program
from tilewright.driver import CompileOptions, compile
from tilewright.driver.lowering import Lowering
from tilewright.driver.models import load_model, program_of
from tilewright.driver.pipelines import SCHEDULE, Room, pipeline_text
from tilewright.passes.codelet.codelet_verify import CodeletVerifyPass
from tilewright.passes.graph.graph_normalize import GraphNormalizePass
from tilewright.passes.nest import program_bound
from tilewright.passes.nest.nest_schedule import NestSchedulePass

from ...random_networks import FLOAT, INTEGER, grown
from ..passes.nest_to_codelet.fused_models import Net, residual

OPTIONS = CompileOptions(partition=SCHEDULE)
ROOMS = Room(), Room(rows_first=False), Room(rows_first=False, rows_inside=False), Room(share=0.5)
TEXTS = [pipeline_text("edge16", OPTIONS, room=room) for room in ROOMS]


def test_each_program_is_that_of_its_own_pipeline():
    module = load_model(residual(2, 14))
    shared = Lowering(module, OPTIONS, None, "it")
    for text in TEXTS:
        one, alone = shared.program(text), Lowering(module, OPTIONS, None, "it").program(text)
        assert (one.code, one.predicted, one.lower_bound, one.sources, one.ops_max) == (
            alone.code,
            alone.predicted,
            alone.lower_bound,
            alone.sources,
            alone.ops_max,
        )


def test_common_passes_run_once(monkeypatch: pytest.MonkeyPatch):
    ran: list[type[ModulePass]] = []
    for kind in (GraphNormalizePass, NestSchedulePass):
        real = kind.apply
        monkeypatch.setattr(kind, "apply", lambda self, *given, real=real: ran.append(type(self)) or real(self, *given))
    lowering = Lowering(load_model(residual(2, 14)), OPTIONS, None, "it")
    before = lowering.before("nest-tile", TEXTS[0])
    text = str(before)
    for given in TEXTS:
        lowering.program(given)
    assert ran == [GraphNormalizePass, NestSchedulePass, NestSchedulePass]  # of `Room(share=0.5)` again
    assert str(lowering.before("nest-tile", TEXTS[1])) == str(before) == text


def test_the_ir_is_dumped_where_asked(tmp_path: Path):
    lowering = Lowering(load_model(residual(2, 14)), OPTIONS, None, "it")
    lowering.program(TEXTS[0], tmp_path / "first")
    lowering.program(TEXTS[1], tmp_path / "second")
    first, second = ({path.name for path in (tmp_path / name).glob("*.mlir")} for name in ("first", "second"))
    assert "00-import.mlir" in first - second
    assert second < first


def test_the_bound_is_computed_once(monkeypatch: pytest.MonkeyPatch):
    asked: list[object] = []
    monkeypatch.setattr(
        program_bound, "bound_of", lambda *given, real=program_bound.bound_of: asked.append(given) or real(*given)
    )
    lowering = Lowering(load_model(residual(2, 14)), OPTIONS, None, "it")
    texts = [pipeline_text("edge16", OPTIONS, room=room) for room in (Room(), Room(unfold=True))]
    first, second = (lowering.program(text) for text in texts)
    assert len(asked) == 1
    assert first.lower_bound == second.lower_bound != {}


def test_only_the_way_that_is_taken_is_proved(monkeypatch: pytest.MonkeyPatch):
    proved: list[CodeletVerifyPass] = []
    real = CodeletVerifyPass.apply
    monkeypatch.setattr(CodeletVerifyPass, "apply", lambda self, *given: proved.append(self) or real(self, *given))
    options = CompileOptions(partition=SCHEDULE, gap=0)
    program = compile(residual(4, 14), options=options)
    assert len(program.candidates) > 2
    first = program.candidates[0].chosen
    assert len(proved) == (1 if first else 2)
    assert all("codelet" in source.ir for source in program.sources)


def test_batches_are_also_tried_with_weights_loaded_for_each_sample():
    """With bytes taken again late, and with weights in holes; both take longer than with weights loaded once."""
    program = compile(residual(4, 14), options=CompileOptions(partition=SCHEDULE, gap=0))
    by_way = {way.method: way.cycles for way in program.candidates if way.cycles is not None}
    reloaded = {way: cycles for way, cycles in by_way.items() if "weights loaded for each" in way}
    assert {way.rpartition(", ")[2] for way in reloaded} == {"bytes taken again late", "weights in holes (slack 0)"}
    assert min(reloaded.values()) > program.predicted["cycles"] == min(by_way.values())
    near = compile(residual(4, 14), options=CompileOptions(partition=SCHEDULE, gap=1))
    assert not near.candidates


def test_batches_are_also_tried_with_weights_loaded_for_each_sample_in_the_first_layers_alone():
    """Few bytes leave the second layer, which halves the rows and columns."""
    net = Net((4, 3, 16, 16))
    net.conv("x", "a", 8)
    net.conv("a", "b", 8, stride=2)
    net.conv("b", "c", 32)
    net.conv("c", "d", 32)
    program = compile(net.model("d"), options=CompileOptions(partition=SCHEDULE, gap=0))
    way = "schedule, 2 layers sample by sample, weights loaded for each, bytes taken again late"
    assert way in {candidate.method for candidate in program.candidates}


@pytest.mark.parametrize("target", ["edge16", "cocco_npu"])
@pytest.mark.parametrize("batch", [1, 2])
def test_ways_that_lead_to_the_same_module_are_not_compiled_again(
    target: str, batch: int, monkeypatch: pytest.MonkeyPatch
):
    made: list[Program] = []

    def noted(*given: Any) -> Program:
        made.append(program_of(*given))
        return made[-1]

    monkeypatch.setattr("tilewright.driver.lowering.program_of", noted)
    models = [load_model(residual(batch, 14)), load_model(grown(5, FLOAT)), load_model(grown(6, INTEGER))]
    options = replace(OPTIONS, gap=0)
    recognised = [compile(model, target, options=options) for model in models]
    few = len(made)
    monkeypatch.setattr("tilewright.driver.lowering.RECOGNISED_OPS", 0)
    alone = [compile(model, target, options=options) for model in models]
    assert few < len(made) - few
    for one, other in zip(recognised, alone, strict=True):
        assert (one.code, one.predicted, one.candidates, one.sources, one.layers) == (
            other.code,
            other.predicted,
            other.candidates,
            other.sources,
            other.layers,
        )
