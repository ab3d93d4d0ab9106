"""Compiled: order and lives of transfers for a fixed fusion, changed move by move.

The second stage of J. Cai et al., "SoMa", HPCA 2025, section V-C: a move changes a transfer's place in the channel's
order, its life, or both.  A move is tried in time linear in tiles and transfers.
"""

from math import exp
from typing import NamedTuple

import numpy as np

from ...algebra.element import Floats, Ints
from ...costs.dram.tables import Loads, Positions, Stores, Tally, Workspace, compiled, inner
from ...costs.dram.timetable import tiles_in
from ...costs.soma.run import LEGAL, PlanColumns, Scratch, TransferColumns, fill_required, latency, run
from ..random_numbers import Seed, below, uniform
from .fusion_moves import copy_state

SIZE, TIME, POSITION, MADE, SOURCE, LAYER, LEAST, START, END, RANK = range(10)
"""Rows of the table of transfers: bytes, cycles, position of the use or of the tile that makes it, the same for stores
and -1 for loads, layer whose stores come before, layer of a store (else -1), least start of a load or least end of a
store; its life and its place in the order.
"""


class Living(NamedTuple):
    """Transfers of a fusion: loads by row, then stores; `order` lists them, `usage` is by position + 1 in bytes,
    `tile_cycles` and `tile_layer` by position; `required`, `tile_begin` and `transfer_begin` are scratch, `places`
    counts positions.
    """

    table: Ints
    order: Ints
    usage: Ints
    tile_cycles: Ints
    tile_layer: Ints
    required: Ints
    places: Ints
    tile_begin: Ints
    transfer_begin: Ints


def living(work: Workspace, group_end: Ints) -> Living:
    """The transfers that `work` holds, double buffered as SoMa's first stage assumes.

    Loads begin one tile before theirs, stores end one tile after theirs but within the layer group, which ends before
    position `group_end[layer]`.
    """
    loads, stores = work.loads[:, : work.tally[Tally.LOADS]], work.stores[:, : work.tally[Tally.STORES]]
    count, positions = loads.shape[1] + stores.shape[1], int(work.tally[Tally.POSITIONS])
    table = np.full((10, count), -1, np.int64)
    many = loads.shape[1]
    table[SIZE] = np.concatenate([loads[Loads.SIZE], stores[Stores.SIZE]])
    table[TIME] = np.concatenate([loads[Loads.CYCLES], stores[Stores.CYCLES]])
    table[POSITION] = np.concatenate([loads[Loads.POSITION], stores[Stores.POSITION]])
    table[MADE, many:] = stores[Stores.POSITION]
    table[SOURCE, :many] = loads[Loads.SOURCE]
    table[LAYER, many:] = stores[Stores.LAYER]
    table[START] = np.concatenate([np.maximum(loads[Loads.POSITION] - 1, -1), stores[Stores.POSITION]])
    ends = np.minimum(stores[Stores.POSITION] + 2, group_end[stores[Stores.LAYER]])
    table[END] = np.concatenate([loads[Loads.LAST], np.maximum(stores[Stores.USED], ends)])
    table[LEAST, many:] = stores[Stores.USED]
    produced = np.full(len(group_end), -1, np.int64)
    np.maximum.at(produced, stores[Stores.LAYER], stores[Stores.POSITION])
    bound = loads[Loads.SOURCE] >= 0
    table[LEAST, :many][bound] = produced[loads[Loads.SOURCE][bound]]
    weights = np.concatenate([loads[Loads.EDGE] >= 0, np.ones(stores.shape[1], np.bool_)])
    kind = np.concatenate([loads[Loads.EDGE] >= 0, np.full(stores.shape[1], 2)])
    order = np.lexsort([kind, table[END], weights, table[START]])
    table[RANK, order] = np.arange(count)
    found = Living(
        table,
        order.astype(np.int64),
        np.zeros(positions + 2, np.int64),
        work.positions[Positions.CYCLES, :positions].copy(),
        tiles_in(work)[0],
        np.zeros(positions + 1, np.int64),
        np.arange(positions),
        np.zeros(positions, np.int64),
        np.zeros(count, np.int64),
    )
    _fill_usage(found, work)
    return found


