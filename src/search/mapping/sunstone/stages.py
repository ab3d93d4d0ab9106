"""Memories that hold tiles together, and mappings under construction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....costs.hierarchy import Architecture, MappingBatch
from ..pricing import Bools, Ints
from ..room import Room


@dataclass(frozen=True)
class Stage:
    """Neighbouring levels with the same instances that keep different tensors: their loops stand at the first.

    `array` is the (columns, rows) of what is below one instance.
    """

    levels: tuple[int, ...]
    array: tuple[int, int]

    @property
    def first(self) -> int:
        """The level whose loops iterate over the stage's tile."""
        return self.levels[0]


def stages_of(arch: Architecture, room: Room) -> tuple[Stage, ...]:
    """The machine's stages, innermost first; the outermost memory is one of its own."""
    groups: list[list[int]] = []
    last = len(arch.levels) - 1
    for level in range(len(arch.levels)):
        joins = groups and level != last and arch.fan_out(level) == (1, 1)
        if joins and not (room.kept[groups[-1]] & room.kept[level]).any():
            groups[-1].append(level)
        else:
            groups.append([level])
    return tuple(Stage(tuple(group), arch.fan_out(group[0])) for group in groups)


@dataclass(frozen=True)
class Partial:
    """Decisions so far: factors (L, D) by level, orders (L, D), and the tile (D,) that they make."""

    temporal: Ints
    columns: Ints
    rows: Ints
    order: Ints

    @staticmethod
    def empty(levels: int, dims: int) -> Partial:
        """Nothing decided."""
        ones = np.ones((levels, dims), np.int64)
        return Partial(ones, ones, ones, np.tile(np.arange(dims), (levels, 1)))

    @property
    def tile(self) -> Ints:
        """Product of all factors by dimension."""
        return (self.temporal * self.columns * self.rows).prod(axis=0)


@dataclass(frozen=True)
class Choices:
    """N ways to go on: temporal factors at one level, a spread and a loop order at another, each (N, D)."""

    temporal: Ints
    columns: Ints
    rows: Ints
    order: Ints

    def __len__(self) -> int:
        return len(self.temporal)

    def part(self, rows: Ints) -> Choices:
        """The choices of `rows`."""
        return Choices(self.temporal[rows], self.columns[rows], self.rows[rows], self.order[rows])


@dataclass(frozen=True)
class Step:
    """One decision of the search: a tile of `stage` (None: no tile), a spread below `above`, and the order there.

    The chosen loops stand at level `at`, the spread and the order at level `spread_at`, and all that is undecided at
    level `rest` while the choice is priced.  `later` instances are still to be put to work by other steps.
    """

    stage: Stage | None
    above: Stage
    at: int
    spread_at: int
    rest: int
    later: int


def extended(partial: Partial, choices: Choices, row: int, step: Step) -> Partial:
    """`partial` with one choice."""
    names = "temporal", "columns", "rows", "order"
    found = Partial(*(getattr(partial, name).copy() for name in names))
    for name, level in zip(names, (step.at, step.spread_at, step.spread_at, step.spread_at), strict=True):
        getattr(found, name)[level] = getattr(choices, name)[row]
    return found


def batch_of(partial: Partial, choices: Choices, step: Step, bounds: Ints, kept: Bools) -> MappingBatch:
    """Complete mappings: `partial` with each choice, and all that is left of `bounds` as loops of one level."""
    count = len(choices)
    names = "temporal", "columns", "rows", "order"
    temporal, columns, rows, order = (np.repeat(getattr(partial, name)[None], count, axis=0) for name in names)
    temporal[:, step.at] = choices.temporal
    columns[:, step.spread_at], rows[:, step.spread_at] = choices.columns, choices.rows
    order[:, step.spread_at] = choices.order
    temporal[:, step.rest] *= bounds // (temporal * columns * rows).prod(axis=1)
    plain = np.tile(np.arange(len(bounds)), (count, len(kept), 1))
    return MappingBatch(temporal, order, columns, plain, rows, plain, np.repeat(kept[None], count, axis=0))
