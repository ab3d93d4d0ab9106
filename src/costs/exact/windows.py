"""Elements along a sliding axis that children hold, need and already have, as sets of bits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from ...errors import TilewrightError
from .axes import Window, bits_of, distinct
from .nest import Nest, Place, count_below

MAX_ELEMENTS = 1 << 22
MAX_CASES = 1 << 16
MAX_BITS = 1 << 31
"""Limits of one axis: elements that children span; children, and tiles at the end of a dimension; bits of all sets."""

Test = Callable[[Place], bool]


@dataclass(frozen=True)
class Reach:
    """Where one child's tile lies along a dimension, now and at its step before: (offset, size) each."""

    now: tuple[int, int]
    before: tuple[int, int]


Situation = tuple[Reach, ...]
"""One reach per child that has work."""


@dataclass(frozen=True)
class Scene:
    """Children are spread by the loops that `fan` accepts; steps move the loops that `inner` accepts back to 0.

    `event` advances at these steps, if given; all other loops outside the tile of `child` stay.
    """

    child: int
    fan: Test
    inner: Test
    event: Place | None = None


Choice = Callable[[list[int], list[int]], int]


def union(nest: Nest, window: Window, scene: Scene) -> int:
    """Elements of the union of all children's tiles, summed over the loops that stay."""
    return _sum(nest, window, scene, _needed)


def held(nest: Nest, window: Window, scene: Scene) -> int:
    """Elements of the union that every child in need had before, summed over the loops that stay."""
    return _sum(nest, window, scene, _present)


def first_union(nest: Nest, window: Window, scene: Scene) -> int:
    """Elements of the union of all children's tiles where the loops that stay are at their first iteration."""
    situations: list[Situation] = []
    for dim in window.dims:
        fan = [place for place in nest.outside(scene.child, dim) if scene.fan(place)]
        situations.append(_situation(0, nest.bounds[dim], nest.tile(scene.child, dim), fan, [], None))
    return _count(window, situations, _needed)


def _needed(now: list[int], before: list[int]) -> int:
    bits = 0
    for needed in now:
        bits |= needed
    return bits


def _present(now: list[int], before: list[int]) -> int:
    missing = 0
    for needed, there in zip(now, before, strict=True):
        missing |= needed & ~there
    return _needed(now, before) & ~missing


def _sum(nest: Nest, window: Window, scene: Scene, choose: Choice) -> int:
    total = 0
    for combined in product(*(list(_situations(nest, dim, scene).items()) for dim in window.dims)):
        times = prod(count for _, count in combined)
        total += times * _count(window, [situation for situation, _ in combined], choose)
    return total


def _count(window: Window, situations: list[Situation], choose: Choice) -> int:
    """Elements that `choose` selects from what all children need now and what they had before."""
    children = list(product(*situations))
    if len(children) > MAX_CASES:
        raise TilewrightError("mapping", "a sliding axis", f"at most {MAX_CASES} children", str(len(children)))
    if len(children) == 1 and choose is _needed:
        return distinct(window.coefficients, tuple(reach.now[1] for reach in children[0]))
    now = [_placed(window, [reach.now for reach in child]) for child in children]
    before = [_placed(window, [reach.before for reach in child]) for child in children]
    if choose is _present and all(_apart(n, b) for n, b in zip(now, before, strict=True)):
        return 0
    starts = [start for start, _ in (*now, *before)]
    least = min(starts)
    span = max(starts) - least
    if span > MAX_ELEMENTS or span * len(children) > MAX_BITS:
        expected = f"children within {MAX_ELEMENTS} elements, and {MAX_BITS} of all"
        raise TilewrightError("mapping", "a sliding axis", expected, f"{len(children)} within {span}")
    return choose(*([bits << (start - least) for start, bits in boxes] for boxes in (now, before))).bit_count()


