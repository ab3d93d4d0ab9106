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


def undecided(kept: Bools, dims: int) -> MappingBatch:
    """A batch of one mapping without any loops; memories keep the tensors `kept` (L, T)."""
    ones, order = np.ones((1, len(kept), dims), np.int64), np.tile(np.arange(dims), (1, len(kept), 1))
    return MappingBatch(ones, order, ones, order, ones, order, kept[None])


def tile_of(batch: MappingBatch) -> Ints:
    """Products of all factors by mapping and dimension (N, D)."""
    return (batch.temporal * batch.spatial_x * batch.spatial_y).prod(axis=1)


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

    `later` instances are still to be put to work by other steps.
    """

    stage: Stage | None
    above: Stage
    later: int

    @property
    def inside(self) -> int:
        """The level of the chosen loops."""
        return self.outside if self.stage is None else self.stage.first

    @property
    def outside(self) -> int:
        """The level of the spread and the order, and of all that is undecided while the choice is priced."""
        return self.above.first


def extended(partial: MappingBatch, choices: Choices, step: Step) -> MappingBatch:
    """A batch of one mapping with each of the choices."""
    found = partial.repeated(0, len(choices))
    found.temporal[:, step.inside], found.order[:, step.outside] = choices.temporal, choices.order
    found.spatial_x[:, step.outside], found.spatial_y[:, step.outside] = choices.columns, choices.rows
    return found
