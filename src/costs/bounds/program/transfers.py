"""The least time in which bytes cross the links between memories off chip and on chip."""

from dataclasses import dataclass
from math import ceil

from ....machine import Link, Machine


@dataclass(frozen=True)
class Way:
    """An instruction that loads (`into` the chip) or stores: what it occupies alone, and what it moves at most."""

    unit: str
    channel: str
    into: bool
    bytes_per_cycle: float
    latency_cycles: int
    most_bytes: int
    energy_pj_per_byte: float  # at the end on chip


class Transfers:
    """Loads and stores of a machine; where instructions reach memories off chip in another way, time is not known."""

    def __init__(self, machine: Machine) -> None:
        memories = machine.memory_by_name
        links = {link.name: link for link in machine.links}
        self.ways: list[Way] = []
        self.timed = True
        for mnemonic in machine.mnemonics:
            link = links.get(mnemonic.node)
            outside = {operand.memory for operand in mnemonic.operands if memories[operand.memory].offchip}
            if mnemonic.action is not None and mnemonic.action.kind == "copy" and link is not None:
                outside |= {end for end in (link.src, link.dst) if memories[end].offchip}
            if not outside:
                continue
            if link is None or memories[link.src].offchip == memories[link.dst].offchip:
                self.timed = False
                continue
            self.ways.append(_way(mnemonic.unit, link, machine))

    def cycles(self, loads: int, stores: int) -> int:
        """Until so many bytes came in and went out: a unit and a channel each move one thing at a time."""
        if not self.timed:
            return 0
        found = 0
        for by in ("unit", "channel"):
            found = max(found, self._moved(loads, True, by), self._moved(stores, False, by))
            if len({getattr(way, by) for way in self.ways}) == 1:
                found = max(found, self._moved(loads, True, by) + self._moved(stores, False, by))
            else:
                found = max(found, ceil((loads + stores) / max(self._rate(self.ways, by), 1e-9)))
        return found

    @property
    def load_rate(self) -> float:
        """Bytes that come in a cycle at most; 0 where time is not known."""
        ways = [way for way in self.ways if way.into]
        return min(self._rate(ways, by) for by in ("unit", "channel")) if self.timed and ways else 0.0

    def energy_pj(self, loads: int, stores: int) -> float:
        """Of the memories on chip, which take what comes in and give what goes out."""
        taken = min((way.energy_pj_per_byte for way in self.ways if way.into), default=0.0)
        given = min((way.energy_pj_per_byte for way in self.ways if not way.into), default=0.0)
        return loads * taken + stores * given if self.timed else 0.0

    def _moved(self, size: int, into: bool, by: str) -> int:
        ways = [way for way in self.ways if way.into == into]
        if not size or not ways:
            return 0
        latency, most = min(way.latency_cycles for way in ways), max(way.most_bytes for way in ways)
        count = ceil(size / most) if len({getattr(way, by) for way in ways}) == 1 else 1
        return ceil(size / self._rate(ways, by)) + latency * count

    def _rate(self, ways: list[Way], by: str) -> float:
        """Bytes a cycle, all units or channels together."""
        fastest: dict[str, float] = {}
        for way in ways:
            key = getattr(way, by)
            fastest[key] = max(fastest.get(key, 0.0), way.bytes_per_cycle)
        return sum(fastest.values())


def _way(unit: str, link: Link, machine: Machine) -> Way:
    memories = machine.memory_by_name
    into = memories[link.src].offchip
    near = memories[link.dst if into else link.src]
    energy = near.write_energy_pj_per_byte if into else near.read_energy_pj_per_byte
    bandwidth, latency = link.bandwidth_bytes_per_cycle, link.latency_cycles
    return Way(unit, link.channel or link.name, into, bandwidth, latency, near.capacity_bytes, energy)