def _fill_usage(given: Living, work: Workspace) -> None:
    """What `work` counts at the uses of loads and stores alone, and the rest of their lives."""
    loads, size = work.tally[Tally.LOADS], given.table[SIZE]
    change = np.zeros(len(given.usage) + 1, np.int64)
    np.add.at(change, given.table[START, :loads] + 1, size[:loads])
    np.add.at(change, given.table[POSITION, :loads] + 1, -size[:loads])
    np.add.at(change, given.table[LEAST, loads:] + 1, size[loads:])
    np.add.at(change, given.table[END, loads:] + 1, -size[loads:])
    given.usage[:] = np.cumsum(change)[: len(given.usage)]
    given.usage[:-1] += work.positions[Positions.USAGE, : len(given.usage) - 1]


@inner
def order_latency(given: Living) -> int:
    """Cycles to the end of the last tile or transfer, -1 where a tile waits for what may begin only after it.

    A load that begins with a tile may only be one of that tile: places stand for layers.
    """
    table = given.table
    plan = PlanColumns(
        given.tile_cycles, given.places, table[POSITION], table[POSITION], table[MADE], table[SIZE], table[TIME]
    )
    transfers = TransferColumns(given.order, table[START], table[END])
    scratch = Scratch(given.required, given.usage, given.tile_begin, given.transfer_begin)
    fill_required(plan, transfers, given.required)
    return latency(plan, transfers, scratch)


@compiled
def latency_of(given: Living) -> int:
    """`order_latency`, for Python."""
    return order_latency(given)


def settle(given: Living, work: Workspace) -> None:
    """Write order, lives and times to `work`, as if they had been decided there."""
    table, count = given.table, len(given.tile_cycles)
    loads = int(work.tally[Tally.LOADS])
    layers = np.where(table[MADE] >= 0, -1, given.tile_layer[table[POSITION]])
    columns = PlanColumns(
        given.tile_cycles, given.tile_layer, layers, table[POSITION], table[MADE], table[SIZE], table[TIME]
    )
    usage, begin = np.zeros(count + 2, np.int64), np.zeros(len(given.order), np.int64)
    scratch = Scratch(given.required, usage, work.positions[Positions.BEGIN, :count], begin)
    ends = np.where(table[MADE] >= 0, table[END], np.maximum(table[END], table[POSITION] + 1))
    outcome, cycles, _ = run(columns, TransferColumns(given.order, table[START].copy(), ends), scratch)
    assert outcome == LEGAL
    work.tally[Tally.LATENCY], work.tally[Tally.DONE] = cycles, len(given.order)
    work.sequence[: len(given.order)] = np.where(given.order < loads, given.order, loads - 1 - given.order)
    finish = np.zeros(len(given.order), np.int64)
    finish[given.order] = begin
    finish += table[TIME]
    work.loads[Loads.START, :loads], work.loads[Loads.END_CYCLES, :loads] = table[START, :loads], finish[:loads]
    work.loads[Loads.EARLY, :loads] = 0
    stores = work.stores[:, : work.tally[Tally.STORES]]
    stores[Stores.END], stores[Stores.END_CYCLES] = table[END, loads:], finish[loads:]
    work.positions[Positions.USAGE, : len(given.usage)] = given.usage


@inner
def _conflict(table: Ints, first: int, second: int) -> bool:
    """Whether `first` must stay before `second`."""
    if table[MADE, first] >= 0 and table[MADE, second] < 0:
        return table[SOURCE, second] == table[LAYER, first]
    if table[MADE, first] >= 0:
        return table[LAYER, first] == table[LAYER, second]
    return table[MADE, second] >= 0 and table[POSITION, first] <= table[MADE, second]


@inner
def _shift(given: Living, item: int, target: int) -> bool:
    """Move `item` to place `target` of the order, False where something in between forbids it (and nothing moves)."""
    order, table = given.order, given.table
    place = table[RANK, item]
    step = 1 if target > place else -1
    for other in range(place + step, target + step, step):
        before, after = (item, order[other]) if step > 0 else (order[other], item)
        if _conflict(table, before, after):
            return False
    _place(given, item, target)
    return True


