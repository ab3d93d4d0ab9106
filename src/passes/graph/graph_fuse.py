"""The pass `graph-fuse`: layers with their elementwise epilogues, as fused groups."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import graph
from ...dialects.types import bytes_of, shape_of
from ..functions import copy_into, functions_of

ELEMENTWISE = (
    graph.UnaryOp,
    graph.ClipOp,
    graph.BinaryOp,
    graph.SelectOp,
    graph.CastOp,
    graph.QuantizeOp,
    graph.DequantizeOp,
    graph.RequantizeOp,
)
"""Layers whose result at an index needs its operands at that index (or broadcast) only."""

PRODUCTS = (graph.ConvOp, graph.GemmOp, graph.MatmulOp)

MOVES = (graph.ReshapeOp, graph.ConcatOp, graph.SliceOp, graph.PadOp, graph.TransposeOp, graph.GatherOp, graph.ExpandOp)
"""What computes nothing."""

ANCHORS = (*PRODUCTS, graph.PoolOp, graph.ReduceOp, graph.StandardizeOp, graph.LrnOp)
"""Layers that elementwise layers may follow in one group."""

OUTSIDE = (graph.WeightOp, graph.ReshapeOp, graph.LookupOp)
"""Layers that compute nothing and move nothing by themselves: they stay outside of groups."""

EPILOGUE = 16
"""Most operations of one layer."""


@dataclass
class Cluster:
    """Layers that will be one group, in order; only the last one's result leaves it."""

    members: list[graph.LayerOp]
    anchored: bool
    closed: bool = False

    @property
    def tail(self) -> graph.LayerOp:
        return self.members[-1]


@dataclass
class Clusters:
    """Grows the clusters of one block, layer by layer in order."""

    max_layers: int
    by_tail: dict[SSAValue, Cluster] = field(default_factory=dict[SSAValue, Cluster])

    def add(self, op: graph.LayerOp) -> None:
        """Put `op` in a cluster: with those whose only reader it is, if it is elementwise, else in a new one.

        Of one that has an anchor as `op` has, the elementwise layers after its smallest result come along.
        """
        elementwise = isinstance(op, ELEMENTWISE)
        cluster = Cluster([], anchored=not elementwise, closed=not elementwise and not isinstance(op, ANCHORS))
        for operand in reversed(op.operands) if elementwise else ():
            before = self.by_tail.get(operand)
            if before is None:
                continue
            if before.anchored and cluster.anchored and (head := narrowest(before.members)) is not None:
                rest = Cluster(before.members[len(head) :], anchored=False)
                if self._fits(rest, op, cluster):
                    del self.by_tail[operand]
                    self.by_tail[head[-1].result] = replace(before, members=head)
                    cluster = replace(cluster, members=[*rest.members, *cluster.members])
            elif self._fits(before, op, cluster):
                del self.by_tail[operand]
                cluster = Cluster([*before.members, *cluster.members], before.anchored or cluster.anchored)
        cluster.members.append(op)
        self.by_tail[op.result] = cluster

    def _fits(self, before: Cluster, op: graph.LayerOp, cluster: Cluster) -> bool:
        return (
            not before.closed
            and not (before.anchored and cluster.anchored)
            and before.tail.result.has_one_use()
            and (shape_of(before.tail.result) == shape_of(op.result) or self._is_beside(before, op))
            and len(before.members) + len(cluster.members) < self.max_layers
        )

    def _is_beside(self, before: Cluster, op: graph.LayerOp) -> bool:
        """Whether `before` is made of weights only, a smaller operand of `op` beside one that it continues."""
        others = [self.by_tail[value] for value in op.operands if value in self.by_tail]
        whole = (other for other in others if shape_of(other.tail.result) == shape_of(op.result))
        return is_constant(before.members) and any(self._fits(other, op, Cluster([], False)) for other in whole)


