"""What the program minimises: the paper's section III-D."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from ....costs.hierarchy import Problem
from .formulation import COLUMNS, ROWS, TEMPORAL, Formulation
from .program import Expression, total


@dataclass(frozen=True)
class Weights:
    """`-utilisation * Util + compute * Comp + traffic * Traf`, or `|traffic * Traf - compute * Comp|` where `balanced`.

    The balanced objective leaves many ties; the composite one, scaled by `TIE`, breaks them.  `graded` computes the
    three as the released code does: factors deep inside move less data, and traffic counts kernels of sliding windows,
    multicasts and weights a little differently.  The paper has none of these constants.
    """

    utilisation: float = 0.1
    compute: float = 10.0
    traffic: float = 1.0
    balanced: bool = False
    graded: bool = False


PAPER = Weights()
BALANCED = Weights(compute=3.0, balanced=True)
RELEASED = Weights(graded=True)
TIE = 1e-3


@dataclass(frozen=True)
class Objectives:
    """The three objectives, in logarithms to the base 2."""

    utilisation: Expression
    compute: Expression
    traffic: Expression


def objectives(form: Formulation, weights: Weights) -> Objectives:
    """The three objectives of the paper's equations 5, 6 and 11, or those of the released code."""
    levels = range(len(form.arch.levels))
    compute = total(form.log_loops(form.dims, level, TEMPORAL) for level in levels)
    if weights.graded:
        return Objectives(_graded_utilisation(form), compute, _graded_traffic(form))
    return Objectives(_utilisation(form), compute, _traffic(form))


def combined(form: Formulation, parts: Objectives, weights: Weights) -> Expression:
    """One expression to minimise."""
    compute, traffic = parts.compute * weights.compute, parts.traffic * weights.traffic
    composite = compute + traffic - parts.utilisation * weights.utilisation
    if not weights.balanced:
        return composite
    balance = traffic - compute
    distance = form.program.variable(float("inf"), integer=False)
    form.program.at_most(balance, distance)
    form.program.at_most(balance * -1.0, distance)
    return distance + composite * TIE


def _utilisation(form: Formulation) -> Expression:
    """Tiles of all tensors in all memories on chip."""
    return total(
        form.log_words(level, tensor)
        for level in range(form.ranked + 1)
        for tensor in range(len(form.problem.tensors))
        if form.room.kept[level, tensor]
    )


def _traffic(form: Formulation) -> Expression:
    """Words per transfer, transfers to different instances, and iterations outside, for each tensor.

    Iterations over the outermost memory move every tensor.
    """
    found = Expression()
    for tensor in range(len(form.problem.tensors)):
        relevant = form.relevant(tensor)
        if form.ranked > 0:
            found.add(form.log_words(form.ranked - 1, tensor))
        if form.ranked >= 0:
            found.add(form.log_loops(relevant, form.ranked, COLUMNS, ROWS))
            found.add(_iterations(form, relevant))
        found.add(form.log_loops(form.dims, form.ranked + 1, TEMPORAL))
    return found


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


def _graded_utilisation(form: Formulation) -> Expression:
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


def _graded_traffic(form: Formulation) -> Expression:
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
