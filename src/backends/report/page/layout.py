"""Where the boxes of a network's graph stand: ranks from top to bottom, few crossings, short edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

SWEEPS = 12
"""Times that order and places are improved."""

MOST_POINTS = 20_000
"""Boxes and points of edges that are ordered; larger graphs stay as they are."""


@dataclass(frozen=True)
class Layout:
    """Places of boxes (`x` in widths of a box from the middle, `y` in ranks), and those that edges go through."""

    places: tuple[tuple[float, int], ...]
    edges: tuple[tuple[tuple[float, int], ...], ...]


def layout_of(count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """The places of `count` boxes; edges lead from a lower number to a higher one."""
    ranks = [0] * count
    for source, target in sorted(edges, key=lambda edge: edge[1]):
        ranks[target] = max(ranks[target], ranks[source] + 1)
    inner, readers = {target for _, target in edges}, dict[int, int]()
    for source, target in edges:
        readers[source] = min(readers.get(source, ranks[target]), ranks[target])
    for source, rank in readers.items():
        if source not in inner:  # what nothing comes before stands right above its reader
            ranks[source] = rank - 1
    return _Ranks(ranks, edges).layout()


class _Ranks:
    """Boxes, and a narrow point for each rank that an edge passes."""

    def __init__(self, ranks: Sequence[int], edges: Sequence[tuple[int, int]]) -> None:
        self.boxes = len(ranks)
        self.rank = list(ranks)
        self.paths: list[list[int]] = []
        for source, target in edges:
            passed = range(self.rank[source] + 1, self.rank[target])
            self.paths.append([source, *range(len(self.rank), len(self.rank) + len(passed)), target])
            self.rank.extend(passed)
        self.before: list[list[int]] = [[] for _ in self.rank]
        self.behind: list[list[int]] = [[] for _ in self.rank]
        for path in self.paths:
            for upper, lower in pairwise(path):
                self.before[lower].append(upper)
                self.behind[upper].append(lower)
        self.rows: list[list[int]] = [[] for _ in range(max(self.rank, default=-1) + 1)]
        for point, rank in enumerate(self.rank):
            self.rows[rank].append(point)
        self.x = [0.0] * len(self.rank)
        for row in self.rows:
            self._spread(row, [float(i) for i in range(len(row))])

    def layout(self) -> Layout:
        """Improve the order from the top and from the bottom in turn, then read the places."""
        if len(self.rank) <= MOST_POINTS:
            for sweep in range(2 * SWEEPS):
                down = sweep % 2 == 0
                for row in self.rows if down else reversed(self.rows):
                    self._improve(row, self.before if down else self.behind, sweep < SWEEPS)
            for row in self.rows:
                self._improve(row, [a + b for a, b in zip(self.before, self.behind, strict=True)], False)
        places = [(round(x, 3), rank) for x, rank in zip(self.x, self.rank, strict=True)]
        return Layout(tuple(places[: self.boxes]), tuple(tuple(places[p] for p in path) for path in self.paths))

    def _improve(self, row: list[int], near: Sequence[Sequence[int]], reorder: bool) -> None:
        wanted = {
            point: fmean(self.x[other] for other in near[point]) if near[point] else self.x[point] for point in row
        }
        if reorder:
            row.sort(key=lambda point: wanted[point])
        self._spread(row, [wanted[point] for point in row])

    def _width(self, point: int) -> float:
        return 1.0 if point < self.boxes else 0.22

    def _spread(self, row: Sequence[int], wanted: Sequence[float]) -> None:
        """Give points of a row, in order, places as near as can be to those wanted, without overlaps.

        Least squares under a distance for each pair of neighbours: blocks of points that touch move to their mean.
        """
        blocks: list[tuple[float, int]] = []  # mean of wanted places less offsets, number of points
        offsets = [0.0]
        for left, right in pairwise(row):
            offsets.append(offsets[-1] + (self._width(left) + self._width(right)) / 2)
        for place, offset in zip(wanted, offsets, strict=False):
            mean, size = place - offset, 1
            while blocks and blocks[-1][0] >= mean:
                other, more = blocks.pop()
                mean, size = (mean * size + other * more) / (size + more), size + more
            blocks.append((mean, size))
        means = [mean for mean, size in blocks for _ in range(size)]
        for point, mean, offset in zip(row, means, offsets, strict=False):
            self.x[point] = mean + offset
