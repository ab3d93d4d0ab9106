"""Programs of others in `tilewright run`: a file of words on an image of the memory off chip."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import TilewrightError
from .assemble import FORMATS, format_name
from .command_line import UsageError
from .tables import energy, number, print_table


def add_binary_options(parser: argparse.ArgumentParser) -> None:
    """What a run of a program of others takes."""
    group = parser.add_argument_group("programs of others, instead of MODEL (see `tilewright assemble`)")
    group.add_argument("--binary", type=Path, metavar="FILE", help="a program: bytes, or lines of bits, hex or decimal")
    group.add_argument(
        "--image",
        type=Path,
        metavar="FILE",
        help="the memory off chip: bytes, or an .npz of arrays named [NAME@]ADDRESS",
    )
    group.add_argument(
        "--read",
        action="append",
        metavar="NAME=ADDRESS:TYPE:SHAPE",
        help="an output, as y=0x400:int32:12x64 (may be repeated)",
    )
    group.add_argument("--format", metavar=FORMATS, default="", help="how FILE holds words (default: by content)")


def is_binary_run(arguments: argparse.Namespace) -> bool:
    """Whether a program of others is to run; `UsageError` for arguments that do not go together."""
    if arguments.binary is None:
        if arguments.model is None:
            raise UsageError("usage", "tilewright run", "MODEL or --binary FILE", "neither")
        return False
    if arguments.model is not None:
        raise UsageError("usage", "tilewright run", "MODEL or --binary FILE", "both")
    if arguments.image is None:
        raise UsageError("usage", "--binary", "--image FILE, the memory that the program reads", "none")
    return True


def execute_binary(arguments: argparse.Namespace) -> dict[str, Any]:
    """Runs the program."""
    from ..driver.binaries import run_binary
    from ..frontends.acg import load_target

    machine = load_target(arguments.target)
    folder = arguments.output or Path("out") / arguments.binary.stem
    ranges, name = arguments.read or [], format_name(arguments.format)
    try:
        return run_binary(arguments.binary, machine, arguments.image, ranges, folder, name, not arguments.no_trace)
    except TilewrightError as error:
        if error.kind != "usage":
            raise
        raise UsageError("usage", error.subject, error.expected, error.found) from None


def show_binary(answer: dict[str, Any]) -> None:
    """The run as a whole."""
    rows = [
        ["latency", number(answer["cycles"], "cycles")],
        ["energy", energy(answer["energy_pj"])],
        ["DRAM traffic", number(answer["dram_bytes"], "B")],
        ["instructions", number(answer["instructions"])],
        ["program's format", answer["format"]],
        ["memory after the run", answer["image"]],
        ["outputs", answer["outputs"]],
        *([["trace", answer["trace"]]] if answer["trace"] else []),
        ["CPU time", f"{answer['cpu_s']:.1f} s"],
    ]
    print_table("Run", ["what", "value"], rows)
