"""Layers in chunks of an axis: which axes of operands go along it, and what one chunk reads and makes."""

from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Any, NamedTuple, TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import graph
from ...dialects.graph.base import int_attr
from ...dialects.types import element_of, shape_of, tensor
from .graph_fuse import ELEMENTWISE
from .identities import keeps_order

SCALED = (graph.QuantizeOp, graph.DequantizeOp, graph.RequantizeOp)
"""Layers whose operands after the first are scalars, or have one element per index of an axis of the first."""


class Along(NamedTuple):
    """An axis along a hidden one, of which each of its indices has `grain` elements: those of a head, say."""

    axis: int
    grain: int = 1


def summed_axes(op: graph.LayerOp) -> dict[int, Along] | None:
    """The axis of each operand that a product sums up, which is the hidden one."""
    match op:
        case graph.MatmulOp() if len(shape_of(op.a)) > 1 and len(shape_of(op.b)) > 1:
            return {0: Along(len(shape_of(op.a)) - 1), 1: Along(len(shape_of(op.b)) - 2)}
        case graph.GemmOp() if op.trans_a is None:
            return {0: Along(1), 1: Along(0 if op.trans_b is None else 1)}
        case graph.ConvOp() if op.groups.value.data == 1:
            return {0: Along(1), 1: Along(1)}
        case _:
            return None


def made_axes(op: graph.LayerOp, along: Along) -> dict[int, Along] | None:
    """What goes along `along` of the result, by operand; None where a part of it needs more than such parts."""
    axis, rank = along.axis, len(shape_of(op.result))
    match op:
        case graph.MatmulOp() if axis < rank - 2:
            return _broadcast(op, along, range(2))
        case graph.MatmulOp() if axis == rank - 1 and len(shape_of(op.b)) > 1 and is_weight(op.b):
            return {1: along._replace(axis=len(shape_of(op.b)) - 1)}
        case graph.GemmOp() if axis == 1 and is_weight(op.b):
            return {1: along._replace(axis=1 if op.trans_b is None else 0)} | _broadcast(op, along, [2])
        case graph.ConvOp() if axis == 1 and is_weight(op.w) and (is_grouped(op) or op.groups.value.data == 1):
            return dict.fromkeys(range(1, len(op.operands)), along._replace(axis=0))
        case graph.ConvOp() if axis == 1 and is_weight(op.w) and _is_depthwise(op):
            return {0: along} | dict.fromkeys(range(1, len(op.operands)), along._replace(axis=0))
        case _ if isinstance(op, SCALED):
            scaled = [i for i in range(1, len(op.operands)) if len(shape_of(op.operands[i])) == 1]
            return {0: along} | (dict.fromkeys(scaled, along._replace(axis=0)) if op.axis.value.data == axis else {})
        case _ if isinstance(op, ELEMENTWISE):
            return _broadcast(op, along, range(len(op.operands)))
        case _:
            return _moved_axes(op, along)


def _moved_axes(op: graph.LayerOp, along: Along) -> dict[int, Along] | None:
    """The same for layers that move elements, or work along another axis."""
    axis = along.axis
    match op:
        case graph.SoftmaxOp() if op.axis.value.data != axis:
            return {0: along} | _broadcast(op, along, [1])
        case graph.PoolOp() if axis == 1:
            return {0: along}
        case graph.TransposeOp():
            return {0: along._replace(axis=op.perm.get_values()[axis])}
        case graph.ConcatOp() if op.axis.value.data != axis:
            return dict.fromkeys(range(len(op.operands)), along)
        case graph.SliceOp() if shape_of(op.x)[axis] == shape_of(op.result)[axis] and op.steps.get_values()[axis] == 1:
            return {0: along}
        case graph.ReshapeOp():
            return _seen_axis(shape_of(op.x), shape_of(op.result), along)
        case _:
            return None


