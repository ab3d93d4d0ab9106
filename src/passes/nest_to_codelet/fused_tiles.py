"""Mappings of layers in fused groups: everything but what is between a layer's kernels is in place on chip already."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import NamedTuple

from ...algebra.affine import window
from ...algebra.allocation import align_up
from ...costs.mapping.binding import pricer_of
from ...costs.mapping.place import memory_of
from ...costs.mapping.problem import touches
from ...costs.mapping.tree import Hold, Leaf, Loop, Node
from ...dialects.types import bytes_of
from ...machine import Machine
from ...search.group_tiles.candidates import Problem
from .fused_layers import FusedGroup, FusedLayer
from .map_pieces import channel_axis

WHOLE_PIECES = 2, 3, 4, 6, 8, 12, 16
"""In how many pieces a layer that runs as a whole may be made."""

SCRATCH_SHARE = 32
"""What lies between the kernels of a layer takes at most this part of its memory, if cutting helps."""

SMALL_SHARE, SCRATCH_BYTES = 8, 1 << 16
"""In small memories it may take more than that: so many bytes, if these are at most that part."""

CHANNELS_SCRATCH = 2, 1, 4
"""Pieces of other dims than rows leave so many times less between kernels, as is tried; the first where ways are equal.
They have fewer rows, with which the next layer begins sooner, but arrays are fed more often."""

NEARLY = 1.1
"""Ways to cut a layer that leave so many times the least between its kernels leave nearly as little."""

ROWS_SCRATCH_SHARE = 64
"""The same in groups that run in rows, whose layers have theirs side by side."""

FULL, MOST_FULL = 32, 4
"""Pieces of multiples of so many iterations fill arrays; so many of those that fit are tried, the largest first."""


def update_tile(group: FusedGroup, layer: FusedLayer) -> dict[str, int]:
    """Iterations of each dim of a layer in one update of its group; all of a layer that runs as a whole."""
    tile = dict(layer.problem.extents)
    if group.whole:
        return tile
    held = group.scheme.by_number[group.number[layer.result]]
    if layer.sample:
        tile[layer.sample] = 1
    if layer.row:
        tile[layer.row] = min(tile[layer.row], held.rows.delta)
    if layer.column and group.tile[1]:
        tile[layer.column] = min(tile[layer.column], held.columns.delta)
    return tile


def row_trees(group: FusedGroup, layer: FusedLayer) -> list[list[tuple[Node, ...]]]:
    """Loops over samples, rows of an update, and pieces of other dims, around a hold of what is between kernels.

    For each way to cut a layer it, and the same with pieces that may fill arrays better.

    nest.for n step 1 { nest.for p step 2 { nest.for k step 32 { nest.hold @GBUF [mac] { computes } } } }

    There are two copies of what is between kernels where both fit, so that one kernel goes on while the next one reads.
    Where it does not fit for all rows of an update, fewer rows or fewer iterations of other dims are made at a time.
    """
    tile = update_tile(group, layer)
    memory = layer.memories[layer.problem.kernels[-1].target.buffer]
    order = [dim for dim in (layer.sample, layer.row, layer.column if group.tile[1] else "") if dim]
    budget = memory_of(group.machine, memory).capacity_bytes // ROWS_SCRATCH_SHARE
    cuts = [_cut(layer, tile, budget, rows_first) for rows_first in (True, False)]
    room = _room(group, memory)
    found: list[list[tuple[Node, ...]]] = []
    for cut in cuts[: 1 + (cuts[1] != cuts[0])]:
        found.append([_loops(layer, tile, own, order, room) for own in (cut, *_fuller(layer, tile, cut, budget))])
    return found


def _fuller(
    layer: FusedLayer, tile: Mapping[str, int], cut: Mapping[str, int], budget: int
) -> Iterator[dict[str, int]]:
    """A cut with other sizes of a dim that is cut besides rows: multiples of `FULL`, where what they leave fits."""
    for dim, size in cut.items():
        if dim != layer.row and size < tile[dim]:
            steps = range(tile[dim] // FULL * FULL, 0, -FULL)
            fitting = ({**cut, dim: step} for step in steps if step != size)
            yield from islice((own for own in fitting if scratch_bytes(layer, own) <= budget), MOST_FULL)


class WholeTree(NamedTuple):
    """A mapping of a layer that runs as a whole, in so many `pieces`, of rows or of something else.

    Each of something else may be made in `rows` pieces of rows.
    """

    pieces: int
    by_rows: bool
    tree: tuple[Node, ...]
    rows: int = 1


def whole_trees(
    machine: Machine, layer: FusedLayer, piece_bytes: int, by_sample: bool, along: str = ""
) -> Iterator[WholeTree]:
    """Ways to run a layer as a whole, in pieces, so that units work side by side.

    Samples are made one by one, or (not `by_sample`) together, which fills arrays where maps are small; rows, or else
    the dim of most iterations, or the dim `along`, in pieces.  Where both are cut, either is outermost.  With
    `piece_bytes` weights are not on chip together: a loop around all others loads parts of at most so many bytes, two
    at a time.
    """
    tile = dict(layer.problem.extents)
    streams = stream_of(machine, layer, piece_bytes) if piece_bytes else None
    if streams is not None:
        tile[streams.dim] = streams.step
    tileable = layer.problem.tileable
    samples = [dim for dim in (layer.sample,) if dim in tileable]
    fixed = {*samples, *_joined(layer)}
    others = sorted((dim for dim in tileable if dim not in {*fixed, _piece_row(layer)}), key=lambda dim: -tile[dim])
    rows = [dim for dim in (_piece_row(layer),) if dim in tileable]
    cut_dims = dict.fromkeys([*rows, *others[:1], *(dim for dim in others if dim == along)])
    cuts: list[tuple[str, int]] = [("", 1), *((dim, pieces) for dim in cut_dims for pieces in WHOLE_PIECES)]
    room = memory_of(machine, layer.memories[layer.problem.kernels[-1].target.buffer]).capacity_bytes
    streamed = 1 if streams is None else -(-layer.problem.extents[streams.dim] // streams.step)
    for together in (False,) if by_sample or not samples or tile[samples[0]] == 1 else (False, True):
        apart = [] if together else samples
        part = tile | dict.fromkeys(apart, 1)
        count = streamed * prod(tile[dim] for dim in apart)
        for dim, pieces in cuts:
            step = _full(-(-part[dim] // pieces)) if dim else 1
            if dim and step * (pieces - 1) >= part[dim]:
                continue
            whole = part | ({dim: step} if dim else {})
            shares = CHANNELS_SCRATCH if dim and dim not in rows else (1,)
            found = [_cut(layer, whole, scratch_room(room) // share) for share in shares]
            different = [cut for place, cut in enumerate(found) if cut not in found[:place]]
            orders = ([*apart, *rows, dim], [*apart, dim, *rows]) if dim else (apart,)
            for cut in different:
                inside = prod(-(-part[row] // cut[row]) for row in rows if dim and row != dim)
                bodies = (_loops(layer, whole, cut, tuple(dict.fromkeys(order)), room) for order in orders)
                for body in dict.fromkeys(bodies):
                    tree = body if streams is None else _streamed(layer, streams, body)
                    yield WholeTree(count * pieces, dim in rows, tree, inside)


def scratch_room(capacity_bytes: int) -> int:
    """Bytes that what lies between the kernels of a layer may take of its memory, if cutting helps."""
    return max(capacity_bytes // SCRATCH_SHARE, min(capacity_bytes // SMALL_SHARE, SCRATCH_BYTES))


def _piece_row(layer: FusedLayer) -> str:
    """The dim of rows, also of results of more than four axes, where the last two are those of pixels."""
    target = layer.problem.kernels[-1].target
    if layer.row or len(target.forms) <= 4:
        return layer.row
    terms = target.forms[-2].terms
    return terms[0][0] if len(terms) == 1 else ""


def _full(step: int) -> int:
    """A size of pieces from `step` on that leaves few lanes idle: a multiple of 8 where that is little more."""
    rounded = -(-step // 8) * 8
    return rounded if 8 * (rounded - step) <= step else step


def _streamed(layer: FusedLayer, streams: Stream, body: tuple[Node, ...]) -> tuple[Node, ...]:
    for kind in dict.fromkeys(layer.memories[name] for name in streams.names):
        body = (Hold(kind, tuple(name for name in streams.names if layer.memories[name] == kind), 2, body),)
    return (Loop(streams.dim, streams.step, body),)


@dataclass(frozen=True)
class Stream:
    """Pieces of `step` iterations of `dim` cut the weights `names`; one of all of them has `piece_bytes`."""

    dim: str
    step: int
    names: tuple[str, ...]
    piece_bytes: int


def stream_of(machine: Machine, layer: FusedLayer, limit_bytes: int) -> Stream | None:
    """The cut of a layer's weights into the largest pieces of at most so many bytes; None where there is none.

    It is along a dim of the result that indexes the weights, the one with most iterations.
    """
    extents = layer.problem.extents
    forms = {name: [use.forms for use in touches(layer.problem, name)] for name in layer.weights}
    dims = [dim for dim in layer.problem.tileable if dim not in _joined(layer)]
    best: Stream | None = None
    for dim in sorted(dims, key=lambda dim: -extents[dim]):
        names = tuple(name for name, uses in forms.items() if any(dim in f.names for forms_ in uses for f in forms_))
        if not names:
            continue

        def size(step: int, dim: str = dim, names: tuple[str, ...] = names) -> int:
            tile = {**extents, dim: step}
            parts = ((name, window(forms[name], tile)) for name in names)
            return sum(prod(a.size for a in axes) * layer.problem.by_name[name].element_bytes for name, axes in parts)

        if size(1) > limit_bytes:
            continue
        most = bisect_right(range(1, extents[dim] + 1), limit_bytes, key=size)
        step = _even(extents[dim], most, _lanes(machine, layer, dim))
        found = Stream(dim, step, names, size(step))
        if best is None or len(found.names) > len(best.names):
            best = found
    return best


def _even(extent: int, most: int, lanes: int) -> int:
    """The size of equal pieces, at most `most`, a multiple of 32 where there are many; or else of the lanes."""
    step = -(-extent // -(-extent // most))
    rounded = -(-step // 32) * 32
    if rounded <= most:
        return rounded
    full = -(-step // lanes) * lanes
    return full if full <= most else step // lanes * lanes or step


def _lanes(machine: Machine, layer: FusedLayer, dim: str) -> int:
    """Iterations of a dim that an instruction of a layer's products does at a time."""
    found = Problem.of(layer.problem, pricer_of(machine))
    bound = zip(found.places, found.bound, layer.problem.kernels, strict=True)
    slots = (
        (place.match.capability, slot)
        for place, pairs, kernel in bound
        if kernel.reductions
        for slot, name in pairs
        if name == dim
    )
    return max((one.lanes for capability, slot in slots for one in capability.dims if one.name == slot), default=1)


