"""Networks of the `dram` dialect, layer by layer in NumPy: what schedules must compute.

Nothing is tiled, fused or moved here; see `zoo/schedule_networks/meaning.py` for what layers mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..zoo.schedule_networks import Layer, Network
from ..zoo.schedule_networks.meaning import HIGHEST, LOWEST, SHIFT, scale_of

Array = NDArray[Any]


def random_tensors(network: Network, batch: int, seed: int) -> tuple[dict[str, Array], dict[str, Array]]:
    """Inputs (samples, channels, rows, columns) and weights (filters, channels, rows, columns), all bytes likely."""
    random = np.random.default_rng(seed)

    def make(shape: tuple[int, ...]) -> Array:
        return random.integers(LOWEST, HIGHEST + 1, shape, np.int8)

    inputs = {name: make((batch, *shape)) for name, shape in network.inputs}
    weights: dict[str, Array] = {}
    for number, layer in enumerate(network.layers):
        if network.weight_bytes(number):
            channels, _ = network.group_shape(number)
            weights[f"{layer.name}.weights"] = make((layer.shape.channels, channels, *layer.kernel))
    return inputs, weights


def run_network(network: Network, inputs: Mapping[str, Array], weights: Mapping[str, Array]) -> dict[str, Array]:
    """The results of all layers by name."""
    values: list[Array] = []
    for number, layer in enumerate(network.layers):
        given = [*(values[i] for i in layer.inputs), *(inputs[network.inputs[i][0]] for i in layer.external)]
        data = np.concatenate(given, axis=1)
        if layer.has_macs:
            made = [values[i] for i in layer.weights_from]
            values.append(_products(network, number, data, weights.get(f"{layer.name}.weights"), made))
        else:
            values.append(_vector(network, number, data))
        assert values[-1].shape[1:] == tuple(layer.shape), layer.name
    return {layer.name: value for layer, value in zip(network.layers, values, strict=True)}


def requantise(sums: Array, scale: int) -> Array:
    """Sums times `scale` / 2^SHIFT, halves up, and clipped to 8 bits."""
    rounded = (sums.astype(np.int64) * scale + (1 << (SHIFT - 1))) >> SHIFT
    return np.clip(rounded, LOWEST, HIGHEST).astype(np.int8)


def _products(network: Network, number: int, data: Array, weights: Array | None, made: list[Array]) -> Array:
    layer = network.layers[number]
    channels, filters = network.group_shape(number)
    batch, (rows, columns) = len(data), layer.kernel
    if weights is not None:
        kernels = np.broadcast_to(weights, (batch, *weights.shape))
    else:
        given = np.concatenate(made, axis=1)[:, :, :channels, : rows * columns]
        kernels = given.reshape(batch, layer.shape.channels, channels, rows, columns)
    kernels = kernels.reshape(batch, layer.groups, filters, channels, rows, columns)
    padded = _padded(network, number, data, 0).reshape(batch, layer.groups, channels, *_padded_size(network, number))
    sums = np.zeros((batch, layer.groups, filters, *layer.shape[1:]), np.float64)
    for row in range(rows):
        for column in range(columns):
            window = _taps(layer, padded, row, column).reshape(batch, layer.groups, channels, -1)
            kernel = kernels[..., row, column].astype(np.float64)
            sums += (kernel @ window.astype(np.float64)).reshape(sums.shape)
    # Sums of fewer than 2^38 products of bytes are exact in 53 bits.
    return requantise(sums.astype(np.int64), scale_of(network, number)).reshape(batch, *layer.shape)


def _padded_size(network: Network, number: int) -> tuple[int, int]:
    layer, shape = network.layers[number], network.input_shapes[number]
    tall = (layer.shape.height - 1) * layer.stride[0] + layer.kernel[0]
    wide = (layer.shape.width - 1) * layer.stride[1] + layer.kernel[1]
    above, left = network.padding(number)
    return max(tall, above + shape.height), max(wide, left + shape.width)


def _padded(network: Network, number: int, data: Array, value: int) -> Array:
    above, left = network.padding(number)
    tall, wide = _padded_size(network, number)
    found = np.full((*data.shape[:2], tall, wide), value, np.int16)
    found[:, :, above : above + data.shape[2], left : left + data.shape[3]] = data
    return found


def _taps(layer: Layer, padded: Array, row: int, column: int) -> Array:
    """What tap (row, column) of the window sees, for every output pixel."""
    (down, right), (height, width) = layer.stride, layer.shape[1:]
    rows = slice(row, row + (height - 1) * down + 1, down)
    return padded[..., rows, slice(column, column + (width - 1) * right + 1, right)]


def _vector(network: Network, number: int, data: Array) -> Array:
    layer = network.layers[number]
    if layer.kind == "pool":
        padded = _padded(network, number, data, LOWEST)
        taps = [
            _taps(layer, padded, row, column) for row in range(layer.kernel[0]) for column in range(layer.kernel[1])
        ]
        return np.maximum.reduce(taps).astype(np.int8)
    if layer.kind == "eltwise" and layer.operands > 1:
        parts = np.split(data.astype(np.int64), layer.operands, axis=1)
        return requantise(sum(parts[1:], parts[0]), scale_of(network, number))
    if layer.kind == "transpose":
        return np.ascontiguousarray(data.transpose(0, *(1 + axis for axis in layer.permutation)))
    if layer.kind == "upsample":
        tall, wide = layer.shape.height // data.shape[2], layer.shape.width // data.shape[3]
        return data.repeat(tall, axis=2).repeat(wide, axis=3)
    return np.maximum(data, 0) if layer.kind == "pointwise" else data
