"""A network with what bounds over all its schedules ask for: weights, and which layers depend on which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...algebra.dag import Dag, flags
from ...zoo.schedule_networks.layers import Network
from .floors import Floor
from .tables import Floats, Ints, Model


@dataclass(frozen=True)
class Case:
    """`batch` samples of a network in a model, with the floor of each layer."""

    network: Network
    model: Model
    batch: int
    floors: list[Floor]

    @cached_property
    def weights(self) -> list[int]:
        """Bytes of weights that DRAM holds, by layer."""
        return [self.network.weight_bytes(number) for number in range(len(self.network.layers))]

    @property
    def dag(self) -> Dag:
        """Which layer reads which."""
        return self.network.dag

    @cached_property
    def _cycles(self) -> Floats:
        return np.array([floor.cycles for floor in self.floors])

    @cached_property
    def _bytes(self) -> Ints:
        return np.array(self.weights, np.int64)

    def work(self, layers: int) -> float:
        """Least cycles of a set of layers."""
        return float(self._cycles[flags(layers, len(self._cycles))].sum())

    def weight(self, layers: int) -> int:
        """Bytes of weights of a set of layers."""
        return int(self._bytes[flags(layers, len(self._bytes))].sum())
