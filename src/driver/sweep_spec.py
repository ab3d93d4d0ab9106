"""What a study computes: the points that a file `SPEC.toml` asks for (see docs/sweep.md)."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any, cast

from ..algebra.expr import Expr, free_names
from ..algebra.formula import evaluate_formula
from ..algebra.parser import parse_expr
from ..errors import TilewrightError
from ..files import file_error
from ..frontends.acg import load_target
from ..frontends.input_shapes import InputShapes
from ..machine import Machine
from ..machine.area import area_of
from ..machine.changes import Value, attribute, changed
from ..targets import DEFAULT_TARGET
from .cost_terms import cost_names
from .pipelines import CompileOptions
from .points import PlanOptions, Point

MOST_POINTS = 100_000
"""Points of a study at most."""

FIGURES = ("cycles", "energy_pj", "dram_bytes")
"""What every point answers with, beside the formulas of the study."""

AREA = "area_mm2"
"""What a point whose target says areas (`machine.area`) has, too."""

KEYS = {
    "target": str,
    "networks": list,
    "batches": list,
    "samples": int,
    "search": int,
    "seed": int,
    "objectives": list,
    "attributes": dict,
    "machines": list,
    "within": dict,
    "formulas": dict,
    "command": str,
    "options": dict,
}


Row = Mapping[str, Any]
"""What is known of a point before it is computed."""

WORDS: dict[type, str] = {str: "text", list: "a list", int: "a whole number", dict: "a table"}


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both ends with them."""

    low: float
    high: float


@dataclass(frozen=True)
class Study:
    """Machines (each by its changed attributes) times networks times batches; `objectives` are made small.

    `formulas` are costs of a machine over its attributes.  With `search` so many machines are chosen by what those
    before came to, not all of the grid.  With `given` machines each is one of these with one of the grid.  Machines
    with a cost outside of its ranges in `within` are left out.
    """

    machine: Machine
    networks: tuple[str, ...]
    attributes: Mapping[str, tuple[Value, ...]]
    batches: tuple[int | None, ...] = (None,)
    samples: int = 0
    search: int = 0
    seed: int = 0
    objectives: tuple[str, ...] = ("cycles", "energy_pj")
    formulas: Mapping[str, Expr] = field(default_factory=dict[str, Expr])
    options: CompileOptions | PlanOptions = field(default_factory=CompileOptions)
    given: tuple[Mapping[str, Value], ...] = ()
    within: Mapping[str, tuple[Range, ...]] = field(default_factory=dict[str, tuple[Range, ...]])

    def costs(self) -> tuple[str, ...]:
        """What a machine costs, whatever runs on it: its area, where the target says one, and the formulas."""
        return (*((AREA,) if area_of(self.machine) is not None else ()), *self.formulas)

    def plugged(self) -> tuple[str, ...]:
        """Objectives that are costs of other packages."""
        return tuple(name for name in self.objectives if name not in (*FIGURES, *self.costs()))

    def machines(self) -> list[dict[str, Value]]:
        """The values of the attributes of each machine: all of the grid, `samples` of it, or those `given` with it."""
        values = list(self.attributes.values())
        size = prod(len(some) for some in values)
        if self.samples and self.samples < size:
            places = sorted(Random(self.seed).sample(range(size), self.samples))
            return [dict(zip(self.attributes, _at(values, place), strict=True)) for place in places]
        grid = [dict(zip(self.attributes, row, strict=True)) for row in product(*values)]
        found = [{**row, **rest} for row in self.given or ({},) for rest in grid]
        return [row for row in found if self._is_within(self.costs_of(self.machine_of(row)))] if self.within else found

    def _is_within(self, costs: Mapping[str, float]) -> bool:
        return all(any(one.low <= costs[name] <= one.high for one in some) for name, some in self.within.items())

    def machine_of(self, values: Mapping[str, Value]) -> Machine:
        """The target with the values of some attributes."""
        machine = self.machine
        for path, value in values.items():
            machine = changed(machine, path, value)
        return machine

    def costs_of(self, machine: Machine) -> dict[str, float]:
        """The `costs` of a machine."""
        costs = {name: evaluate_formula(formula, _names(formula, machine)) for name, formula in self.formulas.items()}
        area = area_of(machine)
        return costs if area is None else {**costs, AREA: area}

    def points(self, machines: Sequence[Mapping[str, Value]]) -> Iterator[tuple[Row, Point]]:
        """The points of some machines in order, each with its row: what tells it apart, and what its machine costs."""
        for values in machines:
            machine = self.machine_of(values)
            costs = self.costs_of(machine)
            for network, batch in product(self.networks, self.batches):
                row = {"network": network, "batch": batch, "attributes": dict(values), **costs}
                yield row, self._point(row, machine)

    def point(self, row: Row) -> Point:
        """The point of a row."""
        return self._point(row, self.machine_of(row["attributes"]))

    def _point(self, row: Row, machine: Machine) -> Point:
        return Point(row["network"], machine, InputShapes(row["batch"]), self.options, self.plugged())


