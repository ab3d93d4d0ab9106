"""Instructions of codelets: loops are run, transfers cut into pieces, computes bound to fields, all ordered by waits.

The work that depends only on shapes is done once per node and tile shape, and what a codelet becomes is found once for
all codelets that differ in addresses alone (`tapes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...algebra.affine import Range, narrowed
from ...algebra.element import Ints
from ...machine import Machine
from ...machine.layer_table import LayerRecorder, LayerTable
from .binary import table_of
from .boxes import Reach
from .dependences import Span, Spans, Touches, dependences
from .held import Box, Cutter, NonzeroCutter, cutters_of
from .isa import Binding, Isa, isa_of
from .order import Problem
from .plan_compute import ComputeOperand, ComputePlan, plan_compute
from .plan_transfer import Part as Piece
from .plan_transfer import PartOperand, TransferPlan, box_of, plan_fill, plan_transfer, unrolled
from .price import Price, Prices
from .run import Runner, State, check_steps
from .tapes import Tape, addresses_of, form_of, symbolic, tapes_of, with_addresses
from .tree import Codelet, Fill, Issue, Transfer

PART_CYCLES = 16
"""Cycles that each more instruction of a compute must save."""


@dataclass
class Code:
    """Instructions in program order: `order[i]` is the mnemonic of instruction `i`; rows of fields per mnemonic."""

    order: Ints
    rows: dict[int, Ints]


@dataclass
class PlannedState(State):
    """With what transfers and computes of known shapes become."""

    plans: dict[tuple[object, ...], TransferPlan] = field(default_factory=dict[tuple[object, ...], TransferPlan])
    computes: dict[int, tuple[ComputePlan, tuple[Cutter, ...], tuple[NonzeroCutter, ...]]] = field(
        default_factory=dict[int, tuple[ComputePlan, tuple[Cutter, ...], tuple[NonzeroCutter, ...]]]
    )


@dataclass(frozen=True)
class Emitted:
    """A program's code, what it costs, its layers, and which place each instruction has, in the order of emission."""

    code: Code
    predicted: dict[str, float]
    layers: LayerTable
    places: tuple[int, ...]


class CodeletRunner(Runner[PlannedState]):
    """Runs turns of one codelet, and notes what they become."""

    def __init__(self, isa: Isa, prices: Prices) -> None:
        super().__init__()
        self.isa = isa
        self.prices = prices
        self.touches = Touches()
        self.bindings: list[Binding] = []
        self.rows: list[list[int]] = []
        self.priced: list[Price] = []

    def tape(self, codelet: Codelet, turns: Iterable[Mapping[str, Range]]) -> Tape:
        """What a codelet becomes, its dims having these ranges turn by turn, or their own."""
        state, ends = PlannedState.of(codelet), list[int]()
        for ranges in turns:
            state.ranges.update(ranges)
            self.body(codelet, codelet.body, state)
            ends.append(len(self.rows))
        kinds = [binding.number for binding in self.bindings]
        rows: dict[int, list[list[int]]] = {}
        for kind, row in zip(kinds, self.rows, strict=True):
            rows.setdefault(kind, []).append(row)
        distinct = {price: number for number, price in enumerate(dict.fromkeys(self.priced))}
        return Tape(
            np.array(ends, np.int64),
            np.array(kinds, np.int64),
            {kind: table_of(self.isa.machine.mnemonics[kind].name, found) for kind, found in rows.items()},
            {binding.number: [slot.address for slot in binding.operands] for binding in self.bindings},
            np.array([binding.unit for binding in self.bindings], np.int64),
            np.array([distinct[price] for price in self.priced], np.int64),
            tuple(distinct),
            self.touches.table(),
            self.steps,
        )

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
        self._note(part.binding, row, spans, part.operands)

    def issue(self, codelet: Codelet, node: Issue, state: PlannedState) -> None:
        known = state.computes.get(id(node))
        if known is None:
            plan = plan_compute(self.isa, codelet, node)
            known = state.computes[id(node)] = plan, cutters_of(plan), NonzeroCutter.of(plan)
        plan, cutters, nonzero = known
        ranges = narrowed(state.ranges, node.share)
        first, *others = cutters
        boxes = list(first.boxes(ranges)) if ranges is not None else []
        if ranges is not None and len(boxes) > 1:
            boxes = self._fastest(plan, boxes, others, ranges)
        for box in boxes:  # products with zeros are left out where that takes fewer cycles
            for part in [box] if box.outside else self._fastest(plan, [box], nonzero, box.ranges):
                self._box(state, plan, part)

    def _fastest(
        self, plan: ComputePlan, boxes: list[Box], others: Sequence[Cutter], ranges: Mapping[str, Range]
    ) -> list[Box]:
        """Boxes, or those that one of `others` cuts `ranges` into, if they take fewer cycles."""
        ways = [boxes, *(list(cutter.boxes(ranges)) for cutter in others)]
        return min(ways, key=lambda way: self._cycles(plan, way)) if others else boxes

    def _cycles(self, plan: ComputePlan, boxes: Sequence[Box]) -> float:
        """Cycles of a compute in boxes, each of which counts as some more."""
        shapes = (plan.shape(box.ranges, box.outside) for box in boxes)
        return sum(PART_CYCLES + self.prices.of(shape.binding, shape.fresh).cycles for shape in shapes)

    def _box(self, state: PlannedState, plan: ComputePlan, box: Box) -> None:
        ranges, shape = box.ranges, plan.shape(box.ranges, box.outside)
        keep = plan.node.keep or any(ranges[dim].start for dim in plan.reduced)
        chosen = shape.kept if keep else shape.fresh
        if chosen is None:
            raise plan.cannot_continue()
        row = chosen.copy()
        spans: list[Span] = []
        for operand in plan.operands:
            if operand.position in box.outside:
                base = state.addresses[operand.border]
            else:
                base = state.addresses[operand.surrogate] + operand.offset(ranges, state.origins[operand.surrogate])
            row[operand.index] = base
            spans.append(_span(operand.memory, base, shape.reach[operand.position]))
        self._note(shape.binding, row, spans, plan.operands)

    def _note(
        self, binding: Binding, row: list[int], spans: list[Span], operands: Sequence[PartOperand | ComputeOperand]
    ) -> None:
        """An instruction whose operands, the target first, are in spans; reads of constants need no order."""
        reads = [span for span, one in zip(spans[1:], operands[1:], strict=True) if not one.constant]
        self._emit(binding, row, reads, spans[:1])

    def _emit(self, binding: Binding, row: list[int], reads: list[Span], writes: list[Span]) -> None:
        if binding.expansion is not None:
            for one, fields, (target, *sources) in binding.expansion.instructions(row, self.isa.memories):
                self._emit(one, fields, sources, [target])
            return
        self.priced.append(self.prices.of(binding, row))
        self.touches.add(reads, writes)
        self.bindings.append(binding)
        self.rows.append(row)


