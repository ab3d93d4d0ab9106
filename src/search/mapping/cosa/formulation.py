"""Where prime factors may go, and what is minimised: variables, constraints and objective (the paper's section III)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import log2, prod

import numpy as np

from ....algebra.factors import divisors_of, primes_of
from ....algebra.integer_program import Expression, Program, total
from ....costs.hierarchy import Architecture, Problem
from ....remembered import remembered
from ..room import Room
from ..values import Space

TEMPORAL, COLUMNS, ROWS = "temporal", "columns", "rows"
SLACK = 1e-9
"""Room for rounding in logarithms."""
MAX_CHOICES = 2048
"""Largest table of tile sizes for one sliding window; beyond it its extent is bounded by a product."""

Shares = Mapping[str, Sequence[float]]
"""Parts of a shared memory's capacity by tensor, for memories by name."""


@dataclass(frozen=True)
class Factor:
    """A prime factor of a dimension's bound, `count` times."""

    dim: int
    prime: int
    count: int


class Formulation:
    """One problem on one machine as a program; `at` counts the factors that are placed at a level in some way.

    The loops of `ranked`, the last level on chip, have an order: `inside[d, e]` is 1 where dimension `d` runs inside
    `e`.  `shares` fixes how tensors divide a memory; where it is silent, the program chooses among even parts.
    """

    def __init__(self, arch: Architecture, problem: Problem, room: Room, space: Space, shares: Shares) -> None:
        self.arch, self.problem, self.room, self.shares = arch, problem, room, shares
        self.program = Program()
        self.factors = [
            Factor(dim, prime, count) for dim, bound in enumerate(problem.bounds) for prime, count in primes_of(bound)
        ]
        self.dims = [dim for dim, bound in enumerate(problem.bounds) if bound > 1]
        self.ranked = len(arch.levels) - 2
        spread = arch.may_spread(problem)
        self._counts = {
            (factor, level, way): self.program.variable(factor.count)
            for factor in self.factors
            for level in range(len(arch.levels))
            for way in self._ways(level)
            if way == TEMPORAL or spread[factor.dim]
        }
        for factor in self.factors:
            self.program.equal(self.within(len(arch.levels) - 1, factor), float(factor.count))
        self._limit_arrays(space)
        for level in range(len(arch.levels) - 1):
            self._limit_capacity(level)
        self.inside = self._order()

    def _ways(self, level: int) -> tuple[str, ...]:
        columns, rows = self.arch.fan_out(level)
        return (TEMPORAL, *((COLUMNS,) if columns > 1 else ()), *((ROWS,) if rows > 1 else ()))

    def at(self, factor: Factor, level: int, *ways: str) -> Expression:
        """How many of `factor` are at `level`, as loops of these kinds (all, if none is given)."""
        found = (self._counts.get((factor, level, way)) for way in ways or (TEMPORAL, COLUMNS, ROWS))
        return total(expression for expression in found if expression is not None)

    def within(self, level: int, factor: Factor) -> Expression:
        """How many of `factor` are in the tile of `level`."""
        return total(self.at(factor, inner) for inner in range(level + 1))

    def log_loops(self, dims: Sequence[int], level: int, *ways: str) -> Expression:
        """The logarithm (base 2) of the product of loops over `dims` at `level`."""
        return total(self.at(f, level, *ways) * log2(f.prime) for f in self.factors if f.dim in dims)

    def log_words(self, level: int, tensor: int) -> Expression:
        """The logarithm of the tensor's tile at `level`, in elements."""
        found = Expression()
        for row in self.problem.tensors[tensor].coefficients:
            terms = tuple(abs(c) if self.problem.bounds[d] > 1 else 0 for d, c in enumerate(row))
            if any(terms):
                found.add(self._log_extent(level, terms))
        return found

    def relevant(self, tensor: int) -> list[int]:
        """Dimensions that index a tensor."""
        rows = self.problem.tensors[tensor].coefficients
        return [dim for dim in self.dims if any(row[dim] for row in rows)]

    @remembered
    def _log_extent(self, level: int, row: tuple[int, ...]) -> Expression:
        dims = [dim for dim, c in enumerate(row) if c]
        plain = total(self.log_loops(dims, inner) for inner in range(level + 1))
        if len(dims) == 1 and (row[dims[0]] == 1 or self.room.model == "exact"):
            return plain
        sizes = [divisors_of(self.problem.bounds[dim]) for dim in dims]
        if prod(map(len, sizes)) > MAX_CHOICES:
            return plain + log2(prod(row[dim] for dim in dims))
        return self._chosen_extent(level, row, dims, list(product(*sizes)))

    def _chosen_extent(
        self, level: int, row: tuple[int, ...], dims: list[int], choices: list[tuple[int, ...]]
    ) -> Expression:
        tiles = np.ones((len(choices), len(row)), np.int64)
        tiles[:, dims] = choices
        extents: list[float] = self.room.axis(row, tiles).tolist()
        picked = [self.program.variable(1) for _ in choices]
        self.program.equal(total(picked), 1.0)
        for factor in self.factors:
            if factor.dim in dims:
                sizes = tiles[:, factor.dim].tolist()
                powers = [dict(primes_of(size)).get(factor.prime, 0) for size in sizes]
                chosen = total(pick * power for pick, power in zip(picked, powers, strict=True) if power)
                self.program.equal(self.within(level, factor), chosen)
        return total(pick * log2(extent) for pick, extent in zip(picked, extents, strict=True) if extent > 1)

    def _limit_arrays(self, space: Space) -> None:
        for level in range(len(self.arch.levels)):
            for way, width in zip((COLUMNS, ROWS), self.arch.fan_out(level), strict=True):
                if width > 1:
                    self.program.at_most(self.log_loops(self.dims, level, way), log2(width) + SLACK)
            if len(self._ways(level)) == 3 and not space.split_axes:
                self._forbid_splits(level)

    def _forbid_splits(self, level: int) -> None:
        along = {dim: self.program.variable(1) for dim in self.dims}
        for factor in self.factors:
            columns = along[factor.dim] * factor.count
            self.program.at_most(self.at(factor, level, COLUMNS), columns)
            self.program.at_most(self.at(factor, level, ROWS), columns * -1.0 + factor.count)

    def _limit_capacity(self, level: int) -> None:
        capacity = self.room.capacity[level]
        if capacity is None:
            return
        kept = np.flatnonzero(self.room.kept[level]).tolist()
        rooms = {tensor: capacity / self.room.weight(level, tensor) for tensor in kept}
        divisions = list(self._divisions(level, kept))
        chosen = [self.program.variable(1) for _ in divisions]
        self.program.equal(total(chosen), 1.0)
        for i, tensor in enumerate(kept):
            limits = [log2(max(rooms[tensor] * division[i], 0.5)) for division in divisions]
            limit = total(pick * value for pick, value in zip(chosen, limits, strict=True))
            self.program.at_most(self.log_words(level, tensor), limit + SLACK)

    def _divisions(self, level: int, kept: list[int]) -> Iterator[tuple[float, ...]]:
        fixed = self.shares.get(self.arch.levels[level].name)
        if fixed is not None:
            yield tuple(fixed[tensor] for tensor in kept)
        elif kept:
            parts = 16 if len(kept) == 2 else max(8, len(kept) + 3)
            for cuts in combinations(range(1, parts), len(kept) - 1):
                edges = (0, *cuts, parts)
                yield tuple((b - a) / parts for a, b in pairwise(edges))
        else:
            yield ()

    def _order(self) -> dict[tuple[int, int], Expression]:
        """Pairwise order of dimensions at the ranked level, transitive."""
        inside: dict[tuple[int, int], Expression] = {}
        if self.ranked < 0:
            return inside
        for d, e in combinations(self.dims, 2):
            inside[d, e] = self.program.variable(1)
            inside[e, d] = inside[d, e] * -1.0 + 1.0
        for d, e, f in combinations(self.dims, 3):
            for a, b, c in ((d, e, f), (f, e, d)):
                self.program.at_most(inside[a, b] + inside[b, c] - 1.0, inside[a, c])
        return inside


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
