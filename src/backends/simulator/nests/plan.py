"""What the memories of a machine are told to run a mapping: loops, instances, and where each tensor's words lie.

Level 0 is the arithmetic, the last one the memory off chip.  A tile lies in its memory as the box of the tensor that
its iterations span, so that the place of a word is linear in the iterations: a base, and a stride per dim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from ....algebra.element import Ints
from ....costs.exact.nest import Nest
from ....costs.hierarchy import LoopMapping, Problem
from ....errors import TilewrightError

MAX_TILE_WORDS = 1 << 26
"""Words of all different tiles."""


def tile_tables(
    nest: Nest, operands: Sequence[Operand], parents: Ints, strides: Ints
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
    """`size_at`, `size_index`, `radix`, `shape_at`, `shapes` and `tiles` of a `Plan`."""
    levels, dims = parents.shape[1], len(nest.bounds)
    sizes = [[_sizes(nest, level - 1, dim) for dim in range(dims)] for level in range(levels)]
    size_at, size_index = _indices(nest, sizes)
    radix, shape_at = np.zeros((len(operands), levels, dims), np.int64), np.zeros((len(operands), levels), np.int64)
    shapes: list[tuple[int, int]] = []
    found: list[Ints] = []
    total = 0
    for t, operand in enumerate(operands):
        for level in range(1, levels - 1):
            if parents[t, level] < 0:
                continue
            moved = [dim for dim in range(dims) if any(row[dim] for row in operand.rows)]
            choices = [sizes[level][dim] for dim in moved]
            radix[t, level, moved] = [int(np.prod([len(c) for c in choices[i + 1 :]])) for i in range(len(moved))]
            shape_at[t, level] = len(shapes)
            ways = strides[t][[levels - 1, level, parents[t, level]]][:, moved]
            for shape in product(*choices):
                words = _places(ways, shape)
                shapes.append((total, len(words)))
                found.append(words)
                total += len(words)
                if total > MAX_TILE_WORDS:
                    expected = f"at most {MAX_TILE_WORDS} words in all different tiles"
                    raise TilewrightError("limit", operand.name, expected, "more", "shrink the kernel, or its tiles")
    tiles = np.concatenate(found) if found else np.zeros((0, 3), np.int64)
    return size_at, size_index, radix, shape_at, np.array(shapes, np.int64).reshape(-1, 2), tiles


def _sizes(nest: Nest, level: int, dim: int) -> list[int]:
    """The iterations that tiles of a level have along a dim, the whole tile's first."""
    bound, begins = nest.bounds[dim], np.zeros(1, np.int64)
    for place in nest.outside(level, dim):
        begins = np.unique(begins[:, None] + place.pitch * np.arange(place.bound))
        begins = begins[begins < bound]
    return [int(size) for size in np.unique(np.minimum(nest.tile(level, dim), bound - begins))[::-1]]


def _indices(nest: Nest, sizes: list[list[list[int]]]) -> tuple[Ints, Ints]:
    """For each level and dim where its part of the list begins, and the list of the numbers of sizes."""
    parts: list[Ints] = []
    at, starts = 0, np.zeros((len(sizes), len(nest.bounds)), np.int64)
    for level, of_level in enumerate(sizes):
        for dim, different in enumerate(of_level):
            part = np.full(different[0] + 1, -1)
            part[different] = np.arange(len(different))
            parts.append(part)
            starts[level, dim], at = at, at + len(part)
    return starts, np.concatenate(parts)


def _places(strides: Ints, shape: Sequence[int]) -> Ints:
    """Rows of one word each: its place by each row of strides, ascending by the first; every word once."""
    places = np.zeros((len(strides), 1), np.int64)
    for dim, size in enumerate(shape):
        steps = strides[:, dim, None] * np.arange(size)
        places = (places[:, :, None] + steps[:, None, :]).reshape(len(strides), -1)
        _, kept = np.unique(places[0], return_index=True)
        places = places[:, kept]
    return np.ascontiguousarray(places.T)


CHILD_BITS = 20
MAX_WORK = 1 << 33
MAX_WORDS = 1 << 26
MAX_MARKS = 1 << 33
"""Limits of a simulation: instances of a level (bits of their numbers), words that are touched, words in all memories,
and sums of all instances that may have been there before."""


