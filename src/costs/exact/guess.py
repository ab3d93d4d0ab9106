"""Quick guesses of a mapping's price: tiles of mean size, and only the innermost loops that move a tensor reuse it.

The exact model adds ragged ends and what tiles of outer loops have in common; it takes a hundred times longer.  Energy
of hops, and cycles of filling and draining, are left out.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

from ..hierarchy.batch import Batch
from .batch_kernel import Machine
from .compiled import PLAIN, UNRELATED, Floats, Ints, Shape, bare, bare_entry


class Room(NamedTuple):
    """Arrays that a guess fills: sizes of tiles (L + 1, D) with ones in the first row, other sizes (D,), and words that
    each level reads, writes, sends inwards and takes in from inside (4, L)."""

    tiles: Floats
    extents: Floats
    words: Floats


def room(levels: int, dims: int) -> Room:
    """Fresh arrays for guesses."""
    return Room(np.ones((levels + 1, dims)), np.ones(dims), np.zeros((4, levels)))


@bare_entry
def guess_all(shape: Shape, machine: Machine, batch: Batch, out: Floats, fitting: bool, room: Room) -> None:
    """Fill `out` (N, 3) with energy, cycles and whether it fits of all mappings; infinite, if `fitting`, where not."""
    for n in range(len(batch.temporal)):
        out[n, 0], out[n, 1], out[n, 2] = guess_one(n, shape, machine, batch, room, fitting)


@bare
def guess_one(
    n: int, shape: Shape, machine: Machine, batch: Batch, room: Room, fitting: bool
) -> tuple[float, float, float]:
    """The same of mapping `n`."""
    _set_tiles(n, batch, room.tiles)
    fits = _fits(n, shape, machine, batch, room.tiles)
    energy, cycles = _price(n, shape, machine, batch, room) if fits or not fitting else (np.inf, np.inf)
    return energy, cycles, 1.0 if fits else 0.0


@bare
def _set_tiles(n: int, batch: Batch, tiles: Floats) -> None:
    levels, dims = batch.temporal.shape[1:]
    for level in range(levels):
        for d in range(dims):
            factor = batch.temporal[n, level, d] * batch.spatial_x[n, level, d] * batch.spatial_y[n, level, d]
            tiles[level + 1, d] = tiles[level, d] * factor


@bare
def _fits(n: int, shape: Shape, machine: Machine, batch: Batch, tiles: Floats) -> bool:
    levels, dims = batch.temporal.shape[1:]
    for d in range(dims):
        if tiles[levels, d] < shape.bounds[d]:
            return False
    for level in range(levels):
        columns, rows, demand = 1, 1, 0.0
        for d in range(dims):
            columns *= batch.spatial_x[n, level, d]
            rows *= batch.spatial_y[n, level, d]
        if columns > machine.columns[level] or rows > machine.rows[level]:
            return False
        for t in range(machine.bits.shape[1]):
            if not batch.kept[n, level, t]:
                continue
            if level < levels - 1 and not machine.allowed[level, t]:
                return False
            if machine.entries[level] >= 0:
                demand += machine.bits[level, t] * _tile_words(shape, t, tiles[level + 1])
        if demand * machine.buffering[level] > machine.entries[level] * machine.word_bits[level] >= 0:
            return False
    return True


@bare
def _tile_words(shape: Shape, t: int, tile: Floats) -> float:
    """Elements of a whole tile."""
    words = 1.0
    for d in range(len(tile)):
        if shape.kinds[t, d] == PLAIN:
            words *= min(tile[d], float(shape.bounds[d]))
    for window in range(shape.first[t], shape.first[t + 1]):
        words *= _window_words(shape, window, tile, mean=False)
    return words


@bare
def _window_words(shape: Shape, window: int, tile: Floats | Ints, mean: bool) -> float:
    """Elements along an axis: of a whole tile, or of a mean one; of three or more dimensions, at most."""
    box, points, terms = 1.0, 1.0, 0
    first, second, a, b = 1.0, 1.0, 1.0, 1.0
    for k in range(shape.sizes[window]):
        d, c = shape.windows[window, k, 0], float(abs(shape.windows[window, k, 1]))
        bound = float(shape.bounds[d])
        size = min(float(tile[d]), bound)
        if mean:
            size = bound / ceil(bound / size)
        box += c * (size - 1)
        points *= size
        first, a, second, b = second, b, size, c
        terms += 1
    if terms == 2:
        return points - max(0.0, first - b) * max(0.0, second - a)
    return min(box, points)


@bare
def _moved(n: int, shape: Shape, batch: Batch, tiles: Floats, t: int, child: int, fan: int, extents: Floats) -> float:
    """Words of tensor `t` that go to tiles of level `child`, once for all of those below one instance of `fan`."""
    levels, dims = batch.temporal.shape[1:]
    for d in range(dims):
        extents[d] = tiles[child + 1, d]
        for level in range(child + 1, fan + 1):
            extents[d] *= batch.spatial_x[n, level, d] * batch.spatial_y[n, level, d]
    level, i = child + 1, 0
    rests, sliding, times = child >= 0, -1, 1
    while rests and level < levels:
        d = batch.order[n, level, i]
        factor = batch.temporal[n, level, d]
        if factor > 1 and shape.kinds[t, d] == UNRELATED:
            extents[d] *= factor
        elif factor > 1:
            rests, sliding, times = False, d, factor
        i += 1
        if i == dims:
            level, i = level + 1, 0
    words = 1.0
    for d in range(dims):
        bound = float(shape.bounds[d])
        if shape.kinds[t, d] == PLAIN:
            words *= bound
        else:
            extent = extents[d] * (times if d == sliding else 1)
            words *= ceil(bound / extent) if extent < bound else 1
    for window in range(shape.first[t], shape.first[t + 1]):
        words *= _slid(shape, window, tiles[child + 1], extents, sliding, times)
    return words


@bare
def _slid(shape: Shape, window: int, tile: Floats, extents: Floats, sliding: int, times: int) -> float:
    """Elements along an axis that go to children of a `tile` each, together of `extents`, in `times` steps that slide.

    A step brings what is new to each child.
    """
    words = _window_words(shape, window, extents, mean=True)
    children, step = 1.0, 0.0
    for k in range(shape.sizes[window]):
        d = shape.windows[window, k, 0]
        children *= float(extents[d]) / float(tile[d])
        if d == sliding:
            step = abs(shape.windows[window, k, 1]) * float(extents[d])
    if step > 0:
        new = children * min(step, _window_words(shape, window, tile, mean=True))
        steps = min(times, ceil(shape.bounds[sliding] / extents[sliding]))
        words += (steps - 1.0) * min(words, new)
    return words


@bare
def _owned(n: int, shape: Shape, batch: Batch, t: int, level: int) -> float:
    """Elements of an output by the instances of a level that add to them."""
    levels, dims = batch.temporal.shape[1:]
    words = 1.0
    for d in range(dims):
        if shape.kinds[t, d] == PLAIN:
            words *= shape.bounds[d]
        elif shape.kinds[t, d] == UNRELATED:
            for above in range(level + 1, levels):
                words *= batch.spatial_x[n, above, d] * batch.spatial_y[n, above, d]
    for window in range(shape.first[t], shape.first[t + 1]):
        words *= _window_words(shape, window, shape.bounds, mean=False)
    return words


@bare
def _steps(n: int, d: int, bound: int, batch: Batch, tiles: Floats) -> float:
    """Iterations of a dimension's loops in time that have work, those of the first instance."""
    product = 1.0
    for level in range(batch.temporal.shape[1]):
        product *= batch.temporal[n, level, d]
    total, rest = 0.0, float(bound)
    for level in range(batch.temporal.shape[1] - 1, -1, -1):
        spread = batch.spatial_x[n, level, d] * batch.spatial_y[n, level, d]
        factor, pitch = batch.temporal[n, level, d], tiles[level, d] * spread
        digit = rest // pitch
        if digit >= factor:
            return total + product
        product /= factor
        total += digit * product
        rest -= digit * pitch
        if rest >= tiles[level, d] and spread > 1:
            return total + product
    return total + (1.0 if rest > 0 else 0.0)