class Taken(NamedTuple):
    """A tape that is used, the addresses of its symbols, the places of its instructions in the order of emission, and
    the layer that they are of.
    """

    tape: Tape
    addresses: Ints
    places: Ints
    layer: int


class Emitter:
    """Emits codelets one after another; `finish` puts what they are in order."""

    def __init__(self, machine: Machine) -> None:
        self.isa, self.tapes = isa_of(machine), tapes_of(machine)
        self.layers = LayerRecorder()
        self.taken: list[Taken] = []
        self.count = self.steps = 0

    def codelet(self, codelet: Codelet) -> None:
        """Emits one codelet."""
        self.turns([""], [codelet], [(0, {})])

    def turns(
        self, groups: Sequence[str], codelets: Sequence[Codelet], turns: Iterable[tuple[int, Mapping[str, Range]]]
    ) -> None:
        """Emits codelets by turns: each is one of them, by number, and what its dims then range over.

        `groups` has the name of the group of layers that each is of.
        """
        given = list(turns)
        named = zip(codelets, groups, strict=True)
        layers = [self.layers.layer(codelet.nodes or (codelet.name,), group) for codelet, group in named]
        of_turn = np.array([number for number, _ in given], np.int64)
        own: list[list[Mapping[str, Range]]] = [[] for _ in codelets]
        for number, ranges in given:
            own[number].append(ranges)
        tapes = [self._tape(codelet, found) for codelet, found in zip(codelets, own, strict=True)]
        counts = np.zeros(len(given), np.int64)
        for number, tape in enumerate(tapes):
            counts[of_turn == number] = np.diff(tape.ends, prepend=0)
        starts = self.count + np.cumsum(counts) - counts
        for number, (codelet, tape, layer) in enumerate(zip(codelets, tapes, layers, strict=True)):
            turned, ends = of_turn == number, tape.ends
            first = np.repeat(starts[turned] - (ends - counts[turned]), counts[turned])
            addresses = addresses_of(codelet)
            self.taken.append(Taken(tape, addresses, first + np.arange(len(first)), layer))
        self.count += int(counts.sum())

    def _tape(self, codelet: Codelet, turns: Sequence[Mapping[str, Range]]) -> Tape:
        """What a codelet becomes; that of another which differs in addresses alone, if there is one.

        Macros look at addresses, so that codelets with other addresses are others then.
        """
        is_bare = not self.isa.machine.macros
        key = form_of(codelet), tuple(tuple(ranges.items()) for ranges in turns)
        key = key if is_bare else (*key, tuple(one.addresses for one in codelet.surrogates))
        tape = self.tapes.known.get(key)
        if tape is None:
            tape = CodeletRunner(self.isa, self.tapes.prices).tape(symbolic(codelet) if is_bare else codelet, turns)
            self.tapes.keep(key, tape)
        self.steps += tape.steps
        check_steps(codelet, self.steps)
        return tape

    def finish(self, *, schedule: bool = True) -> Emitted:
        """The program, its instructions in the order of emission, or with `schedule` in one that ends sooner."""
        joined = _Joined.of(self.taken)
        depths = [unit.depth for unit in self.isa.machine.units] or [0]
        problem = Problem(joined.work(), dependences(joined.spans, self.count), np.array(depths, np.int64))
        loads = frozenset(np.unique(joined.units[joined.dram_bytes() > 0]).tolist())
        timed = problem.best(loads if schedule else None)
        order = timed.order
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        rows: dict[int, Ints] = {}
        for kind, (fields, numbers) in joined.rows.items():
            sorted_ = np.argsort(places[numbers])
            numbers = numbers[sorted_]
            rows[kind] = fields[sorted_]
            self.isa.set_headers(rows[kind], joined.units[numbers], timed.needs[places[numbers]])
        code = Code(joined.kinds[order], rows)
        layers = self.layers.table_of(joined.layers[order].tolist())
        return Emitted(code, {"cycles": float(timed.end_cycle)} | joined.figures(), layers, tuple(places.tolist()))


