"""Addresses on chip for a whole program, and how far ahead weights are loaded: by lives that count in its operations.

An operation of the program, a codelet or a fused group, is a moment.  A tensor on chip lives from the first operation
that touches it to the last; the locals of an operation's codelets live with it, and, where that fits, from the one
before on, so that neither waits for the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, NoReturn

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from ...algebra.allocation import LiveRange, align_up, allocate, lasting, require_bytes, reused_late
from ...dialects.codelet import CodeletOp, LocalOp, LoopOp, ProgramOp, RowsOp, TensorOp, TransferOp, ViewOp
from ...dialects.codelet_fused import FillOp, FusedOp
from ...dialects.codelet_rules import surrogate
from ...machine import Machine, Memory
from ..codelet_to_queues.locals import place_locals
from ..codelet_to_queues.read import Tensors, read_codelet, read_tensors, tensor_bytes


@dataclass(frozen=True)
class Load:
    """A codelet that only loads what nothing writes, or sets borders, once, in operation `moment`.

    It fills the tensors `targets`; `dims` are those of samples and rows, of which its `turn` says what they range over.
    """

    codelet: CodeletOp
    moment: int
    targets: tuple[TensorOp, ...]
    dims: tuple[str, str]
    turn: tuple[int, int, int]


@dataclass(frozen=True)
class Scratch:
    """The locals of an operation's codelets in one memory: offsets of their copies, and the bytes of all."""

    offsets: Mapping[LocalOp, tuple[int, ...]]
    size_bytes: int


@dataclass
class Lives:
    """A program's operations in order, and what is on chip at each of them."""

    machine: Machine
    program: ProgramOp
    tensors: Tensors = field(init=False)
    moments: list[Operation] = field(init=False)
    lives: dict[TensorOp, tuple[int, int]] = field(init=False)
    _placed: dict[tuple[CodeletOp, str], tuple[dict[LocalOp, tuple[int, ...]], int]] = field(init=False)

    def __post_init__(self) -> None:
        self.tensors = read_tensors(self.program)
        self.moments = [op for op in self.program.body.block.ops if isinstance(op, CodeletOp | FusedOp)]
        self.lives, self._placed = {}, {}
        for moment, op in enumerate(self.moments):
            for codelet in codelets_of(op):
                for value in codelet.tensors:
                    root = self.tensors.roots[value]
                    self.lives[root] = self.lives.get(root, (moment, moment))[0], moment

    def open_tensors(self, memory: Memory) -> list[TensorOp]:
        """Tensors of a memory on chip without an address."""
        return [op for op in self.lives if op.address is None and surrogate(op.result).memory == memory.name]

    def loads(self) -> list[Load]:
        """Codelets that only load, once, into tensors of their own, in order."""
        return [
            load
            for moment, op in enumerate(self.moments)
            if isinstance(op, FusedOp)
            for number, codelet in enumerate(codelets_of(op))
            if (load := self._load(moment, op, number, codelet)) is not None
        ]

    def _load(self, moment: int, op: FusedOp, number: int, codelet: CodeletOp) -> Load | None:
        targets = self._loaded(codelet)
        turns = [turn for turn in op.turns if turn[0] == number] if targets else []
        if len(turns) != 1 or (op.columns is not None and op.columns.data[number].data):
            return None
        dims = op.samples.data[number].data, op.rows.data[number].data
        sample, row, rows = turns[0][1:4]
        return Load(codelet, moment, tuple(targets), dims, (sample, row, rows))

    def _loaded(self, codelet: CodeletOp) -> list[TensorOp]:
        """What a codelet fills with what nothing writes, or numbers; nothing where it does something else."""
        inside: dict[SSAValue, SSAValue] = dict(zip(codelet.body.block.args, codelet.tensors, strict=True))
        found: list[TensorOp] = []
        for op in codelet.walk():
            if op is codelet or isinstance(op, LoopOp):
                continue
            if isinstance(op, FillOp) and op.target in inside:
                found.append(self.tensors.roots[inside[op.target]])
                continue
            if not isinstance(op, TransferOp) or op.source not in inside or op.destination not in inside:
                return []
            target = self.tensors.roots[inside[op.destination]]
            if not self.tensors.given(inside[op.source]) or target.address is not None:
                return []
            found.append(target)
        return found

    def scratch(self, memory: Memory, *, apart: bool) -> list[Scratch]:
        """The locals of each operation; those of different codelets `apart`, or in the same bytes."""
        found: list[Scratch] = []
        for op in self.moments:
            offsets: dict[LocalOp, tuple[int, ...]] = {}
            end = 0
            for codelet in codelets_of(op):
                key = codelet, memory.name
                if key not in self._placed:
                    self._placed[key] = self._locals(codelet, memory)
                placed, size = self._placed[key]
                base = end if apart else 0
                offsets |= {local: tuple(base + at for at in slots) for local, slots in placed.items()}
                end = max(end, base + align_up(size, memory.align_bytes))
            found.append(Scratch(offsets, end))
        return found

    def _locals(self, op: CodeletOp, memory: Memory) -> tuple[dict[LocalOp, tuple[int, ...]], int]:
        if not any(isinstance(inner, LocalOp) for inner in op.walk()):
            return {}, 0
        codelet, locals_ = read_codelet(op, self.tensors, allocated=False)
        placed = place_locals(codelet, memory.name, memory.capacity_bytes, memory.align_bytes)
        if isinstance(placed, int):
            return {}, placed
        first = len(codelet.surrogates) - len(locals_)
        ends = (slots[-1] + codelet.surrogates[index].size_bytes for index, slots in placed.items())
        return {locals_[index - first]: slots for index, slots in placed.items()}, max(ends, default=0)


