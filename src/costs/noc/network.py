"""One cycle of all routers, compiled: wormholes, copies where a route divides, sums where routes meet.

Within a cycle a router takes the packets whose flits are first in its queues by their numbers, the lowest first.  A
packet moves on if all ways out of its route are free, or its own, and their queues have room; a sum also waits for its
flit from each way in.  A way out belongs to a packet from its first flit to its last.  Sums take a way out in the order
of their numbers, so that no two wait for each other at two routers.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra.element import Ints
from ..compiled import bare, compile_with
from .mesh import IN, LOCAL, PORTS, Mesh

Masks = NDArray[np.int16]

joined = compile_with(_nrt=False, inline="always")
"""Part of the caller's code: a call would take longer than what it does, as it passes all arrays on."""

FREE = -1
NOBODY = 1 << 62
PORT_BITS = 3
"""Of a number that is a packet, then its way in."""

PACKET, FLIT, READY, MASK = range(4)
"""Of a place in a queue: packet, flit, the cycle from which it may move on, and the packet's route in this router."""

PACKETS, FLITS, MASKS, CHOSEN = (PORTS * number for number in range(4))
"""Where a router's choices begin in `heads`: of each way in packet, flit and route, of each way out who takes it."""

MOVED, HOPS, IN_FLIGHT, GONE = range(4)
"""What is counted: routers that passed on a flit in this cycle, links passed by all flits, flits in queues, and packets
that have left their nodes, a sum once for each."""


class Net(NamedTuple):
    """Packets p, routers r, ports o, nodes n.
    `route`, `flits` and `left` (ends that have not come yet) are of each packet, `done` the cycle at which the last
    came (-1: not yet).  Node n sends `sources[first[n]:first[n + 1]]` in order: `sent` of them are gone, the next may
    go up to the `allowed`-th, and `progress` flits of it are gone.  Sums that use way o of router r take it in the
    order `order[begin[r, o]:begin[r, o + 1]]`, and `turn[r, o]` of them had it.  Queues are rings of places
    (`PACKET`, ...); `state` has what else there is of a router (`USED`, ...).  `arrived` counts packets that came to a
    node.  `heads` is room for a router's choices, `awake` the cycle from which it may have some: until then nothing
    that it waits for changes; `went` are the routers that passed on a flit in this cycle.
    """

    columns: int
    room: int
    delay: int
    routes: Masks
    route: Ints
    flits: Ints
    left: Ints
    done: Ints
    first: Ints
    sources: Ints
    sent: Ints
    allowed: Ints
    progress: Ints
    begin: Ints
    order: Ints
    turn: Ints
    state: Ints
    queue: Ints
    awake: Ints
    went: Ints
    arrived: Ints
    heads: Ints
    counts: Ints


USED, FRONT, OWNER, ROUTE, FULL, FREED, NEXT, SENDING, STATE = 0, 4, 8, 13, 18, 19, 20, 21, 24
"""Where a router's state has, of each way in, places in use and the first of them; of each way out, the packet that has
it; of each way in, the route of the packet that came last; bits of the ways in that have flits, and of those that one
has left in this cycle; which of the node's packets `SENDING` is.  `STATE` numbers are three lines of a cache."""


@joined
def neighbour(net: Net, router: int, way: int) -> int:
    if way == 0:
        return router + 1
    if way == 1:
        return router - 1
    return router + net.columns if way == 2 else router - net.columns


@joined
def _head(net: Net, router: int, port: int, now: int) -> int:
    """The packet that is first at a way in, `NOBODY` if none may move on; its flit and route go to `heads`."""
    if port == LOCAL:
        if net.state[router, NEXT] != net.sent[router]:
            packet = net.sources[net.first[router] + net.sent[router]]
            net.state[router, NEXT] = net.sent[router]
            net.state[router, SENDING] = packet
            net.state[router, ROUTE + port] = net.routes[net.route[packet], router]
        net.heads[FLITS + port] = net.progress[router]
        net.heads[MASKS + port] = net.state[router, ROUTE + port]
        return int(net.state[router, SENDING])
    first = net.queue[router, port, net.state[router, FRONT + port]]
    if first[READY] > now:
        return NOBODY
    net.heads[FLITS + port] = first[FLIT]
    net.heads[MASKS + port] = first[MASK]
    return first[PACKET]


