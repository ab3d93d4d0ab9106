"""Sparse constants of TFLite: levels of axes, and of blocks in them, each dense or with the places of what is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PLACE_BYTES = 4

VECTORS = {1: "Int32Vector", 2: "Uint16Vector", 3: "Uint8Vector"}
"""Tables that hold places, by the number that the file gives them."""


def dense_array(schema: Any, sparsity: Any, stored: Array, shape: Sequence[int], spend: Callable[[int], None]) -> Array:
    """The array of `shape` that has the `stored` values of `sparsity`, and zeros.

    `spend` is told what that takes in bytes, and refuses too many.  Raises `ValueError` where the places do not
    fit the shape or the values.
    """
    order, blocks = _list(sparsity, "TraversalOrder", spend), _list(sparsity, "BlockMap", spend)
    if sorted(order) != list(range(len(shape) + len(blocks))) or len(order) != sparsity.DimMetadataLength():
        raise ValueError("levels that are no order of axes and blocks")
    if any(not 0 <= axis < len(shape) for axis in blocks) or len(set(blocks)) != len(blocks):
        raise ValueError("blocks of other axes")
    places: dict[int, Array] = {}
    sizes: dict[int, int] = {}
    count = 1
    for number, axis in enumerate(order):
        level = sparsity.DimMetadata(number)
        parents, along = _level(schema, level, count, spend)
        places = {known: place[parents] for known, place in places.items()} | {axis: along}
        sizes[axis] = level.DenseSize()
        count = len(along)
    if count != len(stored):
        raise ValueError(f"{len(stored)} values for {count} places")
    for number, axis in enumerate(blocks):
        places[axis] = places[axis] * sizes[len(shape) + number] + places[len(shape) + number]
    spend(prod(shape) * stored.dtype.itemsize)
    result = np.zeros(shape, stored.dtype)
    found = tuple(places[axis] for axis in range(len(shape)))
    if any(np.any((place < 0) | (place >= extent)) for place, extent in zip(found, shape, strict=True)):
        raise ValueError("places outside of the shape")
    result[found] = stored
    return result


def _list(table: Any, name: str, spend: Callable[[int], None]) -> list[int]:
    count = getattr(table, f"{name}Length")()
    spend(PLACE_BYTES * count)
    return getattr(table, f"{name}AsNumpy")().tolist() if count else []


def _level(schema: Any, level: Any, count: int, spend: Callable[[int], None]) -> tuple[Array, Array]:
    """For each place of a level which of the `count` before it is in, and its number along the axis."""
    if level.Format() == schema.DimensionType.DENSE:
        size = level.DenseSize()
        if size < 0:
            raise ValueError("a negative size")
        spend(PLACE_BYTES * count * size)
        return np.repeat(np.arange(count, dtype=np.int32), size), np.tile(np.arange(size, dtype=np.int32), count)
    starts = _vector(schema, level.ArraySegmentsType(), level.ArraySegments(), spend)
    along = _vector(schema, level.ArrayIndicesType(), level.ArrayIndices(), spend)
    counts = np.diff(starts)
    if len(starts) != count + 1 or starts[0] != 0 or starts[-1] != len(along) or np.any(counts < 0):
        raise ValueError("segments that do not cover the places")
    return np.repeat(np.arange(count, dtype=np.int32), counts), along


def _vector(schema: Any, kind: int, table: Any, spend: Callable[[int], None]) -> Array:
    if kind not in VECTORS or table is None:
        raise ValueError("no list of places")
    vector = getattr(schema, VECTORS[kind])()
    vector.Init(table.Bytes, table.Pos)
    count = vector.ValuesLength()
    spend(PLACE_BYTES * count)
    return np.array(vector.ValuesAsNumpy() if count else [], np.int32)
