"""All tiles of a problem as a lattice of divisors, and the cheapest traffic beyond the middle memory for each."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....costs.compiled import compiled, inner
from ....errors import TilewrightError
from .model import Floats, Ints, Model
from .patterns import Patterns
from .words import extents, prefix_words

MAX_TILES = 1 << 22
"""Largest lattice that is searched."""


class Lattice(NamedTuple):
    """Tile number = sum of divisor numbers times `stride` (D,).

    `tile` (L, D) and `rank` (L, D) give divisors and their numbers; `multiples` (D, M, M) lists
    the numbers of multiples of a divisor, itself first, -1 padded, `multiple_count` (D, M) how many; `times`
    (D, M, M) is the number of a product, or -1.
    """

    tile: Ints
    rank: Ints
    stride: Ints
    multiples: Ints
    multiple_count: Ints
    times: Ints


def divisors(number: int) -> list[int]:
    """All divisors, in ascending order."""
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def lattice_of(model: Model) -> Lattice:
    """The lattice of divisors of the bounds."""
    lists = [divisors(int(bound)) for bound in model.bounds]
    if prod(len(found) for found in lists) > MAX_TILES:
        raise TilewrightError("mapping", "tiles", f"at most {MAX_TILES}", str(prod(len(found) for found in lists)))
    most = max(len(found) for found in lists)
    shape = len(lists), most, most
    multiples, times = np.full(shape, -1, np.int64), np.full(shape, -1, np.int64)
    multiple_count = np.zeros(shape[:2], np.int64)
    for d, found in enumerate(lists):
        for i, value in enumerate(found):
            numbers = [j for j, other in enumerate(found) if other % value == 0]
            multiples[d, i, : len(numbers)], multiple_count[d, i] = numbers, len(numbers)
            for j, other in enumerate(found):
                if value * other in found:
                    times[d, i, j] = found.index(value * other)
    count = np.array([len(found) for found in lists], np.int64)
    rank = np.indices(tuple(count.tolist())).reshape(len(lists), -1).T.astype(np.int64).copy()
    tile = np.stack([np.array(found, np.int64)[rank[:, d]] for d, found in enumerate(lists)], axis=1)
    stride = np.array([prod(count[d + 1 :].tolist()) for d in range(len(lists))], np.int64)
    return Lattice(tile, rank, stride, multiples, multiple_count, times)


@compiled
def footprints(model: Model, lattice: Lattice) -> Ints:
    """Words of every tensor (L, T) in every tile."""
    found = np.empty((lattice.tile.shape[0], model.axis.shape[0]), np.int64)
    box = np.empty(model.axes, np.int64)
    for i in range(found.shape[0]):
        for t in range(found.shape[1]):
            found[i, t] = extents(model, t, lattice.tile[i], box)
    return found


@inner
def outer_energy(model: Model, t: int, words: int) -> float:
    """Energy of `words` that move between the outermost memory and a middle one that holds the tensor."""
    inner, outer = words, words
    energy = 0.0
    if model.is_output[t]:
        energy = -(-words // model.block[2]) * model.energy[2]
        inner = max(0, words - model.full[t])
        outer = inner
    return energy - (-inner // model.block[1]) * model.energy[1] - (-outer // model.block[2]) * model.energy[2]


@inner
def outer_words(model: Model, lattice: Lattice, patterns: Patterns, tile: int, p: int, out: Ints) -> bool:
    """Words of each tensor into middle tile number `tile` under pattern `p` (False where a loop of it has bound 1)."""
    bounds = model.bounds // lattice.tile[tile]
    visits = 1
    for d in range(bounds.shape[0]):
        visits *= bounds[d]
    for i in range(patterns.length[p]):
        if bounds[patterns.order[p, i]] == 1:
            return False
    box = np.empty(model.axes, np.int64)
    for t in range(out.shape[0]):
        whole = extents(model, t, lattice.tile[tile], box)
        out[t] = prefix_words(
            model, t, box, whole, patterns.order[p], patterns.length[p], bounds, lattice.tile[tile], visits
        )[0]
    return True


@compiled
def outer_tables(model: Model, lattice: Lattice, patterns: Patterns, sizes: Ints, kept: Ints) -> tuple[Floats, Ints]:
    """Per choice of kept tensors (`kept` (C, T)) and middle tile, the least energy beyond the middle memory (C, L).

    It is inf where a tile does not fit.  Also the least words of each tensor into any tile that fits (C, T).
    """
    found = np.full((kept.shape[0], lattice.tile.shape[0]), np.inf)
    least = np.full(kept.shape, np.iinfo(np.int64).max)
    room = np.empty(kept.shape[0], np.bool_)
    words, energy = np.empty(sizes.shape[1], np.int64), np.empty(sizes.shape[1])
    for i in range(found.shape[1]):
        for c in range(room.shape[0]):
            room[c] = (sizes[i] * kept[c]).sum() <= model.capacity[1]
        if not room.any():
            continue
        for p in range(patterns.length.shape[0]):
            if not outer_words(model, lattice, patterns, i, p, words):
                continue
            for t in range(words.shape[0]):
                energy[t] = outer_energy(model, t, words[t])
            _lower(found[:, i], room, kept, energy)
            for c in range(room.shape[0]):
                if room[c]:
                    least[c] = np.minimum(least[c], words)
    return found, least


@inner
def _lower(found: Floats, room: NDArray[np.bool_], kept: Ints, energy: Floats) -> None:
    for c in range(room.shape[0]):
        if room[c]:
            total = 0.0
            for t in range(energy.shape[0]):
                if kept[c, t]:
                    total += energy[t]
            found[c] = min(found[c], total)


@compiled
def spread(lattice: Lattice, table: Floats, fixed: Ints) -> Floats:
    """Per tile, the minimum of `table` over tiles that contain it and agree with it in the `fixed` (D,) dimensions."""
    found = table.copy()
    for d in range(fixed.shape[0]):
        if fixed[d]:
            continue
        before = found.copy()
        for i in range(found.shape[0]):
            r = lattice.rank[i, d]
            for m in range(1, lattice.multiple_count[d, r]):
                other = before[i + (lattice.multiples[d, r, m] - r) * lattice.stride[d]]
                found[i] = min(found[i], other)
    return found
