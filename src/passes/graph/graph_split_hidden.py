"""The pass `graph-split-hidden`: two products with channelwise layers between them, in chunks of the hidden axis."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import lcm, prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import graph
from ...dialects.types import bytes_of, shape_of
from ...interpreters.constants import Constants, base_name
from ..functions import erase_unread_weights
from .chunks import Along, Chunk, insert, is_grouped, is_weight, made_axes, on_chunk, put_for, summed_axes
from .graph_fuse import ELEMENTWISE, PRODUCTS
from .identities import renamed


def _uses(op: graph.LayerOp) -> int:
    """How often a product uses each of its weights."""
    shape = shape_of(op.result)
    return prod(shape) // shape[1 if isinstance(op, graph.ConvOp) else -1]


LANES = 32
"""Chunks of a multiple of so many elements leave no lane of most arrays idle."""


MOST_CHUNKS = 32
"""Where more would be needed, the axis is not split: what all chunks read does not fit, either."""


@dataclass(frozen=True)
class Hidden:
    """A product along a hidden axis, and the layers that make what it sums up.

    `layers` are these in order, the product last; of each, the axis of the operands that go along the hidden axis, by
    their place.  `axes` has the hidden axis of the results, and of what is made of weights.  `extent` is that axis's,
    `map_bytes` are those of the largest tensor that has it and is read by a convolution or by the last product,
    `weight_bytes` those of all weights that have it.
    """

    layers: dict[graph.LayerOp, Mapping[int, Along]]
    axes: Mapping[SSAValue, Along]
    extent: int
    map_bytes: int
    weight_bytes: int

    @property
    def last(self) -> graph.LayerOp:
        """The product that sums up."""
        return next(reversed(self.layers))

    @property
    def is_attention(self) -> bool:
        """Whether a product before the last has no weights; heads are then what stays together."""
        return any(isinstance(op, graph.MatmulOp) and not is_weight(op.b) for op in [*self.layers][:-1])

    @property
    def grain(self) -> int:
        """Elements of the axis that stay together: those of a head in attention, pixels of a channel that is read as a
        row."""
        return lcm(*(along.grain for along in self.axes.values()))

    @property
    def groups(self) -> int:
        """Parts of the axis of which each chunk is in one: the groups of convolutions."""
        return lcm(*(op.groups.value.data for op in self.layers if isinstance(op, graph.ConvOp) and is_grouped(op)))

    @property
    def head_bytes(self) -> int:
        """Bytes of the largest tensor of one head that is read by others than what follows it element by element, or of
        the sum of all heads."""
        maps = (value for value in self.axes if not all(isinstance(use.operation, ELEMENTWISE) for use in value.uses))
        return max(bytes_of(self.last.result), max(map(bytes_of, maps), default=0) * self.grain // self.extent)

    def waits_for_weights(self, weight_bytes: int) -> bool:
        """Whether the weights of the last product, which are more than `weight_bytes`, take longer to come than those
        of the layers before it for each time that they are used, and a chunk of them is not less than its sums.
        """
        if not weight_bytes or self.is_attention:
            return False
        uses = [_uses(op) for op in self.layers if isinstance(op, PRODUCTS)]
        size = max((bytes_of(value) for value in self.last.operands if is_weight(value)), default=0)
        is_late = size > weight_bytes and uses[-1] < min(uses[:-1], default=0)
        return is_late and bytes_of(self.last.result) * self._most_chunks <= size

    @property
    def _most_chunks(self) -> int:
        """Chunks of `LANES` indices that stay together, or larger ones."""
        return max(1, min(MOST_CHUNKS, self.extent // self.grain // LANES))

    def ranges(self, chunk_bytes: int, weight_bytes: int = 0) -> list[tuple[int, int]]:
        """The fewest chunks of the axis whose maps take `chunk_bytes` at most; up to twice as many if these are even.

        Even ones of a multiple of `LANES` come before others.  Each chunk is in one group of a convolution with groups;
        where that cannot be there is one chunk.  Heads are chunks.  Where the last product waits for its weights
        (`waits_for_weights`), chunks have `LANES` elements.
        """
        if self.is_attention:
            return list(pairwise(range(0, self.extent + 1, self.grain)))
        extent = self.extent // self.grain
        least = min(extent, -(-self.map_bytes // chunk_bytes)) if chunk_bytes > 0 else 1
        if self.waits_for_weights(weight_bytes):
            least = max(least, self._most_chunks)
        counts = [count for count in range(least, min(extent, 2 * least) + 1) if count % self.groups == 0]
        even = (count for lanes in (LANES, 1) for count in counts if extent % (count * lanes) == 0)
        count = next(even, least if self.groups == 1 else 1)
        return list(pairwise(extent * i // count * self.grain for i in range(count + 1)))


@dataclass(frozen=True)
class GraphSplitHiddenPass(ModulePass):
    """Compute two products with channelwise layers between them in chunks of the hidden axis, adding up their results.

    The hidden axis is what the first product makes and the second sums up, as in the feed-forward part of a
    transformer: `act(x @ u) @ d = sum_j act(x @ u_j) @ d_j`, with columns `u_j` and rows `d_j` of the weights.

        %h = graph.matmul %x, %u                 %h0 = graph.matmul %x, %u0      %h1 = graph.matmul %x, %u1
        %g = graph.unary relu %h          ->     %g0 = graph.unary relu %h0      %g1 = graph.unary relu %h1
        %y = graph.matmul %g, %d                 %y0 = graph.matmul %g0, %d0     %y1 = graph.matmul %g1, %d1
                                                                                 %y  = graph.binary add %y0, %y1

    Products are matmul, gemm and convolutions, the last one in one group; chunks of others are in one of their groups
    each.  Between them may be elementwise layers, quantisation with one scale or one for each channel, depthwise
    convolutions and pools, and channels may become a row; several first products may meet, as in gated units.
    There are as few chunks as leave each at most `chunk_bytes` of the largest map with the hidden axis (0: none are
    made).  A dense layer whose weights take more than `weight_bytes` (0: none does) is computed in chunks of 32
    channels of the convolution before it, which uses its own weights more often: the dense layer's come, and are used,
    while the arrays work on the convolution.
    With `heads` attention is such a part, too, and its heads are the chunks: `y = sum_h softmax(q_h k_h) v_h o_h`, with
    columns `q_h`, `k_h`, `v_h` of what the first products make.  Pairs stay whose maps are no larger, or with their
    weights are not larger than the sums, or would be in more than 32 chunks; so do those whose weights have no bytes at
    hand, or of which another layer reads something in between.  Integers are the same bit for bit, as sums are in i32;
    the order of sums of floats changes.
    """

    name = "graph-split-hidden"
    chunk_bytes: int = 1 << 20
    heads: bool = False
    weight_bytes: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = Constants.of(op)
        found = hidden_parts(op, constants, self.chunk_bytes, heads=self.heads, weight_bytes=self.weight_bytes)
        for hidden in list(found):
            split(hidden, constants, hidden.ranges(self.chunk_bytes, self.weight_bytes))
        constants.tidy()


def hidden_parts(
    module: ModuleOp, constants: Constants, chunk_bytes: int, *, heads: bool = False, weight_bytes: int = 0
) -> Iterator[Hidden]:
    """What there is to split so that chunks take `chunk_bytes`, into `heads`, and where weights of more than
    `weight_bytes` are waited for, in order; no layer is in two.
    """
    taken: set[graph.LayerOp] = set()
    for op in module.walk():
        hidden = hidden_before(op, constants) if isinstance(op, PRODUCTS) else None
        if hidden is None or not taken.isdisjoint(hidden.layers):
            continue
        is_larger = chunk_bytes > 0 and hidden.map_bytes + hidden.weight_bytes > bytes_of(hidden.last.result)
        is_asked = heads if hidden.is_attention else is_larger or hidden.waits_for_weights(weight_bytes)
        if is_asked and 1 < len(hidden.ranges(chunk_bytes, weight_bytes)) <= MOST_CHUNKS:
            taken.update(hidden.layers)
            yield hidden


def hidden_before(last: graph.LayerOp, constants: Constants) -> Hidden | None:
    """What can be split along the axis that a product sums up; None where something does not allow it."""
    summed, block, hidden = summed_axes(last), last.parent_block(), last.operands[0]
    if summed is None or block is None:
        return None
    layers: dict[Operation, Mapping[int, Along]] = {last: summed}
    axes, waiting = {hidden: summed[0]}, [hidden]
    while waiting:
        value = waiting.pop()
        op = value.owner
        read = made_axes(op, axes[value]) if isinstance(op, graph.LayerOp) else None
        if read is None or not isinstance(op, graph.LayerOp):
            return None
        layers[op] = read
        for operand, along in ((op.operands[index], along) for index, along in read.items()):
            if not is_weight(operand) and operand not in axes:
                axes[operand] = along
                waiting.append(operand)
    for value, along in axes.items():
        if any(layers.get(use.operation, {}).get(use.index) != along for use in value.uses):
            return None
    ordered = {op: layers[op] for op in block.ops if isinstance(op, graph.LayerOp) and op in layers}
    values = [op.operands[index] for op, read in ordered.items() for index in read]
    if any(value not in axes and not constants.is_known(value) for value in values):
        return None
    maps = [hidden, *(op.x for op in ordered if isinstance(op, graph.ConvOp) and op.x in axes)]
    weights = sum(bytes_of(value) for value in dict.fromkeys(values) if is_weight(value))
    return Hidden(ordered, axes, shape_of(hidden)[summed[0].axis], max(map(bytes_of, maps)), weights)


def split(hidden: Hidden, constants: Constants, ranges: Sequence[tuple[int, int]]) -> None:
    """Put chunks of the axis, and the sums of their products, in place of the layers."""
    last = hidden.last
    total: graph.LayerOp | None = None
    for number, (start, end) in enumerate(ranges):
        chunk = Chunk(number, start, end)
        part = on_chunk(hidden.layers, hidden.axes, chunk, partial(_slice, constants, chunk, last), last)
        total = part if total is None else insert(graph.BinaryOp("add", total.result, part.result), last)
    if total is None:
        return
    renamed(total, last)
    read = [value for op in hidden.layers for value in op.operands]
    put_for(hidden.layers, total)
    erase_unread_weights(read)


def _slice(constants: Constants, chunk: Chunk, before: Operation, value: SSAValue, along: Along) -> SSAValue:
    """The chunk of a weight."""
    whole = constants.array(value)
    assert whole is not None
    name = base_name(value.owner, value) if isinstance(value.owner, Operation) else "constant"
    own = slice(chunk.start // along.grain, chunk.end // along.grain)
    part = np.ascontiguousarray(whole[(slice(None),) * along.axis + (own,)])
    return insert(constants.weight(f"{name}.{chunk.number}", part), before).result
