"""Words that several commands share: objective, method, effort and output, with the same help and checks."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

from .command_line import UsageError
from .effort import EFFORTS

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
