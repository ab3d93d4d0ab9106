"""The layers of a graph-dialect function as the partitioner sees them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...costs.fusion import POINT, WHOLE, Edge, Input, Layer, LayerGraph, Shape, Window
from ...costs.fusion.of_machine import platform_of
from ...costs.fusion.values import Buffers, Platform
from ...dialects import graph
from ...dialects.acg import has_target, machine_of
from ...dialects.types import bytes_of, element_bytes, shape_of
from ...errors import TilewrightError
from ...resources import Resources, one_number, resources_of, weight_array
from .graph_fuse import ELEMENTWISE, EPILOGUE, find_clusters
from .samples import channel_axis, live_operations, sample_extents, sample_map, samples_of
from .table_check import Recount, check_layer_graph


def platform_in(module: ModuleOp, global_bytes: int = 0, weight_bytes: int = 0) -> Platform:
    """The platform that the module's target is, with other capacities where they are not 0.

    A module without a target is for Cocco's machine (`Platform()`).
    """
    described = has_target(module)
    platform = platform_of(machine_of(module)) if described else Platform()
    if min(global_bytes, weight_bytes) < 0:
        raise TilewrightError(
            "usage", "global_bytes, weight_bytes", "capacities in bytes", f"{global_bytes}, {weight_bytes}"
        )
    buffers = platform.buffers
    weight = weight_bytes or buffers.weight_bytes
    return replace(platform, buffers=Buffers(global_bytes or buffers.global_bytes, weight))


VIEWS = (graph.ReshapeOp, graph.ConcatOp)
"""Layers that only say where elements are: each group that reads one has its own copy."""


@dataclass(frozen=True)
class Source:
    """A function argument, or a layer's result, that is read; `whole`: through a view that moves rows."""

    value: SSAValue
    whole: bool


