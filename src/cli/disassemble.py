"""Print the assembly text of a program for a target with instructions (docs/programs.md)."""

import argparse
from pathlib import Path
from typing import Any

from .assemble import FORMATS, format_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a program: bytes, or lines of bits, hex or decimal")
    parser.add_argument("--target", required=True, metavar="T", help="target name or .acg file")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="file to write (default: print)")
    parser.add_argument("--format", metavar=FORMATS, default="", help="how FILE holds words (default: by content)")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..driver.binaries import disassemble_file
    from ..frontends.acg import load_target

    name = format_name(arguments.format)
    binary, text = disassemble_file(arguments.file, load_target(arguments.target), name)
    answer = {"format": binary.format_name, "instructions": text.count("\n"), "bytes": len(binary.code)}
    if arguments.output is None:
        return {**answer, "file": None, "text": text}
    arguments.output.write_text(text, encoding="utf-8")
    return {**answer, "file": str(arguments.output)}


def show(answer: dict[str, Any]) -> None:
    if answer["file"] is None:
        print(answer["text"], end="")
    else:
        print(f"{answer['instructions']} instructions in {answer['file']}")