@joined
def _may_pass(net: Net, router: int, port: int, mask: int, taken: int, sums: bool) -> bool:
    """Whether the flit at a way in can go out by all ways of its route, and those of its sum are there."""
    packet, flit = net.heads[port], net.heads[FLITS + port]
    for other in range(PORTS if sums else 0):
        if mask >> (IN + other) & 1 and (net.heads[other] != packet or net.heads[FLITS + other] != flit):
            return False
    for way in range(PORTS):
        if not mask >> way & 1:
            continue
        owner = net.state[router, OWNER + way]
        if taken >> way & 1 or (owner != packet and (owner != FREE or flit != 0)):
            return False
        if sums and flit == 0:
            turn = net.begin[router, way] + net.turn[router, way]
            if net.order[turn] != packet:
                return False
        if way != LOCAL and net.state[neighbour(net, router, way), USED + (way ^ 1)] >= net.room:
            return False
    return True


@joined
def _pop(net: Net, router: int, port: int, last: bool) -> None:
    if port == LOCAL:
        net.progress[router] += 1
        if last:
            net.progress[router] = 0
            net.sent[router] += 1
            net.counts[GONE] += 1
        return
    after = net.state[router, FRONT + port] + 1
    net.state[router, FRONT + port] = after if after < net.room else 0
    net.state[router, FREED] |= 1 << port
    net.counts[IN_FLIGHT] -= 1


@joined
def _push(net: Net, router: int, way: int, packet: int, flit: int, last: bool, now: int) -> None:
    if way == LOCAL:
        if last:
            net.arrived[router] += 1
            net.left[packet] -= 1
            if net.left[packet] == 0:
                net.done[packet] = now + 1
        return
    other, port = neighbour(net, router, way), way ^ 1
    at = net.state[other, FRONT + port] + net.state[other, USED + port] - (net.state[other, FREED] >> port & 1)
    at = at if at < net.room else at - net.room
    new = net.queue[other, port, at]
    new[PACKET], new[FLIT], new[READY] = packet, flit, now + net.delay
    if flit == 0:
        net.state[other, ROUTE + port] = net.routes[net.route[packet], other]
    new[MASK] = net.state[other, ROUTE + port]
    net.state[other, USED + port] += 1
    net.state[other, FULL] |= 1 << port
    net.awake[other] = min(net.awake[other], now + net.delay)
    net.counts[IN_FLIGHT] += 1
    net.counts[HOPS] += 1


@joined
def _pass_on(net: Net, router: int, port: int, mask: int, sums: bool, now: int) -> None:
    packet, flit = net.heads[port], net.heads[FLITS + port]
    last = flit == net.flits[packet] - 1
    for other in range(PORTS):
        if other == port or (sums and mask >> (IN + other) & 1):
            _pop(net, router, other, last)
            net.heads[other] = NOBODY
    for way in range(PORTS):
        if mask >> way & 1:
            net.state[router, OWNER + way] = FREE if last else packet
            if sums and flit == 0:
                net.turn[router, way] += 1
            _push(net, router, way, packet, flit, last, now)


@joined
def _way(mask: int) -> int:
    """The way of a mask of one."""
    if mask < 1 << 2:
        return mask >> 1
    return 2 if mask == 1 << 2 else 3 if mask == 1 << 3 else LOCAL


@joined
def _one_by_one(net: Net, router: int, now: int) -> bool:
    """Whether a flit has moved on, where the route of each that may has one way out: of each way the lowest packet."""
    for way in range(PORTS):
        net.heads[CHOSEN + way] = NOBODY
    for port in range(PORTS):
        packet = net.heads[port]
        if packet == NOBODY:
            continue
        way = _way(net.heads[MASKS + port])
        owner = net.state[router, OWNER + way]
        if owner == packet or (owner == FREE and net.heads[FLITS + port] == 0):
            net.heads[CHOSEN + way] = min(net.heads[CHOSEN + way], packet << PORT_BITS | port)
    moved = False
    for way in range(PORTS):
        chosen = net.heads[CHOSEN + way]
        if chosen == NOBODY:
            continue
        if way != LOCAL and net.state[neighbour(net, router, way), USED + (way ^ 1)] >= net.room:
            continue
        port, packet = chosen & (1 << PORT_BITS) - 1, chosen >> PORT_BITS
        flit = int(net.heads[FLITS + port])
        last = flit == net.flits[packet] - 1
        _pop(net, router, port, last)
        net.state[router, OWNER + way] = FREE if last else packet
        _push(net, router, way, packet, flit, last, now)
        moved = True
    return moved


@joined
def _router(net: Net, router: int, now: int) -> bool:
    """Whether a flit has moved on."""
    ports, several = net.state[router, FULL], False
    if net.sent[router] < net.allowed[router]:
        ports |= 1 << LOCAL
    for port in range(PORTS):
        net.heads[port] = NOBODY
        if ports >> port & 1:
            net.heads[port] = _head(net, router, port, now)
            mask = net.heads[MASKS + port]
            several = several or (net.heads[port] != NOBODY and mask & (mask - 1) != 0)
    return _together(net, router, now) if several else _one_by_one(net, router, now)


