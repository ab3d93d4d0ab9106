"""The least of a cost formula per operation, over all boxes that an instruction may be given.

A formula is replaced by a smooth one that is never above it: `ceildiv(a, b)` by the larger of a / b and 1, and what
divides by one that is never below.  Each part has, beside the range of its values, a range of *degrees* in every dim:
by how many percent it grows, at most and at least, where the dim grows by one.  Where the whole grows by at most one
percent, its value per operation falls with the dim, so that the longest extent is the best one.

Operations may be counted in *blocks* of `m` along one dim, where a block costs as much as all of its operations: of a
grid of elements `m` apart, `ceildiv(E, m)` of `E`, a box of `n` elements has at most `ceildiv(n, m)`, wherever it is,
so that boxes that together cover the grid cost at least the cheapest box per element of the grid that it may have.

Several dims may *share* what they carry: a box of 2 x 2 of four samples has no 4 x 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....algebra.expr import Call, Expr, Name, Num
from ....machine import Capability, Machine
from ...mapping.binding import Split, split_choices

Floats = NDArray[np.float64]


FEW = 8
"""Extents of dims with lanes that are looked at one by one: few of them share lanes in steps."""


HALVINGS = 24
"""How often ranges of boxes are halved at most."""

MOST_HALVED = 1024
"""Ranges of boxes that are halved at once at most."""

MANY_RANGES = 64
"""Ranges of boxes in each of which one that is allowed is looked at: those that seem to cost least."""

CLOSE = 1e-3
"""Part of the least cycles within which ranges of boxes are not halved."""


class _UnknownError(Exception):
    """A formula of which nothing is known."""


@dataclass(frozen=True)
class _Part:
    """Values and degrees (dims first) of a part of a formula, for each of some boxes; `fixed`: it has one value."""

    low: Any
    high: Any
    least: Any
    most: Any
    fixed: Any

    def hull(self, other: _Part, low: Any, high: Any) -> _Part:
        least, most = np.minimum(self.least, other.least), np.maximum(self.most, other.most)
        return _Part(low, high, least, most, self.fixed & other.fixed)

    def where(self, chosen: Any, other: _Part) -> _Part:
        pairs = zip(self._fields, other._fields, strict=True)
        return _Part(*(np.where(chosen, mine, others) for mine, others in pairs))

    @property
    def _fields(self) -> tuple[Any, ...]:
        return self.low, self.high, self.least, self.most, self.fixed


@dataclass(frozen=True)
class Rate:
    """Least cycles and energy per operation, and least cycles of an instruction; 0 where nothing is known."""

    cycles: float
    energy_pj: float
    shortest: float


class Shared(NamedTuple):
    """Dims of a capability, by number, that have at most so many elements together."""

    dims: tuple[int, ...]
    most: int


class Rates:
    """Least costs of the capabilities of a machine; remembers answers."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.splits: dict[tuple[str, str], tuple[tuple[Split, ...], ...]] = {}
        self.known: dict[tuple[object, ...], Rate] = {}
        self.blocks: dict[tuple[object, ...], float] = {}

    def rate(self, capability: Capability, extents: Sequence[int], shared: Sequence[Shared] = ()) -> Rate:
        """Over all boxes whose dims have at most `extents` (one per dim), spread in any way.

        Cycles are those of boxes of which the dims of each of `shared` have at most so many elements together.
        """
        key = capability.node, capability.name, *extents, *shared
        if key not in self.known:
            boxes = _boxes(capability, extents, self._splits(capability))
            cycles, shortest = _least(capability.cycles, capability, *boxes)
            if shared and cycles:
                cycles = _least_shared(capability, *boxes, shared)
            self.known[key] = Rate(cycles, _least(capability.energy_pj, capability, *boxes)[0], shortest)
        return self.known[key]

    def cycles_per_block(self, capability: Capability, extents: Sequence[int], slot: int, block: int) -> float:
        """Least cycles per operation of all other dims and block of so many elements of the dim `slot`.

        Where longer boxes cost no less, only the shortest of each number of blocks are looked at; else it is 0.
        """
        if not _grows(capability.cycles, capability.dims[slot].name):
            return 0.0
        key = capability.node, capability.name, slot, block, *extents
        if key not in self.blocks:
            boxes = _boxes(capability, extents, self._splits(capability), (slot, block))
            self.blocks[key] = _least(capability.cycles, capability, *boxes, (slot, block))[0]
        return self.blocks[key]

    def costs_grow(self, capability: Capability, slot: str) -> bool:
        """Whether no box costs less, in cycles or energy, than one that is shorter along a dim."""
        return _grows(capability.cycles, slot) and _grows(capability.energy_pj, slot)

    def _splits(self, capability: Capability) -> tuple[tuple[Split, ...], ...]:
        name = capability.node, capability.name
        if name not in self.splits:
            self.splits[name] = split_choices(self.machine, capability)
        return self.splits[name]


