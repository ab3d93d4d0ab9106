"""Compiled: when to load and store, decided in one pass over the tiles.

Loads go by deadline, each as soon as the channel is free and the buffer has room for it until its use; stores go when
no load can, or when their room is needed.  On one channel that serves in order nothing is lost by loading early, so
lives follow from the order.  Times are those of SoMa's timeline (J. Cai et al., HPCA 2025, section V-D).
"""

from ...algebra.element import Ints
from ..soma.blocks import Split
from ..soma.hardware import DRAM_PJ
from .emit import FITS, OVERFLOW, emit
from .tables import Loads, Model, Net, Positions, Stages, Stores, Tally, Workspace, compiled, inner

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
    for position in range(tally[Tally.POSITIONS]):
        if positions[Positions.USAGE, position + 1] > tally[Tally.PEAK]:
            tally[Tally.PEAK], tally[Tally.PEAK_POSITION] = positions[Positions.USAGE, position + 1], position
    return OVERFLOW if tally[Tally.PEAK] > limit else FITS


@inner
def _keep_room(loads: Ints, positions: Ints, tally: Ints, limit: int) -> None:
    """Give each load room at the position before its use where there is."""
    for row in range(tally[Tally.LOADS]):
        place = loads[Loads.POSITION, row]
        loads[Loads.EARLY, row] = 0
        loads[Loads.START, row] = loads[Loads.BLOCKED, row] = WAITING
        if positions[Positions.USAGE, place] + loads[Loads.SIZE, row] <= limit:
            positions[Positions.USAGE, place] += loads[Loads.SIZE, row]
            loads[Loads.EARLY, row] = 1


@inner
def _begin_load(work: Workspace, row: int, position: int) -> None:
    loads, positions, tally = work.loads, work.positions, work.tally
    use = loads[Loads.POSITION, row]
    for place in range(position + 1, use + 1 - loads[Loads.EARLY, row]):
        positions[Positions.USAGE, place] += loads[Loads.SIZE, row]
    tally[Tally.CHANNEL] += loads[Loads.CYCLES, row]
    loads[Loads.START, row], loads[Loads.END_CYCLES, row] = position, tally[Tally.CHANNEL]
    positions[Positions.ARRIVAL, use] = tally[Tally.CHANNEL]
    work.sequence[tally[Tally.DONE]] = row
    tally[Tally.DONE] += 1
    while (
        tally[Tally.FREE_HEAD] < tally[Tally.FREE]
        and loads[Loads.START, loads[Loads.FREE, tally[Tally.FREE_HEAD]]] != WAITING
    ):
        tally[Tally.FREE_HEAD] += 1
    while (
        tally[Tally.BOUND_HEAD] < tally[Tally.BOUND]
        and loads[Loads.START, loads[Loads.BOUND, tally[Tally.BOUND_HEAD]]] != WAITING
    ):
        tally[Tally.BOUND_HEAD] += 1


@inner
def _begin_store(work: Workspace) -> None:
    stores, tally = work.stores, work.tally
    row = tally[Tally.STORE_HEAD]
    tally[Tally.CHANNEL] += stores[Stores.CYCLES, row]
    stores[Stores.END_CYCLES, row] = tally[Tally.CHANNEL]
    work.stages[Stages.LEFT, stores[Stores.LAYER, row]] -= 1
    work.sequence[tally[Tally.DONE]] = -1 - row
    tally[Tally.DONE] += 1
    tally[Tally.STORE_HEAD] += 1


@inner
def _next_load(loads: Ints, stages: Ints, tally: Ints) -> int:
    """The load of the earliest deadline among those whose source is in DRAM, -1 for none."""
    row = -1
    if tally[Tally.FREE_HEAD] < tally[Tally.FREE]:
        row = loads[Loads.FREE, tally[Tally.FREE_HEAD]]
    if tally[Tally.BOUND_HEAD] < tally[Tally.BOUND]:
        other = loads[Loads.BOUND, tally[Tally.BOUND_HEAD]]
        if row < 0 or loads[Loads.POSITION, other] <= loads[Loads.POSITION, row]:
            if stages[Stages.LEFT, loads[Loads.SOURCE, other]] == 0:
                row = other
    return row


