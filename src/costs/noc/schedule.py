"""The steps of a mapped program as the processing elements below a buffer see them."""

from dataclasses import dataclass
from math import prod

import numpy as np

from ...algebra.element import Ints
from ...errors import TilewrightError
from ..exact.nest import Nest
from ..hierarchy import Architecture, LoopMapping, Problem

MAX_CELLS = 1 << 25
"""Steps times processing elements that a program may have."""


@dataclass(frozen=True)
class Steps:
    """Steps s, elements i, dims d.

    `starts[s, d]` is where the loops of steps are, `levels[l]` and `dims[l]` their levels and dims, outermost first;
    `offsets[i, d]` where the work of element i begins, at column `xs[i]` and row `ys[i]` of the array.  Element i takes
    `cycles[s, i]` for a step, 0 if it has no work.
    """

    digits: Ints
    pitches: Ints
    levels: Ints
    dims: Ints
    offsets: Ints
    xs: Ints
    ys: Ints
    cycles: Ints

    def starts(self, level: int, count: int) -> Ints:
        """For each step where loops outside `level` are, in each of `count` dims."""
        found = np.zeros((len(self.digits), count), np.int64)
        for loop in np.flatnonzero(self.levels > level):
            found[:, self.dims[loop]] += self.digits[:, loop] * self.pitches[loop]
        return found


def steps_of(arch: Architecture, problem: Problem, mapping: LoopMapping, nest: Nest, mesh: int, inner: int) -> Steps:
    """Steps are iterations of the loops outside level `inner`; elements the instances below level `mesh`."""
    loops = [(p.level, d, p.pitch, p.bound) for p, d in reversed(nest.events) if p.level > inner]
    xs, ys, offsets = _elements(mapping, nest, mesh)
    count = prod(bound for _, _, _, bound in loops)
    if count * len(xs) > MAX_CELLS:
        expected = f"at most {MAX_CELLS} steps of processing elements"
        lever = "shrink a bound of the kernel"
        raise TilewrightError("limit", f"{problem.name} on {arch.name}", expected, f"{count * len(xs)}", lever)
    digits = np.zeros((count, len(loops)), np.int64)
    rest = np.arange(count)
    for number in range(len(loops) - 1, -1, -1):
        bound = loops[number][3]
        digits[:, number], rest = rest % bound, rest // bound
    levels, dims, pitches = (np.array([loop[part] for loop in loops], np.int64) for part in range(3))
    bare = Steps(digits, pitches, levels, dims, offsets, xs, ys, np.zeros((0, 0), np.int64))
    cycles = _cycles(nest, bare, inner)
    working = cycles.any(axis=1)
    return Steps(digits[working], pitches, levels, dims, offsets, xs, ys, cycles[working])


def _elements(mapping: LoopMapping, nest: Nest, mesh: int) -> tuple[Ints, Ints, Ints]:
    """Columns, rows and offsets of the elements that a mapping uses."""
    places = [(p, d) for d, row in enumerate(nest.places) for p in row if p.order is None and p.level >= mesh]
    if any(place.level > mesh for place, _ in places):
        raise TilewrightError("noc", f"level {mesh}", "one buffer above the mesh", "loops that spread over several")
    level = mapping.levels[mesh]
    by_axis: list[list[tuple[int, int, int]]] = [[], []]
    pitches = {d: [p for p in row if p.order is None and p.level == mesh] for d, row in enumerate(nest.places)}
    taken = dict.fromkeys(pitches, 0)
    for axis, loops in enumerate((level.spatial_x, level.spatial_y)):
        for loop in (loop for loop in loops if loop.bound > 1):
            place = pitches[loop.dim][taken[loop.dim]]
            taken[loop.dim] += 1
            by_axis[axis].append((loop.dim, place.pitch, loop.bound))
    found = [(np.zeros(1, np.int64), np.zeros((1, len(nest.bounds)), np.int64)) for _ in range(2)]
    for axis in range(2):
        position, offsets = found[axis]
        width = 1
        for dim, pitch, bound in by_axis[axis]:
            steps = np.zeros((bound, len(nest.bounds)), np.int64)
            steps[:, dim] = pitch * np.arange(bound)
            offsets = (steps[:, None] + offsets[None]).reshape(-1, len(nest.bounds))
            position = (width * np.arange(bound)[:, None] + position[None]).reshape(-1)
            width *= bound
        found[axis] = position, offsets
    (xs, along), (ys, down) = found
    offsets = (down[:, None] + along[None]).reshape(-1, len(nest.bounds))
    return np.tile(xs, len(ys)), np.repeat(ys, len(xs)), offsets


def _cycles(nest: Nest, steps: Steps, inner: int) -> Ints:
    """Cycles of each element in each step: iterations of the loops inside that are not empty for its first unit."""
    starts = steps.starts(inner, len(nest.bounds))
    total = np.ones((len(starts), len(steps.offsets)), np.int64)
    for dim, bound in enumerate(nest.bounds):
        begins = np.zeros(1, np.int64)
        for place in nest.places[dim]:
            if place.order is not None and place.level <= inner:
                begins = (begins[:, None] + place.pitch * np.arange(place.bound)).ravel()
        room = bound - (starts[:, dim, None] + steps.offsets[None, :, dim])
        total *= np.searchsorted(np.sort(begins), np.maximum(room, 0), side="left")
    return total
