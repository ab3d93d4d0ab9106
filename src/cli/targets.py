"""List the targets that are shipped, describe one, or import one from Timeloop.

examples:
  tilewright targets
  tilewright targets --target my.acg
  tilewright targets --import arch.yaml timeloop-model.ERT.yaml -o my.acg
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..files import write_file
from .command_line import Unused
from .tables import print_table, size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", metavar="T", help="only this target (a name or an .acg file)")
    parser.add_argument(
        "--import",
        dest="imported",
        nargs="+",
        metavar="YAML",
        help="instead: Timeloop's files of an architecture (with ERT and problem where needed), written as .acg text",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where --import writes (default: stdout)")


def unused_options(arguments: argparse.Namespace) -> Iterator[Unused]:
    yield Unused(("target",), "with --import") if arguments.imported else Unused(("output",), "without --import")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..frontends.acg import target_files
    from .described import describe_target

    if arguments.imported:
        return _import(arguments.imported, arguments.output)
    names: list[str] = [arguments.target] if arguments.target else list(target_files())
    return {"targets": [describe_target(name) for name in names]}


def _import(files: list[str], output: Path | None) -> dict[str, Any]:
    from ..frontends.acg import print_target
    from ..frontends.timeloop import load_architecture, machine_of
    from .described import describe_machine

    machine = machine_of(load_architecture(*files), (output or Path(files[0])).stem)
    text = print_target(machine)
    if output is not None:
        write_file(output, text)
    return {"targets": [describe_machine(machine, str(output or ""))], "text": text}


def show(answer: dict[str, Any]) -> None:
    if "text" in answer and not answer["targets"][0]["file"]:
        print(answer["text"], end="")
        return
    rows = [
        [
            target["name"],
            "\n".join(map(_memory, target["memories"])),
            str(target["multipliers"] or "none"),
            " ".join(target["dtypes"]),
            str(len(target["mnemonics"])) if target["has_mnemonics"] else "none",
        ]
        for target in answer["targets"]
    ]
    print_table("Targets", ["name", "memories", "multipliers", "element types", "mnemonics"], rows)
    if len(answer["targets"]) == 1:
        _show_one(answer["targets"][0])


RATES = (
    ("read", "read_bandwidth"),
    ("write", "write_bandwidth"),
    ("both", "shared_bandwidth"),
    ("network", "network_bandwidth"),
)


def _show_one(target: dict[str, Any]) -> None:
    if target["chain"]:
        _show_chain(target["chain"])
    if target["area_mm2"] is not None:
        parts = ", ".join(f"{name} {area:.3g}" for name, area in target["areas_mm2"].items())
        print(f"{target['area_mm2']:.3g} mm2: {parts}")


def _show_chain(levels: list[dict[str, Any]]) -> None:
    """What mapping sees."""
    rows = [
        [
            level["name"],
            str(level["instances"]),
            "-" if level["entries"] is None else f"{level['entries']}",
            str(level["word_bits"]),
            "all" if level["holds"] is None else " ".join(level["holds"]),
            _energy(level["energy_pj"], level),
            "same" if level["write_energy_pj"] is None else _energy(level["write_energy_pj"], level),
            " ".join(f"{kind} {level[key]:g}" for kind, key in RATES if level[key] is not None) or "-",
        ]
        for level in levels
    ]
    header = ["memory", "copies", "words", "bits", "holds", "pJ to read", "to write", "words per cycle"]
    print_table("For mapping", header, rows)


def _energy(energy_pj: float, level: dict[str, Any]) -> str:
    block = level["block_size"]
    return f"{energy_pj:g}" if block == 1 else f"{energy_pj:g} for {block}"


def _memory(memory: dict[str, Any]) -> str:
    capacity, instances = memory["capacity_bytes"], memory["instances"]
    held = f" {size(capacity)}" if capacity is not None else ""
    return f"{memory['name']}{held}" + (f" x {instances}" if instances != 1 else "")
