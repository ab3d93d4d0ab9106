"""What must hold for a codelet's addresses, for all iterations of its loops: linear facts, built without a solver.

Loop `l` of a codelet has two variables: `i<l>`, its iteration, and `e<l>`, how many iterations of its dim the current
piece has: the loop's step, or what is left for the last piece.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from ...algebra.affine import Affine, index_forms, make_affine
from ...algebra.expr import Access, accesses, tensors_of
from ...machine import Machine, Memory
from .isa import find_capability
from .locals import lifetimes
from .tree import Codelet, Define, Issue, Loop, Part, Span, Surrogate, Transfer, Visit, box_axes, visits

_ZERO = Affine(0)


@dataclass(frozen=True)
class Piece:
    """The iterations that a loop is at: `start = outer start + step * i`, `extent = min(step, left)`, `left >= 1`."""

    dim: str
    step: int
    iteration: str
    extent: str
    left: Affine


@dataclass(frozen=True)
class Obligation:
    """Holds where one of `alternatives` is at least 0, and `value` is a multiple of `modulus`, at every point.

    `kind` is capacity, alignment, disjoint, bounds or limit; `subject` and `need` say it in words.  `memory`, `demand`
    and `bound` (both in `unit`) are of the resource that is short where it does not hold.
    """

    kind: str
    subject: str
    need: str
    memory: str
    alternatives: tuple[Affine, ...]
    value: Affine = _ZERO
    modulus: int = 1
    demand: Affine = _ZERO
    bound: int = 0
    unit: str = "B"

    @property
    def formula(self) -> tuple[object, ...]:
        """What is to be proved, without the words."""
        return self.alternatives, self.value, self.modulus

    @property
    def is_moving(self) -> bool:
        """Whether the loops' iterations stand in it; addresses alone do not."""
        return any(form.terms for form in (*self.alternatives, self.value))

    def holds(self, point: Mapping[str, int]) -> bool:
        """Whether it holds at one point."""
        enough = any(form.evaluate(point) >= 0 for form in self.alternatives)
        return enough and self.value.evaluate(point) % self.modulus == 0


@dataclass(frozen=True)
class Problem:
    """All obligations of a codelet over the points of its loops."""

    codelet: str
    pieces: tuple[Piece, ...]
    obligations: tuple[Obligation, ...]


@dataclass(frozen=True)
class _Span:
    start: Affine
    extent: Affine


_Ranges = Mapping[str, _Span]


def build_problem(machine: Machine, codelet: Codelet) -> Problem:
    """The obligations of an allocated codelet on a machine."""
    return _Builder(machine, codelet).build()


def build_placements(machine: Machine, codelet: Codelet) -> Problem:
    """Only capacity, alignment and disjointness: for codelets whose indices are looked at turn by turn (`held`)."""
    return _Builder(machine, codelet).build_placements()


def _variable(name: str) -> Affine:
    return Affine(0, ((name, 1),))


