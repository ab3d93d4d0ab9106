"""Packets that are asked for at given cycles: the network alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from tilewright.algebra.element import Ints
from tilewright.costs.noc.mesh import Mesh, Routes
from tilewright.costs.noc.network import GONE, HOPS, IN_FLIGHT, MOVED, NOBODY, Net, cycle, make_net
from tilewright.errors import TilewrightError

Function = TypeVar("Function", bound=Callable[..., Any])


def uncounted(function: Function) -> Function:
    """Compiled without reference counts, by each process: in a bench this module has another name than in a test."""
    options: dict[str, Any] = {"_nrt": False}
    return cast(Function, njit(**options)(function))


@dataclass(frozen=True)
class Packet:
    """`flits` from nodes to nodes, which may go from cycle `release` on.

    One of both is one node: several destinations get copies, from several sources comes the sum.  All that have several
    destinations come from one node, and all sums go to one, which may be the same.  Each node sends in the order of the
    packets.
    """

    sources: tuple[int, ...]
    destinations: tuple[int, ...]
    flits: int
    release: int = 0


@dataclass(frozen=True)
class TrafficRun:
    """The cycle at which each packet has come to all its destinations, and the links that all flits passed."""

    done: tuple[int, ...]
    hops: int

    @property
    def cycles(self) -> int:
        """When all have come."""
        return max(self.done, default=0)


def run_traffic(mesh: Mesh, packets: Sequence[Packet]) -> TrafficRun:
    """Packets until all have come; `TilewrightError` (kind `noc`) for packets that may block each other for good."""
    ends = {(packet.sources, packet.destinations): packet for packet in packets}
    _check(mesh, packets, list(ends.values()))
    routes = Routes(mesh)
    route_of = {pair: _route(routes, packet) for pair, packet in ends.items()}
    numbers = [route_of[packet.sources, packet.destinations] for packet in packets]
    senders: list[list[int]] = [[] for _ in range(mesh.nodes)]
    for number, packet in enumerate(packets):
        for node in packet.sources if len(packet.sources) == 1 else dict.fromkeys(packet.sources):
            senders[node].append(number)
    sources = [np.array(each, np.int64) for each in senders]
    flits = np.array([packet.flits for packet in packets], np.int64)
    net = make_net(mesh, routes.table(), np.array(numbers, np.int64), flits, sources)
    release = np.array([packet.release for packet in packets], np.int64)
    if packets and not run_released(net, release):
        raise TilewrightError("noc", "mesh", "packets that come", "packets that wait for each other", "report it")
    return TrafficRun(tuple(net.done.tolist()), int(net.counts[HOPS]))


def _route(routes: Routes, packet: Packet) -> int:
    source, *others = packet.sources
    return (
        routes.gather(packet.sources, packet.destinations[0]) if others else routes.spread(source, packet.destinations)
    )


def _check(mesh: Mesh, packets: Sequence[Packet], different: Sequence[Packet]) -> None:
    """Flits of all packets, and the ends of those with `different` ones."""
    copies = {packet.sources for packet in different if len(packet.destinations) > 1}
    sums = {packet.destinations for packet in different if len(packet.sources) > 1}
    for packet in different:
        ends = packet.sources + packet.destinations
        single = min(len(packet.sources), len(packet.destinations)) == 1
        if not single or min(ends) < 0 or max(ends) >= mesh.nodes:
            raise TilewrightError("noc", "packet", f"one node to several of {mesh.nodes}, or back", str(packet))
    for packet in packets:
        if packet.flits < 1:
            raise TilewrightError("noc", "packet", "at least a flit", str(packet))
    if len(copies) > 1 or len(sums) > 1 or (copies and sums and copies != sums):
        found = f"copies from {len(copies)} nodes, sums to {len(sums)}"
        raise TilewrightError("noc", "packets", "all copies from one node, which all sums go to", found)


@uncounted
def run_released(net: Net, release: Ints) -> bool:
    """Cycles until all packets have come; False if they cannot."""
    now, waits, coming = 0, 0, 0
    total = len(net.sources)
    while True:
        if coming <= now:
            coming = _allow(net, release, now)
        if net.counts[GONE] == total and net.counts[IN_FLIGHT] == 0:
            return True
        cycle(net, now)
        waits = 0 if net.counts[MOVED] else waits + 1
        if net.counts[MOVED] == 0 and net.counts[IN_FLIGHT] == 0 and coming < NOBODY:
            now = max(now, coming - 1)
            waits = 0
        if waits > net.delay + 1 and coming == NOBODY:
            return False
        now += 1


@uncounted
def _allow(net: Net, release: Ints, now: int) -> int:
    """Lets nodes send what may go from this cycle on; the cycle of the next that may, `NOBODY` if there is none."""
    coming = NOBODY
    for node in range(len(net.sent)):
        end = net.first[node + 1] - net.first[node]
        while net.allowed[node] < end:
            at = int(release[net.sources[net.first[node] + net.allowed[node]]])
            if at > now:
                coming = min(coming, at)
                break
            net.allowed[node] += 1
            net.awake[node] = min(net.awake[node], now)
    return coming
