"""Compulsory work as a bound."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from ..costs.hierarchy import Architecture, Problem


@dataclass(frozen=True)
class Bounds:
    """Lower bounds over all mappings."""

    edp: float
    energy_pj: float
    cycles: int
    dram_words: int

    def as_json(self) -> dict[str, Any]:
        """The fields."""
        return dict(self.__dict__)


def bounds_of(arch: Architecture, problem: Problem) -> Bounds:
    """Each element moves once, every operation takes a multiply-accumulator."""
    words = sum(prod(tensor.extents(problem.bounds)) for tensor in problem.tensors)
    energy = problem.macs * arch.mac_energy_pj
    cycles = -(-problem.macs // arch.mac_instances)
    return Bounds(energy * 1e-12 * cycles, energy, cycles, words)
