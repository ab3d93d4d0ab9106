"""Compiled: when to load and store, decided in one pass over the tiles.

Loads go by deadline, each as soon as the channel is free and the buffer has room for it until its use; stores go when
no load can, or when their room is needed.  On one channel that serves in order nothing is lost by loading early, so
lives follow from the order.  Times are those of SoMa's timeline (J. Cai et al., HPCA 2025, section V-D).
"""

from __future__ import annotations

from .compiled import inner
from .emit import FITS, OVERFLOW
from .workspace import (
    ARRIVAL,
    BEGIN,
    BOUND,
    BOUND_HEAD,
    BOUND_LOAD,
    CHANNEL,
    CYCLES,
    DONE,
    FREE,
    FREE_HEAD,
    FREE_LOAD,
    LATENCY,
    LEFT,
    LOAD_BLOCKED,
    LOAD_CYCLES,
    LOAD_EARLY,
    LOAD_END_CYCLES,
    LOAD_POSITION,
    LOAD_SIZE,
    LOAD_SOURCE,
    LOAD_START,
    LOADS,
    MADE,
    PEAK,
    PEAK_POSITION,
    POSITIONS,
    STORE_CYCLES,
    STORE_END,
    STORE_END_CYCLES,
    STORE_HEAD,
    STORE_LAYER,
    STORE_POSITION,
    STORE_SIZE,
    STORE_USED,
    STORES,
    UNFINISHED,
    USAGE,
    Ints,
    Workspace,
)

EAGER, OVERTAKE, DOUBLE_BUFFER = 1, 2, 4
"""Bits of a policy: stores come before all loads but those of the next tile, instead of when no load can run; a load
that lacks room lets later ones pass; loads wait for the tile before theirs.
"""

WAITING = -2
"""The start of a load that has not begun."""

AHEAD = 12
"""How many loads are looked at for one that may overtake."""


@inner
def _check_room(positions: Ints, tally: Ints, limit: int) -> int:
    """OVERFLOW where tiles without prefetch need more than `limit`."""
    for position in range(tally[POSITIONS]):
        if positions[USAGE, position + 1] > tally[PEAK]:
            tally[PEAK], tally[PEAK_POSITION] = positions[USAGE, position + 1], position
    return OVERFLOW if tally[PEAK] > limit else FITS


@inner
def _keep_room(loads: Ints, positions: Ints, tally: Ints, limit: int) -> None:
    """Give each load room at the position before its use where there is."""
    for row in range(tally[LOADS]):
        place = loads[LOAD_POSITION, row]
        loads[LOAD_EARLY, row] = 0
        loads[LOAD_START, row] = loads[LOAD_BLOCKED, row] = WAITING
        if positions[USAGE, place] + loads[LOAD_SIZE, row] <= limit:
            positions[USAGE, place] += loads[LOAD_SIZE, row]
            loads[LOAD_EARLY, row] = 1


@inner
def _begin_load(work: Workspace, row: int, position: int) -> None:
    loads, positions, tally = work.loads, work.positions, work.tally
    use = loads[LOAD_POSITION, row]
    for place in range(position + 1, use + 1 - loads[LOAD_EARLY, row]):
        positions[USAGE, place] += loads[LOAD_SIZE, row]
    tally[CHANNEL] += loads[LOAD_CYCLES, row]
    loads[LOAD_START, row], loads[LOAD_END_CYCLES, row] = position, tally[CHANNEL]
    positions[ARRIVAL, use] = tally[CHANNEL]
    work.sequence[tally[DONE]] = row
    tally[DONE] += 1
    while tally[FREE_HEAD] < tally[FREE] and loads[LOAD_START, loads[FREE_LOAD, tally[FREE_HEAD]]] != WAITING:
        tally[FREE_HEAD] += 1
    while tally[BOUND_HEAD] < tally[BOUND] and loads[LOAD_START, loads[BOUND_LOAD, tally[BOUND_HEAD]]] != WAITING:
        tally[BOUND_HEAD] += 1