@lru_cache(maxsize=16)
def rates_of(machine: Machine) -> Rates:
    """The rates of a machine, shared by the bounds of all programs for it."""
    return Rates(machine)


def _least(
    formula: Expr,
    capability: Capability,
    low: Floats,
    high: Floats,
    ways: Mapping[str, Any],
    block: tuple[int, int] | None = None,
) -> tuple[float, float]:
    """The least of a formula per operation, and the least of it at all.

    With `block`, a dim and a number, per block of so many along this dim, whose extents are single numbers.
    """
    try:
        found, shortest = _each_least(formula, capability, low, high, ways, block)
    except _UnknownError:
        return 0.0, 0.0
    return max(0.0, float(found.min())) * (1 - 1e-12), max(0.0, shortest)


def _each_least(
    formula: Expr,
    capability: Capability,
    low: Floats,
    high: Floats,
    ways: Mapping[str, Any],
    block: tuple[int, int] | None = None,
) -> tuple[Floats, float]:
    """The least of a formula per operation (or block) in each range of boxes, and the least of it at all."""
    fixed = low == high
    part = _whole(formula, capability, low, high, ways, fixed)
    falls, grows = part.most <= 1 + 1e-9, part.least >= 1 - 1e-9
    starts = np.where(falls, high, low)
    ends = np.where(grows & ~falls, low, high)
    best = _whole(formula, capability, starts, ends, ways, fixed)
    counted = ends
    if block is not None:
        counted = ends.copy()
        counted[block[0]] = np.ceil(ends[block[0]] / block[1])
    return best.low / counted.prod(axis=0), float(np.min(part.low))


