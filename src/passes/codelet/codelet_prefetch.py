"""`codelet-prefetch`: weights are loaded ahead, as far as there is room on chip.

`placement` bounds what is loaded ahead by bytes alone, and lowers the bound until all has an address: where maps of
different sizes follow each other, much of a memory stays empty then.  With slack, maps get their addresses first, and
each load begins as early as a hole between them is free from then until its use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...algebra.allocation import LiveRange, align_up, reused_late
from ...algebra.element import Ints
from ...dialects.acg import machine_of
from ...dialects.codelet import ProgramOp, TensorOp
from ...dialects.codelet_rules import surrogate
from ...machine import Memory
from ..codelet_to_queues.read import tensor_bytes
from .lives import Lives, Load, life_of
from .placement import (
    APART,
    Placed,
    Placement,
    Slack,
    Way,
    allocate_on_chip,
    onchip_memories,
    place,
    place_tensors,
    placement_at,
    write,
)


@dataclass(frozen=True)
class Ahead:
    """From which operation on loaded tensors live, and the addresses of all."""

    early: Mapping[TensorOp, int]
    placements: Sequence[Placement]


def slack_of(groups: int) -> Slack:
    """What leaves the bytes of maps unused for so many groups after them."""
    return Slack(groups, locals_before=1, locals_after=0, turns=APART)


def place_ahead(lives: Lives, memories: Sequence[Memory], slack: Slack) -> Ahead | None:
    """Addresses with loads as early as there are holes between maps for them; None without room."""
    loaded = {op for load in lives.loads() for op in load.targets}
    spaces: dict[str, Space] = {}
    for memory in memories:
        tensors = lives.open_tensors(memory)
        maps, coming = [op for op in tensors if op not in loaded], [op for op in tensors if op in loaded]
        placed = place_tensors(lives, memory, {}, Way([slack] * len(lives.moments)), maps)
        if placed.placement.missing_bytes:
            tight = [slack._replace(is_tight=True)] * len(lives.moments)
            placed = place_tensors(lives, memory, {}, Way(tight), maps)
        if placed.placement.missing_bytes:
            return None
        spaces[memory.name] = _space(memory, placed, coming)
    return _ahead(lives, spaces, late=False)


def move_ahead(lives: Lives, memories: Sequence[Memory], *, maps_first: bool, late: bool) -> Ahead | None:
    """Addresses of all with loads in time, which then move to the earliest holes; None without room."""
    spaces: dict[str, Space] = {}
    for memory in memories:
        placed = place(lives, memory, {}, maps_first=maps_first)
        if placed.placement.missing_bytes:
            return None
        spaces[memory.name] = _space(memory, placed, ())
    return _ahead(lives, spaces, late=late)


def _ahead(lives: Lives, spaces: Mapping[str, Space], *, late: bool) -> Ahead | None:
    """Loads one after another into the earliest holes, those before each no later; None where there is none."""
    early: dict[TensorOp, int] = {}
    earliest = 0
    for load in lives.loads():
        for op in load.targets:
            spaces[surrogate(op.result).memory].take_out(op)
        moment = _earliest(lives, spaces, load, earliest)
        if moment is None:
            return None
        earliest = moment
        early |= dict.fromkeys(load.targets, moment)
    return Ahead(early, [space.placement(late=late) for space in spaces.values()])


def has_holes(module: ModuleOp, slack: int) -> bool:
    """Whether weights have room in the holes between the maps of a module, which stay unused for `slack` groups."""
    machine = machine_of(module)
    programs = [op for op in module.body.ops if isinstance(op, ProgramOp)]
    return all(place_ahead(Lives(machine, one), onchip_memories(machine), slack_of(slack)) for one in programs)


def _earliest(lives: Lives, spaces: Mapping[str, Space], load: Load, first: int) -> int | None:
    """Places what is loaded from the first operation on, not before `first`, from which there is a hole for it."""

    def fits(moment: int) -> bool:
        placed: list[tuple[Space, TensorOp]] = []
        for op in sorted(load.targets, key=tensor_bytes, reverse=True):
            space = spaces[surrogate(op.result).memory]
            if not space.put(op, moment, life_of(lives, op, {}, space.after).end):
                for other, done in placed:
                    other.take_out(done)
                return False
            placed.append((space, op))
        return True

    low, high = first, load.moment
    if fits(low):
        return low
    while high - low > 1:  # there is no hole from `low` on
        middle = (low + high) // 2
        if fits(middle):
            for op in load.targets:
                spaces[surrogate(op.result).memory].take_out(op)
            high = middle
        else:
            low = middle
    return high if fits(high) else None


@dataclass
class Space:
    """Who has which bytes of a memory when: rectangles of `start` to `end` (exclusive) and so many bytes.

    The first are those `placed`; tensors are put at the end of the last hole.
    """

    memory: Memory
    owners: Mapping[TensorOp, int]
    start: Ints
    end: Ints
    address: Ints
    size: Ints
    placed: Placed | None = None

    def put(self, op: TensorOp, start: int, end: int) -> bool:
        """Give a tensor a hole that is free for so long; False where there is none."""
        align, capacity = self.memory.align_bytes, self.memory.capacity_bytes
        place, size = self.owners[op], align_up(tensor_bytes(op), align)
        there = (self.start < end) & (self.end > start)
        low, high = self.address[there], (self.address + self.size)[there]
        order = np.argsort(low)
        begins = np.concatenate([[0], np.maximum.accumulate(high[order])])
        widths = np.concatenate([low[order], [capacity - capacity % align]]) - begins
        holes = np.nonzero(widths >= size)[0]
        if not len(holes):
            return False
        self.start[place], self.end[place], self.size[place] = start, end, size
        self.address[place] = begins[holes[-1]] + widths[holes[-1]] - size
        return True

    @property
    def after(self) -> int:
        """Operations for which bytes of a tensor stay unused after it."""
        return self.placed.after if self.placed is not None else 0

    def take_out(self, op: TensorOp) -> None:
        """Free what a tensor has."""
        place = self.owners[op]
        self.start[place] = self.end[place] = 0

    def placement(self, *, late: bool = False) -> Placement:
        """The addresses; with `late` bytes are taken again late."""
        addresses = self.address.tolist()
        if late:
            lives = [LiveRange(*life) for life in np.stack([self.start, self.end, self.size], 1).tolist()]
            addresses = reused_late(lives, addresses, self.memory.capacity_bytes, self.memory.align_bytes)
        scratch = self.placed.scratch if self.placed is not None else ()
        maps = len(self.placed.placement.tensors) if self.placed is not None else 0
        found = placement_at(islice(self.owners, maps), scratch, addresses)
        return replace(found, tensors={op: addresses[place] for op, place in self.owners.items()})


def _space(memory: Memory, placed: Placed, coming: Sequence[TensorOp]) -> Space:
    """The memory with what is placed in it, and without what is coming."""
    count, maps = len(placed.ranges), placed.placement.tensors
    owners = {op: place for place, op in enumerate(maps)} | {op: count + n for n, op in enumerate(coming)}
    start, end, size, address = np.zeros((4, count + len(coming)), np.int64)
    if placed.ranges:
        start[:count], end[:count], size[:count] = np.array(placed.ranges, np.int64).T
    size[:count] = -(-size[:count] // memory.align_bytes) * memory.align_bytes
    address[:count] = placed.addresses
    return Space(memory, owners, start, end, address, size, placed)


@dataclass(frozen=True)
class CodeletPrefetchPass(ModulePass):
    """Load the weights of fused groups while earlier ones run, and give all that is on chip its address.

    Before: tensors on chip of fused groups, and locals, without addresses.  After: a codelet that only loads weights
    stands in the earliest group from which on there is room for them until they are used; loads into one memory keep
    their order.  On one channel that works in order nothing is lost by loading early.  A tensor shares bytes with those
    that are dead when it is written; the locals of a group lie apart from those of the one before where that fits.

        codelet.fused @a { load a, a }               codelet.fused @a { load a, load b, a }
        codelet.fused @b { load b, b }        ->     codelet.fused @b { b }

    With `slack` of 0 or more, maps get their addresses first, with their bytes unused for so many groups after them,
    and weights come early into the holes between them: more of the memory is filled then, but who takes bytes
    rather waits for those who had them.  With `late` bytes stay unused after a life as long as there is room, and
    tensors and locals then move to bytes that nobody has used for longer.  With `holes` all get addresses with loads in
    time (with `slack`, maps before what is loaded), and each load then moves to the earliest hole.

    `InfeasibleError` where a memory is too small.
    """

    name = "codelet-prefetch"
    slack: int = -1
    late: bool = False
    holes: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        for program in [inner for inner in op.body.block.ops if isinstance(inner, ProgramOp)]:
            lives, found, memories = Lives(machine, program), None, onchip_memories(machine)
            if self.holes:
                found = move_ahead(lives, memories, maps_first=self.slack >= 0, late=self.late)
            elif self.slack >= 0:
                found = place_ahead(lives, memories, slack_of(self.slack))
            if found is None:
                allocate_on_chip(lives, ahead=True, late=self.late)
            else:
                write(lives, found.early, found.placements)
