"""Words that several commands share, with the same help: objective, method, effort, output, extents of a model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, isnan, nan, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import MODEL_SUFFIXES
from ..targets import DEFAULT_TARGET
from .command_line import Unused, UsageError
from .effort import EFFORTS

if TYPE_CHECKING:
    from ..frontends.input_shapes import InputShapes


MOST = (1 << 63) - 1
"""Whole numbers that options take are at most this."""

Group = argparse._ActionsContainer  # pyright: ignore[reportPrivateUsage]  # a parser, or a group of its options


@dataclass(frozen=True)
class Number:
    """What an option takes: a whole number or a float from `least` (`above`: more than it) to `most`."""

    option: str
    kind: type[int | float] = int
    least: int = 1
    most: float = inf
    above: bool = False

    def __call__(self, text: str) -> float:
        try:
            value = self.kind(text)
        except ValueError:
            value = nan
        most = min(self.most, MOST) if self.kind is int else self.most
        if isnan(value) or not self.least <= value <= most or (self.above and value == self.least):
            raise UsageError("usage", self.option, self._expected(), short(text), "give such a number")
        return value

    def _expected(self) -> str:
        least = f"more than {self.least}" if self.above else f"at least {self.least}"
        most = f" and at most {self.most:g}" if self.most < 1e18 else ""
        return least + most + (", a whole number" if self.kind is int else "")


WRITTEN = ".svg", ".mlir"
"""Files of `--output`: a picture, or IR."""


def check_written(path: Path | None) -> None:
    """Raise `UsageError` for a file of `--output` of another kind than `WRITTEN`."""
    if path is not None and path.suffix not in WRITTEN:
        raise UsageError("usage", "--output", f"a {' or '.join(WRITTEN)} file", short(str(path)), "name it so")


def short(text: str, limit: int = 60) -> str:
    """What the user wrote, in quotes, cut where it is long."""
    return f"'{text}'" if len(text) <= limit else f"'{text[:limit]}...'"


def add_count(group: Group, option: str, help: str, *, default: int | None = None, metavar: str = "N") -> None:
    """An option that takes a whole number of at least 1."""
    group.add_argument(option, type=Number(option), default=default, metavar=metavar, help=help)


def add_tiles(group: Group, rows: int | None) -> None:
    """`--tile-rows` and `--tile-columns`; `rows` is the default of the first."""
    told = (
        f"rows of a tile at most (default: {rows})" if rows else "price groups as `run --partition` runs them, by rows"
    )
    add_count(group, "--tile-rows", told, default=rows)
    check = Number("--tile-columns", least=0)
    told = "columns of a tile at most, where full rows do not fit (default: all)"
    group.add_argument("--tile-columns", type=check, default=0, metavar="N", help=told)


def add_alias(group: Group, old: str, new: str, **settings: Any) -> None:
    """An older word for an option, that help does not tell."""
    dest = new.removeprefix("--").replace("-", "_")
    group.add_argument(old, dest=dest, default=argparse.SUPPRESS, help=argparse.SUPPRESS, **settings)


def add_types(group: Group, default: str) -> None:
    """`--types`: element types of an einsum's tensors."""
    told = f"element types of an einsum's tensors (default: {default})"
    group.add_argument("--types", metavar="I=i8,W=i8,O=i32", help=told)


def element_types(text: str | None) -> dict[str, str] | None:
    """What `--types` says, by tensor."""
    from ..algebra.element import ELEMENT_TYPES

    if text is None:
        return None
    found: dict[str, str] = {}
    for part in text.replace(",", " ").split():
        tensor, _, name = part.partition("=")
        if name not in ELEMENT_TYPES:
            raise UsageError("usage", f"--types {part}", f"TENSOR=TYPE with a type of {', '.join(ELEMENT_TYPES)}", part)
        found[tensor] = name
    return found


def add_objective(group: Group, choices: Sequence[str], default: str, old: str = "") -> None:
    """`--objective`: what is made small.  `dram` is bytes or words to and from the off-chip memory."""
    words = {
        "edp": "energy times delay",
        "energy": "energy",
        "latency": "cycles",
        "dram": "what moves to and from off-chip memory",
        "noc": "cycles on the machine's mesh, flit by flit",
    }
    told = "; ".join(f"{choice}: {words[choice]}" for choice in choices if choice != words[choice])
    also = ("ema",) if old == "--metric" else ()
    taken: dict[str, Any] = {"choices": [*choices, *also], "metavar": "{" + ",".join(choices) + "}"}
    group.add_argument("--objective", default=default, help=f"what is made small: {told} (default: {default})", **taken)
    if old:
        add_alias(group, old, "--objective", **taken)


def add_effort(
    group: Group, limit: str = "", *, gap: str = "", jobs: str = "", seed: str = "of random choices"
) -> None:
    """`--effort`, `--time-limit`, `--gap` and `--seed`, and `--jobs` where its help is given.

    `gap` says what the default of `--gap` is, which is then None in the arguments; else it is 0.
    """
    words = "; ".join(f"{word}: --gap {e.gap:g} --time-limit {e.time_limit:g}" for word, e in EFFORTS.items())
    told = f"{words}, where they are not given"
    group.add_argument("--effort", choices=list(EFFORTS), help=told)
    group.add_argument(
        "--time-limit",
        type=Number("--time-limit", float, 0, above=True),
        metavar="SECONDS",
        help=f"end the search after so many CPU seconds{limit}; the best so far is answered",
    )
    told = f"end the search where its best is at most this far above the bound, 0.01 for 1 %% (default: {gap or 0})"
    default = None if gap else 0.0
    group.add_argument("--gap", type=Number("--gap", float, 0, 1e9), default=default, metavar="G", help=told)
    group.add_argument("--seed", type=Number("--seed", least=0), default=0, metavar="N", help=f"{seed} (default: 0)")
    if jobs:
        add_count(group, "--jobs", f"{jobs} (default: 1)", default=1)


SCALAR = "scalar"
TOKENS = "tokens"
"""What `--dim` may name in a network of the zoo."""

MAX_POINTS = 64
"""How many points one command may compile."""


def add_target(group: Group, default: str = DEFAULT_TARGET) -> None:
    """`--target`."""
    group.add_argument("--target", default=default, metavar="T", help=f"target name or .acg file (default: {default})")


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


def unused_for_kernel(model: str) -> Iterator[Unused]:
    """Options of `add_model_options` with einsum text."""
    from ..frontends.einsum import is_kernel

    if is_kernel(model):
        yield Unused(("batch", "shape", "dim", "tokens"), "with einsum text, whose bounds say everything")


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
