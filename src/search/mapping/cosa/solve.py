"""From a problem to its program, and from the program's answer to a mapping that fits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ....algebra.integer_program import Solution
from ....costs.hierarchy import Architecture, LevelMapping, Loop, LoopMapping, Problem
from ....costs.places import nothing_fits
from ..pricing import Pricer
from ..room import Room
from ..values import Mapped, Request
from .formulation import COLUMNS, ROWS, TEMPORAL, Factor, Formulation, Shares, Weights, objectives

GAP = 1e-6
"""Relative gap within which the program's optimum is proven."""


@dataclass(frozen=True)
class Placed:
    """The program's answer: mapping, its objective and parts (base 2), program size, and whether it is optimal.

    `repaired` counts factors that had to move outwards for the tiles to fit.
    """

    mapping: LoopMapping
    objective: float
    utilisation: float
    compute: float
    traffic: float
    size: tuple[int, int]
    optimal: bool
    repaired: int


def solve(arch: Architecture, problem: Problem, request: Request) -> Mapped:
    """CoSA's mapping of `problem`, priced by the request's model.

    The program knows no prices: the request's objective is ignored, the bound is 0, and nothing is proven about the
    price.  Raises InfeasibleError if no placement fits, or none was found within the time limit.
    """
    pricer = Pricer(arch, problem, request)
    return pricer.answer(place(arch, problem, request).mapping)


def place(
    arch: Architecture,
    problem: Problem,
    request: Request,
    weights: Weights = Weights(),
    shares: Shares | None = None,
    gap: float = GAP,
) -> Placed:
    """Build the program and solve it; `shares` fixes how tensors divide memories by name."""
    room = Room(arch, problem, request.model, request.space)
    form = Formulation(arch, problem, room, request.space, shares or {})
    parts = objectives(form)
    wanted = parts.compute * weights.compute + parts.traffic * weights.traffic - parts.utilisation * weights.utilisation
    solution = form.program.minimise(wanted, request.time_limit_s, gap)
    if solution is None:
        raise nothing_fits(arch, problem, "cosa")
    mapping, repaired = repair(arch, problem, room, _mapping(form, solution))
    at = solution.point
    values = parts.utilisation.value(at), parts.compute.value(at), parts.traffic.value(at)
    return Placed(mapping, solution.objective, *values, form.program.size, solution.optimal, repaired)


def _mapping(form: Formulation, solution: Solution) -> LoopMapping:
    levels: list[LevelMapping] = []
    for level in range(len(form.arch.levels)):
        order = _ranks(form, solution) if level == form.ranked else fixed_order(form.problem)
        loops = {way: _loops(form, solution, level, way, order) for way in (TEMPORAL, COLUMNS, ROWS)}
        away = [t.name for t, kept in zip(form.problem.tensors, form.room.kept[level], strict=True) if not kept]
        levels.append(LevelMapping(loops[TEMPORAL], loops[COLUMNS], loops[ROWS], frozenset(away)))
    return LoopMapping(tuple(levels))


def _loops(form: Formulation, solution: Solution, level: int, way: str, order: Sequence[int]) -> tuple[Loop, ...]:
    def power(factor: Factor) -> int:
        return round(form.at(factor, level, way).value(solution.point))

    bounds = {d: prod(f.prime ** power(f) for f in form.factors if f.dim == d) for d in order}
    return tuple(Loop(d, bound) for d, bound in bounds.items() if bound > 1)


def _ranks(form: Formulation, solution: Solution) -> list[int]:
    """Dimensions from the inner to the outer loop: those with fewer others inside first."""
    others = {d: [form.inside[e, d] for e in form.dims if e != d] for d in form.dims}
    return sorted(form.dims, key=lambda d: sum(round(inside.value(solution.point)) for inside in others[d]))


def fixed_order(problem: Problem) -> list[int]:
    """The order of loops, inner to outer, where the program has no say: kernel, image, reduced, other dimensions.

    For a convolution that is R, S, P, Q, C and the rest, as in the released code.
    """

    def group(dim: int) -> tuple[bool, bool]:
        slides = any(row[dim] and sum(map(bool, row)) > 1 for t in problem.tensors for row in t.coefficients)
        reduced = not any(row[dim] for t in problem.tensors if t.is_output for row in t.coefficients)
        return not slides, not reduced

    return sorted((d for d, bound in enumerate(problem.bounds) if bound > 1), key=group)


def repair(arch: Architecture, problem: Problem, room: Room, mapping: LoopMapping) -> tuple[LoopMapping, int]:
    """Move prime factors from memories that overflow to the outermost one until all tiles fit; and how many.

    Raises InfeasibleError if a memory overflows with nothing left to move.
    """
    moved = 0
    while True:
        tiles = enumerate(mapping.tiles(len(problem.dims)))
        level = next((level for level, (_, tile) in tiles if not room.fits(level, np.array([tile]))[0]), None)
        if level is None:
            return mapping, moved
        found = _without_one(mapping, level)
        if found is None:
            raise nothing_fits(arch, problem, "cosa")
        mapping, moved = found, moved + 1


def _without_one(mapping: LoopMapping, level: int) -> LoopMapping | None:
    """The mapping with the smallest prime of the outermost temporal loop inside `level` moved outwards."""
    levels = list(mapping.levels)
    for inner in range(level, -1, -1):
        loops = levels[inner].temporal
        if not loops:
            continue
        last = loops[-1]
        prime = min(p for p in range(2, last.bound + 1) if last.bound % p == 0)
        rest = (Loop(last.dim, last.bound // prime),) if last.bound > prime else ()
        levels[inner] = replace(levels[inner], temporal=(*loops[:-1], *rest))
        levels[-1] = replace(levels[-1], temporal=_grown(levels[-1].temporal, last.dim, prime))
        return LoopMapping(tuple(levels))
    return None


def _grown(loops: tuple[Loop, ...], dim: int, factor: int) -> tuple[Loop, ...]:
    if all(loop.dim != dim for loop in loops):
        return (*loops, Loop(dim, factor))
    return tuple(Loop(loop.dim, loop.bound * factor) if loop.dim == dim else loop for loop in loops)
