"""Pipelines that begin alike: equal programs, and their beginning runs once."""

from pathlib import Path

import pytest
from xdsl.passes import ModulePass

from tilewright.driver import CompileOptions
from tilewright.driver.lowering import Lowering
from tilewright.driver.models import load_model
from tilewright.driver.pipelines import SCHEDULE, Room, pipeline_text
from tilewright.passes.graph.graph_normalize import GraphNormalizePass
from tilewright.passes.nest.nest_schedule import NestSchedulePass

from ..passes.nest_to_codelet.fused_models import residual

OPTIONS = CompileOptions(partition=SCHEDULE)
ROOMS = Room(), Room(rows_first=False), Room(share=0.5)
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
    first, second = ({path.name for path in (tmp_path / name).iterdir()} for name in ("first", "second"))
    assert "00-import.mlir" in first - second
    assert second < first
