"""A compiled network as one HTML file that needs nothing else: bounds, layers, graph, timeline, roofline, energy."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....files import write_file
from .occupancy import occupancies
from .summary import layer_texts, summary
from .timeline import assembly, pack_lives, pack_timeline, packed, packed_json
from .waiting import waits_of

if TYPE_CHECKING:
    from ...program import Program
    from ...simulator import SimulationResult

HERE = Path(__file__).parent

SCRIPTS = ("base.js", "timeline.js", "graph.js", "layers.js", "charts.js", "page.js")
"""The page's scripts, in the order in which they run."""


def report_of(program: Program, result: SimulationResult, name: str) -> tuple[dict[str, Any], str]:
    """The answer about a run as plain data, and the page that shows it."""
    stream = result.stream
    waits = waits_of(stream, result.issues) if stream is not None else []
    answer = summary(program, result, name, waits)
    packs: dict[str, str] = {"texts": packed_json(layer_texts(program.sources, answer["layers"]))}
    if stream is not None:
        packs["columns"], plans = pack_timeline(stream, result.issues, waits)
        lives = occupancies(stream, result.issues, program.layer_table.numbers())
        packs["lives"] = pack_lives(lives)
        memories = [{"memory": one.memory, "block": one.block, "count": len(one.lives)} for one in lives]
        runs = program.layer_table.runs
        packs["timeline"] = packed_json({"plans": plans, "runs": runs, "memories": memories})
        packs["assembly"] = packed(assembly(stream).encode())
    return answer, page_of(answer, packs)


def write_report(path: str | Path, program: Program, result: SimulationResult, name: str) -> dict[str, Any]:
    """Write the page about a run of `program`, and answer its data."""
    answer, page = report_of(program, result, name)
    write_file(path, page)
    return answer


def page_of(answer: dict[str, Any], packs: dict[str, str]) -> str:
    """The page: its answer as JSON, and `packs`, each unpacked when it is first needed."""
    text = (HERE / "page.html").read_text(encoding="utf-8")
    data = json.dumps(answer, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    parts = {
        "TITLE": escape(f"{answer['name']} on {answer['target']['name']}"),
        "STYLE": (HERE / "page.css").read_text(encoding="utf-8"),
        "ANSWER": data,
        "PACKS": "\n".join(_pack(name, text) for name, text in packs.items()),
        "SCRIPT": "\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
    }
    return _filled(text, parts.__getitem__)


def _pack(name: str, text: str) -> str:
    return f'<script type="application/x-pack" id="pack-{name}">{text}</script>'


def _filled(text: str, part: Callable[[str], str]) -> str:
    """The template with `{{NAME}}` replaced once, whatever the parts hold."""
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda match: part(match[1]), text)
