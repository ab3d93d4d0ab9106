"""A bound from what the buffer cannot hold: whatever is still needed and is not in it must be loaded later.

A schedule runs fused groups one after another (J. Cai et al., "SoMa", HPCA 2025, section IV-A).  Two kinds of moments
bound it, S being the layers that are done and R the others.  Between two groups, or between the layers of a group in
one tile: the weights of R, what R reads of the network's inputs, and the maps of S that R reads are in the buffer or
are loaded later; results of R are stored later; all work of S lies before.  In a group of several tiles, when a layer
ends its last tile: its weights and those of the layers in the group that depend on it are still in use; the parts of
results that earlier tiles made are still needed; all layers it depends on are done, and the earlier tiles of the rest.
The weights of such a group lie in the buffer together, unless they are loaded again for each tile.

Which groups there are is for the schedule to choose: the bound is the path from nothing done to all done, over sets of
layers that no other one precedes, whose worst moment is least.
"""

from heapq import heappop, heappush
from itertools import accumulate, product
from math import inf

import numpy as np

from ...algebra.dag import bits, flags
from ...zoo.schedule_networks.layers import Network
from .floors import Case, read_pixels

MOST_SETS, MOST_GROUPS = 1000, 4000
"""Sets of layers, and groups, that are looked at; beyond, the bound says no more than it has found."""


REASON = "what the buffer cannot hold beside what is at work, loaded after all work before"


class Rooms:
    """The sets of layers that may be done, as bits, and what is needed after each."""

    def __init__(self, case: Case) -> None:
        network, count = case.network, len(case.network.layers)
        self.case, self.whole = case, (1 << count) - 1
        self.crossing = [_readers(case, number) for number in range(count)]
        self.first = [_first(network, number) for number in range(count)]
        self.stored = [
            case.batch * layer.shape.volume * (not network.consumers[i]) for i, layer in enumerate(network.layers)
        ]
        self.cycles = np.array([floor.cycles for floor in case.floors])
        self.weights = np.array(case.weights, np.float64)
        self.depends = np.array([flags(mask, count) for mask in case.dag.ancestors], np.float64)
        self.readers = network.dag.after
        self.loading = sum(1 << i for i, floor in enumerate(case.floors) if floor.inputs)
        self.storing = np.array(self.stored, np.int64)
        self.share = _share(case)
        self.makers = sum(1 << i for i, readers in enumerate(self.crossing) if readers)
        self.maps_after = _maps_after(self.crossing)
        self.needs: dict[int, float] = {}
        self.works: dict[int, float] = {}

    def sets(self) -> list[int] | None:
        """All of them, by number of layers; None where there are too many."""
        found, last = [0], [0]
        while last:
            last = sorted({done | 1 << number for done in last for number in self.next_layers(done)})
            found += last
            if len(found) > MOST_SETS:
                return None
        return found

    def next_layers(self, done: int) -> list[int]:
        """The layers that may come next."""
        return [i for i in bits(self.whole & ~done) if not self.first[i] & ~done]

    def need(self, done: int) -> float:
        """Bytes that the layers not in `done` need from DRAM or buffer, and store."""
        if done not in self.needs:
            rest, inputs = self.whole & ~done, dict[int, int]()
            for number in bits(rest & self.loading):
                for i, size in self.case.floors[number].inputs:
                    inputs[i] = max(inputs.get(i, 0), size) if self.case.model.exact else inputs.get(i, 0) + size
            own = self.case.weight(rest) + int(self.storing[flags(rest, len(self.stored))].sum())
            first = done & (done + 1) == 0  # layers in the network's own order
            maps = self.maps_after[done.bit_length()] if first else self.maps(done, done)
            self.needs[done] = own + sum(inputs.values()) + maps
        return self.needs[done]

    def work(self, done: int) -> float:
        """Cycles of the layers in `done`."""
        if done not in self.works:
            self.works[done] = self.case.work(done)
        return self.works[done]

    def maps(self, done: int, makers: int) -> float:
        """Bytes of maps of `makers` that layers not in `done` read."""
        return sum(
            max((size for reader, size in self.crossing[number] if not done >> reader & 1), default=0)
            for number in bits(makers & self.makers)
            if self.readers[number] & ~done
        )

    def between(self, done: int) -> float:
        """The moment when `done` is done."""
        return self.work(done) + self._loads(self.need(done))

    def _loads(self, need: float) -> float:
        return max(0.0, need - self.case.model.buffer_bytes) / self.case.model.bandwidth

    def step(self, done: int, number: int) -> float:
        """The moment when layer `number`, run by itself after `done`, ends: its weights are still there."""
        then = done | 1 << number
        spare = (1 - self.share) * self.maps(then, 1 << number)
        ending = self.need(then) - spare + self.case.weights[number]
        return max(self.between(then), self.work(then) + self._loads(ending))

    def within(self, done: int, then: int) -> float:
        """The worst moment of a group of several tiles from `done` to `then`, `inf` where there is none."""
        model, group = self.case.model, list(bits(then & ~done))
        weights, cycles = self.weights[group], self.cycles[group]
        total = float(weights.sum())
        if total > model.buffer_bytes and not model.exact:
            return inf
        depends = self.depends[np.ix_(group, group)]
        before = depends @ cycles + cycles
        early = self.work(done) + before + self.share * (float(cycles.sum()) - before)
        rest = self.need(then) - (1 - self.share) * self.maps(then, then & ~done) - model.buffer_bytes
        needed = weights + depends.T @ weights + rest
        worst = float((early + np.maximum(0.0, needed) / model.bandwidth).max())
        if total > model.buffer_bytes:
            worst = max(worst, self.work(done) + self._loads(self.need(done) + total))
        return worst


