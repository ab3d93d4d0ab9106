"""Who gets the same words at the same time: multicast groups, neighbour links and hops on a mesh."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from ...algebra.element import Bools, Ints

Shift = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Delivery:
    """One delivery: (multicast, scatter) signatures, the children that the parent serves, how many links serve.

    A signature (m, k) stands for k groups of m children that receive the same words.
    """

    signatures: tuple[tuple[int, int], ...]
    children: Ints
    links: int = 0

    @property
    def groups(self) -> int:
        """Times that the parent is accessed per word."""
        return sum(scatter for _, scatter in self.signatures)


@dataclass(frozen=True)
class Placement:
    """The children of one parent: spatial loops as (bound, shift), inner first, on a physical `width` x `height`.

    `rank` is the length of a shift.  Child number `x + y * used_columns` sits at column `number % width`, where width
    is the mesh's, not the used one: the tool packs rows if fewer columns are used than there are.
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
    def offsets(self) -> Ints:
        """Where each child's box lies relative to the first child's, (size, rank)."""
        found = np.zeros((1, self.rank), np.int64)
        for bound, shift in (*self.columns, *self.rows):
            moves = np.arange(bound)[:, None] * np.array(shift, np.int64).reshape(1, self.rank)
            found = (moves[:, None, :] + found[None, :, :]).reshape(-1, self.rank)
        return found

    @cached_property
    def decoded_width(self) -> int:
        """Columns by which child numbers are decoded."""
        return max(self.width, prod(bound for bound, _ in self.columns))

    @cached_property
    def plain(self) -> Delivery:
        """A delivery of one word set to every child, without links."""
        return self._deliver(np.arange(self.size), 0)

    def linked(self, step: Shift) -> Delivery | None:
        """The delivery where children take words from a neighbour `step` further; None where that saves nothing."""
        if self._near is not None and step not in self._near:
            return None
        if step not in self._linked:
            self._linked[step] = self._link(step)
        return self._linked[step]

    def hops(self, delivery: Delivery) -> float:
        """Hops summed over groups: along the middle row to the farthest column, up and down each column in use."""
        if self.size == 1 or not delivery.signatures:
            return 0.0
        if delivery not in self._hops:
            self._hops[delivery] = self._count_hops(delivery.children)
        return self._hops[delivery]

    @cached_property
    def _hops(self) -> dict[Delivery, float]:
        return {}

    def _count_hops(self, children: Ints) -> float:
        labels = self._labels[children]
        rows, columns = np.divmod(children, self.decoded_width)
        farthest = np.zeros(int(labels.max()) + 1, np.int64)
        np.maximum.at(farthest, labels, columns)
        _, branch = np.unique(labels * self.decoded_width + columns, return_inverse=True)
        top = np.full(int(branch.max()) + 1, self.size)
        bottom = np.zeros_like(top)
        np.minimum.at(top, branch, rows)
        np.maximum.at(bottom, branch, rows)
        middle = (self.height - 1) / 2
        branches = np.maximum(0.0, middle - top) + np.maximum(0.0, bottom - middle)
        return float(farthest.sum() + branches.sum())

    @cached_property
    def _linked(self) -> dict[Shift, Delivery | None]:
        return {}

    @cached_property
    def _near(self) -> frozenset[Shift] | None:
        """All offsets between mesh neighbours, and perhaps others; None where rows are packed."""
        used = prod(bound for bound, _ in self.columns)
        if used != self.decoded_width and self.size > self.decoded_width:
            return None
        moves = _carries(self.columns + self.rows, self.rank) + _carries(self.rows, self.rank)
        return frozenset(moves) | {tuple(-m for m in move) for move in moves}

    def _link(self, step: Shift) -> Delivery | None:
        fed = self._fed(step)
        links = int(fed.sum())
        if not links:
            return None
        delivery = self._deliver(np.flatnonzero(~fed), links)
        return delivery if delivery.groups < self.plain.groups else None

    def _fed(self, step: Shift) -> Bools:
        fed = np.zeros(self.size, np.bool_)
        wanted = self.offsets + np.array(step, np.int64)
        column = np.arange(self.size) % self.decoded_width
        for move, reachable in (
            (1, column + 1 < self.decoded_width),
            (-1, column > 0),
            (self.decoded_width, column >= 0),
            (-self.decoded_width, column >= 0),
        ):
            here = slice(max(0, -move), self.size - max(0, move))
            there = slice(max(0, move), self.size - max(0, -move))
            if abs(move) < self.size:
                fed[here] |= reachable[here] & (self.offsets[there] == wanted[here]).all(axis=1)
        return fed

    @cached_property
    def _labels(self) -> Ints:
        """The multicast group of each child."""
        key = np.zeros(self.size, np.int64)
        for axis in range(self.rank):
            values, label = np.unique(self.offsets[:, axis], return_inverse=True)
            if len(values) > 1:
                key = np.unique(key * len(values) + label, return_inverse=True)[1]
        return key

    def _deliver(self, children: Ints, links: int) -> Delivery:
        if not len(children):
            return Delivery((), children, links)
        sizes = np.bincount(self._labels[children])
        multicasts, scatters = np.unique(sizes[sizes > 0], return_counts=True)
        return Delivery(tuple(zip(multicasts.tolist(), scatters.tolist(), strict=True)), children, links)


def _carries(loops: tuple[tuple[int, Shift], ...], rank: int) -> list[Shift]:
    """Per loop, the step when it advances and all loops inside it start again."""
    back = (0,) * rank
    moves: list[Shift] = []
    for bound, shift in loops:
        moves.append(tuple(s - b for s, b in zip(shift, back, strict=True)))
        back = tuple(b + s * (bound - 1) for s, b in zip(shift, back, strict=True))
    return moves