def narrowest(members: Sequence[graph.LayerOp]) -> list[graph.LayerOp] | None:
    """The first layers of a cluster, to its smallest result, of which the others are made; None where it is the last.

    The others may run in the group that reads theirs: a map of fewer bytes is then kept between the two.
    """
    sizes = [bytes_of(member.result) for member in members]
    least = max(place for place, size in enumerate(sizes) if size == min(sizes))
    head, rest = list(members[: least + 1]), members[least + 1 :]
    inside = {member.result for member in head[:-1]}
    if not rest or any(value in inside for member in rest for value in member.operands):
        return None
    return head


def is_constant(members: Sequence[graph.LayerOp]) -> bool:
    """Whether layers read nothing but weights and each other."""
    made = {member.result for member in members}
    read = (value for member in members for value in member.operands)
    return all(isinstance(value.owner, graph.WeightOp) or value in made for value in read)


def find_clusters(block: Block, max_layers: int) -> list[Cluster]:
    """The clusters of a block, in the order of their last layers."""
    clusters, position = Clusters(max_layers), dict[Operation, int]()
    for place, op in enumerate(block.ops):
        position[op] = place
        if isinstance(op, graph.LayerOp) and not isinstance(op, OUTSIDE):
            clusters.add(op)
    return sorted(clusters.by_tail.values(), key=lambda cluster: position[cluster.tail])


def fused_group(
    members: Sequence[Operation],
    inputs: Collection[SSAValue],
    given: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    tiles: int = 1,
) -> graph.FusedGroupOp:
    """A group of copies of `members`, which read `inputs`, that is `given` these and makes `outputs`."""
    block = Block(arg_types=[value.type for value in inputs])
    known: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for member in members:
        copy_into(block, member.results[0], known)
    block.add_op(graph.YieldOp(*(known[value] for value in outputs)))
    group = graph.FusedGroupOp(given, [value.type for value in outputs], Region(block), tiles=tiles)
    name_values(group, inputs, outputs)
    if outputs and isinstance(last := outputs[-1].owner, Operation):
        graph.set_name(group, graph.name_of(last))
    return group


def name_values(group: graph.GroupOp, inputs: Iterable[SSAValue], outputs: Iterable[SSAValue]) -> None:
    """Call arguments and results of a group as the values that they stand for."""
    values = zip((*group.body.block.args, *group.outputs), (*inputs, *outputs), strict=True)
    for own, value in values:
        own.name_hint = value.name_hint


def outline(cluster: Cluster) -> None:
    """Replace the layers of a cluster by one group, where the last of them stood."""
    made = {member.result for member in cluster.members}
    inputs = list(dict.fromkeys(v for member in cluster.members for v in member.operands if v not in made))
    group = fused_group(cluster.members, inputs, inputs, [cluster.tail.result])
    Rewriter.insert_op(group, InsertPoint.before(cluster.tail))
    cluster.tail.result.replace_all_uses_with(group.outputs[0])
    for member in reversed(cluster.members):
        Rewriter.erase_op(member)


@dataclass(frozen=True)
class GraphFusePass(ModulePass):
    """Put every layer in a `graph.fused_group`, with the elementwise layers that alone read its result.

    A group holds at most one layer that is not elementwise (conv, gemm, matmul, pool, reduce, standardize, lrn; others
    stay alone) and elementwise layers of the same shape; weights and reshapes stay outside.  Where two such layers
    meet, in a sum say, the group of one ends with its smallest result.  Groups have one tile.

        %c = graph.conv %x, %w ...            %y = graph.fused_group tiles 1 (%a = %x ..., %b = %w ...) -> (...) {
        %y = graph.unary relu %c ...   ->       %c = graph.conv %a, %b ...
                                                %r = graph.unary relu %c ...
                                                graph.yield %r ...
                                              }

    `max_layers` bounds the layers of a group.
    """

    name = "graph-fuse"
    max_layers: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            for block in function.body.blocks:
                for cluster in find_clusters(block, self.max_layers):
                    outline(cluster)
