"""Which loops of a sum of products are a product of matrices, so that warps may multiply fragments."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from ...costs.hierarchy import Architecture, LevelMapping, Loop, LoopMapping, Problem, Tensor
from ...errors import TilewrightError
from ...machine.threads import SIDE

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
