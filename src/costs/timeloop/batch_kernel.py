"""The price of one mapping, or of one after the other, in compiled form: the numbers of `evaluate`."""

from math import ceil
from typing import NamedTuple

import numpy as np

from ...algebra.element import Floats, Ints
from ..exact.compiled import bare, bare_entry
from ..hierarchy.batch import Batch
from .batch_arrays import Model
from .batch_links import Links, is_placed, look_around, place
from .batch_words import BOUNDS, DIMS, STRIDES, extents, operand_traffic, traffic

READS, FILLS, UPDATES = range(3)
CONTENT, DELIVERED, RECEIVED, PEER, HOPS, PASSED = range(6)
"""Rows of `Nest.words`: what one instance of a memory reads or takes for its children, what arrives in them, what
arrives in it from its parent, what it exchanges with its neighbours, the hops of words that it sends, and what its
children pass on."""


class Nest(NamedTuple):
    """One mapping on L memories, and room to price it.

    `tiles` (2 L, D) are, for each memory from the innermost, that of its children together and its own; `order` (L, D)
    its loops in time, inner first; `kept` (L, T) what it keeps.  `loops` (3, L D) are dimensions, bounds and strides of
    all loops of bound > 1, inner to outer, those of a memory from `starts` (L + 1,) on.  One tensor has `words` (6, L),
    each `counts` (L, T, 3) of an instance; all together, reads and writes per step of the units in `flows` (2, L).
    `instances` (L,) are in use; `box` (A,) are extents, `layout` (4, D) places children, `ones` (D,) is one point.
    """

    tiles: Ints
    order: Ints
    kept: Ints
    loops: Ints
    starts: Ints
    words: Floats
    counts: Ints
    flows: Floats
    instances: Ints
    box: Ints
    layout: Ints
    ones: Ints


def new_nest(levels: int, tensors: int, dims: int, axes: int) -> Nest:
    """Room for a mapping."""
    return Nest(
        np.ones((2 * levels, dims), np.int64),
        np.zeros((levels, dims), np.int64),
        np.ones((levels, tensors), np.int64),
        np.zeros((3, levels * dims), np.int64),
        np.zeros(levels + 1, np.int64),
        np.zeros((6, levels)),
        np.zeros((levels, tensors, 3), np.int64),
        np.zeros((2, levels)),
        np.ones(levels, np.int64),
        np.zeros(axes, np.int64),
        np.ones((4, dims), np.int64),
        np.ones(dims, np.int64),
    )


class Answers(NamedTuple):
    """What is filled in per mapping: cycles and pJ (N,), reads, fills and updates of an instance (N, L, T, 3), and
    words of tiles (N, L)."""

    cycles: Ints
    energy_pj: Floats
    counts: Ints
    used: Ints


@bare_entry
def price_all(model: Model, batch: Batch, nest: Nest, links: Links, linked: bool, answers: Answers) -> None:
    """Fill `answers` for all mappings of `batch`; neighbours pass words on where `linked`."""
    for n in range(batch.temporal.shape[0]):
        _set_nest(model, batch, n, nest)
        _set_links(model, batch, n, nest, links, linked)
        answers.energy_pj[n], answers.cycles[n] = price(model, nest, links)
        for level in range(nest.kept.shape[0]):
            for t in range(nest.kept.shape[1]):
                for kind in range(3):
                    answers.counts[n, level, t, kind] = nest.counts[level, t, kind]
                if nest.kept[level, t]:
                    answers.used[n, level] += extents(model, t, nest.tiles[2 * level + 1], nest.box)


@bare
def _set_nest(model: Model, batch: Batch, n: int, nest: Nest) -> None:
    """Take mapping `n` of a batch."""
    for level in range(nest.order.shape[0]):
        for d in range(nest.order.shape[1]):
            inside = nest.tiles[2 * level - 1, d] if level > 0 else 1
            nest.tiles[2 * level, d] = inside * batch.spatial_x[n, level, d] * batch.spatial_y[n, level, d]
            nest.tiles[2 * level + 1, d] = nest.tiles[2 * level, d] * batch.temporal[n, level, d]
            nest.order[level, d] = batch.order[n, level, d]
        for t in range(nest.kept.shape[1]):
            nest.kept[level, t] = batch.kept[n, level, t]


@bare
def _set_links(model: Model, batch: Batch, n: int, nest: Nest, links: Links, linked: bool) -> None:
    """Place the children of mapping `n`, which `nest` has, where they are not those of the mapping before."""
    for level in range(nest.order.shape[0]):
        for d in range(nest.order.shape[1]):
            nest.layout[0, d], nest.layout[1, d] = batch.spatial_x[n, level, d], batch.order_x[n, level, d]
            nest.layout[2, d], nest.layout[3, d] = batch.spatial_y[n, level, d], batch.order_y[n, level, d]
        child = nest.tiles[2 * level - 1] if level > 0 else nest.ones
        if is_placed(links, level, child, nest.layout):
            continue
        place(links, model, level, child, nest.layout)
        several = links.shape[level, 0] > 1
        for t in range(nest.kept.shape[1]):
            links.active[level, t], links.groups[level, t] = 1 if several and linked else 0, 1
            if several:
                look_around(links, model, level, t)


