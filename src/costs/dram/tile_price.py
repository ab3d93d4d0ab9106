"""Compiled: cycles and energy of tiles, kept by what they depend on.

The exact model repairs SoMa's: cores read their input at the layer's stride, results pass a write port, nobody has a
second level of weight buffer, and vector layers move what they read and write through the buffer's ports.
"""

from math import inf

from ...algebra.element import Ints
from ..soma.blocks import (
    SHARINGS,
    Split,
    Work,
    block_of,
    ceil_div,
    column_limit,
    compute_cycles,
    macs_of,
    sharing_possible,
)
from ..soma.blocks import bus_suffices as _bus_suffices
from ..soma.hardware import HOP_PJ, MAC_PJ, VECTOR_PJ
from ..soma.tile_cost import Counts, best_candidate, count_accesses, groups_together
from .tables import FC, Layers, Model, Net, Workspace, compiled, inner

KEY_BITS = 21
"""Bits of an extent in a key."""

TRIES = 64
"""Places looked at for a price; when all are taken, the next is given up."""


@inner
def price_tile(
    work: Workspace,
    net: Net,
    model: Model,
    splits: tuple[Split, ...],
    layer: int,
    box: tuple[int, int, int, int],
    read: int,
) -> tuple[int, float]:
    """Cycles and pJ of a tile of `box` (samples, channels, rows, columns) that reads `read` bytes; (0, inf) if none.

    `work` keeps known prices in a hash table: two keys, the first -1 where empty, and cycles; energies beside them.
    """
    keys, energies = work.price_keys, work.price_energy
    samples, channels, height, width = box
    first = (net.layers[layer, Layers.ALIKE] << 2 * KEY_BITS) | (samples << KEY_BITS) | channels
    second = (height << KEY_BITS) | width
    mask = len(energies) - 1
    place = ((first * 0x9E3779B1) ^ (second * 0x85EBCA6B) ^ (first >> 20)) & mask
    tries = 0
    while keys[place, 0] != -1 and tries < TRIES:
        if keys[place, 0] == first and keys[place, 1] == second:
            return keys[place, 2], float(energies[place])
        place = (place + 1) & mask
        tries += 1
    cycles, energy = _new_price(net, model, splits, layer, box, read)
    keys[place, 0], keys[place, 1], keys[place, 2], energies[place] = first, second, cycles, energy
    return cycles, energy


@inner
def _new_price(
    net: Net, model: Model, splits: tuple[Split, ...], layer: int, box: tuple[int, int, int, int], read: int
) -> tuple[int, float]:
    layers = net.layers
    if layers[layer, Layers.KIND] > FC:
        return _vector_price(net, model, layer, box, read)
    work = _work(layers, layer, box)
    if model.exact:
        cycles, energy = _best_exact(work, splits, model)
    else:
        cycles, buffer, core, hops = best_candidate(work, splits, SHARINGS, model.array)
        energy = buffer + core + hops
    return (cycles, energy + MAC_PJ * macs_of(work)) if cycles > 0 else (0, inf)


@inner
def _work(layers: Ints, layer: int, box: tuple[int, int, int, int]) -> Work:
    """The products of a tile."""
    samples, channels, height, width = box
    inputs, filters, groups = layers[layer, Layers.GROUP_CHANNELS], layers[layer, Layers.GROUP_FILTERS], 1
    if layers[layer, Layers.GROUPS] > 1:
        groups = ceil_div(channels, filters)
    if groups == 1:
        filters = channels
    if layers[layer, Layers.MADE_WEIGHTS]:
        samples, groups = 1, groups * samples
    return Work(
        samples,
        inputs,
        filters,
        height,
        width,
        layers[layer, Layers.KERNEL_HEIGHT],
        layers[layer, Layers.KERNEL_WIDTH],
        layers[layer, Layers.STRIDE_HEIGHT],
        layers[layer, Layers.STRIDE_WIDTH],
        groups,
    )


