"""The least energy from each memory outwards, for every tile that it may hold: a bound for what a walk does not know.

The least over all outer tiles that contain one is a sweep per dimension over the table of the next memory outwards,
those along which a tensor rests kept apart until its words are added.  Loops may also rest a tensor through a memory
whose other loops are all 1: its words are then bounded by those for loops of any length.

Statement 10 of docs/exact-mapper.md.
"""

from functools import lru_cache, partial

import numpy as np

from .....remembered import Store, remembered
from ..space.model import Bools, Floats, Ints, Model
from ..traffic.busy import busy_along, most_steps
from ..tree.state import Beyond, Grid, Skeleton
from .delays import Delays
from .grids import cells_of, grid_of, grown, sizes_of
from .inward import Passage, Pending, Step
from .outcomes import Case, Way, at_once, outcomes_of, sets_at_rest
from .outer import Outer
from .resting import Terms, parts_of
from .sections import Section, Sections
from .tables import Tables

NEAR = 2.0
"""How far above its least energy times its least cycles a skeleton's bound is at most if inner tiles may matter."""

MAX_INNER = 1 << 15
"""Cells of the grid of an inner memory."""

MAX_GRIDS = 2048
"""Grids of inner memories, and passages between two of them, that are kept for other skeletons."""

MAX_CODES = 4096
"""Combinations of pending tensors that have a table at most."""

MAX_PLACES = 1 << 22
"""Cells of indices from one grid to another that are kept."""


