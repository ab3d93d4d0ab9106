"""Layers cut along their output channels, so that weights come, and are dropped, piece by piece."""

from __future__ import annotations

from dataclasses import replace

from ...zoo.schedule_networks.layers import Layer, Network
from .tables import Model

LANES = 128
"""Slices have a multiple of so many channels where they can."""


def sliced(network: Network, model: Model, part: int = 16) -> Network:
    """`network` with each layer whose weights exceed a `part`-th of the buffer replaced by slices of its channels.

    Readers take the concatenation of the slices; a slice is a layer like others, named `<layer>/<number>`.
    """
    limit = model.buffer_bytes // part
    layers: list[Layer] = []
    numbers: list[tuple[int, ...]] = []
    for number, layer in enumerate(network.layers):
        moved = replace(
            layer,
            inputs=tuple(new for old in layer.inputs for new in numbers[old]),
            weights_from=tuple(new for old in layer.weights_from for new in numbers[old]),
        )
        count = _slices(layer, network.weight_bytes(number), limit)
        shape = layer.shape._replace(channels=layer.shape.channels // count)
        first = len(layers)
        numbers.append(tuple(range(first, first + count)))
        if count == 1:
            layers.append(moved)
        else:
            layers += [replace(moved, name=f"{layer.name}/{i}", shape=shape) for i in range(count)]
    return Network(network.name, network.inputs, tuple(layers))


def _slices(layer: Layer, weight_bytes: int, limit: int) -> int:
    """The fewest equal slices within `limit` bytes that keep the lanes full, else the most that do."""
    if weight_bytes <= limit or layer.groups > 1:
        return 1
    channels, best = layer.shape.channels, 1
    for count in range(2, channels // LANES + 1):
        if channels % (count * LANES) == 0:
            best = count
            if weight_bytes <= limit * count:
                break
    return best