def room_bound(case: Case, floor: float) -> tuple[float, str]:
    """The bound and its reason, which is `floor`, that of other arguments, where it says no more.

    Sets of layers whose moments lie below the bound so far cost nothing; where these lead no further, the cheapest step
    to another set raises it.
    """
    rooms = Rooms(case)
    simple = max(((floor, ""), *_ends(case)))
    sets = rooms.sets() if max(rooms.between(done) for done in _prefixes(rooms)) > simple[0] else None
    if sets is None:
        return simple
    left, fresh = set(sets), [0]
    steps: list[tuple[float, int]] = []
    value, looked = max(simple[0], rooms.between(0)), 0
    while True:
        found = _spread(rooms, fresh, left, value, steps)
        if rooms.whole not in left:
            return value, REASON
        looked += _leap(rooms, found, left, steps, MOST_GROUPS - looked)
        if looked == MOST_GROUPS:
            return value, REASON
        while steps[0][1] not in left:
            heappop(steps)
        value = max(value, steps[0][0])
        fresh = [steps[0][1]]


def _leap(rooms: Rooms, found: list[int], left: set[int], steps: list[tuple[float, int]], most: int) -> int:
    """Put groups of several layers from `found` to `left` among the steps, `most` at most; how many these are."""
    looked, size = 0, rooms.case.model.buffer_bytes
    for done, then in product(sorted(found, reverse=True), sorted(left)):
        group = then & ~done
        if done & ~then or group.bit_count() < 2 or (not rooms.case.model.exact and rooms.case.weight(group) > size):
            continue
        if looked == most:
            break
        looked += 1
        heappush(steps, (max(rooms.within(done, then), rooms.between(then)), then))
    return looked


def _ends(case: Case) -> list[tuple[float, str]]:
    """For each layer with weights the moment when it ends: they, and those of all that depend on it, are in use."""
    found: list[tuple[float, str]] = []
    for number, layer in enumerate(case.network.layers):
        rest = case.weight(case.dag.descendants[number] | 1 << number) - case.model.buffer_bytes
        if case.weights[number] and rest > 0:
            early = case.work(case.dag.ancestors[number] | 1 << number)
            reason = f"work up to {layer.name}, then the weights that the buffer could not hold by then"
            found.append((early + rest / case.model.bandwidth, reason))
    return found


def _prefixes(rooms: Rooms) -> list[int]:
    """What is done after each layer in the network's own order."""
    return [(1 << count) - 1 for count in range(len(rooms.first) + 1)]


def _spread(rooms: Rooms, fresh: list[int], left: set[int], value: float, steps: list[tuple[float, int]]) -> list[int]:
    """Sets that single layers lead to from `fresh` without a moment above `value`; `steps` gets the ones above."""
    found = list[int]()
    left.difference_update(fresh)
    while fresh:
        done = fresh.pop()
        found.append(done)
        for number in rooms.next_layers(done):
            then = done | 1 << number
            if then not in left:
                continue
            moment = rooms.step(done, number)
            if moment <= value:
                left.discard(then)
                fresh.append(then)
            else:
                heappush(steps, (moment, then))
    return found


def _maps_after(crossing: list[list[tuple[int, int]]]) -> list[int]:
    """For each number of layers, the first ones being done: bytes of their maps that the others read."""
    steps = [0] * (len(crossing) + 2)
    for maker, readers in enumerate(crossing):
        largest, last = 0, None
        for reader, size in sorted(readers, reverse=True):
            if last is not None:
                steps[reader + 1] += largest
                steps[last + 1] -= largest
            largest, last = max(largest, size), reader
        if last is not None:
            steps[maker + 1] += largest
            steps[last + 1] -= largest
    return list(accumulate(steps[:-1]))


def _readers(case: Case, number: int) -> list[tuple[int, int]]:
    """The readers of a layer, and bytes of its map that each reads."""
    network, shape = case.network, case.network.layers[number].shape
    found: list[tuple[int, int]] = []
    for reader in network.consumers[number]:
        rows, columns = shape.height, shape.width
        if number not in network.layers[reader].weights_from:
            rows, columns = read_pixels(network, reader, case.floors[reader].pixels, case.model)
        size = case.batch * shape.channels * min(rows, shape.height) * min(columns, shape.width)
        found.append((reader, size))
    return found


def _first(network: Network, number: int) -> int:
    """What comes before a layer, as bits: its producers, and a twin with the same sources and readers."""
    layers, found = network.layers, 0
    for producer in layers[number].producers:
        found |= 1 << producer
    if number > 0 and network.consumers[number] == network.consumers[number - 1]:
        one, two = layers[number - 1], layers[number]
        alike = [
            (i.kind, i.shape, i.inputs, i.external, i.weights_from, i.kernel, i.stride, i.groups) for i in (one, two)
        ]
        if alike[0] == alike[1] and one.operands == two.operands and one.permutation == two.permutation:
            found |= 1 << (number - 1)
    return found


def _share(case: Case) -> float:
    """Part of a layer that the tiles of a group before the last one make at least.

    SoMa's tiles are equal.  Exact ones differ by a row, and the last of two has two rows of three; of layers before it
    in the group it has no larger a part, unless the padding is deeper than what windows share.
    """
    if not case.model.exact:
        return 1 / 2
    for number, layer in enumerate(case.network.layers):
        if layer.kind in ("conv", "group_conv", "pool"):
            pads = case.network.padding(number)
            if any(pads[i] > max(0, layer.kernel[i] - layer.stride[i]) for i in (0, 1)):
                return 0.0
    return 1 / 3