def codelets_of(op: Operation) -> list[CodeletOp]:
    """The codelets of an operation of a program."""
    inner: Sequence[Operation] = op.codelets if isinstance(op, FusedOp) else [op]
    return [codelet for codelet in inner if isinstance(codelet, CodeletOp)]


@dataclass(frozen=True)
class Placement:
    """Addresses of tensors and locals of one memory; `missing_bytes` where it is too small, with what it would need."""

    tensors: Mapping[TensorOp, int]
    locals_: Mapping[LocalOp, tuple[int, ...]]
    missing_bytes: int
    need_bytes: int

    def write(self) -> None:
        """Write the addresses into the IR."""
        for op, address in self.tensors.items():
            op.address = IntegerAttr(address, i64)
        for local, slots in self.locals_.items():
            local.addresses = DenseArrayBase.from_list(i64, slots)


class Slack(NamedTuple):
    """Operations for which bytes stay unused around a life, so that who takes them next need not wait.

    `after` the life of a tensor, `locals_before` and `locals_after` that of locals; those of the codelets of one
    operation lie `apart` or in the same bytes.
    """

    after: int
    locals_before: int
    locals_after: int
    apart: bool


SLACKS = (
    Slack(16, 1, 2, True),
    Slack(3, 1, 0, True),
    Slack(1, 1, 0, True),
    Slack(0, 1, 0, True),
    Slack(0, 1, 0, False),
    Slack(0, 0, 0, False),
)
"""As they are tried: the first for which there is room."""

MOST_SLACK, NO_SLACK = SLACKS[0], SLACKS[3]

FILLED = 1.0, 0.95, 0.9, 0.85
"""Parts of a memory up to which lives are `lasting`, as they are tried where `MOST_SLACK` has no room."""


def place(lives: Lives, memory: Memory, early: Mapping[TensorOp, int], *, late: bool = False) -> Placement:
    """Addresses in one memory, tensors of `early` living from an earlier operation on; with `late` `reused_late`."""
    tensors = lives.open_tensors(memory)
    limits = [int(memory.capacity_bytes * share) for share in FILLED]
    ways = [(MOST_SLACK, 0), *((NO_SLACK, limit) for limit in limits), *((slack, 0) for slack in SLACKS[1:])]
    found = None
    for slack, filled_bytes in ways:
        moves = late and slack is not MOST_SLACK
        found = place_tensors(lives, memory, early, slack, tensors, filled_bytes, late=moves).placement
        if not found.missing_bytes:
            break
    assert found is not None
    return found


class Placed(NamedTuple):
    """A placement of tensors and all locals: when bytes are in use, those of tensors first, and where these begin."""

    placement: Placement
    ranges: Sequence[LiveRange]
    addresses: Sequence[int]


