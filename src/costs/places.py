"""Whether a machine has a place for all tensors of a problem, whatever the mapping."""

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