@compiled
def energies(
    net: Net, model: Model, splits: tuple[Split, ...], layer: int, box: tuple[int, int, int, int]
) -> tuple[float, float, float, float]:
    """pJ of a tile in SoMa's model: in the global buffer, in the cores' buffers, between cores, of arithmetic."""
    if net.layers[layer, Layers.KIND] > FC:
        return 0.0, 0.0, 0.0, _vector_price(net, model, layer, box, 0)[1]
    work = _work(net.layers, layer, box)
    _, buffer, core, hops = best_candidate(work, splits, SHARINGS, model.array)
    return buffer, core, hops, MAC_PJ * macs_of(work)


@inner
def _vector_price(net: Net, model: Model, layer: int, box: tuple[int, int, int, int], read: int) -> tuple[int, float]:
    layers = net.layers
    samples, channels, height, width = box
    size = samples * channels * height * width
    operations = (
        size * layers[layer, Layers.OPERANDS] * layers[layer, Layers.KERNEL_HEIGHT] * layers[layer, Layers.KERNEL_WIDTH]
    )
    cycles = ceil_div(operations, model.array.vector_ops)
    energy = VECTOR_PJ * operations
    if model.exact:
        cycles = max(cycles, ceil_div(read, model.array.read_port), ceil_div(size, model.write_port))
        energy += model.array.buffer_read * read + model.array.buffer_write * size
    return cycles, energy


@inner
def _read_whole(work: Work) -> Work:
    """`work` whose rows and columns, counted at a stride of 1, are those that its windows reach.

    n blocks of h rows read n ((h - 1) s + r) rows; the formulas in use have h n + (r - s) (n - 1) of them.
    """
    high, wide = min(work.stride_height, work.kernel_height), min(work.stride_width, work.kernel_width)
    return Work(
        work.batch,
        work.channels,
        work.filters,
        work.height * high + work.kernel_height - high,
        work.width * wide + work.kernel_width - wide,
        work.kernel_height,
        work.kernel_width,
        high,
        wide,
        work.groups,
    )


@inner
def _best_exact(work: Work, splits: tuple[Split, ...], model: Model) -> tuple[int, float]:
    """The candidate of least energy x cycles, without MACs' energy in the result."""
    together = max(1, groups_together(work, model.array))
    macs = work.channels * work.filters * work.kernel_height * work.kernel_width * work.height * work.width * work.batch
    best, found, least = 0, 0.0, inf
    passes = ceil_div(work.groups, together)
    for split in splits:
        rows = 0
        for columns in range(column_limit(work, split, model.array), 0, -1):
            block = block_of(work, split, model.array, columns)
            if block.rows == rows:
                continue
            rows = block.rows
            for sharing in SHARINGS[:3]:
                if not sharing_possible(block, split, sharing):
                    continue
                if not _bus_suffices(work, split, block, model.array, sharing, together):
                    continue
                counts = count_accesses(work, split, block, model.array, sharing)
                whole = count_accesses(_read_whole(work), split, block, model.array, sharing)
                energy = _energy(counts, whole, model) * work.groups
                read = ceil_div(whole.buffer_reads * together, model.array.read_port)
                write = ceil_div(counts.results * together, model.write_port)
                cycles = max(compute_cycles(work, block), read, write) * passes
                product = (energy + MAC_PJ * macs * work.groups) * cycles
                if product < least:
                    best, found, least = cycles, energy, product
    return best, found


@inner
def _energy(counts: Counts, whole: Counts, model: Model) -> float:
    """pJ of one group: `whole` counts what is read of the input, `counts` all else."""
    array = model.array
    energy = whole.buffer_reads * array.buffer_read + counts.results * array.buffer_write
    energy += counts.al1_reads * array.al1_read + whole.al1_writes * array.al1_write
    energy += counts.wl1_reads * array.wl1_read + counts.wl1_writes * array.wl1_write
    energy += counts.ol1_reads * array.ol1_read + counts.ol1_writes * array.ol1_write
    return energy + counts.results * (array.ol2_read + array.ol2_write) + HOP_PJ * counts.hops