def _at(values: Sequence[Sequence[Value]], place: int) -> list[Value]:
    """The row of a grid at a place, the last attribute first to change."""
    row: list[Value] = []
    for some in reversed(values):
        place, digit = divmod(place, len(some))
        row.append(some[digit])
    return row[::-1]


def _names(formula: Expr, machine: Machine) -> dict[str, Value]:
    return {name: attribute(machine, name) for name in free_names(formula)}


def read_study(path: Path) -> Study:
    """The study in a file; `TilewrightError` (kind `parse` or `target`) for what it cannot be."""
    try:
        spec = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise file_error(error, path) from error
    except (ValueError, RecursionError) as error:
        raise _wrong(path, "", "TOML text", str(error)[:200]) from error
    _check(path, spec)
    attributes = {name: _values(path, name, values) for name, values in spec.get("attributes", {}).items()}
    formulas = {
        name: parse_expr(str(text), f"{path}: {name}", paths=True) for name, text in spec.get("formulas", {}).items()
    }
    study = Study(
        load_target(_beside(path, spec.get("target", DEFAULT_TARGET))),
        tuple(_beside(path, str(name)) for name in spec["networks"]),
        attributes,
        tuple(spec.get("batches", [None])),
        spec.get("samples", 0),
        spec.get("search", 0),
        spec.get("seed", 0),
        tuple(spec.get("objectives", ("cycles", "energy_pj"))),
        formulas,
        _options(path, spec.get("command", "compile"), spec.get("options", {})),
        _machines(path, spec.get("machines", [])),
        {name: _ranges(path, name, ranges) for name, ranges in spec.get("within", {}).items()},
    )
    _check_study(path, study)
    return study


def _wrong(path: Path, key: str, expected: str, found: str, lever: str = "") -> TilewrightError:
    """The error about a key of the file, or about the file."""
    return TilewrightError("parse", f"{path}: {key}" if key else str(path), expected, found, lever)


def _check(path: Path, spec: Mapping[str, Any]) -> None:
    for key, value in spec.items():
        if key not in KEYS:
            raise _wrong(path, key, f"one of {', '.join(KEYS)}", "no such key")
        if not isinstance(value, KEYS[key]) or isinstance(value, bool):
            raise _wrong(path, key, WORDS[KEYS[key]], f"{str(value)[:80]!r}")
    if not spec.get("networks"):
        raise _wrong(path, "networks", "at least one network", "none")
    if not all(isinstance(batch, int) and batch > 0 for batch in spec.get("batches", ())):
        raise _wrong(path, "batches", "whole numbers above 0", str(spec["batches"])[:80])


