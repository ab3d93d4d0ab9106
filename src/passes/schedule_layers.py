"""The layers of a graph-dialect function as a table for the scheduler of tiles and DRAM transfers.

A map is (channels, rows, columns) of one sample; rank 2 and 3 keep their last axis as channels.  An element is a byte.
Biases, scales, activation functions and quantisation that follow a layer alone are free, as in SoMa's tables; what only
moves elements (reshape, transpose, slice ...) is one `rearrange` where its reader needs another shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import func
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ..dialects import graph
from ..dialects.types import shape_of
from ..errors import TilewrightError
from ..zoo.schedule_networks.layers import Kind, Layer, Network, Shape
from .graph_fuse import EPILOGUE, find_clusters

MOVES = (
    graph.ReshapeOp,
    graph.ConcatOp,
    graph.SliceOp,
    graph.PadOp,
    graph.TransposeOp,
    graph.GatherOp,
    graph.ExpandOp,
)
"""What computes nothing."""

Source = int
"""A layer, or -1 - i for network input i."""


@dataclass
class ScheduleLayers:
    """Grows the table of one block; `made` has the source and shape of each value that a layer makes."""

    name: str
    block: Block
    batch: int
    layers: list[Layer] = field(default_factory=list[Layer])
    made: dict[SSAValue, tuple[Source, Shape]] = field(default_factory=dict[SSAValue, tuple[Source, Shape]])
    moved: dict[tuple[SSAValue, Shape], Source] = field(default_factory=dict[tuple[SSAValue, Shape], Source])

    def network(self) -> Network:
        """The table; `TilewrightError` (kind `unsupported`) where an operation has no place in it."""
        arguments = self.block.args
        for argument in arguments:
            self.made[argument] = -1 - argument.index, self.canonical(argument)
        for cluster in find_clusters(self.block, EPILOGUE):
            if not isinstance(cluster.tail, MOVES) and not self.constant(cluster.tail.result):
                self._cluster(cluster.members)
        last = self.block.last_op
        for value in last.operands if isinstance(last, ReturnOp) else ():
            self._result(value)
        if not self.layers:
            raise self._refuse("at least one layer", "none")
        inputs = tuple((item.name_hint or f"input{item.index}", self.canonical(item)) for item in arguments)
        return Network(self.name, inputs, tuple(self.layers))

    def canonical(self, value: SSAValue) -> Shape:
        """Channels, rows and columns of one sample."""
        extents = shape_of(value)
        if extents and extents[0] == self.batch:
            extents = extents[1:]
        elif extents and extents[0] % self.batch == 0:
            extents = (extents[0] // self.batch, *extents[1:])
        match len(extents):
            case 3:
                return Shape(*extents)
            case 2:
                return Shape(extents[1], extents[0], 1)
            case _:
                return Shape(prod(extents), 1, 1)

    def constant(self, value: SSAValue) -> bool:
        """Whether nothing that the network is given reaches `value`."""
        owner = value.owner
        return isinstance(owner, Operation) and all(self.constant(operand) for operand in owner.operands)

    def sources(self, value: SSAValue, shape: Shape) -> list[Source]:
        """Sources whose maps, one after another along channels, are `value` in the form `shape`."""
        if value in self.made and self.made[value][1] == shape:
            return [self.made[value][0]]
        owner = value.owner
        same = shape == self.canonical(value)
        if isinstance(owner, graph.ConcatOp) and same and owner.axis.value.data == self._channel_axis(value):
            pieces = [piece for piece in owner.pieces if not self.constant(piece)]
            if len(pieces) == len(owner.pieces):
                return [item for piece in pieces for item in self.sources(piece, self.canonical(piece))]
        if isinstance(owner, graph.ReshapeOp) and same and self.canonical(owner.x) == shape:
            return self.sources(owner.x, shape)
        if (value, shape) not in self.moved:
            name = value.name_hint or "moved"
            self.moved[value, shape] = self._add(name, "rearrange", shape, self._leaves(value))
        return [self.moved[value, shape]]

    def _leaves(self, value: SSAValue) -> list[Source]:
        """What `value` is made of, flat where heights or widths differ."""
        found: dict[Source, Shape] = {}
        stack, seen = [value], set[SSAValue]()
        while stack:
            item = stack.pop()
            if item in seen or self.constant(item):
                continue
            seen.add(item)
            if item in self.made:
                source, shape = self.made[item]
                found[source] = shape
            elif isinstance(item, BlockArgument) or not isinstance(item.owner, MOVES):
                raise self._refuse("layers of the graph dialect", str(item))
            else:
                stack += item.owner.operands
        if len({shape[1:] for shape in found.values()}) == 1:
            return list(found)
        return [self._add("flat", "rearrange", Shape(prod(found[i]), 1, 1), [i]) for i in found]

    def _channel_axis(self, value: SSAValue) -> int:
        rank = len(shape_of(value))
        return 1 if rank >= 4 else rank - 1

    def _add(
        self,
        name: str,
        kind: Kind,
        shape: Shape,
        sources: Sequence[Source],
        *,
        weights_from: Sequence[Source] = (),
        kernel: tuple[int, int] = (1, 1),
        stride: tuple[int, int] = (1, 1),
        groups: int = 1,
        operands: int = 1,
    ) -> Source:
        inside, outside = [i for i in sources if i >= 0], [-1 - i for i in sources if i < 0]
        self.layers.append(
            Layer(
                name, kind, shape, tuple(inside), tuple(outside), tuple(weights_from), kernel, stride, groups, operands
            )
        )
        return len(self.layers) - 1

    def _cluster(self, members: list[graph.LayerOp]) -> None:
        """The layer of the first member that is no elementwise one, and one for each sum with another map."""
        name = graph.name_of(members[-1]) or members[-1].result.name_hint or members[0].name.removeprefix("graph.")
        inside = {op.result for op in members}
        for op in members:
            outer = [v for v in op.operands if v not in inside and not self.constant(v)]
            inner = [v for v in op.operands if v in inside]
            if inner and not outer:
                self.made[op.result] = self.made[inner[-1]]
            elif inner:
                self._elementwise(name, op, [*inner, *outer])
            elif not self._anchor(name, op):
                self._elementwise(name, op, outer)

    def _elementwise(self, name: str, op: graph.LayerOp, values: list[SSAValue]) -> None:
        """A sum, product or function of maps of one shape; smaller ones are repeated first."""
        shape = self.canonical(op.result)
        forms = [self.made[v][1] for v in values if v in self.made and shape_of(v) == shape_of(op.result)]
        shape = forms[0] if forms else shape
        found = [self._spread(value, shape, op) for value in values]
        kind: Kind = "eltwise" if len(found) > 1 else "pointwise"
        flat = [item for items in found for item in items]
        self.made[op.result] = self._add(name, kind, shape, flat, operands=len(found)), shape

    def _spread(self, value: SSAValue, shape: Shape, op: graph.LayerOp) -> list[Source]:
        """`value` in the form `shape`, broadcast where it has fewer elements than the result."""
        if prod(shape_of(value)) == prod(shape_of(op.result)):
            return self.sources(value, shape)
        given = self.canonical(value)
        found = self.sources(value, given)
        pixels = given.channels == shape.channels and shape.height % given.height == shape.width % given.width == 0
        return [self._add("repeated", "upsample" if pixels else "rearrange", shape, found)]

    def _anchor(self, name: str, op: graph.LayerOp) -> bool:
        """A layer for `op`; False where it is elementwise."""
        match op:
            case graph.ConvOp():
                self._conv(name, op)
            case graph.GemmOp() | graph.MatmulOp():
                self._product(name, op)
            case graph.PoolOp():
                self._pool(name, op)
            case graph.ReduceOp():
                self._reduce(name, op)
            case graph.ResizeOp():
                shape = self.canonical(op.result)
                found = self._add(name, "upsample", shape, self.sources(op.x, self.canonical(op.x)))
                self.made[op.result] = found, shape
            case graph.SoftmaxOp() | graph.LayerNormOp() | graph.LrnOp() | graph.BatchNormOp():
                self._normalise(name, op)
            case _:
                return False
        return True

    def _plane(self, value: SSAValue) -> Shape:
        """A map with its channels first, of one or two axes of pixels."""
        extents = shape_of(value)
        if len(extents) not in (3, 4):
            raise self._refuse("windows along one or two axes", f"a tensor of rank {len(extents)}")
        return Shape(extents[1], extents[2], extents[3] if len(extents) == 4 else 1)

    def _windows(
        self, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
    ) -> list[tuple[int, int]]:
        if any(dilation != 1 and taps > 1 for dilation, taps in zip(dilations, kernel, strict=True)):
            raise self._refuse("windows without gaps", f"dilations {tuple(dilations)}")
        return [(values[0], values[1] if len(values) == 2 else 1) for values in (kernel, strides)]

    def _conv(self, name: str, op: graph.ConvOp) -> None:
        if self.constant(op.x) or not self.constant(op.w):
            raise self._refuse("a convolution of a map by constant weights", name)
        kernel, stride = self._windows(shape_of(op.w)[2:], op.strides.get_values(), op.dilations.get_values())
        shape, groups = self._plane(op.result), op.groups.value.data
        sources = self.sources(op.x, self._plane(op.x))
        kind: Kind = "group_conv" if groups > 1 else "conv"
        number = self._add(name, kind, shape, sources, kernel=kernel, stride=stride, groups=groups)
        self.made[op.result] = number, shape

    def _pool(self, name: str, op: graph.PoolOp) -> None:
        kernel, stride = self._windows(op.kernel.get_values(), op.strides.get_values(), op.dilations.get_values())
        shape = self._plane(op.result)
        number = self._add(name, "pool", shape, self.sources(op.x, self._plane(op.x)), kernel=kernel, stride=stride)
        self.made[op.result] = number, shape

    def _reduce(self, name: str, op: graph.ReduceOp) -> None:
        shape = self.canonical(op.result)
        given = self.canonical(op.x)
        if len(shape_of(op.x)) == 4 and tuple(op.axes.get_values()) == (2, 3):
            shape, size = Shape(given.channels, 1, 1), (given.height, given.width)
            number = self._add(name, "pool", shape, self.sources(op.x, given), kernel=size, stride=size)
        else:
            taps = max(1, prod(given) // max(1, prod(shape)))
            number = self._add(name, "rearrange", shape, self.sources(op.x, given), kernel=(taps, 1))
        self.made[op.result] = number, shape

    def _normalise(self, name: str, op: graph.LayerOp) -> None:
        """One operation for each element; whole maps at once where it sums over rows or columns."""
        value = op.operands[0]
        given = self.made[value][1] if value in self.made else self.canonical(value)
        rank = len(shape_of(value))
        across = True
        if isinstance(op, graph.SoftmaxOp | graph.LayerNormOp):
            axis = op.axis.value.data % rank
            first = rank >= 4 and given == self.canonical(value)
            across = axis == (1 if first else rank - 1) and not (first and isinstance(op, graph.LayerNormOp))
        kind: Kind = "pointwise" if across else "rearrange"
        self.made[op.result] = self._add(name, kind, given, self.sources(value, given)), given

    def _product(self, name: str, op: graph.GemmOp | graph.MatmulOp) -> None:
        """A matrix product: a 1x1 convolution of rows, or one with weights that another layer makes, in groups."""
        one, two, turned = op.a, op.b, False
        if isinstance(op, graph.GemmOp):
            turned = op.trans_a is not None
        if self.constant(one):
            one, two, turned = two, one, True
        depth, filters = self._depth(op), prod(shape_of(op.result)[-1:])
        if op.a is not one:
            filters = shape_of(op.result)[-2] if len(shape_of(op.result)) > 1 else 1
        elements = prod(shape_of(op.result)) // self.batch
        if self.constant(two):
            rows = elements // filters
            self.made[op.result] = self._dense(name, one, Shape(depth, rows, 1), filters, turned)
            return
        rows = shape_of(op.result)[-2] if len(shape_of(op.result)) > 1 else 1
        groups = max(1, elements // (rows * filters))
        weights = self.sources(two, Shape(groups * filters, depth, 1))
        weights = [
            i if i >= 0 else self._add("given", "pointwise", Shape(groups * filters, depth, 1), [i]) for i in weights
        ]
        shape = Shape(groups * filters, rows, 1)
        given = self.sources(one, Shape(groups * depth, rows, 1))
        number = self._add(
            name, "group_conv" if groups > 1 else "conv", shape, given, weights_from=weights, groups=groups
        )
        self.made[op.result] = number, shape

    def _depth(self, op: graph.GemmOp | graph.MatmulOp) -> int:
        extents = shape_of(op.a)
        turned = isinstance(op, graph.GemmOp) and op.trans_a is not None
        return extents[-2] if turned else extents[-1]

    def _dense(self, name: str, value: SSAValue, given: Shape, filters: int, turned: bool) -> tuple[Source, Shape]:
        """Rows by constant weights; a flattened map goes in as it is."""
        shape = Shape(filters, given.height, 1)
        while isinstance(value.owner, graph.ReshapeOp) and value not in self.made:
            value = value.owner.x
        if value in self.made and given.height == 1 and not turned:
            source, form = self.made[value]
            if prod(form) == given.channels:
                kernel = form.height, form.width
                return self._add(name, "fc", shape, [source], kernel=kernel), shape
        kind: Kind = "fc" if given.height == 1 else "conv"
        return self._add(name, kind, shape, self.sources(value, given)), shape

    def _result(self, value: SSAValue) -> None:
        """A result of the network that is read inside too, or that no layer makes, is copied for the world."""
        if self.constant(value):
            return
        inner = value
        while isinstance(inner.owner, graph.ReshapeOp) and inner not in self.made:
            inner = inner.owner.x
        shape = self.made[inner][1] if inner in self.made else self.canonical(value)
        for source in self.sources(inner, shape):
            read = any(source in layer.producers for layer in self.layers)
            if source < 0 or read:
                own = shape if source < 0 else self.layers[source].shape
                self._add("result", "pointwise", own, [source])

    def _refuse(self, expected: str, found: str) -> TilewrightError:
        return TilewrightError("unsupported", self.name, expected, found, "schedule it as a layer table of the zoo")


def schedule_layers(function: func.FuncOp) -> tuple[Network, int]:
    """The layer table of a function of one block, and the samples it is given at once (its inputs' leading extent)."""
    block = function.body.block
    shapes = [shape_of(argument) for argument in block.args]
    batch = shapes[0][0] if shapes and shapes[0] else 1
    return ScheduleLayers(function.sym_name.data, block, batch).network(), batch
