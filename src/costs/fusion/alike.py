"""Which groups of layers are alike: networks repeat their cells, and a group that is repeated has the price it had."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import gcd

from .graph import LayerGraph
from .tables import COMPONENT, FIRST_EDGE, RATE, READERS, SOURCE, GraphTables

Structure = tuple[int, ...]


class Alike:
    """Structures of groups of `graph`: groups with the same one have the same ways to run.

    A structure has all that tables say of the layers, in their order, of the windows through which they read, and of
    what they read, by its place in the group; and which results leave the group.  Layers that differ in their place in
    the network only are alike.
    """

    def __init__(self, graph: LayerGraph, net: GraphTables) -> None:
        self._numbers: dict[Hashable, int] = {}
        edges: list[list[int]] = net.edges.tolist()
        sources: list[list[int]] = net.sources.tolist()
        self._sources = [self._number(("source", *row[:READERS])) for row in sources]
        self._readers = [row[READERS] for row in sources]
        self._rates = [row[RATE] for row in sources]
        self._components = [row[COMPONENT] for row in sources]
        self._layers: list[int] = []
        self._reads: list[list[tuple[int, int]]] = []
        for layer, row, source in zip(graph.layers, net.layers.tolist(), self._sources, strict=False):
            own = edges[row[FIRST_EDGE] : row[FIRST_EDGE + 1]]
            kind = ("layer", layer.shape, layer.groups, layer.element_bytes, source, len(own), *row[FIRST_EDGE + 2 :])
            self._layers.append(self._number(kind))
            self._reads.append([(self._number(("edge", *edge[SOURCE + 1 :])), edge[SOURCE]) for edge in own])

    def _number(self, kind: Hashable) -> int:
        return self._numbers.setdefault(kind, len(self._numbers))

    def structure(self, members: Sequence[int]) -> Structure:
        """The structure of the group of `members` (ascending)."""
        places = {v: place for place, v in enumerate(members)}
        readers = [self._readers[v] for v in members]
        found = [len(members)]
        for v in members:
            found.append(self._layers[v])
            for edge, u in self._reads[v]:
                place = places.get(u)
                if place is None:
                    place = places[u] = len(places)
                    found.append(self._sources[u])
                elif place < len(members):
                    readers[place] -= 1
                found.append(edge)
                found.append(place)
        found.extend(count > 0 for count in readers)
        found.extend(self._paces(members))
        return tuple(found)

    def _paces(self, members: Sequence[int]) -> list[int]:
        """Positions by which the layers advance, to those of their component in the group."""
        common: dict[int, int] = {}
        for v in members:
            root = self._components[v]
            common[root] = gcd(common.get(root, 0), self._rates[v])
        order = {root: place for place, root in enumerate(common)}
        roots = [self._components[v] for v in members]
        return [
            number
            for v, root in zip(members, roots, strict=True)
            for number in (order[root], self._rates[v] // common[root])
        ]