@dataclass(frozen=True)
class _Joined:
    """Instructions of all tapes that were used, with their addresses, in the order of emission.

    `rows` has, by mnemonic, the fields and the numbers of its instructions.  `prices` are places in `priced`, prices in
    the order in which they come.
    """

    kinds: Ints
    units: Ints
    prices: Ints
    priced: tuple[Price, ...]
    layers: Ints
    spans: Spans
    rows: Mapping[int, tuple[Ints, Ints]]

    @classmethod
    def of(cls, taken: Sequence[Taken]) -> _Joined:
        """Those of all of these."""
        number: dict[Price, int] = {}
        kinds, units, prices, layers = (list[Ints]() for _ in range(4))
        spans, rows = list[Spans](), dict[int, list[tuple[Ints, Ints]]]()
        for tape, addresses, places, layer in taken:
            kinds.append(tape.kinds)
            units.append(tape.units)
            own = np.array([number.setdefault(price, len(number)) for price in tape.priced], np.int64)
            prices.append(own[tape.prices] if len(own) else tape.prices)
            layers.append(np.full(len(places), layer, np.int64))
            for kind, fields in tape.rows.items():
                columns = tape.addresses[kind]
                given = fields.copy()
                given[:, columns] = with_addresses(fields[:, columns], addresses)
                rows.setdefault(kind, []).append((given, places[tape.kinds == kind]))
            touched = tape.spans.copy()
            touched[:, 1:3] = with_addresses(touched[:, 1:3], addresses)
            touched[:, -1] = places[touched[:, -1]]
            spans.append(touched)
        empty = [np.zeros(0, np.int64)]
        back = np.argsort(np.concatenate([*(one.places for one in taken), *empty]))
        known, first, renumbered = np.unique(
            np.concatenate([*prices, *empty])[back], return_index=True, return_inverse=True
        )
        by_first = np.argsort(first)
        priced = list(number)
        all_spans = np.concatenate([*spans, np.zeros((0, 9), np.int64)])
        return cls(
            np.concatenate([*kinds, *empty])[back],
            np.concatenate([*units, *empty])[back],
            np.argsort(by_first)[renumbered],
            tuple(priced[number] for number in known[by_first].tolist()),
            np.concatenate([*layers, *empty])[back],
            all_spans[np.argsort(all_spans[:, -1], kind="stable")],
            {k: (np.concatenate([f for f, _ in v]), np.concatenate([n for _, n in v])) for k, v in rows.items()},
        )

    def work(self) -> Ints:
        """Unit, resource and cycles of each; resources have numbers in the order in which they come."""
        resources: dict[str, int] = {}
        of_price = [(resources.setdefault(price.resource, len(resources)), price.cycles) for price in self.priced]
        known = np.array(of_price, np.int64).reshape(-1, 2)
        return np.column_stack([self.units, known[self.prices]])

    def dram_bytes(self) -> Ints:
        """Bytes that each reads or writes off chip."""
        return np.array([price.dram_bytes for price in self.priced], np.int64)[self.prices]

    def figures(self) -> dict[str, float]:
        """Energy and bytes off chip of all."""
        counts = np.bincount(self.prices, minlength=len(self.priced)).tolist()
        pairs = list(zip(self.priced, counts, strict=True))
        energy_pj = sum(price.energy_pj * count for price, count in pairs)
        return {"energy_pj": energy_pj, "dram_bytes": float(sum(price.dram_bytes * n for price, n in pairs))}


def _span(memory: int, base: int, reach: Reach) -> Span:
    """The bytes of a memory that are touched from an address on."""
    return Span(memory, base + reach.low, base + reach.high, reach.count, reach.stride, reach.groups, reach.pitch)
