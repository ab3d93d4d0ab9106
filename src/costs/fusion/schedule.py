"""From a traced group to its scheme, with an address for every region."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from ...algebra.element import Ints
from .demand import first_round, region, row_step, spans
from .graph import LayerGraph
from .scheme import Axis, Held, Region, RegionManager, RingPadding, Scheme
from .tables import COMPONENT, EXTENT, PIXEL_BYTES, RATE, READERS, GraphTables, graph_tables
from .trace import DELTA, DEPTH, INSIDE, LAST, LEAD, LOW, NEED, OUTSIDE, WHOLE, new_trace, trace
from .values import Platform


def scheme_of(
    graph: LayerGraph,
    nodes: Iterable[int],
    tile: tuple[int, int],
    platform: Platform | None = None,
    *,
    narrow: bool = False,
    rooms: Mapping[int, RingPadding] | None = None,
) -> Scheme:
    """The execution of `nodes` on one core with `tile` rows and columns of the last layers (0 columns: full rows).

    With `narrow`, SIDE regions have all columns, those in MAIN too, as programs have it.  Maps of `rooms`, by their
    numbers as producers of edges, have room around them if they are not there as a whole: with full rows only.

    `InfeasibleError` where regions exceed the global buffer of `platform` or its region manager; weights, of which
    nothing is said here, lie in their own buffer or above the regions.
    """
    platform = Platform() if platform is None else platform
    return _Builder(graph, platform, np.array(sorted(set(nodes)), dtype=np.int64), tile, narrow, rooms or {}).scheme()


class _Builder:
    def __init__(
        self,
        graph: LayerGraph,
        platform: Platform,
        members: Ints,
        tile: tuple[int, int],
        narrow: bool,
        rooms: Mapping[int, RingPadding],
    ) -> None:
        self.graph, self.tile, self.narrow, self.rooms = graph, tile, narrow, rooms
        self.net: GraphTables = graph_tables(graph, platform)
        self.trace: Ints = new_trace(len(graph) + len(graph.inputs))
        outside = trace(*self.net, self.trace, members, 0)
        self.members: list[int] = members.tolist()
        self.order: list[int] = sorted(self.trace[:outside, OUTSIDE].tolist()) + self.members
        self.stages = 1 + max(int(self.trace[u, DEPTH]) for u in self.order)
        self.manager = RegionManager(
            platform.align_bytes, depth=platform.regions, capacity_bytes=platform.buffers.global_bytes
        )

    def scheme(self) -> Scheme:
        regions, updates = self.regions(), self.updates()
        sources = [self.held(u, regions[u], updates[u]) for u in self.order]
        return Scheme(tuple(self.members), self.tile, self.stages, tuple(sources), self.manager.peak_bytes)

    def room(self, u: int) -> RingPadding | None:
        return self.rooms.get(self.number(u)) if not self.trace[u, WHOLE] and self.tile[1] == 0 else None

    def rows(self, u: int) -> Axis:
        rows, room = self.axis(u, 0, 1), self.room(u)
        if room is None:
            return rows
        before, extent = room.before, room.before + rows.extent + room.after
        held, _, _ = spans(rows.delta, rows.lead + before, rows.low + before, int(self.trace[u, LAST]), extent)
        return replace(rows, held=held, before=before, after=room.after)

    def held(self, u: int, regions: tuple[Region, Region | None], updates: int) -> Held:
        rows, columns = self.rows(u), self.axis(u, 1, updates)
        return Held(
            number=self.number(u),
            name=self.name(u),
            stage=self.stage(u),
            whole=bool(self.trace[u, WHOLE]),
            leaves=u in self.members and bool(self.trace[u, INSIDE] < self.net.sources[u, READERS]),
            rows=rows,
            columns=columns,
            main=regions[0],
            side=regions[1],
        )

    def axis(self, u: int, axis: int, updates: int) -> Axis:
        s, extent = self.trace, int(self.net.sources[u, EXTENT + axis])
        if axis == 0 and not s[u, WHOLE]:
            extent = int(s[u, NEED])
        delta, last = self.delta(u, axis), int(s[u, LAST + axis])
        lead, low = int(s[u, LEAD + axis]), int(s[u, LOW + axis])
        if s[u, WHOLE] and u not in self.members:
            return Axis(extent, delta, 0, 0, extent, 0, 0, 0, 1)
        if axis == 1 and self.tile[1] == 0:
            return Axis(extent, extent, 0, 0, extent, 0, 0, 0, 1)
        wide, left, _ = spans(delta, lead, low, last, extent)
        if s[u, WHOLE]:
            wide, left = extent, 0
        return Axis(extent, delta, lead, low, wide, left, first_round(delta, lead), last // delta, updates)

    def delta(self, u: int, axis: int) -> int:
        if self.trace[u, WHOLE] and u not in self.members:
            return int(self.net.sources[u, EXTENT + axis])
        if axis == 0:
            return int(row_step(self.trace, u, self.tile[0]))
        return int(self.trace[u, DELTA]) * self.tile[1]

    def regions(self) -> dict[int, tuple[Region, Region | None]]:
        """What is whole first, then the other regions of each stage from the same address on."""
        found: dict[int, tuple[Region, Region | None]] = {}
        for u in self.order:
            if self.trace[u, WHOLE]:
                found[u] = self.place(u)
        whole = len(self.manager.held)
        for stage in range(self.stages):
            self.manager.release_to(whole)
            for u in self.order:
                if not self.trace[u, WHOLE] and self.stage(u) == stage:
                    found[u] = self.place(u)
        return found

    def place(self, u: int) -> tuple[Region, Region | None]:
        main, side = region(self.net.sources, self.trace, u, np.array(self.tile, dtype=np.int64), 1, int(self.narrow))
        pixel, name, room = int(self.net.sources[u, PIXEL_BYTES]), self.name(u), self.room(u)
        if room is not None:
            main = self.rows(u).held * (int(self.net.sources[u, EXTENT + 1]) + room.columns)
        first = self.manager.region(f"MAIN of {name}", main * pixel)
        return first, self.manager.region(f"SIDE of {name}", side * pixel) if side else None

    def updates(self) -> dict[int, int]:
        """Updates along columns per elementary operation: the smallest numbers with which all keep step."""
        if self.tile[1] == 0:
            return dict.fromkeys(self.order, 1)
        paces = {u: self.pace(u) for u in self.order}
        steps: dict[tuple[int, int], Fraction] = {}
        for u, pace in paces.items():
            key = self.clock(u)
            steps[key] = _common_multiple(steps.get(key, pace), pace)
        return {u: int(steps[self.clock(u)] / pace) for u, pace in paces.items()}

    def clock(self, u: int) -> tuple[int, int]:
        """What is the same for sources that keep step."""
        if self.trace[u, WHOLE] and u not in self.members:
            return -1, u
        return self.stage(u), int(self.net.sources[u, COMPONENT])

    def pace(self, u: int) -> Fraction:
        """The update of a source in units that are the same for all that keep step with it."""
        return Fraction(self.delta(u, 1), int(self.net.sources[u, RATE + 1]))

    def stage(self, u: int) -> int:
        return self.stages - 1 - int(self.trace[u, DEPTH])

    def number(self, u: int) -> int:
        return u if u < len(self.graph) else len(self.graph) - 1 - u

    def name(self, u: int) -> str:
        return self.graph.source(self.number(u)).name


def _common_multiple(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(lcm(a.numerator, b.numerator), gcd(a.denominator, b.denominator))
