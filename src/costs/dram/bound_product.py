"""The least energy x latency of all schedules of a network in the exact model.

Cores that save energy take more cycles, so the least of each does not come together.  For any price p of a cycle, pJ of
all tiles plus p times their cycles is no less than the sum of what each layer costs at its best; and latency is no less
than the cycles.  Of all latencies the one is taken at which these lines leave the least product.
"""

from math import inf

from ...zoo.schedule_networks.layers import Network
from ..soma.hardware import DRAM_PJ
from .bound import Bound, case_of, in_slices
from .floors import Case, product_price
from .tables import Model

PRICES = 0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0
"""Prices of a cycle that are tried, as parts of the bounds' energy over latency."""

Known = dict[tuple[object, ...], float]


def least_product(network: Network, model: Model, batch: int, bound: Bound) -> float:
    """pJ x cycles that no schedule goes below; `bound` is that of `lower_bound` for the same case."""
    energy, latency = bound.energy_pj, bound.latency_cycles
    if not model.exact:
        return energy * latency
    case = case_of(network, model, batch)
    cases = [(each, Known()) for each in (case, *in_slices(case))]
    lines = [(0.0, energy)]
    for price in (part * energy / latency for part in PRICES[1:]):
        layers = min(_layers(each, price, known) for each, known in cases)
        lines.append((price, layers + DRAM_PJ * bound.dram_bytes))
    return _least(lines, latency)


def _least(lines: list[tuple[float, float]], latency: float) -> float:
    """Least product of cycles from `latency` on, and of the energy that `lines` (price, sum) leave: between meetings of
    two lines the product is concave."""
    places = [latency]
    for i, (price, total) in enumerate(lines):
        for other, more in lines[:i]:
            places.append((total - more) / (price - other))
    return min((at * max(total - price * at for price, total in lines) for at in places if at >= latency), default=inf)


def _layers(case: Case, price: float, known: Known) -> float:
    """pJ of all layers at their best, and `price` for each of their cycles."""
    total = 0.0
    for number, floor in enumerate(case.floors):
        layer = case.network.layers[number]
        if not layer.has_macs:
            total += floor.energy_pj + price * floor.cycles
            continue
        shape = case.network.group_shape(number)
        key = (
            price,
            layer.shape,
            shape,
            layer.kernel,
            layer.stride,
            layer.groups,
            layer.weights_from == (),
            floor.pixels,
        )
        if key not in known:
            known[key] = product_price(case.network, number, floor.pixels, case.model, case.batch, price)
        total += known[key]
    return total
