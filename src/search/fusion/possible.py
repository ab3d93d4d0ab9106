"""Which sets of layers may be part of a group: what they need at least is within what a group has.

That a set fits says nothing of its parts: at some capacities a part of a group needs more than the group.  What is
counted here only grows with the set, so a set that is not possible is part of no group that fits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from ...algebra.dag import bits
from ...costs.fusion.graph import LayerGraph


@dataclass(frozen=True)
class Possible:
    """`read[v]` are the maps that layer v reads, as bits: layers, then inputs of the network.

    `held[u]` says how many bytes readers of map u keep of it at least, most first, and which readers (as bits) do.
    `share` is the part of the weights that lies in the room for maps (0 where weights have their own).
    """

    weights: Sequence[int]
    read: Sequence[int]
    held: Sequence[Sequence[tuple[int, int]]]
    weight_capacity: float = inf
    regions: float = inf
    map_capacity: float = inf
    share: float = 0.0
    known: dict[int, bool] = field(default_factory=dict[int, bool])

    def __call__(self, group: int) -> bool:
        """Whether a group may hold the layers `group`; a layer on its own always can."""
        if group & (group - 1) == 0:
            return True
        found = self.known.get(group)
        if found is None:
            found = self.known[group] = self._within(group)
        return found

    def _within(self, group: int) -> bool:
        weights = read = 0
        for v in bits(group):
            weights += self.weights[v]
            read |= self.read[v]
        if weights > self.weight_capacity or (group | read).bit_count() > self.regions:
            return False
        if self.map_capacity == inf:
            return True
        held = weights * self.share
        for u in bits(read):
            held += next((size for size, readers in self.held[u] if readers & group), 0)
        return held <= self.map_capacity


def possible_groups(
    graph: LayerGraph,
    weight_capacity: float,
    regions: float,
    map_capacity: float,
    share: float,
    least_held: Mapping[tuple[int, int], int],
) -> Possible:
    """For groups of `graph`; `least_held` has bytes that a reader keeps of a map (both numbers; inputs come last)."""
    size = len(graph)
    read = [0] * size
    for v, layer in enumerate(graph.layers):
        for edge in layer.edges:
            read[v] |= 1 << (edge.producer if edge.producer >= 0 else size - 1 - edge.producer)
    by_size: list[dict[int, int]] = [{} for _ in range(size + len(graph.inputs))]
    for (v, u), held in least_held.items():
        by_size[u][held] = by_size[u].get(held, 0) | 1 << v
    held = [sorted(sizes.items(), reverse=True) for sizes in by_size]
    weights = [layer.weight_bytes for layer in graph.layers]
    return Possible(weights, read, held, weight_capacity, regions, map_capacity, share)
