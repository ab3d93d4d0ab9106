"""The ways to run a schedule, and the page that lists them."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import tilewright
from tilewright import CompileOptions, import_onnx
from tilewright.backends.program import Program
from tilewright.driver import groups
from tilewright.driver.lowering import Lowering
from tilewright.driver.pipelines import Room, Target, pipeline_text
from tilewright.driver.schedule_ways import fastest_schedule
from tilewright.errors import TilewrightError

from ...networks.patterns import sequence_first
from ...random_networks import hostile

PAGE = Path(__file__).parents[3] / "docs" / "default-flow.md"

CHANGED = {"hidden_share": 1 / 16, "rows_share": 1 / 2, "slack": 0, "unfold_worth": 1, "cuts": (5, 5, 5)}
"""Fields that are no flags, with a value that is not the default one."""

UNNAMED = {"share", "unpadded"}
"""What the words do not tell: room that was too small."""


def test_words_of_all_ways_are_those_on_the_page():
    """In the first column of its table."""
    changed = {name: CHANGED.get(name, not default) for name, default in Room._field_defaults.items()}
    rooms = [Room()._replace(**{name: value}) for name, value in changed.items() if name not in UNNAMED]
    rooms += [Room(unfold=True, unfold_worth=1), Room(holes=True, slack=0), Room(cuts=(5, 10))]
    text = ", ".join(room.words for room in rooms)
    text = (
        text.replace(" after", ", after").replace(" (rows not counted)", ", rows not counted").replace(" (slack 0)", "")
    )
    words = {re.sub(r"\b5\b", "N", each) for each in text.split(", ")} - {"schedule"}
    table = PAGE.read_text().partition("| words |")[2].partition("\n\n")[0]
    assert words == set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE))


@pytest.mark.parametrize("tried", [True, False])
def test_ways_that_cannot_be_compiled_are_told(tried: bool, monkeypatch: pytest.MonkeyPatch):
    """All but the first, when they are tried, or when the best of them is compiled to the end."""

    def refuse(lowering: Lowering, target: Target, compiled: Callable[..., Program]) -> Program:
        def compiled_or_refused(room: Room, *given: Path | None, **told: bool) -> Program:
            if room != Room() and told.get("tried", False) == tried:
                raise TilewrightError("refuted", room.words, "a proof", "none")
            return compiled(room, *given, **told)

        return fastest_schedule(lowering, target, compiled_or_refused)

    monkeypatch.setattr(groups, "fastest_schedule", refuse)
    program = tilewright.compile(
        hostile(1, integers=False), "edge16", options=CompileOptions(partition="schedule", gap=0.0)
    )
    ways = {way.method: way for way in program.candidates}
    assert ways[Room().words].chosen
    refused = [way for way in ways.values() if way.error]
    assert refused
    assert all("expected a proof, found none" in way.error for way in refused)


def test_layers_that_run_in_rows_together_have_as_many_samples():
    """Scores of heads, and the values of tokens, which have nothing to do with them, fit in rows: the proof says so."""
    target = "cocco_npu:GBUF.banks=4,GBUF.depth=512,DRAM->GBUF.bandwidth=1"
    options = CompileOptions(partition="schedule")
    lowering = Lowering(import_onnx(sequence_first()), options, None, "attention")
    program = lowering.program(pipeline_text(target, options, room=Room(overlap=True)))
    assert program.predicted["cycles"] >= program.lower_bound["cycles"]


def test_a_block_of_bert_ends_near_its_bound():
    """Attention split into heads, whose first pieces are made while weights come, takes most of what is gained."""
    program = tilewright.compile("bert_base_block", "edge16")
    assert program.predicted["cycles"] <= 1.05 * program.lower_bound["cycles"]


@pytest.mark.parametrize("partition", ["auto", "best"])
def test_any_number_of_processes_compiles_the_same(partition: str):
    """The program, what it was chosen from, and what it was compiled from."""
    options = CompileOptions(partition=partition, gap=0.0, prove=False)
    one, several = (
        tilewright.compile(hostile(1, integers=False), "edge16", options=each)
        for each in (options, replace(options, jobs=3))
    )
    assert len(one.candidates) > 1
    assert several.code == one.code
    assert several.candidates == one.candidates
    assert several.why == one.why
    assert several.origin == one.origin
