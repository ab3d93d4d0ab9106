"""`codelet-allocate`: byte addresses of tensors and locals."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from ...algebra.allocation import BumpAllocator, LiveRange, align_up, allocate, require_bytes
from ...dialects.acg import machine_of
from ...dialects.codelet import CodeletOp, LocalOp, ProgramOp, TensorOp
from ...dialects.codelet_fused import FusedOp
from ...dialects.codelet_rules import surrogate
from ...dialects.types import Role
from ...machine import Machine, Memory
from ..codelet_to_queues.locals import copies_bytes, place_locals
from ..codelet_to_queues.read import locals_of, read_codelet, read_tensors, tensor_bytes, tensor_lives
from ..codelet_to_queues.tree import Codelet
from .lives import Lives
from .placement import allocate_on_chip


@dataclass(frozen=True)
class CodeletAllocatePass(ModulePass):
    """Give every tensor and local of a program its addresses, in bytes, by lifetimes.

    Off chip: inputs, outputs and weights have bytes of their own; a temporary tensor may share bytes with those that
    are dead when it is written, unless `keep_intermediates` is set (then each can be read after a run).  On chip: the
    locals of a codelet side by side, or, where that does not fit, sharing bytes by lifetimes; consecutive codelets
    begin at opposite ends of a memory so that one's loads can overlap the other's work.  All addresses are multiples of
    the memory's alignment.  In a fused group, whose tensors on chip have addresses already, locals lie above those.

        %0 = codelet.local "X[p]" buffers 2 : ...   ->   %0 = codelet.local "X[p]" buffers 2 at [0, 1024] : ...

    Raises `InfeasibleError` where a memory is too small.  Placed by `algebra/allocation`, largest first.
    """

    name = "codelet-allocate"
    keep_intermediates: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        for program in [inner for inner in op.body.block.ops if isinstance(inner, ProgramOp)]:
            if _has_open_tensors(machine, program):
                allocate_on_chip(Lives(machine, program), ahead=False)
            allocate_tensors(machine, program, self.keep_intermediates)
            allocate_locals(machine, program)


def _has_open_tensors(machine: Machine, program: ProgramOp) -> bool:
    """Whether a tensor on chip has no address."""
    tensors = [op for op in program.body.block.ops if isinstance(op, TensorOp)]
    return any(op.address is None and surrogate(op.result).memory not in machine.offchip for op in tensors)


def allocate_tensors(machine: Machine, program: ProgramOp, keep: bool) -> None:
    """Addresses of the off-chip tensors."""
    tensors = read_tensors(program)
    ops = [op for op in program.body.block.ops if isinstance(op, TensorOp)]
    lives = tensor_lives(program, tensors)
    for memory in machine.memories:
        own = [op for op in ops if surrogate(op.result).memory == memory.name and not _is_placed(op, memory)]
        lasting = [op for op in own if keep or op.role.data != Role.TEMP]
        passing = [op for op in own if op not in lasting]
        bump = BumpAllocator(memory.align_bytes)
        for op in lasting:
            op.address = IntegerAttr(bump.take(tensor_bytes(op)), i64)
        spans = [lives.get(op, (0, 0)) for op in passing]
        ranges = [LiveRange(a, b + 1, tensor_bytes(op)) for op, (a, b) in zip(passing, spans, strict=True)]
        found = allocate(ranges, memory.capacity_bytes - bump.end, memory.align_bytes)
        demand = bump.end + found.top_bytes
        lever = (
            f"a {memory.name} of {demand} bytes would hold {bump.end} of inputs, outputs and weights and "
            f"{found.top_bytes} of temporary tensors{'; do not keep intermediates' if keep else ''}"
        )
        require_bytes(memory.name, demand, memory.capacity_bytes, f"program @{program.sym_name.data}", lever)
        for op, address in zip(passing, found.addresses, strict=True):
            op.address = IntegerAttr(bump.end + address, i64)


def _is_placed(op: TensorOp, memory: Memory) -> bool:
    return not memory.offchip and op.address is not None


def allocate_locals(machine: Machine, program: ProgramOp) -> None:
    """Addresses of the locals of each codelet."""
    tensors = read_tensors(program)
    bases: dict[CodeletOp, dict[str, int]] = {}
    for fused in [op for op in program.body.block.ops if isinstance(op, FusedOp)]:
        inside = [op for op in fused.codelets if isinstance(op, CodeletOp)]
        ends = _ends(machine, [tensors.roots[value] for op in inside for value in op.tensors])
        bases |= dict.fromkeys(inside, ends)
    for number, op in enumerate(program.codelets):
        codelet = read_codelet(op, tensors, allocated=False)
        locals_ = locals_of(op, codelet)
        if locals_ and all(local.slots is not None for local in locals_.values()):
            continue
        for memory in machine.memories:
            base = bases.get(op, {}).get(memory.name, 0)
            placed = place_locals(codelet, memory.name, memory.capacity_bytes - base, memory.align_bytes)
            if isinstance(placed, int):
                _require(codelet, memory, base + placed, base)
            else:
                _assign(codelet, memory, placed, locals_, base, at_top=number % 2 == 1)


def _ends(machine: Machine, roots: list[TensorOp]) -> dict[str, int]:
    """Where the free bytes of each memory on chip begin."""
    ends: dict[str, int] = {}
    for memory in machine.memories:
        own = [op for op in roots if surrogate(op.result).memory == memory.name and op.address is not None]
        if not memory.offchip and own:
            end = max(op.address.value.data + tensor_bytes(op) for op in own if op.address is not None)
            ends[memory.name] = align_up(end, memory.align_bytes)
    return ends


def _assign(
    codelet: Codelet,
    memory: Memory,
    placed: dict[int, tuple[int, ...]],
    locals_: Mapping[int, LocalOp],
    base: int,
    *,
    at_top: bool,
) -> None:
    end = max((slots[-1] + codelet.surrogates[i].size_bytes for i, slots in placed.items()), default=0)
    room = memory.capacity_bytes - end
    shift = room // memory.align_bytes * memory.align_bytes if at_top else base
    for index, slots in placed.items():
        locals_[index].addresses = DenseArrayBase.from_list(i64, [slot + shift for slot in slots])


def _require(codelet: Codelet, memory: Memory, demand: int, base: int) -> None:
    """Raise where locals and what a group holds below them demand too much."""
    own = [s for s in codelet.surrogates if s.axes is not None and s.memory == memory.name]
    largest = max(own, key=lambda s: copies_bytes(s, memory.align_bytes))
    lever = (
        f"make the tiles {demand - memory.capacity_bytes} bytes smaller (the largest local is {largest.name}, "
        f"{len(largest.addresses)} copies of {align_up(largest.size_bytes, memory.align_bytes)} bytes)"
    )
    if base:
        lever += f", beside {base} bytes of its group"
    require_bytes(memory.name, demand, memory.capacity_bytes, f"codelet @{codelet.name}", lever)
