"""Layers in order whose weights arrive one after another: where it pays to compute on their first pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.func import ReturnOp
from xdsl.ir import BlockArgument, SSAValue, Use

from ...costs.fusion.of_machine import platform_of
from ...costs.mapping.problem import touches
from ...costs.mapping.tree import Hold, Leaf, Loop, Node
from ...dialects import nest
from ...dialects.types import bytes_of, shape_of
from ...machine import Machine
from ..nest_to_codelet.fused_marks import BY_SAMPLE, RELOADED
from .trees import group_of

if TYPE_CHECKING:
    from ..nest_to_codelet.fused_layers import FusedGroup, FusedLayer

GAIN = 1 / 2
"""Of a layer's latency: what pieces of weights must save at least, for the next layer then waits for the last piece."""

NEARLY = 0.02
"""Of a layer's latency: ways that end so much later end nearly as soon."""

SLACK = 1.02
"""A layer that runs as a whole may take so many times its least latency for smaller pieces: others wait less for it."""

FINER = 2.0
"""It may take so many times its least latency where its weights come late and small pieces end much sooner."""


class Way(NamedTuple):
    """A mapping of a layer, estimated: its latency in cycles, and in how many pieces it is made, of rows or others.

    `unit` is the one that is busy longest, `work` the cycles of all units.
    """

    latency: float
    pieces: int
    tree: tuple[Node, ...]
    by_rows: bool = False
    unit: str = ""
    work: float = 0.0


class MovedMaps(NamedTuple):
    """Cycles of the channel of DRAM for maps that a layer is the first to load, and for those of it that are stored."""

    loaded: float
    stored: float


def nearly_least(ways: list[Way], slack: float = SLACK) -> list[Way]:
    """Those of the least latency, or up to `slack` times that, and among these of the least work, or as many times."""
    least = min((way.latency for way in ways), default=0.0)
    ways = [way for way in ways if way.latency <= slack * least]
    least = min((way.work for way in ways), default=0.0)
    return [way for way in ways if way.work <= slack * least]


@dataclass
class Arrivals:
    """What has come from DRAM, and when each unit ends, if loads follow each other without a break; in cycles.

    Units work side by side: a layer waits for its weights, and for those before it that keep the same unit busy.
    """

    machine: Machine
    arrived: float = 0.0
    ended: dict[str, float] = field(default_factory=dict[str, float])
    known: set[SSAValue] = field(default_factory=set[SSAValue])

    def __post_init__(self) -> None:
        self.bytes_per_cycle = platform_of(self.machine).dram_bytes_per_cycle

    def choose(self, group: FusedGroup, way: Way, ways: list[Way]) -> Way:
        """`way`, or where it saves much the first to end of those `ways` that cut what the weights are cut by.

        Those of nearly least latency are looked at first; where none saves much, those of up to `FINER` times that.

        Where what reads the layer sums over what is cut, as a product or a normalisation does, it is of those that end
        nearly as soon the one of fewest pieces: inside of these whole rows are made, with which the reader begins.
        """
        layer, moved = group.layers[0], self.moved_maps(group)
        way = rows_of_sums(layer, way, ways)
        weights = set(layer.weights.values()) - self.known
        self.known |= {*weights, *group.outside}
        again = group.samples if RELOADED in layer.op.attributes else 1
        self.arrived += again * self._dram_cycles(weights)
        end = max(self.ended.get(way.unit, 0.0), self.arrived) + way.latency
        arrives_in_pieces = any(bytes_of(value) > PIECE_BYTES for value in weights)
        for cut in (nearly_least(ways), nearly_least(ways, FINER) if arrives_in_pieces else []):
            others = [other for other in cut if cuts_weights(layer, other.tree)]
            least = min(map(self.end_in_pieces, others), default=end)
            if least < end - GAIN * way.latency:
                ends = [other for other in others if self.end_in_pieces(other) <= least + NEARLY * way.latency]
                summed = [other for other in ends if _is_summed(layer, other)]
                way = min(summed, key=lambda other: other.pieces) if summed else min(others, key=self.end_in_pieces)
                end = self.end_in_pieces(way)
                break
        self.ended[way.unit] = end
        self.arrived += moved.loaded
        return way

    def moved_maps(self, group: FusedGroup) -> MovedMaps:
        """Of a layer that is to be chosen next; of one sample where its samples are made apart."""
        loaded = {value for value in group.outside if isinstance(value, BlockArgument)} - self.known
        stored = [layer.result for layer in group.layers if _is_returned(layer.result)]
        times = group.samples if BY_SAMPLE in group.layers[0].op.attributes else 1
        return MovedMaps(self._dram_cycles(loaded) / times, self._dram_cycles(stored) / times)

    def _dram_cycles(self, values: Iterable[SSAValue]) -> float:
        return sum(bytes_of(value) for value in values) / self.bytes_per_cycle

    def end_in_pieces(self, way: Way) -> float:
        """When a layer ends that works on the first pieces of its weights while others come."""
        return max(self.ended.get(way.unit, 0.0) + way.latency, self.arrived + way.latency / way.pieces)


