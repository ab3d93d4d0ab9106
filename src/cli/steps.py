"""`--steps` and `--carry`: several steps of a decoder in one program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .command_line import UsageError
from .options import add_count

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..frontends.input_shapes import InputShapes


def add_steps(parser: argparse.ArgumentParser) -> None:
    """`--steps` and `--carry`."""
    group = parser.add_argument_group("several steps of a decoder in one program (docs/onnx.md)")
    add_count(group, "--steps", "repeat an .onnx file so often, each step given what the one before made")
    group.add_argument(
        "--carry",
        action="append",
        default=[],
        metavar="SOURCE=INPUT",
        help="what an input is in the next step: OUTPUT, argmax(OUTPUT), INPUT+1 or INPUT,1 (longer by a 1); may be "
        "repeated (default: by the names that exporters give)",
    )


def module_of_steps(arguments: argparse.Namespace, shapes: InputShapes) -> ModuleOp:
    """The model `--steps` times in a row."""
    from ..errors import TilewrightError
    from ..frontends.onnx import import_onnx
    from ..frontends.onnx.steps import Carry, Steps

    if Path(arguments.model).suffix != ".onnx":
        raise UsageError("usage", "--steps", "an .onnx file", arguments.model, "leave out --steps")
    try:
        steps = Steps(arguments.steps, [Carry.parse(text) for text in arguments.carry])
    except TilewrightError as error:
        raise UsageError(error.kind, error.subject, error.expected, error.found, error.lever) from error
    return import_onnx(Path(arguments.model), shapes=shapes, steps=steps)
