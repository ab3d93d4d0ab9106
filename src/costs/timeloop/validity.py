"""Whether a mapping fits the machine: factors, words per memory, children per array axis."""

from __future__ import annotations

from math import prod

from ..hierarchy.values import Architecture, LoopMapping, Problem
from .report import Violation


def violations_of(arch: Architecture, problem: Problem, mapping: LoopMapping) -> tuple[Violation, ...]:
    """Every level that overflows: tiles of kept tensors against entries, loops along X and Y against the array."""
    found: list[Violation] = []
    tiles = mapping.tiles(len(problem.dims))
    for index, level in enumerate(arch.levels):
        mapped = mapping.levels[index]
        used = sum(prod(t.extents(tiles[index][1])) for t in problem.tensors if t.name not in mapped.bypass)
        capacity = level.capacity_words
        if capacity is not None and used > capacity:
            found.append(Violation(level.name, "capacity", used, capacity, "words"))
        axes = (("columns", mapped.spatial_x), ("rows", mapped.spatial_y))
        for (axis, loops), bound in zip(axes, arch.fan_out(index), strict=True):
            demand = prod(loop.bound for loop in loops)
            if demand > bound:
                found.append(Violation(level.name, axis, demand, bound, "children"))
    return tuple(found)


def factor_violations(problem: Problem, mapping: LoopMapping) -> tuple[Violation, ...]:
    """Dimensions whose factors do not multiply to the bound: this model prices perfect factors only."""
    products = mapping.tiles(len(problem.dims))[-1][1]
    return tuple(
        Violation("all levels", f"dimension {name}", product, bound, "iterations")
        for name, bound, product in zip(problem.dims, problem.bounds, products, strict=True)
        if product != bound
    )
