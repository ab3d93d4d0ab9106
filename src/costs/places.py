"""What a machine needs for a problem, whatever the mapping: places for all tensors, room, and energies."""

from ..errors import InfeasibleError, TilewrightError
from .hierarchy import Architecture, LevelMapping, Loop, LoopMapping, Problem
from .model import violations_with


def check_places(arch: Architecture, problem: Problem, model: str) -> None:
    """Raise where the outermost memory may not hold a tensor (TilewrightError, kind `target`), or is too small for all
    of them (InfeasibleError)."""
    _check_path(arch, problem)
    _check_outermost_room(arch, problem, model)


def _check_path(arch: Architecture, problem: Problem) -> None:
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


def _check_outermost_room(arch: Architecture, problem: Problem, model: str) -> None:
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


def check_energies(arch: Architecture, objective: str) -> None:
    """Where nothing takes energy all mappings are alike to the objectives that count it (TilewrightError, `target`)."""
    levels = [(level.energy_pj, level.write_energy_pj or 0.0, level.hop_energy_pj) for level in arch.levels]
    if objective in ("edp", "energy") and not arch.mac_energy_pj and not any(map(any, levels)):
        subject, expected = f"objective {objective} on {arch.name}", "energies of memories or multipliers"
        raise TilewrightError("target", subject, expected, "none", "take objective latency or dram")


def nothing_fits(arch: Architecture, problem: Problem, mapper: str) -> InfeasibleError:
    """The error of a mapper that found no mapping: the level that cannot hold one element of each of its tensors."""
    subject, needs = f"{problem.name} on {arch.name}", [sum(arch.may_hold(i, problem)) for i in range(len(arch.levels))]
    for level, need in zip(arch.levels, needs, strict=True):
        room = level.capacity_words
        if room is not None and need > room:
            lever = f"give {level.name} room for one word of each tensor that it keeps"
            return InfeasibleError(level.name, need, room, "words", lever, subject)
    level = min(arch.levels, key=lambda found: found.capacity_words or 1 << 62)
    lever = f"mapper {mapper} found no mapping that fits; enlarge {level.name} or take another mapper"
    return InfeasibleError(level.name, needs[0], level.capacity_words or 0, "words", lever, subject)
