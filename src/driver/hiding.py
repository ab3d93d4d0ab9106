"""How much more of a resource hides what layers wait for: the least of a few factors, each compiled again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..backends.simulator.layers import unit_nodes
from ..backends.simulator.waiting import MOST, WORTH, main_wait
from ..machine import Machine
from ..machine.changes import attribute, scaled
from .trials import Trials

LESS = (1.25, 1.5)
"""Factors below the first that are tried where that hides a wait."""

LEFT = 0.1
"""A wait of which at most this share is left is hidden, or other layers wait instead."""

GAIN = 0.5
"""It is hidden, if the run is shorter by at least this share of what is gone."""


def hiding(trials: Trials, paths: Sequence[str], factor: float) -> list[list[dict[str, Any]]]:
    """For each layer what hides its longest wait: of each attribute the least factor tried that does.

    Layers are those of `trials.base()`; those that wait for less than 1 % of the run have an empty list.  Attributes
    are those of `paths` that make transfers faster or earlier: bandwidth of memories off chip, room on chip.  `factor`
    is tried first, then less of what hides a wait and twice as much of what does not.  Each row tells `attribute`,
    `factor`, `value`, `size_bytes` (of a memory), what is left of the wait (`wait_cycles`), the `cycles` of the run,
    and what the wait is then: `hidden`, `moved` to other layers in a run that is hardly shorter, or `left`.  Where no
    factor hides it, the row is that of the largest.
    """
    machine, base = trials.point.machine, trials.base()
    units = unit_nodes(machine)
    useful = [path for path in paths if _moves_loads(machine, path)]
    longest = _longest(base, units)
    if not longest:
        return [[] for _ in base["layers"]]
    trials.compute((path, factor) for path in useful)
    rows = {path: [_tried(trials, path, factor, layer, units) for layer in longest.values()] for path in useful}
    trials.compute(_next(rows, factor))
    found: list[list[dict[str, Any]]] = [[] for _ in base["layers"]]
    for place, layer in longest.items():
        for path in useful:
            tried = [_tried(trials, path, own, layer, units) for at, own in sorted(trials.answers) if at == path]
            known = [row for row in tried if row is not None]
            hides = [row for row in known if row["wait"] == "hidden"]
            found[place] += hides[:1] or known[-1:]
    return found


def _moves_loads(machine: Machine, path: str) -> bool:
    owner, _, word = path.rpartition(".")
    memory = next((one for one in machine.memories if one.name == owner), None)
    return memory is not None and word == ("bandwidth" if memory.offchip else "depth")


def _longest(base: Mapping[str, Any], units: Mapping[str, Sequence[str]]) -> dict[int, dict[str, Any]]:
    """The layers that wait longest, by place: at least 1 % of the run, and as many as a report speaks of."""
    waits = {place: main_wait(layer, units) for place, layer in enumerate(base["layers"])}
    cycles = {place: wait.cycles for place, wait in waits.items() if wait is not None}
    worth = [place for place in cycles if cycles[place] >= WORTH * base["cycles"]]
    return {place: base["layers"][place] for place in sorted(worth, key=lambda place: -cycles[place])[:MOST]}


def _next(rows: Mapping[str, Sequence[Mapping[str, Any] | None]], factor: float) -> Iterator[tuple[str, float]]:
    """What is to be tried after `factor`."""
    for path, own in rows.items():
        waits = {row["wait"] for row in own if row is not None}
        if "hidden" in waits:
            yield from ((path, less) for less in LESS if less < factor)
        if waits - {"hidden"}:
            yield path, 2 * factor


def _tried(
    trials: Trials, path: str, factor: float, layer: Mapping[str, Any], units: Mapping[str, Sequence[str]]
) -> dict[str, Any] | None:
    """What is left of a layer's wait with more of an attribute; None where its nodes run in another layer then."""
    after = trials.of(path, factor)
    own = [other for other in after.get("layers", ()) if other["nodes"] == layer["nodes"]]
    before = main_wait(layer, units)
    if len(own) != 1 or before is None:
        return None
    other = main_wait(own[0], units)
    left = other.cycles if other is not None and other.for_unit == before.for_unit else 0
    machine = scaled(trials.point.machine, path, factor)
    row = {"attribute": path, "factor": factor, "value": attribute(machine, path)}
    for memory in machine.memories:
        if path == f"{memory.name}.depth":
            row["size_bytes"] = memory.capacity_bytes
    gone, saved = before.cycles - left, trials.base()["cycles"] - after["cycles"]
    wait = "left" if left > LEFT * before.cycles else "hidden" if saved >= GAIN * gone else "moved"
    return {**row, "wait_cycles": left, "cycles": after["cycles"], "wait": wait}