def _loops(
    layer: FusedLayer, tile: Mapping[str, int], cut: Mapping[str, int], order: Sequence[str], room: int
) -> tuple[Node, ...]:
    """Loops over `cut` pieces of `tile`, dims of `order` outermost, around holds of what is between the kernels."""
    slots = 2 if 2 * scratch_bytes(layer, cut) <= room else 1
    body: tuple[Node, ...] = tuple(Leaf(kernel.name) for kernel in layer.problem.kernels)
    kinds = dict.fromkeys(layer.memories[name] for name in layer.intermediates)
    for kind in reversed(kinds):
        names = tuple(name for name in layer.intermediates if layer.memories[name] == kind)
        body = (Hold(kind, names, slots, body),)
    outermost = [dim for dim in order if cut[dim] < layer.problem.extents[dim] or layer.by_rows]
    inner = [d for d, extent in layer.problem.dims if d not in outermost and cut[d] < min(extent, tile.get(d, extent))]
    for dim in reversed([*outermost, *inner]):
        body = (Loop(dim, cut[dim], body),)
    return body


def _room(group: FusedGroup, memory: str) -> int:
    """Bytes of a memory that neither regions nor weights of the group take."""
    kept = memory_of(group.machine, memory)
    used = group.scheme.demand_bytes if memory == group.map_memory else 0
    for layer in group.layers:
        for name, value in layer.weights.items():
            if layer.memories[name] == memory:
                used += align_up(bytes_of(value), kept.align_bytes)
        used += kept.align_bytes  # at most one border each
    return kept.capacity_bytes - used