class Plan(NamedTuple):
    """All that stays as it is during a run; tensors t (the output is last), dims d, levels k from 0 outwards.

    `loops` in time are rows (level, dim, iterations per step, bound), inner to outer.  The instances of level `k` are
    rows `first[k]` and on of `offsets`, where their work begins in each dim, and of `ancestors`, their instance of each
    level.  `parents[t, k]` is the level from which tensor `t` comes to `k` (-1: it is not kept in `k`).

    Instance `i` of level `k` has `words[t, k]` words, the first iteration's at `starts[t, k] + i * words[t, k]` and the
    least `lowest[t, k]` before that; a step along a dim is `strides[t, k, d]` words.  `factors[t, i]` is where unit `i`
    finds its operand at first, `powers[t]` how often it is a factor, and `sums[i]` the place of its result in the
    output.  `news[t, i]` is the first level at whose instance another unit asks for the same word before it.

    What an instance does is counted in row `counters[t, k] + i`; the words of the output that instance `i` of level
    `k` has ever held are marked from bit `marks[k] + i * (words of the output)` on (`marks[k]` -1: not marked).

    Tiles have at most `sizes[k, d]` iterations.  One of `size` iterations along each dim has shape number
    `shape_at[t, k] + sum(radix[t, k, d] * size_index[size_at[k, d] + size])`.  Row (first, count) of `shapes` tells
    which rows of `tiles` are its words: places in the tensor (ascending), in the memory itself, and in the parent.
    """

    bounds: Ints
    loops: Ints
    first: Ints
    offsets: Ints
    ancestors: Ints
    parents: Ints
    starts: Ints
    words: Ints
    lowest: Ints
    strides: Ints
    factors: Ints
    powers: Ints
    sums: Ints
    news: Ints
    counters: Ints
    marks: Ints
    sizes: Ints
    size_at: Ints
    size_index: Ints
    radix: Ints
    shape_at: Ints
    shapes: Ints
    tiles: Ints


@dataclass(frozen=True)
class Operand:
    """A tensor as the kernel indexes it: its shape, and per axis a constant and a coefficient for each dim.

    The operand is a factor of the product `power` times.
    """

    name: str
    shape: tuple[int, ...]
    constants: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    power: int = 1


class _Box(NamedTuple):
    """The words of one instance: how many, where that of the first iteration lies, and strides."""

    words: int
    base: int
    strides: tuple[int, ...]


def _whole(shape: Sequence[int], constants: Sequence[int], rows: Sequence[tuple[int, ...]], dims: int) -> _Box:
    weights = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    base = sum(w * c for w, c in zip(weights, constants, strict=True))
    strides = tuple(sum(w * row[d] for w, row in zip(weights, rows, strict=True)) for d in range(dims))
    return _Box(prod(shape), base, strides)


def _box(operand: Operand, tile: Sequence[int]) -> _Box:
    """The box that a tile spans; words of it that no iteration touches are there, but never move."""
    reach = [[c * (size - 1) for c, size in zip(row, tile, strict=True)] for row in operand.rows]
    shape = [1 + sum(map(abs, spans)) for spans in reach]
    lowest = [-sum(min(0, span) for span in spans) for spans in reach]
    return _whole(shape, lowest, operand.rows, len(tile))


def make_plan(
    problem: Problem, mapping: LoopMapping, nest: Nest, operands: Sequence[Operand], marked: Sequence[int]
) -> Plan:
    """The plan of a mapping, `nest`; levels in `marked` tell sums that they had before from new ones.

    `TilewrightError` (kind `limit`) where the simulation would take too long or too much memory.
    """
    offsets, ancestors = _instances(problem, nest, len(operands))
    instances = np.array([len(rows) for rows in offsets])
    parents = np.array([_parents(mapping, tensor.name) for tensor in problem.tensors])
    tiles = [[min(nest.tile(k, d), n) for d, n in enumerate(nest.bounds)] for k in range(-1, len(nest.tiles))]
    boxes = [
        [*(_box(o, tile) for tile in tiles[:-1]), _whole(o.shape, o.constants, o.rows, len(nest.bounds))]
        for o in operands
    ]
    words, lowest = (np.array([[box[part] for box in row] for row in boxes]) for part in range(2))
    strides = np.array([[box.strides for box in row] for row in boxes])
    held = np.where(parents >= 0, words * instances, 0)
    held[:, 0], held[:, -1] = 0, words[:, -1]
    _limit(problem, "words in all memories", int(held.sum()), MAX_WORDS)
    starts = (np.cumsum(held) - held.ravel()).reshape(held.shape) + lowest
    near = parents[:, 0]
    factors = np.array(
        [
            starts[t, p]
            + ancestors[0][:, p] * words[t, p]
            + (offsets[0] - offsets[p][ancestors[0][:, p]]) @ strides[t, p]
            for t, p in enumerate(near)
        ]
    )
    rows = np.cumsum([0, *instances])
    return Plan(
        np.array(nest.bounds),
        np.array([(p.level + 1, d, p.pitch, p.bound) for p, d in nest.events], np.int64).reshape(-1, 4),
        rows[:-1],
        np.concatenate(offsets),
        np.concatenate(ancestors),
        parents,
        starts,
        words,
        lowest,
        strides,
        factors,
        np.array([operand.power for operand in operands]),
        offsets[0] @ strides[-1, -1],
        np.array([_news(places, ancestors[0], outer) for places, outer in zip(factors, near, strict=True)]),
        rows[-1] * np.arange(len(operands))[:, None] + rows[:-1],
        _marks(problem, instances, marked, int(words[-1, -1])),
        np.array(tiles),
        *tile_tables(nest, operands, parents, strides),
    )


