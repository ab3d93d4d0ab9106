"""Terms of statement 3: what the mappings of a region move and take at least, by the tiles of memories."""

from __future__ import annotations

from functools import lru_cache, partial
from math import inf, prod
from typing import NamedTuple

import numpy as np

from ..costs.exact.axes import axes_of, distinct
from ..costs.exact.validity import bits_of_word
from .lattice import Floats, Lattice
from .space import Kept, Question, Region

MOST_TABLES = 64
"""Lattices, and tables of regions, that are remembered."""

PORT_ROUNDING = 1 - 1e-11
"""The cost model takes a quotient of cycles that is this close above an integer for that integer."""


class Words(NamedTuple):
    """pJ (or off-chip words, of goal `dram`) of a tensor's words in a level: read, and written."""

    read: float
    write: float


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
        self.question = question
        arch, problem = question.arch, question.problem
        self.axes = [axes_of(tensor, problem.bounds) for tensor in problem.tensors]
        self.plain = [frozenset(found.plain) for found in self.axes]
        self.every = frozenset(range(len(problem.dims)))
        kinds = "write", "read", "shared", "network"
        every = (
            (n, kind, getattr(level, f"{kind}_bandwidth")) for n, level in enumerate(arch.levels) for kind in kinds
        )
        self.ports = [Port(*port) for port in every if port[2] is not None]
        self.output = [tensor.is_output for tensor in problem.tensors]
        self.scales = [[bits_of_word(t, m) / m.word_bits for t in problem.tensors] for m in arch.levels]
        self.words = [[self._word(level, scale) for scale in own] for level, own in enumerate(self.scales)]
        self.units_pj = 0.0 if question.goal == "dram" else problem.macs * arch.mac_energy_pj
        self.lattice = lru_cache(MOST_TABLES)(partial(Lattice, problem, self.axes))
        self.elements = [int(found.flat[-1]) for found in self.lattice((1,) * len(problem.dims)).words]

    def _word(self, level: int, scale: float) -> Words:
        memory = self.question.arch.levels[level]
        if self.question.goal in ("dram", "latency"):
            counted = self.question.goal == "dram" and level == len(self.question.arch.levels) - 1
            return Words(scale, scale) if counted else Words(0.0, 0.0)
        return Words(*(scale * pj / memory.block_size for pj in (memory.energy_pj, memory.energy_of_write_pj)))

    def units(self, region: Region) -> float:
        """3b: energy of the units, and of the words between them and memories."""
        assert region.kept is not None
        base, costs, alone = self.units_pj, list[float](), 0.0
        left = [d for d in self.every if d not in self.question.dims[: len(region.spreads)]]
        for t, output in enumerate(self.output):
            p = self.innermost(region.kept, t)
            word = self.words[p][t]
            pj = word.read + word.write if output else word.read
            base -= self.elements[t] * word.read if output and p == len(self.words) - 1 else 0.0
            alone += pj * self.operands(region, t, p)
            costs.append(pj * self.operands(region, t, -1))
        # each dimension shares words of `shared` tensors at most: means of costs, arithmetic and geometric
        shared = max((sum(d in axes.unrelated for axes in self.axes) for d in left), default=0)
        free, count = self.free(region, 0, len(self.words)), len(costs)
        mean = (prod(costs) / float(free) ** shared) ** (1 / count)
        return base + max(alone, count * mean * PORT_ROUNDING)

    def operands(self, region: Region, t: int, p: int) -> int:
        """Words of tensor `t` that level `p` and the units exchange, at least: units share one within a step only.

        With `p` of -1, words of the units for the factors that are decided, each for itself along other dimensions.
        """
        question, axes = self.question, self.axes[t]
        last = p if p >= 0 else len(self.words)
        inside, left = region.spatial(0, last), question.dims[len(region.spreads) :]
        bounds = question.problem.bounds
        found = prod(bounds[d] for d in axes.plain)
        for window in axes.windows:
            own = tuple(bounds[d] for d in window.dims)
            apart = sum(inside[d] > 1 or d in left for d in window.dims) < 2  # units of a step have different elements
            found *= prod(own) if apart else distinct(window.coefficients, own)
        found *= prod(bounds[d] // inside[d] for d in axes.unrelated if d not in left)
        again = prod(bounds[d] for d in axes.unrelated if d in left)
        return found * (again if p < 0 else -(-again // self.free(region, 0, p)))

    def free(self, region: Region, first: int, last: int) -> int:
        """Children that factors may still be spread over, in arrays below levels `first` to `last`."""
        arrays = zip(region.on_arrays(), self.question.arrays, strict=True)
        return prod(max(1, x * y // prod(used)) for used, (level, x, y) in arrays if first <= level <= last)

    def copies(self, region: Region, t: int, level: int) -> int:
        """Instances of a level that need the same elements, at least: spatial factors of other dimensions."""
        outside = region.spatial(level + 1)
        return prod(outside[d] for d in self.axes[t].unrelated)

    @staticmethod
    def innermost(kept: Kept, t: int, beyond: int = -1) -> int:
        """The innermost level outside of `beyond` that keeps a tensor."""
        return next(level for level, own in enumerate(kept) if own[t] and level > beyond)

    def crossing(self, region: Region, t: int, c: int, lattice: Lattice) -> Floats:
        """3a: cost of what tensor `t` moves between level `c` and its parent if it rests up to each tile."""
        assert region.kept is not None
        p = self.innermost(region.kept, t, c)
        inner, outer = self.words[c][t], self.words[p][t]
        copies, above = self.copies(region, t, c), self.copies(region, t, p)
        between = region.spatial(c + 2, p)
        whole = p == c + 1 or (region.spread and all(between[d] == 1 for w in self.axes[t].windows for d in w.dims))
        moved = lattice.moved[t] if whole else lattice.once[t]
        if not self.output[t]:
            return moved * (above * outer.read + copies * inner.write)
        cost = moved * (above * sum(outer) + copies * sum(inner)) - self.elements[t] * copies * sum(inner)
        return cost - (self.elements[t] * outer.read if p == len(self.words) - 1 else 0.0)

    def fits(self, region: Region, c: int, lattice: Lattice) -> Floats:
        """Statement 2: 0 for tiles of level `c` that may fit, infinite for others."""
        assert region.kept is not None
        memory, problem = self.question.arch.levels[c], self.question.problem
        if memory.entries is None:
            return np.zeros(lattice.shape)
        parts = region.spatial(c + 1)
        kept = (t for t, keep in enumerate(region.kept[c]) if keep)
        bits = sum(bits_of_word(problem.tensors[t], memory) * lattice.tile_words(self.axes[t], parts) for t in kept)
        room = memory.entries * memory.word_bits * self.free(region, c + 1, len(self.words))
        return np.where(bits * memory.multiple_buffering <= room, 0.0, inf)

    def first_tiles(self, region: Region, c: int, lattice: Lattice, ports: Ports) -> Floats:
        """3c: cycles in which first or last tiles of tensors that no memory inside `c` keeps pass these ports."""
        assert region.kept is not None
        found, outermost = np.zeros(lattice.shape), len(self.words) - 1
        for t, output in enumerate(self.output):
            port = ports[output]
            if port is None or self.innermost(region.kept, t) != c or port.level < c:
                continue
            held, level = region.kept[port.level][t], port.level
            inner, outer = held and level > c, held and level < outermost  # passes between it and memories in and out
            times = {"read": outer if output else inner, "write": inner if output else outer, "shared": inner + outer}
            if count := times.get(port.kind, level > c):
                at = level if not self.axes[t].windows else c  # of a window one tile: others may lie over it
                words = lattice.tile_words(self.axes[t], region.spatial(at + 1)) if region.spread else 1.0
                found = found + words * (count * self.scales[level][t] / port.bandwidth * PORT_ROUNDING)
        return found

    def cycles(self, region: Region) -> float:
        """3c: steps, or words over bandwidth if those take longer, and latencies."""
        question, levels = self.question, self.question.arch.levels
        decided = frozenset(question.dims[: len(region.spreads)])
        left = prod(n for d, n in enumerate(question.problem.bounds) if d not in decided)
        spread = region.spatial()
        steps = prod(n // spread[d] for d, n in enumerate(question.problem.bounds) if d in decided)
        found = float(steps * -(-left // self.free(region, 0, len(levels))))
        for level, (reads, writes) in enumerate(self.least_words(region)):
            memory = levels[level]
            instances = min(memory.instances, left * prod(region.spatial(level + 1)))
            for bandwidth, words in (
                (memory.read_bandwidth, reads),
                (memory.write_bandwidth, writes),
                (memory.shared_bandwidth, reads + writes),
            ):
                if bandwidth is not None:
                    found = max(found, words / instances / bandwidth * PORT_ROUNDING)
        return found + sum(self._latency(region, output=output) for output in (False, True))

    def least_words(self, region: Region) -> list[tuple[float, float]]:
        """3c: words that each level reads and writes at least: operands, and each element once."""
        assert region.kept is not None
        found = [[0.0, 0.0] for _ in self.words]
        for t, output in enumerate(self.output):
            p = self.innermost(region.kept, t)
            owned = self.elements[t] * self.copies(region, t, p)
            operands = self.operands(region, t, p)
            found[p][0] += (operands - owned if output else operands) * self.scales[p][t]
            found[p][1] += operands * self.scales[p][t] if output else 0.0
            while p < len(self.words) - 1:
                c, p = p, self.innermost(region.kept, t, p)
                words = self.elements[t] * self.copies(region, t, p)
                found[p][output] += words * self.scales[p][t]
                if not output:
                    found[c][1] += self.elements[t] * self.copies(region, t, c) * self.scales[c][t]
        return [(reads, writes) for reads, writes in found]

    def _latency(self, region: Region, *, output: bool) -> int:
        """Latencies from the innermost memory that keeps an input, or the output, to the outermost."""
        assert region.kept is not None
        own = [self.innermost(region.kept, t) for t, is_output in enumerate(self.output) if is_output is output]
        levels = self.question.arch.levels
        return sum(level.latency_cycles for level in levels[min(own, default=len(levels)) :])
