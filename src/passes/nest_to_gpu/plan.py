"""What a mapping means for blocks of threads: loops by where they run, tensors by where their tiles lie, as plain data.

Of the three memories of the chain the innermost one is a thread's registers, the next one a block's shared memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from ...algebra.affine import Affine, index_forms
from ...algebra.expr import Access, Statement
from ...algebra.statement import accesses_of, tensors_of
from ...costs.hierarchy import Architecture, LoopMapping, Problem
from ...errors import TilewrightError
from ...machine.warps import SIDE, THREADS
from .matrix import matrix_products, whole_fragments

REGISTERS, SHARED, GLOBAL = range(3)
"""Places in the chain of memories."""


@dataclass(frozen=True)
class RunLoop:
    """A loop over a dim of so many pieces; each piece moves the dim's index by `stride`."""

    dim: str
    bound: int
    stride: int


@dataclass(frozen=True)
class Row:
    """A digit of an index: `sum(c * dim)`, a dim alone without a factor, which the index counts `scale` times."""

    axis: int
    scale: int
    terms: tuple[tuple[str, int], ...]

    @property
    def alone(self) -> str | None:
        """The dim that this is, if it is just one."""
        return self.terms[0][0] if len(self.terms) == 1 else None

    def extent(self, tile: Mapping[str, int]) -> int:
        """How many values it takes in a tile."""
        return 1 + sum(abs(c) * (tile[dim] - 1) for dim, c in self.terms)

    def low(self, tile: Mapping[str, int]) -> int:
        """How far below the value at the tile's first point the least one is, at most 0."""
        return sum(min(c, 0) * (tile[dim] - 1) for dim, c in self.terms)


@dataclass(frozen=True)
class Operand:
    """A tensor: its `shape`, the digits of its indices and their constants, and what it gives outside, `pad`.

    `kept` tells whether its tiles are staged in registers and in shared memory.
    """

    name: str
    element: str
    shape: tuple[int, ...]
    rows: tuple[Row, ...]
    constants: tuple[int, ...]
    pad: float
    kept: tuple[bool, bool]

    @property
    def dims(self) -> frozenset[str]:
        """The dims that index it."""
        return frozenset(dim for row in self.rows for dim, _ in row.terms)

    def box(self, tile: Mapping[str, int]) -> tuple[int, ...]:
        """The extents of its part in a tile, one per row."""
        return tuple(row.extent(tile) for row in self.rows)


