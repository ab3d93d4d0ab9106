"""The second witness of SoMa's model: positions of tiles, and the tensors that they read and make."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.costs.soma.run import Column
from tilewright.costs.soma.tiling import INPUT, OUTPUT, WEIGHT

Ints = NDArray[np.int64]

LAYER, KIND, TILE, SOURCE, SIZE, POSITION, START, END, MOVES = range(9)
"""Rows of a table of tensors."""


class NetworkColumns(NamedTuple):
    """A network as arrays.

    Layer i reads the sources `source[first_source[i]:first_source[i + 1]]`, layers ascending and then network inputs
    (-1 - number); `reader` from `first_reader` lists the layers that read layer i.
    """

    first_source: Column
    source: Column
    first_reader: Column
    reader: Column
    weight_bytes: Column


class StageColumns(NamedTuple):
    """By layer: numbers of its layer group and fused group, count of tiles, position of its first, distance between
    positions, cycles and bytes of a tile; by source of a layer, bytes that a tile reads of it.
    """

    group: Column
    fused_group: Column
    tiles: Column
    first: Column
    step: Column
    cycles: Column
    result_bytes: Column
    source_bytes: Column


def place_layers(order: Column, starts: Column, tiles: Column, heads: Column, stages: StageColumns) -> int:
    """Fill the first five columns of `stages`; the number of positions.

    Fused group g has `tiles[g]` tiles of the layers from `order[starts[g]]` on; `heads[g]` is 1 where it begins a layer
    group.
    """
    position, group = 0, -1
    for number in range(len(starts)):
        group += heads[number]
        end = starts[number + 1] if number + 1 < len(starts) else len(order)
        step = end - starts[number]
        for place in range(step):
            layer = order[starts[number] + place]
            stages.group[layer] = group
            stages.fused_group[layer] = number
            stages.tiles[layer] = tiles[number]
            stages.first[layer] = position + place
            stages.step[layer] = step
        position += step * tiles[number]
    return position


def tile_table(order: Column, stages: StageColumns, positions: int) -> Ints:
    """Layer, number and cycles of the tile at each position, as three rows."""
    table = np.empty((3, positions), np.int64)
    for place in range(len(order)):
        layer = order[place]
        for tile in range(stages.tiles[layer]):
            position = stages.first[layer] + tile * stages.step[layer]
            table[0, position] = layer
            table[1, position] = tile
            table[2, position] = stages.cycles[layer]
    return table


def _loads(net: NetworkColumns, stages: StageColumns, layer: int, edge: int) -> bool:
    """Whether the layer's source comes from DRAM."""
    source = net.source[edge]
    return source < 0 or stages.group[source] != stages.group[layer]


def _count(net: NetworkColumns, stages: StageColumns, order: Column) -> int:
    found = 0
    for place in range(len(order)):
        layer = order[place]
        found += stages.tiles[layer] + (net.weight_bytes[layer] > 0)
        for edge in range(net.first_source[layer], net.first_source[layer + 1]):
            if _loads(net, stages, layer, edge):
                found += stages.tiles[layer]
    return found


def _kept(net: NetworkColumns, stages: StageColumns, layer: int) -> tuple[bool, bool, int, int]:
    """Whether the layer's result goes to DRAM, whether a layer of its fused group reads it, the last such reader's
    distance, and the end of the last tile of a reader in a later fused group of its layer group.
    """
    low, high = net.first_reader[layer], net.first_reader[layer + 1]
    moves, inside, distance, end = low == high, False, 0, 0
    for place in range(low, high):
        reader = net.reader[place]
        if stages.fused_group[reader] == stages.fused_group[layer]:
            inside = True
            distance = max(distance, stages.first[reader] - stages.first[layer])
        elif stages.group[reader] == stages.group[layer]:
            end = max(end, stages.first[reader] + (stages.tiles[reader] - 1) * stages.step[reader] + 1)
        else:
            moves = True
    return moves, inside, distance, end


def _write(
    table: Ints, row: int, layer: int, kind: int, tile: int, source: int, size: int, life: tuple[int, int, int]
) -> int:
    table[LAYER, row] = layer
    table[KIND, row] = kind
    table[TILE, row] = tile
    table[SOURCE, row] = source
    table[SIZE, row] = size
    table[POSITION, row] = life[0]
    table[START, row] = max(life[1], -1)
    table[END, row] = life[2]
    table[MOVES, row] = 1
    return row + 1


def _write_results(net: NetworkColumns, stages: StageColumns, layer: int, group_end: int, table: Ints, row: int) -> int:
    moves, inside, distance, kept = _kept(net, stages, layer)
    for tile in range(stages.tiles[layer]):
        position = stages.first[layer] + tile * stages.step[layer]
        end = max(position + 1, kept)
        if inside:
            end = max(end, position + distance + 1)
        if moves:
            end = max(end, min(position + 2, group_end))
        size = stages.result_bytes[layer]
        row = _write(table, row, layer, OUTPUT, tile, -1, size, (position, position, end))
        table[MOVES, row - 1] = moves
    return row


def tensor_table(net: NetworkColumns, stages: StageColumns, order: Column) -> Ints:
    """All tensors by layer in `order`: inputs from DRAM by source and tile, weights, results; nine rows."""
    ends: Column = np.zeros(stages.group[order[len(order) - 1]] + 1, np.int64)
    for place in range(len(order)):
        layer = order[place]
        last = stages.first[layer] + (stages.tiles[layer] - 1) * stages.step[layer]
        ends[stages.group[layer]] = max(ends[stages.group[layer]], last + 1)
    table = np.empty((9, _count(net, stages, order)), np.int64)
    row = 0
    for place in range(len(order)):
        layer = order[place]
        first, step, tiles = stages.first[layer], stages.step[layer], stages.tiles[layer]
        for edge in range(net.first_source[layer], net.first_source[layer + 1]):
            if not _loads(net, stages, layer, edge):
                continue
            for tile in range(tiles):
                at = first + tile * step
                life = at, at - 1, at + 1
                row = _write(table, row, layer, INPUT, tile, net.source[edge], stages.source_bytes[edge], life)
        if net.weight_bytes[layer] > 0:
            life = first, first - 1, first + (tiles - 1) * step + 1
            row = _write(table, row, layer, WEIGHT, 0, -1, net.weight_bytes[layer], life)
        row = _write_results(net, stages, layer, ends[stages.group[layer]], table, row)
    return table
