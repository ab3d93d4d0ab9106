"""What a compute becomes: fields of one instruction, for each shape of its tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import prod

from ...algebra.affine import Affine, Range, index_forms
from ...algebra.expr import Access, accesses, reduction_dims, tensors_of
from ...costs.mapping.binding import Split, split_choices
from ...costs.mapping.formula import Formula, compile_formula
from ...errors import TilewrightError
from ...machine import Machine
from .boxes import Reach, reach_of
from .isa import Binding, Isa
from .tree import Codelet, Issue, Loop, Surrogate, tile_extents, visits


@dataclass(frozen=True)
class Spreading:
    """The spread of a compute, which is for pieces of `tile` iterations of its bound dims, and all that there are."""

    tile: tuple[int, ...]
    own: tuple[Split, ...]
    choices: Sequence[tuple[Split, ...]]
    cycles: Formula
    dims: tuple[str, ...]

    @classmethod
    def of(cls, machine: Machine, binding: Binding, codelet: Codelet, node: Issue) -> Spreading:
        """That of a compute."""
        around = next((visit.loops for visit in visits(codelet) if visit.node is node), ())
        full = tile_extents(codelet, tuple(loop for loop in around if isinstance(loop, Loop)))
        tile = tuple(full[dim] for _, dim in node.dims)
        choices = split_choices(machine, binding.capability) if node.spread else ()
        given = dict(node.spread)
        own = next((split for split in choices if {axis: dim for axis, dim, _ in split} == given), ())
        dims = tuple(dim.name for dim in binding.capability.dims)
        return cls(tile, own, choices, compile_formula(binding.capability.cycles), dims)

    def of_piece(self, extents: tuple[int, ...], slots: Sequence[str]) -> Mapping[str, str] | None:
        """Axis -> dim of the capability for a piece that has other extents than the tile; None: as the compute says.

        It is the first that takes fewer cycles than any before; `slots` are the dims that the extents are of.
        """
        if extents == self.tile or not self.own:
            return None
        best = self._best(extents, slots)
        return None if best is self.own else _by_axis(best)

    def saving(
        self, extents: tuple[int, ...], other: tuple[int, ...], slots: Sequence[str]
    ) -> tuple[float, Mapping[str, str]]:
        """Cycles that a piece saves with `other` extents that are as many iterations, and the spread for these.

        0 where the compute is not spread.
        """
        if not self.own:
            return 0.0, {}
        now = self.own if extents == self.tile else self._best(extents, slots)
        best = self._best(other, slots)
        return self._cycles(extents, slots, now) - self._cycles(other, slots, best), _by_axis(best)

    def _best(self, extents: tuple[int, ...], slots: Sequence[str]) -> tuple[Split, ...]:
        return min((self.own, *self.choices), key=lambda split: self._cycles(extents, slots, split))

    def _cycles(self, extents: tuple[int, ...], slots: Sequence[str], split: tuple[Split, ...]) -> float:
        env = dict.fromkeys(self.dims, 1) | dict(zip(slots, extents, strict=True))
        env["ops"] = prod(extents)
        ways = {f"{dim}_ways": prod(n for _, name, n in split if name == dim) for dim in self.dims}
        return float(self.cycles({**env, **ways}))


def _by_axis(split: tuple[Split, ...]) -> Mapping[str, str]:
    return {axis: dim for axis, dim, _ in split}


MOST_SHAPES = 1 << 16
"""Shapes that are remembered of all computes."""


@dataclass(frozen=True)
class ComputeOperand:
    """An operand: field of its address, and how its first element follows from the ranges."""

    surrogate: int
    index: int
    position: int
    memory: int
    forms: tuple[Affine, ...]
    steps: tuple[int, ...]
    strides: tuple[int, ...]
    constant: bool
    ring: tuple[int, ...] = ()
    border: int = -1  # the surrogate that stands in for what is read out of bounds

    def offset(self, ranges: Mapping[str, Range], origin: Sequence[int]) -> int:
        """Bytes from the surrogate's first element to the one at the first point of the ranges."""
        total = 0
        for axis, (form, start, step, stride) in enumerate(
            zip(self.forms, origin, self.steps, self.strides, strict=True)
        ):
            value = form.const - start
            for dim, coefficient in form.terms:
                value += coefficient * ranges[dim].start
            if self.ring and self.ring[axis]:
                value %= self.ring[axis]
            total += value // step * stride
        return total

    def stride(self, dim: str) -> int:
        """Bytes from one iteration of a codelet dim to the next."""
        return sum(
            form.coefficient(dim) * stride // step
            for form, step, stride in zip(self.forms, self.steps, self.strides, strict=True)
        )


