"""The space of mappings with perfect factors, and its regions: a partial mapping stands for all that extend it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, permutations, product
from math import factorial, prod
from typing import Literal

from ..algebra.factors import divisors_of
from ..costs.exact.axes import axes_of, tile_words
from ..costs.exact.validity import bits_of_word
from ..costs.hierarchy import Architecture, LevelMapping, Loop, LoopMapping, Problem
from ..errors import TilewrightError

Goal = Literal["edp", "energy", "latency", "dram"]
GOALS: tuple[Goal, ...] = ("edp", "energy", "latency", "dram")

MAX_PARTS = 100_000
"""Regions that one is split into, and orders of loops in one, at most: work must end whatever a certificate says."""

Kept = tuple[tuple[bool, ...], ...]
"""By level and tensor."""

Factors = tuple[int, ...]
"""Of one dimension, by slot."""


@dataclass(frozen=True)
class Question:
    """The space of a problem on a machine, and what is least: `dims` is the order in which regions decide factors."""

    arch: Architecture
    problem: Problem
    goal: Goal
    bypass: bool
    split_axes: bool
    dims: tuple[int, ...]

    def __post_init__(self) -> None:
        subject = f"certificate of {self.problem.name}"
        for tensor in self.problem.tensors:
            if tensor.is_output and axes_of(tensor, self.problem.bounds).windows:
                expected, lever = "a result whose indices are no sums", "map without --certificate"
                raise TilewrightError("unsupported", subject, expected, tensor.name, lever)
        if sorted(self.dims) != list(range(len(self.problem.dims))):
            raise TilewrightError("parse", subject, "each dimension once, to be decided in turn", str(self.dims))

    @cached_property
    def slots(self) -> tuple[tuple[int, str, int], ...]:
        """Places for a factor of each dimension: (level, `x`, `y` or `t`, the largest product there)."""
        found: list[tuple[int, str, int]] = []
        for level in range(len(self.arch.levels)):
            arrays = zip("xy", self.arch.fan_out(level), strict=True)
            found += [(level, kind, width) for kind, width in arrays if width > 1]
            found.append((level, "t", self.problem.macs))
        return tuple(found)

    @cached_property
    def keeps(self) -> tuple[Kept, ...]:
        """What memories may keep; the outermost keeps everything."""
        may = [self.arch.may_hold(level, self.problem) for level in range(len(self.arch.levels) - 1)]
        choices = [(True, False) if can and self.bypass else (can,) for level in may for can in level]
        self.limit(prod(map(len, choices)), "ways to keep tensors")
        count = len(self.problem.tensors)
        parts = ([flat[i : i + count] for i in range(0, len(flat), count)] for flat in product(*choices))
        return tuple((*kept, (True,) * count) for kept in parts)

    @cached_property
    def factors(self) -> tuple[tuple[Factors, ...], ...]:
        """By dimension, factors that multiply to its bound, none beyond its slot."""
        every = [list(islice(self._factors(bound, 0), MAX_PARTS + 1)) for bound in self.problem.bounds]
        self.limit(max(map(len, every)), "factors of a dimension")
        return tuple(tuple(f for f in found if self.split_axes or not self._on_both_axes(f)) for found in every)

    def limit(self, count: int, what: str) -> None:
        """Refuse what would take too long."""
        if count > MAX_PARTS:
            subject, lever = f"certificate of {self.problem.name}", "map without --certificate"
            raise TilewrightError("limit", subject, f"at most {MAX_PARTS} {what}", str(count), lever)

    def _factors(self, rest: int, place: int) -> Iterator[Factors]:
        if place == len(self.slots):
            yield from [()] if rest == 1 else []
            return
        for factor in divisors_of(rest):
            if factor <= self.slots[place][2]:
                yield from ((factor, *more) for more in self._factors(rest // factor, place + 1))

    def _on_both_axes(self, factors: Factors) -> bool:
        spread = [level for (level, kind, _), f in zip(self.slots, factors, strict=True) if kind != "t" and f > 1]
        return len(set(spread)) < len(spread)


@dataclass(frozen=True)
class Region:
    """All mappings that keep tensors so, if that is decided, and have these factors of the first of `Question.dims`."""

    question: Question
    kept: Kept | None = None
    factors: tuple[Factors, ...] = ()

    def __str__(self) -> str:
        kept = "" if self.kept is None else f"kept {self.kept}"
        names = [self.question.problem.dims[d] for d in self.question.dims]
        return " ".join([f"region {kept}", *(f"{n} = {f}" for n, f in zip(names, self.factors, strict=False))])

    def parts(self) -> Iterator[Region]:
        """The regions that this one is the union of; of a region with all factors there are none (`mappings`)."""
        if self.kept is None:
            yield from (replace(self, kept=kept) for kept in self.question.keeps)
        elif not self.decided:
            d = self.question.dims[len(self.factors)]
            yield from (replace(self, factors=(*self.factors, found)) for found in self.question.factors[d])

    @property
    def decided(self) -> bool:
        """Whether only orders of loops are left."""
        return len(self.factors) == len(self.question.dims)

    def spread(self) -> dict[tuple[int, str], int]:
        """Children by level and axis of an array, of the factors that are decided."""
        columns = zip(*self.factors, strict=True) if self.factors else ((),) * len(self.question.slots)
        found = zip(self.question.slots, columns, strict=True)
        return {(level, kind): prod(factors) for (level, kind, _), factors in found if kind != "t"}

    def exceeds_array(self) -> bool:
        """Statement 1: factors that are decided spread over more columns or rows than there are."""
        found = self.spread()
        return any(found[level, kind] > width for level, kind, width in self.question.slots if kind != "t")

    def exceeds_memory(self) -> bool:
        """Statement 2: tiles of the factors that are decided, other factors taken as 1, do not fit."""
        question, problem = self.question, self.question.problem
        tile = [1] * len(problem.dims)
        for level, memory in enumerate(question.arch.levels):
            for d, factors in zip(question.dims, self.factors, strict=False):
                tile[d] *= prod(f for slot, f in zip(question.slots, factors, strict=True) if slot[0] == level)
            if memory.entries is None or self.kept is None:
                continue
            words = [tile_words(axes_of(tensor, problem.bounds), tuple(tile)) for tensor in problem.tensors]
            kept = zip(problem.tensors, words, self.kept[level], strict=True)
            demand = sum(count * bits_of_word(tensor, memory) for tensor, count, keep in kept if keep)
            if demand * memory.multiple_buffering > memory.entries * memory.word_bits:
                return True
        return False

    def mappings(self) -> Iterator[LoopMapping]:
        """Statement 4: one mapping for each order of loops that may matter, all factors decided."""
        assert self.kept is not None
        question, names = self.question, [tensor.name for tensor in self.question.problem.tensors]
        loops: dict[tuple[int, str], list[Loop]] = {(level, kind): [] for level, kind, _ in question.slots}
        for d, factors in zip(question.dims, self.factors, strict=True):
            for (level, kind, _), factor in zip(question.slots, factors, strict=True):
                loops[level, kind] += [Loop(d, factor)] if factor > 1 else []
        away = [frozenset(n for n, keep in zip(names, kept, strict=True) if not keep) for kept in self.kept]
        levels = question.arch.levels
        question.limit(prod(factorial(len(found)) for (level, _), found in loops.items() if level), "orders of loops")
        temporal = (permutations(loops[n, "t"]) if n else [tuple(loops[n, "t"])] for n in range(len(levels)))
        for order in product(*temporal):
            for spatial in product(*(self._spatial(loops, n, axis) for n in range(len(levels)) for axis in "xy")):
                yield LoopMapping(
                    tuple(
                        LevelMapping(order[n], spatial[2 * n], spatial[2 * n + 1], away[n]) for n in range(len(levels))
                    )
                )

    def _spatial(self, loops: dict[tuple[int, str], list[Loop]], level: int, axis: str) -> list[tuple[Loop, ...]]:
        """Orders of loops along an axis: they matter where links take energy."""
        found = tuple(loops.get((level, axis), ()))
        return list(permutations(found)) if self.question.arch.levels[level].hop_energy_pj else [found]
