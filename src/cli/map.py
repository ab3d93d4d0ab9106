"""Find the best mappings of the cases of a file, proven best in Timeloop's model.

FILE is a JSON list of cases: a machine, a problem, and which mappings count (`bypass_in_space`,
`spatial_dim_split_xy`).  Factors are perfect.  Each result has the mapping, its EDP, energy and cycles, and whether it
is proven that no mapping of the space is better.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .tables import energy, number, print_table, progress_bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cases", type=Path, metavar="FILE", required=True, help="a .json list of cases")
    parser.add_argument("--objective", choices=["edp", "energy", "latency"], default="edp", help="default: edp")
    parser.add_argument("--model", choices=["timeloop"], default="timeloop", help="cost model (default: timeloop)")
    parser.add_argument("--factors", choices=["perfect"], default="perfect", help="loop bounds (default: perfect)")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="CPU seconds per case (default: none)")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..search.mapping.exact import cases_file

    with progress_bar(arguments.json) as progress:
        return cases_file(
            arguments.cases,
            arguments.objective,
            arguments.time_limit,
            progress=lambda done, total: progress("cases", done, total) if progress is not None else None,
        )


def show(answer: dict[str, Any]) -> None:
    rows = [
        [
            str(index),
            f"{result['edp_J_cycle']:.6g}",
            energy(result["energy_pJ"]),
            number(result["cycles"]),
            "yes" if result["proven"] else "no",
            f"{result['cpu_s']:.2f} s",
        ]
        for index, result in enumerate(answer["results"])
    ]
    print_table("Best mappings", ["case", "EDP in J*cycle", "energy", "cycles", "proven", "CPU time"], rows)