@bare
def _price(n: int, shape: Shape, machine: Machine, batch: Batch, room: Room) -> tuple[float, float]:
    """Energy and cycles."""
    levels, dims = batch.temporal.shape[1:]
    tiles, extents = room.tiles, room.extents
    energy, cycles = machine.mac_energy, 1.0
    for d in range(dims):
        cycles *= _steps(n, d, shape.bounds[d], batch, tiles)
        energy *= shape.bounds[d]
    for level in range(levels):
        room.words[0, level] = room.words[1, level] = room.words[2, level] = room.words[3, level] = 0.0
    for t in range(machine.bits.shape[1]):
        child = -1
        for level in range(levels):
            bits = machine.bits[level, t] / machine.word_bits[level]
            kept = batch.kept[n, level, t] or level == levels - 1
            if not kept and machine.bandwidths[level, 3] <= 0:
                continue
            sent = bits * _moved(n, shape, batch, tiles, t, child, level, extents)
            room.words[3 if machine.is_output[t] else 2, level] += sent
            if not kept:
                continue
            arriving = 0.0
            if level < levels - 1:
                arriving = bits * _moved(n, shape, batch, tiles, t, level, level, extents)
            reads, writes = sent, arriving
            if machine.is_output[t]:
                owned = bits * _owned(n, shape, batch, t, level)
                reads += arriving - owned
                writes += sent - min(arriving, owned)
            energy += reads * machine.energies[level, 0] + writes * machine.energies[level, 1]
            room.words[0, level] += reads
            room.words[1, level] += writes
            child = level
    return energy, max(cycles, _port_cycles(n, machine, batch, room.words))


@bare
def _port_cycles(n: int, machine: Machine, batch: Batch, words: Floats) -> float:
    """Cycles of the busiest port; sums that go back inwards are left aside."""
    levels, dims = batch.temporal.shape[1:]
    used, cycles = 1.0, 0.0
    for level in range(levels - 1, -1, -1):
        demands = (
            words[0, level],
            words[1, level],
            words[0, level] + words[1, level],
            max(words[2, level], words[3, level]),
        )
        for port in range(4):
            if machine.bandwidths[level, port] > 0:
                cycles = max(cycles, demands[port] / (machine.bandwidths[level, port] * used))
        for d in range(dims):
            used *= batch.spatial_x[n, level, d] * batch.spatial_y[n, level, d]
    return cycles
