"""Statement 3: what all mappings of a region cost at least, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf, prod
from typing import NamedTuple

from ..costs.exact import dram_bits, evaluate
from ..costs.exact.axes import axes_of, tile_words
from ..costs.exact.validity import bits_of_word
from ..costs.hierarchy import Architecture, LoopMapping, Problem
from .space import Goal, Question, Region

PORT_ROUNDING = 1 - Fraction(1, 10**11)
"""The cost model takes a quotient of cycles that is this close above an integer for that integer."""


class Words(NamedTuple):
    """Words of one tensor at one level, of all instances together."""

    reads: int
    writes: int


def price(arch: Architecture, problem: Problem, mapping: LoopMapping, goal: Goal) -> Fraction | float:
    """The scalar model's price of one mapping; infinite where the machine cannot run it."""
    found = evaluate(arch, problem, mapping)
    if not found.valid:
        return inf
    if goal == "dram":
        return Fraction(dram_bits(arch, problem, found), arch.levels[-1].word_bits)
    energy, cycles = Fraction(found.energy_pj), Fraction(found.cycles)
    return {"edp": energy * cycles, "energy": energy, "latency": cycles}[goal]


class Bounds:
    """Bounds of the regions of one question."""

    def __init__(self, question: Question) -> None:
        self.question = question
        arch, problem = question.arch, question.problem
        self.axes = [axes_of(tensor, problem.bounds) for tensor in problem.tensors]
        self.elements = [tile_words(found, problem.bounds) for found in self.axes]
        self.slides = [bool(found.windows) for found in self.axes]
        self.related = [found.related for found in self.axes]
        self.scales = [[Fraction(bits_of_word(t, m), m.word_bits) for t in problem.tensors] for m in arch.levels]
        self.read_pj = [Fraction(memory.energy_pj) / memory.block_size for memory in arch.levels]
        self.write_pj = [Fraction(memory.energy_of_write_pj) / memory.block_size for memory in arch.levels]
        self.units_pj = problem.macs * Fraction(arch.mac_energy_pj)

    def least(self, region: Region) -> Fraction:
        """What each mapping of the region costs at least."""
        assert region.kept is not None
        words = [self.words(region, t) for t in range(len(self.elements))]
        match self.question.goal:
            case "edp":
                return self.energy(words) * self.cycles(region, words)
            case "energy":
                return self.energy(words)
            case "latency":
                return self.cycles(region, words)
            case "dram":
                return sum((sum(w[-1]) * s for w, s in zip(words, self.scales[-1], strict=True)), Fraction(0))

    def words(self, region: Region, t: int) -> list[Words]:
        """3a: words of tensor `t` at each level, with the order of loops that is best for it alone."""
        assert region.kept is not None
        question, elements = self.question, self.elements[t]
        levels, output = len(question.arch.levels), question.problem.tensors[t].is_output
        copies, moves = self._copies(region, t), self._moves(region, t)
        found, child = list[Words](), -1
        for level in range(levels):
            if not region.kept[level][t]:
                found.append(Words(0, 0))
                continue
            sent, owned = elements * copies[level] * moves[child + 1], elements * copies[level]
            sent *= self._operands(region, t, level) if child < 0 else 1
            arriving = elements * copies[level] * moves[level + 1] if level < levels - 1 else 0
            if not output:
                found.append(Words(sent, arriving))
            else:
                found.append(Words(sent - owned + arriving, max(0, arriving - owned) + sent))
            child = level
        return found

    def _operands(self, region: Region, t: int, level: int) -> int:
        """How often an element goes to the units, at least, for dimensions that are not its own and not decided yet.

        Units share it within a step only, as many as are left below an instance of the level.
        """
        question = self.question
        dims = question.dims[len(region.factors) :]
        steps = prod(question.problem.bounds[d] for d in dims if d not in self.related[t])
        return -(-steps // self._free(region, level))

    def _free(self, region: Region, level: int) -> int:
        """Children that factors may still be spread over, in the arrays below `level` and the levels further in."""
        spread, slots = region.spread(), self.question.slots
        return prod(width // spread[own, kind] for own, kind, width in slots if kind != "t" and own <= level)

    def _copies(self, region: Region, t: int) -> list[int]:
        """By level, its instances that need the same elements, at least: spatial factors of other dimensions."""
        found = [1] * len(self.question.arch.levels)
        for d, factors in zip(self.question.dims, region.factors, strict=False):
            if d not in self.related[t]:
                for (outer, kind, _), factor in zip(self.question.slots, factors, strict=True):
                    for level in range(outer if kind != "t" else 0):
                        found[level] *= factor
        return found

    def _moves(self, region: Region, t: int) -> list[int]:
        """How often all elements move at least into tiles of level `place - 1`; into the units, which keep none, at 0.

        A loop of another dimension moves them once more per iteration if one of the tensor's own lies further in,
        between it and the tile.  Within a level it is taken to lie innermost.
        """
        levels = len(self.question.arch.levels)
        own, other = [1] * levels, [1] * levels
        for d, factors in zip(self.question.dims, region.factors, strict=False):
            for (level, kind, _), factor in zip(self.question.slots, factors, strict=True):
                if kind == "t":
                    (own if d in self.related[t] else other)[level] *= factor
        found = [prod(other)]
        for child in range(levels):
            outside = range(child + 1, levels)
            first = min((level for level in outside if own[level] > 1), default=levels)
            found.append(1 if self.slides[t] else prod(other[first + 1 :]))
        return found

    def energy(self, words: list[list[Words]]) -> Fraction:
        """3b: the sum over tensors, units included; hops are left out."""
        total = self.units_pj
        for t, found in enumerate(words):
            for level, (reads, writes) in enumerate(found):
                total += self.scales[level][t] * (reads * self.read_pj[level] + writes * self.write_pj[level])
        return total

    def cycles(self, region: Region, words: list[list[Words]]) -> Fraction:
        """3c: steps, or words over bandwidth if those take longer, and then latencies and the first tiles."""
        question, undecided = self.question, self._undecided(region)
        spread, free = region.spread(), self._free(region, len(question.arch.levels) - 1)
        steps = prod(
            f for factors in region.factors for slot, f in zip(question.slots, factors, strict=True) if slot[1] == "t"
        )
        found = Fraction(steps * max(1, -(-undecided // free)))
        used = undecided
        for level in reversed(range(len(question.arch.levels))):
            memory = question.arch.levels[level]
            instances = min(used, memory.instances)
            reads, writes = (
                sum((w[level][i] * s for w, s in zip(words, self.scales[level], strict=True)), Fraction(0))
                for i in (0, 1)
            )
            ports = (
                (memory.read_bandwidth, reads),
                (memory.write_bandwidth, writes),
                (memory.shared_bandwidth, reads + writes),
            )
            for bandwidth, moved in ports:
                if bandwidth is not None:
                    found = max(found, moved / instances / Fraction(bandwidth) * PORT_ROUNDING)
            used *= spread.get((level, "x"), 1) * spread.get((level, "y"), 1)
        return found + self._begin(region) + self._latency(region, output=True)

    def _begin(self, region: Region) -> Fraction:
        """Latencies inwards, and cycles in which the first tiles of the inputs leave the outermost memory."""
        question, words = self.question, Fraction(0)
        outermost = question.arch.levels[-1]
        for t, tensor in enumerate(question.problem.tensors):
            own = self._innermost(region, t)
            if not tensor.is_output and own < len(question.arch.levels) - 1:
                words += self._first(region, t, own) * self.scales[-1][t]
        ports = outermost.read_bandwidth, outermost.shared_bandwidth, outermost.network_bandwidth
        slowest = min((Fraction(bandwidth) for bandwidth in ports if bandwidth is not None), default=None)
        cycles = 0 if slowest is None else ceil(words / slowest * PORT_ROUNDING)
        return Fraction(self._latency(region, output=False) + cycles)

    def _first(self, region: Region, t: int, own: int) -> int:
        """Words of a tensor in the first tiles of level `own`, the innermost that keeps it, of all instances.

        Of a window it is one tile: others may lie apart, or over it.
        """
        tile = [1] * len(self.question.problem.dims)
        for d, factors in zip(self.question.dims, region.factors, strict=False):
            slots = zip(self.question.slots, factors, strict=True)
            spread = not self.slides[t]
            tile[d] = prod(f for (level, kind, _), f in slots if level <= own or (spread and kind != "t"))
        return tile_words(self.axes[t], tuple(tile))

    def _latency(self, region: Region, *, output: bool) -> int:
        """Latencies from the innermost memory that keeps an input, or the output, to the outermost."""
        tensors = self.question.problem.tensors
        own = [self._innermost(region, t) for t, tensor in enumerate(tensors) if tensor.is_output is output]
        levels = self.question.arch.levels
        return sum(level.latency_cycles for level in levels[min(own, default=len(levels)) :])

    def _innermost(self, region: Region, t: int) -> int:
        assert region.kept is not None
        return next(level for level, kept in enumerate(region.kept) if kept[t])

    def _undecided(self, region: Region) -> int:
        """Iterations of the dimensions whose factors are not decided."""
        dims = self.question.dims[len(region.factors) :]
        return prod(self.question.problem.bounds[d] for d in dims)