@inner
def _place(given: Living, item: int, target: int) -> None:
    """Move `item` to place `target` of the order."""
    order, table = given.order, given.table
    place = table[RANK, item]
    step = 1 if target > place else -1
    while place != target:
        order[place] = order[place + step]
        table[RANK, order[place]] = place
        place += step
    order[place] = item
    table[RANK, item] = place


@inner
def _retime(given: Living, item: int, start: int, end: int, limit: int) -> bool:
    """Give `item` another life, False where the buffer has no room (and nothing changes)."""
    table, usage, size = given.table, given.usage, given.table[SIZE, item]
    for position in range(start, table[START, item]):
        if usage[position + 1] + size > limit:
            return False
    for position in range(table[END, item], end):
        if usage[position + 1] + size > limit:
            return False
    for position in range(table[START, item], table[END, item]):
        usage[position + 1] -= size
    for position in range(start, end):
        usage[position + 1] += size
    table[START, item], table[END, item] = start, end
    return True


@inner
def _draw_life(given: Living, item: int, random: Seed) -> tuple[int, int]:
    """Another start of a load, another end of a store."""
    table = given.table
    if table[MADE, item] < 0:
        low, high = table[LEAST, item], table[POSITION, item]
        return low + below(random, high - low + 1), table[END, item]
    low, high = table[LEAST, item], len(given.tile_cycles)
    reach = min(high - low, 64) if uniform(random) < 0.8 else high - low
    return table[START, item], low + below(random, reach + 1)


@inner
def _draw_item(cumulative: Ints, random: Seed) -> int:
    """A transfer, the larger the likelier."""
    wanted = below(random, cumulative[len(cumulative) - 1])
    low, high = 0, len(cumulative) - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return low


@inner
def try_move(given: Living, cumulative: Ints, limit: int, random: Seed, undo: Ints) -> int:
    """Change order, life or both of a transfer: 0.1, 0.4 and 0.5 of the draws.  The latency, -1 where illegal.

    `undo` keeps item, place and life for `take_back`.
    """
    item = _draw_item(cumulative, random)
    table, draw = given.table, uniform(random)
    undo[0], undo[1], undo[2], undo[3] = item, table[RANK, item], table[START, item], table[END, item]
    if draw < 0.6:
        reach = max(2, len(given.order) // 4)
        target = table[RANK, item] + below(random, 2 * reach + 1) - reach
        target = min(max(target, 0), len(given.order) - 1)
        if target == table[RANK, item] or not _shift(given, item, target):
            return -1
    if draw >= 0.1:
        start, end = _draw_life(given, item, random)
        if not _retime(given, item, start, end, limit):
            take_back(given, undo)
            return -1
    found = order_latency(given)
    if found < 0:
        take_back(given, undo)
    return found


@inner
def take_back(given: Living, undo: Ints) -> None:
    """Undo the last move."""
    _place(given, undo[0], undo[1])
    _retime(given, undo[0], undo[2], undo[3], 1 << 62)


@compiled
def anneal_lives(
    given: Living,
    best: Ints,
    cumulative: Ints,
    limit: int,
    ideal: int,
    rounds: tuple[int, int, int],
    random: Seed,
    state: Floats,
    undo: Ints,
) -> int:
    """Rounds [first, last) of `rounds[2]`, at SoMa's temperatures; moves that were legal.

    `state` holds the latency now and the best, whose table is kept in `best`.  A worse schedule is taken with
    probability exp((old - new) / (old - ideal) / T), T = 0.1 (1 - p) / (1 + 8 p).  `undo` (4,) is what a move changed.
    """
    legal = 0
    for number in range(rounds[0], rounds[1]):
        progress = number / rounds[2]
        heat = 0.1 * (1 - progress) / (1 + 8 * progress)
        found = try_move(given, cumulative, limit, random, undo)
        if found < 0:
            continue
        legal += 1
        worse = (found - state[0]) / max(1.0, state[0] - ideal)
        if worse > 0 and uniform(random) >= exp(-worse / max(heat, 1e-9)):
            take_back(given, undo)
            continue
        state[0] = found
        if found < state[1]:
            state[1] = found
            copy_state(given.table, best)
    return legal
