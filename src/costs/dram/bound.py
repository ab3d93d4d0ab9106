"""What no schedule of a network can beat: latency and energy over all fusions, tilings and orders of transfers.

Five arguments bound the latency: all work of the cores; every byte that must cross DRAM once; what must be loaded
before a layer begins, and the work that is left then (`bound_order`); what the first layers can do meanwhile; and
what the buffer cannot hold between two layers or when a layer ends, loaded after all work before that (`bound_room`).

In the beginning only the layers next to the network's input have work.  A product of these layers needs its pixel of
the input and its weight: of a bytes of input and b of weights no more work follows than a x b allow.  What lies behind
them waits for all their weights that it depends on, and for the parts of the input that one of its pixels depends on.
What cannot have been done is still to come.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...algebra.dag import bits, mask_of
from ...zoo.schedule_networks.layers import Network
from ..soma.hardware import DRAM_PJ
from .bound_order import Extents, needed_input, needed_of_input, order_bound, pixelwise
from .bound_room import room_bound
from .floors import Floor, floors_of
from .relatives import Case
from .slices import variants
from .tables import Model

STEPS = 64
"""Moments that are looked at, evenly over the time that input and all weights take."""

REASON = "what first layers can do while their inputs and weights come, then all that is left"


def start_bound(case: Case) -> tuple[float, str]:
    """The largest over moments of the moment and the work that is left then, and its reason.

    Nothing is said of networks with several inputs, or whose first layers with weights have windows.
    """
    network, rate, everything = case.network, case.model.bandwidth, (1 << len(case.network.layers)) - 1
    first = _first_layers(case)
    if len(network.inputs) != 1 or not first:
        return 0.0, REASON
    given = max(size for floor in case.floors for _, size in floor.inputs)
    weights = case.weight(first)
    linear = {number: case.floors[number].linear for number in bits(first)}
    dear = max(cycles / case.weights[number] for number, cycles in linear.items())
    behind = 0
    for number in bits(first):
        behind |= case.dag.descendants[number]
    needed = needed_of_input(network, behind)
    waits = [
        (case.weight(case.dag.ancestors[i]) + _input_bytes(network, needed[i]), case.floors[i].cycles)
        for i in bits(behind)
    ]
    free = case.work(everything & ~first & ~behind)
    total = case.work(everything & ~first) + sum(linear.values())
    best, end = 0.0, (given + sum(case.weights)) / rate
    for step in range(1, STEPS + 1):
        loaded = end * step / STEPS * rate
        part = min(float(given), max(loaded / 2, loaded - weights))
        done = free + dear * part / given * min(float(weights), loaded - part)
        done += sum(cycles for size, cycles in waits if size < loaded)
        best = max(best, loaded / rate + total - done)
    return best, REASON


def _first_layers(case: Case) -> int:
    """Layers with weights that only layers without come before, all of them pixel by pixel, as bits; 0 for none."""
    found, network = 0, case.network
    weighted = mask_of(number for number, size in enumerate(case.weights) if size)
    for number in bits(weighted):
        if not case.dag.ancestors[number] & weighted:
            found |= 1 << number
            if not all(pixelwise(network, item) for item in bits(case.dag.ancestors[number] | 1 << number)):
                return 0
    return found


def _input_bytes(network: Network, needed: dict[int, Extents]) -> int:
    """Bytes of the network's input that layers which read it need for so many of their pixels."""
    shape, found = network.inputs[0][1], 0
    for reader, pixels in needed.items():
        rows, columns = needed_input(network, reader, pixels)
        found = max(found, shape.channels * min(rows, shape.height) * min(columns, shape.width))
    return found


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
