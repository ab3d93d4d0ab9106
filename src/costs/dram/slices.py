"""Layers cut along their output channels, so that weights come, and are dropped, piece by piece."""

from dataclasses import replace
from math import prod

from ...zoo.schedule_networks.layers import Layer, Network
from .tables import Model

LANES = 128
"""Slices have a multiple of so many channels where they can."""

FINER, LITTLE = 8, 16
"""Parts are so many times smaller at the ends of a network: the last weights where their layer reads little beside them
(one part in `LITTLE` at most), since DRAM is done before the work on them; if asked for, the first ones too, for which
cores wait in the beginning.
"""


def variants(network: Network, model: Model) -> list[Network]:
    """The network, and in the exact model with large weights in slices; the one with most layers first."""
    found = [network]
    for early in (False, True) if model.exact else ():
        other = sliced(network, model, early=early)
        if len(other.layers) > len(found[-1].layers):
            found.append(other)
    return found[::-1]


def sliced(network: Network, model: Model, part: int = 16, *, early: bool = False) -> Network:
    """`network` with each layer whose weights exceed a `part`-th of the buffer replaced by slices of its channels.

    The last weights are cut finer, `early` the first ones too, see `FINER`.  Readers take the concatenation of the
    slices; a slice is a layer like others, named `<layer>/<number>`.
    """
    first, last = _ends(network)
    layers: list[Layer] = []
    numbers: list[tuple[int, ...]] = []
    for number, layer in enumerate(network.layers):
        moved = replace(
            layer,
            inputs=tuple(new for old in layer.inputs for new in numbers[old]),
            weights_from=tuple(new for old in layer.weights_from for new in numbers[old]),
        )
        limit, weight_bytes = model.buffer_bytes // part, network.weight_bytes(number)
        little = LITTLE * prod(network.input_shapes[number]) <= weight_bytes
        if (early and number in first) or (number == last and little):
            limit //= FINER
        parts = _slices(layer, weight_bytes, limit)
        numbers.append(tuple(range(len(layers), len(layers) + len(parts))))
        if len(parts) == 1:
            layers.append(moved)
        else:
            shapes = [layer.shape._replace(channels=channels) for channels in parts]
            layers += [replace(moved, name=f"{layer.name}/{i}", shape=shape) for i, shape in enumerate(shapes)]
    return Network(network.name, network.inputs, tuple(layers))


def _ends(network: Network) -> tuple[set[int], int]:
    """Layers with weights that depend on no others, and the last layer with weights, -1 for none."""
    weighted, first = set[int](), set[int]()
    for number, layer in enumerate(network.layers):
        behind = any(producer in weighted for producer in layer.producers)
        if network.weight_bytes(number):
            first |= set[int]() if behind else {number}
        if behind or network.weight_bytes(number):
            weighted.add(number)
    return first, max((number for number in range(len(network.layers)) if network.weight_bytes(number)), default=-1)


def _slices(layer: Layer, weight_bytes: int, limit: int) -> list[int]:
    """Channels of the fewest slices within `limit` bytes that keep the lanes full, but for the last one.

    Equal slices come first; where weights of as many channels as there are lanes exceed `limit`, slices have these.
    """
    channels = layer.shape.channels
    if weight_bytes <= limit or layer.groups > 1 or channels <= LANES:
        return [channels]
    most = max(1, limit * channels // weight_bytes // LANES)
    blocks = -(-channels // LANES)
    size = -(-blocks // -(-blocks // most)) * LANES
    count = -(-channels // size)
    return [size] * (count - 1) + [channels - size * (count - 1)]
