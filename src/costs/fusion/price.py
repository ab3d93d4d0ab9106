"""Compiled: traffic, energy and cycles of a group whose regions are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from .demand import demand, row_step
from .tables import (
    END_EDGE,
    EXTENT,
    FIRST_EDGE,
    IS_WHOLE,
    MACS,
    PIXEL_BYTES,
    REACH,
    READERS,
    SOURCE,
    STEPS,
    STRIDE,
    VISITS,
    WEIGHT_BYTES,
    GraphTables,
    Ints,
)
from .trace import DELTA, INSIDE, LEAD, LOW, OUTSIDE, SEEN, SIDE, WHOLE, trace

Floats = NDArray[np.float64]

METRICS = ("ema", "energy", "latency")
"""What may be made small."""

WEIGHTS, INPUTS, OUTPUTS, CYCLES, TRANSFER, GLOBAL, WEIGHT, REGIONS, TILE, PASSES = range(10)
"""Columns of a table of costs: bytes of DRAM traffic, cycles, demands in bytes, regions, number of the tile or -1, and
how often a layer on its own goes over its weights or maps."""


class Terms(NamedTuple):
    """The platform and how it is used; `weight_capacity` is -1 where weights share the global buffer.

    `metric` is the place in `METRICS` of what the choice of the tile makes small.
    """

    metric: int
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
    net: GraphTables,
    s: Ints,
    terms: Terms,
    tiles: Ints,
    members: Ints,
    starts: Ints,
    first: int,
    every: bool,
    table: Ints,
    energy: Floats,
) -> None:
    """Row g of `table` and of `energy` for the group `members[starts[g]:starts[g + 1]]`.

    It is for that of `tiles` (ascending) that fits and is best for the metric (the last, for EMA); or else it says what
    the first one needs, with tile -1 and no energy.  With `every` there is a row for each of `tiles`, group by group,
    whether it fits or not.  `first` is above the numbers of all groups that were priced with `s` before.
    """
    for g in range(len(starts) - 1):
        group = members[starts[g] : starts[g + 1]]
        outside = trace(net, s, group, first + g)
        if every:
            for number in range(len(tiles)):
                row = g * len(tiles) + number
                _traffic(net, s, terms, group, outside, table[row])
                _fit(net, s, terms, group, outside, tiles, number, table[row])
                table[row, TILE] = number
                energy[row] = _run(net, s, terms, group, outside, tiles[number], table[row])
            continue
        _traffic(net, s, terms, group, outside, table[g])
        table[g, TILE], table[g, CYCLES], energy[g] = -1, 0, 0.0
        if _fit(net, s, terms, group, outside, tiles, 0, table[g]) or _small(terms, table[g]):
            energy[g] = _choose(net, s, terms, group, outside, tiles, table[g])


@compiled
def _choose(net: GraphTables, s: Ints, terms: Terms, group: Ints, outside: int, tiles: Ints, row: Ints) -> float:
    """Fill `row` for the best tile that fits; its energy, or 0 if there is none."""
    best, least = row.copy(), np.inf
    for number in range(len(tiles) - 1, -1, -1):
        if not _fit(net, s, terms, group, outside, tiles, number, row):
            continue
        row[TILE] = number
        energy = _run(net, s, terms, group, outside, tiles[number], row)
        if terms.metric == 0:
            return energy
        better = energy < least
        if terms.metric == 2 and best[TILE] >= 0:
            now, before = max(row[CYCLES], row[TRANSFER]), max(best[CYCLES], best[TRANSFER])
            better = now < before or (now == before and energy < least)
        if better:
            best[:], least = row, energy
    row[:] = best
    return least if row[TILE] >= 0 else 0.0


@compiled
def _small(terms: Terms, row: Ints) -> bool:
    """Whether only the count of regions of the smallest tile is too much: a larger one may need fewer."""
    if terms.weight_capacity < 0:
        return row[GLOBAL] + row[WEIGHT] <= terms.global_capacity
    return row[GLOBAL] <= terms.global_capacity and row[WEIGHT] <= terms.weight_capacity


@compiled
def _fit(
    net: GraphTables, s: Ints, terms: Terms, group: Ints, outside: int, tiles: Ints, number: int, row: Ints
) -> bool:
    """Put down the demand of a tile; whether it is within the capacities."""
    size, regions = demand(net, s, group, outside, tiles[number], terms.cores, terms.align)
    row[GLOBAL], row[REGIONS] = size, regions
    return regions <= terms.regions and _small(terms, row)


@compiled
def _traffic(net: GraphTables, s: Ints, terms: Terms, group: Ints, outside: int, row: Ints) -> None:
    """What passes between DRAM and the chip: weights once, everything else once for each sample."""
    weights = loads = stores = kept = 0
    for v in group:
        weights += net.layers[v, WEIGHT_BYTES]
        kept += -(-net.layers[v, WEIGHT_BYTES] // terms.align) * terms.align
        if s[v, INSIDE] < net.sources[v, READERS]:
            stores += net.sources[v, EXTENT] * net.sources[v, EXTENT + 1] * net.sources[v, PIXEL_BYTES]
    for place in range(outside):
        u = s[place, OUTSIDE]
        loads += net.sources[u, EXTENT] * net.sources[u, EXTENT + 1] * net.sources[u, PIXEL_BYTES]
    row[WEIGHTS], row[INPUTS], row[OUTPUTS] = weights, loads * terms.batch, stores * terms.batch
    row[WEIGHT], row[PASSES] = -(-kept // terms.cores), 1
    row[TRANSFER] = int(np.ceil((weights + row[INPUTS] + row[OUTPUTS]) / (terms.dram_bytes_per_cycle * terms.cores)))


@compiled
def _run(net: GraphTables, s: Ints, terms: Terms, group: Ints, outside: int, tile: Ints, row: Ints) -> float:
    """Energy in pJ; the cycles go to `row`."""
    cycles, energy = 0, 0.0
    for v in group:
        made, spent = _layer(net, s, terms, v, tile)
        cycles += made
        energy += spent
        energy += _reuse(net, s, terms, v, tile)
    for place in range(outside):
        energy += _reuse(net, s, terms, s[place, OUTSIDE], tile)
    row[CYCLES] = cycles * terms.batch
    energy = energy * terms.batch + row[WEIGHTS] * (terms.dram_read_pj + terms.weight_write_pj)
    energy += row[INPUTS] * (terms.dram_read_pj + terms.global_write_pj)
    return energy + row[OUTPUTS] * (terms.dram_write_pj + terms.global_read_pj)


@compiled
def _steps(extent: int, delta: int, lead: int, ways: int) -> tuple[int, int]:
    """Steps of `ways` positions along an axis of a layer, and blocks: a first part of one, full ones, a last part."""
    first = min(lead % delta, extent)
    full = (extent - first) // delta
    last = extent - first - full * delta
    steps = -(-first // ways) + full * -(-delta // ways) + -(-last // ways)
    return steps, full + (first > 0) + (last > 0)


@compiled
def _arrange(net: GraphTables, v: int, high: tuple[int, int, int], wide: tuple[int, int, int]) -> tuple[int, int]:
    """Fewest cycles of layer `v`, and which axes of the array carry its positions then (0, x: 1, y: 2, both: 3).

    Each axis carries rows, columns, or neither; `high` and `wide` are steps along both with 1, x and y ways.
    """
    best, choice = high[0] * wide[0] * net.layers[v, STEPS], 0
    for axis in range(1, 3):
        cycles = min(high[axis] * wide[0], high[0] * wide[axis]) * net.layers[v, STEPS + axis]
        if cycles < best:
            best, choice = cycles, axis
    cycles = min(high[1] * wide[2], high[2] * wide[1]) * net.layers[v, STEPS + 3]
    return (cycles, 3) if cycles < best else (best, choice)


@compiled
def _layer(net: GraphTables, s: Ints, terms: Terms, v: int, tile: Ints) -> tuple[int, float]:
    """Cycles and energy of layer `v` for one sample: products, reads by the array, results."""
    height, width, share = net.sources[v, EXTENT], net.sources[v, EXTENT + 1], terms.cores
    rows, columns = row_step(net, s, v, tile[0]), tile[1] * s[v, DELTA]
    lead = s[v, LEAD + 1]
    if columns == 0:
        columns, lead = width, 0
    if width >= share:
        width, share = -(-width // share), 1
    elif height >= share:
        height, share = -(-height // share), 1
    high_y, blocks = _steps(height, rows, s[v, LEAD], terms.array_y)
    wide_y, across = _steps(width, columns, lead, terms.array_y)
    high_x, wide_x = high_y, wide_y
    if terms.array_x != terms.array_y:
        high_x = _steps(height, rows, s[v, LEAD], terms.array_x)[0]
        wide_x = _steps(width, columns, lead, terms.array_x)[0]
    cycles, choice = _arrange(net, v, (height, high_x, high_y), (width, wide_x, wide_y))
    blocks *= across * (terms.cores // share)
    energy = net.layers[v, MACS] * terms.mac_pj
    energy += net.sources[v, EXTENT] * net.sources[v, EXTENT + 1] * net.sources[v, PIXEL_BYTES] * terms.global_write_pj
    shared = net.layers[v, WEIGHT_BYTES] * blocks * 1.0
    energy += shared * terms.weight_read_pj
    for e in range(net.layers[v, FIRST_EDGE], net.layers[v, END_EDGE]):
        u = net.edges[e, SOURCE]
        size = net.sources[u, PIXEL_BYTES] * blocks
        if net.edges[e, IS_WHOLE]:
            size *= net.sources[u, EXTENT] * net.sources[u, EXTENT + 1]
        else:
            size *= _window(net, u, e, 0, min(rows, height)) * _window(net, u, e, 1, min(columns, width))
            size *= net.layers[v, VISITS + choice]
        energy += size * terms.global_read_pj
        if s[u, WHOLE]:
            shared += size
    energy += shared * (terms.cores - 1) / terms.cores * terms.crossbar_pj
    return -(-cycles // share), energy


@compiled
def _window(net: GraphTables, u: int, e: int, axis: int, results: int) -> int:
    """Positions along an axis of source `u` that so many results read through edge `e`."""
    reach = (results - 1) * net.edges[e, STRIDE + axis] + net.edges[e, REACH + axis]
    return min(net.sources[u, EXTENT + axis], reach)


@compiled
def _reuse(net: GraphTables, s: Ints, terms: Terms, u: int, tile: Ints) -> float:
    """Energy of rows on their way through SIDE, and of columns that neighbouring cores both read, for one sample."""
    if s[u, WHOLE] or s[u, SEEN] == 0:
        return 0.0
    height, width = net.sources[u, EXTENT], net.sources[u, EXTENT + 1]
    energy = 0.0
    if s[u, SIDE]:
        step = row_step(net, s, u, tile[0])
        rounds = -(-height // step) - 1
        moved = rounds * max(0, s[u, LEAD] - s[u, LOW]) * width * net.sources[u, PIXEL_BYTES]
        energy += 2 * moved * (terms.global_read_pj + terms.global_write_pj)
    if terms.cores > 1 and width >= terms.cores:
        halo = max(0, s[u, LEAD + 1] - s[u, LOW + 1]) * height * net.sources[u, PIXEL_BYTES]
        energy += (terms.cores - 1) * halo * terms.crossbar_pj
    return energy
