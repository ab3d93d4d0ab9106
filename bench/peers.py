"""Mappings that other mappers found, as values that any cost model here prices.

The files are those of the reference data: `sunstone_results.json`, `cosa_results.json` and the section `mapper` of
`timeloop_ref.json`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from tilewright.costs.hierarchy import (
    Architecture,
    Level,
    LevelMapping,
    Loop,
    LoopMapping,
    Problem,
    Tensor,
    parse_architecture,
    parse_problem,
)
from tilewright.costs.json_fields import read_json
from tilewright.zoo.mapping_layers import convolution
from tilewright.zoo.mapping_layers.tables import ConvShape

COSA_ORDER = "RSPQCKN"
"""Loops from the inner to the outer one where CoSA has no say."""


@dataclass(frozen=True)
class Found:
    """A mapping that `peer` found for `problem` on `machine`, by its layer's name; `claims` are the peer's figures."""

    peer: str
    name: str
    machine: Architecture
    problem: Problem
    mapping: LoopMapping
    claims: dict[str, Any]


def sunstone(path: str | Path) -> list[Found]:
    """All of Sunstone's mappings, on the machines that the file describes, with their energies.

    A memory that is split by tensor becomes one level per tensor.  The bandwidths of `simba_like` are left out:
    Sunstone reads them as those of all instances together and charges bypassed words to them.
    """
    data: Any = read_json(Path(path))
    machines = {name: _sunstone_machine(name, arch) for name, arch in data["archs"].items()}
    found: list[Found] = []
    for entry in data["results"]:
        machine, firsts = machines[entry["arch"]]
        problem = _sunstone_problem(entry)
        mapping = _sunstone_mapping(entry["mapping"], machine, problem, firsts)
        claims = {key: entry[key] for key in ("edp", "energy", "cycles")}
        found.append(Found("Sunstone", entry["workload"], machine, problem, mapping, claims))
    return found


def _sunstone_machine(name: str, arch: Any) -> tuple[Architecture, list[int]]:
    """The machine, and which of its levels is the first of each of Sunstone's."""
    arrays = [(spread["x"], spread["y"], spread["after"]) for spread in arch["spatial"]]
    levels: list[Level] = []
    firsts: list[int] = []
    for i, (memory, bandwidth) in enumerate(zip(arch["levels"], arch["bw"], strict=True)):
        columns = prod(x for x, _, after in arrays if after >= i)
        instances = columns * prod(y for _, y, after in arrays if after >= i)
        firsts.append(len(levels))
        read, write = (None, None) if bandwidth is None or name == "simba_like" else bandwidth
        bare = Level(memory["name"], None, instances, columns, 1, 0.0, read, write)
        levels += _sunstone_levels(memory, bare)
    macs = levels[0].instances
    return Architecture(name, tuple(levels), "MAC", macs, levels[0].mesh_x, arch["mac_energy"]), firsts


def _sunstone_levels(memory: Any, bare: Level) -> list[Level]:
    """Sunstone's order of tensors is I, W, O; an energy per access includes that of the network."""
    extra = memory.get("noc_energy", 0.0)
    size, energy, bypass = memory.get("size"), memory["energy"], memory.get("bypass") or [False] * 3
    if not isinstance(energy, list) and not any(bypass):
        return [replace(bare, entries=size, energy_pj=energy + extra)]
    roles = [role for role, away in zip("IWO", bypass, strict=True) if not away]
    energies = dict(zip("IWO", energy if isinstance(energy, list) else [energy] * 3, strict=True))
    if not isinstance(size, list):
        mean = sum(energies[role] for role in roles) / len(roles)
        return [replace(bare, entries=size, energy_pj=mean + extra, holds=tuple(roles))]
    sizes = dict(zip("IWO", size, strict=True))
    return [
        replace(bare, name=f"{bare.name}{role}", entries=sizes[role], energy_pj=energies[role] + extra, holds=(role,))
        for role in roles
    ]


def _sunstone_problem(entry: Any) -> Problem:
    dims = tuple(entry["bounds"])

    def row(axis: Any) -> tuple[int, ...]:
        terms = axis if isinstance(axis, list) else [axis]
        steps = {term[-1]: int(term[:-1] or 1) for term in terms}
        return tuple(steps.get(dim, 0) for dim in dims)

    descriptions = entry["tens_desc"]
    names = ("I", "W", "O") if len(descriptions) == 3 and len(dims) == 7 else "ABCDEFG"
    tensors = tuple(
        Tensor(names[i] if i + 1 < len(descriptions) else "O", tuple(map(row, axes)), i + 1 == len(descriptions))
        for i, axes in enumerate(descriptions)
    )
    return Problem(entry["workload"], dims, tuple(entry["bounds"].values()), tensors)


