"""The whole model in compiled form: one mapping after the other."""

from math import ceil
from typing import NamedTuple

from ..hierarchy.batch import Batch
from .batch_nest import ALL, count_below, even, leave_out, set_loops
from .batch_words import first_words, words_moved, words_owned
from .compiled import UNRELATED, Asked, Bools, Floats, Ints, Loops, Scratch, Shape, bare, bare_entry
from .cycles import ROUNDING

READ, WRITE, SHARED, NETWORK = range(4)

INWARDS, OUTWARDS = 2, 3
"""Of `Flow.busiest`, after `READ` and `WRITE`."""


class Machine(NamedTuple):
    """A machine for one problem: arrays over L levels and T tensors.

    `entries` is -1 without limit and `bandwidths` (L, 4: read, write, shared, network) 0 without; `bits` (L, T) of each
    element in each level; `energies` (L, 2) per word read and written, blocks accounted for.
    """

    entries: Ints
    word_bits: Ints
    buffering: Floats
    energies: Floats
    bandwidths: Floats
    hop_energies: Floats
    latencies: Ints
    columns: Ints
    rows: Ints
    allowed: Bools
    bits: Ints
    is_output: Bools
    mac_energy: float


class Answers(NamedTuple):
    """What is filled in per mapping; `done` is False where compiled code gave up."""

    cycles: Ints
    energy_pj: Floats
    valid: Bools
    reads: Ints
    fills: Ints
    updates: Ints
    done: Bools


class Flow(NamedTuple):
    """Words of each level (L) and tensor (T) in one mapping, on the network and of first tiles.

    `busiest` (L, T, 4) are those of the first instance: read, written, and inwards and outwards on the network;
    `used` instances of each level with work; `innermost` the innermost level that keeps each tensor.
    """

    network: Ints
    returns: Ints
    first: Ints
    busiest: Ints
    used: Ints
    innermost: Ints


@bare_entry
def price_all(
    shape: Shape, machine: Machine, batch: Batch, answers: Answers, loops: Loops, flow: Flow, work: Scratch
) -> None:
    """Fill `answers` for all mappings of `batch`."""
    for n in range(len(batch.temporal)):
        factors = (batch.spatial_x, batch.spatial_y, batch.temporal)
        set_loops(shape, loops, n, factors, (batch.order_x, batch.order_y, batch.order))
        answers.done[n] = _count(n, shape, machine, batch, answers, loops, flow, work)
        if answers.done[n]:
            answers.energy_pj[n] = _energy(n, shape, machine, batch, answers, flow, loops)
            answers.cycles[n] = _cycles(n, shape, machine, batch, answers, flow, loops, work)
            answers.valid[n] = _valid(n, shape, machine, batch, loops, work)


@bare
def _count(
    n: int, shape: Shape, machine: Machine, batch: Batch, answers: Answers, loops: Loops, flow: Flow, work: Scratch
) -> bool:
    levels, tensors = machine.bits.shape
    asked = work.asked
    asked[Asked.EVENT], asked[Asked.SKIPPED] = ALL, -2
    for level in range(levels):
        flow.used[level] = 1
        asked[Asked.CHILD], asked[Asked.FAN] = level, level
        for dim in range(len(shape.bounds)):
            flow.used[level] *= count_below(loops, dim, loops.limits[dim], asked)
    for t in range(tensors):
        child = -1
        flow.innermost[t] = levels
        for level in range(levels):
            kept = batch.kept[n, level, t] or level == levels - 1
            for alone in range(1 if even(loops, level) or not _timed(machine, level) else 2):
                if alone:
                    leave_out(loops, level)
                asked[Asked.CHILD], asked[Asked.FAN] = child, level
                sent = words_moved(loops, shape, t, work)
                asked[Asked.CHILD] = level
                arriving, owned = 0, 0
                if kept and level < levels - 1:
                    arriving = words_moved(loops, shape, t, work)
                if machine.is_output[t]:
                    owned = words_owned(loops, shape, t, work)
                if alone:
                    leave_out(loops, levels)
                if min(sent, arriving, owned) < 0:
                    return False
                reads, fills, updates, returns = 0, 0, 0, 0
                if machine.is_output[t]:
                    returns = sent - owned
                if kept:
                    reads, fills = sent, arriving
                    if machine.is_output[t]:
                        reads, fills, updates = sent + arriving - owned, arriving - min(arriving, owned), sent
                if not alone:
                    flow.network[level, t], flow.returns[level, t] = sent, returns
                    answers.reads[n, level, t] = reads
                    answers.fills[n, level, t] = fills
                    answers.updates[n, level, t] = updates
                instances = 1 if alone else flow.used[level]
                words = flow.busiest[level, t]
                words[READ], words[WRITE] = reads // instances, (fills + updates) // instances
                words[INWARDS], words[OUTWARDS] = sent // instances, 0
                if machine.is_output[t]:
                    words[INWARDS], words[OUTWARDS] = returns // instances, sent // instances
            if kept and flow.innermost[t] == levels:
                flow.innermost[t] = level
            flow.first[level, t] = 0
            if level >= flow.innermost[t]:
                asked[Asked.CHILD], asked[Asked.FAN] = flow.innermost[t], level
                flow.first[level, t] = first_words(loops, shape, t, work)
            if flow.first[level, t] < 0:
                return False
            child = level if kept else child
    return True


@bare
def _timed(machine: Machine, level: int) -> bool:
    for port in range(4):
        if machine.bandwidths[level, port] > 0:
            return True
    return False


