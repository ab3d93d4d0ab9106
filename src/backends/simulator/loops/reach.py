"""The bytes off chip that a group's transfers touch, and what that says about the order of groups."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ....machine import Machine
from .chip import span
from .groups import ArrayGroup, Group, Transfer

MOST = 2048
"""Stores that are told apart; older ones become one."""


def reach(machine: Machine, group: Group) -> int:
    """One past the highest byte of DRAM that a group's transfers touch; traps what lies below 0."""
    top = 0
    for transfer, low, high in spans(machine, group):
        if low < 0:
            raise transfer.step.trap("range", "addresses of at least 0", f"{low}")
        top = max(top, high)
    return top


def spans(machine: Machine, group: Group) -> Iterator[tuple[Transfer, int, int]]:
    """Each transfer of a group with its first byte of DRAM and one past its last; not those of programs."""
    unit = next(unit for unit in machine.units if unit.name == group.unit)
    granules = {name: int(word) for name, word in unit.engine.granules} if unit.engine else {}
    transfers = (
        group.transfers if isinstance(group, ArrayGroup) else [e for e in group.events if isinstance(e, Transfer)]
    )
    for transfer in transfers:
        if transfer.program:
            continue
        walk = list(transfer.walk)
        if isinstance(group, ArrayGroup):
            side = int(transfer.store)
            walk = [(n, group.strides.get((transfer.memory, side, loop), 0)) for loop, n in group.tile]
        low, high = span([*transfer.loops, *walk])
        size = transfer.size * granules.get(transfer.memory, 1)
        yield transfer, transfer.base + low, transfer.base + high + size


@dataclass
class Written:
    """What groups have stored: ranges of DRAM, and the cycle from which they may be read."""

    ranges: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])

    def add(self, low: int, high: int, cycle: int) -> None:
        """Another store."""
        self.ranges.append((low, high, cycle))
        if len(self.ranges) > MOST:
            old, self.ranges = self.ranges[: MOST // 2], self.ranges[MOST // 2 :]
            self.ranges.insert(0, (min(r[0] for r in old), max(r[1] for r in old), max(r[2] for r in old)))

    def ready(self, low: int, high: int) -> int:
        """The cycle from which a range may be read."""
        return max((cycle for first, last, cycle in self.ranges if first < high and low < last), default=0)
