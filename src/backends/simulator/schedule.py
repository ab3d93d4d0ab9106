"""When instructions run: in-order units that work at the same time and wait for counters (control model `queues`)."""

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .plan import Plan
from .stream import Stream
from .traps import Trap

EndCycle = Callable[[Plan, Sequence[int], int], int]
"""When an instruction is done, from its plan, the addresses of its operands, and its start."""


@dataclass(frozen=True)
class Issue:
    """An instruction with the cycles at which it starts and completes."""

    index: int
    start_cycle: int
    end_cycle: int


def run_queues(stream: Stream, timed: bool = True, ends: EndCycle | None = None) -> Iterator[Issue]:
    """All instructions in the order in which they start; equal starts in program order.

    An instruction is dispatched in program order as soon as its unit's queue has room; it starts when it is the first
    of its unit, the one before it has completed, the counter of each tag that it waits for has reached its count, and
    its link's channel or compute node is free.  On completion it adds 1 to the counter of its own tag.  It takes the
    cycles of its plan, or is done when `ends` says; with `timed` False it takes 0 cycles.  Raises `Trap` (`deadlock`)
    when nothing can start any more.
    """
    state = _Queues(stream, timed, ends)
    for _ in range(len(stream)):
        issue = state.next()
        if issue is None:
            raise state.deadlock()
        state.commit(issue)
        yield issue


class _Queues:
    def __init__(self, stream: Stream, timed: bool, ends: EndCycle | None) -> None:
        self.stream = stream
        self.timed = timed
        self.ends = ends
        self.queues = stream.queues()
        self.depths = [unit.depth for unit in stream.machine.units]
        self.heads = [0] * len(self.queues)
        self.unit_free = [0] * len(self.queues)
        self.starts: list[list[int]] = [[] for _ in self.queues]
        self.resource_free: dict[str, int] = {}
        self.signalled: dict[int, list[int]] = {}  # tag -> cycles of its signals, increasing
        self.dispatched = 0  # instructions, in program order
        self.dispatch_cycle = [0] * len(stream)
        self.dispatch()

    def dispatch(self) -> None:
        """Moves instructions into queues until one has no room."""
        stream, cycles = self.stream, self.dispatch_cycle
        while self.dispatched < len(stream):
            index = self.dispatched
            unit = stream.units[index]
            cycle = cycles[index - 1] if index else 0
            leaves = stream.positions[index] - self.depths[unit]  # the one that must have left the queue
            if self.depths[unit] and leaves >= 0:
                if leaves >= len(self.starts[unit]):
                    return
                cycle = max(cycle, self.starts[unit][leaves])
            cycles[index] = cycle
            self.dispatched += 1

    def earliest(self, index: int, unit: int) -> int | None:
        """The cycle at which the first of a unit's queue can start; None while that is not known."""
        if index >= self.dispatched:
            return None
        cycle = max(self.unit_free[unit], self.dispatch_cycle[index])
        for tag, count in self.stream.waits[index]:
            times = self.signalled.get(tag, ())
            if len(times) < count:
                return None
            cycle = max(cycle, times[count - 1])
        for resource in self.stream.plans[index].resources:
            cycle = max(cycle, self.resource_free.get(resource, 0))
        return cycle

    def next(self) -> Issue | None:
        """The instruction that starts first."""
        best: tuple[int, int] | None = None
        for unit, queue in enumerate(self.queues):
            if self.heads[unit] < len(queue):
                index = queue[self.heads[unit]]
                cycle = self.earliest(index, unit)
                if cycle is not None and (best is None or (cycle, index) < best):
                    best = (cycle, index)
        if best is None:
            return None
        start, index = best
        if self.timed and self.ends is not None:
            return Issue(index, start, self.ends(self.stream.plans[index], self.stream.addresses[index], start))
        return Issue(index, start, start + (self.stream.plans[index].cycles if self.timed else 0))

    def commit(self, issue: Issue) -> None:
        """Occupies the unit and what the instruction uses, and signals its tag."""
        unit = self.stream.units[issue.index]
        self.heads[unit] += 1
        self.unit_free[unit] = issue.end_cycle
        self.starts[unit].append(issue.start_cycle)
        for resource in self.stream.plans[issue.index].resources:
            self.resource_free[resource] = issue.end_cycle
        tag = self.stream.signals[issue.index]
        if tag:
            insort(self.signalled.setdefault(tag, []), issue.end_cycle)
        self.dispatch()

    def deadlock(self) -> Trap:
        """The first instruction in program order that waits for what never comes."""
        heads = [queue[head] for queue, head in zip(self.queues, self.heads, strict=True) if head < len(queue)]
        index = min(heads)
        for tag, count in self.stream.waits[index]:
            reached = len(self.signalled.get(tag, ()))
            if reached < count:
                expected, found = f"counter {tag} to reach {count}", f"{reached} when nothing could run any more"
                return Trap("deadlock", index, self.stream.text(index), expected, found)
        return Trap("deadlock", index, self.stream.text(index), "room in the queues", "none")