@inner
def _begin_store(work: Workspace) -> None:
    stores, tally = work.stores, work.tally
    row = tally[STORE_HEAD]
    tally[CHANNEL] += stores[STORE_CYCLES, row]
    stores[STORE_END_CYCLES, row] = tally[CHANNEL]
    work.stages[LEFT, stores[STORE_LAYER, row]] -= 1
    work.sequence[tally[DONE]] = -1 - row
    tally[DONE] += 1
    tally[STORE_HEAD] += 1


@inner
def _next_load(loads: Ints, stages: Ints, tally: Ints) -> int:
    """The load of the earliest deadline among those whose source is in DRAM, -1 for none."""
    row = -1
    if tally[FREE_HEAD] < tally[FREE]:
        row = loads[FREE_LOAD, tally[FREE_HEAD]]
    if tally[BOUND_HEAD] < tally[BOUND]:
        other = loads[BOUND_LOAD, tally[BOUND_HEAD]]
        if row < 0 or loads[LOAD_POSITION, other] <= loads[LOAD_POSITION, row]:
            if stages[LEFT, loads[LOAD_SOURCE, other]] == 0:
                row = other
    return row


@inner
def _has_room(loads: Ints, positions: Ints, row: int, position: int, limit: int) -> bool:
    """Whether the load can live from `position` on."""
    if loads[LOAD_BLOCKED, row] >= position:
        return False
    room = limit - loads[LOAD_SIZE, row]
    for place in range(loads[LOAD_POSITION, row] - loads[LOAD_EARLY, row], position, -1):
        if positions[USAGE, place] > room:
            loads[LOAD_BLOCKED, row] = place - 1
            return False
    return True


@inner
def _overtaking(loads: Ints, positions: Ints, tally: Ints, position: int, limit: int) -> int:
    """A load that has room though an earlier one has not, -1 for none."""
    for place in range(tally[FREE_HEAD] + 1, min(tally[FREE], tally[FREE_HEAD] + AHEAD)):
        row = loads[FREE_LOAD, place]
        if loads[LOAD_START, row] == WAITING and _has_room(loads, positions, row, position, limit):
            return row
    return -1


@inner
def _run_beside(work: Workspace, position: int, time: int, limit: int, policy: int) -> None:
    """Begin transfers before the tile at `position` ends at `time`."""
    loads, tally = work.loads, work.tally
    while tally[CHANNEL] < time:
        row = _next_load(loads, work.stages, tally)
        waiting = tally[STORE_HEAD] < tally[MADE]
        if policy & DOUBLE_BUFFER and row >= 0 and loads[LOAD_POSITION, row] > position + 1:
            row = -1
        if policy & EAGER and waiting and (row < 0 or loads[LOAD_POSITION, row] > position + 1):
            _begin_store(work)
        elif row >= 0 and _has_room(loads, work.positions, row, position, limit):
            _begin_load(work, row, position)
        elif waiting:
            _begin_store(work)
        else:
            row = _overtaking(loads, work.positions, tally, position, limit) if policy & OVERTAKE else -1
            if row >= 0:
                _begin_load(work, row, position)
            else:
                tally[CHANNEL] = time


@inner
def _needed(loads: Ints, tally: Ints, position: int) -> int:
    """A load that the tile at `position` still waits for, -1 for none."""
    if tally[BOUND_HEAD] < tally[BOUND]:
        row = loads[BOUND_LOAD, tally[BOUND_HEAD]]
        if loads[LOAD_POSITION, row] == position:
            return row
    if tally[FREE_HEAD] < tally[FREE]:
        row = loads[FREE_LOAD, tally[FREE_HEAD]]
        if loads[LOAD_POSITION, row] == position:
            return row
    return -1


@inner
def _finish_sources(work: Workspace, position: int, time: int) -> int:
    """Store what the tile at `position` reads back; `time`, or when that is done."""
    loads, tally = work.loads, work.tally
    place = tally[BOUND_HEAD]
    while place < tally[BOUND] and loads[LOAD_POSITION, loads[BOUND_LOAD, place]] == position:
        while work.stages[LEFT, loads[LOAD_SOURCE, loads[BOUND_LOAD, place]]] > 0:
            _begin_store(work)
            time = max(time, tally[CHANNEL])
        place += 1
    return time