@bare
def _energy(n: int, shape: Shape, machine: Machine, batch: Batch, answers: Answers, flow: Flow, loops: Loops) -> float:
    levels, tensors = machine.bits.shape
    energy = machine.mac_energy
    for dim in range(len(shape.bounds)):
        energy *= loops.limits[dim]
    for level in range(levels):
        for t in range(tensors):
            scale = machine.bits[level, t] / machine.word_bits[level]
            written = answers.fills[n, level, t] + answers.updates[n, level, t]
            spent = answers.reads[n, level, t] * machine.energies[level, 0] + written * machine.energies[level, 1]
            if machine.hop_energies[level] > 0:
                words = flow.network[level, t] + flow.returns[level, t]
                spent += links(n, shape, batch, level, t) * words * machine.hop_energies[level]
            energy += spent * scale
    return energy


@bare
def links(n: int, shape: Shape, batch: Batch, level: int, tensor: int) -> float:
    """`traffic.links_per_word`."""
    columns, width = _farthest(batch.spatial_x[n, level], batch.order_x[n, level], shape.kinds[tensor])
    rows, _ = _farthest(batch.spatial_y[n, level], batch.order_y[n, level], shape.kinds[tensor])
    return columns + width * rows


@bare
def _farthest(bounds: Ints, order: Ints, kinds: Ints) -> tuple[float, int]:
    pitch, members, distance = 1, 1, 0.0
    for i in range(len(order)):
        bound = int(bounds[order[i]])
        share = 0.5
        if kinds[order[i]] == UNRELATED:
            share = 1.0
            members *= bound
        distance += (bound - 1) * pitch * share
        pitch *= bound
    return distance, members


@bare
def _cycles(
    n: int, shape: Shape, machine: Machine, batch: Batch, answers: Answers, flow: Flow, loops: Loops, work: Scratch
) -> int:
    levels, tensors = machine.bits.shape
    cycles, asked = 1, work.asked
    asked[Asked.CHILD], asked[Asked.FAN], asked[Asked.EVENT], asked[Asked.SKIPPED] = -1, ALL, 0, -2
    for dim in range(len(shape.bounds)):
        cycles *= count_below(loops, dim, loops.limits[dim], asked)
    for level in range(levels):
        read, write, inwards, outwards = 0, 0, 0, 0
        for t in range(tensors):
            words, bits = flow.busiest[level, t], machine.bits[level, t]
            read += words[READ] * bits
            write += words[WRITE] * bits
            inwards += words[INWARDS] * bits
            outwards += words[OUTWARDS] * bits
        cycles = max(cycles, _port_cycles(machine, level, read, write, max(inwards, outwards)))
    for outwards in range(2):
        cycles += _stream(n, machine, batch, flow, outwards)
    return cycles


@bare
def _port_cycles(machine: Machine, level: int, read: int, write: int, network: int) -> int:
    """`cycles.port_cycles`."""
    found = 0
    for port in range(4):
        bandwidth = machine.bandwidths[level, port]
        if bandwidth > 0:
            bits = network
            if port == READ:
                bits = read
            elif port == WRITE:
                bits = write
            elif port == SHARED:
                bits = read + write
            found = max(found, ceil(bits / (machine.word_bits[level] * bandwidth) * ROUNDING))
    return found


@bare
def _stream(n: int, machine: Machine, batch: Batch, flow: Flow, outwards: int) -> int:
    """`cycles.fill_cycles`, or `cycles.drain_cycles` for the output on its way `outwards`."""
    levels, tensors = machine.bits.shape
    innermost, slowest = levels, 0
    for t in range(tensors):
        if machine.is_output[t] == outwards:
            innermost = min(innermost, flow.innermost[t])
    for level in range(levels):
        source, target, network = 0, 0, 0
        for t in range(tensors):
            if machine.is_output[t] != outwards or level < flow.innermost[t]:
                continue
            words = flow.first[level, t] * machine.bits[level, t]
            kept = batch.kept[n, level, t] or level == levels - 1
            if level > flow.innermost[t]:
                network += words
                if kept:
                    source += words
            if kept and level < levels - 1:
                target += words
        if outwards:
            source, target = target, source
        slowest = max(slowest, _port_cycles(machine, level, source, target, network))
    for level in range(innermost, levels):
        slowest += machine.latencies[level]
    return slowest


@bare
def _valid(n: int, shape: Shape, machine: Machine, batch: Batch, loops: Loops, work: Scratch) -> bool:
    levels, tensors = machine.bits.shape
    for dim in range(len(shape.bounds)):
        if loops.tiles[levels, dim] < shape.bounds[dim]:
            return False
    for level in range(levels):
        columns, rows, demand = 1, 1, 0
        for dim in range(len(shape.bounds)):
            columns *= batch.spatial_x[n, level, dim]
            rows *= batch.spatial_y[n, level, dim]
        if columns > machine.columns[level] or rows > machine.rows[level]:
            return False
        for t in range(tensors):
            if level == levels - 1:
                if not batch.kept[n, level, t]:
                    return False
            elif batch.kept[n, level, t] and not machine.allowed[level, t]:
                return False
            if batch.kept[n, level, t] and machine.entries[level] >= 0:
                work.asked[Asked.CHILD], work.asked[Asked.FAN] = level, level
                demand += first_words(loops, shape, t, work) * machine.bits[level, t]
        if demand * machine.buffering[level] > machine.entries[level] * machine.word_bits[level] >= 0:
            return False
    return True
