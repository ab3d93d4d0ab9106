"""Statement 3: what all mappings of a region cost at least, from least costs to go of all tiles.

All terms are sums and products of numbers that are not negative, so doubles err by far less than `check.SLACK`.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, lru_cache, reduce
from itertools import product
from math import inf
from typing import NamedTuple

import numpy as np

from ..costs.exact import dram_bits, evaluate
from ..costs.hierarchy import Architecture, LoopMapping, Problem
from .space import Factors, Floats, Kept, Lattice, Places, Question, Region, total
from .terms import MOST_TABLES, NO_PORTS, Ports, Terms


def price(arch: Architecture, problem: Problem, mapping: LoopMapping, goal: str) -> float:
    """The scalar model's price of one mapping; infinite where the machine cannot run it."""
    found = evaluate(arch, problem, mapping)
    if not found.valid:
        return inf
    if goal == "dram":
        return dram_bits(arch, problem, found) / arch.levels[-1].word_bits
    return {"edp": found.energy_pj * found.cycles, "energy": found.energy_pj, "latency": float(found.cycles)}[goal]


Resting = frozenset[int]
Least = Callable[[Resting], Floats]
"""What resting tensors move at least, by tile."""


class Tables(NamedTuple):
    """By memory of a region that keeps something: which tiles fit (0, else infinite), what its tensors move (statement
    3a), and move at least if they `still` rest when the loops of the next memory are over, what first tiles take, and
    the costs to go from its tiles."""

    lattice: Lattice
    fits: list[Floats]
    moves: list[dict[int, Floats]]
    still: list[Least]
    first: list[Floats]
    to_go: list[Floats]


