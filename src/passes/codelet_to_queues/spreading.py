"""How pieces that are shorter than a compute's tile are spread over the instances of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ...costs.mapping.binding import Split, split_choices
from ...costs.mapping.formula import Formula, compile_formula
from ...machine import Machine
from .isa import Binding
from .tree import Codelet, Issue, Loop, tile_extents, visits


@dataclass(frozen=True)
class Spreading:
    """The spread of a compute, which is for pieces of `tile` iterations of its bound dims, and all that there are."""

    tile: tuple[int, ...]
    own: tuple[Split, ...]
    choices: Sequence[tuple[Split, ...]]
    cycles: Formula
    dims: tuple[str, ...]

    @classmethod
    def of(cls, machine: Machine, binding: Binding, codelet: Codelet, node: Issue) -> Spreading:
        """That of a compute."""
        around = next((visit.loops for visit in visits(codelet) if visit.node is node), ())
        full = tile_extents(codelet, tuple(loop for loop in around if isinstance(loop, Loop)))
        tile = tuple(full[dim] for _, dim in node.dims)
        choices = split_choices(machine, binding.capability) if node.spread else ()
        given = dict(node.spread)
        own = next((split for split in choices if {axis: dim for axis, dim, _ in split} == given), ())
        dims = tuple(dim.name for dim in binding.capability.dims)
        return cls(tile, own, choices, compile_formula(binding.capability.cycles), dims)

    def of_piece(self, extents: tuple[int, ...], slots: Sequence[str]) -> Mapping[str, str] | None:
        """Axis -> dim of the capability for a piece that has other extents than the tile; None: as the compute says.

        It is the first that takes fewer cycles than any before; `slots` are the dims that the extents are of.
        """
        if extents == self.tile or not self.own:
            return None
        best = self._best(extents, slots)
        return None if best is self.own else _by_axis(best)

    def saving(
        self, extents: tuple[int, ...], other: tuple[int, ...], slots: Sequence[str]
    ) -> tuple[float, Mapping[str, str]]:
        """Cycles that a piece saves with `other` extents that are as many iterations, and the spread for these.

        0 where the compute is not spread.
        """
        if not self.own:
            return 0.0, {}
        now = self.own if extents == self.tile else self._best(extents, slots)
        best = self._best(other, slots)
        return self._cycles(extents, slots, now) - self._cycles(other, slots, best), _by_axis(best)

    def _best(self, extents: tuple[int, ...], slots: Sequence[str]) -> tuple[Split, ...]:
        return min((self.own, *self.choices), key=lambda split: self._cycles(extents, slots, split))

    def _cycles(self, extents: tuple[int, ...], slots: Sequence[str], split: tuple[Split, ...]) -> float:
        env = dict.fromkeys(self.dims, 1) | dict(zip(slots, extents, strict=True))
        env["ops"] = prod(extents)
        ways = {f"{dim}_ways": prod(n for _, name, n in split if name == dim) for dim in self.dims}
        return float(self.cycles({**env, **ways}))


def _by_axis(split: tuple[Split, ...]) -> Mapping[str, str]:
    return {axis: dim for axis, dim, _ in split}