@bare
def price(model: Model, nest: Nest, links: Links) -> tuple[float, int]:
    """Energy in pJ and cycles of a mapping whose factors are perfect; `links` place children below each memory."""
    count = _list_loops(nest)
    levels, compute, energy = nest.order.shape[0], 1, model.macs * model.mac_energy
    for i in range(count):
        compute *= nest.loops[BOUNDS, i]
    for level in range(levels - 1, -1, -1):
        nest.flows[0, level], nest.flows[1, level] = 0.0, 0.0
        nest.instances[level] = 1
        if level < levels - 1:
            nest.instances[level] = nest.instances[level + 1] * links.shape[level + 1, 0]
    for t in range(nest.kept.shape[1]):
        outermost = _flow(model, nest, links, t, nest.loops[:, :count], compute)
        _count(model, nest, links, t, outermost)
        for level in range(levels):
            block, counts = model.block[level], nest.counts[level, t]
            written = -(-counts[FILLS] // block) - (-counts[UPDATES] // block)
            read = -(-counts[READS] // block)
            energy += (read * model.read_pj[level] + written * model.write_pj[level]) * nest.instances[level]
            sent = nest.words[HOPS, level] + nest.words[PASSED, level]
            energy += sent * model.hop_pj[level] * nest.instances[level]
            nest.flows[0, level] += counts[READS] / compute
            nest.flows[1, level] += (counts[FILLS] + counts[UPDATES]) / compute
    return energy, cycles_of(model, compute, nest.flows[0], nest.flows[1])


@bare
def _list_loops(nest: Nest) -> int:
    """List all loops of bound > 1; returns how many there are."""
    count = 0
    for level in range(nest.order.shape[0]):
        nest.starts[level] = count
        for i in range(nest.order.shape[1]):
            d = nest.order[level, i]
            stride = nest.tiles[2 * level, d]
            bound = nest.tiles[2 * level + 1, d] // stride
            if bound > 1:
                nest.loops[DIMS, count], nest.loops[BOUNDS, count], nest.loops[STRIDES, count] = d, bound, stride
                count += 1
    nest.starts[nest.order.shape[0]] = count
    return count


@bare
def _flow(model: Model, nest: Nest, links: Links, t: int, loops: Ints, compute: int) -> int:
    """Fill `nest.words` of tensor `t`; returns the outermost memory that keeps it."""
    words, last, outermost = nest.words, nest.order.shape[0] - 1, 0
    for level in range(last + 1):
        outermost = level if nest.kept[level, t] else outermost
        words[RECEIVED, level], words[PEER, level] = 0.0, 0.0
    operands = operand_traffic(model, t, loops, compute, links)
    words[CONTENT, 0], words[HOPS, 0], words[PASSED, 0] = operands.read, operands.hops / 2, operands.passed
    for level in range(1, last + 1):
        whole = extents(model, t, nest.tiles[2 * level - 1], nest.box)
        found = traffic(model, t, nest.box, whole, loops, nest.starts[level], links, level)
        words[CONTENT, level], words[DELIVERED, level] = found.read, found.arrived
        words[HOPS, level], words[PASSED, level] = found.hops / 2, found.passed
        words[PEER, level - 1] = found.passed / nest.instances[level - 1]
        if level - 1 < outermost:
            words[RECEIVED, level - 1] = words[DELIVERED, level] / links.shape[level, 0]
    for level in range(last):  # what a memory without the tensor would read, the next one outside does
        if not nest.kept[level, t]:
            scale = words[CONTENT, level] * links.shape[level + 1, 0] / max(words[DELIVERED, level + 1], 1.0)
            words[CONTENT, level + 1] *= scale
            words[DELIVERED, level + 1] *= scale
            words[PASSED, level], words[PASSED, level + 1] = 0.0, 0.0
    return outermost


@bare
def _count(model: Model, nest: Nest, links: Links, t: int, outermost: int) -> None:
    """Fill `nest.counts` of tensor `t` from its `words`; 0 where a memory does not keep it."""
    owned = model.full[t]
    for level in range(nest.order.shape[0] - 1, -1, -1):
        if level < nest.order.shape[0] - 1 and links.shape[level + 1, 0] > 1:
            together = extents(model, t, nest.tiles[2 * level + 2], nest.box)
            owned = owned * extents(model, t, nest.tiles[2 * level + 1], nest.box) // together
        content, peer, counts = nest.words[CONTENT, level], nest.words[PEER, level], nest.counts[level, t]
        received = nest.words[RECEIVED, level] + peer
        counts[READS], counts[FILLS], counts[UPDATES] = 0, 0, 0
        if nest.kept[level, t] and model.is_output[t]:
            counts[READS] = _nearest(content + peer - owned)
            counts[FILLS] = 0 if level == outermost else _nearest(received - owned)
            counts[UPDATES] = _nearest(content)
        elif nest.kept[level, t]:
            counts[READS], counts[FILLS] = _nearest(content + peer), int(received)


@bare
def _nearest(words: float) -> int:
    """Rounded as the tool does, never negative."""
    return max(0, int(words + 0.5))


@bare
def cycles_of(model: Model, compute: int, read: Floats, write: Floats) -> int:
    """Cycles under every memory's bandwidth, from words (L,) per compute cycle."""
    cycles = compute
    for level in range(read.shape[0]):
        slowdown = 1.0
        if read[level] > model.read[level]:
            slowdown = min(slowdown, model.read[level] / read[level])
        if write[level] > model.write[level]:
            slowdown = min(slowdown, model.write[level] / write[level])
        if read[level] + write[level] > model.shared[level]:
            slowdown = min(slowdown, model.shared[level] / (read[level] + write[level]))
        cycles = max(cycles, ceil(compute / slowdown))
    return cycles
