"""What no schedule of a network can beat: latency and energy over all fusions, tilings and orders of transfers.

Five arguments bound the latency: all work of the cores; every byte that must cross DRAM once; what must be loaded
before a layer begins, and the work that is left then; what the first layers can do meanwhile; and what the buffer
cannot hold between two layers or when a layer ends, loaded after all work before that (`bound_room`).

In the beginning only the layers next to the network's input have work.  A product of these layers needs its pixel of
the input and its weight: of a bytes of input and b of weights no more work follows than a x b allow.  What lies behind
them waits for all their weights that it depends on, and for the parts of the input that one of its pixels depends on.
What cannot have been done is still to come.

When the first tile of a layer begins, a tile of every layer that it depends on has run, so all their weights are there
(SoMa, HPCA 2025, section IV-A: weights come whole), and the parts of the network's inputs that one pixel depends on.
All work of the layer and of what depends on it is still to come.  Of an input that is read pixel by pixel a part x may
have come, if 1 - x of the work that follows it pixel by pixel is left: the bound takes the x that is best.
"""

from dataclasses import dataclass
from math import inf

from ...algebra.dag import bits, mask_of, union
from ...zoo.schedule_networks.layers import Network
from ..soma.hardware import DRAM_PJ
from .bound_room import room_bound
from .floors import Case, Floor, floors_of, product_price
from .slices import variants
from .tables import Model

Extents = tuple[int, int]

MOST_LOOKED_AT = 64
"""Layers whose inputs are looked at, those first that bound most without."""


def order_bound(case: Case) -> tuple[float, str]:
    """The largest of the bounds over layers with weights, and its reason."""
    network, rate = case.network, case.model.bandwidth
    plain: list[tuple[float, int]] = []
    for number, layer in enumerate(network.layers):
        if layer.has_macs and case.weights[number]:
            loaded = case.weight(case.dag.ancestors[number]) + (0 if case.model.exact else case.weights[number])
            plain.append((loaded / rate + case.work(case.dag.descendants[number] | 1 << number), number))
    best = 0.0, "nothing"
    looked_at = sorted(plain, reverse=True)[:MOST_LOOKED_AT]
    needed = needed_of_input(network, mask_of(number for _, number in looked_at))
    for value, number in looked_at:
        name = network.layers[number].name
        reason = f"weights and inputs up to {name}, then its work and all that depends on it"
        best = max(best, (value + _inputs(case, number, needed[number]), reason))
    return best


def _inputs(case: Case, number: int, needed: dict[int, Extents]) -> float:
    """Cycles of loads of network inputs before layer `number` begins, or of work of its producers left then."""
    rate = case.model.bandwidth
    upstream = case.dag.ancestors[number] | 1 << number
    edges = [(size, i, reader) for reader in bits(upstream) for i, size in case.floors[reader].inputs]
    found, used, seen = 0.0, 1 << number, set[int]()
    for size, i, reader in sorted(edges, reverse=True):
        if case.model.exact and i in seen:
            continue
        seen.add(i)
        rows, columns = needed_input(case.network, reader, needed[reader])
        least = min(size, case.network.inputs[i][1].channels * rows * columns)
        chain = _chain(case, reader, upstream) & ~used if pixelwise(case.network, reader) else 0
        used |= chain
        work = sum(case.floors[item].linear for item in bits(chain))
        whole, part = size / rate, least / rate
        found += whole if work >= whole else part + (1 - least / size) * work
    return found


def pixelwise(network: Network, number: int) -> bool:
    """Whether a layer's pixel reads its inputs at that pixel, and no less of them than it has pixels."""
    layer, given = network.layers[number], network.input_shapes[number]
    plain = layer.kind in ("eltwise", "pointwise") or (
        layer.kind in ("conv", "group_conv") and layer.kernel == (1, 1) and layer.stride == (1, 1)
    )
    return plain and given[1:] == layer.shape[1:]


