"""`dram-verify`: whether a schedule of DRAM can be executed."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...costs.notation import check_capacity, check_schedule
from ...dialects import dram
from .schedules import schedule_value


@dataclass(frozen=True)
class DramVerifyPass(ModulePass):
    """Check what needs the tiles of a schedule; changes nothing.

    Groups can be cut as said.  Every DRAM tensor that the groups ask for moves once.  A load lives from a position
    before its first use to the one after its last; a store from the tile that makes it to one after its last use.  All
    of a layer's results are stored before any of them is loaded.  Nothing in the order waits for a tile that waits for
    something later, and room is stored away before it is loaded into.  At every position what lives fits the buffer.
    The first broken rule is an error (kind `schedule`, InfeasibleError for capacity).
    """

    name = "dram-verify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for schedule in [inner for inner in op.body.ops if isinstance(inner, dram.ScheduleOp)]:
            value = schedule_value(schedule)
            parsed, moves, numbers = value.parsed, value.moves, value.machine
            if schedule.transfers is None:
                continue
            check_schedule(parsed, moves)
            check_capacity(parsed, moves, numbers.buffer)