@joined
def _together(net: Net, router: int, now: int) -> bool:
    """Whether a flit has moved on, where some have several ways out, or sums several ways in."""
    taken, moved = 0, False
    while True:
        best = 0
        for port in range(1, PORTS):
            if net.heads[port] < net.heads[best]:
                best = port
        packet = net.heads[best]
        if packet == NOBODY:
            return moved
        mask = net.heads[MASKS + best]
        sums = mask >> IN != 0
        if _may_pass(net, router, best, mask, taken, sums):
            taken |= mask & ((1 << PORTS) - 1)
            _pass_on(net, router, best, mask, sums, now)
            moved = True
        else:
            for port in range(PORTS):
                if net.heads[port] == packet:
                    net.heads[port] = NOBODY


@joined
def _sleep(net: Net, router: int, now: int) -> int:
    """When a router that can do nothing has a flit that may move on."""
    found = NOBODY
    for port in range(LOCAL):
        ready = net.queue[router, port, net.state[router, FRONT + port], READY]
        if net.state[router, USED + port] and ready > now:
            found = min(found, ready)
    return found


@bare
def cycle(net: Net, now: int) -> None:
    """All routers once; room that flits leave behind is there from the next cycle on."""
    moved = 0
    for router in range(len(net.awake)):
        if net.awake[router] > now:
            continue
        net.awake[router] = NOBODY
        if _router(net, router, now):
            net.awake[router] = now + 1
            net.went[moved] = router
            moved += 1
        else:
            net.awake[router] = min(net.awake[router], _sleep(net, router, now))
    net.counts[MOVED] = moved
    for number in range(moved):
        _free(net, net.went[number], now)


@joined
def _free(net: Net, router: int, now: int) -> None:
    """Places that flits have left are free; neighbours may fill them from the next cycle on."""
    freed = net.state[router, FREED]
    net.state[router, FREED] = 0
    for port in range(LOCAL):
        if freed >> port & 1:
            used = net.state[router, USED + port] - 1
            net.state[router, USED + port] = used
            if used == 0:
                net.state[router, FULL] &= ~(1 << port)
            other = neighbour(net, router, port)
            net.awake[other] = min(net.awake[other], now + 1)


def make_net(mesh: Mesh, routes: Ints, route: Ints, flits: Ints, sources: Sequence[Ints]) -> Net:
    """Packets with their routes and flits; `sources` are those of each node in the order in which it sends them."""
    nodes = mesh.nodes
    ends = (routes >> LOCAL & 1).sum(axis=1)
    begin, order = _order(routes, route)
    state = _zeros(nodes, STATE)
    state[:, OWNER : OWNER + PORTS] = FREE
    state[:, NEXT] = -1
    rings = (nodes, LOCAL, mesh.queue_flits)
    return Net(
        columns=mesh.columns,
        room=mesh.queue_flits,
        delay=mesh.router_cycles,
        routes=np.ascontiguousarray(routes, np.int16),
        route=route,
        flits=flits,
        left=ends[route],
        done=np.full(len(route), -1),
        first=np.cumsum([0, *map(len, sources)]),
        sources=np.concatenate([np.zeros(0, np.int64), *sources]),
        sent=_zeros(nodes),
        allowed=_zeros(nodes),
        progress=_zeros(nodes),
        begin=begin,
        order=order,
        turn=_zeros(nodes, PORTS),
        state=state,
        queue=_zeros(*rings, 4),
        awake=_zeros(nodes),
        went=_zeros(nodes),
        arrived=_zeros(nodes),
        heads=_zeros(4 * PORTS),
        counts=_zeros(4),
    )


def _zeros(*shape: int) -> Ints:
    return np.zeros(shape, np.int64)


def _order(routes: Ints, route: Ints) -> tuple[Ints, Ints]:
    """For each way out of each router, the sums that use it, in ascending order."""
    nodes = routes.shape[1]
    begin, parts = np.zeros((nodes, PORTS), np.int64), [np.zeros(0, np.int64)]
    sums = [number for number in range(len(routes)) if (routes[number] >> IN).any()]
    users = {number: np.flatnonzero(route == number) for number in sums}
    length = 0
    for node in range(nodes):
        for way in range(PORTS):
            begin[node, way] = length
            here = [users[number] for number in sums if routes[number, node] >> way & 1]
            if here:
                parts.append(np.sort(np.concatenate(here)))
                length += len(parts[-1])
    return begin, np.concatenate([*parts, np.full(1, FREE)])