class _Builder:
    def __init__(self, machine: Machine, codelet: Codelet) -> None:
        self.machine = machine
        self.codelet = codelet
        self.pieces: list[Piece] = []
        self.ranges: dict[int, _Ranges] = {}
        self.origins: dict[int, list[list[Affine]]] = {}
        self.found: list[Obligation] = []

    def build(self) -> Problem:
        whole = {dim: _Span(Affine(0), Affine(extent)) for dim, extent in self.codelet.dims}
        self._placements()
        for visit in visits(self.codelet):
            ranges = self.ranges[id(visit.loops[-1])] if visit.loops else whole
            self._visit(visit, ranges)
        return Problem(self.codelet.name, tuple(self.pieces), tuple(self.found))

    def build_placements(self) -> Problem:
        self._placements()
        return Problem(self.codelet.name, (), tuple(self.found))

    def _visit(self, visit: Visit, ranges: _Ranges) -> None:
        match visit.node:
            case Loop():
                self._loop(visit.node, ranges)
            case Part(dim, start):
                span = _Span(Affine(start), Affine(visit.node.step))
                self.ranges[id(visit.node)] = {**ranges, dim: span}
            case Span(dim, form):
                span = _Span(_low(form, ranges), _reach(form, ranges) + Affine(1))
                self.ranges[id(visit.node)] = {**ranges, dim: span}
            case Define(local):
                axes = self.codelet.surrogates[local].axes
                assert axes is not None
                self.origins[local] = [[_low(form, ranges) for form in axis.forms] for axis in axes]
            case Transfer():
                self._transfer(visit.node, ranges)
            case Issue():
                self._issue(visit.node, ranges)
            case _:
                pass

    def _loop(self, loop: Loop, ranges: _Ranges) -> None:
        number = len(self.pieces)
        outer = ranges[loop.dim]
        iteration, extent = _variable(f"i{number}"), _variable(f"e{number}")
        left = outer.extent - iteration.scale(loop.step)
        self.pieces.append(Piece(loop.dim, loop.step, f"i{number}", f"e{number}", left))
        self.ranges[id(loop)] = {**ranges, loop.dim: _Span(outer.start + iteration.scale(loop.step), extent)}

    def _transfer(self, node: Transfer, ranges: _Ranges) -> None:
        source, destination = self.codelet.surrogates[node.source], self.codelet.surrogates[node.destination]
        axes = box_axes(self.codelet, node)
        what = f"transfer {source.name}@{source.memory} -> {destination.name}@{destination.memory}"
        for index, side in ((node.source, source), (node.destination, destination)):
            if side.axes is None and node.pad is not None:
                continue
            for number, axis in enumerate(node.axes_of(index) or axes):
                for form in axis.forms:
                    self._inside(index, number, form, ranges, what)

    def _issue(self, node: Issue, ranges: _Ranges) -> None:
        names = tensors_of(node.statement)
        for access in accesses(node.statement):
            assert isinstance(access, Access)
            if access.tensor in node.borders:
                continue
            index = node.tensors[names.index(access.tensor)]
            what = f"compute {node.node}.{node.capability}, operand {access.tensor}"
            for number, form in enumerate(index_forms(access)):
                self._inside(index, number, form, ranges, what)
        limits = {dim.name: dim.limit for dim in find_capability(self.machine, node.node, node.capability).dims}
        for slot, dim in node.dims:
            extent, limit = _shared(node, dim, ranges[dim].extent), limits.get(slot, 1)
            what, need = f"compute {node.node}.{node.capability}, dim {slot}", f"at most {limit} iterations"
            fact = Affine(limit) - extent
            self._add("limit", what, need, node.node, (fact,), demand=extent, bound=limit, unit=f"iterations of {dim}")

    def _inside(self, index: int, number: int, form: Affine, ranges: _Ranges, what: str) -> None:
        """What an index form reaches over `ranges` lies in a surrogate."""
        surrogate = self.codelet.surrogates[index]
        low, size = _low(form, ranges), surrogate.shape[number]
        high = low + _reach(form, ranges)
        if surrogate.axes is None:
            step, firsts, lasts = 1, [_ZERO], [_ZERO]
        else:
            axis = surrogate.axes[number]
            step, lasts = axis.step, self.origins[index][number]
            firsts = [lasts[axis.forms.index(form)]] if form in axis.forms else lasts
        words = f"{what}: index {number} of {surrogate.name}"
        need = f"within the {size} elements kept" if surrogate.axes is not None else f"in 0..{size - 1}"
        room = (size - 1) * step
        for first in firsts:
            before = first - low
            fact, value = before.scale(-1), low - first
            self._add("bounds", words, need, surrogate.memory, (fact,), value, step, demand=before, unit="elements")
        for first in lasts:
            past = high - first
            fact, demand = Affine(room) - past, past + Affine(1)
            self._add("bounds", words, need, surrogate.memory, (fact,), demand=demand, bound=room + 1, unit="elements")

    def _placements(self) -> None:
        """Capacity, alignment and disjointness of everything that has addresses."""
        live = lifetimes(self.codelet)
        places: list[tuple[int, int]] = []
        for index, surrogate in enumerate(self.codelet.surrogates):
            for slot, address in enumerate(surrogate.addresses):
                self._fits(surrogate, address, self.machine.memory_by_name[surrogate.memory])
                places.append((index, slot))
        for (a, slot_a), (b, slot_b) in combinations(places, 2):
            first, second = self.codelet.surrogates[a], self.codelet.surrogates[b]
            if first.memory == second.memory and _meet(live, a, b) and not _same_tensor(first, second):
                self._apart(first, slot_a, second, slot_b)

    def _fits(self, surrogate: Surrogate, address: int, memory: Memory) -> None:
        what = f"{surrogate.name} at {address}"
        end, capacity, align = address + surrogate.size_bytes, memory.capacity_bytes, memory.align_bytes
        fact, need = Affine(capacity - end), f"bytes below {capacity}"
        self._add("capacity", what, need, memory.name, (fact,), demand=Affine(end), bound=capacity)
        value, need = Affine(address), f"a multiple of {align}"
        self._add("alignment", what, need, memory.name, (_ZERO,), value, align, demand=value, bound=align)

    def _apart(self, first: Surrogate, slot_a: int, second: Surrogate, slot_b: int) -> None:
        a, b = first.addresses[slot_a], second.addresses[slot_b]
        end_a, end_b = a + first.size_bytes, b + second.size_bytes
        what = f"{first.name} at {a}..{end_a - 1} and {second.name} at {b}..{end_b - 1}"
        facts, overlap = (Affine(b - end_a), Affine(a - end_b)), min(end_a, end_b) - max(a, b)
        need = "no shared bytes while both are in use"
        self._add("disjoint", what, need, first.memory, facts, demand=Affine(overlap), bound=0)

    def _add(
        self,
        kind: str,
        subject: str,
        need: str,
        memory: str,
        facts: tuple[Affine, ...],
        value: Affine = _ZERO,
        modulus: int = 1,
        *,
        demand: Affine,
        bound: int = 0,
        unit: str = "B",
    ) -> None:
        self.found.append(Obligation(kind, subject, need, memory, facts, value, modulus, demand, bound, unit))


def _shared(node: Issue, dim: str, extent: Affine) -> Affine:
    """At least the iterations of a dim that a compute takes."""
    for name, skip, take in node.share:
        if name == dim:
            return extent - Affine(skip) if take is None else Affine(take)
    return extent


def _meet(live: Mapping[int, tuple[int, int]], a: int, b: int) -> bool:
    """Whether two surrogates are in use at the same time; off-chip tensors always are, copies of one local too."""
    if a not in live or b not in live:
        return a != b or a in live
    return live[a][0] <= live[b][1] and live[b][0] <= live[a][1]


def _same_tensor(first: Surrogate, second: Surrogate) -> bool:
    return first is not second and first.axes is None and second.axes is None and first.name == second.name


def _low(form: Affine, ranges: _Ranges) -> Affine:
    """The smallest value of an index form over ranges."""
    total = Affine(form.const)
    for dim, coefficient in form.terms:
        span = ranges[dim]
        end = span.start if coefficient > 0 else span.start + span.extent - Affine(1)
        total = total + end.scale(coefficient)
    return total


def _reach(form: Affine, ranges: _Ranges) -> Affine:
    """The difference between the largest and the smallest value."""
    total = make_affine(0, {})
    for dim, coefficient in form.terms:
        total = total + (ranges[dim].extent - Affine(1)).scale(abs(coefficient))
    return total
