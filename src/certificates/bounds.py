"""Statement 3: what all mappings of a region cost at least, from least costs to go of all tiles.

All terms are sums and products of numbers that are not negative, so doubles err by far less than `check.SLACK`.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, lru_cache, partial, reduce
from itertools import product
from math import inf, prod
from typing import NamedTuple

import numpy as np

from ..algebra.element import Floats
from ..costs.exact import dram_bits, evaluate
from ..costs.exact.axes import axes_of, distinct
from ..costs.exact.validity import bits_of_word
from ..costs.hierarchy import Architecture, LoopMapping, Problem
from .space import Factors, Kept, Lattice, Places, Question, Region, total

MOST_TABLES = 64
"""Lattices, and tables of regions, that are remembered."""

PORT_ROUNDING = 1 - 1e-11
"""The cost model takes a quotient of cycles that is this close above an integer for that integer."""


class Port(NamedTuple):
    """A port of a level that words wait at, in words per cycle of one instance."""

    level: int
    kind: str
    bandwidth: float


Ports = tuple[Port | None, Port | None]
"""The port whose cycles count for first tiles of inputs, and for last tiles of the output."""

NO_PORTS: Ports = (None, None)


class Terms:
    """What is known of one question, and of its regions."""

    def __init__(self, question: Question) -> None:
        self.question, self.levels, self.bounds = question, question.arch.levels, question.problem.bounds
        tensors, self.outermost = question.problem.tensors, len(self.levels) - 1
        self.axes = [axes_of(tensor, self.bounds) for tensor in tensors]
        self.plain = [frozenset(found.plain) for found in self.axes]
        self.every = frozenset(range(len(self.bounds)))
        kinds = "write", "read", "shared", "network"
        ports = ((n, kind, getattr(own, f"{kind}_bandwidth")) for n, own in enumerate(self.levels) for kind in kinds)
        self.ports = [Port(*port) for port in ports if port[2] is not None]
        self.output = [tensor.is_output for tensor in tensors]
        self.scales = [[bits_of_word(t, level) / level.word_bits for t in tensors] for level in self.levels]
        self.units_pj = 0.0 if question.goal == "dram" else question.problem.macs * question.arch.mac_energy_pj
        self.lattice = lru_cache(MOST_TABLES)(partial(Lattice, question.problem, self.axes))
        self.elements = [int(found.flat[-1]) for found in self.lattice((1,) * len(self.bounds)).words]

    def word(self, c: int, t: int) -> tuple[float, float]:
        """Cost of a word of tensor `t` that is read, and of one that is written, in level `c`."""
        level, scale = self.levels[c], self.scales[c][t]
        if self.question.goal in ("dram", "latency"):
            return (scale, scale) if self.question.goal == "dram" and c == self.outermost else (0.0, 0.0)
        return scale * level.energy_pj / level.block_size, scale * level.energy_of_write_pj / level.block_size

    def units(self, region: Region) -> float:
        """3b: energy of the units, and of the words between them and memories."""
        assert region.kept is not None
        base, costs, alone = self.units_pj, list[float](), 0.0
        left = self.question.dims[len(region.spreads) :]
        for t, output in enumerate(self.output):
            p = self.innermost(region.kept, t)
            read, write = self.word(p, t)
            base -= self.elements[t] * read if output and p == self.outermost else 0.0
            alone += (read + write * output) * self.operands(region, t, p)
            costs.append((read + write * output) * self.operands(region, t, -1))
        # each dimension shares words of `shared` tensors at most: means of costs, arithmetic and geometric
        shared = max((sum(d in axes.unrelated for axes in self.axes) for d in left), default=0)
        mean = (prod(costs) / float(self.free(region, 0, self.outermost)) ** shared) ** (1 / len(costs))
        return base + max(alone, len(costs) * mean * PORT_ROUNDING)

    def operands(self, region: Region, t: int, p: int) -> int:
        """Words of tensor `t` that level `p` and the units exchange, at least: units share one within a step only.

        With `p` of -1, words of the units for the factors that are decided, each for itself along other dimensions.
        """
        axes, left = self.axes[t], self.question.dims[len(region.spreads) :]
        inside = region.spatial(0, p if p >= 0 else None)
        found = prod(self.bounds[d] for d in axes.plain)
        for window in axes.windows:
            own = tuple(self.bounds[d] for d in window.dims)
            apart = sum(inside[d] > 1 or d in left for d in window.dims) < 2  # units of a step have different elements
            found *= prod(own) if apart else distinct(window.coefficients, own)
        found *= prod(self.bounds[d] // inside[d] for d in axes.unrelated if d not in left)
        again = prod(self.bounds[d] for d in axes.unrelated if d in left)
        return found * (again if p < 0 else -(-again // self.free(region, 0, p)))

    def free(self, region: Region, first: int, last: int) -> int:
        """Children that factors may still be spread over, in arrays below levels `first` to `last`."""
        arrays = zip(region.on_arrays(), self.question.arrays, strict=True)
        return prod(max(1, x * y // prod(used)) for used, (level, x, y) in arrays if first <= level <= last)

    def copies(self, region: Region, t: int, c: int) -> int:
        """Instances of level `c` that need the same elements, at least: spatial factors of other dimensions."""
        outside = region.spatial(c + 1)
        return prod(outside[d] for d in self.axes[t].unrelated)

    @staticmethod
    def innermost(kept: Kept, t: int, beyond: int = -1) -> int:
        """The innermost level outside of `beyond` that keeps a tensor."""
        return next(level for level, own in enumerate(kept) if own[t] and level > beyond)

    def crossing(self, region: Region, t: int, c: int, lattice: Lattice) -> Floats:
        """3a: cost of what tensor `t` moves between level `c` and its parent if it rests up to each tile."""
        assert region.kept is not None
        p = self.innermost(region.kept, t, c)
        inner, outer = self.word(c, t), self.word(p, t)
        copies, above, between = self.copies(region, t, c), self.copies(region, t, p), region.spatial(c + 2, p)
        whole = p == c + 1 or (region.spread and all(between[d] == 1 for w in self.axes[t].windows for d in w.dims))
        moved = lattice.moved[t] if whole else lattice.once[t]
        if not self.output[t]:
            return moved * (above * outer[0] + copies * inner[1])
        never = copies * sum(inner) + (outer[0] if p == self.outermost else 0.0)
        return moved * (above * sum(outer) + copies * sum(inner)) - self.elements[t] * never

    def fits(self, region: Region, c: int, lattice: Lattice) -> Floats:
        """Statement 2: 0 for tiles of level `c` that may fit, infinite for others."""
        assert region.kept is not None
        level, tensors, parts = self.levels[c], self.question.problem.tensors, region.spatial(c + 1)
        if level.entries is None:
            return np.zeros(lattice.shape)
        kept = (t for t, keep in enumerate(region.kept[c]) if keep)
        bits = sum(bits_of_word(tensors[t], level) * lattice.tile_words(self.axes[t], parts) for t in kept)
        room = level.entries * level.word_bits * self.free(region, c + 1, self.outermost)
        return np.where(bits * level.multiple_buffering <= room, 0.0, inf)

    def first_tiles(self, region: Region, c: int, lattice: Lattice, ports: Ports) -> Floats:
        """3c: cycles in which first or last tiles of tensors that no memory inside `c` keeps pass these ports."""
        assert region.kept is not None
        found = np.zeros(lattice.shape)
        for t, output in enumerate(self.output):
            port = ports[output]
            if port is None or self.innermost(region.kept, t) != c or port.level < c:
                continue
            held, level = region.kept[port.level][t], port.level
            inner, outer = held and level > c, held and level < self.outermost  # passes to and from memories in and out
            times = {"read": outer if output else inner, "write": inner if output else outer, "shared": inner + outer}
            at = level if not self.axes[t].windows else c  # of a window one tile: others may lie over it
            words = lattice.tile_words(self.axes[t], region.spatial(at + 1)) if region.spread else 1.0
            cycles = times.get(port.kind, level > c) * self.scales[level][t] / port.bandwidth * PORT_ROUNDING
            found = found + words * cycles
        return found

    def cycles(self, region: Region) -> float:
        """3c: steps, or words over bandwidth if those take longer, and latencies."""
        left = prod(self.bounds[d] for d in self.question.dims[len(region.spreads) :])
        steps = prod(n // own for n, own in zip(self.bounds, region.spatial(), strict=True))
        found = float(steps // left * -(-left // self.free(region, 0, self.outermost)))
        words = self.least_words(region)
        for level, kind, bandwidth in self.ports:
            instances = min(self.levels[level].instances, left * prod(region.spatial(level + 1)))
            reads, writes = words[level]
            passing = {"read": reads, "write": writes, "shared": reads + writes}.get(kind, 0.0)
            found = max(found, passing / instances / bandwidth * PORT_ROUNDING)
        return found + self.latency(region)

    def least_words(self, region: Region) -> list[list[float]]:
        """3c: words that each level reads and writes at least: operands, and each element once."""
        assert region.kept is not None
        found = [[0.0, 0.0] for _ in self.levels]
        for t, output in enumerate(self.output):
            p = self.innermost(region.kept, t)
            owned, operands = self.elements[t] * self.copies(region, t, p), self.operands(region, t, p)
            found[p][0] += (operands - owned if output else operands) * self.scales[p][t]
            found[p][1] += operands * self.scales[p][t] * output
            while p < self.outermost:
                c, p = p, self.innermost(region.kept, t, p)
                found[p][output] += self.elements[t] * self.copies(region, t, p) * self.scales[p][t]
                found[c][1] += self.elements[t] * self.copies(region, t, c) * self.scales[c][t] * (not output)
        return found

    def latency(self, region: Region) -> int:
        """3c: latencies from the innermost memory that keeps an input to the outermost, and back for the output."""
        assert region.kept is not None
        own = [(self.innermost(region.kept, t), output) for t, output in enumerate(self.output)]
        ends = (
            min((level for level, side in own if side is output), default=len(self.levels)) for output in (False, True)
        )
        return sum(level.latency_cycles for end in ends for level in self.levels[end:])


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
