"""The pass `codelet-pipeline`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...dialects.acg import machine_of
from ...dialects.codelet import CodeletOp, LocalOp, LoopOp, TransferOp
from ...dialects.codelet_schedule import leading, root, written_values
from ...machine import Machine
from ..codelet_to_queues.read import Tensors
from .fit import attempt, codelets, loops_of, pieces_of


@dataclass(frozen=True)
class CodeletPipelinePass(ModulePass):
    """Move the next tile while this one is worked on: two copies of what a loop moves, and loads one iteration ahead.

    Before: codelets without addresses, the target in the module.  After: locals in loops have `buffers` copies where
    these fit in their memories, innermost loops first, and the innermost loops that load are `ahead`: the loads of an
    iteration are issued before the work and the stores of the one before it.  Units that move data both ways, or share
    a queue with what computes, no longer wait for a result before they fetch the next operands.

        codelet.loop m step 4 {                  codelet.loop m step 4 ahead {
          %a = codelet.local "X[m]"                %a = codelet.local "X[m]" buffers 2
          codelet.transfer %X -> %a                codelet.transfer %X -> %a
          %b = codelet.local "Y[m]"        ->      %b = codelet.local "Y[m]" buffers 2
          codelet.compute ... (%b, %a)             codelet.compute ... (%b, %a)
          codelet.transfer %b -> %Y                codelet.transfer %b -> %Y
        }                                        }

    Loops that load what they write stay as they are.  With `buffers=1` everything is done in turn, with one copy.
    Software-pipelined double buffering (Covenant's section 4 leaves it open; ours).
    """

    name = "codelet-pipeline"
    buffers: int = 2
    ahead: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        for tensors, codelet in codelets(op):
            if self.buffers < 2:
                _serialise(codelet)
            else:
                self._pipeline(machine, tensors, codelet)

    def _pipeline(self, machine: Machine, tensors: Tensors, codelet: CodeletOp) -> None:
        for number in reversed(range(len(loops_of(codelet)))):
            codelet, _ = attempt(machine, tensors, codelet, lambda copy, n=number: self._copied(loops_of(copy)[n]))
        if self.ahead:
            for loop in loops_of(codelet):
                if _can_lead(loop):
                    loop.ahead = UnitAttr()

    def _copied(self, loop: LoopOp) -> bool:
        moved = [inner for inner in loop.body.block.ops if isinstance(inner, LocalOp) and inner.buffers.value.data == 1]
        for local in moved:
            local.buffers = IntegerAttr(self.buffers, i64)
        return bool(moved) and pieces_of(loop) > 1


def _serialise(codelet: CodeletOp) -> None:
    for inner in codelet.walk():
        if isinstance(inner, LocalOp):
            inner.buffers = IntegerAttr(1, i64)
        elif isinstance(inner, LoopOp):
            inner.ahead = None


def _can_lead(loop: LoopOp) -> bool:
    """An innermost loop of several iterations whose loads are of nothing that it writes, into two copies each."""
    head = leading(loop)
    rest = [inner for inner in loop.body.block.ops if inner not in head]
    loads = [inner for inner in head if isinstance(inner, TransferOp)]
    single = any(isinstance(inner, LocalOp) and inner.buffers.value.data < 2 for inner in head)
    if not loads or not rest or single or pieces_of(loop) < 2 or any(_loads(inner) for inner in rest):
        return False
    written = {root(value) for value in written_values(loop, head)}
    return not any(load.source.owner not in head and root(load.source) in written for load in loads)


def _loads(op: Operation) -> bool:
    return any(isinstance(inner, LocalOp) for inner in op.walk())
