"""All tiles of a problem as a lattice of divisors, and the cheapest traffic beyond the middle memory for each."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....algebra.factors import divisors_of
from ....costs.exact.compiled import bare, bare_entry, part
from ....costs.timeloop.batch_arrays import Floats, Ints, Model
from ....costs.timeloop.batch_words import extents, moved_words
from ....errors import TilewrightError
from .patterns import Patterns
from .room import Room, list_loops

Bytes = NDArray[np.uint8]

MAX_TILES = 1 << 22
"""Largest lattice that is searched."""


class Lattice(NamedTuple):
    """Tile number = sum of divisor numbers times `stride` (D,).

    `tile` (L, D) and `rank` (L, D) give divisors and their numbers; `multiples` (D, M, M) lists
    the numbers of multiples of a divisor, itself first, -1 padded, `multiple_count` (D, M) how many.
    """

    tile: Ints
    rank: Ints
    stride: Ints
    multiples: Ints
    multiple_count: Ints


def lattice_of(model: Model) -> Lattice:
    """The lattice of divisors of the bounds."""
    lists = [divisors_of(int(bound)) for bound in model.bounds]
    if prod(len(found) for found in lists) > MAX_TILES:
        raise TilewrightError("mapping", "tiles", f"at most {MAX_TILES}", str(prod(len(found) for found in lists)))
    most = max(len(found) for found in lists)
    shape = len(lists), most, most
    multiples = np.full(shape, -1, np.int64)
    multiple_count = np.zeros(shape[:2], np.int64)
    for d, found in enumerate(lists):
        for i, value in enumerate(found):
            numbers = [j for j, other in enumerate(found) if other % value == 0]
            multiples[d, i, : len(numbers)], multiple_count[d, i] = numbers, len(numbers)
    count = np.array([len(found) for found in lists], np.int64)
    rank = np.indices(tuple(count.tolist())).reshape(len(lists), -1).T.astype(np.int64).copy()
    tile = np.stack([np.array(found, np.int64)[rank[:, d]] for d, found in enumerate(lists)], axis=1)
    stride = np.array([prod(count[d + 1 :].tolist()) for d in range(len(lists))], np.int64)
    return Lattice(tile, rank, stride, multiples, multiple_count)


def footprints(model: Model, lattice: Lattice) -> Ints:
    """Words of every tensor (L, T) in every tile."""
    found = np.empty((lattice.tile.shape[0], model.axis.shape[0]), np.int64)
    _footprints(model, lattice, np.empty(model.axes, np.int64), found)
    return found


@bare_entry
def _footprints(model: Model, lattice: Lattice, box: Ints, found: Ints) -> None:
    for i in range(found.shape[0]):
        for t in range(found.shape[1]):
            found[i, t] = extents(model, t, lattice.tile[i], box)


@bare
def outer_energy(model: Model, t: int, words: int) -> float:
    """Energy of `words` that move between the outermost memory and a middle one that holds the tensor."""
    inner, outer = words, words
    energy = 0.0
    if model.is_output[t]:
        energy = -(-words // model.block[2]) * model.write_pj[2]
        inner = max(0, words - model.full[t])
        outer = inner
    return energy - (-inner // model.block[1]) * model.write_pj[1] - (-outer // model.block[2]) * model.read_pj[2]


@bare
def outer_words(model: Model, lattice: Lattice, tile: int, order: Ints, length: int, room: Room) -> bool:
    """Fill `room.words` of each tensor into middle tile number `tile` if `order[:length]` are the innermost loops
    beyond it (False where one of them has bound 1)."""
    child, visits = lattice.tile[tile], 1
    for d in range(child.shape[0]):
        room.outer[d] = model.bounds[d] // child[d]
        visits *= room.outer[d]
    for i in range(length):
        if room.outer[order[i]] == 1:
            return False
    list_loops(order, length, room.outer, child, room.listed)
    for t in range(room.words.shape[0]):
        whole = extents(model, t, child, room.box)
        room.words[t] = moved_words(model, t, room.box, whole, room.listed[:, :length], 0, visits)[0]
    return True


def outer_tables(
    model: Model, lattice: Lattice, patterns: Patterns, sizes: Ints, kept: Ints, room: Room
) -> tuple[Floats, Ints]:
    """Per choice of kept tensors (`kept` (C, T)) and middle tile, the least energy beyond the middle memory (C, L).

    It is inf where a tile does not fit.  Also the least words of each tensor into any tile that fits (C, T).
    """
    fits = np.stack([sizes @ row <= model.capacity[1] for row in kept])
    found = np.full(fits.shape, np.inf)
    least = np.full(kept.shape, np.iinfo(np.int64).max)
    _outer_tables(model, lattice, patterns, kept, fits.view(np.uint8), room, found, least)
    return found, least


@bare_entry
def _outer_tables(
    model: Model, lattice: Lattice, patterns: Patterns, kept: Ints, fits: Bytes, room: Room, found: Floats, least: Ints
) -> None:
    for i in range(found.shape[1]):
        fit = 0
        for c in range(fits.shape[0]):
            fit += fits[c, i]
        if fit == 0:
            continue
        for p in range(patterns.length.shape[0]):
            if not outer_words(model, lattice, i, patterns.order[p], patterns.length[p], room):
                continue
            for t in range(room.words.shape[0]):
                room.energy[t] = outer_energy(model, t, room.words[t])
            for c in range(fits.shape[0]):
                if fits[c, i]:
                    found[c, i] = min(found[c, i], _lower(kept[c], least[c], room))


@part
def _lower(kept: Ints, least: Ints, room: Room) -> float:
    """The energy of the tensors that are `kept` (T,); lowers the `least` words (T,)."""
    total = 0.0
    for t in range(kept.shape[0]):
        if kept[t]:
            total += room.energy[t]
        least[t] = min(least[t], room.words[t])
    return total
