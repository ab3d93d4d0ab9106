"""Many mappings of one problem on one machine, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ...algebra.element import Bools, Ints
from ...errors import TilewrightError
from .values import Architecture, LevelMapping, Loop, LoopMapping, Problem


class Batch(NamedTuple):
    """The arrays of a `MappingBatch`, for compiled code."""

    temporal: Ints
    order: Ints
    spatial_x: Ints
    order_x: Ints
    spatial_y: Ints
    order_y: Ints
    kept: Bools


@dataclass(frozen=True)
class MappingBatch:
    """N mappings over L levels (innermost first) and D dimensions, as int64 arrays.

    `temporal`, `spatial_x`, `spatial_y` are factors by dimension, of shape (N, L, D); `order`, `order_x` and `order_y`
    of the same shape list dimension numbers from the inner to the outer loop.  `kept` (N, L, T) tells which tensors
    a level holds.
    """

    temporal: Ints
    order: Ints
    spatial_x: Ints
    order_x: Ints
    spatial_y: Ints
    order_y: Ints
    kept: Bools

    def __len__(self) -> int:
        return self.temporal.shape[0]

    def part(self, rows: slice | Ints | Bools) -> "MappingBatch":
        """The mappings of `rows`: a slice, numbers, or for each whether it is one of them."""
        return MappingBatch(*(getattr(self, field.name)[rows] for field in fields(self)))

    def repeated(self, row: int, count: int) -> "MappingBatch":
        """Mapping `row` so many times."""
        return self.part(np.full(count, row))

    def arrays(self) -> Batch:
        """The arrays, each in one piece."""
        return Batch(*(np.ascontiguousarray(getattr(self, field.name)) for field in fields(self)))

    def mapping(self, index: int, problem: Problem, dims: Sequence[int] | None = None) -> LoopMapping:
        """Mapping number `index` as a value; the batch has the problem's `dims`, all of them unless these are given."""
        names, numbers = [tensor.name for tensor in problem.tensors], dims or range(len(problem.dims))
        return LoopMapping(
            tuple(
                LevelMapping(
                    _loops(self.order[index, level], self.temporal[index, level], numbers),
                    _loops(self.order_x[index, level], self.spatial_x[index, level], numbers),
                    _loops(self.order_y[index, level], self.spatial_y[index, level], numbers),
                    frozenset(n for n, kept in zip(names, self.kept[index, level], strict=True) if not kept),
                )
                for level in range(self.temporal.shape[1])
            )
        )


def _loops(order: Ints, factors: Ints, numbers: Sequence[int]) -> tuple[Loop, ...]:
    return tuple(Loop(numbers[dim], int(factors[dim])) for dim in order if factors[dim] > 1)


def pack(arch: Architecture, problem: Problem, mappings: Sequence[LoopMapping]) -> MappingBatch:
    """The arrays of `mappings`; within a level each dimension may have one temporal, one X and one Y loop."""
    shape = len(mappings), len(arch.levels), len(problem.dims)
    factors = [np.ones(shape, np.int64) for _ in range(3)]
    orders = [np.empty(shape, np.int64) for _ in range(3)]
    kept = np.ones((*shape[:2], len(problem.tensors)), np.bool_)
    columns = {tensor.name: i for i, tensor in enumerate(problem.tensors)}
    for n, mapping in enumerate(mappings):
        if len(mapping.levels) != shape[1]:
            raise TilewrightError("mapping", f"mapping {n}", f"{shape[1]} levels", str(len(mapping.levels)))
        for row, level in enumerate(mapping.levels):
            for kind, loops in enumerate((level.temporal, level.spatial_x, level.spatial_y)):
                _pack_loops(loops, factors[kind][n, row], orders[kind][n, row])
            for name in level.bypass:
                kept[n, row, columns[name]] = False
    return MappingBatch(factors[0], orders[0], factors[1], orders[1], factors[2], orders[2], kept)


def _pack_loops(loops: tuple[Loop, ...], factors: Ints, order: Ints) -> None:
    dims = [loop.dim for loop in loops]
    if len(set(dims)) != len(dims):
        raise TilewrightError("mapping", "loops of a batch", "one loop per dimension and kind at a level", str(dims))
    order[:] = dims + [dim for dim in range(len(order)) if dim not in dims]
    for loop in loops:
        factors[loop.dim] = loop.bound
