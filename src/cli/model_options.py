"""Options about a model's open extents, which every command that takes a model has."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import MODEL_SUFFIXES
from .command_line import Unused, UsageError
from .options import add_count

if TYPE_CHECKING:
    from ..frontends.input_shapes import InputShapes

SCALAR = "scalar"
TOKENS = "tokens"
"""What `--dim` may name in a network of the zoo."""

MAX_POINTS = 64
"""How many points one command may compile."""


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """`--batch`, `--shape` and `--dim`."""
    group = parser.add_argument_group("what the model leaves open")
    group.add_argument(
        "--batch", type=int, action=Once, metavar="N", help="samples at once (default: 1, or as the file has it)"
    )
    group.add_argument(
        "--shape", action="append", default=[], metavar="NAME=1x3xHxW", help="the shape of an input; may be repeated"
    )
    group.add_argument(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=N",
        help="an extent that the file names; may be repeated; compile takes several (NAME=128,512): a program for each",
    )
    add_count(group, "--tokens", "sequence length of a transformer by name (--dim tokens=N)")


def unused_tokens(arguments: argparse.Namespace, model: str) -> Iterator[Unused]:
    """`--tokens` with another model."""
    from ..zoo.paper_networks import LANGUAGE

    if model.partition(":")[0] not in LANGUAGE:
        yield Unused(("tokens",), "with what is no transformer by name")


class Once(argparse.Action):
    """An option that may be given once."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            raise UsageError("usage", str(option_string), "the option once", "it twice")
        setattr(namespace, self.dest, values)


def model_shapes(arguments: argparse.Namespace, model: str) -> InputShapes:
    """What `add_model_options` was given for `model`; wrong usage where that is no model with names."""
    points = model_points(arguments, model)
    if len(points) > 1:
        raise UsageError("usage", "--dim", "one number for each extent", ", ".join(points), "compile takes several")
    return next(iter(points.values()))


def model_points(arguments: argparse.Namespace, model: str) -> dict[str, InputShapes]:
    """The points that `add_model_options` was given: one for each choice of a number of each `--dim`, by what differs.

    The only point of dims with one number is called "".
    """
    from ..errors import TilewrightError
    from ..frontends.input_shapes import InputShapes

    named = {name: text.split(",") for name, text in _named("--dim", arguments.dim)}
    if prod(map(len, named.values())) > MAX_POINTS:
        raise UsageError("usage", "--dim", f"at most {MAX_POINTS} points", " ".join(arguments.dim))
    try:
        shapes = {name: _extents("--shape", text) for name, text in _named("--shape", arguments.shape)}
        numbers = {name: [_extent("--dim", part, part) for part in parts] for name, parts in named.items()}
        if arguments.tokens is not None:
            numbers[TOKENS] = [arguments.tokens]
        several = [name for name, extents in numbers.items() if len(extents) > 1]
        points: dict[str, InputShapes] = {}
        for extents in product(*numbers.values()):
            dims = dict(zip(numbers, extents, strict=True))
            points[",".join(f"{name}={dims[name]}" for name in several)] = InputShapes(arguments.batch, shapes, dims)
        if not is_model_file(model):
            rest = {name: extents[0] for name, extents in numbers.items() if name != TOKENS or not is_network(model)}
            InputShapes(shapes=shapes, dims=rest).refuse_names(model)
    except TilewrightError as error:
        raise UsageError(error.kind, error.subject, error.expected, error.found, error.lever) from error
    return points


def is_model_file(model: str) -> bool:
    """Whether `model` names a file with inputs, perhaps with a node behind its suffix (`model.onnx:conv1`)."""
    return Path(model).suffix in MODEL_SUFFIXES or any(f"{suffix}:" in model for suffix in MODEL_SUFFIXES)


def is_network(model: str) -> bool:
    """Whether `model` names a network of the zoo, perhaps with its precision (`resnet50:f32`)."""
    from ..zoo.paper_networks import NAMES

    return model.partition(":")[0] in NAMES


def _named(option: str, given: Sequence[str]) -> list[tuple[str, str]]:
    """Names with what stands behind their `=`, each name once."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            example = "NAME=1x3x224x224" if option == "--shape" else "NAME=N"
            raise UsageError("usage", f"{option} {text}", example, repr(text))
        if name in found:
            raise UsageError("usage", f"{option} {name}", "each name once", f"{found[name]} and {value}")
        found[name] = value
    return list(found.items())


def _extents(option: str, text: str) -> tuple[int, ...]:
    return () if text == SCALAR else tuple(_extent(option, part, text) for part in text.lower().split("x"))


def _extent(option: str, part: str, text: str) -> int:
    if not part.isascii() or not part.isdigit() or len(part) > 18:
        expected = "extents such as 1x3x224x224" if option == "--shape" else "a number"
        raise UsageError("usage", option, expected, repr(text))
    return int(part)
