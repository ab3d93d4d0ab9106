"""Instructions of codelets for a machine of stages: copies, walks over micro-ops, and tokens between stages.

What depends on shapes alone is planned once for each node and tile shape.  Micro-ops of a codelet are loaded before it;
equal lists of them lie there once.

Tokens follow from dependences: who waits for whom is said by what instructions touch, in program order.  Units work in
order and the n-th pop of a queue takes its n-th push, so what an instruction waits for of a unit is a number of its
instructions, and those numbers grow.  Where two units have no queue between them, an instruction that does nothing, of
a unit between, hands the token on.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra.affine import Range
from ...algebra.element import Ints
from ...errors import InfeasibleError, TilewrightError
from ...machine import Machine
from ...machine.encoding import encode_many, join_rows
from ...machine.layer_table import LayerRecorder, LayerTable
from ...machine.model import Capability, Mnemonic
from ...machine.stage_isa import Instruction, StageIsa, StageWriter
from ...machine.stages import PRODUCTS, kind_of, operand_accesses
from ..codelet_to_queues.boxes import BoxAxis, merge_axes
from ..codelet_to_queues.dependences import Span, Touches
from ..codelet_to_queues.plan_compute import ComputeOperand, operand_of
from ..codelet_to_queues.plan_transfer import Side, box_of
from ..codelet_to_queues.run import Runner, State
from ..codelet_to_queues.timed import Arrows, needed_counts
from ..codelet_to_queues.tree import Codelet, Fill, Issue, Transfer
from .copies import CopyPlan, Rows, plan_copies


class Walk(NamedTuple):
    """One instruction: elements of each operand from where the compute begins, for each micro-op."""

    micro: tuple[tuple[int, ...], ...]
    trips: tuple[int, int]
    strides: tuple[tuple[int, int], ...]

    def reach(self, operand: int) -> tuple[int, int]:
        """The least element of an operand, and one past the largest."""
        firsts = [one[operand] for one in self.micro]
        more = sum((count - 1) * step for count, step in zip(self.trips, self.strides[operand], strict=True))
        return min(firsts), max(firsts) + more + 1


@dataclass(frozen=True)
class WalkPlan:
    """The mnemonic of a compute with its function and number, its operands, and bytes of an element of each."""

    mnemonic: Mnemonic
    operands: tuple[ComputeOperand, ...]
    sizes: tuple[int, ...]
    fields: Mapping[str, int]

    def walks(self, codelet: Codelet, node: Issue, ranges: Mapping[str, Range]) -> tuple[Walk, ...]:
        """The instructions over ranges: one for each iteration of the dims that do not move the target."""
        dims = [dim for dim in node.over if ranges[dim].extent > 1]
        steps = {dim: tuple(self._step(codelet, place, dim) for place in range(len(self.operands))) for dim in dims}
        moving = [BoxAxis(ranges[dim].extent, steps[dim]) for dim in dims if steps[dim][0]]
        summed = [BoxAxis(ranges[dim].extent, steps[dim]) for dim in dims if not steps[dim][0]]
        axes = list(merge_axes(moving))
        still = BoxAxis(1, (0,) * len(self.operands))
        loops = [still, still, *axes][-2:]
        micro = tuple(_points(axes[:-2], len(self.operands)))
        strides = tuple(zip(*(loop.strides for loop in loops), strict=True))
        trips = loops[0].count, loops[1].count
        return tuple(
            Walk(tuple(tuple(a + b for a, b in zip(one, at, strict=True)) for one in micro), trips, strides)
            for at in _points(summed, len(self.operands))
        )

    def _step(self, codelet: Codelet, place: int, dim: str) -> int:
        step = self.operands[place].stride(dim)
        if step % self.sizes[place]:
            subject = f"codelet @{codelet.name}, compute {self.mnemonic.node}.{self.mnemonic.capability}"
            expected = f"steps of {dim} by elements of {self.sizes[place]} B"
            raise TilewrightError("target", subject, expected, f"{step} B")
        return step // self.sizes[place]


def plan_walk(isa: StageIsa, codelet: Codelet, node: Issue) -> WalkPlan:
    """Chooses the mnemonic; raises `TilewrightError` (kind `target`) where none fits."""
    subject = f"codelet @{codelet.name}, compute {node.node}.{node.capability}"
    found = [m for m in isa.machine.mnemonics if (m.node, m.capability) == (node.node, node.capability)]
    mnemonic = next((m for m in found if m.action is not None and m.action.kind == "walk"), None)
    capability = isa.machine.executed(mnemonic) if mnemonic is not None else None
    if mnemonic is None or capability is None:
        raise TilewrightError("target", subject, "an instruction that walks", "none")
    if kind_of(capability) == PRODUCTS and not node.keep:
        raise TilewrightError("target", subject, "`keep`: products are added to what is there", "a new sum")
    if node.spread or node.borders or node.share:
        raise TilewrightError("target", subject, "a walk over whole ranges", "spread, borders or a share")
    memories = {memory.name: memory.element_bytes for memory in isa.machine.memories}
    operands: list[ComputeOperand] = []
    for position, slot in enumerate(mnemonic.operands):
        operands.append(operand_of(codelet, node, slot.operand, position=position))
        surrogate = codelet.surrogates[operands[-1].surrogate]
        if surrogate.memory != slot.memory:
            raise TilewrightError("target", subject, f"{slot.operand} in {slot.memory}", surrogate.memory)
        _require_rows(subject, capability, node, operands[-1], slot.operand, surrogate.element_bytes)
    sizes = tuple(memories[slot.memory] for slot in mnemonic.operands)
    return WalkPlan(mnemonic, tuple(operands), sizes, _fields(mnemonic, node))


def _require_rows(
    subject: str, capability: Capability, node: Issue, operand: ComputeOperand, name: str, number_bytes: int
) -> None:
    """Raises where the bound dims are not the numbers of an element in their order."""
    limits, bound = {dim.name: dim.limit for dim in capability.dims}, dict(node.dims)
    step = number_bytes
    access = next(access for access in operand_accesses(capability) if access.tensor == name)
    for slot in reversed(access.dims):
        if slot not in bound or operand.stride(bound[slot]) != step:
            raise TilewrightError("target", subject, f"{slot} bound to the numbers of an element of {name}", "another")
        step *= limits[slot]


def _fields(mnemonic: Mnemonic, node: Issue) -> dict[str, int]:
    """The codes of functions, and immediates."""
    codes = {item.name: dict(item.enum) for item in mnemonic.fields}
    functions, numbers = dict(node.functions), dict(node.immediates)
    found = {word: codes[word][functions[name]] for name, word in mnemonic.functions if name in functions}
    return found | {word: int(numbers[name]) for name, word in mnemonic.immediates if name in numbers}


def _points(axes: Sequence[BoxAxis], operands: int) -> Iterator[tuple[int, ...]]:
    """Elements of each operand at each step of axes, the last first."""
    for steps in product(*(range(axis.count) for axis in axes)):
        pairs = list(zip(steps, axes, strict=True))
        yield tuple(sum(step * axis.strides[i] for step, axis in pairs) for i in range(operands))


@dataclass(frozen=True)
class Ordered:
    """Instructions in program order, the layer of each, and those before that each depends on."""

    code: Sequence[Instruction]
    layers: Sequence[int]
    before: Sequence[Sequence[int]]


def with_tokens(writer: StageWriter, given: Ordered) -> Ordered:
    """The program with tokens; `TilewrightError` (kind `target`) where units have no way to wait for each other."""
    units = [unit.name for unit in writer.isa.machine.units]
    needs = _needs(units, given)
    handed = _handed(writer, units, given, needs)
    if handed is not None:
        given, needs = handed, _needs(units, handed)
    of_unit: dict[str, list[Instruction]] = {unit: [] for unit in units}
    for one, counts in zip(given.code, needs.tolist(), strict=True):
        for unit, count in zip(units, counts, strict=True):
            if count:
                queue = writer.isa.token(unit, one.mnemonic.unit)
                assert queue is not None
                of_unit[unit][count - 1].fields[queue.push] = 1
                one.fields[queue.pop] = 1
        of_unit[one.mnemonic.unit].append(one)
    return given


def _needs(units: Sequence[str], given: Ordered) -> NDArray[np.int32]:
    """How many instructions of each unit must be done before each instruction; 0 for what is implied."""
    work = np.zeros((len(given.code), 3), np.int64)
    work[:, 0] = [units.index(one.mnemonic.unit) for one in given.code]
    first = np.cumsum([0, *(len(others) for others in given.before)])
    others = np.array([other for row in given.before for other in row], np.int32)
    return needed_counts(len(units), np.arange(len(work)), work, Arrows(first, others))


def _handed(writer: StageWriter, units: Sequence[str], given: Ordered, needs: NDArray[np.int32]) -> Ordered | None:
    """The program with instructions that hand tokens on; None where none are needed.

    They wait for all that the unit has done so far, so that what follows need not.
    """
    found, last, places = Ordered([], [], []), dict[str, int](), list[int]()
    code, layers, before = list[Instruction](), list[int](), list[Sequence[int]]()
    waited, done = dict[tuple[str, str], int](), Counter[str]()
    for number, one in enumerate(given.code):
        own, more = one.mnemonic.unit, list[int]()
        for unit, count in zip(units, needs[number].tolist(), strict=True):
            if not count or writer.isa.token(unit, own) is not None or waited.get((unit, own), 0) >= count:
                continue
            code.append(writer.nothing(_between(writer, units, unit, own)))
            layers.append(given.layers[number])
            before.append((last[unit],))
            more.append(len(code) - 1)
            done[code[-1].mnemonic.unit] += 1
            waited[unit, own] = done[unit]
            last[code[-1].mnemonic.unit] = len(code) - 1
        places.append(len(code))
        last[own] = len(code)
        code.append(one)
        done[own] += 1
        layers.append(given.layers[number])
        before.append((*(places[other] for other in given.before[number]), *more))
    return replace(found, code=code, layers=layers, before=before) if len(code) > len(given.code) else None


def _between(writer: StageWriter, units: Sequence[str], src: str, dst: str) -> str:
    """A unit that takes tokens of one and gives tokens to the other."""
    token = writer.isa.token
    for unit in units:
        if token(src, unit) is not None and token(unit, dst) is not None:
            return unit
    raise TilewrightError("target", writer.isa.machine.name, f"tokens from {src} to {dst}, or over a unit", "none")


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
        self.loaded.append(Loaded(f"{codelet.name}.micro_ops", array, isa.micro.element_bytes, [load]))

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
    parts: list[tuple[Ints, NDArray[np.uint8]]] = []
    for name, own in places.items():
        words = dict.fromkeys(word for place in own for word in code[place].fields)
        fields = {word: np.array([code[place].fields.get(word, 0) for place in own], np.int64) for word in words}
        parts.append((np.array(own, np.int64), encode_many(machine, name, fields, len(own))))
    return join_rows(parts)


def _set(one: Instruction, role: str, value: int) -> None:
    assert one.mnemonic.action is not None
    one.fields[dict(one.mnemonic.action.roles)[role]] = value