@dataclass(frozen=True)
class Shape:
    """Everything but addresses for one shape of the tile; `reach`: bytes touched around each operand's address.

    `fresh` starts a reduction anew, `kept` goes on from what the target holds.
    """

    binding: Binding
    fresh: list[int]
    kept: list[int] | None
    reach: tuple[Reach, ...]


@dataclass
class ComputePlan:
    """The mnemonic and operands of a compute, and the shapes seen so far, its own and those of all (`known`)."""

    codelet: Codelet
    node: Issue
    binding: Binding
    operands: tuple[ComputeOperand, ...]
    bound: tuple[str, ...]
    reduced: tuple[str, ...]
    template: list[int]
    spreading: Spreading | None = None
    known: dict[object, Shape] = field(default_factory=dict[object, "Shape"])
    shapes: dict[tuple[tuple[int, ...], frozenset[int]], Shape] = field(
        default_factory=dict[tuple[tuple[int, ...], frozenset[int]], Shape]
    )

    @property
    def subject(self) -> str:
        """What errors about the compute are about."""
        return f"codelet @{self.codelet.name}, compute {self.node.node}.{self.node.capability}"

    def shape(self, ranges: Mapping[str, Range], outside: frozenset[int] = frozenset()) -> Shape:
        """The shape for these ranges of the bound dims; operands `outside`, by position, are borders."""
        extents = tuple(ranges[dim].extent for dim in self.bound)
        known = self.shapes.get((extents, outside))
        if known is None:
            known = self.shapes[extents, outside] = _shape(self, extents, outside)
        return known

    def cannot_continue(self) -> TilewrightError:
        """The error for a reduction in parts that the mnemonic cannot put together."""
        expected = f"{self.binding.mnemonic.name} to go on from its target (`accumulate`)"
        return TilewrightError("target", self.subject, expected, "no field for that", "do the reduction in one piece")


def plan_compute(isa: Isa, codelet: Codelet, node: Issue) -> ComputePlan:
    """Chooses the mnemonic; raises `TilewrightError` (kind `target`) where none fits."""
    if node.over:
        subject, lever = f"codelet @{codelet.name}, compute {node.node}.{node.capability}", "loop over them outside"
        raise TilewrightError("target", subject, "bound dims", f"a walk over {', '.join(node.over)}", lever)
    surrogates = [codelet.surrogates[index] for index in node.tensors]
    binding = _binding(isa, node, surrogates)
    statement = node.statement
    names = tensors_of(statement)
    operands = tuple(
        operand_of(codelet, node, slot.name, slot.address, position, isa.memories[slot.memory])
        for position, slot in enumerate(binding.operands)
    )
    template = _template(binding, node, [surrogates[names.index(slot.name)] for slot in binding.operands])
    reduced = reduction_dims(statement) if statement.reduce != "=" else ()
    bound, spreading = tuple(dim for _, dim in node.dims), Spreading.of(isa.machine, binding, codelet, node)
    return ComputePlan(codelet, node, binding, operands, bound, reduced, template, spreading, isa.shapes)


def operand_of(
    codelet: Codelet, node: Issue, name: str, index: int = 0, position: int = 0, memory: int = 0
) -> ComputeOperand:
    """The operand of a compute that is called `name`."""
    names = tensors_of(node.statement)
    number, access = node.tensors[names.index(name)], next(a for a in accesses(node.statement) if a.tensor == name)
    assert isinstance(access, Access)
    surrogate = codelet.surrogates[number]
    border = node.tensors[len(names) + node.borders.index(name)] if name in node.borders else -1
    lies = surrogate.steps, surrogate.strides_bytes, surrogate.constant, surrogate.ring
    return ComputeOperand(number, index, position, memory, index_forms(access), *lies, border)


def _binding(isa: Isa, node: Issue, surrogates: Sequence[Surrogate]) -> Binding:
    names = tensors_of(node.statement)
    for binding in isa.of_capability(node.node, node.capability):
        if sorted(slot.name for slot in binding.operands) != sorted(names):
            continue
        operands = [surrogates[names.index(slot.name)] for slot in binding.operands]
        fits = all(slot.allows(s.element, s.memory) for slot, s in zip(binding.operands, operands, strict=True))
        if fits and tuple(s.element for s in operands) in binding.capability.types:
            return binding
    types = ", ".join(f"{s.element} in {s.memory}" for s in surrogates)
    raise isa.missing(f"a mnemonic for {node.node}.{node.capability} on {types}")


