"""The loops of a batch of mappings as arrays, and how they move one tensor's box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..hierarchy.batch import Bools, Ints, MappingBatch
from ..hierarchy.values import Tensor


@dataclass(frozen=True)
class Nest:
    """Temporal loops in K slots (padded with bound 1), inner to outer over all levels, and tiles.

    Slots are (N, K): `strides` counts iterations of the slot's dimension per step, `weights` the steps of the slot with
    all inner loops at rest.  Tiles are (N, L, D): of one `child`, of the `children` of a level together, of the level's
    own `tile`; `spatial` are children per dimension and `fan_out` (N, L) all children.
    """

    dims: Ints
    bounds: Ints
    levels: Ints
    strides: Ints
    weights: Ints
    child: Ints
    children: Ints
    tile: Ints
    spatial: Ints
    fan_out: Ints


def nest_of(batch: MappingBatch) -> Nest:
    """Slots and tiles of `batch`."""
    count, level_count, dim_count = batch.temporal.shape
    spatial = batch.spatial_x * batch.spatial_y
    tile = np.cumprod(spatial * batch.temporal, axis=1)
    child = np.concatenate([np.ones((count, 1, dim_count), np.int64), tile[:, :-1]], axis=1)
    children = child * spatial
    slots = count, level_count * dim_count
    levels = np.broadcast_to(np.repeat(np.arange(level_count), dim_count), slots)
    bounds = np.take_along_axis(batch.temporal, batch.order, 2).reshape(slots)
    strides = np.take_along_axis(children, batch.order, 2).reshape(slots)
    used = max(1, int((bounds > 1).sum(axis=1).max(initial=0)))
    first = np.argsort(bounds == 1, axis=1, kind="stable")[:, :used]
    dims, bounds, strides, levels = (
        np.take_along_axis(slot, first, 1) for slot in (batch.order.reshape(slots), bounds, strides, levels)
    )
    outer = np.cumprod(bounds[:, ::-1], axis=1)[:, ::-1] // bounds
    weights = (bounds - 1) * outer
    return Nest(dims, bounds, levels, strides, weights, child, children, tile, spatial, np.prod(spatial, axis=2))


def extents_of(tensor: Tensor, tile: Ints) -> Ints:
    """Extents (..., A) of the tensor's box for tiles (..., D)."""
    return 1 + (tile - 1) @ np.abs(np.array(tensor.coefficients, np.int64).reshape(-1, tile.shape[-1])).T


class Motion:
    """`temporal.visits` for one tensor in all mappings of a nest."""

    def __init__(self, nest: Nest, tensor: Tensor) -> None:
        self._nest = nest
        self._tensor = tensor
        self._shifts = [np.array(row, np.int64)[nest.dims] * nest.strides for row in tensor.coefficients]
        self._shifts = [np.where(nest.bounds > 1, shift, 0) for shift in self._shifts]
        self._falls = [np.cumsum(shift, axis=1) - shift for shift in self._shifts]

    def words(self, level: int) -> tuple[Ints, Bools]:
        """Words that move into one child of `level`, and whether children might serve each other (N,)."""
        nest = self._nest
        active = (nest.levels >= level) & (nest.bounds > 1)
        start = (nest.levels < level).argmin(axis=1)[:, None]
        steps = self._steps(start)
        if level == 0:
            return np.prod(nest.bounds, axis=1), self._reachable(steps, active, level)
        moving = self._moving(active)
        inner = np.argmax(moving, axis=1)[:, None]
        active = active & np.any(moving, axis=1, keepdims=True) & (np.arange(active.shape[1]) >= inner)
        whole, fresh, words = self._slot_words(steps, inner, level)
        total = whole + (words * nest.weights * active).sum(axis=1)
        return total, self._reachable(steps, active & (words == fresh) & (start == inner), level)

    def _moving(self, active: Bools) -> Bools:
        moving = np.zeros(active.shape, np.bool_)
        for shift in self._shifts:
            moving |= shift != 0
        return moving & active

    def _slot_words(self, steps: list[Ints], inner: Ints, level: int) -> tuple[Ints, Ints, Ints]:
        """Words of the whole child tile (N,), of a step of slot `inner` (N, 1), of a step of each slot (N, K)."""
        extents = extents_of(self._tensor, self._nest.child[:, level])
        whole = np.prod(extents, axis=1)
        shared = np.ones_like(whole)
        same, zero = np.ones(self._nest.bounds.shape, np.bool_), np.ones(self._nest.bounds.shape, np.bool_)
        for axis, (shift, step) in enumerate(zip(self._shifts, steps, strict=True)):
            first = np.take_along_axis(shift, inner, 1)
            shared *= np.maximum(0, extents[:, axis] - np.abs(first[:, 0]))
            same &= step == first
            zero &= step == 0
        fresh = (whole - shared)[:, None]
        return whole, fresh, np.where(zero, 0, np.where(same, fresh, whole[:, None]))

    def _steps(self, start: Ints) -> list[Ints]:
        """Per axis, the step when a slot advances and those between it and `start` fall back."""
        return [
            shift - (fall - np.take_along_axis(fall, start, 1))
            for shift, fall in zip(self._shifts, self._falls, strict=True)
        ]

    def _reachable(self, steps: list[Ints], candidates: Bools, level: int) -> Bools:
        """Whether two children of `level` lie as far apart as the step of some candidate slot."""
        nest = self._nest
        children = extents_of(self._tensor, nest.children[:, level])
        span = children - extents_of(self._tensor, nest.child[:, level])
        found: Bools = candidates & (nest.fan_out[:, level] > 1)[:, None]
        for axis, step in enumerate(steps):
            found &= np.abs(step) <= span[:, axis, None]
        return np.asarray(found.any(axis=1))


def group_counts(nest: Nest, tensor: Tensor, level: int) -> tuple[Ints, Bools]:
    """Distinct offsets among the children of `level`; where the second array is set, the first does not tell.

    Offsets along one axis from two dimensions i, j of strides u, v coincide when (i, j) differ by (v, -u) / gcd(u, v).
    """
    count = len(nest.fan_out)
    groups, unknown = np.ones(count, np.int64), np.zeros(count, np.bool_)
    rows = [[(dim, abs(c)) for dim, c in enumerate(row) if c] for row in tensor.coefficients]
    users = [dim for row in rows for dim, _ in row]
    spatial, child = nest.spatial[:, level], nest.child[:, level]
    for row in rows:
        bounds = [spatial[:, dim] for dim, _ in row]
        points = np.ones(count, np.int64)
        for bound in bounds:
            points = points * bound
        if len(row) == 2:
            (i, u), (j, v) = ((dim, c * child[:, dim]) for dim, c in row)
            common = np.gcd(u, v)
            points -= np.maximum(0, spatial[:, i] - v // common) * np.maximum(0, spatial[:, j] - u // common)
        elif len(row) > 2:
            unknown |= sum((bound > 1).astype(np.int64) for bound in bounds) > 1
        groups *= points
    for dim in {dim for dim in users if users.count(dim) > 1}:
        unknown |= spatial[:, dim] > 1
    return groups, unknown
