"""One cycle of all routers, compiled: wormholes, copies where a route divides, sums where routes meet.

Within a cycle a router takes the packets whose flits are first in its queues by their numbers, the lowest first.  A
packet moves on if all ways out of its route are free, or its own, and their queues have room; a sum also waits for its
flit from each way in.  A way out belongs to a packet from its first flit to its last.  Sums take a way out in the order
of their numbers, so that no two wait for each other at two routers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled import bare, compile_with
from .mesh import IN, LOCAL, PORTS

Ints = NDArray[np.int64]
Masks = NDArray[np.int16]

joined = compile_with(_nrt=False, inline="always")
"""Part of the caller's code: a call would take longer than what it does, as it passes all arrays on."""

FREE = -1
NOBODY = 1 << 62

PACKET, FLIT, READY = range(3)
"""Of a place in a queue: packet, flit and the cycle from which it may move on."""

MOVED, HOPS, IN_FLIGHT, GONE = range(4)
"""What is counted: routers that passed on a flit in this cycle, links passed by all flits, flits in queues, and packets
that have left their nodes, a sum once for each."""


class Net(NamedTuple):
    """Packets p, routers r, ports o, nodes n.
    `route`, `flits` and `left` (ends that have not come yet) are of each packet, `done` the cycle at which the last
    came (-1: not yet).  Node n sends `sources[first[n]:first[n + 1]]` in order: `sent` of them are gone, the next may
    go up to the `allowed`-th, and `progress` flits of it are gone.  Sums that use way o of router r take it in the
    order `order[begin[r, o]:begin[r, o + 1]]`, and `turn[r, o]` of them had it.  Queues are rings of places
    (`PACKET`, `FLIT`, `READY`).  `arrived` counts packets that came to a node.  `heads` is room for a router's
    choices, `awake` the cycle from which it may have some: until then nothing that it waits for changes; `went` are the
    routers that passed on a flit in this cycle.
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
    owner: Ints
    queue: Ints
    front: Ints
    used: Ints
    freed: Ints
    awake: Ints
    went: Ints
    arrived: Ints
    heads: Ints
    counts: Ints


@joined
def neighbour(net: Net, router: int, way: int) -> int:
    if way == 0:
        return router + 1
    if way == 1:
        return router - 1
    return router + net.columns if way == 2 else router - net.columns


@joined
def _head(net: Net, router: int, port: int, now: int) -> int:
    """The packet that is first at a way in, `NOBODY` if there is none; its flit goes to `heads`."""
    if port == LOCAL:
        if net.sent[router] >= net.allowed[router]:
            return NOBODY
        net.heads[PORTS + port] = net.progress[router]
        return int(net.sources[net.first[router] + net.sent[router]])
    if net.used[router, port] == 0:
        return NOBODY
    first = net.queue[router, port, net.front[router, port]]
    if first[READY] > now:
        return NOBODY
    net.heads[PORTS + port] = first[FLIT]
    return first[PACKET]


@joined
def _may_pass(net: Net, router: int, port: int, mask: int, taken: int, sums: bool) -> bool:
    """Whether the flit at a way in can go out by all ways of its route, and those of its sum are there."""
    packet, flit = net.heads[port], net.heads[PORTS + port]
    for other in range(PORTS if sums else 0):
        if mask >> (IN + other) & 1 and (net.heads[other] != packet or net.heads[PORTS + other] != flit):
            return False
    for way in range(PORTS):
        if not mask >> way & 1:
            continue
        owner = net.owner[router, way]
        if taken >> way & 1 or (owner != packet and (owner != FREE or flit != 0)):
            return False
        if sums and flit == 0:
            turn = net.begin[router, way] + net.turn[router, way]
            if net.order[turn] != packet:
                return False
        if way != LOCAL and net.used[neighbour(net, router, way), way ^ 1] >= net.room:
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
    after = net.front[router, port] + 1
    net.front[router, port] = after if after < net.room else 0
    net.freed[router, port] = 1
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
    at = net.front[other, port] + net.used[other, port] - net.freed[other, port]
    at = at if at < net.room else at - net.room
    new = net.queue[other, port, at]
    new[PACKET], new[FLIT], new[READY] = packet, flit, now + net.delay
    net.used[other, port] += 1
    net.awake[other] = min(net.awake[other], now + net.delay)
    net.counts[IN_FLIGHT] += 1
    net.counts[HOPS] += 1


@joined
def _pass_on(net: Net, router: int, port: int, mask: int, sums: bool, now: int) -> None:
    packet, flit = net.heads[port], net.heads[PORTS + port]
    last = flit == net.flits[packet] - 1
    for other in range(PORTS):
        if other == port or (sums and mask >> (IN + other) & 1):
            _pop(net, router, other, last)
            net.heads[other] = NOBODY
    for way in range(PORTS):
        if mask >> way & 1:
            net.owner[router, way] = FREE if last else packet
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
def _single(net: Net, router: int, port: int, way: int, taken: int, now: int) -> bool:
    """Whether the flit at a way in has moved on by the only way of its route, as most do."""
    packet, flit = net.heads[port], net.heads[PORTS + port]
    owner = net.owner[router, way]
    if taken >> way & 1 or (owner != packet and (owner != FREE or flit != 0)):
        return False
    if way != LOCAL and net.used[neighbour(net, router, way), way ^ 1] >= net.room:
        return False
    last = flit == net.flits[packet] - 1
    _pop(net, router, port, last)
    net.owner[router, way] = FREE if last else packet
    _push(net, router, way, packet, flit, last, now)
    return True


@joined
def _router(net: Net, router: int, now: int) -> bool:
    """Whether a flit has moved on."""
    for port in range(PORTS):
        net.heads[port] = _head(net, router, port, now)
    taken, moved = 0, False
    while True:
        best = 0
        for port in range(1, PORTS):
            if net.heads[port] < net.heads[best]:
                best = port
        packet = net.heads[best]
        if packet == NOBODY:
            return moved
        mask = net.routes[net.route[packet], router]
        if mask & (mask - 1) == 0:
            if _single(net, router, best, _way(mask), taken, now):
                taken |= mask
                moved = True
            net.heads[best] = NOBODY
            continue
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
        ready = net.queue[router, port, net.front[router, port], READY]
        if net.used[router, port] and ready > now:
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
        router = net.went[number]
        for port in range(LOCAL):
            if net.freed[router, port]:
                net.freed[router, port] = 0
                net.used[router, port] -= 1
                other = neighbour(net, router, port)
                net.awake[other] = min(net.awake[other], now + 1)
