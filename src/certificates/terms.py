"""Terms of statement 3: what the mappings of a region move and take at least, by the tiles of memories."""

from functools import lru_cache, partial
from math import inf, prod
from typing import NamedTuple

import numpy as np

from ..costs.exact.axes import axes_of, distinct
from ..costs.exact.validity import bits_of_word
from .space import Floats, Kept, Lattice, Question, Region

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
