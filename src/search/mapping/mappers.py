"""All mappers by name, and mapping one problem or many with any of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ...costs.bounds import bounds_of
from ...costs.hierarchy import Architecture, LevelMapping, Loop, LoopMapping, Problem
from ...costs.model import evaluate_with, violations_with
from ...errors import InfeasibleError, TilewrightError
from ...interruption import requested, stop_unless, stoppable
from ..processes import in_processes
from .registry import find_mapper
from .values import Mapped, Request

ROUNDING = 1e-9
"""Relative difference that is no difference."""

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
    check_energies(arch, request)
    check_path(arch, problem)
    check_outermost_room(arch, problem, request.model)
    if request.objective == "dram":
        return _fewest_words(arch, problem, mapper, request)
    if request.objective == "noc":
        from .on_mesh import map_on_mesh

        return map_on_mesh(arch, problem, mapper, request)
    return find_mapper(mapper)(arch, problem, request)


def _fewest_words(arch: Architecture, problem: Problem, mapper: str, request: Request) -> Mapped:
    """The least energy on the machine that counts words."""
    found = find_mapper(mapper)(counting_words(arch), problem, replace(request, objective="energy"))
    prices = evaluate_with(request.model, arch, problem, found.mapping)
    bound = found.lower_bound
    if request.model == "exact":
        bound = min(max(bound, bounds_of(arch, problem).dram_words), found.energy)
    proven = found.proven or bound >= found.energy * (1 - ROUNDING)
    answer = replace(found, lower_bound=bound, proven=proven)
    return replace(answer, edp=prices.edp_j_cycle, energy=prices.energy_pj, cycles=prices.cycles)


def counting_words(arch: Architecture) -> Architecture:
    """The machine where a word of the outermost memory takes 1 pJ, and nothing else takes any."""
    free = [replace(level, energy_pj=0.0, write_energy_pj=None, hop_energy_pj=0.0) for level in arch.levels]
    free[-1] = replace(free[-1], energy_pj=1.0, block_size=1)
    return replace(arch, levels=tuple(free), mac_energy_pj=0.0)


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
    check_energies(arch, request)
    for problem in first.values():
        check_path(arch, problem)
        check_outermost_room(arch, problem, request.model)
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
        work = partial(_map_one, arch, mapper, replace(request, report=None))
        in_processes(work, [first[key] for key in todo], jobs, lambda place, mapped: note(todo[place], mapped))
    stop_unless(found)
    return tuple(found.get(key) for key in alike)


def _map_one(arch: Architecture, mapper: str, request: Request, problem: Problem) -> Mapped:
    return map_problem(arch, problem, mapper, request)


def check_energies(arch: Architecture, request: Request) -> None:
    """Where nothing takes energy all mappings are alike to the objectives that count it."""
    if request.objective not in ("edp", "energy"):
        return
    levels = [(level.energy_pj, level.write_energy_pj or 0.0, level.hop_energy_pj) for level in arch.levels]
    if not arch.mac_energy_pj and not any(map(any, levels)):
        subject, expected = f"objective {request.objective} on {arch.name}", "energies of memories or multipliers"
        raise TilewrightError("target", subject, expected, "none", "take objective latency or dram")


def check_path(arch: Architecture, problem: Problem) -> None:
    """Every tensor has a place in the outermost memory, from where it comes and to where it goes."""
    outermost = len(arch.levels) - 1
    held = arch.may_hold(outermost, problem)
    roles = arch.roles(problem)
    for tensor, role, may in zip(problem.tensors, roles, held, strict=True):
        if may:
            continue
        level = arch.levels[outermost]
        subject = f"tensor {tensor.name} of {problem.name} on {arch.name}"
        expected = f"a path from the multiply-accumulators to {level.name} for what is the machine's {role}"
        found = f"{level.name} holds {', '.join(level.holds or ()) or 'nothing'}"
        raise TilewrightError("target", subject, expected, found, f"let {level.name} hold {role}")


def check_outermost_room(arch: Architecture, problem: Problem, model: str) -> None:
    """Raise `InfeasibleError` where the outermost memory, in which all tensors lie, is too small for them."""
    outermost = arch.levels[-1]
    loops = tuple(Loop(d, bound) for d, bound in enumerate(problem.bounds))
    inner = LevelMapping((), (), (), frozenset(tensor.name for tensor in problem.tensors))
    mapping = LoopMapping((*[inner] * (len(arch.levels) - 1), LevelMapping(loops, (), ())))
    for wrong in violations_with(model, arch, problem, mapping):
        if (wrong.level, wrong.resource) == (outermost.name, "capacity"):
            lever = f"enlarge {outermost.name}, or make the problem smaller"
            subject = f"{problem.name} on {arch.name}"
            raise InfeasibleError(outermost.name, wrong.demand, wrong.bound, wrong.unit, lever, subject)