@inner
def _has_room(loads: Ints, positions: Ints, row: int, position: int, limit: int) -> bool:
    """Whether the load can live from `position` on."""
    if loads[Loads.BLOCKED, row] >= position:
        return False
    room = limit - loads[Loads.SIZE, row]
    for place in range(loads[Loads.POSITION, row] - loads[Loads.EARLY, row], position, -1):
        if positions[Positions.USAGE, place] > room:
            loads[Loads.BLOCKED, row] = place - 1
            return False
    return True


@inner
def _overtaking(loads: Ints, positions: Ints, tally: Ints, position: int, limit: int) -> int:
    """A load that has room though an earlier one has not, -1 for none."""
    for place in range(tally[Tally.FREE_HEAD] + 1, min(tally[Tally.FREE], tally[Tally.FREE_HEAD] + AHEAD)):
        row = loads[Loads.FREE, place]
        if loads[Loads.START, row] == WAITING and _has_room(loads, positions, row, position, limit):
            return row
    return -1


@inner
def _run_beside(work: Workspace, position: int, time: int, limit: int, policy: int) -> None:
    """Begin transfers before the tile at `position` ends at `time`."""
    loads, tally = work.loads, work.tally
    while tally[Tally.CHANNEL] < time:
        row = _next_load(loads, work.stages, tally)
        waiting = tally[Tally.STORE_HEAD] < tally[Tally.MADE]
        if policy & DOUBLE_BUFFER and row >= 0 and loads[Loads.POSITION, row] > position + 1:
            row = -1
        if policy & EAGER and waiting and (row < 0 or loads[Loads.POSITION, row] > position + 1):
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
                tally[Tally.CHANNEL] = time


@inner
def _needed(loads: Ints, tally: Ints, position: int) -> int:
    """A load that the tile at `position` still waits for, -1 for none."""
    if tally[Tally.BOUND_HEAD] < tally[Tally.BOUND]:
        row = loads[Loads.BOUND, tally[Tally.BOUND_HEAD]]
        if loads[Loads.POSITION, row] == position:
            return row
    if tally[Tally.FREE_HEAD] < tally[Tally.FREE]:
        row = loads[Loads.FREE, tally[Tally.FREE_HEAD]]
        if loads[Loads.POSITION, row] == position:
            return row
    return -1


@inner
def _finish_sources(work: Workspace, position: int, time: int) -> int:
    """Store what the tile at `position` reads back; `time`, or when that is done."""
    loads, tally = work.loads, work.tally
    place = tally[Tally.BOUND_HEAD]
    while place < tally[Tally.BOUND] and loads[Loads.POSITION, loads[Loads.BOUND, place]] == position:
        while work.stages[Stages.LEFT, loads[Loads.SOURCE, loads[Loads.BOUND, place]]] > 0:
            _begin_store(work)
            time = max(time, tally[Tally.CHANNEL])
        place += 1
    return time


@inner
def _retire(stores: Ints, tally: Ints, position: int) -> None:
    """The next unfinished store is finished before `position`."""
    row = tally[Tally.UNFINISHED]
    stores[Stores.END, row] = max(stores[Stores.USED, row], position)
    tally[Tally.UNFINISHED] += 1


