"""Small random graphs, a price of groups that is written down plainly, and all partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from tilewright.costs.fusion import Edge, Input, Layer, LayerGraph, Shape, SubgraphCost
from tilewright.search.fusion.space import Space


def random_graph(seed: int, layers: int, share: float = 0.3) -> LayerGraph:
    """Layers of random sizes; each reads the input or some of the last few layers."""
    random = Random(seed)
    made: list[Layer] = []
    for number in range(layers):
        near = [i for i in range(max(0, number - 5), number) if random.random() < share]
        edges = tuple(Edge(i) for i in near) or (Edge(number - 1 if number and random.random() < 0.7 else -1),)
        shape = Shape(random.randint(1, 9), 4, 4)
        made.append(Layer(f"l{number}", "conv", shape, edges, random.randint(0, 60)))
    return LayerGraph(f"random{seed}", (Input("x", Shape(3, 4, 4)),), tuple(made))


class PlainPricer:
    """Traffic counted tensor by tensor; a group of several layers fits by its weights and its results."""

    def __init__(self, graph: LayerGraph, weight_bytes: int = 120, global_bytes: int = 300) -> None:
        self.graph, self.weight_bytes, self.global_bytes = graph, weight_bytes, global_bytes
        self.asked = 0

    def weights(self, inside: frozenset[int]) -> int:
        return sum(self.graph.layers[v].weight_bytes for v in inside)

    def fits(self, inside: frozenset[int]) -> bool:
        kept = sum(self.graph.layers[v].output_bytes for v in inside)
        return self.weights(inside) <= self.weight_bytes and kept <= self.global_bytes

    def cost(self, nodes: Iterable[int]) -> SubgraphCost | None:
        self.asked += 1
        graph, inside = self.graph, frozenset(nodes)
        layers = [graph.layers[v] for v in sorted(inside)]
        weights, kept = self.weights(inside), sum(layer.output_bytes for layer in layers)
        if len(inside) > 1 and not self.fits(inside):
            return None
        read = {edge.producer for layer in layers for edge in layer.edges} - inside
        loads = sum(graph.source(u).shape.volume for u in read)
        stores = sum(
            graph.layers[v].output_bytes
            for v in inside
            if v in graph.exits or any(reader not in inside for reader in graph.consumers[v])
        )
        total = weights + loads + stores
        return SubgraphCost(weights, loads, stores, 3.0 * total, 7, total, kept, weights, len(inside), (1, 1))


def partitions(space: Space, groups: tuple[int, ...] = (), number: int = 0) -> Iterator[list[int]]:
    """Every partition into connected groups that can run one after another, among all set partitions."""
    if number == space.size:
        if space.fault(groups) is None:
            yield list(groups)
        return
    for place, group in enumerate(groups):
        changed = (*groups[:place], group | 1 << number, *groups[place + 1 :])
        yield from partitions(space, changed, number + 1)
    yield from partitions(space, (*groups, 1 << number), number + 1)
