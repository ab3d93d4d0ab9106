"""What no schedule of a network can beat: latency and energy over all fusions, tilings and orders of transfers.

Five arguments bound the latency: all work of the cores; every byte that must cross DRAM once; what must be loaded
before a layer begins, and the work that is left then (`bound_order`); what the first layers can do meanwhile
(`bound_start`); and what the buffer cannot hold between two layers or when a layer ends, loaded after all work before
that (`bound_room`).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...zoo.schedule_networks.layers import Network
from ..soma.hardware import DRAM_PJ
from .bound_order import order_bound
from .bound_room import room_bound
from .bound_start import start_bound
from .floors import Floor, floors_of
from .relatives import Case
from .slices import variants
from .tables import Model


@dataclass(frozen=True)
class Bound:
    """Least latency with the argument that gives it, least energy and least DRAM traffic."""

    latency_cycles: int
    energy_pj: float
    dram_bytes: int
    compute_cycles: int
    binding: str


def lower_bound(network: Network, model: Model, batch: int) -> Bound:
    """A bound below every schedule of `batch` samples of `network` in `model`.

    In the exact model weights may come in slices: the network with slices is bounded too, and the lower value taken.
    """
    case = case_of(network, model, batch)
    moved = sum(case.weights) + _crossing(network, case.floors, batch, model)
    cases = case, *in_slices(case)
    compute = min(sum(floor.cycles for floor in each.floors) for each in cases)
    latency, binding = min(_latency(each, moved) for each in cases)
    energy = min(sum(floor.energy_pj for floor in each.floors) for each in cases) + DRAM_PJ * moved
    return Bound(int(latency), energy, moved, int(compute), binding)


def case_of(network: Network, model: Model, batch: int) -> Case:
    """What the arguments need to know."""
    return Case(network, model, batch, floors_of(network, model, batch))


def in_slices(case: Case) -> tuple[Case, ...]:
    """The case with large weights in slices, where that makes a difference."""
    others = variants(case.network, case.model)[:-1]
    return tuple(case_of(other, case.model, case.batch) for other in others)


def _latency(case: Case, moved: int) -> tuple[float, str]:
    model, network = case.model, case.network
    first = min(
        case.weights[i] * (not model.exact)
        for i, layer in enumerate(network.layers)
        if layer.external and not layer.inputs
    )
    compute = sum(floor.cycles for floor in case.floors)
    best = max(
        (compute + first / model.bandwidth + 2 * model.latency, "compute"),
        (moved / model.bandwidth + 2 * model.latency, "DRAM traffic"),
        order_bound(case),
        start_bound(case),
    )
    return max(best, room_bound(case, best[0]), key=lambda item: item[0])


def _crossing(network: Network, floors: list[Floor], batch: int, model: Model) -> int:
    """Bytes of network inputs and outputs; SoMa's model loads an input for each layer that reads it."""
    given: dict[int, int] = {}
    for floor in floors:
        for number, size in floor.inputs:
            given[number] = max(given.get(number, 0), size) if model.exact else given.get(number, 0) + size
    out = 0
    for number, layer in enumerate(network.layers):
        if not network.consumers[number]:
            out += layer.shape.channels * layer.shape.height * layer.shape.width * batch
    return sum(given.values()) + out
