"""The layers of a graph-dialect function as a table for the scheduler of tiles and DRAM transfers.

A map is (channels, rows, columns) of one sample; rank 2 and 3 keep their last axis as channels.  An element is a byte.
Biases, scales, activation functions and quantisation that follow a layer alone are free, as in SoMa's tables; sums and
products with other maps are one `eltwise` that reads each of them once.  What only moves elements (reshape, transpose,
slice ...) is one `rearrange` where its reader needs another shape.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects import graph
from ...dialects.types import shape_of
from ...errors import TilewrightError
from ...zoo.schedule_networks.layers import Kind, Network, Shape, Table
from .graph_fuse import ELEMENTWISE, EPILOGUE, MOVES, find_clusters
from .samples import channel_axis, constants_of, live_operations, sample_map, samples_of
from .table_check import Recount, Source, check_network


@dataclass
class ScheduleLayers:
    """Grows the table of one block; `made` has the source and shape of each value that a layer makes.

    `number` has the layer of each operation that computes; layers without one only bring elements into another form.
    """

    name: str
    block: Block
    batch: int
    table: Table = field(init=False)
    number: dict[Operation, int] = field(default_factory=dict[Operation, int])
    made: dict[SSAValue, tuple[Source, Shape]] = field(default_factory=dict[SSAValue, tuple[Source, Shape]])
    moved: dict[tuple[SSAValue, Shape], Source] = field(default_factory=dict[tuple[SSAValue, Shape], Source])
    constants: set[SSAValue] = field(default_factory=set[SSAValue])

    def __post_init__(self) -> None:
        self.table = Table(self.name, Shape(1, 1, 1))
        self.table.inputs = [(item.name_hint or f"input{item.index}", self.canonical(item)) for item in self.block.args]

    def network(self) -> Network:
        """The table; `TilewrightError` (kind `unsupported`) where an operation has no place in it."""
        self.constants = constants_of(self.block)
        live = live_operations(self.block)
        for argument in self.block.args:
            self.made[argument] = -1 - argument.index, self.canonical(argument)
        for cluster in find_clusters(self.block, EPILOGUE):
            tail = cluster.tail
            if not isinstance(tail, MOVES) and tail in live and tail.result not in self.constants:
                self._cluster(cluster.members)
        last = self.block.last_op
        self._results(last.operands if isinstance(last, ReturnOp) else ())
        if not self.table.layers:
            raise self._refuse("at least one layer", "none")
        return self.table.network()

    def canonical(self, value: SSAValue) -> Shape:
        """Channels, rows and columns of one sample."""
        return Shape(*sample_map(value, self.batch))

    def sources(self, value: SSAValue, shape: Shape) -> list[Source]:
        """Sources whose maps, one after another along channels, are `value` in the form `shape`."""
        found: list[Source] = []
        stack = [(value, shape)]
        while stack:
            value, shape = stack.pop()
            pieces = self._pieces(value, shape)
            if pieces is None:
                found.append(self._source(value, shape))
            else:
                stack += [(piece, self.canonical(piece)) for piece in reversed(pieces)]
        return found

    def _pieces(self, value: SSAValue, shape: Shape) -> Sequence[SSAValue] | None:
        """What lies one after another along channels in `value`, where that has the form `shape`."""
        owner = value.owner
        if (value in self.made and self.made[value][1] == shape) or shape != self.canonical(value):
            return None
        if isinstance(owner, graph.ConcatOp) and owner.axis.value.data == channel_axis(value):
            return None if any(piece in self.constants for piece in owner.pieces) else owner.pieces
        return [owner.x] if isinstance(owner, graph.ReshapeOp) and self.canonical(owner.x) == shape else None

    def _source(self, value: SSAValue, shape: Shape) -> Source:
        """The source that is `value` in the form `shape`."""
        if value in self.made and self.made[value][1] == shape:
            return self.made[value][0]
        if (value, shape) not in self.moved:
            name = value.name_hint or "moved"
            self.moved[value, shape] = self.table.layer(name, "rearrange", shape, self._leaves(value))
        return self.moved[value, shape]

    def _leaves(self, value: SSAValue) -> list[Source]:
        """What `value` is made of, flat where heights or widths differ."""
        found: dict[Source, Shape] = {}
        stack, seen = [value], set[SSAValue]()
        while stack:
            item = stack.pop()
            if item in seen or item in self.constants:
                continue
            seen.add(item)
            if item in self.made:
                source, shape = self.made[item]
                found[source] = shape
            elif isinstance(item, BlockArgument) or not isinstance(item.owner, MOVES):
                what = item.owner.name if isinstance(item.owner, Operation) else "an argument"
                raise self._refuse("layers of the graph dialect", what)
            else:
                stack += item.owner.operands
        if len({shape[1:] for shape in found.values()}) == 1:
            return list(found)
        return [self.table.layer("flat", "rearrange", Shape(prod(found[i]), 1, 1), [i]) for i in found]

    def _cluster(self, members: list[graph.LayerOp]) -> None:
        """The layer of the member that is no elementwise one, if there is one, and a layer that joins its map with all
        others that the members read.
        """
        tail = members[-1]
        name = graph.name_of(tail) or tail.result.name_hint or members[0].name.removeprefix("graph.")
        inside = {op.result for op in members}
        anchors = [op for op in members if not isinstance(op, ELEMENTWISE)]
        joined: dict[SSAValue, None] = {}
        for op in anchors:
            others = self._anchor(name, op)
            self.number[op] = self.made[op.result][0]
            joined |= dict.fromkeys((op.result, *others))
        elementwise = [op for op in members if isinstance(op, ELEMENTWISE)]
        joined |= dict.fromkeys(value for op in elementwise for value in op.operands if value not in inside)
        values = [value for value in joined if value not in self.constants]
        if not anchors or len(values) > 1:
            self._elementwise(name, tail, values)
        else:
            self.made[tail.result] = self.made[anchors[0].result]
        self.number |= dict.fromkeys(elementwise, self.made[tail.result][0])

    def _elementwise(self, name: str, op: graph.LayerOp, values: list[SSAValue]) -> None:
        """A sum, product or function of maps of one shape; smaller ones are repeated first."""
        shape = self.canonical(op.result)
        forms = [self.made[v][1] for v in values if v in self.made and shape_of(v) == shape_of(op.result)]
        shape = forms[0] if forms else shape
        found = list(dict.fromkeys(tuple(self._spread(value, shape)) for value in values))
        kind: Kind = "eltwise" if len(found) > 1 else "pointwise"
        flat = [item for items in found for item in items]
        self._make(op, name, kind, shape, flat, operands=len(found))

    def _spread(self, value: SSAValue, shape: Shape) -> list[Source]:
        """`value` in the form `shape`, broadcast where it has fewer elements than the result."""
        given = self.canonical(value)
        if prod(given) == prod(shape):
            return self.sources(value, shape)
        found = self.sources(value, given)
        pixels = given.channels == shape.channels and shape.height % given.height == shape.width % given.width == 0
        return [self.table.layer("repeated", "upsample" if pixels else "rearrange", shape, found)]

    def _make(
        self, op: graph.LayerOp, name: str, kind: Kind, shape: Shape, sources: Sequence[Source], **more: Any
    ) -> None:
        """Adds the layer that makes the result of an operation."""
        self.made[op.result] = self.table.layer(name, kind, shape, sources, **more), shape

    def _anchor(self, name: str, op: graph.LayerOp) -> Sequence[SSAValue]:
        """Makes the layer of `op`; what else it reads, to be joined with the layer's map."""
        match op:
            case graph.ConvOp():
                self._conv(name, op)
                return [] if op.bias is None else [op.bias]
            case graph.GemmOp():
                self._product(name, op)
                return [] if op.c is None else [op.c]
            case graph.MatmulOp():
                self._product(name, op)
            case graph.PoolOp():
                self._pool(name, op)
            case graph.ReduceOp():
                self._reduce(name, op)
            case graph.ResizeOp():
                self._make(op, name, "upsample", self.canonical(op.result), self.sources(op.x, self.canonical(op.x)))
            case graph.SoftmaxOp() | graph.LayerNormOp() | graph.StandardizeOp() | graph.LrnOp() | graph.BatchNormOp():
                self._normalise(name, op)
                return op.operands[1:]
            case _:
                raise self._refuse("layers of the graph dialect", op.name)
        return []

    def _plane(self, value: SSAValue) -> Shape:
        """A map with its channels first, of one or two axes of pixels."""
        extents = shape_of(value)
        if len(extents) not in (3, 4):
            raise self._refuse("windows along one or two axes", f"a tensor of rank {len(extents)}")
        if extents[0] != self.batch:
            raise self._refuse(f"windows over {self.batch} samples, as the network is given", str(extents[0]))
        return Shape(extents[1], extents[2], extents[3] if len(extents) == 4 else 1)

    def _windows(
        self, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
    ) -> list[tuple[int, int]]:
        if any(dilation != 1 and taps > 1 for dilation, taps in zip(dilations, kernel, strict=True)):
            raise self._refuse("windows without gaps", f"dilations {tuple(dilations)}")
        return [(values[0], values[1] if len(values) == 2 else 1) for values in (kernel, strides)]

    def _conv(self, name: str, op: graph.ConvOp) -> None:
        if op.x in self.constants or op.w not in self.constants:
            raise self._refuse("a convolution of a map by constant weights", name)
        kernel, stride = self._windows(shape_of(op.w)[2:], op.strides.get_values(), op.dilations.get_values())
        shape, groups = self._plane(op.result), op.groups.value.data
        sources = self.sources(op.x, self._plane(op.x))
        kind: Kind = "group_conv" if groups > 1 else "conv"
        self._make(op, name, kind, shape, sources, kernel=kernel, stride=stride, groups=groups)

    def _pool(self, name: str, op: graph.PoolOp) -> None:
        kernel, stride = self._windows(op.kernel.get_values(), op.strides.get_values(), op.dilations.get_values())
        shape, sources = self._plane(op.result), self.sources(op.x, self._plane(op.x))
        self._make(op, name, "pool", shape, sources, kernel=kernel, stride=stride)

    def _reduce(self, name: str, op: graph.ReduceOp) -> None:
        shape = self.canonical(op.result)
        given = self.canonical(op.x)
        if len(shape_of(op.x)) == 4 and tuple(op.axes.get_values()) == (2, 3):
            shape, size = Shape(given.channels, 1, 1), (given.height, given.width)
            self._make(op, name, "pool", shape, self.sources(op.x, given), kernel=size, stride=size)
        else:
            taps = max(1, prod(given) // max(1, prod(shape)))
            self._make(op, name, "rearrange", shape, self.sources(op.x, given), kernel=(taps, 1))

    def _normalise(self, name: str, op: graph.LayerOp) -> None:
        """One operation for each element; whole maps at once where it sums over rows or columns."""
        value = op.operands[0]
        given = self.made[value][1] if value in self.made else self.canonical(value)
        rank = len(shape_of(value))
        across = True
        if isinstance(op, graph.SoftmaxOp | graph.LayerNormOp | graph.StandardizeOp):
            axis = op.axis.value.data % rank
            first = rank >= 4 and given == self.canonical(value)
            across = axis == (1 if first else rank - 1) and not (first and not isinstance(op, graph.SoftmaxOp))
        self._make(op, name, "pointwise" if across else "rearrange", given, self.sources(value, given))

    def _product(self, name: str, op: graph.GemmOp | graph.MatmulOp) -> None:
        """A matrix product: a 1x1 convolution of rows, or one with weights that another layer makes, in groups."""
        one, two = op.a, op.b
        turned = isinstance(op, graph.GemmOp) and op.trans_a is not None
        rows, filters = (1, *shape_of(op.result))[-2:]
        if one in self.constants:
            one, two, turned, rows, filters = two, one, True, filters, rows
        elements = prod(shape_of(op.result)) // self.batch
        constant, matrices = two in self.constants, prod(shape_of(two)[:-2])
        groups = 1 if matrices <= (1 if constant else self.batch) else max(1, elements // (rows * filters))
        if groups == 1:
            rows = elements // filters
        if constant and matrices > 1 and matrices != groups:
            raise self._refuse("as many matrices of weights as of results", f"{matrices} for {groups} in {name}")
        given = Shape(groups * self._depth(op), rows, 1)
        if constant and groups == 1:
            self.made[op.result] = self._dense(name, one, given, filters, turned)
            return
        weights = () if constant else self._weights(two, Shape(groups * filters, self._depth(op), 1))
        shape, kind = Shape(groups * filters, rows, 1), "group_conv" if groups > 1 else "conv"
        sources = self._turned(one, given) if turned else self.sources(one, given)
        self._make(op, name, kind, shape, sources, weights_from=weights, groups=groups)

    def _weights(self, value: SSAValue, shape: Shape) -> tuple[Source, ...]:
        """Layers whose maps are the weights `value`; a copy of what the network is given."""
        found = self.sources(value, shape)
        return tuple(i if i >= 0 else self.table.layer("given", "pointwise", shape, [i]) for i in found)

    def _turned(self, value: SSAValue, shape: Shape) -> list[Source]:
        """`value` transposed, in the form `shape`."""
        return [self.table.layer("turned", "rearrange", shape, self.sources(value, self.canonical(value)))]

    def _depth(self, op: graph.GemmOp | graph.MatmulOp) -> int:
        extents = shape_of(op.a)
        turned = isinstance(op, graph.GemmOp) and op.trans_a is not None
        return extents[-2] if turned else extents[-1]

    def _dense(self, name: str, value: SSAValue, given: Shape, filters: int, turned: bool) -> tuple[Source, Shape]:
        """Rows by constant weights; a flattened map goes in as it is."""
        shape = Shape(filters, given.height, 1)
        kind: Kind = "fc" if given.height == 1 else "conv"
        if turned and given.height > 1:
            return self.table.layer(name, kind, shape, self._turned(value, given)), shape
        while isinstance(value.owner, graph.ReshapeOp) and value not in self.made:
            value = value.owner.x
        if value in self.made and given.height == 1:
            source, form = self.made[value]
            if prod(form) == given.channels:
                kernel = form.height, form.width
                return self.table.layer(name, "fc", shape, [source], kernel=kernel), shape
        return self.table.layer(name, kind, shape, self.sources(value, given)), shape

    def _results(self, values: Sequence[SSAValue]) -> None:
        """Results of the network: what is read inside too, returned twice, or made by no layer is copied."""
        found: list[Source] = []
        for value in values:
            if value in self.constants:
                continue
            while isinstance(value.owner, graph.ReshapeOp) and value not in self.made:
                value = value.owner.x
            found += self.sources(value, self.made[value][1] if value in self.made else self.canonical(value))
        read = {source for layer in self.table.layers for source in layer.producers}
        given = Counter(found)
        for source in found:
            if source < 0 or source in read or given[source] > 1:
                shape = self.canonical(self.block.args[-1 - source]) if source < 0 else self.table.layers[source].shape
                self.table.layer("result", "pointwise", shape, [source])

    def _refuse(self, expected: str, found: str) -> TilewrightError:
        return TilewrightError("unsupported", self.name, expected, found, "schedule it as a layer table of the zoo")


def unique(names: Sequence[str]) -> list[str]:
    """`names`, each once: later ones of a name get a number."""
    seen: set[str] = set()
    found: list[str] = []
    for name in names:
        trial, number = name, 1
        while trial in seen:
            number += 1
            trial = f"{name}.{number}"
        seen.add(trial)
        found.append(trial)
    return found


@dataclass(frozen=True)
class ScheduleTable:
    """The layer table of a function, the samples it is given at once, and the layer of each operation that computes.

    Names of layers are unique.
    """

    network: Network
    batch: int
    number: Mapping[Operation, int]


def schedule_table(function: func.FuncOp) -> ScheduleTable:
    """The layer table of a function of one block; `TilewrightError` (kind `shape`) for a map of no elements."""
    block = function.body.block
    for value in (*block.args, *(result for op in block.ops for result in op.results)):
        if 0 in shape_of(value):
            raise TilewrightError("shape", f"@{function.sym_name.data}", "maps with elements", str(value.type))
    batch = samples_of(block)
    made = ScheduleLayers(function.sym_name.data, block, batch)
    network = made.network()
    check_network(network, Recount(block, batch, made.number))
    names = unique([layer.name for layer in network.layers])
    layers = tuple(replace(layer, name=name) for layer, name in zip(network.layers, names, strict=True))
    return ScheduleTable(replace(network, layers=layers), batch, made.number)


def schedule_layers(function: func.FuncOp) -> tuple[Network, int]:
    """The layer table of a function of one block, and the samples it is given at once."""
    table = schedule_table(function)
    return table.network, table.batch
