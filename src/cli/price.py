"""Price the mappings of a file with our exact model or Timeloop's.

FILE holds machines, problems and mappings in JSON (`archs`, `problems`, `random_mappings`, `link_transfer_mappings`).
Where a mapping's `arch` is the name of a target, that target is the machine, else the file's own description.
The answer has cycles, energy and the reads, fills and updates of every tensor at every level, one result per mapping.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .tables import energy, number, print_table

if TYPE_CHECKING:
    from ..costs.hierarchy import Architecture


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a .json file of mappings")
    parser.add_argument("--model", choices=["exact", "timeloop"], default="exact", help="cost model (default: exact)")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..costs.price_file import price_file

    return price_file(arguments.file, arguments.model, _find_target)


def _find_target(name: str) -> Architecture | None:
    """The shipped target of that name as a chain of storage levels."""
    from ..costs.hierarchy import architecture_of
    from ..frontends.acg import load_target, target_files

    return architecture_of(load_target(name)) if name in target_files() else None


def show(answer: dict[str, Any]) -> None:
    rows = [
        [
            str(index),
            "yes" if result["valid"] else "no",
            "-" if result["cycles"] is None else number(result["cycles"]),
            "-" if result["cycles"] is None else energy(result["energy_pJ"]),
        ]
        for index, result in enumerate(answer["results"])
    ]
    print_table("Mappings", ["mapping", "valid", "cycles", "energy"], rows)