@inner
def _retire(stores: Ints, tally: Ints, position: int) -> None:
    """The next unfinished store is finished before `position`."""
    row = tally[UNFINISHED]
    stores[STORE_END, row] = max(stores[STORE_USED, row], position)
    tally[UNFINISHED] += 1


@inner
def _keep_stores(work: Workspace, position: int, time: int, limit: int) -> int:
    """Room at `position` for unfinished stores; what does not fit is stored first.  The time when it is."""
    stores, positions, tally = work.stores, work.positions, work.tally
    while tally[UNFINISHED] < tally[STORE_HEAD] and stores[STORE_END_CYCLES, tally[UNFINISHED]] <= time:
        _retire(stores, tally, position)
    for row in range(tally[MADE] - 1, tally[UNFINISHED] - 1, -1):
        if position < stores[STORE_USED, row]:
            continue
        if positions[USAGE, position + 1] + stores[STORE_SIZE, row] <= limit:
            positions[USAGE, position + 1] += stores[STORE_SIZE, row]
            continue
        while tally[STORE_HEAD] <= row:
            _begin_store(work)
        time = max(time, stores[STORE_END_CYCLES, row])
        while tally[UNFINISHED] <= row:
            _retire(stores, tally, position)
        break
    return time


@inner
def _arrive(work: Workspace, position: int, time: int, limit: int) -> int:
    """Begin what the tile at `position` needs while the tile before still holds its room; when it all is there."""
    loads, tally = work.loads, work.tally
    row = _needed(loads, tally, position)
    while row >= 0:
        if not loads[LOAD_EARLY, row] and work.positions[USAGE, position] + loads[LOAD_SIZE, row] > limit:
            return max(time, tally[CHANNEL])
        _begin_load(work, row, position - 1)
        row = _needed(loads, tally, position)
    return max(time, work.positions[ARRIVAL, position])


@inner
def _begin(work: Workspace) -> None:
    tally = work.tally
    for place in range(FREE_HEAD, len(tally)):
        tally[place] = 0
    for position in range(tally[POSITIONS] + 1):
        work.positions[ARRIVAL, position] = 0


@inner
def prefetch(work: Workspace, limit: int, policy: int) -> int:
    """Decide all transfers within `limit` bytes of buffer; FITS or OVERFLOW.  Latency goes to the tally."""
    loads, stores, tally = work.loads, work.stores, work.tally
    if _check_room(work.positions, tally, limit) != FITS:
        return OVERFLOW
    _keep_room(loads, work.positions, tally, limit)
    _begin(work)
    time = 0
    for position in range(-1, tally[POSITIONS]):
        row = _needed(loads, tally, position)
        while row >= 0:
            _begin_load(work, row, position)
            time = max(time, tally[CHANNEL])
            row = _needed(loads, tally, position)
        if position >= 0:
            work.positions[BEGIN, position] = time
            time += work.positions[CYCLES, position]
        _run_beside(work, position, time, limit, policy)
        while tally[MADE] < tally[STORES] and stores[STORE_POSITION, tally[MADE]] <= position:
            tally[MADE] += 1
        if position + 1 < tally[POSITIONS]:
            time = _finish_sources(work, position + 1, time)
            time = _keep_stores(work, position + 1, time, limit)
            time = _arrive(work, position + 1, time, limit)
    _finish(work)
    tally[LATENCY] = max(time, tally[CHANNEL])
    return FITS


@inner
def _finish(work: Workspace) -> None:
    """Store the rest after the last tile."""
    tally = work.tally
    while tally[STORE_HEAD] < tally[STORES]:
        _begin_store(work)
    while tally[UNFINISHED] < tally[STORES]:
        _retire(work.stores, tally, tally[POSITIONS])
