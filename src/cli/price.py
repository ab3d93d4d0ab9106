"""Price mappings that are given with our exact model or Timeloop's.

FILE is one of
  a .json file      machines, problems and mappings (`archs`, `problems`, `random_mappings`, `link_transfer_mappings`);
                    where a mapping's `arch` is the name of a target, that is the machine, else the file's own one
  Timeloop's .yaml  a problem, a mapping and an architecture (with its ERT), together or in several files
  a .mlir file      mapped nest groups, written by hand or by `tilewright map -o`
The answer has cycles, energy and the reads, fills and updates of every tensor at every level, one result per mapping.

examples:
  tilewright price mappings.json --model timeloop
  tilewright price arch.yaml problem.yaml mapping.yaml
  tilewright price problem.yaml mapping.yaml --target eyeriss_like
  tilewright price mapped.mlir --target eyeriss_like
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .command_line import UsageError
from .mapping_tables import show_traffic
from .tables import energy, number, print_table

if TYPE_CHECKING:
    from ..costs.hierarchy import Architecture

YAML = (".yaml", ".yml")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="mappings, see above")
    parser.add_argument("--model", choices=["exact", "timeloop"], default="exact", help="cost model (default: exact)")
    parser.add_argument("--target", metavar="T", help="the machine of a mapping in YAML or IR")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..costs.price_file import price_file

    files: list[Path] = arguments.files
    if all(file.suffix in YAML for file in files):
        return _price_yaml(files, arguments.model, arguments.target)
    if len(files) == 1 and files[0].suffix == ".mlir":
        from ..mapping import price_ir

        return price_ir(files[0], arguments.target, arguments.model)
    if len(files) > 1 or arguments.target is not None:
        found = " ".join(map(str, files)) + (f" --target {arguments.target}" if arguments.target is not None else "")
        raise UsageError("usage", "price", "one .json file, or .yaml files", found)
    return price_file(files[0], arguments.model, _find_target)


def _find_target(name: str) -> Architecture | None:
    """The shipped target of that name as a chain of storage levels."""
    from ..costs.hierarchy import architecture_of
    from ..frontends.acg import load_target, target_files

    return architecture_of(load_target(name)) if name in target_files() else None


def _price_yaml(files: list[Path], model: str, target: str | None) -> dict[str, Any]:
    from ..errors import TilewrightError
    from ..frontends.timeloop import load_timeloop
    from ..mapping import find_architecture
    from ..mapping.hand import priced

    given = load_timeloop(*files, machine=None if target is None else find_architecture(target))
    if given.problem is None or given.architecture is None or given.mapping is None:
        missing = [key for key in ("problem", "architecture", "mapping") if getattr(given, key) is None]
        raise TilewrightError(
            "parse", " ".join(map(str, files)), "a problem, a machine and a mapping", f"no {missing[0]}"
        )
    return {"model": model, "results": [priced(given.architecture, given.problem, given.mapping, model)]}


def show(answer: dict[str, Any]) -> None:
    for result in answer["results"]:
        if "loops" in result:
            print(f"{result['problem']} on {result['arch']}\n\n{result['loops']}")
            show_traffic(result["traffic"])
        for violation in result["violations"] if "loops" in result else ():
            print(f"does not fit: {violation['message']}")
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
