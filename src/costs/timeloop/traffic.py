"""Words that cross each boundary of the hierarchy for one tensor, as if every level kept it, then with bypass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from ..hierarchy.values import Architecture, Loop, LoopMapping, Tensor
from .spatial import Delivery, Placement


@dataclass(frozen=True)
class Visit:
    """A class of equal visits to the child tile: `weight` of them, each moving `words`.

    `step` is set where the previous visit moved a set of the same shape: a child whose box lies `step` before another
    child's then holds what the other one needs now.
    """

    weight: int
    words: int
    step: Shift | None


def overlap(extents: tuple[int, ...], step: Shift) -> int:
    """Words that a box shares with itself moved by `step`."""
    return prod(max(0, extent - abs(move)) for extent, move in zip(extents, step, strict=True))


def visits(extents: tuple[int, ...], loops: list[tuple[int, Shift]], *, resident: bool) -> list[Visit]:
    """Visits to a tile of `extents` under temporal `loops` (bound, shift per iteration), inner to outer.

    As the tool does, only iterations 0 and 1 of a loop are looked at, and iteration 1 stands for all later ones; a
    change of step forgets the previous box.  Between two steps of any outer loop lies a step of the innermost one, so
    a visit moves either the whole tile, or the tile less its overlap along the innermost loop that moves it, or
    nothing.  Example: extents (4,), loops [(8, (2,))]: 4 words first, then 7 visits of 2 words.
    `resident=False` is the level below the innermost memory: nothing stays, each visit moves one word.
    """
    moving = [(bound, shift) for bound, shift in loops if bound > 1]
    if not resident:
        return _operand_visits(moving, len(extents))
    whole = prod(extents)
    found = [Visit(1, whole, None)]
    inner = next((i for i, (_, shift) in enumerate(moving) if any(shift)), None)
    if inner is None:
        return found
    linked = inner == 0
    moving = moving[inner:]
    steps = _steps(moving)
    fresh = whole - overlap(extents, steps[0])
    words = [fresh] + [0 if not any(step) else fresh if step == steps[0] else whole for step in steps[1:]]
    bounds = [bound for bound, _ in moving]
    outer = prod(bounds[1:])
    found += _inner_visits(bounds, words, steps[0], whole) if linked else [Visit((bounds[0] - 1) * outer, fresh, None)]
    for k in range(1, len(moving)):
        step = steps[k] if linked and words[k] == fresh else None
        found.append(Visit(_weight(bounds, k), words[k], step))
    return [visit for visit in found if visit.words > 0]


def _steps(loops: list[tuple[int, Shift]]) -> list[Shift]:
    """The step when loop k advances and those inside fall back from iteration 1 to 0."""
    steps: list[Shift] = []
    fall = tuple(0 for _ in loops[0][1]) if loops else ()
    for _, shift in loops:
        steps.append(tuple(s - f for s, f in zip(shift, fall, strict=True)))
        fall = tuple(f + s for s, f in zip(shift, fall, strict=True))
    return steps


def _weight(bounds: list[int], k: int) -> int:
    return (bounds[k] - 1) * prod(bounds[k + 1 :])


def _inner_visits(bounds: list[int], words: list[int], step: Shift, whole: int) -> list[Visit]:
    """Steps of the innermost loop, split by what the visit before them moved."""
    fresh = words[0]
    found = [Visit(bounds[0] - 1, fresh, step if whole == fresh else None)]
    for k in range(1, len(bounds)):
        weight = (bounds[0] - 1) * _weight(bounds, k)
        found.append(Visit(weight, fresh, step if words[k] == fresh else None))
    return found


def _operand_visits(loops: list[tuple[int, Shift]], rank: int) -> list[Visit]:
    bounds = [bound for bound, _ in loops]
    steps = _steps(loops)
    return [Visit(1, 1, None), *(Visit(_weight(bounds, k), 1, steps[k]) for k in range(len(loops)))]


Shift = tuple[int, ...]


@dataclass(frozen=True)
class Traffic:
    """Between one instance of a level and its children, in words.

    `accesses` maps (multicast, scatter) to words that the level sends (or takes); `share` is what a child receives
    from this level on average, `peer` what an instance of this level exchanges with its neighbours.
    """

    fan_out: int
    accesses: dict[tuple[int, int], float]
    hop_words: float
    link_words: int
    share: float
    peer: float = 0.0

    @property
    def content(self) -> float:
        """All accesses to the level's storage."""
        return sum(self.accesses.values())

    @property
    def delivered(self) -> float:
        """Words that arrive at children, copies counted."""
        return sum(words * multicast for (multicast, _), words in self.accesses.items())


@dataclass(frozen=True)
class TensorFlow:
    """One tensor through all levels, innermost first: traffic after bypass, fills from the parent, partitions.

    `outermost` is the outermost level that keeps the tensor.
    """

    traffic: tuple[Traffic, ...]
    shares: tuple[float, ...]
    tiles: tuple[int, ...]
    partitions: tuple[int, ...]
    outermost: int


