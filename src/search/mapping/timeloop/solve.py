"""The search: spreads in the order of their bounds, until no bound is below the best mapping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from ....costs.clock import Limit, processor_seconds
from ....costs.hierarchy import Architecture, LevelMapping, Loop, LoopMapping, Problem
from ....costs.timeloop import evaluate
from ....costs.timeloop.batch_arrays import Floats, Ints, model_of, moves_one_axis
from ....costs.timeloop.batch_kernel import new_nest
from ....costs.timeloop.batch_links import new_links, place_and_group
from ....costs.timeloop.batch_model import MAX_MACS
from ....errors import InfeasibleError, TilewrightError
from ....interruption import stop_unless, stoppable
from ..exact.bounds.grids import grid_of, grown
from ..exact.space.limits import infeasible
from ..refine import solve as refine
from ..values import OBJECTIVES, Mapped, Objective, Request, Space
from .bound import new_inner
from .lattice import MAX_TILES, Lattice, footprints, lattice_of, outer_tables
from .least import NEAR, Task
from .patterns import Patterns, cross_masks, patterns_of
from .room import LEVELS, new_room
from .scan import Field, scan
from .spatial import Factors, Layout, layouts_by_product, ordered
from .spreads import Candidate, Kept, Spreads
from .visit import Best

ROUNDING = 1e-9
"""Relative slack of bounds, for rounding in sums."""

HELP_PRICES, HELP_AFTER_S, HELP_MOST_S, HELP_SHARE = 30_000, 2.0, 0.5, 0.3
"""Mappings priced, or processor seconds, before `refine` is asked for a good one; the most for that; and the part of a
time limit that neither exceeds."""


LOOK_S = 0.1
"""Processor seconds between two looks at the limit, about."""


def _ways_to_keep(may: Sequence[bool], *, bypass: bool) -> list[Kept]:
    """Tensors that a memory keeps, of those that it may hold."""
    return list(product(*(((1, 0) if bypass else (1,)) if held else (0,) for held in may)))


class _Search:
    """One problem on one machine: tables that all spreads share."""

    def __init__(self, arch: Architecture, problem: Problem, objective: Objective, space: Space) -> None:
        self.objective = OBJECTIVES.index(objective)
        _check(arch, problem)
        self.dims = tuple(d for d, bound in enumerate(problem.bounds) if bound > 1) or (0,)
        self.model = model_of(arch, problem, self.dims)
        self.patterns: Patterns = patterns_of(self.model)
        self.lattice: Lattice = lattice_of(self.model)
        self.grid = grid_of(self.model.bounds.tolist(), perfect=True, cells=MAX_TILES)
        self.sizes: Ints = footprints(self.model, self.lattice)
        self.cross = ~cross_masks(self.model)
        bounds = tuple(self.model.bounds.tolist())
        meshes: list[list[int]] = self.model.mesh[:2].tolist()
        self.layouts = [layouts_by_product(bounds, x, y, space.split_axes) for x, y in meshes]
        self.tensors, self.dim_count = self.model.axis.shape
        self.kept = [_ways_to_keep(arch.may_hold(level, problem), bypass=space.bypass) for level in range(2)]
        shape = self.tensors, self.dim_count, self.model.axes
        children = [max(prod(factors) for factors in table) for table in self.layouts]
        self.inner = new_inner(*shape)
        self.links, self.nest = new_links(LEVELS, *shape, max(children)), new_nest(LEVELS, *shape)
        self.room = new_room(*shape, children[1])
        tiles = len(self.lattice.tile)
        self.lists = (
            np.zeros(tiles, np.int64), np.zeros(tiles, np.int64), np.zeros(tiles), np.zeros((4, tiles), np.int64),
            np.zeros(tiles),
        )  # fmt: skip
        self.beyond: dict[Kept, tuple[Floats, Floats]] = {}
        self.least: dict[Kept, Ints] = {}
        self.helped, self.low = False, 0.0
        self.known: tuple[float, LoopMapping] | None = None
        self.fixed: dict[Kept, Floats] = {}
        self.fitting: dict[Kept, Ints] = {}
        self.ordered: dict[tuple[Factors, Factors], Ints] = {}
        self.best = Best(
            np.array([np.inf, np.inf, np.inf]),
            np.zeros(1, np.int64),
            np.zeros((2 * LEVELS, self.dim_count), np.int64),
            np.zeros((LEVELS, self.dim_count), np.int64),
            np.zeros((LEVELS, self.tensors), np.int64),
            np.ones((2, 4, self.dim_count), np.int64),
        )

    def tables(self, kept: Kept) -> tuple[Floats, Floats]:
        """Energy beyond the middle memory by its tile, and the superset minimum."""
        if not self.beyond:
            kept_rows = np.array(self.kept[1], np.int64)
            energies, least = outer_tables(self.model, self.lattice, self.patterns, self.sizes, kept_rows, self.room)
            self.least = dict(zip(self.kept[1], least, strict=True))
            for which, table in zip(self.kept[1], energies, strict=True):
                self.beyond[which] = table, self._beyond_larger(table, 0)
        return self.beyond[kept]

    def _beyond_larger(self, table: Floats, fixed: int) -> Floats:
        """By tile (L,), the least of the table over tiles that contain it and agree with it in the set `fixed`."""
        return grown(self.grid, table.reshape(self.grid.size), fixed).reshape(-1)

    def help(self, arch: Architecture, problem: Problem, request: Request) -> None:
        """Go on below a mapping of `refine`, if it finds a better one in its share of the time."""
        self.helped = True
        limit = None if request.time_limit_s is None else min(HELP_MOST_S, HELP_SHARE * request.time_limit_s)
        with suppress(InfeasibleError):
            found = refine(arch, problem, replace(request, time_limit_s=limit))
            self.best.counts[0] += found.evaluated
            value = (found.energy * found.cycles, found.energy, float(found.cycles))[self.objective]
            if value < self.best.value[0]:
                self.known = value, found.mapping
                self.best.value[:] = value, found.energy, found.cycles

    def candidates(self) -> Iterator[Candidate]:
        """All spreads, most promising first."""
        spreads = Spreads(self.model, list(self.layouts[0]), list(self.layouts[1]))
        beyond: dict[Kept, float] = {kept: float(self.tables(kept)[0].min()) for kept in self.kept[1]}
        return spreads.ranked(self.objective, self.kept, beyond, self.least)

    def run(self, arch: Architecture, problem: Problem, request: Request, limit: Limit) -> None:
        """Search spread by spread until the limit; `low` bounds those that are left from below."""
        start, seconds = processor_seconds(), request.time_limit_s or np.inf
        for candidate in self.candidates():
            self.low = candidate.low
            if candidate.low * (1 + ROUNDING) >= self.best.value[0]:
                break
            spent = processor_seconds() - start
            late = self.best.counts[0] > HELP_PRICES or spent > min(HELP_AFTER_S, HELP_SHARE * seconds)
            if late and not self.helped:
                self.help(arch, problem, request)
            if not self.explore(candidate, limit):
                return
        self.low = np.inf

    def explore(self, candidate: Candidate, limit: Limit) -> bool:
        """Search one spread; whether to the end, before the limit or the first mapping."""
        kept0, kept1 = candidate.kept
        self._place_near(candidate.near)
        model = self.model
        spread, base = candidate.spread, model.macs * model.mac_energy
        nest = self.nest._replace(kept=spread.kept)
        task = Task(
            model, self.lattice, self.patterns, spread, self.inner, self.links, self.objective, base, nest, self.room
        )
        table, lowest = self.tables(kept1)
        field = Field(
            self._fitting(kept0), table, lowest, self._fixed(kept1), self.cross,
            self._ordered(candidate.near, candidate.far), *self.lists,
        )  # fmt: skip
        first, step, more = 0, 1, True
        while more:
            if limit.late and self.best.value[0] < np.inf:
                return False
            begun = processor_seconds()
            more = bool(scan(self.best, task, field, first, first + step))
            first, step = first + step, 2 * step if processor_seconds() - begun < LOOK_S else step
        return True

    def _place_near(self, factors: Factors) -> None:
        self.links.active[NEAR] = 1 if prod(factors) > 1 else 0
        self.links.groups[NEAR] = 1
        place_and_group(self.links, self.model, NEAR, self.nest.ones, next(ordered(self.layouts[0][factors])))

    def _fixed(self, kept: Kept) -> Floats:
        if kept not in self.fixed:
            table = self.tables(kept)[0]
            sets = [sum(1 << int(d) for d in np.flatnonzero(group)) for group in self.patterns.members]
            self.fixed[kept] = np.stack([self._beyond_larger(table, fixed) for fixed in sets])
        return self.fixed[kept]

    def _fitting(self, kept: Kept) -> Ints:
        if kept not in self.fitting:
            used = self.sizes @ np.array(kept, np.int64)
            self.fitting[kept] = np.flatnonzero(used <= self.model.capacity[0]).astype(np.int64)
        return self.fitting[kept]

    def _ordered(self, near: Factors, far: Factors) -> Ints:
        if (near, far) not in self.ordered:
            pairs = product(self._layouts(0, near), self._layouts(1, far))
            self.ordered[near, far] = np.array([pair for pair in pairs], np.int64)
        return self.ordered[near, far]

    def _layouts(self, level: int, factors: Factors) -> list[Ints]:
        layouts: list[Layout] = self.layouts[level][factors]
        slides = bool(self.model.slides.any()) or level == 0
        every = list(ordered(layouts if slides else layouts[:1]))
        return every if slides else every[:1]

    def mapping(self, problem: Problem) -> LoopMapping:
        """The best mapping as a value."""
        best = self.best
        if self.known is not None and best.value[0] == self.known[0]:
            return self.known[1]
        names = [tensor.name for tensor in problem.tensors]
        tiles, layout = best.tiles, best.layout
        levels: list[LevelMapping] = []
        for level, (inner, outer) in enumerate(((0, 1), (2, 3), (4, 5))):
            temporal = self._loops(best.order[level], tiles[outer] // tiles[inner])
            x = self._loops(layout[level, 1], layout[level, 0]) if level < 2 else ()
            y = self._loops(layout[level, 3], layout[level, 2]) if level < 2 else ()
            away = [n for n, k in zip(names, best.kept[level], strict=True) if not k]
            levels.append(LevelMapping(temporal, x, y, frozenset(away)))
        return LoopMapping(tuple(levels))

    def _loops(self, order: Ints, factors: Ints) -> tuple[Loop, ...]:
        return tuple(Loop(self.dims[d], int(factors[d])) for d in order.tolist() if factors[d] > 1)


def solve(
    arch: Architecture,
    problem: Problem,
    objective: Objective = "edp",
    space: Space | None = None,
    time_limit_s: float | None = None,
) -> Mapped:
    """The best mapping of `problem` on `arch` (Timeloop's model) in `space`, and whether that is proven.

    A search that takes long goes on below what `refine` finds.  `time_limit_s` is processor time.
    """
    if objective not in OBJECTIVES[:3]:
        raise TilewrightError("usage", "objective", "edp, energy or latency", objective)
    start = processor_seconds()
    space = space or Space()
    limit = Limit(time_limit_s)
    search = _Search(arch, problem, objective, space)
    request = Request(objective, "timeloop", space, time_limit_s=time_limit_s)
    with stoppable():
        search.run(arch, problem, request, limit)
    stop_unless(search.best.value[0] < np.inf)
    return _answer(arch, problem, search, search.low, processor_seconds() - start)


def _check(arch: Architecture, problem: Problem) -> None:
    subject = f"{problem.name} on {arch.name}"
    if len(arch.levels) != LEVELS or arch.fan_out(LEVELS - 1) != (1, 1):
        expected = "three storage levels, one instance of the middle one"
        raise TilewrightError("mapping", subject, expected, f"{len(arch.levels)} levels")
    if any(level.hop_energy_pj for level in arch.levels):
        raise TilewrightError("mapping", subject, "networks without energy per hop", "a level with energy_per_hop")
    if not moves_one_axis(problem):
        expected = "each dimension on one axis of a tensor, with a positive coefficient"
        raise TilewrightError("mapping", problem.name, expected, str([t.coefficients for t in problem.tensors]))
    if problem.macs > MAX_MACS:
        raise TilewrightError("mapping", subject, f"at most {MAX_MACS} operations", str(problem.macs))


def _answer(arch: Architecture, problem: Problem, search: _Search, low: float, seconds: float) -> Mapped:
    """The best mapping; no mapping of the spreads that are left is below `low`."""
    value = float(search.best.value[0])
    if value == np.inf:
        raise infeasible(arch, problem)
    proven = low * (1 + ROUNDING) >= value
    bound = (value if proven else low) * (1e-12 if search.objective == 0 else 1.0)
    mapping = search.mapping(problem)
    prices = evaluate(arch, problem, mapping)
    count = int(search.best.counts[0])
    return Mapped(mapping, prices.edp_j_cycle, prices.energy_pj, prices.cycles, bound, proven, count, seconds)
