"""List the targets that are shipped."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .tables import print_table, size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", metavar="T", help="only this target (a name or an .acg file)")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..driver import describe_target
    from ..frontends.acg import target_files

    names: list[str] = [arguments.target] if arguments.target else list(target_files())
    return {"targets": [describe_target(name) for name in names]}


def show(answer: dict[str, Any]) -> None:
    rows = [
        [
            target["name"],
            ", ".join(map(_memory, target["memories"])),
            " ".join(target["dtypes"]),
            str(len(target["mnemonics"])) if target["has_mnemonics"] else "none",
            Path(target["file"]).name,
        ]
        for target in answer["targets"]
    ]
    print_table("Targets", ["name", "memories", "element types", "mnemonics", "file"], rows)


def _memory(memory: dict[str, Any]) -> str:
    capacity = memory["capacity_bytes"]
    return f"{memory['name']} {size(capacity)}" if capacity is not None else str(memory["name"])
