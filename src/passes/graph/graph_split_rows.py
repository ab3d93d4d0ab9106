"""The pass `graph-split-rows`: two products with channelwise layers between them, some rows of tokens at a time."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import inf

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects import graph
from ...dialects.types import bytes_of, shape_of
from ...interpreters.constants import Constants
from .chunks import Along, Chunk, insert, is_weight, made_axes, on_chunk, put_for
from .graph_fuse import ELEMENTWISE
from .graph_split_hidden import Hidden, hidden_parts

ROW_LAYERS = (*ELEMENTWISE, graph.StandardizeOp, graph.LayerNormOp)
"""Layers before and after the products that may be made in rows with them."""

MOST = 16
"""Chunks of rows at most: each loads all weights."""


@dataclass(frozen=True)
class GraphSplitRowsPass(ModulePass):
    """Compute two products with channelwise layers between them for some rows of tokens after others.

    The map between the products, as in the feed-forward part of a transformer, is the largest; of some rows it may stay
    on chip.  Weights are read for each chunk.

        %h = graph.matmul %x, %u               %x0 = graph.slice %x              %x1 = graph.slice %x
        %g = graph.unary relu %h        ->     %g0 = graph.unary relu (%x0 %u)   %g1 = graph.unary relu (%x1 %u)
        %y = graph.matmul %g, %d               %y0 = graph.matmul %g0, %d        %y1 = graph.matmul %g1, %d
                                               %y = graph.concat %y0, %y1 axis 0

    There are as few chunks as leave each at most `map_bytes` of that map, of equal rows, and at most 16.  What follows
    the last product row by row, and alone, and what comes before the first is made in the same chunks, from where least
    bytes are cut.
    """

    name = "graph-split-rows"
    map_bytes: int = 1 << 22

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for part in list(row_parts(op, Constants.of(op), self.map_bytes)):
            _split(part)


@dataclass(frozen=True)
class RowPart:
    """Layers in order, the axis of rows of each's result, and in how many chunks they are made."""

    layers: dict[graph.LayerOp, Along]
    chunks: int


def row_parts(module: ModuleOp, constants: Constants, map_bytes: int) -> Iterator[RowPart]:
    """What there is to make in rows."""
    taken: set[graph.LayerOp] = set()
    for hidden in hidden_parts(module, constants, map_bytes):
        part = _part(hidden, map_bytes)
        if part is not None and taken.isdisjoint(part.layers):
            taken.update(part.layers)
            yield part


def row_axes(op: graph.LayerOp, along: Along) -> dict[int, Along] | None:
    """The axis of operands that goes along an axis of the result; None where a row needs more than its own."""
    rank, axis = len(shape_of(op.result)), along.axis
    match op:
        case graph.MatmulOp() if axis == rank - 2 and len(shape_of(op.a)) == rank and is_weight(op.b):
            return {0: along}
        case graph.GemmOp() if axis == 0 and op.trans_a is None and is_weight(op.b):
            has_rows = op.c is not None and shape_of(op.c)[:-1] == shape_of(op.result)[:-1]
            return {0: along, 2: along} if has_rows else {0: along}
        case graph.StandardizeOp() | graph.LayerNormOp() if axis < op.axis.value.data:
            return {0: along}
        case _ if isinstance(op, ELEMENTWISE):
            return made_axes(op, along)
        case _:
            return None


