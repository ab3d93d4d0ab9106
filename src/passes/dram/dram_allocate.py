"""`dram-allocate`: addresses in the buffer."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...costs.notation import check_capacity, check_schedule, items_of, pack_items
from ...costs.notation.check import where
from ...dialects import dram
from ...errors import InfeasibleError
from .schedules import Schedule, schedule_op, schedule_value


@dataclass(frozen=True)
class DramAllocatePass(ModulePass):
    """Give every DRAM tensor and every result on chip its place in the buffer.

        load "a" weights during [-1, 3)   ->   load "a" weights during [-1, 3) at 0

    No two tensors that live at the same time share a byte.  Whole tensors are placed by best fit in several orders;
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
    items = items_of(parsed, moves)
    packing = pack_items(items, numbers.buffer, numbers.align)
    if packing.missing_bytes:
        position = items[packing.worst].start
        lever = (
            f"{packing.missing_bytes} bytes more of buffer would do; {numbers.buffer - usage[position + 1]} bytes are "
            f"free in pieces too small for {parsed.describe(packing.worst)}"
        )
        demand = numbers.buffer + packing.missing_bytes
        raise InfeasibleError("global buffer", demand, numbers.buffer, "bytes", lever, where(parsed, position))
    return Schedule(value.name, numbers, parsed, moves, packing.parts)
