"""Who gets the same words at the same time: multicast groups, neighbour links and hops on a mesh."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

Shift = tuple[int, ...]


@dataclass(frozen=True)
class Delivery:
    """One delivery to all children: (multicast, scatter) signatures, hops summed over groups, children fed by links."""

    signatures: tuple[tuple[int, int], ...]
    hops: float
    links: int = 0


@dataclass(frozen=True)
class Placement:
    """The children of one parent: spatial loops as (bound, shift), X loops first, on a physical `width` x `height`.

    Child number `x + y * used_columns` sits at column `number % width`, where width is the mesh's, not the used one:
    the tool packs rows if fewer columns are used than there are.
    """

    columns: tuple[tuple[int, Shift], ...]
    rows: tuple[tuple[int, Shift], ...]
    width: int
    height: int
    rank: int

    @cached_property
    def size(self) -> int:
        """Children in use."""
        return prod(bound for bound, _ in self.columns + self.rows)

    @cached_property
    def offsets(self) -> tuple[Shift, ...]:
        """Where each child's box lies, relative to the first child's."""
        axes = [[tuple(i * s for s in shift) for i in range(bound)] for bound, shift in (*self.columns, *self.rows)]
        origin = (0,) * self.rank
        return tuple(tuple(map(sum, zip(origin, *point, strict=True))) for point in _inner_first(axes))

    @cached_property
    def decoded_width(self) -> int:
        """Columns by which child numbers are decoded."""
        return max(self.width, prod(bound for bound, _ in self.columns))

    @cached_property
    def plain(self) -> Delivery:
        """A delivery of one word set to every child, without links."""
        return self._deliver(range(self.size), 0)

    def linked(self, step: Shift) -> Delivery | None:
        """The delivery where children take words from a neighbour `step` further; None where that saves nothing."""
        fed = set(self._fed(step))
        if not fed:
            return None
        delivery = self._deliver([p for p in range(self.size) if p not in fed], len(fed))
        fewer = sum(k for _, k in delivery.signatures) < sum(k for _, k in self.plain.signatures)
        return delivery if fewer else None

    def _fed(self, step: Shift) -> list[int]:
        offsets, width, size = self.offsets, self.decoded_width, self.size
        fed: list[int] = []
        for p in range(size):
            column = p % width
            near = [p - 1] * (column > 0) + [p + 1] * (column + 1 < width) + [p - width, p + width]
            wanted = tuple(o + s for o, s in zip(offsets[p], step, strict=True))
            if any(0 <= q < size and offsets[q] == wanted for q in near):
                fed.append(p)
        return fed

    def _deliver(self, children: range | list[int], links: int) -> Delivery:
        groups: dict[Shift, list[int]] = {}
        for child in children:
            groups.setdefault(self.offsets[child], []).append(child)
        counts = Counter(len(group) for group in groups.values())
        hops = sum(self._hops(group) for group in groups.values())
        return Delivery(tuple(sorted(counts.items())), hops, links)

    def _hops(self, group: list[int]) -> float:
        """A trunk along the middle row to the farthest column, and a branch up and down each column in use."""
        if self.size == 1:
            return 0.0
        middle = (self.height - 1) / 2
        spans: dict[int, tuple[int, int]] = {}
        for child in group:
            row, column = divmod(child, self.decoded_width)
            top, bottom = spans.get(column, (row, row))
            spans[column] = min(top, row), max(bottom, row)
        branches = sum(max(0.0, middle - top) + max(0.0, bottom - middle) for top, bottom in spans.values())
        return max(spans) + branches


def _inner_first(axes: list[list[Shift]]) -> list[tuple[Shift, ...]]:
    return [point[::-1] for point in product(*reversed(axes))]