def _apart(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two sets of (least element, bits) have nothing in common, from their ends."""
    return one[0] + one[1].bit_length() <= other[0] or other[0] + other[1].bit_length() <= one[0]


def _placed(window: Window, boxes: list[tuple[int, int]]) -> tuple[int, int]:
    """Least element and the set of elements from there, for (offset, size) per dimension."""
    coefficients = tuple(abs(c) for c in window.coefficients)
    sizes = tuple(size for _, size in boxes)
    if sum(c * size for c, size in zip(coefficients, sizes, strict=True)) > MAX_ELEMENTS:
        raise TilewrightError("mapping", "a sliding axis", f"at most {MAX_ELEMENTS} elements in a tile", str(sizes))
    start = 0
    for c, (offset, size) in zip(window.coefficients, boxes, strict=True):
        start += c * (offset if c > 0 else offset + size - 1)
    return start, bits_of(coefficients, sizes)


def _situations(nest: Nest, dim: int, scene: Scene) -> dict[Situation, int]:
    """What children see along `dim`, and at how many iterations of the loops that stay."""
    places = nest.outside(scene.child, dim)
    moving = scene.event if scene.event in places else None
    fan = [p for p in places if scene.fan(p)]
    inner = [p for p in places if scene.inner(p)]
    stay = [p for p in places if p not in fan and p not in inner]
    bound, tile = nest.bounds[dim], nest.tile(scene.child, dim)
    reach = tile + sum(p.reach for p in [*fan, *inner])
    whole = bound - reach + 1
    found: dict[Situation, int] = {}
    full = count_below(whole, places, lambda p: p in stay)
    if moving is not None:
        full -= count_below(whole, places, lambda p: p in stay and p != moving)
    if full:
        found[_situation(0, bound + reach, tile, fan, inner, moving)] = full
    most = 4 * MAX_CASES // prod(place.bound for place in fan)
    for cases, base in enumerate(_bases(stay, max(0, whole), bound, moving)):
        if cases > most:
            expected = f"at most {4 * MAX_CASES} tiles that may be cut off"
            raise TilewrightError("mapping", f"a sliding dimension of {bound}", expected, "more")
        seen = _situation(base, bound, tile, fan, inner, moving)
        if seen:
            found[seen] = found.get(seen, 0) + 1
    return found


def _bases(stay: list[Place], least: int, bound: int, moving: Place | None) -> Iterator[int]:
    """Positions of the loops that stay, from `least` and below `bound`; `moving` is past its first iteration."""
    rest = [0]
    for place in stay:
        rest.append(rest[-1] + place.reach)

    def walk(i: int, base: int) -> Iterator[int]:
        if base >= bound or base + rest[i] < least:
            return
        if i == 0:
            yield base
            return
        place = stay[i - 1]
        first = max(int(place == moving), -((base + rest[i - 1] - least) // place.pitch))
        for digit in range(first, place.bound):
            if base + digit * place.pitch >= bound:
                return
            yield from walk(i - 1, base + digit * place.pitch)

    return walk(len(stay), 0)


def _situation(
    base: int, bound: int, tile: int, fan: list[Place], inner: list[Place], moving: Place | None
) -> Situation:
    """Where each child that has work is, relative to `base`."""
    offsets = [0]
    for place in fan:
        offsets = [digit * place.pitch + offset for digit in range(place.bound) for offset in offsets]
    children: list[Reach] = []
    for offset in offsets:
        if base + offset >= bound:
            continue
        last = _last(base + offset, bound, inner) if moving is None else sum(p.reach for p in inner) - moving.pitch
        sizes = (min(tile, bound - base - offset - shift) for shift in (0, last))
        children.append(Reach((offset, next(sizes)), (offset + last, next(sizes))))
    return tuple(children)


def _last(start: int, bound: int, inner: list[Place]) -> int:
    """How far the last iteration of the loops `inner` that is not empty lies from `start`."""
    at = start
    for place in reversed(inner):
        at += min(place.bound - 1, (bound - 1 - at) // place.pitch) * place.pitch
    return at - start
