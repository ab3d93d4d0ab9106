"""Write a page about a folder that `compile` wrote: bounds, layers, graph, timeline, roofline, energy.

The page is one HTML file that needs no network: open it in any browser.  Its numbers are those of `--json`.
`tilewright run --report FILE` writes the page of a run.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .command_line import Unused
from .options import add_count
from .tables import number, print_table, progress_bar, share


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder that `compile` wrote")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the page (default: DIR/report.html)")
    parser.add_argument(
        "--explain", action="store_true", help="compile again with more of each resource, and show what that brings"
    )
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write figures and tables as files, too")
    formats = "what --export writes, with commas: svg, png, csv, parquet (default: svg,csv)"
    parser.add_argument("--formats", metavar="LIST", help=formats)
    add_count(parser, "--jobs", "processes that compile with --explain (default: 1)", default=1)


def unused_options(arguments: argparse.Namespace) -> Iterator[Unused]:
    if not arguments.explain:
        yield Unused(("jobs",), "without --explain")
    if arguments.export is None:
        yield Unused(("formats",), "without --export")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..backends.program import load_program
    from ..backends.report.page import write_report
    from ..backends.simulator import simulate
    from .report_files import export_report, formats_of

    formats = formats_of(arguments.formats or "svg,csv")
    program = load_program(arguments.folder)
    result = simulate(program, functional=False, checks=False)
    levers: dict[str, Any] | None = None
    if arguments.explain:
        from ..driver.explain import explain

        with progress_bar() as progress:
            levers = explain(arguments.folder, jobs=arguments.jobs, progress=progress)
    file = arguments.output or arguments.folder / "report.html"
    name = program.title or arguments.folder.resolve().name
    answer = {"file": str(file), **write_report(file, program, result, name, levers)}
    if arguments.export is not None:
        answer["exported"] = export_report(arguments.export, program, answer, formats)
    return answer


def show(answer: dict[str, Any]) -> None:
    rows = [
        ["latency", number(answer["cycles"], "cycles")],
        ["layers", str(len(answer["layers"]))],
        ["instructions", number(answer["instructions"])],
        ["page", answer["file"]],
    ]
    rows += [["exported", file] for file in answer.get("exported", ())]
    print_table("Report", ["what", "value"], rows)
    for remark in answer["advice"]:
        lost = f" [{share(remark['cycles'] / max(answer['cycles'], 1))} of the run]"
        print(f"{remark['text']}{lost} {remark['lever']}".replace("`", ""))
