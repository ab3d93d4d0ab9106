"""Layers in chunks of an axis: of what they read, and make, the indices of one chunk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import graph
from ...dialects.graph.base import int_attr
from ...dialects.types import element_of, shape_of, tensor
from .axes import Along

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
        made = insert(_on_chunk(op, operands, axes.get(op.result), chunk), before)
        cut[op.result] = made.result
    return made


def _on_chunk(op: graph.LayerOp, operands: list[SSAValue], along: Along | None, chunk: Chunk) -> graph.LayerOp:
    """A layer on chunks, whose result has the chunk of an axis, if any."""
    shape, properties, kind = list(shape_of(op.result)), dict(op.properties), type(op)
    if along is not None:
        shape[along.axis] = (chunk.end - chunk.start) // along.grain
        if isinstance(op, graph.ConvOp) and op.groups.value.data > 1:
            properties["groups"] = int_attr(shape[along.axis])
    if isinstance(op, graph.TransposeOp) and _keeps_order(shape_of(operands[0]), op.perm.get_values()):
        kind = graph.ReshapeOp
        del properties["perm"]
    type_ = tensor(shape, element_of(op.result))
    made = kind.create(operands=operands, properties=properties, attributes=dict(op.attributes), result_types=[type_])
    name = graph.name_of(op)
    graph.set_name(made, None if name is None else f"{name}.{chunk.number}")
    return made


def _keeps_order(shape: tuple[int, ...], perm: Sequence[int]) -> bool:
    """Whether a transpose moves axes of one index only."""
    kept = [axis for axis in perm if shape[axis] > 1]
    return kept == sorted(kept)