def _least_shared(
    capability: Capability, low: Floats, high: Floats, ways: dict[str, Any], shared: Sequence[Shared]
) -> float:
    """The least cycles per operation of boxes of which some dims have at most so many elements together.

    Ranges that hold boxes with more elements are halved along their widest such dim, while these seem to cost less than
    boxes that are allowed.
    """
    formula, least, allowed = capability.cycles, np.inf, np.inf
    for left in reversed(range(HALVINGS)):
        for dims, most in shared:
            own = list(dims)
            high[own] = np.minimum(high[own], most // (low[own].prod(axis=0) / low[own]))
        kept = (low <= high).all(axis=0)
        low, high, ways = low[:, kept], high[:, kept], {name: way[kept] for name, way in ways.items()}
        found, _ = _each_least(formula, capability, low, high, ways)
        best = np.argsort(found, kind="stable")[:MANY_RANGES]
        own_ways = {name: way[best] for name, way in ways.items()}
        for order in (1, -1):
            some = high[:, best]
            for dims, most in shared:
                for dim in dims[::order]:
                    some[dim] = np.clip(most * some[dim] / some[list(dims)].prod(axis=0), low[dim, best], some[dim])
            cost = _whole(formula, capability, some, some, own_ways, (low == high)[:, best]).low / some.prod(axis=0)
            allowed = min(allowed, float(cost.min()))
        over = np.array([high[list(dims)].prod(axis=0) > most for dims, most in shared])
        halved = over.any(axis=0) & (found < allowed * (1 - CLOSE))
        if not left or halved.sum() > MOST_HALVED:
            halved[:] = False
        least = min(least, float(found[~halved].min(initial=np.inf)))
        if not halved.any():
            break
        own_ways = {name: way[halved] for name, way in ways.items()}
        low, high, ways = _halved(low[:, halved], high[:, halved], own_ways, over[:, halved], shared)
    return least * (1 - 1e-12)


def _halved(
    low: Floats, high: Floats, ways: Mapping[str, Any], over: NDArray[np.bool_], shared: Sequence[Shared]
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Both halves of ranges along the widest of the first dims that have too many elements together."""
    width = np.ones_like(low)
    for i, (dims, _) in enumerate(shared):
        width[list(dims)] = np.where(over[i] & ~over[:i].any(axis=0), (high / low)[list(dims)], 1)
    at = width.argmax(axis=0), np.arange(low.shape[1])
    lower, upper = high.copy(), low.copy()
    lower[at] = np.minimum(np.floor(np.sqrt(low[at] * high[at])), high[at] - 1)
    upper[at] = lower[at] + 1
    both = {name: np.tile(way, 2) for name, way in ways.items()}
    return np.hstack((low, upper)), np.hstack((lower, high)), both


def _boxes(
    capability: Capability,
    extents: Sequence[int],
    splits: Sequence[Sequence[Split]],
    block: tuple[int, int] | None = None,
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Smallest and largest extents (dims, boxes), cut where lanes are full, for each way to spread dims.

    Of a dim with lanes the extents up to `FEW` are boxes of their own.  With `block`, a dim and a number, that dim has
    the shortest extents of each number of such blocks.
    """
    single, length = block or (-1, 1)
    ends = [min(dim.limit, extent) for dim, extent in zip(capability.dims, extents, strict=True)]
    cuts = [
        [(extent, extent) for extent in range(1, end + 1, length)] if i == single else _cuts(dim.lanes, end)
        for i, (dim, end) in enumerate(zip(capability.dims, ends, strict=True))
    ]
    cells = np.array(list(product(*cuts)), np.float64)
    low, high = (np.repeat(cells[:, :, side].T, len(splits), axis=1) for side in (0, 1))
    ways: dict[str, Any] = {}
    for dim in capability.dims:
        one = [prod(count for _, name, count in split if name == dim.name) for split in splits]
        ways[f"{dim.name}_ways"] = np.tile(np.array(one, np.float64), len(cells))
    return low, high, ways


def _cuts(lanes: int, end: int) -> list[tuple[int, int]]:
    """Ranges of extents up to `end`: the first ones by themselves, others up to where lanes are full and from there."""
    if lanes == 1:
        return [(1, end)]
    first = min(lanes, FEW, end)
    borders = [border for border in (first, lanes, end) if first <= border <= end]
    return [(extent, extent) for extent in range(1, first + 1)] + [
        (low, high) for low, high in pairwise(borders) if low < high
    ]


def _whole(
    formula: Expr, capability: Capability, low: Floats, high: Floats, ways: Mapping[str, Any], fixed: NDArray[np.bool_]
) -> _Part:
    zero, known = np.zeros(low.shape), np.ones(low.shape[1], np.bool_)
    env = {name: _Part(value, value, zero, zero, known) for name, value in ways.items()}
    for i, dim in enumerate(capability.dims):
        degree = zero.copy()
        degree[i] = 1.0
        env[dim.name] = _Part(low[i], high[i], degree, degree, fixed[i])
    env["ops"] = _Part(low.prod(axis=0), high.prod(axis=0), zero + 1, zero + 1, fixed.all(axis=0))
    return _part(formula, env, True)


def _part(expr: Expr, env: Mapping[str, _Part], below: bool) -> _Part:
    """A smooth function that is nowhere above (`below`), or nowhere below the expression."""
    match expr:
        case Num(value) if value >= 0:
            some = next(iter(env.values()))
            number = np.full(np.shape(some.least)[1:], float(value))
            known = np.ones(np.shape(some.least)[1:], np.bool_)
            return _Part(number, number, 0 * some.least, 0 * some.least, known)
        case Name(name) if name in env:
            return env[name]
        case Call("mul", (first, second)):
            a, b = _part(first, env, below), _part(second, env, below)
            return _Part(a.low * b.low, a.high * b.high, a.least + b.least, a.most + b.most, a.fixed & b.fixed)
        case Call("add", (first, second)):
            a, b = _part(first, env, below), _part(second, env, below)
            return a.hull(b, a.low + b.low, a.high + b.high)
        case Call("max" | "min" as name, (first, second)):
            return _extreme(name, first, second, env, below)
        case Call("ceildiv" | "floordiv" | "div" as name, (first, second)):
            return _quotient(name, _part(first, env, below), _part(second, env, not below), below)
        case _:
            raise _UnknownError


def _grows(expr: Expr, name: str, up: bool = True) -> bool:
    """Whether a formula never falls (`up`), or never rises, as a name in it grows."""
    match expr:
        case Num(value):
            return value >= 0
        case Name(other):
            return up or other not in (name, "ops")
        case Call("mul" | "add" | "max" | "min", (first, second)):
            return _grows(first, name, up) and _grows(second, name, up)
        case Call("ceildiv" | "floordiv" | "div", (first, second)):
            return _grows(first, name, up) and _grows(second, name, not up)
        case _:
            return False


def _extreme(name: str, first: Expr, second: Expr, env: Mapping[str, _Part], below: bool) -> _Part:
    try:
        a = _part(first, env, below)
    except _UnknownError:
        if name == "max" and below:
            return _part(second, env, below)
        raise
    try:
        b = _part(second, env, below)
    except _UnknownError:
        if name == "max" and below:
            return a
        raise
    if name == "max":
        both = a.hull(b, np.maximum(a.low, b.low), np.maximum(a.high, b.high))
        return a.where(a.low >= b.high, b.where(b.low >= a.high, both))
    both = a.hull(b, np.minimum(a.low, b.low), np.minimum(a.high, b.high))
    return a.where(a.high <= b.low, b.where(b.high <= a.low, both))


def _quotient(name: str, a: _Part, b: _Part, below: bool) -> _Part:
    """a / b as a whole number; a is on the same side as the quotient, b on the other."""
    if np.min(b.low) <= 0:
        raise _UnknownError
    fixed, zero = a.fixed & b.fixed, 0 * a.least
    exact = _Part(a.low / b.high, a.high / b.low, a.least - b.most, a.most - b.least, fixed)
    if name != "div":
        number = np.ceil(exact.low * (1 - 1e-12)) if name == "ceildiv" else np.floor(exact.low * (1 + 1e-12))
        exact = _Part(number, number, zero, zero, fixed).where(fixed, exact)
    if name == "ceildiv" and below:
        one = _Part(1 + 0 * exact.low, 1 + 0 * exact.low, zero, zero, exact.fixed)
        both = exact.hull(one, np.maximum(exact.low, 1), np.maximum(exact.high, 1))
        found = exact.where(exact.low >= 1, one.where(exact.high <= 1, both))
        return found if np.min(a.low) > 0 else exact
    if name == "ceildiv":
        one = _Part(exact.low, exact.high, zero, zero, fixed)
        return exact.where(fixed, exact.hull(one, exact.low + 1, exact.high + 1))
    if below:
        raise _UnknownError
    return exact
