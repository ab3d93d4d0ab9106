"""Layer tables compared with the graph that they are made from.

What a table says of its layers is counted again from the operations alone: which layers and inputs each one reads, its
products and weights, the elements of its map, and which layers make the results.  A difference is a fault of the
program that made the table; no bound or price of it would mean anything.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ...costs.fusion import LayerGraph
from ...dialects import graph
from ...dialects.types import bytes_of, element_bytes, shape_of
from ...errors import TilewrightError
from ...zoo.schedule_networks.layers import Network
from .graph_fuse import MOVES, PRODUCTS
from .samples import constants_of, live_operations

Source = int
"""A layer, or -1 - i for network input i."""


@dataclass(frozen=True)
class Recount:
    """A block of the graph dialect, given `batch` samples, with the layer of a table that each operation is part of."""

    block: Block
    batch: int
    layer_of: Mapping[Operation, int]

    @cached_property
    def constants(self) -> set[SSAValue]:
        """Values that nothing the network is given reaches."""
        return constants_of(self.block)

    @cached_property
    def operations(self) -> list[graph.LayerOp]:
        """The operations that compute something that a result depends on."""
        live = live_operations(self.block)
        return [
            op
            for op in self.block.ops
            if isinstance(op, graph.LayerOp) and op in live and op.result not in self.constants
        ]

    @cached_property
    def tails(self) -> dict[int, graph.LayerOp]:
        """The last operation of each layer; what moves elements has one only where the table gives it one."""
        return {self.layer_of[op]: op for op in self.operations if op in self.layer_of}

    @cached_property
    def origins(self) -> dict[SSAValue, frozenset[Source]]:
        """For each value the layers and inputs that its elements come from, what only moves them looked through."""
        found: dict[SSAValue, frozenset[Source]] = {
            argument: frozenset((-1 - argument.index,)) for argument in self.block.args
        }
        for op in self.operations:
            if op in self.layer_of:
                found[op.result] = frozenset((self.layer_of[op],))
            else:
                found[op.result] = self._all(op.operands, found)
        return found

    @cached_property
    def reads(self) -> dict[int, frozenset[Source]]:
        """For each layer the layers and inputs that its operations read."""
        found: dict[int, set[Source]] = {number: set() for number in self.tails}
        for op in self.operations:
            if op in self.layer_of:
                found[self.layer_of[op]] |= self._all(op.operands, self.origins)
        return {number: frozenset(sources - {number}) for number, sources in found.items()}

    @cached_property
    def returned(self) -> list[SSAValue]:
        """The results that are no constants."""
        last = self.block.last_op
        values = last.operands if isinstance(last, ReturnOp) else ()
        return [value for value in values if value not in self.constants]

    @cached_property
    def results(self) -> frozenset[Source]:
        """The layers and inputs that results are made of."""
        return self._all(self.returned, self.origins)

    def missing(self) -> list[graph.LayerOp]:
        """Operations that compute and have no layer."""
        return [op for op in self.operations if op not in self.layer_of and not isinstance(op, MOVES)]

    def elements(self, value: SSAValue) -> Fraction:
        """Elements of one sample of a tensor."""
        return Fraction(prod(shape_of(value)), self.batch)

    def products(self) -> dict[int, tuple[Fraction, int]]:
        """For each layer that multiplies: multiplications for one sample, and elements of constant factors."""
        found: dict[int, tuple[Fraction, int]] = {}
        for op in self.operations:
            if isinstance(op, PRODUCTS) and op in self.layer_of:
                factors = op.operands[:2]
                constant = sum(prod(shape_of(value)) for value in factors if value in self.constants)
                found[self.layer_of[op]] = self.elements(op.result) * _summed(op), constant
        return found

    def weight_bytes(self) -> dict[int, tuple[int, int]]:
        """For each layer the bytes of weights that it reads, without its zero points (which code may hold) and with."""
        sizes: dict[int, dict[SSAValue, int]] = {number: {} for number in self.tails}
        zeros: dict[int, set[SSAValue]] = {number: set() for number in self.tails}
        for op in self.operations:
            if op not in self.layer_of:
                continue
            number = self.layer_of[op]
            for value in op.operands:
                if isinstance(value.owner, graph.WeightOp):
                    sizes[number][value] = bytes_of(value)
            if isinstance(op, graph.QuantizeOp | graph.DequantizeOp) and op.zero_point is not None:
                zeros[number].add(op.zero_point)
        return {
            number: (sum(size for value, size in found.items() if value not in zeros[number]), sum(found.values()))
            for number, found in sizes.items()
        }

    def _all(self, values: Iterable[SSAValue], origins: Mapping[SSAValue, frozenset[Source]]) -> frozenset[Source]:
        return frozenset[Source]().union(*(origins[value] for value in values if value not in self.constants))


def _summed(op: Operation) -> int:
    """Products that are summed for each element of the result."""
    match op:
        case graph.ConvOp():
            return prod(shape_of(op.w)[1:])
        case graph.GemmOp():
            return shape_of(op.a)[0 if op.trans_a is not None else 1]
        case graph.MatmulOp():
            return shape_of(op.a)[-1]
        case _:
            return 0


@dataclass(frozen=True)
class _Checker:
    """Compares a table called `name`, whose layers have `names`, with a recount of its graph."""

    name: str
    names: Sequence[str]
    recount: Recount

    def same(self, where: str, what: str, graph_has: object, table_has: object) -> None:
        """Raises TilewrightError (kind `internal`) where the two differ."""
        if graph_has != table_has:
            subject = f"{where} in the layer table of {self.name}"
            lever = "this is a fault of tilewright, not of the model: please report it with the model"
            raise TilewrightError("internal", subject, f"as in the graph {what} {graph_has}", str(table_has), lever)

    def layer(self, number: int) -> str:
        """How a layer is called in errors."""
        return f"layer {number} ({self.names[number]})"

    def sources(self, found: Iterable[Source]) -> str:
        """Layers and inputs by name."""
        return ", ".join(self.layer(i) if i >= 0 else f"input {-1 - i}" for i in sorted(found)) or "nothing"

    def layers(self) -> None:
        """Every operation that computes is part of a layer."""
        for op in self.recount.missing():
            name = graph.name_of(op) or op.result.name_hint or op.name
            self.same(f"operation {name}", "a layer", op.name, "none")

    def reads(self, number: int, found: Iterable[Source]) -> None:
        """What a layer reads."""
        expected = self.recount.reads[number]
        self.same(self.layer(number), "reading", self.sources(expected), self.sources(found))

    def map(self, number: int, elements: int) -> None:
        """The size of a layer's map."""
        tail = self.recount.tails[number].result
        self.same(self.layer(number), "elements of a sample", self.recount.elements(tail), elements)

    def inputs(self, given: Sequence[int]) -> None:
        """Elements of a sample of each input."""
        arguments = self.recount.block.args
        self.same("inputs", "as many as", len(arguments), len(given))
        for argument, elements in zip(arguments, given, strict=True):
            where = f"input {argument.index}"
            self.same(where, "elements of a sample", self.recount.elements(argument), elements)


