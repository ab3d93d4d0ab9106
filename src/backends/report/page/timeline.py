"""Instructions of a run and what lies in the memories on chip meanwhile, as the page takes them."""

import base64
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ....algebra.element import Array
from ....machine import Link
from ...assembler import disassemble
from ...simulator.plan import Plan
from ...simulator.schedule import Issue
from ...simulator.stream import Stream
from ...simulator.waiting import NOTHING, Wait

ROWS = 4096
"""Addresses of a memory that are looked at, evenly apart: what covers none of them is not seen."""

MOST_LIVES = 20_000
"""Lives of a memory that are told; where there are more, fewer addresses are looked at."""


class Life(NamedTuple):
    """Bytes `start` to `end` hold values of a layer from the first write to the last use; `loaded` from off chip."""

    start: int
    end: int
    first_cycle: int
    last_cycle: int
    layer: int
    loaded: bool


@dataclass(frozen=True)
class Occupancy:
    """The lives in a memory, at a resolution of `block` bytes."""

    memory: str
    block: int
    lives: tuple[Life, ...]


def occupancies(stream: Stream, issues: Sequence[Issue], layers: Sequence[int]) -> list[Occupancy]:
    """The lives in each memory on chip that is used; `layers` are the numbers of the instructions' layers."""
    ordered = sorted(issues, key=lambda issue: (issue.start_cycle, issue.index))
    numbers = layers or [0] * len(stream)
    found: list[Occupancy] = []
    for number, memory in enumerate(stream.machine.memories):
        ends = [
            address + touch.high
            for plan, addresses in zip(stream.plans, stream.addresses, strict=True)
            for touch, address in zip(plan.touches, addresses, strict=False)
            if touch.memory == number
        ]
        if memory.offchip or not ends:
            continue
        block = max(1, -(-max(ends) // ROWS))
        while len(lives := _lives(stream, ordered, numbers, number, block, max(ends))) > MOST_LIVES:
            block *= 2
        found.append(Occupancy(memory.name, block, tuple(lives)))
    return found


def _lives(
    stream: Stream, issues: Iterable[Issue], layers: Sequence[int], memory: int, block: int, end: int
) -> list[Life]:
    state = _Rows(-(-end // block))
    for issue in issues:
        plan, addresses = stream.plans[issue.index], stream.addresses[issue.index]
        loaded = any(stream.machine.memories[touch.memory].offchip for touch in plan.touches)
        for touch, address in zip(plan.touches, addresses, strict=False):
            if touch.memory == memory:
                rows = slice(-(-(address + touch.low) // block), -(-(address + touch.high) // block))
                if touch.writes and not touch.reads:
                    state.write(rows, 2 * layers[issue.index] + loaded, issue.start_cycle)
                state.use(rows, issue.end_cycle)
    return state.lives(block)


class _Rows:
    """For each address whose values it holds (a key of layer and kind, or -1), since when, and when they were used."""

    def __init__(self, count: int) -> None:
        self.keys = np.full(count, -1, np.int64)
        self.first = np.zeros(count, np.int64)
        self.last = np.zeros(count, np.int64)
        self.closed: list[Array] = []

    def write(self, rows: slice, key: int, cycle: int) -> None:
        """Other values end; those of the same key go on."""
        changed = np.flatnonzero(self.keys[rows] != key) + rows.start
        if len(changed):
            self._close(changed)
            self.keys[changed], self.first[changed] = key, cycle

    def use(self, rows: slice, cycle: int) -> None:
        np.maximum(self.last[rows], cycle, out=self.last[rows])

    def _close(self, rows: Array) -> None:
        held = rows[self.keys[rows] >= 0]
        self.closed.append(np.stack([self.keys[held], self.first[held], self.last[held], held]))

    def lives(self, block: int) -> list[Life]:
        """All that ended or is left, neighbours of equal times as one."""
        self._close(np.arange(len(self.keys)))
        table = np.concatenate(self.closed, axis=1)
        table = table[:, np.lexsort(table[::-1])]
        if not table.shape[1]:
            return []
        steps = np.diff(table, axis=1)
        starts = np.concatenate([[0], 1 + np.flatnonzero((steps[:3] != 0).any(axis=0) | (steps[3] != 1))])
        stops = np.concatenate([starts[1:], [table.shape[1]]]) - 1
        rows = zip(*table[:, starts].tolist(), table[3, stops].tolist(), strict=True)
        return [
            Life(low * block, (high + 1) * block, first, last, key // 2, bool(key % 2))
            for key, first, last, low, high in rows
        ]


COLUMNS = ("start", "plan", "unit", "cause")
"""For each instruction, in program order: its start less that of the one before it in its unit, the number of its
plan, that of its unit, and how far before it (behind it: negative) stands what it waited for (0: nothing)."""


def packed(data: bytes) -> str:
    """Bytes as text that the page unpacks: zlib, then base 64."""
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def packed_json(value: Any) -> str:
    """Plain data as text that the page unpacks."""
    return packed(json.dumps(value, separators=(",", ":")).encode())


def pack_timeline(stream: Stream, issues: Sequence[Issue], waits: Sequence[Wait]) -> tuple[str, list[dict[str, Any]]]:
    """The columns of all instructions, and what plans there are."""
    starts, previous = np.zeros(len(stream), np.int64), [0] * len(stream.machine.units)
    for issue in issues:
        starts[issue.index] = issue.start_cycle
    steps, causes = np.zeros(len(stream), np.int64), np.zeros(len(stream), np.int64)
    for index, (unit, wait) in enumerate(zip(stream.units, waits, strict=True)):
        steps[index] = starts[index] - previous[unit]
        previous[unit] = int(starts[index])
        causes[index] = index - wait.cause if wait.cause != NOTHING else 0
    numbers: dict[int, int] = {}
    plans: list[Plan] = []
    for plan in stream.plans:
        if id(plan) not in numbers:
            numbers[id(plan)] = len(plans)
            plans.append(plan)
    kinds = [numbers[id(plan)] for plan in stream.plans]
    return _columns([steps, kinds, stream.units, causes]), [_plan(stream, plan) for plan in plans]


def _plan(stream: Stream, plan: Plan) -> dict[str, Any]:
    """What instructions of a plan are and take."""
    if plan.bound is None:
        return {"name": "nothing", "node": "", "cycles": 0, "ops": 0, "touches": [], "energy_pj": 0, "extents": ""}
    memories, bound = stream.machine.memories, plan.bound
    return {
        "name": bound.mnemonic.name,
        "node": bound.node.name,
        "link": isinstance(bound.node, Link),
        "capability": bound.capability.name,
        "cycles": plan.cycles,
        "ops": plan.ops,
        "energy_pj": plan.energy_pj,
        "extents": " ".join(f"{dim}={count}" for dim, count in bound.extents.items() if count != 1),
        "touches": [
            [touch.operand, memories[touch.memory].name, touch.byte_count, "r" * touch.reads + "w" * touch.writes]
            for touch in plan.touches
        ],
    }


def pack_lives(found: Sequence[Occupancy]) -> str:
    """The lives of all memories, column by column."""
    return _columns(list(zip(*(life for one in found for life in one.lives), strict=True)))


def _columns(columns: Sequence[Sequence[float] | Array]) -> str:
    """Whole numbers as floats of 64 bits, which scripts read as they are."""
    return packed(np.array(columns, "<f8").tobytes())


def assembly(stream: Stream) -> str:
    """The program as text, a line for each instruction."""
    return disassemble(stream.machine, stream.code)