def _cut(layer: FusedLayer, tile: Mapping[str, int], budget: int, rows_first: bool = True) -> dict[str, int]:
    """Halves rows, then the longest of the other dims (or rows last), until what is between kernels fits.

    Dims stay that leave more of it than others: what they do not index would be made again for each piece.
    """
    found = dict(tile)
    fixed = {layer.sample, *_joined(layer)}
    others = [dim for dim in layer.problem.tileable if dim not in fixed and dim != layer.row]
    while scratch_bytes(layer, found) > budget:
        kinds = [[layer.row] if layer.row else [], others]
        longer = ([dim for dim in dims if found[dim] > 1] for dims in (kinds if rows_first else kinds[::-1]))
        dims = next((dims for dims in longer if dims), [])
        if not dims:
            break
        left = {dim: scratch_bytes(layer, found | {dim: -(-found[dim] // 2)}) for dim in dims}
        useful = [dim for dim in dims if left[dim] <= NEARLY * min(left.values())]
        longest = max(useful, key=lambda dim: found[dim])
        found[longest] = -(-found[longest] // 2)
    return found


def scratch_bytes(layer: FusedLayer, tile: Mapping[str, int]) -> int:
    """What lies between the kernels of a layer for one tile."""
    total = 0
    for name in layer.intermediates:
        axes = window([use.forms for use in touches(layer.problem, name)], tile)
        total += prod(axis.size for axis in axes) * layer.problem.by_name[name].element_bytes
    return total


def _joined(layer: FusedLayer) -> set[str]:
    """Dims along which maps are joined: a compute takes one map after another."""
    found: set[str] = set()
    for name, pieces in layer.maps.items():
        if len(pieces) > 1:
            for use in touches(layer.problem, name):
                found |= set(use.forms[channel_axis(len(use.forms))].names)
    return found
