"""Write a page about a folder that `compile` wrote: bounds, layers, graph, timeline, roofline, energy.

The page is one HTML file that needs no network: open it in any browser.  Its numbers are those of `--json`.
`tilewright run --report FILE` writes the page of a run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .tables import number, print_table, share


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder that `compile` wrote")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the page (default: DIR/report.html)")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..backends.program import load_program
    from ..backends.report.page import write_report
    from ..backends.simulator import simulate

    program = load_program(arguments.folder)
    result = simulate(program, functional=False, checks=False)
    file = arguments.output or arguments.folder / "report.html"
    return {"file": str(file), **write_report(file, program, result, program.title or arguments.folder.resolve().name)}


def show(answer: dict[str, Any]) -> None:
    rows = [
        ["latency", number(answer["cycles"], "cycles")],
        ["layers", str(len(answer["layers"]))],
        ["instructions", number(answer["instructions"])],
        ["page", answer["file"]],
    ]
    print_table("Report", ["what", "value"], rows)
    for remark in answer["advice"]:
        lost = f" [{share(remark['cycles'] / max(answer['cycles'], 1))} of the run]"
        print(f"{remark['text']}{lost} {remark['lever']}".replace("`", ""))
