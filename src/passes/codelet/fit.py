"""Whether the locals of a codelet still fit, for passes that make them larger or more; what can be tried is undone."""

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ModuleOp

from ...dialects.codelet import CodeletOp, LoopOp, ProgramOp
from ...dialects.codelet_rules import extents_at
from ...machine import Machine
from ..codelet_to_queues.locals import place_locals
from ..codelet_to_queues.read import Tensors, read_codelet, read_tensors


def codelets(op: ModuleOp) -> Iterator[tuple[Tensors, CodeletOp]]:
    """The codelets of all programs that stand by themselves, with their tensors."""
    for program in [inner for inner in op.body.block.ops if isinstance(inner, ProgramOp)]:
        tensors = read_tensors(program)
        yield from ((tensors, inner) for inner in list(program.body.block.ops) if isinstance(inner, CodeletOp))


def fits(machine: Machine, tensors: Tensors, op: CodeletOp) -> bool:
    """Whether there are addresses for all locals in every memory."""
    codelet = read_codelet(op, tensors, allocated=False)
    return not any(
        isinstance(place_locals(codelet, memory.name, memory.capacity_bytes, memory.align_bytes), int)
        for memory in machine.memories
    )


def attempt(
    machine: Machine, tensors: Tensors, op: CodeletOp, change: Callable[[CodeletOp], bool]
) -> tuple[CodeletOp, bool]:
    """The codelet that then stands in the program: a changed copy where that fits, else the old one.

    `change` changes a codelet in place and says whether it did something.
    """
    copy = op.clone()
    block = op.parent_block()
    assert block is not None
    if not change(copy) or not fits(machine, tensors, copy):
        copy.erase()
        return op, False
    block.insert_op_before(copy, op)
    block.erase_op(op)
    return copy, True


def loops_of(op: CodeletOp) -> list[LoopOp]:
    """The loops of a codelet, a loop before those inside."""
    return [inner for inner in op.walk() if isinstance(inner, LoopOp)]


def pieces_of(op: LoopOp) -> int:
    """Iterations of a loop over a full range."""
    return -(-extents_at(op)[op.dim.data] // op.step.value.data)
