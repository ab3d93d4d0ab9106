"""A mesh of wormhole routers, flit by flit and object by object: a second witness for the compiled network."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.costs.noc import Mesh

from .traffic import Packet

Port = str  # "E", "W", "S", "N", "L"
OPPOSITE = {"E": "W", "W": "E", "S": "N", "N": "S"}
OFFSET = {"E": (1, 0), "W": (-1, 0), "S": (0, 1), "N": (0, -1)}


@dataclass
class Flit:
    packet: int
    number: int
    last: bool
    since: int  # may move on from this cycle


@dataclass
class Router:
    queues: dict[Port, deque[Flit]] = field(default_factory=lambda: {port: deque[Flit]() for port in "EWSN"})
    owners: dict[Port, int] = field(default_factory=dict[Port, int])


def steps(mesh: Mesh, here: tuple[int, int], there: tuple[int, int]) -> list[tuple[tuple[int, int], Port]]:
    """The way along X, then along Y."""
    found: list[tuple[tuple[int, int], Port]] = []
    while here != there:
        if here[0] != there[0]:
            port = "E" if there[0] > here[0] else "W"
        else:
            port = "S" if there[1] > here[1] else "N"
        found.append((here, port))
        here = here[0] + OFFSET[port][0], here[1] + OFFSET[port][1]
    return [*found, (there, "L")]


class Reference:
    def __init__(self, mesh: Mesh, packets: Sequence[Packet]) -> None:
        self.mesh, self.packets = mesh, packets
        self.routers = {(x, y): Router() for x in range(mesh.columns) for y in range(mesh.rows)}
        self.outs: list[dict[tuple[int, int], set[Port]]] = []
        self.ins: list[dict[tuple[int, int], set[Port]]] = []
        self.waiting: dict[tuple[int, int], deque[Flit]] = {place: deque() for place in self.routers}
        self.granted: dict[tuple[tuple[int, int], Port], set[int]] = {}
        for number, packet in enumerate(packets):
            self.add(number, packet)
        self.ends = [len(packet.destinations) for packet in packets]
        self.done = [-1] * len(packets)
        self.hops = 0

    def place(self, node: int) -> tuple[int, int]:
        return node % self.mesh.columns, node // self.mesh.columns

    def add(self, number: int, packet: Packet) -> None:
        outs: dict[tuple[int, int], set[Port]] = {}
        ins: dict[tuple[int, int], set[Port]] = {}
        for source in packet.sources:
            for destination in packet.destinations:
                come = "L"
                for place, port in steps(self.mesh, self.place(source), self.place(destination)):
                    outs.setdefault(place, set()).add(port)
                    ins.setdefault(place, set()).add(come)
                    come = OPPOSITE.get(port, "")
            last = packet.flits - 1
            flits = (Flit(number, i, i == last, packet.release) for i in range(packet.flits))
            self.waiting[self.place(source)].extend(flits)
        self.outs.append(outs)
        self.ins.append(ins if len(packet.sources) > 1 else {})

    def first(self, place: tuple[int, int], port: Port, now: int) -> Flit | None:
        queue = self.waiting[place] if port == "L" else self.routers[place].queues[port]
        return queue[0] if queue and queue[0].since <= now else None

    def is_next_sum(self, number: int, place: tuple[int, int], port: Port) -> bool:
        earlier = (
            other
            for other in range(number)
            if self.ins[other]
            and port in self.outs[other].get(place, ())
            and other not in self.granted.get((place, port), ())
        )
        return next(earlier, None) is None

    def can(
        self, flit: Flit, place: tuple[int, int], free: set[Port], rooms: dict[tuple[tuple[int, int], Port], int]
    ) -> bool:
        router = self.routers[place]
        for port in self.outs[flit.packet][place]:
            owner = router.owners.get(port)
            if port not in free or (owner is not None and owner != flit.packet):
                return False
            if owner is None and flit.number > 0:
                return False
            if self.ins[flit.packet] and flit.number == 0 and not self.is_next_sum(flit.packet, place, port):
                return False
            if port != "L":
                other = place[0] + OFFSET[port][0], place[1] + OFFSET[port][1]
                if rooms[other, OPPOSITE[port]] >= self.mesh.queue_flits:
                    return False
        return True

    def cycle(self, now: int) -> bool:
        """Whether anything moved."""
        rooms = {(p, port): len(r.queues[port]) for p, r in self.routers.items() for port in "EWSN"}
        moves: list[tuple[Flit, tuple[int, int], list[Port]]] = []
        for place in self.routers:
            heads = {port: flit for port in "EWSNL" if (flit := self.first(place, port, now)) is not None}
            free: set[Port] = set("EWSNL")
            for number in sorted({flit.packet for flit in heads.values()}):
                ports = [port for port, flit in heads.items() if flit.packet == number]
                wanted = self.ins[number].get(place, set(ports))
                flit = heads[ports[0]]
                if set(ports) != wanted or len({heads[port].number for port in ports}) > 1:
                    continue
                if self.can(flit, place, free, rooms):
                    free -= self.outs[number][place]
                    moves.append((flit, place, ports))
        for flit, place, ports in moves:
            self.move(flit, place, ports, now)
        return bool(moves)

    def move(self, flit: Flit, place: tuple[int, int], ports: list[Port], now: int) -> None:
        router = self.routers[place]
        for port in ports:
            (self.waiting[place] if port == "L" else router.queues[port]).popleft()
        for port in self.outs[flit.packet][place]:
            if flit.last:
                router.owners.pop(port, None)
            else:
                router.owners[port] = flit.packet
            if self.ins[flit.packet] and flit.number == 0:
                self.granted.setdefault((place, port), set()).add(flit.packet)
            if port == "L":
                if flit.last:
                    self.ends[flit.packet] -= 1
                    if self.ends[flit.packet] == 0:
                        self.done[flit.packet] = now + 1
                continue
            other = place[0] + OFFSET[port][0], place[1] + OFFSET[port][1]
            moved = Flit(flit.packet, flit.number, flit.last, now + self.mesh.router_cycles)
            self.routers[other].queues[OPPOSITE[port]].append(moved)
            self.hops += 1


def reference(mesh: Mesh, packets: Sequence[Packet]) -> tuple[list[int], int]:
    """When each packet has come to all its destinations, and the links passed; fails where packets block each other."""
    found = Reference(mesh, packets)
    now, still = 0, 0
    latest = max((packet.release for packet in packets), default=0)
    while min(found.done, default=0) < 0:
        still = 0 if found.cycle(now) else still + 1
        assert still <= mesh.router_cycles + 1 or now <= latest, "packets wait for each other"
        now += 1
    return found.done, found.hops
