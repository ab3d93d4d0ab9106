"""Computes on tensors of which a part is there: cut where a ring comes round, and where operands leave the tensor.

A compute over ranges of its dims becomes computes over parts of them, in each of which every operand lies in one
stretch of its tensor's ring, or is wholly out of bounds and replaced by its border.  Products with a border of zeros
are left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...algebra.affine import Affine, Range, form_low, form_span
from ...algebra.expr import tensors_of
from ...errors import TilewrightError
from .plan_compute import ComputeOperand, ComputePlan
from .tree import Issue

Ranges = Mapping[str, Range]

_BEFORE, _AFTER = -1, -2  # cells of indices below 0, and past the end; others are rounds of a ring


@dataclass(frozen=True)
class Box:
    """Ranges of dims, and the operands (by position) that are borders there."""

    ranges: Ranges
    outside: frozenset[int]


@dataclass(frozen=True)
class _Watched:
    """Along one axis an operand with elements from `first` to `size` (exclusive); it keeps `held` of them (0: all)."""

    operand: ComputeOperand
    form: Affine
    size: int
    held: int
    first: int = 0

    def cell(self, index: int) -> int:
        if index < self.first:
            return _BEFORE
        if index >= self.size:
            return _AFTER
        return index // self.held if self.held else 0


class Cutter:
    """Cuts the ranges of one compute, whose dims `spread` run on several instances at a time.

    What reads operands `skipped` (by position) out of bounds is left out.
    """

    def __init__(
        self, plan: ComputePlan, spread: frozenset[str] = frozenset(), skipped: frozenset[int] = frozenset()
    ) -> None:
        self.codelet = plan.codelet
        self.spread, self.skipped = spread, skipped
        self.watched: list[_Watched] = []
        for operand in plan.operands:
            surrogate = plan.codelet.surrogates[operand.surrogate]
            if surrogate.axes is not None or (operand.border < 0 and not any(surrogate.ring)):
                continue
            for axis, form in enumerate(operand.forms):
                held = surrogate.ring[axis] if surrogate.ring else 0
                self.watched.append(_Watched(operand, form, surrogate.shape[axis], held))

    def boxes(self, ranges: Ranges) -> Iterator[Box]:
        """Boxes that make up `ranges`, earlier iterations of each dim first."""
        left = [ranges]
        while left:
            part = left.pop()
            outside, mixed = self._cells(part)
            if mixed is not None:
                left += reversed(self._cut(mixed, part))
                continue
            self._check(outside, part)
            if not outside & self.skipped:
                yield Box(part, frozenset(outside))

    def _cells(self, ranges: Ranges) -> tuple[set[int], _Watched | None]:
        """Operands that are outside, and the first axis of another one that is in several cells."""
        outside: set[int] = set()
        mixed: dict[int, _Watched] = {}
        for item in self.watched:
            place = item.operand.position
            low = form_low(item.form, ranges)
            first, last = item.cell(low), item.cell(low + form_span(item.form, ranges))
            if first != last:
                mixed.setdefault(place, item)
            elif first < 0:
                outside.add(place)
        return outside, next((item for place, item in mixed.items() if place not in outside), None)

    def _check(self, outside: set[int], ranges: Ranges) -> None:
        for item in self.watched:
            if item.operand.position in outside and item.operand.border < 0:
                surrogate = self.codelet.surrogates[item.operand.surrogate]
                where = ", ".join(f"{dim} = {r.start}..{r.start + r.extent - 1}" for dim, r in ranges.items())
                raise TilewrightError(
                    "refuted",
                    f"codelet @{self.codelet.name}",
                    f"indices within {surrogate.name}",
                    f"some past ({where})",
                )

    def _cut(self, item: _Watched, ranges: Ranges) -> list[Ranges]:
        """The longest stretch of a dim in which the operand's cell does not change, and the rest.

        It is the dim that moves most, but one that is spread over instances, of which short stretches leave some idle,
        only if no other is left.
        """
        dim, coefficient = max(
            ((d, c) for d, c in item.form.terms if ranges[d].extent > 1),
            key=lambda t: (t[0] not in self.spread, abs(t[1]) * (ranges[t[0]].extent - 1)),
        )
        whole = ranges[dim]
        count = max(1, self._steady(item, ranges, dim, coefficient))
        rest = {**ranges, dim: Range(whole.start + count, whole.extent - count)}
        return [{**ranges, dim: Range(whole.start, count)}, *([rest] if count < whole.extent else [])]

    def _steady(self, item: _Watched, ranges: Ranges, dim: str, coefficient: int) -> int:
        """Iterations of `dim` from its first on with one cell; 0 where even the first has several."""

        def same(count: int) -> bool:
            part = {**ranges, dim: Range(ranges[dim].start, count)}
            low = form_low(item.form, part)
            return item.cell(low) == item.cell(low + form_span(item.form, part))

        return bisect_left(range(1, ranges[dim].extent + 1), True, key=lambda count: not same(count))


class NonzeroCutter(Cutter):
    """Cuts a compute so that no part reads zeros alone, of which products need not be summed up: along all `axes`.

    Dims that are `whole` are cut last, and so are those that are spread over instances.
    """

    def __init__(self, plan: ComputePlan, axes: Sequence[int], whole: frozenset[str] = frozenset()) -> None:
        node = plan.node
        super().__init__(plan, spread_dims(node) | whole)
        operand = next(o for o in plan.operands if o.surrogate == _zeros(node))
        self.watched = [
            _Watched(operand, operand.forms[axis], node.inside[axis][1], 0, node.inside[axis][0]) for axis in axes
        ]

    @classmethod
    def of(cls, plan: ComputePlan) -> tuple[NonzeroCutter, ...]:
        """Along all axes with zeros, and along each of them: into rows or columns at the ends and those between, or
        into taps, which take less time to feed.
        """
        node = plan.node
        if not node.zeros or plan.binding.expansion is not None:
            return ()
        shape = plan.codelet.surrogates[_zeros(node)].shape
        axes = [axis for axis, ends in enumerate(node.inside) if ends != (0, shape[axis])]
        ways = dict.fromkeys([tuple(axes), *((axis,) for axis in axes)] if axes else ())
        made = frozenset(name for form in plan.operands[0].forms for name in form.names)
        return tuple(cls(plan, way, whole) for way in ways for whole in (frozenset[str](), made))

    def boxes(self, ranges: Ranges) -> Iterator[Box]:
        return (box for box in super().boxes(ranges) if not box.outside)

    def _check(self, outside: set[int], ranges: Ranges) -> None:
        pass


def cutters_of(plan: ComputePlan) -> tuple[Cutter, ...]:
    """Ways to cut a compute: dims that are spread over instances last, or like others.

    With the first a convolution over borders is cut into its taps.  With the second it is cut into rows and columns at
    the borders and those between, which have all taps: few taps at a time may take longer to feed than to sum up.
    """
    spread, zeros = spread_dims(plan.node), _zeros(plan.node)
    skipped = frozenset(o.position for o in plan.operands if o.surrogate == zeros and o.border >= 0)
    return tuple(Cutter(plan, dims, skipped) for dims in dict.fromkeys((spread, frozenset[str]())))


def _zeros(node: Issue) -> int:
    """The surrogate of the operand that is zero outside of some indices; -1 where there is none."""
    return node.tensors[tensors_of(node.statement).index(node.zeros)] if node.zeros else -1


def spread_dims(node: Issue) -> frozenset[str]:
    """The dims of a compute that are spread over instances."""
    bound = dict(node.dims)
    return frozenset(bound[slot] for _, slot in node.spread if slot in bound)