def tensor_flow(
    arch: Architecture, dims: int, mapping: LoopMapping, tensor: Tensor, link_transfers: bool = True
) -> TensorFlow:
    """Analyse `tensor` under `mapping` (which must multiply to the problem's bounds)."""
    tiles = mapping.tiles(dims)
    shifts = loop_shifts(mapping, tensor, dims)
    traffic: list[Traffic] = []
    for level in range(len(mapping.levels)):
        child = tensor.extents(tiles[level - 1][1] if level else (1,) * dims)
        placement = shifts.placement(level, arch.fan_out(level), len(child))
        traffic.append(level_traffic(placement, child, shifts.moves(level), resident=level > 0, links=link_transfers))
    kept = [tensor.name not in level.bypass for level in mapping.levels]
    outermost = max((level for level, keep in enumerate(kept) if keep), default=-1)
    return TensorFlow(
        tuple(_mask(_with_peers(traffic), kept)),
        (*(parent.share if level < outermost else 0.0 for level, parent in enumerate(traffic[1:])), 0.0),
        tuple(prod(tensor.extents(tile)) for _, tile in tiles),
        tuple(_partitions(mapping, tensor, tiles)),
        outermost,
    )


@dataclass(frozen=True)
class LoopShifts:
    """Per level: (bound, shift of the tensor's box) of temporal loops, of loops along X and along Y, inner first."""

    temporal: list[list[tuple[int, Shift]]]
    columns: list[list[tuple[int, Shift]]]
    rows: list[list[tuple[int, Shift]]]

    def placement(self, level: int, mesh: tuple[int, int], rank: int) -> Placement:
        """The children of one instance of `level`, on a mesh of (columns, rows)."""
        return Placement(tuple(self.columns[level]), tuple(self.rows[level]), *mesh, rank)

    def moves(self, level: int) -> list[tuple[int, Shift]]:
        """All temporal loops from `level` outwards."""
        return [loop for loops in self.temporal[level:] for loop in loops]


def loop_shifts(mapping: LoopMapping, tensor: Tensor, dims: int) -> LoopShifts:
    """How each loop of `mapping` moves the box of `tensor`; loops of bound 1 are left out."""
    strides = [1] * dims

    def move(loops: tuple[Loop, ...]) -> list[tuple[int, Shift]]:
        found: list[tuple[int, Shift]] = []
        for loop in loops:
            if loop.bound > 1:
                found.append((loop.bound, tensor.shift(loop.dim, strides[loop.dim])))
                strides[loop.dim] *= loop.bound
        return found

    shifts = LoopShifts([], [], [])
    for level in mapping.levels:
        shifts.columns.append(move(level.spatial_x))
        shifts.rows.append(move(level.spatial_y))
        shifts.temporal.append(move(level.temporal))
    return shifts


def level_traffic(
    placement: Placement, child: tuple[int, ...], loops: list[tuple[int, Shift]], *, resident: bool, links: bool
) -> Traffic:
    """What one instance of a level sends to the children at `placement`, each with a tile of `child` extents.

    `resident` is False where the children are MACs; `links` allows neighbours to pass words on.
    """
    links = links and placement.size > 1
    delivered: dict[Delivery, int] = {}
    for visit in visits(child, loops, resident=resident):
        fed = placement.linked(visit.step) if links and visit.step is not None else None
        delivery = fed or placement.plain
        delivered[delivery] = delivered.get(delivery, 0) + visit.weight * visit.words
    accesses: dict[tuple[int, int], float] = {}
    for delivery, words in delivered.items():
        for multicast, scatter in delivery.signatures:
            accesses[multicast, scatter] = accesses.get((multicast, scatter), 0) + scatter * words
    hop_words = sum(placement.hops(delivery) * words for delivery, words in delivered.items())
    link_words = sum(delivery.links * words for delivery, words in delivered.items())
    share = sum(words * multicast for (multicast, _), words in accesses.items()) / placement.size
    return Traffic(placement.size, accesses, hop_words, link_words, share)


def _with_peers(traffic: list[Traffic]) -> list[Traffic]:
    """Spread each level's link words over all utilised instances of the level below."""
    instances = 1
    found = list(traffic)
    for level in range(len(traffic) - 1, 0, -1):
        instances *= traffic[level].fan_out
        found[level - 1] = replace(found[level - 1], peer=traffic[level].link_words / instances)
    return found


def _mask(traffic: list[Traffic], kept: list[bool]) -> list[Traffic]:
    """Hand the accesses of levels without the tensor to the next level outside, innermost first."""
    found = list(traffic)
    for level, keep in enumerate(kept[:-1]):
        if keep:
            continue
        outer = found[level + 1]
        scale = found[level].content * outer.fan_out / outer.delivered if outer.delivered else 0.0
        accesses = {key: words * scale for key, words in outer.accesses.items()}
        found[level + 1] = replace(outer, accesses=accesses, link_words=0)
        found[level] = replace(found[level], peer=0.0, link_words=0)
    return found


def _partitions(
    mapping: LoopMapping, tensor: Tensor, tiles: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
) -> list[int]:
    """Elements that one instance of each level ever owns."""
    last = len(tiles) - 1
    partitions = [prod(tensor.extents(tiles[last][1]))]
    for level in range(last, 0, -1):
        owned = partitions[-1]
        if any(loop.bound > 1 for loop in mapping.levels[level].spatial):
            children, child = tiles[level][0], tiles[level - 1][1]
            owned = owned * prod(tensor.extents(child)) // prod(tensor.extents(children))
        partitions.append(owned)
    return partitions[::-1]
