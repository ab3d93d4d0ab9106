"""The maps that a layer reads, and their axes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import SSAValue

from ...costs.fusion import Shape
from ...dialects import nest
from ...dialects.graph import WeightOp
from ...dialects.types import shape_of
from ...errors import TilewrightError
from ..nest.storage import storage_of


@dataclass(frozen=True)
class Piece:
    """Channels `start` to `stop` (exclusive) of what is read are the map `root`, which is read as `value`.

    With `whole` rows of the one are not rows of the other.
    """

    root: SSAValue
    value: SSAValue
    start: int
    stop: int
    whole: bool = False


def row_axis(rank: int) -> int | None:
    """The axis of rows: the third of maps, the second of sequences; the first is samples."""
    return {3: 1, 4: 2}.get(rank)


def channel_axis(rank: int) -> int:
    """The axis along which maps may be joined."""
    return 1 if rank == 4 else rank - 1


def pieces_of(value: SSAValue) -> list[Piece]:
    """The maps that `value` consists of, views and joins looked through; none for weights."""
    match value.owner:
        case WeightOp():
            return []
        case nest.JoinOp() as join:
            axis = channel_axis(len(shape_of(value)))
            if join.axis.value.data != axis:
                raise unsupported(value, f"pieces side by side along axis {axis}", f"axis {join.axis.value.data}")
            found: list[Piece] = []
            at = 0
            for operand in join.pieces:
                inner = pieces_of(operand)
                found += [replace(piece, start=at + piece.start, stop=at + piece.stop) for piece in inner]
                at += shape_of(operand)[axis]
            return found
        case nest.ViewOp() as view:
            found = pieces_of(view.source)
            shape, before = shape_of(value), shape_of(view.source)
            if len(found) > 1:
                raise unsupported(value, "a view of one map", f"of {len(found)} that are joined")
            whole = found[0].whole or map_shape(shape) != map_shape(before) if found else False
            return [Piece(piece.root, value, 0, _channels(shape), whole) for piece in found]
        case _:
            return [Piece(storage_of(value), value, 0, _channels(shape_of(value)))]


def _channels(shape: Sequence[int]) -> int:
    return shape[channel_axis(len(shape))] if shape else 1


def map_shape(shape: Sequence[int]) -> Shape:
    """Channels, rows and columns of one sample."""
    axis = row_axis(len(shape))
    rows = 1 if axis is None else shape[axis]
    columns = shape[3] if len(shape) == 4 else 1
    return Shape(prod(shape[1:]) // (rows * columns), rows, columns)


def unsupported(value: SSAValue, expected: str, found: str) -> TilewrightError:
    """Something that cannot run tile by tile."""
    return TilewrightError("unsupported", f"fused group, {value.name_hint or 'a value'}", expected, found)
