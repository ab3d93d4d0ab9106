"""The state of a network before its first cycle."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .mesh import IN, LOCAL, PORTS, Mesh
from .network import FREE, NEXT, OWNER, STATE, Net

Ints = NDArray[np.int64]


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
