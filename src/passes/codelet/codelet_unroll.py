"""The pass `codelet-unroll`."""

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.acg import machine_of
from ...dialects.codelet import CodeletOp, ComputeOp, LocalOp, LoopOp, SurrogateType, TransferOp
from ...dialects.codelet_rules import enclosing_codelet, extents_at, local_axes, surrogate
from ...dialects.codelet_schedule import leading
from ...dialects.types import dtype_of
from ...machine import Machine
from ..codelet_to_queues.isa import find_capability
from ..codelet_to_queues.read import Tensors
from .fit import attempt, codelets, loops_of


@dataclass(frozen=True)
class CodeletUnrollPass(ModulePass):
    """Move more at a time where a transfer does not fill its link (Covenant, section 4, "Loop Unrolling").

    Before: codelets without addresses, the target in the module.  After: each loop that loads has its step multiplied
    until every transfer in it moves as many bytes as its link does in a cycle, or while its latency passes, or the
    destination is full.  What one issue cannot take is looped over inside, in the old steps.  On a link of 24 bytes:

        codelet.loop n step 2 {                        codelet.loop n step 6 {
          %a = codelet.local "A[n]" : <2xi16>            %a = codelet.local "A[n]" : <6xi16>
          codelet.transfer %A -> %a                      codelet.transfer %A -> %a
          ...                                    ->      ...
          codelet.compute ... dims {a = n}               codelet.loop n step 2 {
          codelet.transfer %c -> %C                        codelet.compute ... dims {a = n}
        }                                                }
                                                         codelet.transfer %c -> %C
                                                       }
    """

    name = "codelet-unroll"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        for tensors, codelet in codelets(op):
            _unroll(machine, tensors, codelet)


def _unroll(machine: Machine, tensors: Tensors, codelet: CodeletOp) -> None:
    for number in reversed(range(len(loops_of(codelet)))):
        goal = True
        while goal:
            wanted = _factor(machine, loops_of(codelet)[number])
            goal = False
            while wanted > 1 and not goal:
                change = lambda copy, n=number, f=wanted: _widen(machine, loops_of(copy)[n], f)  # noqa: E731
                codelet, goal = attempt(machine, tensors, codelet, change)
                wanted -= 1


def _factor(machine: Machine, loop: LoopOp) -> int:
    """By how much the step must grow for all transfers to fill their links; 1 if they do or the loop cannot change."""
    parts = _parts(loop)
    left = -(-_outer(loop) // loop.step.value.data)
    if parts is None or left < 2:
        return 1
    factors = [1]
    for transfer in (inner for inner in loop.body.block.ops if isinstance(inner, TransferOp)):
        moved, full = _bytes(transfer), _full_bytes(machine, transfer)
        if moved < full and _moves_with(transfer, loop.dim.data):
            factors.append(-(-full // moved))
    return min(max(factors), left)


def _parts(loop: LoopOp) -> tuple[list[Operation], list[Operation]] | None:
    """Work and stores of a loop whose loads all lead and whose stores all end it; None for another."""
    head, ops = leading(loop), list(loop.body.block.ops)
    rest = ops[len(head) :]
    stores: list[Operation] = []
    while rest and isinstance(rest[-1], TransferOp):
        stores.insert(0, rest.pop())
    inside = [inner for op in rest for inner in op.walk()]
    if not rest or loop.ahead is not None or any(isinstance(inner, LocalOp | TransferOp) for inner in inside):
        return None
    return rest, stores


def _outer(loop: LoopOp) -> int:
    """Iterations of the loop's dim outside of it."""
    parent = loop.parent_op()
    assert parent is not None
    if isinstance(parent, LoopOp):
        extents = extents_at(parent)
        dim = parent.dim.data
        extents[dim] = min(extents[dim], parent.step.value.data)
        return extents[loop.dim.data]
    return enclosing_codelet(loop).dims.as_dict()[loop.dim.data]


def _local(transfer: TransferOp) -> LocalOp:
    value = transfer.destination if isinstance(transfer.destination.owner, LocalOp) else transfer.source
    assert isinstance(value.owner, LocalOp)
    return value.owner


def _bytes(transfer: TransferOp) -> int:
    type_ = surrogate(_local(transfer).result)
    return prod(type_.sizes) * dtype_of(type_.element).itemsize


def _full_bytes(machine: Machine, transfer: TransferOp) -> int:
    """What the link moves in a cycle, and while its latency passes."""
    ends = surrogate(transfer.source).memory, surrogate(transfer.destination).memory
    for link in machine.links:
        if (link.src, link.dst) == ends:
            return int(link.bandwidth_bytes_per_cycle * max(1, link.latency_cycles))
    return 1


def _moves_with(transfer: TransferOp, dim: str) -> bool:
    return any(dim in form.names for axis in local_axes(_local(transfer)) for form in axis.forms)


def _widen(machine: Machine, loop: LoopOp, factor: int) -> bool:
    """Multiplies the step of a loop; its locals grow, its work is looped over inside where one issue cannot take it."""
    parts = _parts(loop)
    assert parts is not None
    work, _ = parts
    step = loop.step.value.data
    loop.step = IntegerAttr(step * factor, i64)
    for local in [inner for inner in loop.body.block.ops if isinstance(inner, LocalOp)]:
        old = surrogate(local.result)
        sizes = [axis.size for axis in local_axes(local)]
        Rewriter.replace_value_with_new_type(local.result, SurrogateType.get(sizes, old.element, old.memory))
    if not _fits_one_issue(machine, work, loop.dim.data):
        inner = Block()
        Rewriter.insert_op(LoopOp(loop.dim.data, step, Region(inner)), InsertPoint.before(work[0]))
        for op in work:
            op.detach()
            inner.add_op(op)
    return True


def _fits_one_issue(machine: Machine, work: list[Operation], dim: str) -> bool:
    """Whether the computes take the dim's whole range at once."""
    for op in (inner for outer in work for inner in outer.walk()):
        if isinstance(op, LoopOp) and op.dim.data == dim:
            return False
        if isinstance(op, ComputeOp):
            slots = {bound: slot for slot, bound in op.dims.data}
            limits = {d.name: d.limit for d in find_capability(machine, op.node, op.capability).dims}
            if dim not in slots or limits[slots[dim]] < extents_at(op)[dim]:
                return False
    return True
