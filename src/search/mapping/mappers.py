"""All mappers by name, and mapping one problem or many with any of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from ...costs.bounds import bounds_of
from ...costs.hierarchy import Architecture, Problem
from ...costs.model import evaluate_with
from ...costs.places import check_energies, check_places
from ...errors import TilewrightError
from ...interruption import requested, stop_unless, stoppable
from ..processes import in_processes
from .pricing import ROUNDING
from .registry import find_mapper
from .values import Mapped, Objective, Request

ON_MESH: tuple[Objective, ...] = ("latency", "edp", "energy")
"""What the mapper makes small to find candidates."""

Progress = Callable[[int, int], None]
"""Called as `progress(done, total)`."""


def map_problem(arch: Architecture, problem: Problem, mapper: str = "exact", request: Request | None = None) -> Mapped:
    """The best mapping that `mapper` finds.

    Of objective `dram`, words to and from the outermost memory, the answer's bound is in words; of `noc` its cycles are
    those on the machine's mesh.

    Raises `TilewrightError` (kind `target`) where the machine has no place for a tensor, or no energies for an
    objective that counts them, `InfeasibleError` where nothing fits.
    """
    request = request or Request()
    check_energies(arch, request.objective)
    check_places(arch, problem, request.model)
    if request.objective == "dram":
        return _fewest_words(arch, problem, mapper, request)
    if request.objective == "noc":
        return _on_mesh(arch, problem, mapper, request)
    return find_mapper(mapper)(arch, problem, request)


def _fewest_words(arch: Architecture, problem: Problem, mapper: str, request: Request) -> Mapped:
    """The least energy on the machine that counts words."""
    found = find_mapper(mapper)(arch.counting_words(), problem, replace(request, objective="energy"))
    prices = evaluate_with(request.model, arch, problem, found.mapping)
    bound = found.lower_bound
    if request.model == "exact":
        bound = min(max(bound, bounds_of(arch, problem).dram_words), found.energy)
    proven = found.proven or bound >= found.energy * (1 - ROUNDING)
    answer = replace(found, lower_bound=bound, proven=proven)
    return replace(answer, edp=prices.edp_j_cycle, energy=prices.energy_pj, cycles=prices.cycles)


def _on_mesh(arch: Architecture, problem: Problem, mapper: str, request: Request) -> Mapped:
    """The best of what a mapper finds for several objectives, with and without a link's bandwidth, all run on the mesh.

    `cycles` of the answer are those on the mesh; the bound is that of any mapping, without a mesh.
    """
    from ...costs.noc import MeshRun, make_program, run_program, with_link_bandwidth

    machines = (arch,) if mapper == "cosa" else (with_link_bandwidth(arch), arch)
    best: tuple[MeshRun, Mapped] | None = None
    evaluated, cpu_s, failed = 0, 0.0, None
    for found in _candidates(machines, problem, mapper, request):
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


def _candidates(machines: Sequence[Architecture], problem: Problem, mapper: str, request: Request) -> Iterator[Mapped]:
    objectives = ON_MESH[:1] if mapper == "cosa" else ON_MESH  # whose program knows no prices
    limit = request.time_limit_s
    share = None if limit is None else limit / (len(objectives) * len(machines))
    for machine in machines:
        for objective in objectives:
            asked = replace(request, objective=objective, time_limit_s=share)
            yield find_mapper(mapper)(machine, problem, asked)


def map_problems(
    arch: Architecture,
    problems: Sequence[Problem],
    mapper: str = "exact",
    request: Request | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[Mapped | None, ...]:
    """The mappings of many problems in their order; those that differ in nothing but their name are solved once.

    `jobs` processes work side by side; the answers do not depend on how many, as long as no time limit is reached.
    None stands for problems that no mapping was found for before the process was asked to stop.
    """
    request = request or Request()
    alike = [replace(problem, name="") for problem in problems]
    first = {key: problem for key, problem in reversed(list(zip(alike, problems, strict=True)))}
    todo = list(dict.fromkeys(alike))
    check_energies(arch, request.objective)
    for problem in first.values():
        check_places(arch, problem, request.model)
    found: dict[Problem, Mapped] = {}

    def note(key: Problem, mapped: Mapped) -> None:
        found[key] = mapped
        if progress is not None:
            progress(len(found), len(todo))

    if jobs <= 1 or len(todo) <= 1:
        with stoppable():
            for key in todo:
                if not requested():
                    note(key, map_problem(arch, first[key], mapper, request))
    else:
        work = partial(map_problem, arch, mapper=mapper, request=replace(request, report=None))
        in_processes(work, [first[key] for key in todo], jobs, lambda place, mapped: note(todo[place], mapped))
    stop_unless(found)
    return tuple(found.get(key) for key in alike)
