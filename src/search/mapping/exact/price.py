"""The exact price of one mapping in compiled form: the numbers of `costs.timeloop.price_batch`."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from ....costs.compiled import compiled, inner
from .links import Links
from .model import Floats, Ints, Model
from .words import extents, operand_traffic, traffic


class Choice(NamedTuple):
    """Tiles and loops of one mapping: `tiles` (5, D) are the MACs' tile under one innermost memory, that memory's,
    its neighbours' together, the middle memory's, and all; `order` (3, D) the temporal loops per memory, inner first;
    `kept` (2, T) tells which tensors the two inner memories hold."""

    tiles: Ints
    order: Ints
    kept: Ints


@inner
def temporal_loops(choice: Choice) -> tuple[Ints, Ints, Ints, Ints]:
    """Dimension, bound and stride of all loops of bound > 1, inner to outer, and where each memory's begin (4,)."""
    dim_count = choice.tiles.shape[1]
    dims, bounds, stride = (
        np.empty(3 * dim_count, np.int64),
        np.empty(3 * dim_count, np.int64),
        np.empty(3 * dim_count, np.int64),
    )
    starts = np.zeros(4, np.int64)
    count = 0
    for level in range(3):
        inner, outer = (0, 1) if level == 0 else (2, 3) if level == 1 else (3, 4)
        for i in range(dim_count):
            d = choice.order[level, i]
            bound = choice.tiles[outer, d] // choice.tiles[inner, d]
            if bound > 1:
                dims[count], bounds[count], stride[count] = d, bound, choice.tiles[inner, d]
                count += 1
        starts[level + 1] = count
    return dims[:count], bounds[:count], stride[:count], starts


@inner
def product(values: Ints) -> int:
    """The product of a row of integers."""
    total = 1
    for i in range(values.shape[0]):
        total *= values[i]
    return total


@inner
def nearest(words: float) -> int:
    """Rounded as the tool does, never negative."""
    return max(0, int(words + 0.5))


@inner
def tensor_counts(
    model: Model,
    choice: Choice,
    t: int,
    loops: tuple[Ints, Ints, Ints, Ints],
    near: Links,
    far: Links,
    box: Ints,
    out: Ints,
) -> None:
    """Reads, fills and updates of tensor `t` per memory and instance, into `out` (3, 3)."""
    dims, bounds, stride, starts = loops
    visits = product(bounds)
    children = far.shape[0]
    read0 = float(operand_traffic(model, t, dims, bounds, stride, visits, near))
    child = extents(model, t, choice.tiles[1], box)
    found = traffic(model, t, box, child, dims, bounds, stride, starts[1], far)
    read1, arrived1, linked, received0 = float(found[0]), float(found[1]), found[2], found[1] / children
    together = extents(model, t, choice.tiles[2], box)
    tile = extents(model, t, choice.tiles[3], box)
    words2 = _outer_words(model, t, box, tile, dims, bounds, stride, starts[2])
    read2 = float(words2)
    peer = linked / children
    if choice.kept[0, t] == 0:
        scale = read0 * children / max(arrived1, 1.0)
        read1, arrived1, peer = read1 * scale, arrived1 * scale, 0.0
    if choice.kept[1, t] == 0:
        read2 = read2 * (read1 / max(float(words2), 1.0))
    out[:] = 0
    owned = model.full[t]
    part = owned * child // together if children > 1 else owned
    if choice.kept[0, t]:
        _count(out[0], model.is_output[t], read0, received0 + peer, peer, part, False)
    if choice.kept[1, t]:
        _count(out[1], model.is_output[t], read1, float(words2), 0.0, owned, False)
    _count(out[2], model.is_output[t], read2, 0.0, 0.0, owned, True)


@inner
def _outer_words(model: Model, t: int, box: Ints, tile: int, dims: Ints, bounds: Ints, stride: Ints, start: int) -> int:
    alone = Links(
        box.reshape((1, 1, box.shape[0])),
        dims.reshape((1, dims.shape[0])),
        np.ones(t + 1, np.int64),
        box.reshape((1, box.shape[0])),
        np.zeros(t + 1, np.int64),
        np.ones(3, np.int64),
        dims,
        box.reshape((1, 1, box.shape[0])),
        box.reshape((1, 1, box.shape[0])),
        dims,
    )
    return traffic(model, t, box, tile, dims, bounds, stride, start, alone)[3]


@inner
def _count(out: Ints, is_output: bool, content: float, received: float, peer: float, part: int, last: bool) -> None:
    if is_output:
        out[0] = nearest(content + peer - part)
        out[1] = 0 if last else nearest(received - part)
        out[2] = nearest(content)
    else:
        out[0] = nearest(content + peer)
        out[1] = int(received)


@compiled
def price(model: Model, choice: Choice, near: Links, far: Links) -> tuple[float, int]:
    """Energy in pJ and cycles of a mapping that fits; `near` and `far` place MACs and innermost memories."""
    loops = temporal_loops(choice)
    compute = product(loops[1])
    box, counts = np.empty(model.axes, np.int64), np.empty((3, 3), np.int64)
    read, write = np.zeros(3), np.zeros(3)
    energy = model.macs * model.mac_energy
    for t in range(model.axis.shape[0]):
        tensor_counts(model, choice, t, loops, near, far, box, counts)
        for level in range(3):
            instances = far.shape[0] if level == 0 else 1
            blocks = 0
            for kind in range(3):
                blocks += -(-counts[level, kind] // model.block[level])
            energy += blocks * model.energy[level] * instances
            read[level] += counts[level, 0] / compute
            write[level] += (counts[level, 1] + counts[level, 2]) / compute
    return energy, cycles_of(model, compute, read, write)


@inner
def cycles_of(model: Model, compute: int, read: Floats, write: Floats) -> int:
    """Cycles under every memory's bandwidth, from words per compute cycle."""
    cycles = compute
    for level in range(3):
        slowdown = 1.0
        if read[level] > model.read[level]:
            slowdown = min(slowdown, model.read[level] / read[level])
        if write[level] > model.write[level]:
            slowdown = min(slowdown, model.write[level] / write[level])
        if read[level] + write[level] > model.shared[level]:
            slowdown = min(slowdown, model.shared[level] / (read[level] + write[level]))
        cycles = max(cycles, ceil(compute / slowdown))
    return cycles