def _seen_axis(before: tuple[int, ...], after: tuple[int, ...], along: Along) -> dict[int, Along] | None:
    """The axis of a shape that has that of another as its outer or inner part, or as a whole."""
    extent = after[along.axis]
    for axis, own in enumerate(before):
        if own == 1 or prod(before[:axis]) != prod(after[: along.axis]):
            continue
        if own % extent == 0 and along.grain % (own // extent) == 0:
            return {0: Along(axis, along.grain * extent // own)}
        if extent % own == 0:
            return {0: Along(axis, along.grain * (extent // own))}
    return None


def _broadcast(op: graph.LayerOp, along: Along, operands: Iterable[int]) -> dict[int, Along]:
    """The axis of operands that broadcasts to that of the result, of those that have it with its extent."""
    shape = shape_of(op.result)
    axes: dict[int, Along] = {}
    for index in operands:
        if index < len(op.operands):
            own = shape_of(op.operands[index])
            place = along.axis - len(shape) + len(own)
            if place >= 0 and own[place] == shape[along.axis]:
                axes[index] = along._replace(axis=place)
    return axes


def is_weight(value: SSAValue) -> bool:
    """Whether a tensor is a weight of the module."""
    return isinstance(value.owner, graph.WeightOp)


def _is_depthwise(op: graph.ConvOp) -> bool:
    return op.groups.value.data == shape_of(op.x)[1] == shape_of(op.result)[1]


def is_grouped(op: Operation) -> bool:
    """Whether a convolution makes the channels of each group of several; a chunk of these is in one group."""
    return isinstance(op, graph.ConvOp) and op.groups.value.data > 1 and not _is_depthwise(op)


OpT = TypeVar("OpT", bound=Operation)


class Chunk(NamedTuple):
    """Indices `start` to `end` of an axis."""

    number: int
    start: int
    end: int


def insert(op: OpT, before: Operation) -> OpT:
    """Put an operation before another."""
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op


def put_for(layers: Mapping[graph.LayerOp, Any], made: graph.LayerOp) -> None:
    """Let `made` stand for the last of layers in order, which are erased as far as nothing else reads them."""
    last = next(reversed([*layers]))
    made.result.name_hint = last.result.name_hint
    last.result.replace_all_uses_with(made.result)
    for op in reversed([*layers]):
        if not op.result.uses:
            Rewriter.erase_op(op)


def on_chunk(
    layers: dict[graph.LayerOp, Mapping[int, Along]],
    axes: Mapping[SSAValue, Along],
    chunk: Chunk,
    part: Callable[[SSAValue, Along], SSAValue],
    before: Operation,
) -> graph.LayerOp:
    """Layers in order on one chunk, put before another; the last of them.

    `layers` has the axis of operands that go along, by their place, `axes` that of results; `part` makes a chunk of
    what none of the layers makes.  The bias of a last layer that sums up along the axis is in the first chunk.
    """
    cut: dict[SSAValue, SSAValue] = {}
    last = next(reversed(layers))
    made = last
    for op, read in layers.items():
        operands = list(op.operands)
        for index, along in read.items():
            value = operands[index]
            if value not in cut:
                cut[value] = part(value, along)
            operands[index] = cut[value]
        if op is last and op.result not in axes and chunk.number:
            operands = operands[:2]
        if isinstance(op, graph.ConvOp) and is_grouped(op):
            operands[0] = _group(op, axes[op.result], chunk, before)
        made = insert(_on_chunk(op, operands, axes.get(op.result), chunk), before)
        cut[op.result] = made.result
    return made


def _group(op: graph.ConvOp, along: Along, chunk: Chunk, before: Operation) -> SSAValue:
    """The channels that a chunk of a grouped convolution reads: those of its group."""
    groups = op.groups.value.data
    number = chunk.start // along.grain * groups // shape_of(op.result)[1]
    channels = shape_of(op.x)[1] // groups
    return insert(graph.SliceOp.along(op.x, 1, number * channels, channels), before).result


def _on_chunk(op: graph.LayerOp, operands: list[SSAValue], along: Along | None, chunk: Chunk) -> graph.LayerOp:
    """A layer on chunks, whose result has the chunk of an axis, if any."""
    shape, properties, kind = list(shape_of(op.result)), dict(op.properties), type(op)
    if along is not None:
        shape[along.axis] = (chunk.end - chunk.start) // along.grain
        if isinstance(op, graph.ConvOp) and op.groups.value.data > 1:
            properties["groups"] = int_attr(1 if is_grouped(op) else shape[along.axis])
    if isinstance(op, graph.TransposeOp) and keeps_order(shape_of(operands[0]), op.perm.get_values()):
        kind = graph.ReshapeOp
        del properties["perm"]
    type_ = tensor(shape, element_of(op.result))
    made = kind.create(operands=operands, properties=properties, attributes=dict(op.attributes), result_types=[type_])
    name = graph.name_of(op)
    graph.set_name(made, None if name is None else f"{name}.{chunk.number}")
    return made
