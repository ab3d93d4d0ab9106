"""A layer table of the zoo as a `LayerGraph`."""

from __future__ import annotations

from ...zoo.schedule_networks.layers import Network
from .graph import WHOLE, Edge, Input, Layer, LayerGraph, Shape, Window


def layer_graph(network: Network) -> LayerGraph:
    """The network with one byte per element; results used as weights, and transposed ones, are read as a whole."""
    inputs = tuple(Input(name, Shape(*shape)) for name, shape in network.inputs)
    rows = range(len(network.layers))
    return LayerGraph(network.name, inputs, tuple(_layer(network, number) for number in rows))


def _layer(network: Network, number: int) -> Layer:
    row = network.layers[number]
    reduction, taps, groups = _work(network, number)
    windows = _windows(network, number)
    sources = (*row.inputs, *(-1 - i for i in row.external))
    edges = [Edge(source, *windows) for source in sources]
    edges += [Edge(source, WHOLE, WHOLE) for source in row.weights_from]
    shape = Shape(*row.shape)
    return Layer(row.name, row.kind, shape, tuple(edges), network.weight_bytes(number), reduction, taps, groups)


def _windows(network: Network, number: int) -> tuple[Window, Window]:
    row = network.layers[number]
    if row.kind in ("transpose", "upsample", "rearrange"):
        return WHOLE, WHOLE
    pads = network.padding(number)
    rows, columns = (Window(row.kernel[axis], row.stride[axis], pads[axis]) for axis in (0, 1))
    return rows, columns


def _work(network: Network, number: int) -> tuple[int, int, int]:
    """Reduction, taps and groups; vector layers as convolutions of single channels (Cocco, section 5.1.1)."""
    row = network.layers[number]
    taps = row.kernel[0] * row.kernel[1]
    if not row.has_macs:
        return 1, taps * row.operands, row.shape.channels
    return network.input_shapes[number].channels // row.groups, taps, row.groups
