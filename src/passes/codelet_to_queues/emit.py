"""Instructions of codelets: loops are run, transfers cut into pieces, computes bound to fields, all ordered by waits.

The work that depends only on shapes is done once per node and tile shape; per instruction there remain addresses,
dependences and waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...algebra.window import Range, narrowed
from ...machine import Machine
from ...machine.layer_table import LayerRecorder, LayerTable
from .boxes import Reach
from .dependences import Span, Touches
from .held import Box, Cutter, NonzeroCutter, Ranges, cutters_of
from .isa import Binding, isa_of
from .order import Problem, Work
from .plan_compute import ComputePlan, cannot_continue, plan_compute
from .plan_transfer import Part as Piece
from .plan_transfer import TransferPlan, box_of, plan_fill, plan_transfer, unrolled
from .price import Prices
from .run import Runner, State
from .tree import Codelet, Fill, Issue, Transfer

PART_CYCLES = 16
"""Cycles that each more instruction of a compute must save."""


@dataclass
class Code:
    """Instructions in program order: `order[i]` is the mnemonic of instruction `i`; rows of fields per mnemonic."""

    order: list[int] = field(default_factory=list[int])
    rows: list[list[list[int]]] = field(default_factory=list[list[list[int]]])


@dataclass
class PlannedState(State):
    """With what transfers and computes of known shapes become."""

    plans: dict[tuple[object, ...], TransferPlan] = field(default_factory=dict[tuple[object, ...], TransferPlan])
    computes: dict[int, tuple[ComputePlan, tuple[Cutter, ...], tuple[NonzeroCutter, ...]]] = field(
        default_factory=dict[int, tuple[ComputePlan, tuple[Cutter, ...], tuple[NonzeroCutter, ...]]]
    )


class Instruction(NamedTuple):
    """A row of fields before its waits are known, and the layer that it is of."""

    binding: Binding
    row: list[int]
    work: Work
    layer: int


@dataclass(frozen=True)
class Emitted:
    """A program's code, what it costs, its layers, and which place each instruction has, in the order of emission."""

    code: Code
    predicted: dict[str, float]
    layers: LayerTable
    places: tuple[int, ...]


