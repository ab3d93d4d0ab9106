"""Words of one tensor that cross a boundary of the hierarchy, in closed form.

A step brings a child what its tile has now and had not before.  Boxes are products over independent axes, and each step
is that of one loop, so every sum over steps and children is a product of sums along axes and unrelated dimensions.
"""

from math import prod

from .axes import Axes, distinct
from .nest import Nest, Place, count_below
from .windows import Scene, first_union, held, union


def words_moved(nest: Nest, axes: Axes, child: int, level: int) -> int:
    """Words that instances of `level` send to tiles of `child`, each once for all children that need it at a step.

    Children under one instance are spread by the spatial loops of levels `child + 1` to `level`; with `level == child`
    these are the words that arrive, all children counted.  `child == -1` is the arithmetic, which keeps nothing.
    """
    return _whole(nest, axes, child, level) - _kept(nest, axes, child, level)


def _whole(nest: Nest, axes: Axes, child: int, level: int) -> int:
    """Words of the tiles of all steps."""
    total = prod(nest.iterations(dim) for dim in axes.plain)
    for window in axes.windows:
        total *= union(nest, window, _scene(child, level, None))
    for dim in axes.unrelated:
        total *= count_below(nest.bounds[dim], nest.outside(child, dim), lambda p: not _fans(p, child, level))
    return total


def _kept(nest: Nest, axes: Axes, child: int, level: int) -> int:
    """Words of these that are there from the step before."""
    if child < 0:
        return 0
    total = 0
    for event, dim in nest.events:
        if event.level <= child or dim in axes.plain:
            continue
        total += _kept_at(nest, axes, child, level, event, dim)
    return total


def _kept_at(nest: Nest, axes: Axes, child: int, level: int, event: Place, moving: int) -> int:
    """Words that stay where the temporal loop `event` of dimension `moving` advances."""
    found = 1
    for dim in axes.plain:
        found *= _resting(nest, dim, child, event)
        if not found:
            return 0
    for dim in axes.unrelated:
        found *= _steps(nest, dim, child, level, event, dim == moving)
    for window in axes.windows:
        if found:
            found *= held(nest, window, _scene(child, level, event))
    return found


def _fans(place: Place, child: int, level: int) -> bool:
    return place.order is None and child < place.level <= level


def _inside(place: Place, event: Place) -> bool:
    return place.order is not None and event.order is not None and place.order < event.order


def _scene(child: int, level: int, event: Place | None) -> Scene:
    return Scene(
        child,
        lambda place: _fans(place, child, level),
        lambda place: event is not None and _inside(place, event),
        event,
    )


def _steps(nest: Nest, dim: int, child: int, level: int, event: Place, moving: bool) -> int:
    """Iterations of an unrelated dimension at which `event` advances: the loops inside it are at 0."""
    places = nest.outside(child, dim)

    def stays(place: Place) -> bool:
        return not _fans(place, child, level) and not _inside(place, event)

    count = count_below(nest.bounds[dim], places, stays)
    if moving:
        count -= count_below(nest.bounds[dim], places, lambda place: stays(place) and place != event)
    return count


def _resting(nest: Nest, dim: int, child: int, event: Place) -> int:
    """Elements of a plain dimension whose tile does not move when `event`, a loop of another one, advances.

    All, if no loop of `dim` runs inside `event`.  Otherwise only tiles at the ragged end whose loops inside `event`
    have a single iteration that is not empty.  Iterations are numbered anew: an instance may have only some.
    """
    bound = nest.iterations(dim)
    inside: list[tuple[int, int]] = []
    pitch = 1
    for place in nest.places[dim]:
        if place.level > child and _inside(place, event):
            inside.append((pitch, place.bound))
        pitch *= place.bound
    if not inside:
        return bound
    block = inside[0][0]
    last = -(-bound // block) - 1
    rest = bound - last * block

    def starts(index: int) -> bool:
        return index >= 0 and all(index * block // pitch % bound == 0 for pitch, bound in inside)

    tile = nest.tile(child, dim)
    return starts(last) * rest + starts(last - 1) * (block - tile * -(-rest // tile))


def words_owned(nest: Nest, axes: Axes, level: int) -> int:
    """Distinct elements that an instance of `level` ever holds, summed over instances."""

    def spreads(place: Place) -> bool:
        return place.order is None

    total = prod(nest.iterations(dim) for dim in axes.plain)
    scene = Scene(level, lambda place: not spreads(place), lambda _: False)
    for window in axes.windows:
        some = any(nest.iterations(dim) < nest.bounds[dim] for dim in window.dims)
        if some or any(spreads(place) for dim in window.dims for place in nest.outside(level, dim)):
            total *= union(nest, window, scene)
        else:
            total *= distinct(window.coefficients, tuple(nest.bounds[dim] for dim in window.dims))
    for dim in axes.unrelated:
        total *= count_below(nest.bounds[dim], nest.outside(level, dim), spreads)
    return total


def first_words(nest: Nest, axes: Axes, child: int, level: int) -> int:
    """Distinct elements of the first tiles of `child` under the first instance of `level`."""
    total = 1
    for dim in axes.plain:
        places = [p for p in nest.outside(child, dim) if _fans(p, child, level)]
        total *= _covered(nest.bounds[dim], nest.tile(child, dim), places)
    for window in axes.windows:
        scene = Scene(child, lambda p: _fans(p, child, level), lambda _: False)
        total *= first_union(nest, window, scene)
    return total


def _covered(bound: int, tile: int, places: list[Place]) -> int:
    """Iterations in tiles at all positions of `places`."""
    limit = bound - tile + 1
    whole = count_below(limit, tuple(places), lambda _: True)
    any_part = count_below(bound, tuple(places), lambda _: True)
    return whole * tile + (any_part - whole) * (bound % tile)