def _check_study(path: Path, study: Study) -> None:
    size = prod(len(values) for values in study.attributes.values())
    if sum(map(bool, (study.search, study.samples, study.given))) > 1:
        raise _wrong(path, "", "one of `search`, `samples` and `machines`", "several", "leave some out")
    for name in study.given[0] if study.given else ():
        if name in study.attributes:
            raise _wrong(path, name, "`attributes` or `machines`", "both", "an attribute is given once")
    size *= len(study.given) or 1
    size = min(size, study.samples or study.search or size) * len(study.networks) * len(study.batches)
    if size > MOST_POINTS:
        raise TilewrightError(
            "limit", str(path), f"at most {MOST_POINTS} points", f"{size}", "give `samples` or `search`"
        )
    for name in (
        *study.attributes,
        *(study.given[0] if study.given else ()),
        *(name for formula in study.formulas.values() for name in free_names(formula)),
    ):
        attribute(study.machine, name)
    for name in study.within:
        if name not in study.costs():
            raise _wrong(path, "within", f"some of {', '.join(study.costs())}", f"'{name}'")
    if study.within and (study.search or study.samples):
        raise _wrong(path, "within", "all of the grid", "`search` or `samples`", "leave one out")
    if study.within and not study.machines():
        raise _wrong(path, "within", "ranges with machines in them", "no machine", "widen them")
    programs = cost_names() if isinstance(study.options, CompileOptions) else []
    known = (*FIGURES, *study.costs(), *programs)
    for name in study.objectives:
        if name not in known:
            raise _wrong(path, "objectives", f"some of {', '.join(known)}", f"'{name}'")


def _values(path: Path, name: str, values: Any) -> tuple[Value, ...]:
    rows = cast(list[Any], values) if isinstance(values, list) else []
    if not rows or not all(
        isinstance(value, int | float) and not isinstance(value, bool) and value > 0 for value in rows
    ):
        raise _wrong(path, name, "a list of numbers above 0", str(values)[:80])
    return tuple(dict.fromkeys(rows))


def _machines(path: Path, rows: list[Any]) -> tuple[Mapping[str, Value], ...]:
    """The machines that a study lists, each with the same attributes."""
    found: list[Mapping[str, Value]] = []
    for row in rows:
        if not isinstance(row, dict) or (found and set(cast(dict[str, Any], row)) != set(found[0])):
            raise _wrong(path, "machines", "tables of the same attributes", str(row)[:80])
        values = {str(name): _values(path, str(name), [value])[0] for name, value in cast(dict[str, Any], row).items()}
        found.append({name: values[name] for name in (found[0] if found else values)})
    return tuple(found)


def _ranges(path: Path, name: str, values: Any) -> tuple[Range, ...]:
    """The ranges of a cost: pairs of numbers."""
    rows = cast(list[Any], values) if isinstance(values, list) else []
    if not rows or not all(_is_range(row) for row in rows):
        raise _wrong(path, f"within.{name}", "a list of pairs [low, high]", str(values)[:80])
    return tuple(Range(*row) for row in rows)


def _is_range(row: Any) -> bool:
    pair = cast(list[Any], row) if isinstance(row, list) else []
    numbers = [one for one in pair if isinstance(one, int | float) and not isinstance(one, bool)]
    return len(pair) == len(numbers) == 2 and numbers[0] <= numbers[1]


def _beside(path: Path, name: str) -> str:
    """A file's name as seen from the study's folder; other names stay."""
    found = path.parent / name
    return str(found) if Path(name).suffix and found.is_file() else name


OPTIONS = {
    "compile": ("partition", "tile_rows", "tile_columns", "time_limit_s", "gap", "seed", "prove"),
    "partition": ("method", "objective", "time_limit_s", "gap", "seed"),
    "schedule": ("method", "objective", "time_limit_s", "gap", "seed", "rounds"),
}
"""What points are answers of, and the options of each."""


def _options(path: Path, command: str, given: Mapping[str, Any]) -> CompileOptions | PlanOptions:
    if command not in OPTIONS:
        raise _wrong(path, "command", f"one of {', '.join(OPTIONS)}", repr(command))
    for name in given:
        if name not in OPTIONS[command]:
            expected = f"one of {', '.join(OPTIONS[command])}"
            raise _wrong(path, f"options.{name}", expected, "no such option")
    if command != "compile":
        return PlanOptions(command, **given)
    chosen = dict(given)
    if chosen.get("partition") == "none":
        chosen["partition"] = ""
    return CompileOptions(**chosen)
