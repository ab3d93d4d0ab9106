"""Addresses on chip for a whole program, and how far ahead weights are loaded, by `lives`.

The locals of an operation live, where that fits, from the one before on, so that neither waits for the other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, NoReturn

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Block, Region

from ...algebra.allocation import LiveRange, align_up, allocate, lasting, require_bytes, reused_late
from ...dialects.codelet import CodeletOp, LocalOp, LoopOp, ProgramOp, RowsOp, TensorOp, TransferOp, ViewOp
from ...dialects.codelet_fused import FillOp, FusedOp
from ...dialects.codelet_rules import surrogate
from ...machine import Machine, Memory
from ..codelet_to_queues.read import tensor_bytes
from .lives import Lives, Load, Scratch, codelets_of, life_of


@dataclass(frozen=True)
class Placement:
    """Addresses of tensors and locals of one memory; `missing_bytes` is what it lacks."""

    tensors: Mapping[TensorOp, int]
    locals_: Mapping[LocalOp, tuple[int, ...]]
    missing_bytes: int

    def write(self) -> None:
        """Write the addresses into the IR."""
        for op, address in self.tensors.items():
            op.address = IntegerAttr(address, i64)
        for local, slots in self.locals_.items():
            local.addresses = DenseArrayBase.from_list(i64, slots)


STORE_SLACK = 4
"""Operations for which bytes of a tensor that is stored off chip stay unused: its stores may wait for loads."""


class Slack(NamedTuple):
    """Operations for which bytes stay unused around a life, so that who takes them next need not wait.

    `after` the life of a tensor, `locals_before` and `locals_after` that of locals; those of the codelets of one
    operation take `turns` in so many sets of bytes.  Unless it `is_tight`, a tensor that is stored off
    chip has `STORE_SLACK` operations at least.
    """

    after: int
    locals_before: int
    locals_after: int
    turns: int
    is_tight: bool = False

    def after_stored(self) -> int:
        """Operations for which bytes of a tensor that is stored off chip stay unused."""
        return self.after if self.is_tight else max(STORE_SLACK, self.after)


APART = 1 << 30
"""Turns of locals that share no bytes."""

SLACKS = (
    Slack(16, 1, 2, APART),
    Slack(3, 1, 0, APART),
    Slack(1, 1, 0, APART),
    Slack(0, 1, 0, APART),
    Slack(0, 1, 0, APART, is_tight=True),
    Slack(0, 1, 0, 1, is_tight=True),
    Slack(0, 0, 0, 1, is_tight=True),
)
"""As they are tried: the first for which there is room."""

OWN_SLACKS = [Slack(0, before, 0, turns, True) for before, turns in product((1, 0), (APART, 4, 3, 2))] + [*SLACKS[-2:]]
"""Slacks of operations that have their own each, as they are tried."""

MOST_SLACK, NO_SLACK, TIGHT = SLACKS[0], SLACKS[3], SLACKS[4]

FILLED = 1.0, 0.95, 0.9, 0.85
"""Parts of a memory up to which lives are `lasting`, as they are tried where `MOST_SLACK` has no room."""

FITTED = *FILLED, 0.8, 0.7
"""Parts of a memory up to which each operation has the slack of its own that fits, as they are tried."""


class Way(NamedTuple):
    """How bytes are shared: a slack for each operation, of which tensors have the first.

    Lives are `lasting` up to `filled_bytes`, if any; with `late` bytes are `reused_late`.  With `maps_first` what is
    loaded gets its addresses after the others.
    """

    slacks: Sequence[Slack]
    filled_bytes: int = 0
    late: bool = False
    maps_first: bool = False


class Placed(NamedTuple):
    """A placement of tensors and all locals: when bytes are in use, those of tensors first, and where these begin.

    The others are in use by the `scratch` of an operation each; bytes of tensors stay unused for `after` operations.
    """

    placement: Placement
    ranges: Sequence[LiveRange]
    addresses: Sequence[int]
    scratch: Sequence[Scratch]
    after: int


def place(
    lives: Lives, memory: Memory, early: Mapping[TensorOp, int], *, late: bool = False, maps_first: bool = False
) -> Placed:
    """Addresses, tensors of `early` living from there on; with `late` lives are `lasting`, and bytes `reused_late`."""
    tensors, found = lives.open_tensors(memory), None
    for way in _ways(lives, memory, early, late):
        found = place_tensors(lives, memory, early, way._replace(maps_first=maps_first), tensors)
        if not found.placement.missing_bytes:
            break
    assert found is not None
    return found


def _ways(lives: Lives, memory: Memory, early: Mapping[TensorOp, int], late: bool) -> Iterator[Way]:
    """As they are tried."""
    alike = {slack: [slack] * len(lives.moments) for slack in SLACKS}
    limits, apart = [int(memory.capacity_bytes * share) for share in FITTED], SLACKS.index(TIGHT) + 1
    if not late:
        yield Way(alike[MOST_SLACK])
    yield from (Way(alike[slack], limit, late) for slack, limit in product((NO_SLACK, TIGHT), limits[: len(FILLED)]))
    yield from (Way(alike[slack], late=late) for slack in SLACKS[1:apart])
    yield from (Way(slacks, late=True) for slacks in _slacks_that_fit(lives, memory, early, limits))
    yield from (Way(alike[slack], late=late) for slack in SLACKS[apart:])


def _slacks_that_fit(
    lives: Lives, memory: Memory, early: Mapping[TensorOp, int], limits_bytes: Sequence[int]
) -> Iterator[list[Slack]]:
    """For each limit, and each operation, the first slack of its locals with which no more bytes are in use."""
    least = OWN_SLACKS[-1]
    sizes = {
        turns: [item.size_bytes for item in lives.scratch(memory, turns)] for turns in {own.turns for own in OWN_SLACKS}
    }
    in_use = [0] * (len(lives.moments) + 1)
    lives_of_all = [life_of(lives, op, early, least.after) for op in lives.open_tensors(memory)]
    lives_of_all += [LiveRange(moment, moment + 1, size) for moment, size in enumerate(sizes[least.turns])]
    for life in lives_of_all:
        for moment in range(life.start, life.end):
            in_use[moment] += align_up(life.size_bytes, memory.align_bytes)
    for limit in limits_bytes:
        yield _first_that_fit(sizes, [*in_use], limit)


def _first_that_fit(sizes: Mapping[int, Sequence[int]], used: list[int], limit_bytes: int) -> list[Slack]:
    """Of `OWN_SLACKS` for each operation, from bytes of its locals by turns; adds to the bytes `used` at each."""
    least = OWN_SLACKS[-1]
    chosen = [least] * len(sizes[least.turns])
    for moment, size in enumerate(sizes[least.turns]):
        for slack in OWN_SLACKS:
            more = {moment: sizes[slack.turns][moment] - size}
            if moment and slack.locals_before:
                more[moment - 1] = sizes[slack.turns][moment]
            if all(used[at] + extra <= limit_bytes for at, extra in more.items()):
                chosen[moment] = slack
                for at, extra in more.items():
                    used[at] += extra
                break
    return chosen


def place_tensors(
    lives: Lives, memory: Memory, early: Mapping[TensorOp, int], way: Way, tensors: Sequence[TensorOp]
) -> Placed:
    """Addresses of some tensors and all locals of a memory."""
    slacks = way.slacks
    kinds = {turns: lives.scratch(memory, turns) for turns in {own.turns for own in slacks}}
    scratch = [kinds[own.turns][moment] for moment, own in enumerate(slacks)]
    slack, stored = slacks[0] if slacks else NO_SLACK, lives.stored()
    ranges = [life_of(lives, op, early, slack.after_stored() if op in stored else slack.after) for op in tensors]
    inside = [(moment, item) for moment, item in enumerate(scratch) if item.size_bytes]
    ranges += [
        LiveRange(max(0, at - slacks[at].locals_before), at + 1 + slacks[at].locals_after, item.size_bytes)
        for at, item in inside
    ]
    given = lasting(ranges, way.filled_bytes, memory.align_bytes) if way.filled_bytes else ranges
    loaded = {op for load in lives.loads() for op in load.targets} if way.maps_first else ()
    last = [number for number, op in enumerate(tensors) if op in loaded]
    found = allocate(given, memory.capacity_bytes, memory.align_bytes, last)
    where = found.addresses
    if way.late and not found.missing_bytes:
        where = reused_late(ranges, where, memory.capacity_bytes, memory.align_bytes)
    own = [item for _, item in inside]
    missing = max(found.missing_bytes, found.need_bytes - memory.capacity_bytes, 0)
    placement = placement_at(tensors, own, where, missing)
    return Placed(placement, ranges, where, own, slack.after)


def placement_at(
    tensors: Iterable[TensorOp], scratch: Sequence[Scratch], addresses: Sequence[int], missing_bytes: int = 0
) -> Placement:
    """The placement of tensors, and of locals after them, that begin at these addresses."""
    placed = dict(zip(tensors, addresses, strict=False))
    locals_ = {
        local: tuple(base + at for at in slots)
        for base, item in zip(addresses[len(placed) :], scratch, strict=False)
        for local, slots in item.offsets.items()
    }
    return Placement(placed, locals_, missing_bytes)


def hoisted(lives: Lives, memories: Sequence[Memory], shares: Mapping[str, float]) -> dict[TensorOp, int]:
    """From which operation on weights can be loaded, each as early as there is room, and not before earlier ones.

    Only those that fill the same memory, with most of their bytes, are kept in order.  At most the part `shares` of a
    memory is filled, which leaves room for fragments.
    """
    room = {memory.name: int(memory.capacity_bytes * shares[memory.name]) for memory in memories}
    used = {memory.name: [*lives.used_bytes(memory)] for memory in memories}
    found: dict[TensorOp, int] = {}
    earliest = dict.fromkeys(room, 0)
    for load in lives.loads():
        sizes: dict[str, int] = {}
        for op in load.targets:
            name = surrogate(op.result).memory
            sizes[name] = sizes.get(name, 0) + tensor_bytes(op)
        moment, most = load.moment, max(sizes, key=lambda name: sizes[name])
        while moment > earliest[most] and all(used[n][moment - 1] + size <= room[n] for n, size in sizes.items()):
            moment -= 1
            for name, size in sizes.items():
                used[name][moment] += size
        earliest[most] = moment
        found |= dict.fromkeys(load.targets, moment)
    return found


SHARES = 1.0, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5
"""Parts of the memories that weights loaded ahead may fill up to, as they are tried."""


def allocate_on_chip(lives: Lives, *, ahead: bool, late: bool = False) -> None:
    """Addresses of all tensors and locals on chip; with `ahead`, loads of weights move to where there is room for them.

    A memory in which not all has an address is filled less.  With `late` bytes are `reused_late`.  `InfeasibleError`
    where a memory is too small.
    """
    memories = onchip_memories(lives.machine)
    shares = {memory.name: [*SHARES] for memory in memories}
    early = hoisted(lives, memories, {name: left[0] for name, left in shares.items()}) if ahead else {}
    while True:
        placements, lacking = list[Placement](), ""
        for memory in memories:
            placements.append(place(lives, memory, early, late=late).placement)
            if early and placements[-1].missing_bytes:
                lacking = memory.name
                break
        if not lacking:
            break
        early = _filled_less(lives, memories, shares, lacking, early)
    if any(placement.missing_bytes for placement in placements):
        _refuse(lives.program, memories, placements)
    write(lives, early, placements)


def _filled_less(
    lives: Lives,
    memories: Sequence[Memory],
    shares: Mapping[str, list[float]],
    lacking: str,
    early: Mapping[TensorOp, int],
) -> dict[TensorOp, int]:
    """Another order of loads than `early`, with a smaller share of the memory that is `lacking` room; else none ahead.

    Shares that are not tried any more leave `shares`.
    """
    while len(shares[lacking]) > 1:
        shares[lacking].pop(0)
        found = hoisted(lives, memories, {name: left[0] for name, left in shares.items()})
        if found != early:
            return found
    return {}


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
    for moment, op in enumerate(lives.moments):
        arriving = coming.get(moment, [])
        if isinstance(op, FusedOp):
            _rebuild(op, before[moment], gone, arriving, lives.machine.offchip)
        elif arriving:
            codelets = [load.codelet for load in arriving]
            for codelet in codelets:
                codelet.detach()
            turns = [(number, *load.turn) for number, load in enumerate(arriving)]
            samples, rows = ([load.dims[axis] for load in arriving] for axis in range(2))
            block.insert_op_after(FusedOp(f"ahead_{moment}", turns, samples, rows, Region(Block(codelets))), op)


def _rebuild(
    op: FusedOp, old: Sequence[CodeletOp], gone: set[CodeletOp], arriving: Sequence[Load], offchip: Sequence[str]
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


def _only_moves_in(codelet: CodeletOp, offchip: Sequence[str]) -> bool:
    """Whether a codelet only loads, or sets to a number."""
    ops = [op for op in codelet.walk() if not isinstance(op, CodeletOp | LoopOp)]
    loads = (isinstance(op, TransferOp) and surrogate(op.source).memory in offchip for op in ops)
    return all(loads) or all(isinstance(op, FillOp) for op in ops)
