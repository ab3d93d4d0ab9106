"""A network as the partitioner sees it: layers on feature maps, and the windows through which they read each other."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from ...algebra.dag import Dag
from ...errors import TilewrightError
from ...zoo.schedule_networks.layers import Network, Shape


class Window(NamedTuple):
    """What result p reads along one axis: positions `p * stride - pad + dilation * i` for i below `kernel`.

    Positions outside of the producer's map are padding and cost nothing.  `whole`: every result reads the whole extent
    (the other numbers then mean nothing).
    """

    kernel: int = 1
    stride: int = 1
    pad: int = 0
    dilation: int = 1
    whole: bool = False

    @property
    def reach(self) -> int:
        """Positions from the first to the last that one result reads."""
        return self.dilation * (self.kernel - 1) + 1


MOST_LAYERS, MOST_BYTES, MOST_MACS, MOST_REACH = 1 << 13, 1 << 40, 1 << 42, 1 << 20
"""What a network may have, and a layer: bytes of a map or of weights, products, positions of a window.

Sums over the layers and a batch stay below 2^63.
"""

POINT = Window()
"""Result p reads position p."""

WHOLE = Window(whole=True)


class Edge(NamedTuple):
    """All channels of a feature map, read through a window: producer >= 0 is a layer, -1 - i is network input i."""

    producer: int
    rows: Window = POINT
    columns: Window = POINT


@dataclass(frozen=True)
class Input:
    """A feature map that the network is given."""

    name: str
    shape: Shape
    element_bytes: int = 1


@dataclass(frozen=True)
class Layer:
    """A layer; several edges are a concatenation along channels, or the operands of an elementwise layer.

    Each result sums `reduction * taps` products (`reduction` input channels of its group, `taps` positions of the
    window); a layer without weights does as many elementary operations.
    """

    name: str
    kind: str
    shape: Shape
    edges: tuple[Edge, ...]
    weight_bytes: int = 0
    reduction: int = 1
    taps: int = 1
    groups: int = 1
    element_bytes: int = 1

    @property
    def macs(self) -> int:
        """Products (or elementary operations) for one sample."""
        return self.shape.volume * self.reduction * self.taps

    @property
    def output_bytes(self) -> int:
        """The result for one sample."""
        return self.shape.volume * self.element_bytes


@dataclass(frozen=True)
class LayerGraph:
    """`layers` in a topological order; a layer's number is its place.

    `outputs` are results that the network gives; those that no layer reads always are (`exits`).
    """

    name: str
    inputs: tuple[Input, ...]
    layers: tuple[Layer, ...]
    outputs: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < len(self.layers) <= MOST_LAYERS:
            raise TilewrightError("network", self.name, f"1 to {MOST_LAYERS} layers", str(len(self.layers)))
        for item in self.inputs:
            if min(*item.shape, item.element_bytes) < 1 or item.shape.volume * item.element_bytes > MOST_BYTES:
                where = f"input {item.name} of {self.name}"
                raise TilewrightError(
                    "network", where, f"positive extents, at most {MOST_BYTES} bytes", str(item.shape)
                )
        for number, layer in enumerate(self.layers):
            self._check(number, layer)
        if any(not 0 <= number < len(self.layers) for number in self.outputs):
            raise TilewrightError("network", self.name, f"outputs below {len(self.layers)}", str(self.outputs))

    def __len__(self) -> int:
        return len(self.layers)

    @property
    def form(self) -> tuple[object, ...]:
        """All of it but the names."""
        named = *self.inputs, *self.layers
        return *(replace(item, name="") for item in named), len(self.inputs), self.outputs

    @cached_property
    def dag(self) -> Dag:
        """Which layer reads which."""
        return Dag(self.producers)

    @property
    def consumers(self) -> tuple[tuple[int, ...], ...]:
        """For each layer those that read its result, ascending."""
        return self.dag.consumers

    @cached_property
    def producers(self) -> tuple[tuple[int, ...], ...]:
        """For each layer the layers whose results it reads, ascending."""
        return tuple(tuple(sorted({e.producer for e in layer.edges if e.producer >= 0})) for layer in self.layers)

    @cached_property
    def exits(self) -> frozenset[int]:
        """Layers whose results leave the network."""
        return frozenset(self.outputs) | {number for number, found in enumerate(self.consumers) if not found}

    def source(self, producer: int) -> Input | Layer:
        """The layer or network input of an edge; both have `name`, `shape` and `element_bytes`."""
        return self.layers[producer] if producer >= 0 else self.inputs[-1 - producer]

    def _check(self, number: int, layer: Layer) -> None:
        where = f"layer {number} ({layer.name}) of {self.name}"

        def refuse(expected: str, found: object) -> TilewrightError:
            return TilewrightError("network", where, expected, str(found))

        if not layer.edges:
            raise refuse("at least one thing to read", "no edge")
        if min(*layer.shape, layer.reduction, layer.taps, layer.groups, layer.element_bytes) < 1:
            raise refuse("positive sizes", layer)
        if max(layer.output_bytes, layer.weight_bytes) > MOST_BYTES or layer.weight_bytes < 0:
            raise refuse(f"0 to {MOST_BYTES} bytes of weights and results", (layer.weight_bytes, layer.output_bytes))
        if layer.macs > MOST_MACS:
            raise refuse(f"at most {MOST_MACS} products", layer.macs)
        for edge in layer.edges:
            if not -len(self.inputs) <= edge.producer < number:
                raise refuse("network inputs and layers before it", edge.producer)
            given = self.source(edge.producer).shape
            for window, extent, read in zip(edge[1:], layer.shape[1:], given[1:], strict=True):
                if not window.whole and min(window.kernel, window.stride, window.dilation, window.pad + 1) < 1:
                    raise refuse("windows of positive kernel, stride and dilation", window)
                if not window.whole and window.reach > MOST_REACH:
                    raise refuse(f"windows of at most {MOST_REACH} positions", window)
                if not window.whole and not _meets(window, extent, read):
                    raise refuse(f"windows that meet a map of {read}", f"{extent} of {window}")


def _meets(window: Window, extent: int, read: int) -> bool:
    """Whether the first and the last of `extent` windows hold a position of a map of `read`."""
    return window.pad < window.reach and (extent - 1) * window.stride - window.pad < read


def layer_graph(network: Network) -> LayerGraph:
    """The network with one byte per element; results used as weights, and transposed ones, are read as a whole."""
    inputs = tuple(Input(name, shape) for name, shape in network.inputs)
    return LayerGraph(network.name, inputs, tuple(_layer(network, number) for number in range(len(network.layers))))


def _layer(network: Network, number: int) -> Layer:
    row = network.layers[number]
    reduction, taps, groups = _work(network, number)
    windows = _windows(network, number)
    sources = (*row.inputs, *(-1 - i for i in row.external))
    edges = [Edge(source, *windows) for source in sources]
    edges += [Edge(source, WHOLE, WHOLE) for source in row.weights_from]
    return Layer(row.name, row.kind, row.shape, tuple(edges), network.weight_bytes(number), reduction, taps, groups)


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
