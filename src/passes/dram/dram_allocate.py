"""`dram-allocate`: addresses in the buffer."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...algebra.allocation import allocate_parts, require_bytes
from ...costs.notation import check_capacity, check_schedule, live_ranges
from ...costs.notation.check import where
from ...dialects import dram
from .schedules import Schedule, schedule_op, schedule_value


@dataclass(frozen=True)
class DramAllocatePass(ModulePass):
    """Give every DRAM tensor and every result on chip its place in the buffer.

        load "a" weights during [-1, 3)   ->   load "a" weights during [-1, 3) at 0

    No two tensors that live at the same time share a byte.  Whole tensors are placed in several orders;
    where free space is in pieces, tensors are cut between channels (output channels, for weights) to fill them:
    `at 0, 32 at 4096`.  Precondition: transfers (`dram-schedule`).  Raises InfeasibleError where the buffer is too
    small, with the position, what is missing, and how much of it is due to alignment and channels that cannot be cut.
    """

    name = "dram-allocate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for schedule in [inner for inner in op.body.ops if isinstance(inner, dram.ScheduleOp)]:
            value = allocate(schedule_value(schedule))
            given = value.machine, value.parsed, value.moves, value.parts
            Rewriter.replace_op(schedule, schedule_op(value.name, schedule.scheduled, *given))


def allocate(value: Schedule) -> Schedule:
    """`value` with addresses."""
    parsed, moves, numbers = value.parsed, value.moves, value.machine
    check_schedule(parsed, moves)
    usage = check_capacity(parsed, moves, numbers.buffer)
    ranges = live_ranges(parsed, moves)
    found = allocate_parts([*ranges.values()], numbers.buffer, numbers.align)
    if found.missing_bytes:
        worst = [*ranges][found.worst]
        position = ranges[worst].start
        lever = (
            f"{found.missing_bytes} bytes more of buffer would do; {numbers.buffer - usage[position + 1]} bytes are "
            f"free in pieces too small for {parsed.describe(worst)}"
        )
        demand = numbers.buffer + found.missing_bytes
        require_bytes("global buffer", demand, numbers.buffer, where(parsed, position), lever)
    return Schedule(value.name, numbers, parsed, moves, dict(zip(ranges, found.parts, strict=True)))
