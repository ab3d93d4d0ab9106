"""Timeloop's files: problem, architecture, energies and mapping, each in a file of its own or together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ...costs.hierarchy import Architecture, LoopMapping, Problem
from ...errors import TilewrightError
from .architecture import architecture_of_item
from .components import components_of, hollow_levels
from .document import Item, parse_yaml, read_yaml
from .energies import Energies, energies_of
from .mapping import mapping_of
from .problem import problem_of

ARCHITECTURES = ("architecture", "arch")
CONSTRAINTS = ("architecture_constraints", "arch_constraints", "mapspace_constraints")


@dataclass(frozen=True)
class TimeloopInput:
    """What the files said; None for what they did not."""

    problem: Problem | None
    architecture: Architecture | None
    mapping: LoopMapping | None


def load_timeloop(*paths: str | Path, machine: Architecture | None = None) -> TimeloopInput:
    """The input in files that `timeloop-model` would take together, on `machine` rather than theirs if one is given.

    Raises `TilewrightError` (kind `parse`, or `unsupported` for what these values cannot say) at a file and line.
    """
    return _read([read_yaml(Path(path)) for path in paths], machine)


def parse_timeloop(*texts: str, machine: Architecture | None = None) -> TimeloopInput:
    """`load_timeloop` on the content of files."""
    return _read([parse_yaml(text, f"yaml {number}") for number, text in enumerate(texts, 1)], machine)


def load_problem(path: str | Path) -> Problem:
    """The problem in a file; `TilewrightError` if there is none."""
    problem = load_timeloop(path).problem
    if problem is None:
        raise TilewrightError("parse", str(path), "a Timeloop problem", "no key `problem`")
    return problem


def load_architecture(*paths: str | Path) -> Architecture:
    """The machine in files; `TilewrightError` if there is none."""
    machine = load_timeloop(*paths).architecture
    if machine is None:
        expected = f"a Timeloop {' or '.join(ARCHITECTURES)}"
        raise TilewrightError("parse", str(paths[0]) if paths else "no file", expected, "no such key")
    return machine


def _read(documents: list[Item], machine: Architecture | None) -> TimeloopInput:
    found: dict[str, Item] = {}
    for document in documents:
        for key, item in document.mapping("a Timeloop file").items():
            if key in found:
                raise item.error(f"one {key}", f"a second one after {found[key].where}")
            found[key] = item
    problem = problem_of(found["problem"]) if "problem" in found else None
    item = next((found[key] for key in ARCHITECTURES if key in found), None)
    if machine is None and item is not None:
        energies: Energies = energies_of(found["ERT"]) if "ERT" in found else {}
        directives = [item for key in CONSTRAINTS if key in found for item in _directives(found[key])]
        machine = architecture_of_item(item, energies, problem, directives)
    if "mapping" not in found or problem is None or machine is None:
        return TimeloopInput(problem, machine, None)
    hollow = hollow_levels(components_of(item)) if item is not None else {}
    return TimeloopInput(problem, machine, mapping_of(found["mapping"], machine, problem, hollow))


def _directives(item: Item) -> Iterable[Item]:
    """Constraints are a list, or a list under `targets` or `constraints`."""
    if isinstance(item.value, dict):
        inner = item.find("constraints", "targets", "constraints")
        return inner.items("constraints") if inner is not None else ()
    return item.items("constraints")