def place_tensors(
    lives: Lives,
    memory: Memory,
    early: Mapping[TensorOp, int],
    slack: Slack,
    tensors: Sequence[TensorOp],
    filled_bytes: int = 0,
    *,
    late: bool = False,
) -> Placed:
    """Addresses of some tensors and all locals of a memory; lives `lasting` up to `filled_bytes`, or `reused_late`."""
    scratch = lives.scratch(memory, apart=slack.apart)
    ranges = [life_of(lives, op, early, slack.after) for op in tensors]
    inside = [(moment, item) for moment, item in enumerate(scratch) if item.size_bytes]
    before, after = slack.locals_before, 1 + slack.locals_after
    ranges += [LiveRange(max(0, moment - before), moment + after, item.size_bytes) for moment, item in inside]
    given = lasting(ranges, filled_bytes, memory.align_bytes) if filled_bytes else ranges
    found = allocate(given, memory.capacity_bytes, memory.align_bytes)
    where = found.addresses
    if late and not found.missing_bytes:
        where = reused_late(ranges, where, memory.capacity_bytes, memory.align_bytes)
    bases = where[len(tensors) :]
    locals_ = {
        local: tuple(base + at for at in slots)
        for base, (_, item) in zip(bases, inside, strict=True)
        for local, slots in item.offsets.items()
    }
    missing = max(found.missing_bytes, found.need_bytes - memory.capacity_bytes, 0)
    addresses = dict(zip(tensors, where, strict=False))
    return Placed(Placement(addresses, locals_, missing, found.need_bytes), ranges, where)


def life_of(lives: Lives, op: TensorOp, early: Mapping[TensorOp, int], slack: int) -> LiveRange:
    """When a tensor has its bytes, with `slack` operations after its last use."""
    first, last = lives.lives[op]
    return LiveRange(min(first, early.get(op, first)), last + 1 + slack, tensor_bytes(op))


def hoisted(lives: Lives, memories: Sequence[Memory], share: float) -> dict[TensorOp, int]:
    """From which operation on weights can be loaded, each as early as there is room and those before it are.

    At most `share` of a memory is filled, which leaves room for fragments.
    """
    room = {memory.name: int(memory.capacity_bytes * share) for memory in memories}
    used = {memory.name: _used(lives, memory) for memory in memories}
    found: dict[TensorOp, int] = {}
    earliest = 0
    for load in lives.loads():
        sizes: dict[str, int] = {}
        for op in load.targets:
            name = surrogate(op.result).memory
            sizes[name] = sizes.get(name, 0) + tensor_bytes(op)
        moment = load.moment
        while moment > earliest and all(used[n][moment - 1] + size <= room[n] for n, size in sizes.items()):
            moment -= 1
            for name, size in sizes.items():
                used[name][moment] += size
        earliest = moment
        found |= dict.fromkeys(load.targets, moment)
    return found


def _used(lives: Lives, memory: Memory) -> list[int]:
    """Bytes of a memory that are in use at each operation, the locals of the next one included."""
    own = [item.size_bytes for item in lives.scratch(memory, apart=False)]
    used = [size + following for size, following in zip(own, [*own[1:], 0], strict=True)]
    for op in lives.open_tensors(memory):
        (first, last), size = lives.lives[op], tensor_bytes(op)
        for moment in range(first, last + 1):
            used[moment] += size
    return used


SHARES = 1.0, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5
"""Parts of the memories that weights loaded ahead may fill up to, as they are tried."""


def allocate_on_chip(lives: Lives, *, ahead: bool, late: bool = False) -> None:
    """Addresses of all tensors and locals on chip; with `ahead`, loads of weights move to where there is room for them.

    With `late` bytes are `reused_late`.  `InfeasibleError` where a memory is too small.
    """
    memories = onchip_memories(lives.machine)
    tried = (hoisted(lives, memories, share) for share in SHARES) if ahead else ()
    last: list[Placement] = []
    for early in chain(tried, [dict[TensorOp, int]()]):
        placements = [place(lives, memory, early, late=late) for memory in memories]
        if not any(placement.missing_bytes for placement in placements):
            write(lives, early, placements)
            return
        last = placements
    _refuse(lives.program, memories, last)


def onchip_memories(machine: Machine) -> list[Memory]:
    """The memories that programs have addresses in."""
    return [memory for memory in machine.memories if not memory.offchip]