@dataclass
class FusionLayers:
    """A layer graph with the operations of each layer (one that computes, and elementwise ones after it)."""

    name: str
    block: Block
    members: list[list[Operation]] = field(default_factory=list[list[Operation]])
    number: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    resources: Resources = field(default_factory=Resources)

    def __post_init__(self) -> None:
        live = live_operations(self.block)
        clusters = find_clusters(self.block, EPILOGUE)
        self.regroup([list(c.members) for c in clusters if c.tail in live and not isinstance(c.tail, VIEWS)])

    def regroup(self, members: list[list[Operation]]) -> None:
        """Take `members` as layers, in the order of their last operations."""
        order = {op: place for place, op in enumerate(self.block.ops)}
        self.members = sorted(members, key=lambda ops: order[ops[-1]])
        self.number = {op.results[0]: place for place, ops in enumerate(self.members) for op in ops}

    @cached_property
    def batch(self) -> int:
        """Samples that the function is given at once."""
        return samples_of(self.block)

    def graph(self) -> LayerGraph:
        """The layer graph, compared with the function; `TilewrightError` where it has no layers."""
        if not self.members:
            raise TilewrightError("unsupported", self.name, "at least one layer", "none")
        inputs = tuple(
            Input(argument.name_hint or f"input{argument.index}", self.shape(argument), element_bytes(argument))
            for argument in self.block.args
        )
        layers = tuple(self._layer(ops) for ops in self.members)
        table = LayerGraph(self.name, inputs, layers, tuple(sorted(self._exits())))
        layer_of = {op: number for number, ops in enumerate(self.members) for op in ops}
        check_layer_graph(table, Recount(self.block, self.batch, layer_of))
        return table

    def sources(self, value: SSAValue) -> Iterator[Source]:
        """What is read when `value` is: views looked through, constants left out."""
        stack = [Source(value, False)]
        while stack:
            source = stack.pop()
            match owner := source.value.owner:
                case graph.WeightOp():
                    continue
                case graph.ReshapeOp():
                    whole = source.whole or self.shape(source.value)[1:] != self.shape(owner.x)[1:]
                    stack.append(Source(owner.x, whole))
                case graph.ConcatOp():
                    whole = source.whole or owner.axis.value.data != channel_axis(source.value)
                    stack += [Source(piece, whole) for piece in reversed(owner.pieces)]
                case _:
                    yield source

    def shape(self, value: SSAValue) -> Shape:
        """A tensor of one sample: channels, rows, columns; the last axis is channels where there are fewer than 3."""
        return Shape(*sample_map(value, self.batch))

    def _exits(self) -> set[int]:
        last = self.block.last_op
        values = last.operands if isinstance(last, ReturnOp) else ()
        return {self.number[s.value] for v in values for s in self.sources(v) if s.value in self.number}

    def _layer(self, ops: list[Operation]) -> Layer:
        tail = ops[-1].results[0]
        inside = {op.results[0] for op in ops}
        edges: dict[Edge, None] = {}
        weights: dict[SSAValue, int] = {}
        for op in ops:
            for place, operand in enumerate(op.operands):
                if isinstance(operand.owner, graph.WeightOp) and not self._is_number(op, operand):
                    weights[operand] = bytes_of(operand)
                if operand in inside:
                    continue
                windows = self._windows(op, place)
                for source in self.sources(operand):
                    pair = (WHOLE, WHOLE) if source.whole else windows
                    edges[Edge(self._place(source.value), *pair)] = None
        main = next((op for op in ops if not isinstance(op, ELEMENTWISE)), ops[0])
        reduction, taps, groups = _work(main)
        kind = main.name.removeprefix("graph.")
        name = graph.name_of(ops[-1]) or tail.name_hint or f"{kind}{self.number[tail]}"
        shape, size = self.shape(tail), sum(weights.values())
        return Layer(name, kind, shape, tuple(edges), size, reduction, taps, groups, element_bytes(tail))

    def _is_number(self, op: Operation, operand: SSAValue) -> bool:
        """Whether a weight becomes a number of a kernel, which nothing loads."""
        if not isinstance(op, graph.QuantizeOp | graph.DequantizeOp) or operand is not op.zero_point:
            return False
        owner = operand.owner
        return isinstance(owner, graph.WeightOp) and one_number(weight_array(owner, self.resources)) is not None

    def _has_rows(self, value: SSAValue) -> bool:
        """Whether a sample is rows of channels, or one."""
        return len(sample_extents(value, self.batch)) < 3

    def _place(self, value: SSAValue) -> int:
        if isinstance(value, BlockArgument):
            return -1 - value.index
        if value not in self.number:
            raise TilewrightError("unsupported", self.name, "layers of the graph dialect", value.owner.name)  # pyright: ignore
        return self.number[value]

    def _windows(self, op: Operation, place: int) -> tuple[Window, Window]:
        """How `op` reads operand `place`."""
        match op:
            case graph.ConvOp() | graph.PoolOp() if place == 0 and len(shape_of(op.x)) == 4:
                kernel = shape_of(op.w)[2:] if isinstance(op, graph.ConvOp) else op.kernel.get_values()
                rows, columns = map(Window, kernel, *graph.window_of(op))
                return rows, columns
            case graph.ReduceOp() if tuple(op.axes.get_values()) == (2, 3):
                rows, columns = shape_of(op.x)[2:]
                return Window(rows), Window(columns)
            case graph.GemmOp() if place == 0 and op.trans_a is None:
                return POINT, POINT
            case graph.MatmulOp() if place == 0 and self._has_rows(op.a):
                return POINT, POINT
            case graph.SoftmaxOp() | graph.LayerNormOp() | graph.StandardizeOp() if place == 0 and self._has_rows(
                op.operands[0]
            ):
                return POINT, POINT
            case graph.LrnOp() | graph.BatchNormOp():
                return POINT, POINT
            case _:
                same = shape_of(op.operands[place]) == shape_of(op.results[0])
                return (POINT, POINT) if same and isinstance(op, ELEMENTWISE) else (WHOLE, WHOLE)


def fusion_layers(function: func.FuncOp, original: func.FuncOp | None = None) -> FusionLayers:
    """The layers of a function of one block, which may be a copy of `original` outside of a module."""
    module = (original or function).parent_op()
    resources = resources_of(module) if isinstance(module, ModuleOp) else Resources()
    return FusionLayers(function.sym_name.data, function.body.block, resources=resources)


def _work(op: Operation) -> tuple[int, int, int]:
    """Reduction, taps and groups of an operation; a map without rows and columns has one group."""
    match op:
        case graph.ConvOp():
            weights = shape_of(op.w)
            return weights[1], prod(weights[2:]), op.groups.value.data if len(weights) == 4 else 1
        case graph.GemmOp():
            return shape_of(op.a)[1 if op.trans_a is None else 0], 1, 1
        case graph.MatmulOp():
            return shape_of(op.a)[-1], 1, 1
        case graph.PoolOp():
            return 1, prod(op.kernel.get_values()), shape_of(op.x)[1] if len(shape_of(op.x)) == 4 else 1
        case _:
            return 1, 1, 1