@inner
def _keep_stores(work: Workspace, position: int, time: int, limit: int) -> int:
    """Room at `position` for unfinished stores; what does not fit is stored first.  The time when it is."""
    stores, positions, tally = work.stores, work.positions, work.tally
    while (
        tally[Tally.UNFINISHED] < tally[Tally.STORE_HEAD] and stores[Stores.END_CYCLES, tally[Tally.UNFINISHED]] <= time
    ):
        _retire(stores, tally, position)
    for row in range(tally[Tally.MADE] - 1, tally[Tally.UNFINISHED] - 1, -1):
        if position < stores[Stores.USED, row]:
            continue
        if positions[Positions.USAGE, position + 1] + stores[Stores.SIZE, row] <= limit:
            positions[Positions.USAGE, position + 1] += stores[Stores.SIZE, row]
            continue
        while tally[Tally.STORE_HEAD] <= row:
            _begin_store(work)
        time = max(time, stores[Stores.END_CYCLES, row])
        while tally[Tally.UNFINISHED] <= row:
            _retire(stores, tally, position)
        break
    return time


@inner
def _arrive(work: Workspace, position: int, time: int, limit: int) -> int:
    """Begin what the tile at `position` needs while the tile before still holds its room; when it all is there."""
    loads, tally = work.loads, work.tally
    row = _needed(loads, tally, position)
    while row >= 0:
        if not loads[Loads.EARLY, row] and work.positions[Positions.USAGE, position] + loads[Loads.SIZE, row] > limit:
            return max(time, tally[Tally.CHANNEL])
        _begin_load(work, row, position - 1)
        row = _needed(loads, tally, position)
    return max(time, work.positions[Positions.ARRIVAL, position])


@inner
def _begin(work: Workspace) -> None:
    tally = work.tally
    for place in range(Tally.FREE_HEAD, len(tally)):
        tally[place] = 0
    for position in range(tally[Tally.POSITIONS] + 1):
        work.positions[Positions.ARRIVAL, position] = 0


@inner
def prefetch(work: Workspace, limit: int, policy: int) -> int:
    """Decide all transfers within `limit` bytes of buffer; FITS or OVERFLOW.  Latency goes to the tally."""
    loads, stores, tally = work.loads, work.stores, work.tally
    if _check_room(work.positions, tally, limit) != FITS:
        return OVERFLOW
    _keep_room(loads, work.positions, tally, limit)
    _begin(work)
    time = 0
    for position in range(-1, tally[Tally.POSITIONS]):
        row = _needed(loads, tally, position)
        while row >= 0:
            _begin_load(work, row, position)
            time = max(time, tally[Tally.CHANNEL])
            row = _needed(loads, tally, position)
        if position >= 0:
            work.positions[Positions.BEGIN, position] = time
            time += work.positions[Positions.CYCLES, position]
        _run_beside(work, position, time, limit, policy)
        while tally[Tally.MADE] < tally[Tally.STORES] and stores[Stores.POSITION, tally[Tally.MADE]] <= position:
            tally[Tally.MADE] += 1
        if position + 1 < tally[Tally.POSITIONS]:
            time = _finish_sources(work, position + 1, time)
            time = _keep_stores(work, position + 1, time, limit)
            time = _arrive(work, position + 1, time, limit)
    _finish(work)
    tally[Tally.LATENCY] = max(time, tally[Tally.CHANNEL])
    return FITS


@inner
def _finish(work: Workspace) -> None:
    """Store the rest after the last tile."""
    tally = work.tally
    while tally[Tally.STORE_HEAD] < tally[Tally.STORES]:
        _begin_store(work)
    while tally[Tally.UNFINISHED] < tally[Tally.STORES]:
        _retire(work.stores, tally, tally[Tally.POSITIONS])


@compiled
def score(
    net: Net, model: Model, splits: tuple[Split, ...], batch: int, state: Ints, work: Workspace, limit: int, policy: int
) -> int:
    """Fill `work` for the fusion `state` and decide its transfers within `limit` bytes of buffer; the outcome."""
    outcome = emit(net, model, splits, batch, state, work)
    if outcome != FITS:
        return outcome
    work.energy[len(work.energy) - 1] += DRAM_PJ * work.tally[Tally.DRAM_BYTES]
    return prefetch(work, limit, policy)
