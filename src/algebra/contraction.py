"""Sums of products of two operands as matrix products (BLAS), exact for integers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from .element import WITHOUT_SUMS, Array, is_float, limits
from .functions import to_int64
from .layout import Layout, restrict, split

TEMPORARY_BYTES = 192 << 20
DIRECT_POINTS = 128

Product = Callable[[Array, Array, Array], None]  # adds the contraction of two sources to the target


@dataclass(frozen=True)
class _Roles:
    """Frame axes by role; `n` holds the target's fastest axis, so `right` is the operand that `n` moves."""

    batch: list[int]
    m: list[int]
    n: list[int]
    k: list[int]
    swapped: bool


def make_contraction(shape: tuple[int, ...], target: Layout, left: Layout, right: Layout) -> Product | None:
    """A function that adds `sum(left * right)` to the target, or None where another method serves better.

    Views are in frame layout.  Integer results are exact modulo 2^64 and then wrap to the target's type.
    """
    roles = _assign_roles(shape, target, left, right)
    if roles is None:
        return None
    if roles.swapped:
        left, right = right, left
    depth = prod(shape[a] for a in roles.k)
    width = min(prod(shape[a] for a in roles.m), prod(shape[a] for a in roles.n))
    if width == 1 and roles.batch and depth <= DIRECT_POINTS:
        run = _direct(shape, roles, target, left, right, depth)
    else:
        run = _matmul(shape, roles, target, left, right, depth)
    if roles.swapped:
        return lambda t, a, b: run(t, b, a)
    return run


def work_dtype(left: np.dtype[Any], right: np.dtype[Any], depth: int) -> np.dtype[Any]:
    """The type in which `depth` products sum exactly and fast; float32 also for longer sums of bytes (in parts).

    Floats sum in float64: equal sums in tiles of different shape are equal then, whichever order BLAS takes for them.
    """
    if is_float(left) or is_float(right):
        return np.dtype(np.float64)
    largest = _magnitude(left) * _magnitude(right)
    if largest * min(depth, 256) <= 1 << 24:
        return np.dtype(np.float32)
    return np.dtype(np.float64 if largest * depth <= 1 << 53 else np.int64)


def _magnitude(dtype: np.dtype[Any]) -> int:
    low, high = limits(dtype)
    return max(-low, high)


def _assign_roles(shape: tuple[int, ...], target: Layout, left: Layout, right: Layout) -> _Roles | None:
    groups: dict[tuple[bool, bool, bool], list[int]] = {}
    for axis in range(len(shape)):
        groups.setdefault((target.moves(axis), left.moves(axis), right.moves(axis)), []).append(axis)
    alone = any((False, *side) in groups for side in ((True, False), (False, True), (False, False)))
    if alone or (False, True, True) not in groups:
        return None

    def by_target(axes: list[int]) -> list[int]:
        return sorted(axes, key=lambda a: -abs(target.strides[a]))

    batch = by_target(groups.get((True, True, True), []))
    m, n = by_target(groups.get((True, True, False), [])), by_target(groups.get((True, False, True), []))
    swapped = bool(m) and (not n or abs(target.strides[m[-1]]) < abs(target.strides[n[-1]]))
    if swapped:
        m, n = n, m
    pair = (right, left) if swapped else (left, right)
    return _Roles(batch, m, n, _order_k(shape, groups[(False, True, True)], *pair), swapped)


def _order_k(shape: tuple[int, ...], axes: list[int], left: Layout, right: Layout) -> list[int]:
    """The order of the summed axes that spares the larger operand a copy."""
    larger, smaller = sorted((left, right), key=lambda x: -x.size)
    orders = [sorted(axes, key=lambda a: -abs(x.strides[a])) for x in (larger, smaller)]
    return orders[0] if _collapses(shape, orders[0], larger) else orders[1]


def _collapses(shape: tuple[int, ...], axes: Sequence[int], layout: Layout) -> bool:
    return all(layout.strides[a] == layout.strides[b] * shape[b] for a, b in pairwise(axes))


