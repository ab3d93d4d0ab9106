"""Compute a study: networks on a machine with other numbers, and what no other machine is better than.

SPEC.toml says which attributes of the target take which values (docs/sweep.md):

  target = "edge16"
  networks = ["resnet50"]
  objectives = ["cycles", "room"]
  [attributes]
  "GBUF.depth" = [32768, 65536, 131072]
  "DRAM.bandwidth" = [16, 32, 64]
  [formulas]
  room = "GBUF.depth * GBUF.banks"

With `command = "schedule"` or `"partition"` points are plans instead of programs.
Points that the database has are not computed again, so a study that was stopped goes on where it was.
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files import write_file
from ..interruption import answer_with_best
from .command_line import Unused
from .options import add_count
from .table_files import write_csv, write_parquet
from .tables import energy, number, print_table, progress_bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="SPEC.toml", help="the study")
    parser.add_argument(
        "--database", type=Path, metavar="FILE", help="where points are kept (default: sweep.sqlite beside SPEC.toml)"
    )
    add_count(parser, "--jobs", "processes (default: 1)", default=1)
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="compute on the workers of this Dask scheduler (extra `dask`)"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write all points to FILE")
    parser.add_argument("--parquet", type=Path, metavar="FILE", help="the same as a Parquet file (extra `parquet`)")
    parser.add_argument(
        *("-o", "--output"), type=Path, metavar="FILE.svg", help="draw the front, if a machine has all programs"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with the front")


def unused_options(arguments: argparse.Namespace) -> Iterator[Unused]:
    if arguments.scheduler:
        yield Unused(("jobs",), "with --scheduler")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..driver.sweep import on_cluster, on_this_machine, sweep
    from ..driver.sweep_spec import read_study

    study = read_study(arguments.file)
    database = arguments.database or arguments.file.with_name("sweep.sqlite")
    run = on_cluster(arguments.scheduler) if arguments.scheduler else on_this_machine(arguments.jobs)
    answer_with_best()
    with progress_bar() as progress:
        answer = sweep(study, database, run=run, progress=progress)
    answer["name"] = arguments.file.stem
    rows = [_flat(row) for row in answer["rows"]]
    if arguments.csv is not None:
        write_csv(arguments.csv, rows)
    if arguments.parquet is not None:
        write_parquet(arguments.parquet, rows, "--parquet")
    if arguments.output is not None and answer["machines"]:
        from ..backends.report.front_svg import front_svg

        write_file(arguments.output, front_svg(answer))
    if arguments.html is not None:
        from ..backends.report.page.pages import write_study

        write_study(arguments.html, answer)
        answer["file"] = str(arguments.html)
    return answer


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A point as a row of a table: network, batch, attributes, figures."""
    own = {name: value for name, value in row.items() if name not in ("attributes", "lower_bound", "error")}
    error = {"error": row["error"]["kind"]} if "error" in row else {}
    return own | dict(row["attributes"]) | error


def show(answer: dict[str, Any]) -> None:
    done, points, computed = answer["done"], answer["points"], answer["computed"]
    print(f"{done} of {points} points in {answer['database']}, {computed} computed now, {answer['failed']} failed")
    if answer["front"]:
        paths = list(answer["front"][0]["attributes"])
        rows = [
            [
                *(_text(path, machine["attributes"][path]) for path in paths),
                *(_text(name, machine[name]) for name in answer["objectives"]),
            ]
            for machine in answer["front"]
        ]
        print_table("What no other machine is better than", [*paths, *answer["objectives"]], rows)
    if "file" in answer:
        print(f"page in {answer['file']}")


def _text(name: str, value: float) -> str:
    return energy(value) if name == "energy_pj" else f"{value:g}" if value < 1e6 else number(value)