def _template(binding: Binding, node: Issue, surrogates: Sequence[Surrogate]) -> list[int]:
    """Types, functions, immediates and the spread; extents of unused dims are 1."""
    _check_names(node, "functions", [name for name, _ in node.functions], list(binding.functions))
    _check_names(node, "immediates", [name for name, _ in node.immediates], list(binding.immediates))
    elements = [surrogate.element for surrogate in surrogates]
    return binding.row(elements, dict(node.functions), dict(node.immediates), dict(node.spread))


def _check_names(node: Issue, what: str, given: list[str], needed: list[str]) -> None:
    if sorted(given) != sorted(needed):
        subject = f"compute {node.node}.{node.capability}"
        raise TilewrightError("ir", subject, f"{what} {sorted(needed)}", f"{sorted(given)}")


def _shape(plan: ComputePlan, extents: tuple[int, ...], outside: frozenset[int]) -> Shape:
    """A shape; that of another compute which differs in addresses alone, if there is one."""
    binding, spreading, node = plan.binding, plan.spreading, plan.node
    slots = tuple(slot_dim for slot_dim, _ in node.dims)
    strides = tuple(
        tuple(0 if operand.position in outside else operand.stride(dim) for operand in plan.operands)
        for _, dim in node.dims
    )
    sizes = tuple(plan.codelet.surrogates[operand.surrogate].element_bytes for operand in plan.operands)
    spread = None if spreading is None else (spreading.tile, spreading.own)
    key = (id(binding), slots, extents, strides, sizes, spread, tuple(plan.template))
    if key not in plan.known:
        if len(plan.known) >= MOST_SHAPES:
            plan.known.clear()
        plan.known[key] = _new_shape(plan, extents, slots, strides, sizes)
    return plan.known[key]


def _new_shape(
    plan: ComputePlan,
    extents: tuple[int, ...],
    slots: Sequence[str],
    strides: Sequence[Sequence[int]],
    sizes: Sequence[int],
) -> Shape:
    """A shape, with the bytes of an element of each operand and those from one iteration of a dim to the next."""
    binding, row, node, subject = plan.binding, plan.template.copy(), plan.node, f"codelet {plan.codelet.name}"
    for (slot_dim, dim), extent in zip(node.dims, extents, strict=True):
        if extent > binding.limit(slot_dim):
            raise TilewrightError(
                "target",
                subject,
                f"at most {binding.limit(slot_dim)} iterations of {slot_dim} in {node.node}.{node.capability}",
                f"{extent} of {dim}",
                f"loop over {dim} outside",
            )
    spread = plan.spreading.of_piece(extents, slots) if plan.spreading is not None else None
    folded = _folded(plan, extents, slots, strides)
    if folded is not None:
        extents, strides, spread = folded
    if spread is not None:
        binding.set_spread(row, spread)
    for slot_dim, extent in zip(slots, extents, strict=True):
        if extent > 1:
            row[binding.extents[slot_dim]] = extent
    reach: list[Reach] = []
    for place, operand in enumerate(plan.operands):
        steps: list[tuple[int, int]] = []
        for slot_dim, extent, own in zip(slots, extents, strides, strict=True):
            if extent == 1 or own[place] == 0:
                continue
            binding.set_stride(row, operand.position, slot_dim, own[place], subject)
            steps.append((extent, own[place]))
        reach.append(reach_of(steps, sizes[place]))
    return Shape(binding, row, _kept(row, binding), tuple(reach))


def _folded(
    plan: ComputePlan, extents: tuple[int, ...], slots: Sequence[str], strides: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], Sequence[Sequence[int]], Mapping[str, str]] | None:
    """Extents, strides and spread with one dim in another, in which it goes on where that ends, as rows after columns.

    The way that saves most cycles; None where none saves any.
    """
    spreading, best, found = plan.spreading, 0.0, None
    if spreading is None:
        return None
    for inner, outer in permutations(range(len(slots)), 2):
        size, count = extents[inner], extents[outer]
        if min(size, count) == 1 or size * count > plan.binding.limit(slots[inner]):
            continue
        if any(far != size * near for near, far in zip(strides[inner], strides[outer], strict=True)):
            continue
        longer = list(extents)
        longer[inner], longer[outer] = size * count, 1
        saved, spread = spreading.saving(extents, tuple(longer), slots)
        if saved > best:
            best, found = saved, (tuple(longer), list(strides), spread)
    return found


def _kept(row: list[int], binding: Binding) -> list[int] | None:
    """The row that goes on from the target's old value; None where the mnemonic cannot say so."""
    if binding.accumulate < 0:
        return None
    kept = row.copy()
    kept[binding.accumulate] = 1
    return kept