MOST_PIECES, PIECE_BYTES = 16, 16384
"""A weight arrives in so many pieces at most, of so many bytes at least."""

RUN_BYTES = 256
"""Pieces have so many bytes in a row at least: runs that begin and end within a burst of DRAM move all of it."""


class WeightPieces(NamedTuple):
    """Pieces of `step` elements along `axis` in which a weight arrives."""

    weight: SSAValue
    axis: int
    step: int


def weight_pieces(layer: FusedLayer) -> WeightPieces | None:
    """The pieces in which a layer's largest weight arrives, whole ones of those that a loop cuts it into.

    It is the outermost that does; None where there is none, or all is one piece.
    """
    cuts = () if layer.streamed else _cuts(layer.op)
    found = ((*axis, step) for dim, step in cuts if (axis := _weight_axis(layer, dim)) is not None)
    weight, axis, cut_step = next(found, (None, 0, 0))
    if weight is None:
        return None
    total, extent = bytes_of(weight), shape_of(weight)[axis]
    rows = prod(shape_of(weight)[:axis])
    least = max(PIECE_BYTES, -(-total // MOST_PIECES), RUN_BYTES * rows)
    step = cut_step * -(-least * extent // (total * cut_step))
    return WeightPieces(weight, axis, step) if step < extent else None


def rows_of_sums(layer: FusedLayer, way: Way, ways: list[Way]) -> Way:
    """Of a sequence whose reader sums over what `way` cuts, the first to end of ways that make some rows of it after
    others in no more work, if there are any: the reader begins with the first rows, not after the last piece.
    """
    if not _is_summed(layer, way) or any(other.by_rows for other in ways):
        return way
    others = [other for other in ways if other.work <= way.work and cut_dim(layer, other.tree) is not None]
    rows = (other for other in others if not _is_summed(layer, other))
    return min(rows, key=lambda other: other.latency, default=way)


def cuts_weights(layer: FusedLayer, tree: tuple[Node, ...]) -> bool:
    """Whether the outermost loop that cuts anything cuts the largest weight of a layer, which is there as a whole."""
    dim = cut_dim(layer, tree)
    return dim is not None and _weight_axis(layer, dim) is not None


def cut_dim(layer: FusedLayer, tree: tuple[Node, ...]) -> str | None:
    """The dim of the outermost loop that cuts anything; None where there is none, or weights are held around it."""
    while len(tree) == 1 and not isinstance(tree[0], Leaf):
        node = tree[0]
        if isinstance(node, Hold) and any(name in layer.weights for name in node.buffers):
            return None
        if isinstance(node, Loop) and node.step < layer.problem.extents[node.dim]:
            return node.dim
        tree = node.body
    return None


def _is_returned(value: SSAValue) -> bool:
    """Whether a value, or what it is in another shape, is a result of the function."""
    users = [use.operation for use in value.uses]
    return any(
        isinstance(user, ReturnOp) or (isinstance(user, nest.ViewOp) and _is_returned(user.result)) for user in users
    )


def _is_summed(layer: FusedLayer, way: Way) -> bool:
    """Whether a group that reads a layer sums over the dim of its outermost cut."""
    dim = cut_dim(layer, way.tree)
    target = layer.problem.kernels[-1].target
    axes = [axis for axis, form in enumerate(target.forms) if dim in form.names]
    return any(_sums(use, axis) for axis in axes for use in layer.result.uses)


def _sums(use: Use, axis: int) -> bool:
    """Whether a kernel of a group sums over an axis of what the group reads."""
    if not isinstance(use.operation, nest.GroupOp):
        return False
    reader = group_of(use.operation)
    name = use.operation.input_names.data[use.index].data
    return any(
        set(read.forms[axis].names) - {name for form in kernel.target.forms for name in form.names}
        for kernel in reader.kernels
        for read in kernel.uses[1:]
        if read.buffer == name
    )


def _weight_axis(layer: FusedLayer, dim: str) -> tuple[SSAValue, int] | None:
    """The largest weight of a layer, and its axis that `dim` alone indexes."""
    if not layer.weights:
        return None
    name = max(layer.weights, key=lambda name: bytes_of(layer.weights[name]))
    uses = touches(layer.problem, name)
    axes = [axis for axis, form in enumerate(uses[0].forms) if form.terms == ((dim, 1),)] if len(uses) == 1 else []
    return (layer.weights[name], axes[0]) if axes else None


def outermost_cut(group: nest.GroupOp) -> tuple[str, int] | None:
    """Dim and step of the outermost loop that cuts anything."""
    return next(_cuts(group), None)


def _cuts(group: nest.GroupOp) -> Iterator[tuple[str, int]]:
    """Dims and steps of the loops around the first instruction that cut anything, the outermost first."""
    extents = group.extents
    for op in group.mapping.walk():
        if isinstance(op, nest.ForOp) and op.step.value.data < extents[op.dim.data]:
            yield op.dim.data, op.step.value.data
        if isinstance(op, nest.ComputeOp):
            return
