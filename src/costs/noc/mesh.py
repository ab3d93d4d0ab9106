"""The mesh and its routes: first along X, then along Y."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...algebra.element import Ints

EAST, WEST, SOUTH, NORTH, LOCAL = range(5)
"""Ways out of a router, and where flits from there come in: those from the eastern neighbour come in at `EAST`."""

STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))
PORTS = 5
IN = PORTS
"""In a route a router's ways out are bits from 0 on, the ways in that a sum waits for from `IN` on."""


@dataclass(frozen=True)
class Mesh:
    """`columns` by `rows` routers; node `x + y * columns` is at column x of row y.

    Flits have `flit_bits`; a router holds `queue_flits` of each neighbour, and passes one on `router_cycles` after it
    came.  A packet has `header_flits` before its words.
    """

    columns: int
    rows: int
    flit_bits: int = 64
    queue_flits: int = 4
    router_cycles: int = 1
    header_flits: int = 1

    @property
    def nodes(self) -> int:
        """How many routers there are."""
        return self.columns * self.rows

    def flits(self, bits: int) -> int:
        """Flits of a packet with so many bits."""
        return self.header_flits + -(-bits // self.flit_bits)

    def path(self, src: int, dst: int) -> list[tuple[int, int]]:
        """Routers on the way with the way out of each; the last one is `LOCAL`."""
        (x, y), (to_x, to_y) = ((node % self.columns, node // self.columns) for node in (src, dst))
        found: list[tuple[int, int]] = []
        while (x, y) != (to_x, to_y):
            way = (EAST if to_x > x else WEST) if x != to_x else (SOUTH if to_y > y else NORTH)
            found.append((x + y * self.columns, way))
            x, y = x + STEPS[way][0], y + STEPS[way][1]
        return [*found, (dst, LOCAL)]


class Routes:
    """Routes by number, each a row of masks of the routers; equal ones are kept once."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self._numbers: dict[tuple[bool, int, tuple[int, ...]], int] = {}
        self._rows: list[Ints] = []

    def spread(self, src: int, dsts: Iterable[int]) -> int:
        """From one node to one or several: the paths together are a tree."""
        return self._number(False, src, tuple(sorted(set(dsts))))

    def gather(self, srcs: Iterable[int], dst: int) -> int:
        """From several nodes to one, flits being added where paths meet."""
        return self._number(True, dst, tuple(sorted(set(srcs))))

    def table(self) -> Ints:
        """All routes."""
        return np.stack(self._rows) if self._rows else np.zeros((1, self.mesh.nodes), np.int64)

    def _number(self, sums: bool, root: int, leaves: tuple[int, ...]) -> int:
        key = sums, root, leaves
        if key not in self._numbers:
            self._numbers[key] = len(self._rows)
            self._rows.append(self._gathered(leaves, root) if sums else self._spread(root, leaves))
        return self._numbers[key]

    def _spread(self, src: int, dsts: Sequence[int]) -> Ints:
        row = np.zeros(self.mesh.nodes, np.int64)
        for dst in dsts:
            for node, way in self.mesh.path(src, dst):
                row[node] |= 1 << way
        return row

    def _gathered(self, srcs: Sequence[int], dst: int) -> Ints:
        row = np.zeros(self.mesh.nodes, np.int64)
        for src in srcs:
            come = LOCAL
            for node, way in self.mesh.path(src, dst):
                row[node] |= 1 << way | 1 << (IN + come)
                come = way ^ 1  # out to the east is in from the west
        return row
