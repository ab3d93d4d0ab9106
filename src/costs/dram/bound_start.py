"""A bound from the beginning, when only the layers next to the network's input have work.

A product of these layers needs its pixel of the input and its weight: of a bytes of input and b of weights no more work
follows than a x b allow.  What lies behind them waits for all their weights that it depends on, and for the parts of
the input that one of its pixels depends on.  What cannot have been done is still to come.
"""

from __future__ import annotations

from ...algebra.dag import bits, mask_of
from ...zoo.schedule_networks.layers import Network
from .bound_order import Extents, needed_input, needed_of_input, pixelwise
from .relatives import Case

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
