"""One tensor through all levels: words read, filled and updated, and words on each network."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

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
class TensorTraffic:
    """Per level, innermost first; `counts` is None where the tensor is not kept.

    `network` are the words that the network below a level carries inwards (outputs: outwards), each once per instance
    and step; `returns` are partial sums that go back inwards; `hops` are links per word.  `first` are the words of the
    first tile of `innermost`, the innermost level that keeps the tensor, under one instance of each level outside it.
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
    first: tuple[int, ...]


def traffic_of(arch: Architecture, problem: Problem, mapping: LoopMapping, nest: Nest, tensor: Tensor) -> TensorTraffic:
    """Analyse `tensor`; the outermost level counts as keeping it."""
    axes = axes_of(tensor, problem.bounds)
    outermost = len(arch.levels) - 1
    kept = [level == outermost or tensor.name not in mapping.levels[level].bypass for level in range(outermost + 1)]
    network = _network(nest, axes, kept)
    owned = [words_owned(nest, axes, level) for level in range(outermost + 1)] if tensor.is_output else []
    arriving = [words_moved(nest, axes, level, level) if keep else 0 for level, keep in enumerate(kept)]
    innermost = kept.index(True)
    return TensorTraffic(
        tensor,
        axes,
        innermost,
        tuple(
            _counts(tensor, network[level], arriving[level] if level < outermost else 0, owned[level] if owned else 0)
            if keep
            else None
            for level, keep in enumerate(kept)
        ),
        tuple(owned),
        tuple(
            tile_words(axes, tuple(min(nest.tile(level, d), n) for d, n in enumerate(nest.bounds)))
            for level in range(outermost + 1)
        ),
        tuple(network),
        tuple(network[level] - owned[level] if owned else 0 for level in range(outermost + 1)),
        tuple(links_per_word(axes, mapped) for mapped in mapping.levels),
        tuple(first_words(nest, axes, innermost, level) if level >= innermost else 0 for level in range(outermost + 1)),
    )


def _network(nest: Nest, axes: Axes, kept: list[bool]) -> list[int]:
    """Words that cross the network below each level to the next level inside that keeps the tensor."""
    found: list[int] = []
    child = -1
    for level, keep in enumerate(kept):
        found.append(words_moved(nest, axes, child, level))
        if keep:
            child = level
    return found


def _counts(tensor: Tensor, sent: int, arriving: int, owned: int) -> Counts:
    if not tensor.is_output:
        return Counts(reads=sent, fills=arriving)
    if arriving == 0:
        return Counts(reads=sent - owned, updates=sent)
    return Counts(reads=sent - owned + arriving, fills=arriving - owned, updates=sent)


def links_per_word(axes: Axes, mapped: LevelMapping) -> float:
    """Links that a word takes below a level: along the first row, then down each column that needs it.

    Children at equal indices of related dimensions need the same words; others have words of their own, so the mean
    over their columns and rows counts.
    """
    related = axes.related
    (columns, width), (rows, _) = (
        _farthest([(loop.bound, loop.dim in related) for loop in loops])
        for loops in (mapped.spatial_x, mapped.spatial_y)
    )
    return columns + width * rows


def _farthest(loops: list[tuple[int, bool]]) -> tuple[float, int]:
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
