"""Acyclic graphs of numbered nodes, for searches: a set of nodes is an integer with one bit a node."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError
from itertools import pairwise
from typing import Any

import numpy as np

from .element import Bools

WIDE = 512
"""Sets with nodes below and beyond this one are looked through as arrays: bit by bit costs the square."""


def mask_of(nodes: Iterable[int]) -> int:
    """Nodes as a set."""
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask


def bits(mask: int) -> Iterator[int]:
    """The nodes of a set, ascending."""
    if mask.bit_length() > WIDE and mask & ~(-1 << WIDE):
        yield from np.flatnonzero(flags(mask, mask.bit_length())).tolist()
        return
    first = (mask & -mask).bit_length() - 1
    mask >>= max(0, first)  # a few late nodes of a deep graph become a small integer
    while mask:
        low = mask & -mask
        yield first + low.bit_length() - 1
        mask ^= low


def flags(mask: int, count: int) -> Bools:
    """Which of `count` nodes, which are all there are, a set holds."""
    data = np.frombuffer(mask.to_bytes(-(-count // 8), "little"), np.uint8)
    return np.unpackbits(data, count=count, bitorder="little").view(np.bool_)


def union(sets: Iterable[int]) -> int:
    """All nodes of some sets."""
    found = 0
    for mask in sets:
        found |= mask
    return found


def ordered(needs: Sequence[Collection[int]], keys: Sequence[Any]) -> list[int]:
    """Nodes each after those that it needs, of those that may be next the one of least key.

    Raises `CycleError` where there is a cycle, with the nodes of one, each before one that needs it.
    """
    earlier = all(other < node for node, needed in enumerate(needs) for other in needed)
    if earlier and all(first <= second for first, second in pairwise(keys)):
        return list(range(len(needs)))
    import networkx as nx  # slow to load, seldom needed

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(needs)))
    graph.add_edges_from((other, node) for node, needed in enumerate(needs) for other in needed)
    try:
        return list(nx.lexicographical_topological_sort(graph, keys.__getitem__))
    except nx.NetworkXUnfeasible:
        raise CycleError("nodes need one another", [node for node, _ in nx.find_cycle(graph)]) from None


@dataclass(frozen=True)
class Dag:
    """Nodes in a topological order, each with those that it reads."""

    producers: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.producers)

    @property
    def everything(self) -> int:
        """The set of all nodes."""
        return (1 << self.size) - 1

    @cached_property
    def consumers(self) -> tuple[tuple[int, ...], ...]:
        """For each node those that read it, ascending."""
        return tuple(tuple(bits(readers)) for readers in self.after)

    @cached_property
    def before(self) -> tuple[int, ...]:
        """For each node the set of those it reads."""
        return tuple(map(mask_of, self.producers))

    @cached_property
    def after(self) -> tuple[int, ...]:
        """For each node the set of those that read it."""
        found = [0] * self.size
        for number, producers in enumerate(self.producers):
            for producer in producers:
                found[producer] |= 1 << number
        return tuple(found)

    @cached_property
    def beside(self) -> tuple[int, ...]:
        """For each node the set of its neighbours either way."""
        return tuple(a | b for a, b in zip(self.before, self.after, strict=True))

    @cached_property
    def depth(self) -> tuple[int, ...]:
        """For each node the number of nodes on the longest path before it."""
        found: list[int] = []
        for producers in self.producers:
            found.append(1 + max((found[i] for i in producers), default=-1))
        return tuple(found)

    @cached_property
    def ancestors(self) -> tuple[int, ...]:
        """For each node all nodes that a path leads from."""
        found: list[int] = []
        for number, producers in enumerate(self.producers):
            found.append(self.before[number] | union(found[i] for i in producers))
        return tuple(found)

    @cached_property
    def descendants(self) -> tuple[int, ...]:
        """For each node all nodes that a path leads to."""
        found = [0] * self.size
        for number in reversed(range(self.size)):
            for producer in self.producers[number]:
                found[producer] |= found[number] | 1 << number
        return tuple(found)

    def readers(self, mask: int) -> int:
        """All nodes that read one of `mask`."""
        found = 0
        for number in bits(mask):
            found |= self.after[number]
        return found

    def sources(self, mask: int) -> int:
        """All nodes that one of `mask` reads."""
        found = 0
        for number in bits(mask):
            found |= self.before[number]
        return found

    def component(self, mask: int, node: int | None = None) -> int:
        """The connected part of `mask`, directions aside, that holds `node` (None: its lowest node)."""
        frontier = mask & -mask if node is None else 1 << node
        left = mask ^ frontier
        while frontier:
            number = frontier.bit_length() - 1
            fresh = self.beside[number] & left
            left ^= fresh
            frontier = (frontier ^ 1 << number) | fresh
        return mask ^ left

    def connected(self, mask: int) -> bool:
        """Whether a set is connected, directions aside."""
        return self.component(mask) == mask

    def components(self, mask: int) -> list[int]:
        """The connected parts of a set, by their lowest nodes."""
        parts: list[int] = []
        while mask:
            part = self.component(mask)
            parts.append(part)
            mask &= ~part
        return parts

    def convex(self, mask: int) -> bool:
        """Whether no path leaves the set and comes back."""
        above = below = 0
        for number in bits(mask):
            above |= self.ancestors[number]
            below |= self.descendants[number]
        return above & below & ~mask == 0
