"""A bound from what must be loaded before a layer begins: whole weights, and the inputs that its first tile needs.

When the first tile of a layer begins, a tile of every layer that it depends on has run, so all their weights are there
(SoMa, HPCA 2025, section IV-A: weights come whole), and the parts of the network's inputs that one pixel depends on.
All work of the layer and of what depends on it is still to come.  Of an input that is read pixel by pixel a part x may
have come, if 1 - x of the work that follows it pixel by pixel is left: the bound takes the x that is best.
"""

from __future__ import annotations

from ...algebra.dag import bits, mask_of
from ...zoo.schedule_networks.layers import Network
from .relatives import Case

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
