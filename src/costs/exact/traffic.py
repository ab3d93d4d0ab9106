"""One tensor through all levels: words read, filled and updated, and words on each network."""

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ..hierarchy.values import Architecture, Level, LevelMapping, LoopMapping, Problem, Tensor
from .axes import Axes, axes_of, tile_words
from .nest import Nest
from .words import first_words, words_moved, words_owned


@dataclass(frozen=True)
class Counts:
    """Words of one tensor at one level, summed over instances."""

    reads: int = 0
    fills: int = 0
    updates: int = 0


@dataclass(frozen=True)
class Passing:
    """Words of one tensor at one instance of a level: through its ports, and in and out on the network below it."""

    reads: int
    writes: int
    inwards: int
    outwards: int


@dataclass(frozen=True)
class TensorTraffic:
    """Per level, innermost first; `counts` is None where the tensor is not kept.

    `network` are the words that the network below a level carries inwards (outputs: outwards), each once per instance
    and step; `returns` are partial sums that go back inwards; `hops` are links per word.  `busiest` are the words of
    the first instance, which has the most work.  `first` are the words of the first tile of
    `innermost`, the innermost level that keeps the tensor, under the first instance of each level outside it.
    """

    tensor: Tensor
    axes: Axes
    innermost: int
    counts: tuple[Counts | None, ...]
    owned: tuple[int, ...]
    tiles: tuple[int, ...]
    network: tuple[int, ...]
    returns: tuple[int, ...]
    hops: tuple[float, ...]
    busiest: tuple[Passing, ...]
    first: tuple[int, ...]


def traffic_of(arch: Architecture, problem: Problem, mapping: LoopMapping, nest: Nest, tensor: Tensor) -> TensorTraffic:
    """Analyse `tensor`; the outermost level counts as keeping it."""
    axes = axes_of(tensor, problem.bounds)
    outermost = len(arch.levels) - 1
    kept = [level == outermost or tensor.name not in mapping.levels[level].bypass for level in range(outermost + 1)]
    flows = [_flow_at(nest, axes, kept, level, tensor) for level in range(outermost + 1)]
    innermost = kept.index(True)
    return TensorTraffic(
        tensor,
        axes,
        innermost,
        tuple(_counts(tensor, flow) if keep else None for keep, flow in zip(kept, flows, strict=True)),
        tuple(flow.owned for flow in flows) if tensor.is_output else (),
        tuple(
            tile_words(axes, tuple(min(nest.tile(level, d), n) for d, n in enumerate(nest.bounds)))
            for level in range(outermost + 1)
        ),
        tuple(flow.sent for flow in flows),
        tuple(flow.sent - flow.owned if tensor.is_output else 0 for flow in flows),
        tuple(links_per_word(axes, mapped) for mapped in mapping.levels),
        tuple(_busiest(nest, axes, kept, level, tensor, flow) for level, flow in enumerate(flows)),
        tuple(first_words(nest, axes, innermost, level) if level >= innermost else 0 for level in range(outermost + 1)),
    )


class _Flow(NamedTuple):
    """Words that a level sends below, that arrive from outside, and different ones of an output that it ever holds."""

    sent: int
    arriving: int
    owned: int


def _flow_at(nest: Nest, axes: Axes, kept: list[bool], level: int, tensor: Tensor) -> _Flow:
    """Words of one tensor at `level`, of all instances in `nest`."""
    child = max((inner for inner in range(level) if kept[inner]), default=-1)
    arriving = words_moved(nest, axes, level, level) if kept[level] and level < len(kept) - 1 else 0
    owned = words_owned(nest, axes, level) if tensor.is_output else 0
    return _Flow(words_moved(nest, axes, child, level), arriving, owned)


def _counts(tensor: Tensor, flow: _Flow) -> Counts:
    sent, arriving, owned = flow
    if not tensor.is_output:
        return Counts(reads=sent, fills=arriving)
    if arriving == 0:
        return Counts(reads=sent - owned, updates=sent)
    return Counts(reads=sent - owned + arriving, fills=arriving - owned, updates=sent)


def _busiest(nest: Nest, axes: Axes, kept: list[bool], level: int, tensor: Tensor, total: _Flow) -> Passing:
    """Words at the first instance of `level`, given those of all."""
    if nest.even(level):
        flow = _Flow(*(words // nest.used(level) for words in total))
    else:
        flow = _flow_at(nest.first_instance(level), axes, kept, level, tensor)
    counts = _counts(tensor, flow) if kept[level] else Counts()
    inwards, outwards = (flow.sent - flow.owned, flow.sent) if tensor.is_output else (flow.sent, 0)
    return Passing(counts.reads, counts.fills + counts.updates, inwards, outwards)


def links_per_word(axes: Axes, mapped: LevelMapping) -> float:
    """Links that a word takes below a level: along the first row, then down each column that needs it.

    Children at equal indices of related dimensions need the same words; others have words of their own, so the mean
    over their columns and rows counts.
    """
    related = axes.related
    (columns, width), (rows, _) = (
        farthest([(loop.bound, loop.dim in related) for loop in loops])
        for loops in (mapped.spatial_x, mapped.spatial_y)
    )
    return columns + width * rows


def farthest(loops: list[tuple[int, bool]]) -> tuple[float, int]:
    """Mean distance to the last child that needs a word along one axis of the array, and how many children do."""
    pitch, distance = 1, 0.0
    for bound, related in loops:
        distance += (bound - 1) * pitch * (0.5 if related else 1.0)
        pitch *= bound
    return distance, prod(bound for bound, related in loops if not related)


def hop_words(traffic: TensorTraffic, level: int) -> float:
    """Words times links on the network below `level`."""
    return traffic.hops[level] * (traffic.network[level] + traffic.returns[level])


def word_scale(tensor: Tensor, level: Level) -> float:
    """Words of a level that one element takes."""
    return 1.0 if tensor.word_bits is None else tensor.word_bits / level.word_bits