@dataclass(frozen=True)
class Plan:
    """A kernel of blocks of threads.

    `grid` loops are spread over blocks, `serial` ones run in each block around all others, then `inner` ones; `threads`
    are spread over the threads of a block, and `points` run in each thread on its registers.  All outer to inner.
    `factors` are the operands that are multiplied, perhaps one several times.

    Where warps multiply matrices, `threads` and `points` are those of a warp, and `matrix` has the loops inside of all
    others, over rows, columns and what is summed of a product of fragments.
    """

    bounds: Mapping[str, int]
    grid: tuple[RunLoop, ...]
    serial: tuple[RunLoop, ...]
    inner: tuple[RunLoop, ...]
    threads: tuple[RunLoop, ...]
    points: tuple[RunLoop, ...]
    inputs: tuple[Operand, ...]
    output: Operand
    factors: tuple[str, ...]
    matrix: tuple[RunLoop, ...] = ()

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(loop.bound for loop in self.grid)

    @property
    def block_size(self) -> int:
        """Threads of a block."""
        return prod(loop.bound for loop in self.threads) * (THREADS if self.matrix else 1)

    @cached_property
    def register_tile(self) -> dict[str, int]:
        """Iterations of each dim in the registers of a thread, or of a warp."""
        return {dim: _extent((*self.matrix, *self.points), dim) for dim in self.bounds}

    @cached_property
    def shared_tile(self) -> dict[str, int]:
        """Iterations of each dim in a block's shared memory."""
        loops = (*self.matrix, *self.points, *self.threads, *self.inner)
        return {dim: _extent(loops, dim) for dim in self.bounds}

    @cached_property
    def reach(self) -> dict[str, int]:
        """How far all loops over a dim reach together."""
        loops = (*self.matrix, *self.points, *self.threads, *self.inner, *self.serial, *self.grid)
        return {dim: _extent(loops, dim) for dim in self.bounds}

    @cached_property
    def ragged(self) -> frozenset[str]:
        """Dims whose tiles reach beyond the bound."""
        return frozenset(dim for dim, bound in self.bounds.items() if self.reach[dim] > bound)

    @property
    def shared_elements(self) -> dict[str, int]:
        """Elements of each operand in shared memory."""
        return {x.name: prod(x.box(self.shared_tile)) for x in self.inputs if x.kept[SHARED]}

    @property
    def register_elements(self) -> dict[str, int]:
        """Elements of each operand in a thread's registers."""
        staged = [x for x in (*self.inputs, self.output) if x.kept[REGISTERS]]
        threads = THREADS if self.matrix else 1
        return {x.name: prod(x.box(self.register_tile)) // threads for x in staged}

    @property
    def exchanged_bytes(self) -> int:
        """Bytes of shared memory through which warps hand on their fragments of sums."""
        return self.block_size // THREADS * 4 * SIDE**2 if self.matrix else 0

    @property
    def guarded(self) -> tuple[str, ...]:
        """Reduced dims whose points beyond the bound must not be summed, because not every factor is 0 there."""
        return tuple(dim for dim in sorted(self.ragged - self.output.dims) if not self._vanishes(dim))

    def _vanishes(self, dim: str) -> bool:
        """Whether all factors are 0 beyond the bound of a dim, since they are staged or read as that."""
        return all(x.pad == 0 and [row.alone for row in x.rows if dim in dict(row.terms)] == [dim] for x in self.inputs)


def _extent(loops: Iterable[RunLoop], dim: str) -> int:
    return prod(loop.bound for loop in loops if loop.dim == dim)


def plan_of(
    statement: Statement,
    problem: Problem,
    arch: Architecture,
    mapping: LoopMapping,
    shapes: Mapping[str, tuple[int, ...]],
    elements: Mapping[str, str],
    pads: Mapping[str, float],
) -> Plan:
    """The kernel that a mapping of a sum of products spells.

    Raises `TilewrightError` (kind `unsupported`) where a sum is spread over blocks or threads, or where two points of
    different sums write one element.
    """
    operands = _operands(statement, problem, mapping, shapes, elements, pads)
    target = replace(operands.pop(tensors_of(statement)[0]), kept=(True, False))
    if any(row.alone is None for row in target.rows):
        found = "an output whose elements gather several of them"
        raise TilewrightError("unsupported", problem.name, "one dim in each index of the output", found)
    factors = tuple(access.tensor for access in accesses_of(statement.value) if isinstance(access, Access))
    whole = whole_fragments(problem, arch, mapping)
    matrix = () if whole is None else tuple(RunLoop(problem.dims[x.dim], x.bound, 1) for x in whole.levels[0].spatial)
    loops = _loops(problem, whole or mapping)
    reduced = set(problem.dims) - target.dims
    spread = next((loop for loop in (*loops[3], *loops[4]) if loop.dim in reduced and loop.bound > 1), None)
    if spread is not None:
        lever = f"run {spread.dim} one after another"
        raise TilewrightError("unsupported", problem.name, "sums within a thread", f"{spread.dim} spread", lever)
    points, inner, outer, threads, blocks = loops
    plan = Plan(
        dict(zip(problem.dims, problem.bounds, strict=True)),
        tuple(loop for loop in (*outer, *blocks) if loop.dim not in reduced),
        tuple(loop for loop in outer if loop.dim in reduced),
        inner,
        threads,
        points,
        tuple(operands[name] for name in tensors_of(statement)[1:]),
        target,
        factors,
        matrix,
    )
    if matrix:
        plan = replace(plan, inputs=tuple(replace(x, kept=(False, x.kept[SHARED])) for x in plan.inputs))
        check_matrix(plan, problem)
        return _dealt(plan)
    return _staged(_dealt(plan), arch.levels[REGISTERS].capacity_words)


def _rows(forms: Sequence[Affine], coefficients: Iterable[Sequence[int]], problem: Problem) -> tuple[Row, ...]:
    """The digits of each index, which the problem has as axes one after another."""
    moving = {dim for dim, bound in zip(problem.dims, problem.bounds, strict=True) if bound > 1}
    found: list[Row] = []
    digits = iter(coefficients)
    for axis, form in enumerate(forms):
        left = dict(form.terms)
        while left:
            row = {dim: c for dim, c in zip(problem.dims, next(digits), strict=True) if c}
            steps = {dim: c for dim, c in row.items() if dim in moving}
            if len(steps) == 1:
                (dim,) = steps
                found.append(Row(axis, form.coefficient(dim), ((dim, 1),)))
            elif steps:
                some = next(iter(steps))
                found.append(Row(axis, form.coefficient(some) // steps[some], tuple(steps.items())))
            left = {dim: c for dim, c in left.items() if dim in moving and dim not in row}
    return tuple(found)


def _operands(
    statement: Statement,
    problem: Problem,
    mapping: LoopMapping,
    shapes: Mapping[str, tuple[int, ...]],
    elements: Mapping[str, str],
    pads: Mapping[str, float],
) -> dict[str, Operand]:
    output = next(tensor.name for tensor in problem.tensors if tensor.is_output)
    uses = {a.tensor: a for a in accesses_of(statement.value) if isinstance(a, Access)}
    assert isinstance(statement.target, Access)
    uses[output] = statement.target
    return {
        tensor.name: Operand(
            tensor.name,
            elements[tensor.name],
            shapes[tensor.name],
            _rows(index_forms(uses[tensor.name]), tensor.coefficients, problem),
            tuple(form.const for form in index_forms(uses[tensor.name])),
            pads.get(tensor.name, 0),
            (tensor.name not in mapping.levels[REGISTERS].bypass, tensor.name not in mapping.levels[SHARED].bypass),
        )
        for tensor in problem.tensors
    }


def check_matrix(plan: Plan, problem: Problem) -> None:
    """Raise `TilewrightError` (kind `unsupported`) where warps cannot multiply what the plan has as matrices."""
    dims = tuple(problem.dims.index(loop.dim) for loop in plan.matrix)
    names = ", ".join(loop.dim for loop in plan.matrix)
    if dims not in list(matrix_products(problem)) or len(plan.factors) != 2:
        expected = "rows of the first factor, what both sum, and columns of the second"
        raise TilewrightError("unsupported", problem.name, expected, names)
    apart = [x.name for x in plan.inputs if not x.kept[SHARED]]
    if apart:
        lever = f"hold {apart[0]} there"
        raise TilewrightError("unsupported", problem.name, "factors in shared memory", f"{apart[0]} not", lever)
    if plan.matrix[1].dim in plan.guarded:
        found = f"tiles of {plan.matrix[1].dim} beyond its bound, where numbers other than 0 are read"
        raise TilewrightError("unsupported", problem.name, "sums of 0 beyond the bound", found)


def _loops(problem: Problem, mapping: LoopMapping) -> tuple[tuple[RunLoop, ...], ...]:
    """Loops in time of each level, then those spread over threads and over blocks; outer to inner."""
    stride = dict.fromkeys(problem.dims, 1)
    times: list[tuple[RunLoop, ...]] = []
    spaces: list[tuple[RunLoop, ...]] = []
    for level in mapping.levels:
        for loops, kind in ((level.spatial, spaces), (level.temporal, times)):
            found: list[RunLoop] = []
            for loop in loops:
                dim = problem.dims[loop.dim]
                found.append(RunLoop(dim, loop.bound, stride[dim]))
                stride[dim] *= loop.bound
            kind.append(tuple(reversed(found)))
    return (*times, *spaces[1:])


def _dealt(plan: Plan) -> Plan:
    """Points of a dim that no window has are dealt out to the threads in turn: neighbours work on neighbours."""
    windows = {dim for x in plan.inputs for row in x.rows if row.alone is None for dim, _ in row.terms}
    threads, points = list(plan.threads), list(plan.points)
    for dim in plan.output.dims - windows:
        ways, each = _extent(threads, dim), _extent(points, dim)
        threads = [replace(x, stride=x.stride // each) if x.dim == dim else x for x in threads]
        points = [replace(x, stride=x.stride * ways) if x.dim == dim else x for x in points]
    last = {row.alone: place for place, row in enumerate(plan.output.rows)}
    threads.sort(key=lambda x: (last.get(x.dim, 0), -x.stride))  # the output's last index changes fastest
    points.sort(key=lambda x: x.dim in plan.output.dims)
    return replace(plan, threads=tuple(threads), points=tuple(points))


def _staged(plan: Plan, capacity: int | None) -> Plan:
    """Elements take a register each: inputs that have no room are read where they are used."""
    left = (capacity or 0) - prod(plan.output.box(plan.register_tile))
    inputs: list[Operand] = []
    for x in plan.inputs:
        size = prod(x.box(plan.register_tile))
        staged = x.kept[REGISTERS] and size <= left
        left -= size if staged else 0
        inputs.append(replace(x, kept=(staged, x.kept[SHARED])))
    return replace(plan, inputs=tuple(inputs))