def _sunstone_mapping(levels: Any, machine: Architecture, problem: Problem, firsts: list[int]) -> LoopMapping:
    """Sunstone's level `i` has the loops of our first level of it; its spread stands below the next one.

    Which of its two axes are columns is left open there, so they are swapped if only that fits.
    """
    found = [_bypassing(machine, problem, level) for level in range(len(machine.levels))]
    for i, level in enumerate(levels):
        own = firsts[i]
        order = level["perm"] or "".join(problem.dims)
        found[own] = replace(found[own], temporal=_loops(level["temporal"], order, problem))
        if level.get("spatial_x"):
            outer = firsts[i + 1]
            x, y = (_loops(level[f"spatial_{axis}"], "".join(problem.dims), problem) for axis in "xy")
            columns, rows = machine.fan_out(outer)
            if prod(loop.bound for loop in x) > columns or prod(loop.bound for loop in y) > rows:
                x, y = y, x
            found[outer] = replace(found[outer], spatial_x=x, spatial_y=y)
    return LoopMapping(tuple(found))


def _bypassing(machine: Architecture, problem: Problem, level: int) -> LevelMapping:
    held = machine.may_hold(level, problem)
    return LevelMapping(bypass=frozenset(t.name for t, kept in zip(problem.tensors, held, strict=True) if not kept))


def _loops(factors: dict[str, int], order: str, problem: Problem) -> tuple[Loop, ...]:
    return tuple(Loop(problem.dims.index(dim), factors[dim]) for dim in order if factors.get(dim, 1) > 1)


def cosa(path: str | Path, machine: Architecture) -> list[Found]:
    """CoSA's mappings, of both of its versions, on its own machine with arrays of one row (it knows no rows)."""
    data: Any = read_json(Path(path))
    flat = in_one_row(machine)
    found: list[Found] = []
    for name, variants in data["results"].items():
        for variant, entry in variants.items():
            sizes, (across, down) = entry["dims"], entry["stride"]
            shape = ConvShape(*(sizes[dim] for dim in "NKCPQRS"), stride=(across, down))
            problem = convolution(name, shape)
            mapping = _cosa_mapping(entry["mapping"], flat, problem)
            claims = {key: entry[key] for key in ("valid", "compute_cycles")}
            found.append(Found(f"CoSA {variant}", name, flat, problem, mapping, claims))
    return found


def in_one_row(machine: Architecture) -> Architecture:
    """The machine with every array laid out as one row."""
    levels = tuple(replace(level, mesh_x=level.instances) for level in machine.levels)
    return replace(machine, levels=levels, mac_mesh_x=machine.mac_instances)


def _cosa_mapping(levels: Any, machine: Architecture, problem: Problem) -> LoopMapping:
    found: list[LevelMapping] = []
    for i, level in enumerate(levels):
        temporal = _loops(level["temporal"], level.get("perm_inner_to_outer", COSA_ORDER), problem)
        spatial = _loops(level["spatial"], COSA_ORDER, problem)
        found.append(replace(_bypassing(machine, problem, i), temporal=temporal, spatial_x=spatial))
    return LoopMapping(tuple(found))


@dataclass(frozen=True)
class Searched:
    """The best that timeloop-mapper found in about a minute, over all its runs; it stored no mapping."""

    machine: Architecture
    problem: Problem
    edp_j_cycle: float
    cpu_s: float


def timeloop(path: str | Path) -> list[Searched]:
    """timeloop-mapper's best by machine and problem, in Timeloop's model, without bypass."""
    data: Any = read_json(Path(path))
    best: dict[tuple[str, str], Any] = {}
    for run in data["mapper"]:
        key = run["arch"], run["problem"]
        if run.get("found") and run["edp_J_cycle"] < best.get(key, {"edp_J_cycle": float("inf")})["edp_J_cycle"]:
            best[key] = run
    return [
        Searched(
            parse_architecture(data["archs"][arch]),
            parse_problem(data["problems"][problem]),
            run["edp_J_cycle"],
            run["cpu_s"],
        )
        for (arch, problem), run in best.items()
    ]
