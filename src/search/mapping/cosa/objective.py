"""What the program minimises: the paper's section III-D."""

from dataclasses import dataclass
from math import log2

from ....algebra.integer_program import Expression, total
from ....costs.hierarchy import Problem
from .formulation import COLUMNS, ROWS, TEMPORAL, Formulation


@dataclass(frozen=True)
class Weights:
    """`-utilisation * Util + compute * Comp + traffic * Traf` is minimised."""

    utilisation: float = 0.1
    compute: float = 10.0
    traffic: float = 1.0


@dataclass(frozen=True)
class Objectives:
    """The three objectives, in logarithms to the base 2."""

    utilisation: Expression
    compute: Expression
    traffic: Expression


def objectives(form: Formulation) -> Objectives:
    """The three objectives of the paper's equations 5, 6 and 11, as the released code computes them."""
    compute = total(form.log_loops(form.dims, level, TEMPORAL) for level in range(len(form.arch.levels)))
    return Objectives(_utilisation(form), compute, _traffic(form))


def combined(parts: Objectives, weights: Weights) -> Expression:
    """One expression to minimise."""
    return parts.compute * weights.compute + parts.traffic * weights.traffic - parts.utilisation * weights.utilisation


def _iterations(form: Formulation, relevant: list[int]) -> Expression:
    """Loops of the ranked level that move a tensor: all but those inside its innermost relevant one."""
    program, level = form.program, form.ranked
    found = form.log_loops(form.dims, level, TEMPORAL)
    used = {dim: program.variable(1) for dim in relevant}
    for factor in form.factors:
        if factor.dim in used:
            program.at_most(form.at(factor, level, TEMPORAL), used[factor.dim] * factor.count)
    for dim in form.dims:
        if dim in used:
            continue
        free = program.variable(1)
        for other, moves in used.items():
            program.at_most(free, form.inside[dim, other] + moves * -1.0 + 1.0)
        most = log2(form.problem.bounds[dim])
        saved = program.variable(most, integer=False)
        program.at_most(saved, free * most)
        program.at_most(saved, form.log_loops([dim], level, TEMPORAL))
        found.add(saved, -1.0)
    return found


def _utilisation(form: Formulation) -> Expression:
    """Memories below the ranked level; the outermost one that keeps weights counts 1 % more."""
    weights = form.arch.roles(form.problem).index("W") if "W" in form.arch.roles(form.problem) else -1
    found, outermost = Expression(), -1
    for level in range(form.ranked):
        for tensor in range(len(form.problem.tensors)):
            if form.room.kept[level, tensor]:
                found.add(form.log_words(level, tensor))
                outermost = level if tensor == weights else outermost
    if outermost >= 0:
        found.add(form.log_words(outermost, weights), 0.01)
    return found


def _traffic(form: Formulation) -> Expression:
    """Factors deep inside count less, every spatial factor counts for every tensor, and weights 1 % more at DRAM."""
    roles = form.arch.roles(form.problem)
    found = Expression()
    for tensor in range(len(form.problem.tensors)):
        relevant = form.relevant(tensor)
        moved = [dim for dim in relevant if not _is_kernel(form.problem, tensor, dim)]
        for level in range(form.ranked):
            found.add(form.log_loops(moved, level), 0.99 * (0.8 + 0.04 * level))
        if form.ranked >= 0:
            found.add(form.log_loops(form.dims, form.ranked, COLUMNS, ROWS), 0.99)
            found.add(_iterations(form, relevant))
        last = form.log_loops(form.dims, form.ranked + 1, TEMPORAL)
        found.add(last, 1.01 if roles[tensor] == "W" else 1.0)
    return found


def _is_kernel(problem: Problem, tensor: int, dim: int) -> bool:
    """Whether `dim` only shifts a window that an output dimension moves over the tensor."""
    output = {d for t in problem.tensors if t.is_output for row in t.coefficients for d, c in enumerate(row) if c}
    rows = [row for row in problem.tensors[tensor].coefficients if row[dim]]
    return dim not in output and all(any(row[other] for other in output) for row in rows)
