"""When every tile and every transfer runs: tiles in order on the cores, transfers in order on one DRAM channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .compiled import Column, compiled
from .plan import OUTPUT, Ints, Plan
from .transfers import Transfers

LATE_START = -2
"""Result of `run` where a tile waits for a load that may not begin before the tile."""


@dataclass(frozen=True)
class Timeline:
    """Cycles at which each tile begins, and each transfer in order; `violation` is empty for a legal schedule."""

    latency_cycles: int
    tile_begin: Ints
    transfer_begin: Ints
    violation: str = ""


@compiled
def _advance(
    target: int,
    position: int,
    time: int,
    order: Column,
    own: Column,
    begin: Column,
    cycles: Column,
    state: tuple[int, int],
) -> tuple[int, int]:
    """Execute transfers up to number `target`; `state` is (next transfer, end of the last); `time` ends the tile."""
    done, dram = state
    while done < target:
        tensor = order[done]
        if own[tensor] == position:
            dram = max(dram, time)
        begin[done] = dram
        dram += cycles[tensor]
        done += 1
    return done, dram


@compiled
def _idle(
    position: int,
    time: int,
    order: Column,
    start: Column,
    own: Column,
    begin: Column,
    cycles: Column,
    state: tuple[int, int],
) -> tuple[int, int]:
    """Execute what ends while the tile at `position`, which ends at `time`, still runs."""
    done, dram = state
    while done < len(order):
        tensor = order[done]
        if start[tensor] > position or (own[tensor] == position and dram < time):
            return done, max(dram, time)
        if dram + cycles[tensor] > time:
            break
        begin[done] = dram
        dram += cycles[tensor]
        done += 1
    return done, dram


@compiled
def _startable(done: int, target: int, position: int, order: Column, start: Column) -> int:
    """The first transfer from `done` up to `target` that may not begin at `position` yet."""
    while done < target and start[order[done]] <= position:
        done += 1
    return done


@compiled
def _postponable(
    done: int, target: int, position: int, order: Column, start: Column, own: Column, layers: Column, layer: int
) -> bool:
    """Whether transfers `done` to `target` are loads for `layer`, that of the next tile, that may begin with it."""
    for place in range(done, target):
        tensor = order[place]
        if start[tensor] != position + 1 or own[tensor] >= 0 or layers[tensor] != layer:
            return False
    return True


@compiled
def run(
    tile_cycles: Column,
    tile_layer: Column,
    order: Column,
    start: Column,
    own: Column,
    layers: Column,
    cycles: Column,
    required: Column,
    tile_begin: Column,
    begin: Column,
) -> int:
    """Latency in cycles, or `LATE_START`.

    `own` is the position that makes a stored tensor, -1 for loads; `required[p + 1]` counts the transfers that must be
    complete when position p ends.  Fills `tile_begin` and `begin` (by place in `order`).
    """
    time, postponed = 0, 0
    state = (0, 0)
    for position in range(-1, len(tile_cycles)):
        if postponed > state[0]:
            state = _advance(postponed, position, time, order, own, begin, cycles, state)
            time = max(time, state[1])
        if position >= 0:
            tile_begin[position] = time
            time += tile_cycles[position]
        state = _idle(position, time, order, start, own, begin, cycles, state)
        target = required[position + 1]
        if target > state[0]:
            ready = _startable(state[0], target, position, order, start)
            if ready < target:
                layer = tile_layer[position + 1] if position + 1 < len(tile_layer) else -1
                if not _postponable(ready, target, position, order, start, own, layers, layer):
                    return LATE_START
            state = _advance(ready, position, time, order, own, begin, cycles, state)
            postponed = target
            time = max(time, state[1])
    return max(time, state[1])


def required_transfers(plan: Plan, transfers: Transfers) -> Ints:
    """How many transfers must be complete when each of the positions -1, 0, ..., N - 1 ends."""
    order, tensors = transfers.order, plan.tensors
    stores = tensors.kind[order] == OUTPUT
    deadline = np.where(stores, transfers.end[order] - 1, tensors.position[order] - 1)
    required = np.zeros(len(plan.tile_cycles) + 1, np.int64)
    np.maximum.at(required, deadline + 1, np.arange(len(order)) + 1)
    required[-1] = len(order)
    return required


def timeline(plan: Plan, transfers: Transfers) -> Timeline:
    """The times of `plan` with `transfers`."""
    tensors = plan.tensors
    tile_begin, begin = np.zeros(len(plan.tile_cycles), np.int64), np.zeros(len(transfers.order), np.int64)
    violation = _violation(plan, transfers)
    if violation:
        return Timeline(0, tile_begin, begin, violation)
    own = np.where(tensors.kind == OUTPUT, tensors.position, -1)
    required = required_transfers(plan, transfers)
    columns = transfers.order, transfers.start, own, tensors.layer, plan.transfer_cycles, required
    latency = run(plan.tile_cycles, plan.tile_layer, *columns, tile_begin, begin)
    if latency == LATE_START:
        return Timeline(0, tile_begin, begin, "a tile waits for a transfer that may begin only after it")
    return Timeline(latency, tile_begin, begin)


def _violation(plan: Plan, transfers: Transfers) -> str:
    """What is wrong with the lives themselves."""
    tensors, order = plan.tensors, transfers.order
    stores = tensors.kind == OUTPUT
    late = transfers.start > tensors.position
    early = transfers.end <= tensors.position
    wrong = np.flatnonzero(late | early | (stores & (transfers.start != tensors.position)))
    if len(wrong):
        first = int(wrong[0])
        life = f"[{transfers.start[first]}, {transfers.end[first]})"
        return f"tensor {first} lives during {life} but is used at {tensors.position[first]}"
    return "" if len(order) == len(plan.moved) else "a transfer is missing"