class Ahead:
    """Makes the tables of one skeleton after another."""

    def __init__(self, model: Model, tables: Tables, outer: Outer, sections: Sections, cells: int = 0) -> None:
        self._model, self._tables, self._outer, self._sections = (model, tables, outer, sections)
        self._dims, self._tensors = tables.dims, len(model.full)
        self._every, self._cells = (1 << self._dims) - 1, cells or MAX_INNER
        self._inner: dict[tuple[int, int, bytes, tuple[int, ...]], tuple[Grid, Bools]] = {}
        self._outermost: dict[tuple[int, tuple[int, ...], bytes], Floats] = {}
        self._nobody: Pending = (-1,) * self._tensors
        self._worth: tuple[float, float] | None = None
        self._slope, self._linear_first = 0.0, False
        self._passages: dict[tuple[int, int, bytes, tuple[int, ...]], Passage] = {}
        self._places: Store[np.int64] = Store(MAX_PLACES)

    def section_of(self, skeleton: Skeleton) -> Section:
        """The last memory's tiles."""
        return self._sections.of(skeleton.inside[-1], int(skeleton.held[-2]))

    def take(self, skeleton: Skeleton) -> None:
        """Take up a skeleton."""
        last = self._outer.last
        self._skeleton = skeleton
        self._section = self.section_of(skeleton)
        if len(self._inner) + len(self._passages) > MAX_GRIDS:
            self._inner, self._passages, self._places = {}, {}, Store(MAX_PLACES)
        inner = [self._grid(level) for level in range(last - 1)]
        self._grids, self._full = [grid for grid, _ in inner] + [self._section.grid], [full for _, full in inner]
        self._helped = self._model.sliding if skeleton.gaps.any() else 0
        self._layers: list[dict[Pending, Floats]] = [{} for _ in range(last)]
        self._steps = [self._step(level) for level in range(last - 1)]
        self._terms: Terms | None = None
        self._arrivals: dict[int, Floats] | None = None
        self._linear: dict[float, float] = {}

    def _grid(self, level: int) -> tuple[Grid, Bools]:
        """The tiles of an inner memory, also for other skeletons, and which of them are too large."""
        skeleton, perfect, kept = self._skeleton, self._model.perfect, int(self._skeleton.held[level])
        begin, reach = skeleton.inside[level + 1], self._reach(level)
        key = level, kept, begin.tobytes(), tuple(reach)
        if key not in self._inner:
            ends, slides = reach if perfect else self._tables.bounds, self._tables.slides
            grid = grid_of(ends, perfect=perfect, cells=self._cells, most=reach, least=begin.tolist(), slides=slides)
            full = ~self._tables.fit(kept, level, sizes_of(grid, high=False))
            self._inner[key] = grid, np.broadcast_to(full, tuple(grid.size.tolist()))
        return self._inner[key]

    def _reach(self, level: int) -> list[int]:
        """The largest tiles of a memory by dimension; imperfect ones for which it and those further out have room."""
        skeleton, model, inside = self._skeleton, self._model, self._skeleton.inside[level + 1]
        if model.perfect:
            return (model.bounds // (skeleton.inside[-1] // inside)).tolist()
        ends = self._tables.most(int(skeleton.held[level]), level, tuple(inside.tolist()))
        known = model.halves, skeleton.spread, level
        ends = [min(end, int(most_steps(self._tables.bounds[d], *known, d, 1))) for d, end in enumerate(ends)]
        if level + 1 == self._outer.last:
            return ends
        ratios, outside = (skeleton.inside[level + 2] // inside).tolist(), self._reach(level + 1)
        limits = zip(ends, outside, ratios, self._tables.bounds, strict=True)
        return [min(end, max(1, far // ratio)) if far < bound else end for end, far, ratio, bound in limits]

    def weighed(self, delays: Delays, bound: float, energy: float, most: float = np.inf) -> float:
        """The least sum of that energy and of what cycles of tiles are worth, given a bound of energy times delay and
        the least energy; `most` is as good as more.

        It is the larger one of two; first comes the one that was enough last time.
        """
        found = -np.inf
        for linear in (self._linear_first, not self._linear_first):
            ways = self._with_arrivals if linear else self._weighed
            found = max(found, ways(delays, bound, energy, most))
            if found >= most:
                self._linear_first = linear
                break
        return found

    def _with_arrivals(self, delays: Delays, bound: float, energy: float, most: float) -> float:
        """As `weighed`, linear in cycles and with those in which inner tiles arrive; -inf where these hardly count."""
        if not self._arrive() or bound >= NEAR * energy * delays.least:
            return -np.inf
        if energy not in self._linear:
            slope = energy / delays.least
            hidden = slope * delays.hidden
            self._linear[energy] = self._weighed(delays, 0.0, energy, most + hidden, slope) - hidden
        return self._linear[energy]

    def _weighed(self, delays: Delays, bound: float, energy: float, most: float, slope: float = 0.0) -> float:
        """As `weighed`; cycles in which tiles of inner memories arrive are worth so much each.

        Tables are made anew with that; those of energy alone stay.
        """
        layers, steps = self._layers, self._steps
        self._delays, self._worth, self._slope = delays, (bound, energy), slope
        self._layers, self._steps = [{} for _ in layers], [step.afresh() for step in steps]
        found = self.least(most)
        self._layers, self._steps, self._worth, self._slope = layers, steps, None, 0.0
        return found

    def _arrive(self) -> dict[int, Floats]:
        """By memory and cell, the cycles that its first and last tiles are on their way, beyond those of the smallest.

        Of tensors that are kept further in than the last memory, in the innermost that keeps them.
        """
        if self._arrivals is None:
            self._arrivals = {}
            for t, own in enumerate(self._skeleton.parent[0].tolist()):
                pace = self._outer.pace(t)
                if own < self._outer.last - 1 and pace > 0 and self._grids[own].perfect:
                    tiles, inside = (sizes_of(self._grids[own], high=False), self._skeleton.inside)
                    covered = tuple(size * int(n) for size, n in zip(tiles, inside[-1] // inside[own + 1], strict=True))
                    words = self._tables.size(t, covered, tiles)
                    more = (words - words.reshape(-1)[0]) * pace
                    self._arrivals[own] = self._arrivals.get(own, 0.0) + np.maximum(more, 0.0)
        return self._arrivals

    def least(self, most: float = np.inf) -> float:
        """The least energy of all words between the skeleton's memories: of cells of the innermost one in which its
        tiles may begin.

        Or less, if that is `most`: by tiles of the next memory, and what is unavoidable inside of it.
        """
        skeleton = self._skeleton
        if most < np.inf and self._steps:
            inside = float(skeleton.least[0] @ skeleton.kept[0])
            found = inside + float(self._steps[0].after(self._nobody).min())
            if found >= most:
                return found
        table = self._layer(0, self._nobody)
        begin = skeleton.spread[0] * (skeleton.inside[-1] // skeleton.inside[-2] if self._outer.last == 1 else 1)
        first = (int(cells_of(self._grids[0], d, begin[d : d + 1])[0]) for d in range(self._dims))
        return float(table[tuple(slice(place, None) for place in first)].min())

    def _layer(self, level: int, pending: Pending) -> Floats:
        """Least energy by cell when the loops of memory `level` are over, with `pending` tensors."""
        if pending not in self._layers[level]:
            kept = int(self._skeleton.held[level])
            if level < self._outer.last - 1:
                found = self._steps[level].least(pending)
                if self._slope and level in self._arrive():
                    found = found + self._slope * self._arrive()[level]
                found[self._full[level]] = np.inf
            else:
                found = self._last(kept, pending)
            self._layers[level][pending] = found
        return self._layers[level][pending]

    def _last(self, kept: int, pending: Pending) -> Floats:
        """The same at the last memory, where only loops of the outermost one come."""
        section = self._section
        if pending == self._nobody and self._worth is None:
            return section.energies(kept)
        alive = kept | sum(1 << t for t, low in enumerate(pending) if low >= 0)
        outcomes = self._outer.outcomes(alive)
        energies = self._energies(pending, alive, outcomes)
        if self._worth is not None:
            return self._delays.weighed(energies, section.ports(outcomes, alive, kept), self._worth)
        found = np.minimum.reduce(energies)
        found[~section.fits(kept)] = np.inf
        return found

    def _energies(self, pending: Pending, alive: int, outcomes: list[Case]) -> Floats:
        """Energy of the tensors `alive` at the last memory, for one thing that orders may mean after the other."""
        resting = [(t, low) for t, low in enumerate(pending) if low >= 0]
        others = tuple(t for t in range(self._tensors) if alive >> t & 1 and pending[t] < 0)
        energies = self._section.terms(outcomes, alive, others).copy()
        for t, low in resting:
            known = {way: self._resting(t, low, way) for way in dict.fromkeys(outcome[t] for outcome in outcomes)}
            if self._helped >> t & 1:
                for way, energy in known.items():
                    known[way] = np.minimum(energy, self._resting(t, low, at_once(self._model, t, way)))
            for found, outcome in zip(energies, outcomes, strict=True):
                found += known[outcome[t]]
        return energies

    def _resting(self, t: int, low: int, way: Way) -> Floats:
        """Energy of a tensor that rests in a tile of the last memory, where loops mean that for it."""
        level, grid = self._outer.last - 1, self._section.grid
        if self._terms is None:
            spread, bounds = self._skeleton.spread[level + 1], self._tables.bounds
            least = tuple(-(-size // n) for size, n in zip(sizes_of(grid, high=False), spread, strict=True))
            busy = self._busy(level, level + 1)
            most = tuple(map(parts_of, sizes_of(grid, high=True), spread, bounds, busy))
            self._terms = Terms(self._tables, self._skeleton, level, (least, most), bounds)
        return self._terms.energy(t, low, way, {}, whole=True)

    def _busy(self, level: int, outer: int) -> tuple[int, ...]:
        """Children with work along each dimension, at least, from a memory to one further out; of perfect ones all."""
        if self._model.perfect:
            return tuple(self._tables.bounds)
        known = False, self._model.halves, self._skeleton.spread, level
        return tuple(busy_along(*known, d, outer) for d in range(self._dims))

    @remembered
    def _orders_of(self, tensors: int, dims: int, helped: int) -> list[Case]:
        return outcomes_of(self._model, tensors, dims, helped)

    def _step(self, level: int) -> Step:
        skeleton, model, last = self._skeleton, self._model, self._outer.last
        following = level + 1
        while following < last - 1 and self._idle(following):
            following += 1
        end = last if following == last - 1 else following
        times, busy = skeleton.spread[level + 1 : end + 1].prod(axis=0), self._busy(level, end)
        grid, outer = self._grids[level], self._grids[following]
        key = id(grid), id(outer), times.tobytes(), busy
        if key not in self._passages:
            self._passages[key] = Passage(grid, outer, times, self._places, self._tables.bounds, busy)
        after = partial(self._layer, following)
        still = int(skeleton.still[following])
        outcomes = partial(self._orders_of, helped=self._helped)
        return Step(model, self._tables, skeleton, level, self._passages[key], after, outcomes, still)

    def _idle(self, level: int) -> bool:
        """Whether loops of a memory can as well be those of the next one, see `factors.idle`."""
        skeleton, model = self._skeleton, self._model
        nothing = not skeleton.held[level] and not skeleton.within[level] & model.sliding
        return model.perfect and nothing and not (self._tables.slides & (skeleton.spread[level + 1] > 1)).any()

    def beyond(self) -> Beyond:
        """The tables that a walk of the skeleton reads."""
        skeleton = self._skeleton
        layers = [self._layer(level, self._nobody) for level in range(len(self._grids))]
        still = skeleton.still.tolist()
        masks = [
            tuple(sorted({mask | dims for mask in sets_at_rest(self._model, kept)}))
            for kept, dims in zip([0, *skeleton.within[:-2].tolist()], still, strict=False)
        ]
        parts = [self._swept(*each) for each in zip(self._grids[:-1], layers[:-1], masks[:-1], strict=True)]
        outermost = (int(skeleton.held[-2]), masks[-1], self._section.grid.low.tobytes())
        if outermost not in self._outermost:
            self._outermost = {outermost: self._swept(self._section.grid, layers[-1], masks[-1])}
        widest = max(grid.low.shape[1] for grid in self._grids)
        size, stride = (np.ones((len(layers), self._dims), np.int64) for _ in range(2))
        low = np.zeros((len(layers), self._dims, widest), np.int64)
        which = np.zeros((len(layers), 1 << self._dims), np.int64)
        scale = np.ones((len(layers), self._dims), np.int64)
        scale[-1] = skeleton.inside[-1] // skeleton.inside[-2]
        start = 0
        for level, grid in enumerate(self._grids):
            size[level], stride[level] = grid.size, grid.stride
            low[level, :, : grid.low.shape[1]] = grid.low
            places = best_masks(masks[level], self._dims)[np.arange(1 << self._dims) | still[level]]
            which[level] = start + places * int(grid.size.prod())
            start = start + parts[level].size if level + 2 < len(layers) else 0
        inner = np.concatenate([np.zeros(1), *(part.reshape(-1) for part in parts)])[1:]
        outer = self._outermost[outermost].reshape(-1)
        return Beyond(inner, outer, which, size, low, stride, scale, *self._closing())

    def _closing(self) -> tuple[Floats, Ints]:
        """`closing` and `where` of `Beyond`: the layers of all pending tensors."""
        base, parts, start = self._outer.last + 1, [np.zeros(0)], 0
        where = np.full((len(self._layers), codes if (codes := base**self._tensors) <= MAX_CODES else 0), -1, np.int64)
        for level, found in enumerate(self._layers):
            for pending, energy in found.items() if where.size else ():
                where[level, sum((low + 1) * base**t for t, low in enumerate(pending))] = start
                parts.append(energy.reshape(-1))
                start += energy.size
        return np.concatenate(parts), where

    def _swept(self, grid: Grid, energy: Floats, masks: tuple[int, ...]) -> Floats:
        """The least energy over tiles that contain a cell's and agree with it in each of `masks`, (K, C)."""
        done = {self._every: energy}
        waiting = sorted(masks, key=lambda mask: -mask.bit_count())
        for mask in waiting:
            near = min((m for m in done if m & mask == mask), key=lambda m: m.bit_count())
            done[mask] = grown(grid, done[near], self._every & ~near | mask)
        return np.stack([done[mask] for mask in masks])


@lru_cache(256)
def best_masks(masks: tuple[int, ...], dims: int) -> Ints:
    """For each set of fixed dimensions, the place of the largest of `masks` that it contains, if any."""
    found = np.zeros(1 << dims, np.int64)
    for fixed in range(1 << dims):
        fitting = [i for i, mask in enumerate(masks) if mask & ~fixed == 0]
        found[fixed] = max(fitting, key=lambda i: (masks[i].bit_count(), -i), default=0)
    return found
