"""Instructions of codelets for a machine of stages: copies, walks over micro-ops, and tokens between stages.

What depends on shapes alone is planned once for each node and tile shape.  Micro-ops of a codelet are loaded before it;
equal lists of them lie there once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InfeasibleError, TilewrightError
from ...machine import Machine
from ...machine.encoding import encode_many, join_rows
from ...machine.layer_table import LayerRecorder, LayerTable
from ...machine.stage_isa import Instruction, StageIsa, StageWriter
from ...machine.stages import element_bytes
from ..codelet_to_queues.dependences import Span, Touches
from ..codelet_to_queues.plan_transfer import Side, box_of
from ..codelet_to_queues.run import Runner, State
from ..codelet_to_queues.tree import Codelet, Fill, Issue, Transfer
from .copies import CopyPlan, Rows, plan_copies
from .tokens import Ordered, with_tokens
from .walks import Walk, WalkPlan, plan_walk

Walks = tuple[Walk, ...]


@dataclass
class StageState(State):
    """With the copies of transfers and the walks of computes, by node and shape."""

    copies: dict[tuple[object, ...], CopyPlan] = field(default_factory=dict[tuple[object, ...], CopyPlan])
    plans: dict[int, WalkPlan] = field(default_factory=dict[int, WalkPlan])
    walks: dict[tuple[object, ...], tuple[Walk, ...]] = field(
        default_factory=dict[tuple[object, ...], tuple[Walk, ...]]
    )


class Loaded(NamedTuple):
    """Numbers that a program needs off chip beside its tensors, and the instructions that load them."""

    name: str
    array: NDArray[np.int32] | NDArray[np.int8]
    element_bytes: int
    users: list[Instruction]


class StageEmitter(Runner[StageState]):
    """Emits codelets one after another; `finish` gives the program its tokens."""

    def __init__(self, isa: StageIsa) -> None:
        super().__init__()
        self.isa, self.writer = isa, StageWriter(isa)
        self.touches, self.recorder = Touches(), LayerRecorder()
        numbers = {memory.name: number for number, memory in enumerate(isa.machine.memories)}
        self.memories = {**numbers, isa.results.name: numbers[isa.sums.name]}  # a shadow is written with its original
        self.layer, self.layers = 0, list[int]()
        self.micro, self.starts = list[int](), dict[tuple[int, ...], int]()
        self.loaded: list[Loaded] = []
        self.pads: dict[int, Loaded] = {}

    def codelet(self, codelet: Codelet) -> None:
        """Emits one codelet, after a load of its micro-ops; `InfeasibleError` where these are too many."""
        isa = self.isa
        self.layer = self.recorder.layer(codelet.nodes or (codelet.name,))
        self.micro, self.starts = [], {}
        sizes = {"chip": 0, "offchip": 0, "rows": 1, "columns": 0, "stride": 0}
        load = self.writer.copy(isa.loads[isa.micro.name], sizes)
        self._touch([], [])
        self.body(codelet, codelet.body, StageState.of(codelet))
        count, depth = len(self.micro), isa.micro.depth or 0
        if count > depth:
            raise InfeasibleError(isa.micro.name, count, depth, "micro-ops", "choose smaller tiles", codelet.name)
        _set(load, "columns", count)
        array = np.array(self.micro, np.uint32).view(np.int32)
        self.loaded.append(Loaded(f"{codelet.name}.micro_ops", array, element_bytes(isa.micro), [load]))

    def _touch(self, reads: Sequence[Span], writes: Sequence[Span]) -> None:
        """What the last instruction reads and writes."""
        self.touches.add(reads, writes)
        self.layers.append(self.layer)

    def fill(self, codelet: Codelet, node: Fill, state: StageState) -> None:
        raise TilewrightError("target", f"codelet @{codelet.name}", "loads, computes and stores", "a fill")

    def transfer(self, codelet: Codelet, node: Transfer, state: StageState) -> None:
        box = box_of(codelet, node, state.ranges)
        key = id(node), box.counts, box.clips
        if key not in state.copies:
            state.copies[key] = plan_copies(self.isa, codelet, node, box)
        plan = state.copies[key]
        chip = _element(codelet, state, plan.chip, box.lows, plan.chip_bytes)
        offchip = _element(codelet, state, plan.offchip, box.lows, plan.offchip_bytes)
        memory, outside = (codelet.surrogates[side.surrogate].memory for side in (plan.chip, plan.offchip))
        for rows in plan.pieces:
            first, low = chip + rows.chip, (offchip + rows.offchip) * plan.offchip_bytes
            self.writer.copy(plan.mnemonic, {"chip": first, "offchip": offchip + rows.offchip, **rows.sizes()})
            near = Span(self.memories[memory], first, first + rows.height * rows.width)
            far = Span(self.memories[outside], low, low + rows.reach * plan.offchip_bytes)
            inward = plan.chip.surrogate == node.destination
            self._touch(*([far], [near]) if inward else ([near], [far]))
            if inward and node.pad:
                self._surround(plan, rows, near, int(node.pad))

    def _surround(self, plan: CopyPlan, rows: Rows, near: Span, number: int) -> None:
        """Writes what lies around rows where it is not 0."""
        if number not in self.pads:
            array = np.full(plan.offchip_bytes, number, np.int8)
            self.pads[number] = Loaded(f"pad.{number}", array, plan.offchip_bytes, [])
            self.loaded.append(self.pads[number])
        for first, count in rows.border():
            sizes = {"chip": near.low + first, "offchip": 0, "rows": count, "columns": 1, "stride": 0}
            self.pads[number].users.append(self.writer.copy(plan.mnemonic, sizes))
            self._touch([], [Span(near.memory, near.low + first, near.low + first + count)])

    def issue(self, codelet: Codelet, node: Issue, state: StageState) -> None:
        if id(node) not in state.plans:
            state.plans[id(node)] = plan_walk(self.isa, codelet, node)
        plan = state.plans[id(node)]
        key = id(node), *(state.ranges[dim].extent for dim in node.over)
        if key not in state.walks:
            state.walks[key] = plan.walks(codelet, node, state.ranges)
        bases: list[int] = []
        for operand, size in zip(plan.operands, plan.sizes, strict=True):
            offset = operand.offset(state.ranges, state.origins[operand.surrogate])
            bases.append((state.addresses[operand.surrogate] + offset) // size)
        words = [operand.address for operand in plan.mnemonic.operands]
        memories = [self.memories[operand.memory] for operand in plan.mnemonic.operands]
        for walk in state.walks[key]:
            wanted = tuple(
                self.isa.micro_op({word: base + at for word, base, at in zip(words, bases, one, strict=True)})
                for one in walk.micro
            )
            start = self.starts.setdefault(wanted, len(self.micro))
            if start == len(self.micro):
                self.micro += wanted
            self.writer.walk(plan.mnemonic, (start, start + len(wanted)), walk.trips, walk.strides, plan.fields)
            spans: list[Span] = []
            for number, (memory, base) in enumerate(zip(memories, bases, strict=True)):
                low, high = walk.reach(number)
                spans.append(Span(memory, base + low, base + high))
            self._touch(spans[1:], spans[:1])

    def finish(self) -> bytes:
        """The words of the program, whose end comes after everything."""
        arrows, code = self.touches.dependences(), self.writer.code
        before = [arrows.others[a:b].tolist() for a, b in zip(arrows.first[:-1], arrows.first[1:], strict=True)]
        last = {one.mnemonic.unit: number for number, one in enumerate(code)}
        code.append(self.writer.nothing(self.isa.computing))
        before.append(list(last.values()))
        if self.isa.finish is not None:
            self.writer.add(self.isa.finish, {})
            before.append([])
        layers = [*self.layers, *[self.layer] * (len(code) - len(self.layers))]
        ordered = with_tokens(self.writer, Ordered(code, layers, before))
        self.layers = list(ordered.layers)
        return _encoded(self.isa.machine, ordered.code)

    def table(self) -> LayerTable:
        """The layers of the finished program."""
        return self.recorder.table_of(self.layers)

    def place(self, loaded: Loaded, address: int) -> None:
        """Numbers of the program lie off chip from a byte address on."""
        for one in loaded.users:
            _set(one, "offchip", address // loaded.element_bytes)


def _element(codelet: Codelet, state: StageState, side: Side, lows: Sequence[int], size: int) -> int:
    """The element that the corner of a box is; its address is a multiple of its bytes."""
    address = state.addresses[side.surrogate]
    if address % size:
        surrogate = codelet.surrogates[side.surrogate]
        lever = f"give {surrogate.memory} an `align` of {size}"
        raise TilewrightError("program", surrogate.name, f"an address by {size} B", f"{address}", lever)
    return (address + side.offset(lows, state.origins[side.surrogate])) // size


def _encoded(machine: Machine, code: Sequence[Instruction]) -> bytes:
    """The words of instructions, all of a mnemonic at once."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(code):
        places.setdefault(one.mnemonic.name, []).append(place)
    parts: list[tuple[NDArray[np.int64], NDArray[np.uint8]]] = []
    for name, own in places.items():
        words = dict.fromkeys(word for place in own for word in code[place].fields)
        fields = {word: np.array([code[place].fields.get(word, 0) for place in own], np.int64) for word in words}
        parts.append((np.array(own, np.int64), encode_many(machine, name, fields, len(own))))
    return join_rows(parts)


def _set(one: Instruction, role: str, value: int) -> None:
    assert one.mnemonic.action is not None
    one.fields[dict(one.mnemonic.action.roles)[role]] = value
