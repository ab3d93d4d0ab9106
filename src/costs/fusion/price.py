"""Compiled: traffic, energy and cycles of a group whose regions are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..soma.compiled import compiled
from .columns import GraphColumns, Ints
from .demand import demand, row_step
from .trace import Trace, trace

Floats = NDArray[np.float64]

WEIGHTS, INPUTS, OUTPUTS, CYCLES, TRANSFER, GLOBAL, WEIGHT, REGIONS, TILE, PASSES = range(10)
"""Columns of a table of costs: bytes of DRAM traffic, cycles, demands in bytes, regions, number of the tile or -1, and
how often a layer on its own goes over its weights or maps."""


class Terms(NamedTuple):
    """The platform and how it is used; `weight_capacity` is -1 where weights share the global buffer."""

    array_x: int
    array_y: int
    cores: int
    batch: int
    align: int
    regions: int
    global_capacity: int
    weight_capacity: int
    dram_bytes_per_cycle: float
    mac_pj: float
    dram_read_pj: float
    dram_write_pj: float
    global_read_pj: float
    global_write_pj: float
    weight_read_pj: float
    weight_write_pj: float
    crossbar_pj: float


@compiled
def price_groups(
    net: GraphColumns,
    s: Trace,
    terms: Terms,
    tiles: Ints,
    members: Ints,
    starts: Ints,
    every: bool,
    table: Ints,
    energy: Floats,
) -> None:
    """Row g of `table` and of `energy` for the group `members[starts[g]:starts[g + 1]]`.

    It is for the last of `tiles` (ascending) that fits, or else says what the first one needs, with tile -1 and no
    energy.  With `every` there is a row for each of `tiles`, group by group, whether it fits or not.
    """
    for g in range(len(starts) - 1):
        group = members[starts[g] : starts[g + 1]]
        outside = trace(net, s, group, g)
        if every:
            for number in range(len(tiles)):
                row = g * len(tiles) + number
                _traffic(net, s, terms, group, outside, table[row])
                _fit(net, s, terms, group, outside, tiles, number, table[row])
                table[row, TILE] = number
                energy[row] = _run(net, s, terms, group, outside, tiles[number], table[row])
            continue
        _traffic(net, s, terms, group, outside, table[g])
        chosen = _choose(net, s, terms, group, outside, tiles, table[g])
        table[g, TILE], table[g, CYCLES], energy[g] = chosen, 0, 0.0
        if chosen >= 0:
            energy[g] = _run(net, s, terms, group, outside, tiles[chosen], table[g])


@compiled
def _choose(net: GraphColumns, s: Trace, terms: Terms, group: Ints, outside: int, tiles: Ints, row: Ints) -> int:
    """The last tile that fits, or -1 and the demand of the first."""
    if not _fit(net, s, terms, group, outside, tiles, 0, row):
        return -1
    for number in range(len(tiles) - 1, 0, -1):
        if _fit(net, s, terms, group, outside, tiles, number, row):
            return number
    _fit(net, s, terms, group, outside, tiles, 0, row)
    return 0


@compiled
def _fit(
    net: GraphColumns, s: Trace, terms: Terms, group: Ints, outside: int, tiles: Ints, number: int, row: Ints
) -> bool:
    """Put down the demand of a tile; whether it is within the capacities."""
    size, regions = demand(net, s, group, outside, tiles[number], terms.cores, terms.align)
    row[GLOBAL], row[REGIONS] = size, regions
    if regions > terms.regions:
        return False
    if terms.weight_capacity < 0:
        return size + row[WEIGHT] <= terms.global_capacity
    return size <= terms.global_capacity and row[WEIGHT] <= terms.weight_capacity


@compiled
def _traffic(net: GraphColumns, s: Trace, terms: Terms, group: Ints, outside: int, row: Ints) -> None:
    """What passes between DRAM and the chip: weights once, everything else once for each sample."""
    weights = loads = stores = kept = 0
    for v in group:
        weights += net.weight_bytes[v]
        kept += -(-net.weight_bytes[v] // terms.align) * terms.align
        if s.inside[v] < net.readers[v]:
            stores += net.extent[0, v] * net.extent[1, v] * net.pixel_bytes[v]
    for place in range(outside):
        u = s.outside[place]
        loads += net.extent[0, u] * net.extent[1, u] * net.pixel_bytes[u]
    row[WEIGHTS], row[INPUTS], row[OUTPUTS] = weights, loads * terms.batch, stores * terms.batch
    row[WEIGHT], row[PASSES] = -(-kept // terms.cores), 1
    row[TRANSFER] = int(np.ceil((weights + row[INPUTS] + row[OUTPUTS]) / (terms.dram_bytes_per_cycle * terms.cores)))


@compiled
def _run(net: GraphColumns, s: Trace, terms: Terms, group: Ints, outside: int, tile: Ints, row: Ints) -> float:
    """Energy in pJ; the cycles go to `row`."""
    cycles, energy = 0, 0.0
    for v in group:
        made, spent = _layer(net, s, terms, v, tile)
        cycles += made
        energy += spent
        energy += _reuse(net, s, terms, v, tile)
    for place in range(outside):
        energy += _reuse(net, s, terms, s.outside[place], tile)
    row[CYCLES] = cycles * terms.batch
    energy = energy * terms.batch + row[WEIGHTS] * (terms.dram_read_pj + terms.weight_write_pj)
    energy += row[INPUTS] * (terms.dram_read_pj + terms.global_write_pj)
    return energy + row[OUTPUTS] * (terms.dram_write_pj + terms.global_read_pj)


@compiled
def _block(net: GraphColumns, terms: Terms, v: int, rows: int, columns: int) -> tuple[int, int]:
    """Fewest cycles for a block of results of layer `v`, and which axes of the array carry its positions.

    Each axis carries rows, columns, or neither.
    """
    best, choice = rows * columns * net.steps[v, 0], 0
    for which in range(1, 3):
        ways = terms.array_x if which == 1 else terms.array_y
        positions = min(-(-rows // ways) * columns, rows * -(-columns // ways))
        if positions * net.steps[v, which] < best:
            best, choice = positions * net.steps[v, which], which
    x, y = terms.array_x, terms.array_y
    positions = min(-(-rows // x) * -(-columns // y), -(-rows // y) * -(-columns // x))
    if positions * net.steps[v, 3] < best:
        best, choice = positions * net.steps[v, 3], 3
    return best, choice


@compiled
def _cut(extent: int, delta: int, lead: int) -> tuple[int, int, int]:
    """Blocks of a layer along an axis: length of the first (or 0), count of full ones, length of the last (or 0)."""
    first = min(lead % delta, extent)
    return first, (extent - first) // delta, (extent - first) % delta


@compiled
def _layer(net: GraphColumns, s: Trace, terms: Terms, v: int, tile: Ints) -> tuple[int, float]:
    """Cycles and energy of layer `v` for one sample: products, reads by the array, results."""
    height, width, share = net.extent[0, v], net.extent[1, v], terms.cores
    rows, columns = row_step(net, s, v, tile[0]), tile[1] * s.delta[v]
    if width >= share:
        width, share = -(-width // share), 1
    elif height >= share:
        height, share = -(-height // share), 1
    top, full_rows, bottom = _cut(height, rows, s.lead[0, v])
    left, full_columns, right = _cut(width, columns, s.lead[1, v])
    cycles = blocks = 0
    for high, times in ((top, 1), (rows, full_rows), (bottom, 1)):
        for wide, again in ((left, 1), (columns, full_columns), (right, 1)):
            if high and wide and times and again:
                cycles += times * again * _block(net, terms, v, high, wide)[0]
                blocks += times * again
    blocks *= terms.cores // share
    _, choice = _block(net, terms, v, min(rows, height), min(columns, width))
    pixels = net.extent[0, v] * net.extent[1, v]
    energy = net.macs[v] * terms.mac_pj + pixels * net.pixel_bytes[v] * terms.global_write_pj
    shared = net.weight_bytes[v] * blocks * 1.0
    energy += shared * terms.weight_read_pj
    for e in range(net.first_edge[v], net.first_edge[v + 1]):
        u = net.source[e]
        size = net.extent[0, u] * net.extent[1, u]
        visits = 1
        if not net.whole[e]:
            high = min(net.extent[0, u], (min(rows, height) - 1) * net.stride[0, e] + net.reach[0, e])
            wide = min(net.extent[1, u], (min(columns, width) - 1) * net.stride[1, e] + net.reach[1, e])
            size, visits = high * wide, net.visits[v, choice]
        energy += size * visits * blocks * net.pixel_bytes[u] * terms.global_read_pj
        if s.whole[u]:
            shared += size * blocks * net.pixel_bytes[u]
    energy += shared * (terms.cores - 1) / terms.cores * terms.crossbar_pj
    return -(-cycles // share), energy


@compiled
def _reuse(net: GraphColumns, s: Trace, terms: Terms, u: int, tile: Ints) -> float:
    """Energy of rows on their way through SIDE, and of columns that neighbouring cores both read, for one sample."""
    if s.whole[u] or s.seen[u] == 0:
        return 0.0
    height, width = net.extent[0, u], net.extent[1, u]
    energy = 0.0
    if s.side[u]:
        step = row_step(net, s, u, tile[0])
        rounds = -(-height // step) - 1
        moved = rounds * max(0, s.lead[0, u] - s.low[0, u]) * width * net.pixel_bytes[u]
        energy += 2 * moved * (terms.global_read_pj + terms.global_write_pj)
    if terms.cores > 1 and width >= terms.cores:
        halo = max(0, s.lead[1, u] - s.low[1, u]) * height * net.pixel_bytes[u]
        energy += (terms.cores - 1) * halo * terms.crossbar_pj
    return energy
