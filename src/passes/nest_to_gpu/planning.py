"""The plan of a mapping: its loops by where they run, then what it leaves open (points of threads, depths of tiles)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from ...algebra.affine import Affine, index_forms
from ...algebra.expr import Access, Statement, accesses_of, tensors_of
from ...costs.hierarchy import Architecture, LevelMapping, Loop, LoopMapping, Problem, Tensor
from ...errors import TilewrightError
from ...machine.threads import SIDE
from .plan import REGISTERS, SHARED, Operand, Plan, Row, RunLoop, extent

MOST_ELEMENTS = 1 << 31
"""Elements of a tensor, whose indices are of 32 bits."""

INNERMOST = 0
"""The level whose lanes multiply fragments."""


def matrix_products(problem: Problem) -> Iterator[tuple[int, int, int]]:
    """Dims that are the rows, what is summed, and the columns of a product of two matrices within the problem.

    Rows are of one input alone, columns of the other, each counted upwards in one axis; what is summed is an axis by
    itself in both, so that elements next to each other may be neighbours in a tile.
    """
    (output,) = (tensor for tensor in problem.tensors if tensor.is_output)
    inputs = [tensor for tensor in problem.tensors if not tensor.is_output]
    if len(inputs) != 2:
        return
    moving = [dim for dim, bound in enumerate(problem.bounds) if bound > 1]
    left, right = ({dim for dim in moving if _axes(tensor, dim)} for tensor in inputs)
    sums = {dim for dim in moving if _axes(output, dim)}
    summed = [dim for dim in (left & right) - sums if all(_alone(problem, tensor, dim) for tensor in inputs)]
    rows = [dim for dim in (left - right) & sums if _upwards(inputs[0], dim) and _alone(problem, output, dim)]
    columns = [dim for dim in (right - left) & sums if _upwards(inputs[1], dim) and _alone(problem, output, dim)]
    yield from product(sorted(rows), sorted(summed), sorted(columns))


def _axes(tensor: Tensor, dim: int) -> list[tuple[int, ...]]:
    return [row for row in tensor.coefficients if row[dim]]


def _upwards(tensor: Tensor, dim: int) -> bool:
    return len(axes := _axes(tensor, dim)) == 1 and axes[0][dim] > 0


def _alone(problem: Problem, tensor: Tensor, dim: int) -> bool:
    axes = _axes(tensor, dim)
    return len(axes) == 1 and all(d == dim or b == 1 or not axes[0][d] for d, b in enumerate(problem.bounds))


def whole_fragments(problem: Problem, arch: Architecture, mapping: LoopMapping) -> LoopMapping | None:
    """The mapping with lanes that take all of a fragment, in what is summed, too; None for a machine without lanes."""
    if arch.fan_out(INNERMOST) == (1, 1):
        return None
    inner, lanes = mapping.levels[INNERMOST], arch.fan_out(INNERMOST)[0] // SIDE
    if len(inner.spatial_x) != 2 or [loop.bound for loop in inner.spatial] != [SIDE, lanes, SIDE]:
        found = ", ".join(f"{problem.dims[loop.dim]} {loop.bound}" for loop in inner.spatial) or "nothing spread"
        raise TilewrightError("unsupported", problem.name, f"{arch.mac_name} with all of its lanes in use", found)
    rows, summed, columns = (loop.dim for loop in inner.spatial)
    times = list(inner.temporal)
    place = next((place for place, loop in enumerate(times) if loop.dim == summed), None)
    if place is not None:
        steps = SIDE // lanes
        if times[place].bound > steps and times[place].bound % steps:
            found = f"{times[place].bound}"
            raise TilewrightError("unsupported", problem.name, f"steps of {SIDE} along {problem.dims[summed]}", found)
        times[place] = Loop(summed, max(1, times[place].bound // steps))
    first = LevelMapping(tuple(times), (Loop(rows, SIDE), Loop(summed, SIDE)), (Loop(columns, SIDE),), inner.bypass)
    return replace(mapping, levels=(first, *mapping.levels[1:]))


DEEPEST = 32
"""Points of a summed dim that tiles in shared memory are made to have where they fit, so that barriers are seldom."""

LINE_PADDING = 8
"""Elements behind each line of a tile from which warps load fragments: lines then begin in other banks."""


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
    different sums write one element, and for tensors of more than `MOST_ELEMENTS`.
    """
    for name, shape in shapes.items():
        if prod(shape) > MOST_ELEMENTS:
            found = f"{name} of {prod(shape)}"
            raise TilewrightError("unsupported", problem.name, "tensors of at most 2^31 elements", found)
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
    limit = (arch.levels[SHARED].capacity_words or 0) * arch.levels[SHARED].word_bits // 8
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
        return _padded(_deepened(_dealt(plan), limit), limit)
    return _staged(_deepened(_dealt(plan), limit), arch.levels[REGISTERS].capacity_words)


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
        ways, each = extent(threads, dim), extent(points, dim)
        threads = [replace(x, stride=x.stride // each) if x.dim == dim else x for x in threads]
        points = [replace(x, stride=x.stride * ways) if x.dim == dim else x for x in points]
    last = {row.alone: place for place, row in enumerate(plan.output.rows)}
    threads.sort(key=lambda x: (last.get(x.dim, 0), -x.stride))  # the output's last index changes fastest
    points.sort(key=lambda x: x.dim in plan.output.dims)
    return replace(plan, threads=tuple(threads), points=tuple(points))


def _deepened(plan: Plan, limit: int) -> Plan:
    """Summed points that a block works on one after another come into shared memory together: as many words, fewer
    barriers.  Tiles take at most `limit` bytes and have at most `DEEPEST` points of a dim."""
    while plan.serial:
        *outer, loop = plan.serial
        most = min(loop.bound, DEEPEST // plan.shared_tile[loop.dim])
        for count in (count for count in range(most, 1, -1) if loop.bound % count == 0):
            left = [RunLoop(loop.dim, loop.bound // count, loop.stride * count)] if count < loop.bound else []
            inner = RunLoop(loop.dim, count, loop.stride), *plan.inner
            deeper = replace(plan, serial=(*outer, *left), inner=inner)
            if deeper.shared_bytes <= limit:
                break
        else:
            return plan
        plan = deeper
        if left:
            return plan
    return plan


def _padded(plan: Plan, limit: int) -> Plan:
    """Lines of tiles are padded, if that leaves at most `limit` bytes."""
    padded = replace(plan, line_padding=LINE_PADDING)
    return padded if padded.shared_bytes <= limit else plan


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
