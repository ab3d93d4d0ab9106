"""Compiled: when every tile and every transfer runs, and what the buffer holds.

Tiles run in order on the cores, transfers in order on one DRAM channel.
"""

from typing import NamedTuple, Protocol

from ..compiled import bare, compiled


class Column(Protocol):
    """An array of integers, as a compiled function sees it."""

    def __getitem__(self, place: int, /) -> int: ...

    def __setitem__(self, place: int, value: int, /) -> None: ...

    def __len__(self) -> int: ...


LEGAL, BAD_LIFE, LATE_START = 0, 1, 2
"""Outcomes of `run`: a life that does not cover the tensor's use, or a tile that waits for a load that may not begin
before the tile.
"""


class PlanColumns(NamedTuple):
    """A plan as arrays: cycles and layer of tiles; layer, position, size and transfer cycles of tensors.

    `made` is the position that makes a tensor, -1 for those that are loaded.
    """

    tile_cycles: Column
    tile_layer: Column
    layer: Column
    position: Column
    made: Column
    size_bytes: Column
    transfer_cycles: Column


class TransferColumns(NamedTuple):
    """`order` lists the tensors that pass through DRAM; `start` and `end` are the lives of all tensors, by number.

    A load may begin once position `start` begins; a store must be complete when position `end - 1` ends.
    """

    order: Column
    start: Column
    end: Column


class Scratch(NamedTuple):
    """Arrays that `run` fills, all by position but the last.

    `required[p + 1]` counts the transfers that must be complete when position p ends, `usage[p + 1]` is bytes of buffer
    in use at p, `tile_begin[p]` and `transfer_begin[i]` are cycles; of N + 1, N + 2, N, and D elements.
    """

    required: Column
    usage: Column
    tile_begin: Column
    transfer_begin: Column


@compiled
def first_bad_life(plan: PlanColumns, transfers: TransferColumns) -> int:
    """The first tensor whose life does not cover its use, or that lives before it is made; -1 where all are right."""
    starts, ends, positions, made = transfers.start, transfers.end, plan.position, plan.made
    for tensor in range(len(made)):
        start, position = starts[tensor], positions[tensor]
        if start > position or ends[tensor] <= position or (made[tensor] >= 0 and start != position):
            return tensor
    return -1


@bare
def fill_required(plan: PlanColumns, transfers: TransferColumns, required: Column) -> None:
    """How many transfers must be complete when each position ends: loads before their tile, stores by their end."""
    for place in range(len(required)):
        required[place] = 0
    order, end, position, made = transfers.order, transfers.end, plan.position, plan.made
    for place in range(len(order)):
        tensor = order[place]
        required[end[tensor] if made[tensor] >= 0 else position[tensor]] = place + 1
    required[len(required) - 1] = len(order)


@compiled
def fill_usage(plan: PlanColumns, transfers: TransferColumns, usage: Column) -> int:
    """Bytes of the buffer in use at each position; the largest."""
    for place in range(len(usage)):
        usage[place] = 0
    start, end, size = transfers.start, transfers.end, plan.size_bytes
    for tensor in range(len(size)):
        usage[start[tensor] + 1] += size[tensor]
        usage[end[tensor] + 1] -= size[tensor]
    total, peak = 0, 0
    for place in range(len(usage)):
        total += usage[place]
        usage[place] = total
        peak = max(peak, total)
    return peak


@bare
def _advance(
    order: Column,
    made: Column,
    cycles: Column,
    begin: Column,
    target: int,
    position: int,
    time: int,
    done: int,
    dram: int,
) -> int:
    """Execute transfers `done` to `target`: when the last ends.  `dram` ends the one before, `time` the tile."""
    for place in range(done, target):
        tensor = order[place]
        if made[tensor] == position:
            dram = max(dram, time)
        begin[place] = dram
        dram += cycles[tensor]
    return dram


@bare
def _run_beside(
    order: Column,
    start: Column,
    made: Column,
    cycles: Column,
    begin: Column,
    position: int,
    time: int,
    done: int,
    dram: int,
) -> tuple[int, int]:
    """Execute what ends before the tile at `position` does, at `time`: the next transfer, the end of the last."""
    while done < len(order):
        tensor = order[done]
        if start[tensor] > position or (dram < time and made[tensor] == position):
            return done, max(dram, time)
        if dram + cycles[tensor] > time:
            break
        begin[done] = dram
        dram += cycles[tensor]
        done += 1
    return done, dram


@bare
def _startable(order: Column, start: Column, done: int, target: int, position: int) -> int:
    """The first transfer from `done` up to `target` that may not begin at `position` yet."""
    while done < target and start[order[done]] <= position:
        done += 1
    return done


@bare
def _postponable(plan: PlanColumns, transfers: TransferColumns, done: int, target: int, position: int) -> bool:
    """Whether transfers `done` to `target` are loads for the layer of the next tile that may begin with it."""
    if position >= len(plan.tile_layer):
        return False
    for place in range(done, target):
        tensor = transfers.order[place]
        if transfers.start[tensor] != position or plan.made[tensor] >= 0:
            return False
        if plan.layer[tensor] != plan.tile_layer[position]:
            return False
    return True


@bare
def latency(plan: PlanColumns, transfers: TransferColumns, scratch: Scratch) -> int:
    """Cycles to the end of the last tile or transfer, -1 where a tile can never begin; needs `required`."""
    order, start, made, cycles = transfers.order, transfers.start, plan.made, plan.transfer_cycles
    tile_cycles, required = plan.tile_cycles, scratch.required
    begin, tile_begin = scratch.transfer_begin, scratch.tile_begin
    time, done, dram, postponed = 0, 0, 0, 0
    for position in range(-1, len(tile_cycles)):
        if postponed > done:
            dram = _advance(order, made, cycles, begin, postponed, position, time, done, dram)
            done, time = postponed, max(time, dram)
        if position >= 0:
            tile_begin[position] = time
            time += tile_cycles[position]
        done, dram = _run_beside(order, start, made, cycles, begin, position, time, done, dram)
        target = required[position + 1]
        if target > done:
            ready = _startable(order, start, done, target, position)
            if ready < target and not _postponable(plan, transfers, ready, target, position + 1):
                return -1
            dram = _advance(order, made, cycles, begin, ready, position, time, done, dram)
            done, time, postponed = ready, max(time, dram), target
    return max(time, dram)


@compiled
def run(plan: PlanColumns, transfers: TransferColumns, scratch: Scratch) -> tuple[int, int, int]:
    """(outcome, latency in cycles, largest use of the buffer in bytes), filling `scratch`; cycles only where LEGAL.

    Lives must lie within [-1, N].
    """
    peak = fill_usage(plan, transfers, scratch.usage)
    if first_bad_life(plan, transfers) >= 0:
        return BAD_LIFE, 0, peak
    fill_required(plan, transfers, scratch.required)
    cycles = latency(plan, transfers, scratch)
    return (LATE_START, 0, peak) if cycles < 0 else (LEGAL, cycles, peak)