def _instances(problem: Problem, nest: Nest, tensors: int) -> tuple[list[Ints], list[Ints]]:
    """Per level, rows of all instances: where their work begins, and their instance of each level.

    Units that never have work are left out.
    """
    spread = [(p.level, d, p.pitch, p.bound) for d, row in enumerate(nest.places) for p in row if p.order is None]
    counts = [prod(bound for outer, _, _, bound in spread if outer > k) for k in range(-1, len(nest.tiles))]
    steps = prod(place.bound for place, _ in nest.events)
    _limit(problem, "instances of one level", max(counts), (1 << CHILD_BITS) - 1)
    _limit(problem, "words that units take and give", steps * counts[0] * tensors, MAX_WORK)
    dims = len(problem.dims)
    offsets = [_offsets(dims, [loop for loop in spread if loop[0] > k]) for k in range(-1, len(nest.tiles))]
    ancestors = [np.stack([np.arange(n) // max(1, n // outer) for outer in counts], axis=1) for n in counts]
    working = np.all(offsets[0] < np.array(nest.bounds), axis=1)
    offsets[0], ancestors[0] = offsets[0][working], ancestors[0][working]
    ancestors[0][:, 0] = np.arange(len(offsets[0]))
    return offsets, ancestors


def _offsets(dims: int, spread: list[tuple[int, int, int, int]]) -> Ints:
    """Where each instance's work begins; those of one instance further out stand together."""
    found = np.zeros((1, dims), np.int64)
    for _, dim, pitch, bound in sorted(spread, reverse=True):
        steps = np.zeros((bound, dims), np.int64)
        steps[:, dim] = pitch * np.arange(bound)
        found = (found[:, None] + steps).reshape(-1, dims)
    return found


def _parents(mapping: LoopMapping, tensor: str) -> list[int]:
    """For each level the next one outside that keeps a tensor; -1 where it is not kept in the level."""
    last = len(mapping.levels)
    kept = [True, *(tensor not in level.bypass for level in mapping.levels[:-1]), True]
    return [next((o for o in range(k + 1, last + 1) if kept[o]), -1) if kept[k] else -1 for k in range(last + 1)]


def _news(places: Ints, ancestors: Ints, near: int) -> Ints:
    """For each unit the first level at whose instance another unit asks for the same word before it."""
    news = np.ones(len(places), np.int64)
    for outer in range(1, near + 1):
        _, first = np.unique(np.stack([places, ancestors[:, outer]]), axis=1, return_index=True)
        news[first] += 1
    return news


def _marks(problem: Problem, instances: Ints, marked: Sequence[int], words: int) -> Ints:
    marks, bits = np.full(len(instances), -1), 0
    for level in marked:
        marks[level], bits = bits, bits + int(instances[level]) * words
    _limit(problem, "sums of all instances", bits, MAX_MARKS)
    return marks


def check_points(problem: Problem) -> None:
    """Raise `TilewrightError` (kind `limit`) for a kernel that is too large in any mapping."""
    _limit(problem, "words that units take and give", problem.macs * len(problem.tensors), MAX_WORK)


def _limit(problem: Problem, what: str, found: int, most: int) -> None:
    if found <= most:
        return
    extent, dim = max(zip(problem.bounds, problem.dims, strict=True))
    lever = f"shrink a bound of the kernel: {dim}={extent} is the largest"
    raise TilewrightError("limit", f"simulation of {problem.name}", f"at most {most} {what}", str(found), lever)
