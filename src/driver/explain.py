"""What binds a compiled network: its resources doubled, one by one, and the network compiled again for each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..backends.program import Program, load_program
from ..backends.simulator import simulate
from ..backends.simulator.layers import unit_nodes
from ..backends.simulator.waiting import MOST, WORTH, main_wait, waits_by_layer
from ..errors import TilewrightError
from ..frontends.input_shapes import InputShapes
from ..machine import Machine
from ..machine.changes import attribute, resources_of, scaled
from ..search.processes import in_processes
from .models import Progress
from .pipelines import CompileOptions
from .points import Point, evaluate

AS_IT_IS = ("", 1.0)
"""The machine of the point itself."""


def layers_with_waits(program: Program) -> list[dict[str, Any]]:
    """The predicted figures of each layer, and its `waits` (`waiting.layer_waits`)."""
    found = waits_by_layer(program, simulate(program, functional=False, checks=False))
    return [{**layer.as_dict(), "waits": own} for layer, own in zip(program.layers, found, strict=True)]


@dataclass
class Trials:
    """Answers of `evaluate` with waits, by attribute and by how many times it is taken.

    A machine that cannot be, or has no program, is an answer with `error`.
    """

    point: Point
    jobs: int = 1
    progress: Progress | None = None
    answers: dict[tuple[str, float], dict[str, Any]] = field(default_factory=dict[tuple[str, float], dict[str, Any]])

    def compute(self, pairs: Iterable[tuple[str, float]]) -> None:
        """Compile for each attribute, with so much of it, what was not compiled yet."""
        missing: list[tuple[str, float]] = []
        points: list[Point] = []
        for pair in dict.fromkeys(pairs):
            if pair not in self.answers:
                missing.append(pair)
                machine = self.point.machine if pair == AS_IT_IS else scaled(self.point.machine, *pair)
                points.append(replace(self.point, machine=machine))
        total = len(self.answers) + len(missing)

        def note(place: int, answer: dict[str, Any]) -> None:
            path, factor = missing[place]
            self.answers[path, factor] = answer
            if self.progress is not None:
                told = f"compile with {path} x {factor:g}" if path else "compile again"
                self.progress(told, len(self.answers), total)

        work = partial(evaluate, layers_of=layers_with_waits)
        if self.jobs > 1:
            in_processes(work, points, self.jobs, note)
        else:
            for place, one in enumerate(points):
                note(place, work(one))

    def base(self) -> dict[str, Any]:
        """The answer for the machine as it is; raises its error."""
        self.compute([AS_IT_IS])
        answer = self.answers[AS_IT_IS]
        if "error" in answer:
            raise TilewrightError(**answer["error"])
        return answer


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
    memory = machine.memory_by_name.get(owner)
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
    after = trials.answers[path, factor]
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


LITTLE = 0.01
"""Compute nodes that are busy for less of the run are not doubled, unless asked for."""


def explain(
    folder: Path, resources: Sequence[str] = (), *, factor: float = 2.0, jobs: int = 1, progress: Progress | None = None
) -> dict[str, Any]:
    """The answer of `tilewright explain`: `levers` of the whole, and `layers` with those of each.

    A lever is an attribute of the target times `factor`, and what the network takes then; `error` where no program fits
    such a machine.  `hiding` of a layer that waits tells how much more hides that (`hiding`).  What the folder
    was compiled from is compiled again, so it must still be there.
    """
    program = load_program(folder)
    trials = Trials(point_of(program, folder), jobs, progress)
    used = tuple(resources) or _used(program)
    trials.compute([AS_IT_IS, *((path, factor) for path in used)])
    before, found = trials.base(), [trials.answers[path, factor] for path in used]
    levers = [_lever(program.machine, before, path, factor, after) for path, after in zip(used, found, strict=True)]
    hidden = hiding(trials, used, factor)
    layers = [
        {**_layer(layer, used, factor, found), "waits": layer["waits"], "hiding": own}
        for layer, own in zip(before["layers"], hidden, strict=True)
    ]
    whole = {key: value for key, value in before.items() if key not in ("layers", "cpu_s")}
    cpu_s = sum(answer["cpu_s"] for answer in trials.answers.values())
    same = before["cycles"] == program.predicted.get("cycles")
    return {
        **whole,
        "as_compiled": same,
        "refused": list(program.refused),
        "levers": levers,
        "layers": layers,
        "cpu_s": cpu_s,
    }


def point_of(program: Program, folder: Path) -> Point:
    """What a folder was compiled from; `TilewrightError` (kind `program`) where that has no name."""
    origin = program.origin
    if "model" not in origin:
        lever = "compile a file, einsum text or a network by name"
        raise TilewrightError("program", str(folder), "a model that can be compiled again", "one without a name", lever)
    shapes = origin["shapes"]
    given = {name: tuple(shape) for name, shape in shapes["shapes"].items()}
    options = CompileOptions(**origin["options"])
    return Point(origin["model"], program.machine, InputShapes(shapes["batch"], given, shapes["dims"]), options)


def _used(program: Program) -> tuple[str, ...]:
    """The machine's resources, but for compute nodes that hardly work."""
    result = simulate(program, functional=False, checks=False)
    idle = {name for name, count in result.counts.computes.items() if count.busy_cycles < LITTLE * result.cycles}
    return tuple(path for path in resources_of(program.machine) if path.rpartition(".")[0] not in idle)


def _lever(
    machine: Machine, before: Mapping[str, Any], path: str, factor: float, after: Mapping[str, Any]
) -> dict[str, Any]:
    value = attribute(machine, path)
    told = {"attribute": path, "factor": factor, "value": value}
    if "error" in after:
        return {**told, "error": after["error"]}
    keys = ("cycles", "energy_pj", "dram_bytes", "lower_bound", "gap", "bound_by")
    return {
        **told,
        **{key: after[key] for key in keys if key in after},
        "faster": before["cycles"] / after["cycles"] - 1,
    }


def _layer(
    layer: Mapping[str, Any], paths: Sequence[str], factor: float, found: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """A layer with its cycles under each lever; None where its nodes run in another layer then."""
    levers: list[dict[str, Any]] = []
    for path, after in zip(paths, found, strict=True):
        if "error" not in after:
            own = [other["cycles"] for other in after["layers"] if other["nodes"] == layer["nodes"]]
            levers.append({"attribute": path, "factor": factor, "cycles": sum(own) if own else None})
    keys = ("name", "nodes", "group", "cycles", "bound_by", "busy_cycles", "utilization")
    return {**{key: layer[key] for key in keys}, "levers": levers}
