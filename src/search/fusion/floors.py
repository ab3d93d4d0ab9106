"""What any group costs at least, layer by layer and transfer by transfer, under each metric."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, prod

from ...algebra.dag import mask_of
from ...costs.fusion.graph import Layer, LayerGraph
from ...costs.fusion.needs import least_held, least_loaded
from ...costs.fusion.pricer import SubgraphPricer
from ...costs.fusion.tables import IS_WHOLE, graph_tables
from ...costs.fusion.values import Metric, Platform
from .forced import Forced
from .outside import Outside
from .possible import Possible, possible_groups
from .relaxed import Chains
from .space import Evaluator, Space
from .units import Room, Tolls, units_of


@dataclass(frozen=True)
class Scene:
    """A layer graph, for how many samples and on how many cores of what it runs (None: not known).

    `weight_capacity` is how many bytes of weights a group of several layers may have, `map_capacity` how many of maps
    on each core; `shared` says whether both lie in the same memory.
    """

    graph: LayerGraph
    space: Space
    batch: int = 1
    cores: int = 1
    platform: Platform | None = None
    weight_capacity: float = inf
    map_capacity: float = inf
    shared: bool = False

    def bound(self, evaluator: Evaluator) -> float:
        """What every partition costs at least under the metric of `evaluator`."""
        return self._forced(evaluator).bound()

    @cached_property
    def possible(self) -> Possible:
        """Whether a group may hold a set of layers."""
        share = 1 / self.cores if self.shared else 0.0
        held = self._held()
        return possible_groups(self.graph, self.weight_capacity, self._regions(), self.map_capacity, share, held)

    def _regions(self) -> float:
        """Regions of a group at most, if they are counted as results: not where stages may share them."""
        if self.platform is None or _staged(self.graph, self.platform):
            return inf
        return float(self.platform.regions)

    def _held(self) -> dict[tuple[int, int], int]:
        if self.platform is None or self.map_capacity == inf:
            return {}
        return least_held(self.graph, self.platform, self.cores)

    def _forced(self, evaluator: Evaluator) -> Forced:
        return Forced(self.space, self.possible, self.tolls_of(evaluator))

    def tolls_of(self, evaluator: Evaluator) -> Tolls:
        """The bound that adds up, with the price of each layer that cannot share a group: its weights are too many."""
        tolls = self.tolls(evaluator.metric)
        floors = list(tolls.floors)
        for number, layer in enumerate(self.graph.layers):
            if layer.weight_bytes > self.weight_capacity:
                floors[number] += max(0.0, evaluator.price(1 << number) - tolls.least(1 << number))
        return replace(tolls, floors=floors)

    def chains(self, evaluator: Evaluator) -> Chains:
        """Chains of cuts, by which bounds and partitions of wide networks are found."""
        forced = self._forced(evaluator)
        weights = [layer.weight_bytes for layer in self.graph.layers]
        room = Room(self.weight_capacity, self._regions(), self.map_capacity)
        units = units_of(self.space, forced.tolls, weights, room, self._held())
        floors = [forced.least(number) for number in range(self.space.size)]
        return Chains(units, floors, outside=Outside(units, forced))

    def tolls(self, metric: Metric) -> Tolls:
        """The bound that adds up; it says nothing of energy and latency where the platform is not known.

        Of a latency, which is the longer of computing and transfers, it bounds a mean of both.
        """
        if metric == "ema":
            return self._tolls(0.0, 1.0, 1.0, 1.0)
        platform = self.platform
        if platform is None:
            return self._tolls(0.0, 0.0, 0.0, 0.0)
        if metric == "energy":
            load = platform.dram_read_pj + platform.global_write_pj
            store = platform.dram_write_pj + platform.global_read_pj
            return self._tolls(1.0, platform.dram_read_pj + platform.weight_write_pj, load, store)
        cycles = 1 / (platform.dram_bytes_per_cycle * self.cores)
        choices = [
            self._tolls(share, *([(1 - share) * cycles] * 3), latency=True) for share in (0.0, 0.25, 0.5, 0.75, 1.0)
        ]
        return max(choices, key=lambda tolls: tolls.rest(0))

    def _tolls(self, inside: float, weight: float, load: float, store: float, latency: bool = False) -> Tolls:
        """Tolls for prices per byte, and `inside` times what happens on chip."""
        sizes = [layer.output_bytes * self.batch for layer in self.graph.layers]
        loaded = least_loaded(self.graph, self.platform)
        loads = [load * self.batch * loaded.get(number, 0) for number in range(len(self.graph))]
        given = self._given(loaded)
        floors = [
            weight * layer.weight_bytes
            + load * given[number]
            + inside * (self._cycles(layer) if latency else self._energy(number))
            for number, layer in enumerate(self.graph.layers)
        ]
        exits = mask_of(self.graph.exits)
        return Tolls(self.space, floors, [store * size for size in sizes], loads, exits)

    def _given(self, loaded: Mapping[int, int]) -> list[int]:
        """Bytes of network inputs that each layer alone reads."""
        readers: dict[int, list[int]] = {}
        for number, layer in enumerate(self.graph.layers):
            for producer in sorted({edge.producer for edge in layer.edges if edge.producer < 0}):
                readers.setdefault(producer, []).append(number)
        found = [0] * len(self.graph)
        for producer, numbers in readers.items():
            if len(numbers) == 1:
                found[numbers[0]] += loaded[producer] * self.batch
        return found

    def _cycles(self, layer: Layer) -> float:
        """Least cycles of computing: every multiplier busy."""
        platform = self.platform
        if platform is None:
            return 0.0
        return layer.macs * self.batch / (prod(platform.array) * prod(platform.lanes) * self.cores)

    def _energy(self, number: int) -> float:
        """Least energy on chip: products, results written, weights read once a sample."""
        platform, layer = self.platform, self.graph.layers[number]
        if platform is None:
            return 0.0
        once = layer.macs * platform.mac_pj + layer.output_bytes * platform.global_write_pj
        return self.batch * (once + layer.weight_bytes * platform.weight_read_pj)


def _staged(graph: LayerGraph, platform: Platform) -> bool:
    """Whether some layer needs a whole map: then a group may have stages, which share regions."""
    return bool(graph_tables(graph, platform).edges[:, IS_WHOLE].any())


def scene_of(pricer: SubgraphPricer) -> Scene:
    """The graph and the machine of `pricer`; weights are divided over its cores."""
    graph, buffers = pricer.graph, pricer.buffers
    room = buffers.global_bytes if buffers.weight_bytes is None else buffers.weight_bytes
    weights, maps = float(room * pricer.cores), float(buffers.global_bytes)
    space = Space(graph.producers)
    return Scene(graph, space, pricer.batch, pricer.cores, pricer.platform, weights, maps, buffers.shared)