def _matmul(shape: tuple[int, ...], roles: _Roles, target: Layout, left: Layout, right: Layout, depth: int) -> Product:
    work = work_dtype(left.dtype, right.dtype, depth)
    part = depth
    if work == np.float32 and not is_float(left.dtype) and not is_float(right.dtype):
        part = (1 << 24) // (_magnitude(left.dtype) * _magnitude(right.dtype))

    def cost(sizes: Sequence[int]) -> int:
        operands = ((left, roles.batch + roles.m + roles.k), (right, roles.batch + roles.k + roles.n))
        elements = sum(prod(sizes[a] for a in axes) for _, axes in operands)
        return (elements + prod(sizes[a] for a in roles.batch + roles.m + roles.n)) * work.itemsize

    boxes = split(shape, roles.batch + roles.m + roles.n, cost, TEMPORARY_BYTES)
    if len(boxes) == 1:
        return lambda t, a, b: _multiply(roles, work, part, t, a, b)

    def run(t: Array, a: Array, b: Array) -> None:
        for box in boxes:
            it, ia, ib = (restrict(box, x.shape) for x in (target, left, right))
            _multiply(roles, work, part, t[it], a[ia], b[ib])

    return run


def _multiply(roles: _Roles, work: np.dtype[Any], part: int, target: Array, left: Array, right: Array) -> None:
    batch, m = [left.shape[a] for a in roles.batch], [left.shape[a] for a in roles.m]
    n, k = [right.shape[a] for a in roles.n], [left.shape[a] for a in roles.k]
    rest = [a for a in range(left.ndim) if a not in roles.batch + roles.m + roles.n + roles.k]
    a = _matrix(left, roles.batch + roles.m + roles.k + roles.n + rest, (prod(batch), prod(m), prod(k)), work)
    b = _matrix(right, roles.batch + roles.k + roles.n + roles.m + rest, (prod(batch), prod(k), prod(n)), work)
    if part >= prod(k):
        product = np.matmul(a, b)
    else:
        product = sum_of_parts(a, b, part)
    order = roles.batch + roles.m + roles.n
    product = product.reshape(batch + m + n + [1] * (left.ndim - len(order)))
    back = np.argsort(order + roles.k + rest)
    add_to(target, product.transpose(back))


def sum_of_parts(left: Array, right: Array, part: int) -> Array:
    """A float32 matrix product of integers, cut along the summed axis into parts whose sums are exact."""
    total = np.zeros((left.shape[0], left.shape[1], right.shape[2]), np.int64)
    for start in range(0, left.shape[2], part):
        piece = np.matmul(left[:, :, start : start + part], right[:, start : start + part, :])
        total += piece.astype(np.int32)
    return total


def _matrix(view: Array, order: Sequence[int], shape: tuple[int, ...], work: np.dtype[Any]) -> Array:
    """The operand as (batch, rows, columns) in a form that BLAS takes without a copy of its own."""
    view = view.transpose(order)
    if view.dtype != work:
        converted = np.empty(view.shape, work)
        converted[...] = view
        view = converted
    matrix = view.reshape(shape)
    _, rows, columns = matrix.strides
    blas = (columns == work.itemsize and rows >= 0) or (rows == work.itemsize and columns >= 0)
    return matrix if blas or 1 in shape[1:] else np.ascontiguousarray(matrix)


def add_to(target: Array, value: Array) -> None:
    """`target += value` with the language's conversions: exact and wrapping for integer targets."""
    if is_float(target.dtype):
        if target.dtype in WITHOUT_SUMS:
            np.copyto(target, target.astype(np.float32) + value, casting="unsafe")
        else:
            np.add(target, value, out=target, casting="unsafe")
        return
    if value.dtype == np.float32 or value.dtype == np.float64:
        value = to_int64(value)
    np.add(target, value, out=target, casting="unsafe")


def _direct(shape: tuple[int, ...], roles: _Roles, target: Layout, left: Layout, right: Layout, depth: int) -> Product:
    """One multiply and one add of whole arrays per summed point: for depthwise convolutions and the like."""
    work = work_dtype(left.dtype, right.dtype, depth)
    integers = not is_float(left.dtype) and not is_float(right.dtype)
    if integers and work != np.int64:
        fits = _magnitude(left.dtype) * _magnitude(right.dtype) * depth < 1 << 31
        work = np.dtype(np.int32 if fits else np.int64)
    points = [
        tuple(slice(i, i + 1) if a in roles.k else slice(None) for a, i in enumerate(row))
        for row in np.ndindex(*(n if a in roles.k else 1 for a, n in enumerate(shape)))
    ]

    def run(t: Array, a: Array, b: Array) -> None:
        total: Array | None = None
        product: Array | None = None
        for point in points:
            product = np.multiply(a[point], b[point], out=product, dtype=work, casting="unsafe")
            if total is None:
                total, product = product, None
            else:
                np.add(total, product, out=total)
        assert total is not None
        add_to(t, total)

    return run
