"""What a pricer prices groups for, as the bounds see it."""

from __future__ import annotations

from ...costs.fusion.pricer import SubgraphPricer
from .floors import Scene
from .space import Space


def scene_of(pricer: SubgraphPricer) -> Scene:
    """The graph and the machine of `pricer`; weights are divided over its cores."""
    graph, buffers = pricer.graph, pricer.buffers
    room = buffers.global_bytes if buffers.weight_bytes is None else buffers.weight_bytes
    weights, maps = float(room * pricer.cores), float(buffers.global_bytes)
    space = Space(graph.producers)
    return Scene(graph, space, pricer.batch, pricer.cores, pricer.platform, weights, maps, buffers.shared)
