"""A compiled network as one HTML file that needs nothing else: bounds, layers, graph, timeline, roofline, energy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....files import write_file
from ...simulator.waiting import waits_of
from .pages import filled
from .summary import layer_texts, summary, with_levers
from .timeline import assembly, occupancies, pack_lives, pack_timeline, packed, packed_json

if TYPE_CHECKING:
    from ...program import Program
    from ...simulator import SimulationResult

SCRIPTS = ("base.js", "timeline.js", "graph.js", "layers.js", "charts.js", "page.js")
"""The page's scripts, in the order in which they run."""


def report_of(
    program: Program, result: SimulationResult, name: str, levers: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], str]:
    """The answer about a run as plain data, and the page that shows it; `levers` is the answer of `explain`."""
    stream, answer = result.stream, summary(program, result, name)
    if levers is not None:
        answer = with_levers(answer, levers)
    packs: dict[str, str] = {"texts": packed_json(layer_texts(program.sources, answer["layers"]))}
    if stream is not None:
        packs["columns"], plans = pack_timeline(stream, result.issues, waits_of(stream, result.issues))
        lives = occupancies(stream, result.issues, program.layer_table.numbers())
        packs["lives"] = pack_lives(lives)
        memories = [{"memory": one.memory, "block": one.block, "count": len(one.lives)} for one in lives]
        runs = program.layer_table.runs
        packs["timeline"] = packed_json({"plans": plans, "runs": runs, "memories": memories})
        packs["assembly"] = packed(assembly(stream).encode())
    return answer, page_of(answer, packs)


def write_report(
    path: str | Path, program: Program, result: SimulationResult, name: str, levers: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Write the page about a run of `program`, and answer its data."""
    answer, page = report_of(program, result, name, levers)
    write_file(path, page)
    return answer


def page_of(answer: dict[str, Any], packs: dict[str, str]) -> str:
    """The page of an answer."""
    return filled("page.html", f"{answer['name']} on {answer['target']['name']}", answer, SCRIPTS, packs)
