"""Objective `noc`: the mapping that takes fewest cycles on the machine's mesh, flit by flit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...costs.bounds import bounds_of
from ...costs.hierarchy import Architecture, Problem
from ...costs.model import evaluate_with
from ...costs.noc import MeshRun, make_program, mesh_level, run_program
from ...errors import TilewrightError
from .registry import find_mapper
from .values import Mapped, Objective, Request

OBJECTIVES: tuple[Objective, ...] = ("latency", "edp", "energy")
"""What the mapper makes small to find candidates."""


def with_bandwidth(arch: Architecture) -> Architecture:
    """The machine whose network below the mesh's buffer carries what one link of the mesh does."""
    index = mesh_level(arch)
    level = arch.levels[index]
    link = level.mesh_flit_bits / level.word_bits
    rate = link if level.network_bandwidth is None else min(link, level.network_bandwidth)
    levels = (*arch.levels[:index], replace(level, network_bandwidth=rate), *arch.levels[index + 1 :])
    return replace(arch, levels=levels)


def map_on_mesh(arch: Architecture, problem: Problem, mapper: str, request: Request) -> Mapped:
    """The best of what a mapper finds for several objectives, with and without a link's bandwidth, all run on the mesh.

    `cycles` of the answer are those on the mesh; the bound is that of any mapping, without a mesh.
    """
    best: tuple[MeshRun, Mapped] | None = None
    evaluated, cpu_s, failed = 0, 0.0, None
    for found in _candidates(arch, problem, mapper, request):
        evaluated, cpu_s = evaluated + found.evaluated, cpu_s + found.cpu_s
        try:
            run = run_program(arch, make_program(arch, problem, found.mapping))
        except TilewrightError as error:
            failed = error
            continue
        if best is None or run.cycles < best[0].cycles:
            best = run, found
    if best is None:
        raise failed or TilewrightError("noc", problem.name, "a mapping to run on the mesh", "none")
    run, found = best
    prices = evaluate_with(request.model, arch, problem, found.mapping)
    bound = float(bounds_of(arch, problem).cycles)
    figures = {"edp": prices.edp_j_cycle, "energy": prices.energy_pj, "cycles": run.cycles}
    return replace(found, **figures, lower_bound=bound, proven=False, evaluated=evaluated, cpu_s=cpu_s)


def _candidates(arch: Architecture, problem: Problem, mapper: str, request: Request) -> Iterator[Mapped]:
    objectives = OBJECTIVES[:1] if mapper == "cosa" else OBJECTIVES  # whose program knows no prices
    machines = (arch,) if mapper == "cosa" else (with_bandwidth(arch), arch)
    limit = request.time_limit_s
    share = None if limit is None else limit / (len(objectives) * len(machines))
    for machine in machines:
        for objective in objectives:
            asked = replace(request, objective=objective, time_limit_s=share)
            yield find_mapper(mapper)(machine, problem, asked)
