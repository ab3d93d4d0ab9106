"""Maps that are joined along channels and read where their pieces lie."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...dialects import graph
from ...dialects.types import shape_of
from ..graph.samples import channel_axis
from .elementwise import ELEMENTWISE


def is_read_in_place(op: graph.ConcatOp) -> bool:
    """Whether all that read what is joined can read each piece where it lies.

    Pieces are side by side along channels in the shape in which they were made, and no reader looks at them in another
    shape, in groups, or returns them.
    """
    if len(shape_of(op.result)) > 4 or op.axis.value.data != channel_axis(op.result):
        return False
    if not all(map(_is_as_made, op.pieces)):
        return False
    for use in op.result.uses:
        match user := use.operation:
            case graph.ConcatOp():
                fits = is_read_in_place(user)
            case graph.ConvOp():
                fits = use.index == 0 and user.groups.value.data == 1
            case graph.PoolOp() | graph.GemmOp():
                fits = use.index == 0
            case graph.ReduceOp():
                fits = tuple(user.axes.get_values()) == (2, 3)
            case _:
                fits = type(user) in ELEMENTWISE and shape_of(user.results[0]) == shape_of(op.result)
        if not fits:
            return False
    return True


def _is_as_made(piece: SSAValue) -> bool:
    """Whether a value is a layer's result, or the network's input, in the shape that it has there."""
    root = piece
    while isinstance(root.owner, graph.ReshapeOp):
        root = root.owner.x
    return shape_of(root) == shape_of(piece) and not isinstance(root.owner, graph.WeightOp)
