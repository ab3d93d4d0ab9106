"""Which axes of a layer's operands go along an axis of its result: of a part of it only such parts are needed."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import NamedTuple

from xdsl.ir import SSAValue

from ...dialects import graph
from ...dialects.types import shape_of
from .graph_fuse import ELEMENTWISE

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
        case graph.ConvOp() if axis == 1 and is_weight(op.w) and op.groups.value.data == 1:
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
