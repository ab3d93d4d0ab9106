"""How a group runs tile by tile: what is held where, and the order of updates (Cocco, section 3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import lcm
from typing import NamedTuple

from ...algebra.allocation import BumpAllocator, require_bytes
from ...errors import InfeasibleError


@dataclass(frozen=True)
class Region:
    """Bytes `start` up to `end` (exclusive) of the buffer."""

    name: str
    start: int
    end: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.end - self.start


@dataclass
class RegionManager(BumpAllocator):
    """Regions one after another; at most `depth` are held at a time, in `capacity_bytes`."""

    depth: int = field(kw_only=True)
    capacity_bytes: int = field(kw_only=True)
    held: list[Region] = field(default_factory=list[Region])
    peak_bytes: int = 0

    def region(self, name: str, size_bytes: int) -> Region:
        """A region of at least `size_bytes`; `InfeasibleError` where the table or the buffer is full."""
        if len(self.held) == self.depth:
            lever = f"use a region manager of at least {self.depth + 1} regions, or smaller groups"
            raise InfeasibleError("region manager", self.depth + 1, self.depth, "regions", lever, name)
        region = Region(name, self.take(size_bytes), self.end)
        require_group_bytes("global buffer", self.end, self.capacity_bytes, name)
        self.held.append(region)
        self.peak_bytes = max(self.peak_bytes, self.end)
        return region

    def release_to(self, count: int) -> None:
        """Give back all regions but the first `count`."""
        del self.held[count:]
        self.end = self.held[-1].end if self.held else 0


def require_group_bytes(memory: str, demand: int, capacity: int, subject: str) -> None:
    """`InfeasibleError` about a part of a group, or a whole group, that does not fit."""
    lever = f"use a {memory} of at least {demand} bytes, or smaller groups"
    require_bytes(memory, demand, capacity, subject, lever)


@dataclass(frozen=True)
class Axis:
    """A source along rows or columns; `extent` leaves out the last rows where nobody reads them.

    Positions from `-before` to `extent + after` (exclusive) are held: with those outside of the map reads need no cut.
    Round i makes what is not made yet of the positions up to `i * delta + delta + lead` and needs those from
    `i * delta + low` on; MAIN holds at most `held` of them, `kept` at most are left by one round to the next.  Rounds
    `first` to `last` do something; `updates` of them belong to one elementary operation.
    """

    extent: int
    delta: int
    lead: int
    low: int
    held: int
    kept: int
    first: int
    last: int
    updates: int
    before: int = 0
    after: int = 0

    def window(self, index: int) -> range:
        """Positions that are needed in round `index` or made by it."""
        start = max(index * self.delta + self.low, -self.before)
        return range(start, max(start, self._end(index)))

    def fresh(self, index: int) -> range:
        """Positions of the window that round `index` makes."""
        window = self.window(index)
        made = self._end(index - 1) if index > self.first else -self.before
        return range(min(max(window.start, made), window.stop), window.stop)

    def _end(self, index: int) -> int:
        return min((index + 1) * self.delta + self.lead, self.extent + self.after)


class RingPadding(NamedTuple):
    """Rows held before and after those of a map, and columns beside its own, for reads out of its bounds."""

    before: int
    after: int
    columns: int


@dataclass(frozen=True)
class Held:
    """A layer of the group, or what it reads from outside (`number` as the producer of an edge), in the buffer.

    `stage` counts from the first to run; `whole`: all of it stays until the group is done.  `leaves`: it goes to DRAM.
    MAIN holds `rows.held` by `columns.held` positions; SIDE is a queue of `rows.kept` rows of the other columns.
    """

    number: int
    name: str
    stage: int
    whole: bool
    leaves: bool
    rows: Axis
    columns: Axis
    main: Region
    side: Region | None


class Update(NamedTuple):
    """One update of a source, in a round of its rows and one of its columns."""

    source: Held
    row: int
    column: int

    @property
    def rows(self) -> range:
        """Rows that are made, all columns of the window being made or there; see `columns`."""
        return self.source.rows.fresh(self.row)

    @property
    def columns(self) -> range:
        """Columns that are made."""
        return self.source.columns.fresh(self.column)


@dataclass(frozen=True)
class Scheme:
    """The execution of a group; `sources` are what it reads from outside, then its layers, in topological order."""

    members: tuple[int, ...]
    tile: tuple[int, int]
    stages: int
    sources: tuple[Held, ...]
    demand_bytes: int

    @cached_property
    def by_number(self) -> dict[int, Held]:
        """Sources by their number."""
        return {source.number: source for source in self.sources}

    def updates(self) -> Iterator[Update]:
        """All updates in order: stages; in each its rows of tiles; in each its elementary operations along columns.

        A stage begins with what it loads as a whole.
        """
        for stage in range(self.stages):
            sources = [source for source in self.sources if source.stage == stage]
            yield from (Update(source, 0, 0) for source in sources if self.at_once(source))
            moving = [source for source in sources if not self.at_once(source)]
            for row in _rounds([source.rows for source in moving]):
                yield from _row([source for source in moving if source.rows.first <= row <= source.rows.last], row)

    def at_once(self, source: Held) -> bool:
        """Whether the source is loaded by one update."""
        return source.whole and source.number not in self.members


def _rounds(axes: Sequence[Axis]) -> range:
    """Elementary operations along an axis, counted as the rounds of an axis with one update."""
    first = min(axis.first // axis.updates for axis in axes)
    return range(first, 1 + max(axis.last // axis.updates for axis in axes))


def _row(sources: Sequence[Held], row: int) -> Iterator[Update]:
    if not sources:
        return
    ticks = lcm(*(source.columns.updates for source in sources))
    for operation in _rounds([source.columns for source in sources]):
        for tick in range(ticks):
            for source in sources:
                axis, period = source.columns, ticks // source.columns.updates
                column = operation * axis.updates + tick // period
                if tick % period == 0 and axis.first <= column <= axis.last:
                    yield Update(source, row, column)