def _chain(case: Case, first: int, upstream: int) -> int:
    """`first` and the layers of `upstream` whose pixels need the same pixels of it, as bits."""
    found = 1 << first
    for number in bits(upstream & case.dag.descendants[first]):
        layer = case.network.layers[number]
        follows = any(found >> producer & 1 for producer in layer.inputs)
        alike = case.floors[number].pixels == case.floors[first].pixels
        if follows and alike and pixelwise(case.network, number):
            found |= 1 << number
    return found


def needed_of_input(network: Network, layers: int) -> dict[int, dict[int, Extents]]:
    """For each layer of a set the layers before it that read the network's input, with the pixels that they make.

    In time that grows with the layers and not with their square: what a layer's pixels need is looked up where other
    layers ask for the same of it.
    """
    asked: list[set[Extents]] = [{(1, 1)} if layers >> i & 1 else set() for i in range(len(network.layers))]
    sources: list[dict[Extents, list[tuple[int, Extents]]]] = [{} for _ in network.layers]
    for reader in range(layers.bit_length() - 1, -1, -1):
        for pixels in asked[reader]:
            sources[reader][pixels] = needed_maps(network, reader, pixels)
            for producer, extents in sources[reader][pixels]:
                asked[producer].add(extents)
    found: list[dict[Extents, dict[int, Extents]]] = []
    for number, layer in enumerate(network.layers):
        found.append({})
        for pixels, read in sources[number].items():
            needed: dict[int, Extents] = {number: pixels} if layer.external else {}
            for producer, extents in read:
                for reader, more in found[producer][extents].items():
                    needed[reader] = _larger(needed.get(reader, (0, 0)), more)
            found[number][pixels] = needed
    return {number: found[number][1, 1] for number in bits(layers)}


def needed_maps(network: Network, reader: int, pixels: Extents) -> list[tuple[int, Extents]]:
    """The producers of a layer, with rows and columns at least that so many of its pixels need of them."""
    found: list[tuple[int, Extents]] = []
    layer = network.layers[reader]
    for producer in layer.producers:
        _, height, width = network.layers[producer].shape
        read = producer not in layer.weights_from
        rows, columns = needed_input(network, reader, pixels) if read else (height, width)
        found.append((producer, (min(rows, height), min(columns, width))))
    return found


def _larger(one: Extents, two: Extents) -> Extents:
    return max(one[0], two[0]), max(one[1], two[1])


def needed_input(network: Network, reader: int, pixels: Extents) -> Extents:
    """Rows and columns of its input that `reader` needs at least for so many neighbouring rows and columns."""
    layer, given = network.layers[reader], network.input_shapes[reader]
    if layer.kind in ("fc", "rearrange"):
        return given.height, given.width
    if layer.kind in ("eltwise", "pointwise"):
        return pixels
    if layer.kind == "transpose":
        extents = layer.shape.channels, *pixels
        found = {axis: extents[place] for place, axis in enumerate(layer.permutation)}
        return found[1], found[2]
    if layer.kind == "upsample":
        times = layer.shape.height // given.height, layer.shape.width // given.width
        return -(-pixels[0] // times[0]), -(-pixels[1] // times[1])
    sizes = [_window(layer.shape[1 + i], given[1 + i], pixels[i], layer.kernel[i], layer.stride[i]) for i in (0, 1)]
    return sizes[0], sizes[1]


def _window(extent: int, given: int, pixels: int, kernel: int, stride: int) -> int:
    """Places that windows at `pixels` neighbouring ones of `extent` reach at least, some of them in the padding."""
    padding = max(0, (extent - 1) * stride + kernel - given)
    return max(1, min(given, (pixels - 1) * stride + kernel - padding))


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
    behind = union(case.dag.descendants[number] for number in bits(first))
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
    ends = (layer for layer, readers in zip(network.layers, network.consumers, strict=True) if not readers)
    return sum(given.values()) + batch * sum(layer.shape.volume for layer in ends)


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