def check_network(network: Network, recount: Recount) -> None:
    """Compare a table for schedules; TilewrightError (kind `internal`) with what graph and table have if they differ.

    Layers of the table without an operation only bring elements into another form, and are looked through.
    """
    check = _Checker(network.name, [layer.name for layer in network.layers], recount)
    check.layers()
    check.inputs([prod(shape) for _, shape in network.inputs])
    origins = _looked_through(network, recount)
    products = recount.products()
    for number, layer in enumerate(network.layers):
        where = check.layer(number)
        if layer.kind in ("eltwise", "pointwise"):
            given = sum(network.map_shape(source).channels for source in _sources(network, number))
            check.same(where, "channels of all operands", layer.operands * layer.shape.channels, given)
        if number not in recount.tails:
            check.same(where, "products", False, layer.has_macs)
            continue
        check.reads(number, frozenset[Source]().union(*(origins[source] for source in _sources(network, number))))
        check.map(number, prod(layer.shape))
        macs = prod(layer.shape) * network.group_shape(number)[0] * prod(layer.kernel) if layer.has_macs else 0
        expected, weights = products.get(number, (Fraction(0), 0))
        check.same(where, "products", expected, macs)
        check.same(where, "elements of weights", weights, network.weight_bytes(number))
    _check_results(network, recount, check, origins)


def _check_results(
    network: Network, recount: Recount, check: _Checker, origins: Mapping[Source, frozenset[Source]]
) -> None:
    """What nobody reads is the results, and nothing else."""
    ends = [number for number, readers in enumerate(network.consumers) if not readers]
    for number in ends:
        lost = check.sources(origins[number] - recount.results)
        check.same(check.layer(number), "readers, or results made of", "nothing", lost)
    made = frozenset[Source]().union(*(origins[number] for number in ends))
    check.same("results", "made of", check.sources(recount.results), check.sources(made))
    stored = sum(prod(network.layers[number].shape) for number in ends)
    expected = sum(map(recount.elements, recount.returned))
    check.same("results", "elements of a sample", expected, stored)


def _sources(network: Network, number: int) -> list[Source]:
    layer = network.layers[number]
    return [*layer.inputs, *layer.weights_from, *(-1 - i for i in layer.external)]


def _looked_through(network: Network, recount: Recount) -> dict[Source, frozenset[Source]]:
    """For each source of the table, itself if operations of the graph make it, else what it is made of."""
    found = {-1 - i: frozenset((-1 - i,)) for i in range(len(network.inputs))}
    for number in range(len(network.layers)):
        if number in recount.tails:
            found[number] = frozenset((number,))
        else:
            found[number] = frozenset[Source]().union(*(found[source] for source in _sources(network, number)))
    return found


def check_layer_graph(layers: LayerGraph, recount: Recount) -> None:
    """Compare a table for fused groups; TilewrightError (kind `internal`) with what graph and table have."""
    check = _Checker(layers.name, [layer.name for layer in layers.layers], recount)
    check.layers()
    check.inputs([given.shape.volume for given in layers.inputs])
    for given, argument in zip(layers.inputs, recount.block.args, strict=True):
        check.same(f"input {given.name}", "bytes of an element", element_bytes(argument), given.element_bytes)
    products, weights = recount.products(), recount.weight_bytes()
    for number, layer in enumerate(layers.layers):
        where = check.layer(number)
        check.same(where, "operations", True, number in recount.tails)
        check.reads(number, {edge.producer for edge in layer.edges})
        check.map(number, layer.shape.volume)
        check.same(where, "bytes of an element", element_bytes(recount.tails[number].result), layer.element_bytes)
        if number in products:
            check.same(where, "products", products[number][0], layer.macs)
        least, most = weights[number]
        check.same(where, "bytes of weights", min(max(least, layer.weight_bytes), most), layer.weight_bytes)
    made = frozenset(number for number in recount.results if number >= 0)
    check.same("results", "made of", check.sources(made), check.sources(layers.exits))
