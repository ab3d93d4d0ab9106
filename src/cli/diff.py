"""Tell what two compiled networks, runs or plans differ in: totals, target, and layers, most changed first.

A and B are folders that `compile` wrote, or files with what `run`, `report`, `partition`, `explore`, `schedule` or
`map` printed with `--json`.  Of partitions groups are compared, of mappings memories.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ..errors import TilewrightError
from .tables import energy, more, number, print_table

MOST_ROWS = 40
"""Rows of a table that are printed at most."""

SIDES = "A", "B", "change"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", type=Path, nargs=2, metavar="A B", help="compiled folders, or files with answers of runs or plans"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..backends.report.difference import difference
    from ..backends.report.page.pages import write_changes

    (a, attributes_a), (b, attributes_b) = (_read(path) for path in arguments.files)
    known = (attributes_a, attributes_b) if attributes_a and attributes_b else ({}, {})
    names = {"a": str(arguments.files[0]), "b": str(arguments.files[1])}
    answer = {**names, **difference(a, b, known)}
    if arguments.html is not None:
        write_changes(arguments.html, answer)
        answer["file"] = str(arguments.html)
    return answer


def _read(path: Path) -> tuple[Mapping[str, Any], Mapping[str, float]]:
    """The answer about a compiled folder, with its target's attributes, or the answer in a file."""
    if path.is_dir():
        from ..backends.program import load_program
        from ..backends.report.page.summary import summary
        from ..backends.simulator import simulate
        from ..machine.changes import attributes_of

        program = load_program(path)
        result = simulate(program, functional=False, checks=False)
        return summary(program, result, program.title), attributes_of(program.machine)
    from ..backends.report.difference import is_plan, plan_answer

    expected = "a folder that `compile` wrote, or the answer of `run --json` or of a plan"
    try:
        answer = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(answer, dict) and is_plan(cast(dict[str, Any], answer)):
            answer = plan_answer(cast(dict[str, Any], answer))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        raise TilewrightError("parse", str(path), expected, str(error)[:200]) from error
    if not isinstance(answer, dict) or not _is_answer(cast(dict[str, Any], answer)):
        raise TilewrightError("parse", str(path), expected, "other JSON")
    return cast(dict[str, Any], answer), {}


def _is_answer(answer: dict[str, Any]) -> bool:
    """Whether it has layers with the figures that are compared."""
    from ..backends.report.difference import LAYER_NUMBERS, LAYER_WORDS

    layers = answer.get("layers")
    if not isinstance(layers, list):
        return False
    kinds: dict[str, Any] = {"name": str, "nodes": list, **dict.fromkeys(LAYER_WORDS, str)}
    kinds |= dict.fromkeys(LAYER_NUMBERS, (int, float))
    return all(
        isinstance(layer, dict) and all(isinstance(cast(Any, layer).get(key), kind) for key, kind in kinds.items())
        for layer in cast(list[Any], layers)
    )


def show(answer: dict[str, Any]) -> None:
    print_table(f"{answer['a']} and {answer['b']}", ["what", *SIDES], [_row(change) for change in answer["totals"]])
    if answer["target"]:
        _show_first("Target", ["attribute", *SIDES], [_row(change) for change in answer["target"]])
    if answer["changed"]:
        rows = [[change["layer"], *_row(change)] for change in answer["changed"]]
        _show_first("Layers", ["layer", "what", *SIDES], rows)
    else:
        print("The layers are the same.")
    if "file" in answer:
        print(f"page in {answer['file']}")


def _show_first(title: str, names: list[str], rows: list[list[str]]) -> None:
    few = f" (the first {MOST_ROWS} of {len(rows)} changes; all with --json)" if len(rows) > MOST_ROWS else ""
    print_table(title + few, names, rows[:MOST_ROWS])


def _row(change: Mapping[str, Any]) -> list[str]:
    key = change["key"]
    return [key, _text(key, change["a"]), _text(key, change["b"]), _more(change)]


def _text(key: str, value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, str | bool):
        return str(value)
    if key.endswith("energy_pj"):
        return energy(value)
    return number(value, "B" if key.endswith("bytes") else "")


def _more(change: Mapping[str, Any]) -> str:
    """The change of a number in per cent of what it was."""
    a, b = change["a"], change["b"]
    if not isinstance(a, int | float) or not isinstance(b, int | float) or isinstance(a, bool) or not a:
        return ""
    return more(b / a - 1)