def _part(hidden: Hidden, map_bytes: int) -> RowPart | None:
    """A part with what is before and after it; None where its rows are not made one by one."""
    last, rank = hidden.last, len(shape_of(hidden.last.result))
    rows = shape_of(last.result)[rank - 2]
    least = -(-hidden.map_bytes // map_bytes)
    chunks = next((n for n in range(max(2, least), min(MOST, rows) + 1) if rows % n == 0), 0)
    if hidden.is_attention or isinstance(last, graph.ConvOp) or not chunks:
        return None
    along = Along(rank - 2)
    end = _end(last, along)
    axes = {end: along}
    block = last.parent_block()
    assert block is not None
    before = [op for op in block.ops if isinstance(op, graph.LayerOp)]
    before = before[before.index(end) :: -1]
    for op in before:  # readers first
        if op not in axes or not (op in hidden.layers or op is end or isinstance(op, ROW_LAYERS)):
            axes.pop(op, None)
            continue
        read = row_axes(op, axes[op])
        if read is None or any(is_weight(op.operands[index]) for index in read):
            if op in hidden.layers:
                return None
            del axes[op]
            continue
        for index, along in read.items():
            owner = op.operands[index].owner
            if isinstance(owner, graph.LayerOp) and axes.setdefault(owner, along) != along:
                return None
    kept = _with_least_cut(axes, end, hidden.layers.keys())
    ordered = {op: axes[op] for op in reversed(before) if op in kept}
    return RowPart(ordered, chunks) if kept >= hidden.layers.keys() else None


def _end(last: graph.LayerOp, along: Along) -> graph.LayerOp:
    """The last of the layers that follow a product one by one, each the only reader of the one before."""
    end = last
    while len(uses := list(end.result.uses)) == 1:
        following = uses[0].operation
        if not isinstance(following, ELEMENTWISE) or shape_of(following.result) != shape_of(end.result):
            break
        if row_axes(following, along) is None:
            break
        end = following
    return end


def _with_least_cut(
    axes: dict[graph.LayerOp, Along], end: graph.LayerOp, products: Collection[graph.LayerOp]
) -> set[graph.LayerOp]:
    """Of the layers that may be made in rows, those from where least bytes are cut on; `products` and between them
    are all made so.
    """
    cuts: dict[SSAValue, float] = {}

    def cut_bytes(value: SSAValue) -> float:
        if value not in cuts:
            size = inf if value.owner in products else bytes_of(value)
            cuts[value] = size if value.owner not in axes else min(size, deeper(value))
        return cuts[value]

    def deeper(value: SSAValue) -> float:
        return sum(map(cut_bytes, dict.fromkeys(_cut_operands(axes, value))))

    kept = {end}
    waiting: list[SSAValue] = [end.result]
    while waiting:
        for operand in _cut_operands(axes, waiting.pop()):
            owner = operand.owner
            if isinstance(owner, graph.LayerOp) and owner in axes and owner not in kept:
                if owner in products or deeper(operand) <= bytes_of(operand):
                    kept.add(owner)
                    waiting.append(operand)
    return kept


def _cut_operands(axes: dict[graph.LayerOp, Along], value: SSAValue) -> list[SSAValue]:
    """The operands along the rows of the layer that makes a value."""
    op = value.owner
    assert isinstance(op, graph.LayerOp)
    return [op.operands[index] for index in row_axes(op, axes[op]) or ()]


def _split(part: RowPart) -> None:
    """Put chunks of rows, and what joins them, in place of the layers."""
    end = next(reversed(part.layers))
    axis = part.layers[end].axis
    rows = shape_of(end.result)[axis] // part.chunks
    made = [_chunk(part, Chunk(number, number * rows, (number + 1) * rows), end) for number in range(part.chunks)]
    put_for(part.layers, insert(graph.ConcatOp(made, axis=axis), end))


def _chunk(part: RowPart, chunk: Chunk, before: graph.LayerOp) -> SSAValue:
    """The rows of one chunk of the last layer."""

    def rows(value: SSAValue, along: Along) -> SSAValue:
        return insert(graph.SliceOp.along(value, along.axis, chunk.start, chunk.end - chunk.start), before).result

    layers: dict[graph.LayerOp, Mapping[int, Along]] = {op: row_axes(op, a) or {} for op, a in part.layers.items()}
    axes: dict[SSAValue, Along] = {op.result: along for op, along in part.layers.items()}
    return on_chunk(layers, axes, chunk, rows, before).result
