"""The exact price of one mapping in compiled form: the numbers of `costs.timeloop.price_batch`."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from ....costs.exact.compiled import bare, part
from .links import Links
from .model import Floats, Ints, Model
from .room import Room
from .words import extents, moved_words, operand_traffic, traffic


class Choice(NamedTuple):
    """Tiles and loops of one mapping: `tiles` (5, D) are the MACs' tile under one innermost memory, that memory's,
    its neighbours' together, the middle memory's, and all; `order` (3, D) the temporal loops per memory, inner first;
    `kept` (2, T) tells which tensors the two inner memories hold."""

    tiles: Ints
    order: Ints
    kept: Ints


@part
def temporal_loops(choice: Choice, room: Room) -> int:
    """List dimension, bound and stride of all loops of bound > 1, inner to outer, in `room.loops`, and where each
    memory's begin in `room.starts`; returns how many there are."""
    dims, bounds, stride = room.loops[0], room.loops[1], room.loops[2]
    count = 0
    for level in range(3):
        inner, outer = (0, 1) if level == 0 else (2, 3) if level == 1 else (3, 4)
        for i in range(choice.tiles.shape[1]):
            d = choice.order[level, i]
            bound = choice.tiles[outer, d] // choice.tiles[inner, d]
            if bound > 1:
                dims[count], bounds[count], stride[count] = d, bound, choice.tiles[inner, d]
                count += 1
        room.starts[level + 1] = count
    return count


@bare
def nearest(words: float) -> int:
    """Rounded as the tool does, never negative."""
    return max(0, int(words + 0.5))


@part
def tensor_counts(
    model: Model, choice: Choice, t: int, count: int, compute: int, near: Links, far: Links, room: Room
) -> None:
    """Reads, fills and updates of tensor `t` per memory and instance, into `room.counts`, under `count` loops."""
    dims, bounds, stride = room.loops[0, :count], room.loops[1, :count], room.loops[2, :count]
    box, out = room.box, room.counts
    children = far.shape[0]
    read0 = float(operand_traffic(model, t, dims, bounds, stride, compute, near))
    child = extents(model, t, choice.tiles[1], box)
    found = traffic(model, t, box, child, dims, bounds, stride, room.starts[1], far)
    read1, arrived1, linked, received0 = float(found[0]), float(found[1]), found[2], found[1] / children
    together = extents(model, t, choice.tiles[2], box)
    tile = extents(model, t, choice.tiles[3], box)
    words2 = moved_words(model, t, box, tile, dims, bounds, stride, room.starts[2])
    read2 = float(words2)
    peer = linked / children
    if choice.kept[0, t] == 0:
        scale = read0 * children / max(arrived1, 1.0)
        read1, arrived1, peer = read1 * scale, arrived1 * scale, 0.0
    if choice.kept[1, t] == 0:
        read2 = read2 * (read1 / max(float(words2), 1.0))
    for level in range(3):
        for kind in range(3):
            out[level, kind] = 0
    owned = model.full[t]
    part = owned * child // together if children > 1 else owned
    if choice.kept[0, t]:
        _count(out[0], model.is_output[t], read0, received0 + peer, peer, part, False)
    if choice.kept[1, t]:
        _count(out[1], model.is_output[t], read1, float(words2), 0.0, owned, False)
    _count(out[2], model.is_output[t], read2, 0.0, 0.0, owned, True)


@bare
def _count(out: Ints, is_output: bool, content: float, received: float, peer: float, part: int, last: bool) -> None:
    if is_output:
        out[0] = nearest(content + peer - part)
        out[1] = 0 if last else nearest(received - part)
        out[2] = nearest(content)
    else:
        out[0] = nearest(content + peer)
        out[1] = int(received)


@part
def price(model: Model, choice: Choice, near: Links, far: Links, room: Room) -> tuple[float, int]:
    """Energy in pJ and cycles of a mapping that fits; `near` and `far` place MACs and innermost memories."""
    count = temporal_loops(choice, room)
    compute = 1
    for i in range(count):
        compute *= room.loops[1, i]
    counts, read, write = room.counts, room.flows[0], room.flows[1]
    for level in range(3):
        read[level], write[level] = 0.0, 0.0
    energy = model.macs * model.mac_energy
    for t in range(model.axis.shape[0]):
        tensor_counts(model, choice, t, count, compute, near, far, room)
        for level in range(3):
            instances = far.shape[0] if level == 0 else 1
            block = model.block[level]
            written = -(-counts[level, 1] // block) - (-counts[level, 2] // block)
            read_blocks = -(-counts[level, 0] // block)
            energy += (read_blocks * model.read_pj[level] + written * model.write_pj[level]) * instances
            read[level] += counts[level, 0] / compute
            write[level] += (counts[level, 1] + counts[level, 2]) / compute
    return energy, cycles_of(model, compute, read, write)


@bare
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
