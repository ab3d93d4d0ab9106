"""`codelet-verify`: proofs of addresses by Z3."""

from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.acg import machine_of
from ...dialects.codelet import CodeletOp, ProgramOp, TensorOp
from ...dialects.codelet_fused import FusedOp
from ...dialects.codelet_rules import surrogate
from ...dialects.types import Role
from ...errors import TilewrightError
from ..codelet_to_queues.meaning import check_meanings
from ..codelet_to_queues.obligations import Problem, build_placements, build_problem
from ..codelet_to_queues.prove import refute
from ..codelet_to_queues.read import Tensors, read_codelet, read_tensors, tensor_bytes, tensor_lives
from ..codelet_to_queues.written import Rings, check_rows, check_views, check_written


@dataclass(frozen=True)
class CodeletVerifyPass(ModulePass):
    """Prove that an allocated program stays within its memories, for all iterations of all loops; changes nothing.

    Each compute must say what its capability does.  For each codelet one query to Z3, which codelets that differ in
    addresses alone share: every tensor and local lies within its memory's capacity, at a multiple of its alignment;
    those in use at the same time share no byte; every transfer and every operand of a compute stays within the tensor
    or local that it names; no compute has more iterations than its capability takes.  Tensors that share bytes must not
    be alive at the same time.  The turns of a fused group are gone through one by one instead: what a codelet reads of
    a ring was written and is still there.  What is read of other tensors is given, or written by that codelet or one
    before it.  A view has the elements of its tensor.  A refuted obligation is an error (kind `refuted`, or
    `InfeasibleError` for capacity) with the iteration where it fails, memory, demand, capacity and the smallest change
    that would fit.
    """

    name = "codelet-verify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        proved: set[tuple[object, ...]] = set()
        for program in [inner for inner in op.body.block.ops if isinstance(inner, ProgramOp)]:
            check_views(program)
            tensors = read_tensors(program)
            check_tensors(program, tensors)
            codelets = {inner: read_codelet(inner, tensors) for inner in program.codelets}
            for inner, codelet in codelets.items():
                check_meanings(machine, codelet)
                turns = isinstance(inner.parent_op(), FusedOp)
                build = build_placements if turns else build_problem
                _prove(build(machine, codelet), proved)
            rings: Rings = {}
            for fused in [op for op in program.body.block.ops if isinstance(op, FusedOp)]:
                check_rows(fused, [codelets[op] for op in fused.codelets if isinstance(op, CodeletOp)], rings)
            check_written(program, tensors, codelets)


def _prove(problem: Problem, proved: set[tuple[object, ...]]) -> None:
    moving = frozenset(item.formula for item in problem.obligations if item.is_moving)
    key = problem.pieces, moving
    if key in proved and all(item.is_moving or item.holds({}) for item in problem.obligations):
        return
    refutation = refute(problem)
    if refutation is not None:
        raise refutation.error(problem)
    proved.add(key)


def check_tensors(program: ProgramOp, tensors: Tensors) -> None:
    """Tensors alive at the same time share no bytes; inputs, outputs and weights are always alive."""
    lives = tensor_lives(program, tensors)
    end = max((last for _, last in lives.values()), default=0)
    placed: list[_Placed] = []
    for op in program.body.block.ops:
        if isinstance(op, TensorOp) and op.address is not None:
            life = lives.get(op, (0, -1)) if op.role.data == Role.TEMP else (0, end)
            start = op.address.value.data
            where = surrogate(op.result).memory, start, start + tensor_bytes(op)
            placed.append(_Placed(*where, *life, op.tensor_name.data))
    active: list[_Placed] = []
    for one in sorted(placed, key=lambda one: (one.memory, one.start, one.end)):
        active = [other for other in active if other.memory == one.memory and other.end > one.start]
        for other in active:
            if other.first <= one.last and one.first <= other.last:
                raise TilewrightError(
                    "refuted",
                    f"tensors '{other.name}' and '{one.name}'",
                    f"no shared bytes of {one.memory} while both are in use",
                    f"{min(other.end, one.end) - one.start} B shared from {one.start} on",
                    f"move one of them by {other.end - one.start} B",
                )
        active.append(one)


class _Placed(NamedTuple):
    """Where a tensor lies, bytes `start` to `end` (exclusive), and the operations from which to which it is in use."""

    memory: str
    start: int
    end: int
    first: int
    last: int
    name: str
