"""The instructions of a run in few bytes: columns of numbers, compressed, that the page unpacks when it opens."""

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....machine import Link
from ...assembler import disassemble
from ...simulator.plan import Plan
from ...simulator.schedule import Issue
from ...simulator.stream import Stream
from ...simulator.waiting import NOTHING, Wait
from .occupancy import Occupancy

Array = NDArray[Any]

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
