"""Compiled: traffic, energy and cycles of a group whose regions are known."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ...algebra.element import Floats, Ints
from ..compiled import bare, bare_entry
from .demand import demand, first_round, row_step
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
)
from .trace import DELTA, INSIDE, LAST, LEAD, LOW, NEED, OUTSIDE, SEEN, SIDE, WHOLE, trace

UNLIMITED = 1 << 62

METRICS = ("ema", "energy", "latency")
"""What may be made small."""

Costs = IntEnum("Costs", "WEIGHTS INPUTS OUTPUTS CYCLES TRANSFER GLOBAL WEIGHT REGIONS TILE PASSES", start=0)
"""Columns of a table of costs: bytes of DRAM traffic, cycles, demands in bytes, regions, number of the tile or -1, and
how often a layer on its own goes over its weights or maps."""


class Terms(NamedTuple):
    """The platform and how it is used; `weight_capacity` is -1 where weights share the global buffer.

    `metric` is the place in `METRICS` of what the choice of the tile makes small.  With `narrow`, columns that nobody
    reads are not loaded where tiles are narrower than the map, and SIDE has all columns, as programs do it.
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
    narrow: int = 0


@bare_entry
def price_groups(
    layers: Ints,
    edges: Ints,
    sources: Ints,
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
        outside = trace(layers, edges, sources, s, group, first + g)
        if every:
            for number in range(len(tiles)):
                row = g * len(tiles) + number
                _traffic(layers, sources, s, terms, group, outside, tiles[number], table[row])
                _fit(sources, s, terms, group, outside, tiles[number], UNLIMITED, table[row])
                table[row, Costs.TILE] = number
                energy[row] = _run(layers, edges, sources, s, terms, group, outside, tiles[number], table[row])
            continue
        _traffic(layers, sources, s, terms, group, outside, tiles[0], table[g])
        table[g, Costs.TILE], table[g, Costs.CYCLES], energy[g] = -1, 0, 0.0
        if _fit(sources, s, terms, group, outside, tiles[0], UNLIMITED, table[g]) or _small(terms, table[g]):
            energy[g] = _choose(layers, edges, sources, s, terms, group, outside, tiles, table[g])


@bare
def _choose(
    layers: Ints, edges: Ints, sources: Ints, s: Ints, terms: Terms, group: Ints, outside: int, tiles: Ints, row: Ints
) -> float:
    """Fill `row` for the best tile that fits (the last of those with the same traffic); its energy, or 0."""
    chosen, best, least = -1, np.inf, np.inf
    limit = terms.global_capacity - (row[Costs.WEIGHT] if terms.weight_capacity < 0 else 0)
    alike = terms.metric == 0 and not terms.narrow and not _skips(s, outside)
    for number in range(len(tiles) - 1, -1, -1):
        if not _fit(sources, s, terms, group, outside, tiles[number], limit, row):
            continue
        if not alike:
            _traffic(layers, sources, s, terms, group, outside, tiles[number], row)
        energy = _run(layers, edges, sources, s, terms, group, outside, tiles[number], row)
        if alike:
            row[Costs.TILE] = number
            return energy
        value = energy if terms.metric == 1 else 1.0 * max(row[Costs.CYCLES], row[Costs.TRANSFER])
        if terms.metric == 0:
            value = 1.0 * (row[Costs.WEIGHTS] + row[Costs.INPUTS] + row[Costs.OUTPUTS])
        if value < best or (value == best and terms.metric == 2 and energy < least):
            chosen, best, least = number, value, energy
    tile = tiles[max(chosen, 0)]
    _fit(sources, s, terms, group, outside, tile, UNLIMITED, row)
    _traffic(layers, sources, s, terms, group, outside, tile, row)
    row[Costs.TILE], row[Costs.CYCLES] = chosen, 0
    return _run(layers, edges, sources, s, terms, group, outside, tile, row) if chosen >= 0 else 0.0


@bare
def _small(terms: Terms, row: Ints) -> bool:
    """Whether only the count of regions of the smallest tile is too much: a larger one may need fewer."""
    if terms.weight_capacity < 0:
        return row[Costs.GLOBAL] + row[Costs.WEIGHT] <= terms.global_capacity
    return row[Costs.GLOBAL] <= terms.global_capacity and row[Costs.WEIGHT] <= terms.weight_capacity


@bare
def _fit(sources: Ints, s: Ints, terms: Terms, group: Ints, outside: int, tile: Ints, limit: int, row: Ints) -> bool:
    """Put down the demand of a tile, as far as it is within `limit`; whether it is within the capacities."""
    size, regions = demand(sources, s, group, outside, tile, terms.cores, terms.align, limit, terms.narrow)
    row[Costs.GLOBAL], row[Costs.REGIONS] = size, regions
    return regions <= terms.regions and _small(terms, row)


@bare
def _skips(s: Ints, outside: int) -> bool:
    """Whether rounds leave out rows of a map from outside, so that what is loaded depends on the tile."""
    for place in range(outside):
        u = s[place, OUTSIDE]
        if not s[u, WHOLE] and s[u, LOW] > s[u, LEAD]:
            return True
    return False


@bare
def _loaded(sources: Ints, s: Ints, u: int, tile_rows: int) -> int:
    """Rows of source `u` that are loaded."""
    if s[u, WHOLE]:
        return sources[u, EXTENT]
    low, lead, rows = s[u, LOW], s[u, LEAD], 0
    if low <= lead:
        return s[u, NEED]
    step = row_step(s, u, tile_rows)
    for i in range(first_round(step, lead), s[u, LAST] // step + 1):
        rows += max(0, min((i + 1) * step + lead, s[u, NEED]) - max(i * step + low, 0))
    return rows


@bare
def _loaded_columns(sources: Ints, s: Ints, u: int, tile_columns: int) -> int:
    """Columns of source `u` that are loaded by tiles of so many columns (0: all)."""
    width, low, lead, columns = sources[u, EXTENT + 1], s[u, LOW + 1], s[u, LEAD + 1], 0
    if s[u, WHOLE] or tile_columns == 0:
        return width
    step = tile_columns * s[u, DELTA]
    end = s[u, LAST + 1] // step
    if low <= lead:
        return min(width, (end + 1) * step + lead)
    for i in range(first_round(step, lead), end + 1):
        columns += max(0, min((i + 1) * step + lead, width) - max(i * step + low, 0))
    return columns


@bare
def _traffic(
    layers: Ints, sources: Ints, s: Ints, terms: Terms, group: Ints, outside: int, tile: Ints, row: Ints
) -> None:
    """What passes between DRAM and the chip: weights once; rows that are read, and results, once for each sample."""
    weights = loads = stores = kept = 0
    for v in group:
        weights += layers[v, WEIGHT_BYTES]
        kept += -(-layers[v, WEIGHT_BYTES] // terms.align) * terms.align
        if s[v, INSIDE] < sources[v, READERS]:
            stores += sources[v, EXTENT] * sources[v, EXTENT + 1] * sources[v, PIXEL_BYTES]
    for place in range(outside):
        u = s[place, OUTSIDE]
        columns = _loaded_columns(sources, s, u, tile[1] if terms.narrow else 0)
        loads += _loaded(sources, s, u, tile[0]) * columns * sources[u, PIXEL_BYTES]
    row[Costs.WEIGHTS], row[Costs.INPUTS], row[Costs.OUTPUTS] = weights, loads * terms.batch, stores * terms.batch
    row[Costs.WEIGHT], row[Costs.PASSES] = -(-kept // terms.cores), 1
    row[Costs.TRANSFER] = int(
        np.ceil((weights + row[Costs.INPUTS] + row[Costs.OUTPUTS]) / (terms.dram_bytes_per_cycle * terms.cores))
    )


@bare
def _run(
    layers: Ints, edges: Ints, sources: Ints, s: Ints, terms: Terms, group: Ints, outside: int, tile: Ints, row: Ints
) -> float:
    """Energy in pJ; the cycles go to `row`."""
    cycles, energy = 0, 0.0
    for v in group:
        made, spent = _layer(layers, edges, sources, s, terms, v, tile)
        cycles += made
        energy += spent
        energy += _reuse(sources, s, terms, v, tile)
    for place in range(outside):
        energy += _reuse(sources, s, terms, s[place, OUTSIDE], tile)
    row[Costs.CYCLES] = cycles * terms.batch
    energy = energy * terms.batch + row[Costs.WEIGHTS] * (terms.dram_read_pj + terms.weight_write_pj)
    energy += row[Costs.INPUTS] * (terms.dram_read_pj + terms.global_write_pj)
    return energy + row[Costs.OUTPUTS] * (terms.dram_write_pj + terms.global_read_pj)


@bare
def _steps(extent: int, delta: int, lead: int, ways: int) -> tuple[int, int]:
    """Steps of `ways` positions along an axis of a layer, and blocks: a first part of one, full ones, a last part."""
    if delta >= extent and lead == 0:
        return -(-extent // ways), 1
    first = min(lead % delta, extent)
    full = (extent - first) // delta
    last = extent - first - full * delta
    steps = -(-first // ways) + full * -(-delta // ways) + -(-last // ways)
    return steps, full + (first > 0) + (last > 0)


@bare
def _arrange(layers: Ints, v: int, high: tuple[int, int, int], wide: tuple[int, int, int]) -> tuple[int, int]:
    """Fewest cycles of layer `v`, and which axes of the array carry its positions then (0, x: 1, y: 2, both: 3).

    Each axis carries rows, columns, or neither; `high` and `wide` are steps along both with 1, x and y ways.
    """
    best, choice = high[0] * wide[0] * layers[v, STEPS], 0
    for axis in range(1, 3):
        cycles = min(high[axis] * wide[0], high[0] * wide[axis]) * layers[v, STEPS + axis]
        if cycles < best:
            best, choice = cycles, axis
    cycles = min(high[1] * wide[2], high[2] * wide[1]) * layers[v, STEPS + 3]
    return (cycles, 3) if cycles < best else (best, choice)


@bare
def _layer(layers: Ints, edges: Ints, sources: Ints, s: Ints, terms: Terms, v: int, tile: Ints) -> tuple[int, float]:
    """Cycles and energy of layer `v` for one sample: products, reads by the array, results."""
    height, width, share = sources[v, EXTENT], sources[v, EXTENT + 1], terms.cores
    rows, columns = row_step(s, v, tile[0]), tile[1] * s[v, DELTA]
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
    cycles, choice = _arrange(layers, v, (height, high_x, high_y), (width, wide_x, wide_y))
    blocks *= across * (terms.cores // share)
    energy = layers[v, MACS] * terms.mac_pj
    energy += sources[v, EXTENT] * sources[v, EXTENT + 1] * sources[v, PIXEL_BYTES] * terms.global_write_pj
    shared = layers[v, WEIGHT_BYTES] * blocks * 1.0
    energy += shared * terms.weight_read_pj
    for e in range(layers[v, FIRST_EDGE], layers[v, END_EDGE]):
        u = edges[e, SOURCE]
        size = sources[u, PIXEL_BYTES] * blocks
        if edges[e, IS_WHOLE]:
            size *= sources[u, EXTENT] * sources[u, EXTENT + 1]
        else:
            size *= _window(edges, sources, u, e, 0, min(rows, height)) * _window(
                edges, sources, u, e, 1, min(columns, width)
            )
            size *= layers[v, VISITS + choice]
        energy += size * terms.global_read_pj
        if s[u, WHOLE]:
            shared += size
    energy += shared * (terms.cores - 1) / terms.cores * terms.crossbar_pj
    return -(-cycles // share), energy


@bare
def _window(edges: Ints, sources: Ints, u: int, e: int, axis: int, results: int) -> int:
    """Positions along an axis of source `u` that so many results read through edge `e`."""
    reach = (results - 1) * edges[e, STRIDE + axis] + edges[e, REACH + axis]
    return min(sources[u, EXTENT + axis], reach)


@bare
def _reuse(sources: Ints, s: Ints, terms: Terms, u: int, tile: Ints) -> float:
    """Energy of rows on their way through SIDE, and of columns that neighbouring cores both read, for one sample."""
    if s[u, WHOLE] or s[u, SEEN] == 0:
        return 0.0
    height, width = sources[u, EXTENT], sources[u, EXTENT + 1]
    energy = 0.0
    if s[u, SIDE]:
        step = row_step(s, u, tile[0])
        rounds = -(-height // step) - 1
        moved = rounds * max(0, s[u, LEAD] - s[u, LOW]) * width * sources[u, PIXEL_BYTES]
        energy += 2 * moved * (terms.global_read_pj + terms.global_write_pj)
    if terms.cores > 1 and width >= terms.cores:
        halo = max(0, s[u, LEAD + 1] - s[u, LOW + 1]) * height * sources[u, PIXEL_BYTES]
        energy += (terms.cores - 1) * halo * terms.crossbar_pj
    return energy
