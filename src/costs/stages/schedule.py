"""When instructions of stages run: units in order, tokens between them, and channels that serve one at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...machine import Machine
from ..compiled import compiled, inner
from .code import Row, StageCode, Table, fetched_beats

NEVER = np.int64(1 << 62)


def run_stages(code: StageCode) -> tuple[Table, Table, Table, Table]:
    """Start and end of each instruction in cycles, their order, and how many of each unit have run.

    Instructions come in program order, each when its unit's queue has room; one starts when it is its unit's next, that
    is free, and each queue that it pops holds a token.  Requests of a channel are served in the order in which they are
    made, those of fetching first, then of units in the order of their declaration.  The order has fewer instructions
    than the program where the rest can never start.
    """
    machine = code.machine
    depths = np.array([unit.depth or 1 << 40 for unit in machine.units], np.int64)
    fetch = np.array(fetched_beats(machine), np.int64)
    return _run(code.rows, depths, len(code.channels), len(queue_ends(machine)), fetch)


def queue_ends(machine: Machine) -> Sequence[tuple[int, int]]:
    """The units that push and pop each token queue, by number."""
    stages, numbers = machine.stages, {unit.name: number for number, unit in enumerate(machine.units)}
    return [(numbers[q.src], numbers[q.dst]) for q in stages.tokens] if stages is not None else []


SENT, TAKEN, FREE = range(3)
"""Of each unit: instructions that came, that started, and when the last of these is done."""


@inner
def _room(unit: Any, state: Table, queues: Table, start: Table, depth: Any) -> Any:
    """When the unit's queue takes another instruction; NEVER while it is full."""
    sent = state[unit, SENT]
    if sent - state[unit, TAKEN] >= depth:
        return NEVER
    return start[queues[unit, sent - depth]] if sent >= depth else np.int64(0)


@inner
def _ready(pops: Any, tokens: Table, counts: Table) -> Any:
    """When the last token that an instruction pops is there; NEVER while one is not pushed."""
    time = np.int64(0)
    for queue in range(len(tokens)):
        if pops >> queue & 1:
            if counts[queue, 1] >= counts[queue, 0]:
                return NEVER
            time = max(time, tokens[queue, counts[queue, 1]])
    return time


@inner
def _count_tokens(row: Table, finish: Any, tokens: Table, counts: Table) -> None:
    for queue in range(len(tokens)):
        if row[Row.POPS] >> queue & 1:
            counts[queue, 1] += 1
        if row[Row.PUSHES] >> queue & 1:
            tokens[queue, counts[queue, 0]] = finish
            counts[queue, 0] += 1


@compiled
def _run(
    rows: Table, depths: Table, channel_count: int, queue_count: int, fetch: Table
) -> tuple[Table, Table, Table, Table]:
    count, unit_count = len(rows), len(depths)
    start, end, order = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    queues, arrived = np.full((unit_count, count + 1), -1, np.int64), np.zeros(count, np.int64)
    tokens = np.zeros((queue_count, count + 1), np.int64)  # when the n-th was pushed
    counts, state = np.zeros((queue_count, 2), np.int64), np.zeros((unit_count, 3), np.int64)
    bus = np.zeros(channel_count + 1, np.int64)
    fetched, fetch_free, done = 0, np.int64(0), 0
    while True:
        best, at = -2, NEVER
        if fetched < count:
            unit = rows[fetched, Row.UNIT]
            time = max(fetch_free, _room(unit, state, queues, start, depths[unit]))
            if time < at:
                best, at = -1, time
        for unit in range(unit_count):
            if state[unit, TAKEN] < state[unit, SENT]:
                index = queues[unit, state[unit, TAKEN]]
                time = max(state[unit, FREE], arrived[index], _ready(rows[index, Row.POPS], tokens, counts))
                if time < at:
                    best, at = unit, time
        if best == -2:
            return start, end, order[:done], state[:, TAKEN].copy()
        if best == -1:
            unit = rows[fetched, Row.UNIT]
            fetch_free = max(at, bus[fetch[0]]) + fetch[1]
            bus[fetch[0]] = fetch_free
            arrived[fetched] = fetch_free
            queues[unit, state[unit, SENT]] = fetched
            state[unit, SENT] += 1
            fetched += 1
            continue
        index = queues[best, state[best, TAKEN]]
        state[best, TAKEN] += 1
        finish, channel = at, rows[index, Row.CHANNEL]
        if rows[index, Row.BEATS] > 0:
            finish = max(at, bus[channel]) + rows[index, Row.BEATS]
            bus[channel] = finish
        finish += rows[index, Row.CYCLES]
        _count_tokens(rows[index], finish, tokens, counts)
        start[index], end[index], state[best, FREE], order[done] = at, finish, finish, index
        done += 1


@compiled
def clocks(rows: Table, unit_count: int, queue_count: int, order: Table) -> Table:
    """For each instruction, how many of each unit are complete before it starts, whatever the times; itself counted.

    The n-th pop of a queue waits for its n-th push: the units run in order, so both are the same in every run.
    """
    known = np.zeros((len(rows), unit_count), np.int64)
    latest = np.zeros((unit_count, unit_count), np.int64)
    pushers = np.zeros((queue_count, len(rows) + 1), np.int64)
    pushed, popped = np.zeros(queue_count, np.int64), np.zeros(queue_count, np.int64)
    for index in order:
        unit = rows[index, Row.UNIT]
        for queue in range(queue_count):
            if rows[index, Row.POPS] >> queue & 1:
                before = pushers[queue, popped[queue]]
                popped[queue] += 1
                for other in range(unit_count):
                    latest[unit, other] = max(latest[unit, other], known[before, other])
        latest[unit, unit] += 1
        known[index] = latest[unit]
        for queue in range(queue_count):
            if rows[index, Row.PUSHES] >> queue & 1:
                pushers[queue, pushed[queue]] = index
                pushed[queue] += 1
    return known
