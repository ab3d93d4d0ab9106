"""Assemble a program's text for a target with instructions (docs/programs.md)."""

import argparse
from pathlib import Path
from typing import Any

from .command_line import UsageError
from .tables import number, print_table

FORMATS = "binary|bits|hex|decimal"


def format_name(given: str) -> str:
    """The format that an option names; "" for none, `UsageError` for another."""
    if given and given not in FORMATS.split("|"):
        raise UsageError("usage", "--format", f"one of {FORMATS.replace('|', ', ')}", f"`{given[:40]}`")
    return given


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="assembly text, an instruction a line")
    parser.add_argument("--target", required=True, metavar="T", help="target name or .acg file")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="file to write (default: FILE with .bin)")
    parser.add_argument("--format", metavar=FORMATS, default="binary", help="how OUT holds words (default: binary)")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..driver.binaries import assemble_file
    from ..frontends.acg import load_target
    from ..machine.encoding import instruction_offsets

    machine = load_target(arguments.target)
    output = arguments.output or arguments.file.with_suffix(".bin")
    code = assemble_file(arguments.file, machine, output, format_name(arguments.format))
    count = len(instruction_offsets(machine, code)[0])
    return {"file": str(output), "format": arguments.format, "instructions": count, "bytes": len(code)}


def show(answer: dict[str, Any]) -> None:
    rows = [["instructions", number(answer["instructions"])], ["words", number(answer["bytes"], "B")]]
    print_table(f"Assembled to {answer['file']}", ["what", "value"], rows)