def write(lives: Lives, early: Mapping[TensorOp, int], placements: Sequence[Placement]) -> None:
    """Write loads where they belong and the addresses of all into the IR."""
    _move_loads(lives, early)
    for placement in placements:
        placement.write()


def _refuse(program: ProgramOp, memories: Sequence[Memory], placements: Sequence[Placement]) -> NoReturn:
    for memory, placement in zip(memories, placements, strict=True):
        demand = memory.capacity_bytes + placement.missing_bytes
        lever = f"use a {memory.name} of at least {demand} bytes, or smaller groups"
        require_bytes(memory.name, demand, memory.capacity_bytes, f"program @{program.sym_name.data}", lever)
    raise AssertionError("one memory is too small")


def _move_loads(lives: Lives, early: Mapping[TensorOp, int]) -> None:
    """Moves each load to the operation from which on its tensors live; tensors and views come first."""
    moved = [load for load in lives.loads() if early.get(load.targets[0], load.moment) < load.moment]
    if not moved:
        return
    block = lives.program.body.block
    fronts = [op for op in block.ops if isinstance(op, TensorOp | ViewOp | RowsOp)]
    for op in fronts:
        op.detach()
    first = block.first_op
    assert first is not None
    block.insert_ops_before(fronts, first)
    coming: dict[int, list[Load]] = {}
    for load in moved:
        coming.setdefault(early[load.targets[0]], []).append(load)
    gone = {load.codelet for load in moved}
    before = [codelets_of(op) for op in lives.moments]
    offchip = frozenset(memory.name for memory in lives.machine.memories if memory.offchip)
    for moment, op in enumerate(lives.moments):
        arriving = coming.get(moment, [])
        if isinstance(op, FusedOp):
            _rebuild(op, before[moment], gone, arriving, offchip)
        elif arriving:
            codelets = [load.codelet for load in arriving]
            for codelet in codelets:
                codelet.detach()
            turns = [(number, *load.turn) for number, load in enumerate(arriving)]
            samples, rows = ([load.dims[axis] for load in arriving] for axis in range(2))
            block.insert_op_after(FusedOp(f"ahead_{moment}", turns, samples, rows, Region(Block(codelets))), op)


def _rebuild(
    op: FusedOp,
    old: Sequence[CodeletOp],
    gone: set[CodeletOp],
    arriving: Sequence[Load],
    offchip: frozenset[str],
) -> None:
    """The group of codelets `old` without those that are `gone`, and with those that arrive after its last loads."""
    if not arriving and not gone.intersection(old):
        return
    kept = [codelet for codelet in old if codelet not in gone]
    number = {old.index(codelet): place for place, codelet in enumerate(kept)}
    columns = [op.columns] if op.columns is not None else []
    names = [
        [array.data[place].data for place in number] + [(*load.dims, "")[axis] for load in arriving]
        for axis, array in enumerate((op.samples, op.rows, *columns))
    ]
    turns = [[number[turn[0]], *turn[1:]] for turn in op.turns if turn[0] in number]
    loads = [place for place, codelet in enumerate(kept) if _only_moves_in(codelet, offchip)]
    last = max((place for place, turn in enumerate(turns) if turn[0] in loads), default=-1) + 1
    width = 4 if op.columns is None else 6
    turns[last:last] = [[len(kept) + n, *load.turn, 0, 1][:width] for n, load in enumerate(arriving)]
    codelets = [*kept, *(load.codelet for load in arriving)]
    for codelet in codelets:
        codelet.detach()
    region = Region(Block(codelets))
    samples, rows = names[:2]
    made = FusedOp(op.sym_name.data, turns, samples, rows, region, names[2] if columns else None)
    block = op.parent_block()
    assert block is not None
    block.insert_op_before(made, op)
    op.detach()
    op.erase(safe_erase=False)


def _only_moves_in(codelet: CodeletOp, offchip: frozenset[str]) -> bool:
    """Whether a codelet only loads, or sets to a number."""
    ops = [op for op in codelet.walk() if not isinstance(op, CodeletOp | LoopOp)]
    loads = (isinstance(op, TransferOp) and surrogate(op.source).memory in offchip for op in ops)
    return all(loads) or all(isinstance(op, FillOp) for op in ops)