class Emitter(Runner[PlannedState]):
    """Emits codelets one after another; `finish` puts what they are in order."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self.isa = isa_of(machine)
        self.memories = {memory.name: i for i, memory in enumerate(machine.memories)}
        self.prices = Prices(machine)
        self.touches = Touches()
        self.offchip: set[int] = set()  # units that move data from or to memories off chip
        self.layers = LayerRecorder()
        self.layer = 0
        self.instructions: list[Instruction] = []

    def codelet(self, codelet: Codelet) -> None:
        """Emits one codelet."""
        self._run(codelet, PlannedState.of(codelet), self._layer(codelet))

    def turns(
        self, groups: Sequence[str], codelets: Sequence[Codelet], turns: Iterable[tuple[int, Mapping[str, Range]]]
    ) -> None:
        """Emits codelets by turns: each is one of them, by number, and what its dims then range over.

        `groups` has the name of the group of layers that each is of.
        """
        states = [PlannedState.of(codelet) for codelet in codelets]
        layers = [self._layer(codelet, group) for codelet, group in zip(codelets, groups, strict=True)]
        for number, ranges in turns:
            state = states[number]
            state.ranges.update(ranges)
            self._run(codelets[number], state, layers[number])

    def _layer(self, codelet: Codelet, group: str = "") -> int:
        return self.layers.layer(codelet.nodes or (codelet.name,), group)

    def _run(self, codelet: Codelet, state: PlannedState, layer: int) -> None:
        """Emits a codelet from a state on; what it emits is of `layer`."""
        self.layer = layer
        self.body(codelet, codelet.body, state)

    def fill(self, codelet: Codelet, node: Fill, state: PlannedState) -> None:
        plan = state.plans.get((id(node),))
        if plan is None:
            plan = state.plans[(id(node),)] = plan_fill(self.isa, codelet, node)
        address = state.addresses[node.target]
        for part in plan.parts:
            self._part(part, (address, address))

    def transfer(self, codelet: Codelet, node: Transfer, state: PlannedState) -> None:
        for box in unrolled(codelet, node, box_of(codelet, node, state.ranges)):
            key = (id(node), box.counts, box.clips)
            plan = state.plans.get(key)
            if plan is None:
                plan = state.plans[key] = plan_transfer(self.isa, codelet, node, box)
            bases = [
                state.addresses[side.surrogate] + side.offset(box.lows, state.origins[side.surrogate])
                for side in plan.sides
            ]
            for part in plan.parts:
                self._part(part, bases)

    def _part(self, part: Piece, bases: Sequence[int]) -> None:
        row = part.row.copy()
        spans: list[Span] = []
        for operand in part.operands:
            base = bases[operand.side] + operand.offset
            row[operand.index] = base
            spans.append(_span(operand.memory, base, operand.reach))
        target, *sources = spans
        self._emit(
            part.binding, row, [s for s, o in zip(sources, part.operands[1:], strict=True) if not o.constant], [target]
        )

    def issue(self, codelet: Codelet, node: Issue, state: PlannedState) -> None:
        known = state.computes.get(id(node))
        if known is None:
            plan = plan_compute(self.isa, codelet, node)
            cutters = cutters_of(codelet, plan, node), NonzeroCutter.of(codelet, plan, node)
            known = state.computes[id(node)] = plan, *cutters
        plan, cutters, nonzero = known
        ranges = narrowed(state.ranges, node.share)
        for box in self._boxes(codelet, node, plan, cutters, ranges) if ranges is not None else ():
            for part in self._parts(codelet, node, plan, box, nonzero):
                self._box(codelet, node, state, plan, part)

    def _boxes(
        self, codelet: Codelet, node: Issue, plan: ComputePlan, cutters: Sequence[Cutter], ranges: Ranges
    ) -> list[Box]:
        """The boxes that ranges are cut into, in the way that takes the fewest cycles."""
        first, *others = cutters
        boxes = list(first.boxes(ranges))
        if len(boxes) == 1 or not others:
            return boxes
        ways = boxes, *(list(cutter.boxes(ranges)) for cutter in others)
        return min(ways, key=lambda way: self._cycles(codelet, node, plan, way))

    def _parts(
        self, codelet: Codelet, node: Issue, plan: ComputePlan, box: Box, nonzero: Sequence[NonzeroCutter]
    ) -> list[Box]:
        """A box, or boxes that leave out products with zeros, if they take fewer cycles."""
        if not nonzero or box.outside:
            return [box]
        ways = [box], *(list(cutter.boxes(box.ranges)) for cutter in nonzero)
        return min(ways, key=lambda way: self._cycles(codelet, node, plan, way))

    def _cycles(self, codelet: Codelet, node: Issue, plan: ComputePlan, boxes: Sequence[Box]) -> float:
        """Cycles of a compute in boxes, each of which counts as some more."""
        shapes = (plan.shape(codelet, node, tuple(b.ranges[d].extent for d in plan.bound), b.outside) for b in boxes)
        return sum(PART_CYCLES + self.prices.of(shape.binding, shape.fresh).cycles for shape in shapes)

    def _box(self, codelet: Codelet, node: Issue, state: PlannedState, plan: ComputePlan, box: Box) -> None:
        ranges = box.ranges
        shape = plan.shape(codelet, node, tuple(ranges[dim].extent for dim in plan.bound), box.outside)
        keep = node.keep or any(ranges[dim].start for dim in plan.reduced)
        chosen = shape.kept if keep else shape.fresh
        if chosen is None:
            raise cannot_continue(codelet, node, shape.binding)
        row = chosen.copy()
        spans: list[Span] = []
        for operand in plan.operands:
            if operand.position in box.outside:
                base = state.addresses[operand.border]
            else:
                base = state.addresses[operand.surrogate] + operand.offset(ranges, state.origins[operand.surrogate])
            row[operand.index] = base
            spans.append(_span(operand.memory, base, shape.reach[operand.position]))
        target, *sources = spans
        self._emit(
            shape.binding, row, [s for s, o in zip(sources, plan.operands[1:], strict=True) if not o.constant], [target]
        )

    def _emit(self, binding: Binding, row: list[int], reads: list[Span], writes: list[Span]) -> None:
        if binding.expansion is not None:
            for one, fields, (target, *sources) in binding.expansion.instructions(row, self.memories):
                self._emit(one, fields, sources, [target])
            return
        price = self.prices.add(binding, row)
        if price.dram_bytes:
            self.offchip.add(binding.unit)
        work = Work(binding.unit, price.resource, price.cycles)
        self.touches.add(reads, writes)
        self.instructions.append(Instruction(binding, row, work, self.layer))

    def finish(self, *, schedule: bool = True) -> Emitted:
        """The program, its instructions in the order of emission, or with `schedule` in one that ends sooner."""
        depths = [unit.depth for unit in self.isa.machine.units] or [0]
        problem = Problem.of([item.work for item in self.instructions], self.touches.dependences(), depths)
        timed = problem.best(frozenset(self.offchip) if schedule else None)
        order = timed.order.tolist()
        code = Code([], [[] for _ in self.isa.machine.mnemonics])
        places = [0] * len(order)
        for place, (number, counts) in enumerate(zip(order, timed.waits(), strict=True)):
            binding, row = self.instructions[number].binding, self.instructions[number].row
            self.isa.set_header(row, binding.unit, counts)
            code.order.append(binding.number)
            code.rows[binding.number].append(row)
            places[number] = place
        figures = {"energy_pj": self.prices.energy_pj, "dram_bytes": float(self.prices.dram_bytes)}
        layers = self.layers.table_of(self.instructions[number].layer for number in order)
        return Emitted(code, {"cycles": float(timed.end_cycle)} | figures, layers, tuple(places))


def _span(memory: int, base: int, reach: Reach) -> Span:
    """The bytes of a memory that are touched from an address on."""
    return Span(memory, base + reach.low, base + reach.high, reach.count, reach.stride, reach.groups, reach.pitch)
