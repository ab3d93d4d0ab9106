"""`codelet-prefetch`: weights are loaded ahead, as far as there is room on chip."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.acg import machine_of
from ...dialects.codelet import ProgramOp
from .ahead import place_ahead
from .lives import Lives
from .placement import APART, Slack, allocate_on_chip, onchip_memories, write


@dataclass(frozen=True)
class CodeletPrefetchPass(ModulePass):
    """Load the weights of fused groups while earlier ones run, and give all that is on chip its address.

    Before: tensors on chip of fused groups, and locals, without addresses.  After: a codelet that only loads weights
    stands in the earliest group from which on there is room for them until they are used; loads keep their order.  On
    one channel that works in order nothing is lost by loading early.  A tensor shares bytes with those that are dead
    when it is written; the locals of a group lie apart from those of the one before where that fits.

        codelet.fused @a { load a, a }               codelet.fused @a { load a, load b, a }
        codelet.fused @b { load b, b }        ->     codelet.fused @b { b }

    With `slack` of 0 or more, maps get their addresses first, with their bytes unused for so many groups after them,
    and weights come early into the holes between them (`ahead`): more of the memory is filled then, but who takes bytes
    rather waits for those who had them.  With `late` bytes stay unused after a life as long as there is room, and
    tensors and locals then move to bytes that nobody has used for longer.

    `InfeasibleError` where a memory is too small.
    """

    name = "codelet-prefetch"
    slack: int = -1
    late: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        for program in [inner for inner in op.body.block.ops if isinstance(inner, ProgramOp)]:
            lives, found = Lives(machine, program), None
            if self.slack >= 0:
                slack = Slack(self.slack, locals_before=1, locals_after=0, turns=APART)
                found = place_ahead(lives, onchip_memories(machine), slack)
            if found is None:
                allocate_on_chip(lives, ahead=True, late=self.late)
            else:
                write(lives, found.early, found.placements)