class Bounds(Terms):
    """Bounds of the regions of one question."""

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self.tables, self.anywhere = lru_cache(MOST_TABLES)(self._tables), cache(self._anywhere)
        self.moves, self.once = lru_cache(MOST_TABLES)(self._moves), cache(self._once)

    def least(self, region: Region, target: float) -> float:
        """What each mapping of the region costs at least, or `target` if that is less."""
        return float(np.min(self.by_tile(region, target)))

    def by_tile(self, region: Region, target: float) -> Floats:
        """The same by the next tile, where one is decided next (`Lattice`); else of the region."""
        goal, cycles = self.question.goal, self.cycles(region)
        if goal == "latency":
            return self._with_ports(target, cycles, lambda ports: cycles + self._to_end(region, 1.0, ports))
        assert region.kept is not None
        units, delay = self.units(region), cycles if goal == "edp" else 1.0
        if (units + self.once(region.kept)) * delay >= target:
            return np.array(target)
        if goal != "edp":
            return np.minimum(target, units + self._to_end(region, 0.0, NO_PORTS))
        energy = units + self.anywhere(region.kept)
        longest = target / energy - cycles if energy else inf
        worth = target / (cycles * (cycles + longest)) if longest > 0 else 0.0

        def by_delay(ports: Ports) -> Floats:
            """3d: energy times delay, by a sum of energy and of cycles of first and last tiles."""
            found = units + self._to_end(region, worth, ports)
            return found * cycles + longest * np.minimum(0.0, found - target / cycles) if worth else found * cycles

        return self._with_ports(target, energy * cycles, by_delay)

    def _with_ports(self, target: float, least: float, bound: Callable[[Ports], Floats]) -> Floats:
        """A bound with the ports that first and last tiles of inputs, and of the output, may take longest to pass."""
        chosen, best = NO_PORTS, np.array(least)
        for back, port in product((False, True), self.ports or [None]):
            if best.min() >= target:
                break
            ports = (chosen[0], port) if back else (port, chosen[1])
            found = bound(ports)
            chosen, best = ports if found.min() > best.min() else chosen, np.maximum(best, found)
        return np.minimum(target, best)

    def open_parts(self, region: Region, target: float, least: float) -> Iterator[tuple[Region, float]]:
        """The parts of a region without tiles that surely cost `least`, or do not fit; and what each surely costs."""
        if not region.spread or region.decided:
            yield from ((part, 0.0) for part in region.parts())
            return
        sizes = self.lattice(region.spatial()).sizes
        floors = np.broadcast_to(self.by_tile(region, target), tuple(map(len, sizes)))
        for at in np.argwhere(floors < least).tolist():
            tile = tuple(own[place] for own, place in zip(sizes, at, strict=True))
            yield replace(region, tiles=(*region.tiles, tile)), float(floors[tuple(at)])

    def _once(self, kept: Kept) -> float:
        """3a with the whole tensors as tiles: cost of words between memories if each element moves once."""
        region, whole = Region(self.question, kept), self.lattice(self.bounds)
        own = ((t, c) for c in region.memories for t in range(len(self.output)) if kept[c][t])
        return sum(float(self.crossing(region, t, c, whole).flat[0]) for t, c in own)

    def _anywhere(self, kept: Kept) -> float:
        """Least cost of words between memories, however dimensions are spread."""
        return float(self._to_end(Region(self.question, kept), 0.0, NO_PORTS))

    def _moves(self, kept: Kept, spreads: tuple[Factors, ...]) -> Tables:
        """3a: what tensors move, whatever cycles are worth; without first tiles and costs to go."""
        region = Region(self.question, kept, spreads)
        lattice, tensors = self.lattice(region.spatial()), range(len(self.output))
        found, end = Tables(lattice, [], [], [], [], []), np.zeros(lattice.shape)
        for c in region.memories:
            found.moves.append({t: self.crossing(region, t, c, lattice) for t in tensors if kept[c][t]})
            found.still.append(self._rest(lattice, found.moves[-1], lambda resting: [] if resting else [end]))
            found.fits.append(self.fits(region, c, lattice))
        return found

    def _tables(self, kept: Kept, spreads: tuple[Factors, ...], worth: float, ports: Ports) -> Tables:
        """3a: least costs to go, from the outermost memory inwards, with a cycle of first tiles at `worth`."""
        region, found = Region(self.question, kept, spreads), self.moves(kept, spreads)._replace(first=[], to_go=[])
        for n, c in reversed(list(enumerate(region.memories))):
            found.first.insert(0, self.first_tiles(region, c, found.lattice, ports) * worth)
            found.to_go.insert(0, self._to_go(found, n))
        return found

    def _to_go(self, tables: Tables, n: int) -> Floats:
        """Costs to go of memory `n` by its tile, where `tables` have those of memories outside of it alone."""
        lattice, moves, found = tables.lattice, tables.moves[n], tables.still[n]
        if tables.to_go:
            beyond = tables.fits[n + 1] + tables.to_go[0]
            found = self._rest(lattice, moves, lambda resting: [beyond + tables.still[n](resting)])
        return found(frozenset(moves)) + tables.first[0]

    def _rest(self, lattice: Lattice, moves: dict[int, Floats], over: Callable[[Resting], list[Floats]]) -> Least:
        """By tensors that rest, and their tile, the least that they move until the end: a loop moves some, or the loops
        of the next memory are `over`."""

        @cache
        def rest(resting: Resting) -> Floats:
            some = self.left(resting) if resting else ()
            ways = [total([rest(left), *(moves[t] for t in resting - left)]) for left in some]
            return lattice.least_beyond([*ways, *over(resting)], self.free_dims(resting))

        return rest

    def free_dims(self, resting: Resting) -> frozenset[int]:
        """Dimensions whose loops let all these tensors rest; those of a window do, for a bound."""
        return self.every.difference(*(self.plain[t] for t in resting))

    def left(self, resting: Resting) -> set[frozenset[int]]:
        """Tensors that still rest after a loop that moves some of them, by the loop's dimension; or all move."""
        found = {frozenset(t for t in resting if d not in self.plain[t]) for d in self.every}
        return {one for one in found if one != resting} | {frozenset()}

    def _to_end(self, region: Region, worth: float, ports: Ports) -> Floats:
        """The least cost of words between memories, and of first tiles at `worth` a cycle, by the next tile."""
        assert region.kept is not None
        if not region.memories:
            return np.array(0.0)
        tables = self.tables(region.kept, region.spreads, worth, ports)
        if not region.tiles:
            found = tables.fits[0] + tables.to_go[0]
            return found if region.spread else np.array(found.min())
        sizes, last = tables.lattice.sizes, len(region.tiles) - 1
        at: list[Places] = [[(n.index(size),) for n, size in zip(sizes, tile, strict=True)] for tile in region.tiles]
        at.append([range(len(own)) for own in sizes])
        cost = np.array(0.0)
        for n in range(last + (not region.decided)):
            cost = cost + tables.first[n][np.ix_(*at[n])] + self._between(tables, n, at[n], at[n + 1])
        if region.decided:
            return np.array((cost + tables.to_go[last][np.ix_(*at[last])]).min())
        cost = cost + tables.fits[last + 1] + tables.to_go[last + 1]
        for d, (own, low) in enumerate(zip(sizes, region.tiles[-1], strict=True)):
            cost = cost + tables.lattice.of_dim(d, [0.0 if size % low == 0 else inf for size in own])
        return cost

    def _between(self, tables: Tables, n: int, inner: Places, outer: Places) -> Floats:
        """3a: what memory `n` moves in the loops between its tile and that of the next memory, with the best order."""
        moves, lattice = tables.moves[n], tables.lattice

        def rest(resting: Resting) -> Floats:
            if not resting:
                return np.array(0.0)
            dims = self.free_dims(resting)
            at = [outer[d] if d in dims else inner[d] for d in range(len(inner))]
            ways = [total(moves[t][np.ix_(*at)] for t in resting - left) + rest(left) for left in self.left(resting)]
            still = tables.still[n](resting)[np.ix_(*outer)]
            for d in self.every - dims:
                still = still + lattice.of_dim(d, [0.0 if place == inner[d][0] else inf for place in outer[d]])
            return reduce(np.minimum, [*ways, still])

        return rest(frozenset(moves))
