"""What a compute becomes: walks over micro-ops in two loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from ...algebra.affine import index_forms
from ...algebra.expr import Access
from ...algebra.statement import accesses, tensors_of
from ...algebra.window import Range
from ...errors import TilewrightError
from ...machine.model import Capability, Mnemonic
from ...machine.stage_isa import StageIsa
from ...machine.stage_rules import capability_of
from ...machine.stages import PRODUCTS, element_bytes, kind_of, operand_accesses
from ..codelet_to_queues.boxes import BoxAxis, merge_axes
from ..codelet_to_queues.plan_compute import ComputeOperand
from ..codelet_to_queues.tree import Codelet, Issue


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
    capability = capability_of(isa.machine, mnemonic) if mnemonic is not None else None
    if mnemonic is None or capability is None:
        raise TilewrightError("target", subject, "an instruction that walks", "none")
    if kind_of(capability) == PRODUCTS and not node.keep:
        raise TilewrightError("target", subject, "`keep`: products are added to what is there", "a new sum")
    if node.spread or node.borders or node.share:
        raise TilewrightError("target", subject, "a walk over whole ranges", "spread, borders or a share")
    memories = {memory.name: element_bytes(memory) for memory in isa.machine.memories}
    names, operands = tensors_of(node.statement), list[ComputeOperand]()
    for position, slot in enumerate(mnemonic.operands):
        access = next(a for a in accesses(node.statement) if a.tensor == slot.operand)
        assert isinstance(access, Access)
        number = node.tensors[names.index(slot.operand)]
        surrogate = codelet.surrogates[number]
        if surrogate.memory != slot.memory:
            raise TilewrightError("target", subject, f"{slot.operand} in {slot.memory}", surrogate.memory)
        steps = (1,) * len(surrogate.shape) if surrogate.axes is None else tuple(a.step for a in surrogate.axes)
        forms = index_forms(access)
        operands.append(ComputeOperand(number, 0, position, 0, forms, steps, surrogate.strides_bytes, False))
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
