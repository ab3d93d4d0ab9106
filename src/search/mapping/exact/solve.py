"""The search: spreads in the order of their bounds, until no bound is below the best mapping."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from time import process_time

import numpy as np

from ....costs.timeloop import Architecture, LevelMapping, Loop, LoopMapping, Problem, evaluate
from ....errors import InfeasibleError, TilewrightError
from .bound import Spread, new_inner
from .lattice import Lattice, footprints, lattice_of, outer_table, spread
from .links import Links, new_links, place
from .model import Floats, Ints, Model, model_of
from .patterns import Patterns, cross_masks, patterns_of
from .scan import Field, scan
from .spatial import Factors, Layout, layouts_by_product, ordered
from .values import Mapped, Objective, Space
from .visit import Best, Task

OBJECTIVES: tuple[Objective, ...] = ("edp", "energy", "latency")
ROUNDING = 1e-9
"""Relative slack of bounds, for rounding in sums."""


@dataclass(frozen=True)
class Candidate:
    """A spread with a lower bound of its objective: factors below the inner memories and above, tensors kept."""

    low: float
    near: Factors
    far: Factors
    kept: tuple[tuple[int, ...], tuple[int, ...]]


class _Search:
    """One problem on one machine: tables that all spreads share."""

    def __init__(self, arch: Architecture, problem: Problem, objective: Objective, space: Space) -> None:
        self.objective = OBJECTIVES.index(objective)
        self.model, self.dims = model_of(arch, problem)
        self.patterns: Patterns = patterns_of(self.model)
        self.lattice: Lattice = lattice_of(self.model)
        self.sizes: Ints = footprints(self.model, self.lattice)
        self.cross = cross_masks(self.model)
        bounds = tuple(self.model.bounds.tolist())
        meshes: list[list[int]] = self.model.mesh.tolist()
        self.layouts = [layouts_by_product(bounds, x, y, space.split_axes) for x, y in meshes]
        self.tensors, self.dim_count = self.model.axis.shape
        self.kept = list(product((1, 0), repeat=self.tensors)) if space.bypass else [(1,) * self.tensors]
        self.inner = new_inner(self.tensors, self.dim_count, self.model.axes)
        self.links = [
            new_links(self.tensors, self.model.axes, max(prod(factors) for factors in table)) for table in self.layouts
        ]
        tiles = len(self.lattice.tile)
        self.room = np.zeros(tiles, np.int64), np.zeros(tiles, np.int64), np.zeros(tiles)
        self.beyond: dict[tuple[int, ...], tuple[Floats, Floats]] = {}
        self.fixed: dict[tuple[int, ...], Floats] = {}
        self.fitting: dict[tuple[int, ...], Ints] = {}
        self.ordered: dict[tuple[Factors, Factors], Ints] = {}
        self.best = Best(
            np.array([np.inf, np.inf, np.inf]),
            np.zeros(1, np.int64),
            np.zeros((5, self.dim_count), np.int64),
            np.zeros((3, self.dim_count), np.int64),
            np.zeros((2, self.tensors), np.int64),
            np.ones((2, 4, self.dim_count), np.int64),
        )

    def tables(self, kept: tuple[int, ...]) -> tuple[Floats, Floats]:
        """Energy beyond the middle memory by its tile, and the superset minimum."""
        if kept not in self.beyond:
            table = outer_table(self.model, self.lattice, self.patterns, self.sizes, np.array(kept, np.int64))
            self.beyond[kept] = table, spread(self.lattice, table, np.zeros(self.dim_count, np.int64))
        return self.beyond[kept]

    def candidates(self) -> list[Candidate]:
        """All spreads, most promising first."""
        found: list[Candidate] = []
        for kept1 in self.kept:
            beyond = float(self.tables(kept1)[1].min())
            if beyond == np.inf:
                continue
            for near, far, kept0 in product(self.layouts[0], self.layouts[1], self.kept):
                if any(b % (n * f) for b, n, f in zip(self.model.bounds.tolist(), near, far, strict=True)):
                    continue
                low = self._low(near, far, (kept0, kept1), beyond)
                found.append(Candidate(low, near, far, (kept0, kept1)))
        return sorted(found, key=lambda c: c.low)

    def _low(self, near: Factors, far: Factors, kept: tuple[tuple[int, ...], tuple[int, ...]], beyond: float) -> float:
        made = self.spread_of(near, far, kept)
        model = self.model
        instances, compute = made.scale.tolist()
        energy = beyond + model.macs * model.mac_energy
        for t in range(self.tensors):
            if model.slides[t].any():
                continue
            output = bool(model.is_output[t])
            points = prod(int(b) for b, axis in zip(model.bounds, model.axis[t], strict=True) if axis >= 0)
            words = points // prod(f for d, f in enumerate(far) if model.axis[t, d] >= 0)
            if kept[0][t]:
                count = int(made.operands[t]) * (2 if output else 1) + (0 if output else words)
                owned = int(model.full[t]) if (model.step[t] > 1).any() else words
                energy += max(0, count - (owned if output else 0)) * instances * float(model.energy[0])
                served = points
            else:
                served = int(made.operands[t]) * prod(f for d, f in enumerate(far) if model.axis[t, d] >= 0)
            level = 1 if kept[1][t] else 2
            served += max(0, served - int(model.full[t])) if output else 0
            energy += served / int(model.block[level]) * float(model.energy[level])
        return (energy * compute, energy, float(compute))[self.objective]

    def spread_of(self, near: Factors, far: Factors, kept: tuple[tuple[int, ...], tuple[int, ...]]) -> Spread:
        """The arrays of a spread."""
        model = self.model
        left = model.bounds // np.array(near) // np.array(far)
        compute = int(left.prod())
        operands, copies = np.zeros(self.tensors, np.int64), np.ones(self.tensors, np.int64)
        for t in range(self.tensors):
            uses = model.axis[t] >= 0
            copies[t] = prod(f for f, use in zip(far, uses, strict=True) if not use)
            groups = prod(n for n, use in zip(near, uses, strict=True) if use)
            if prod(near) == 1:
                operands[t] = compute
            elif not model.slides[t].any():
                operands[t] = groups * int(left[uses].prod())
        return Spread(
            np.array(near, np.int64), np.array(far, np.int64), np.array(kept, np.int64), operands, copies,
            np.array([prod(far), compute], np.int64),
        )  # fmt: skip

    def explore(self, candidate: Candidate) -> None:
        """Search one spread to the end."""
        kept0, kept1 = candidate.kept
        made = self.spread_of(candidate.near, candidate.far, candidate.kept)
        near, far = self.links
        self._place_near(near, candidate.near)
        model = self.model
        base = model.macs * model.mac_energy
        task = Task(model, self.lattice, self.patterns, made, self.inner, near, far, self.objective, base)
        table, lowest = self.tables(kept1)
        field = Field(
            self._fitting(kept0), table, lowest, self._fixed(kept1), self.cross,
            self._ordered(candidate.near, candidate.far), *self.room,
        )  # fmt: skip
        scan(self.best, task, field)

    def _place_near(self, near: Links, factors: Factors) -> None:
        near.active[:] = 1 if prod(factors) > 1 else 0
        near.groups[:] = 1
        layout = next(ordered(self.layouts[0][factors], self.dim_count))
        place(near, self.model, np.ones(self.dim_count, np.int64), layout, int(self.model.mesh[0, 0]))

    def _fixed(self, kept: tuple[int, ...]) -> Floats:
        if kept not in self.fixed:
            table = self.tables(kept)[0]
            rows = [spread(self.lattice, table, group.astype(np.int64)) for group in self.patterns.members]
            self.fixed[kept] = np.stack(rows)
        return self.fixed[kept]

    def _fitting(self, kept: tuple[int, ...]) -> Ints:
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
        every = list(ordered(layouts if slides else layouts[:1], self.dim_count))
        return every if slides else every[:1]

    def mapping(self, problem: Problem, names: list[str]) -> LoopMapping:
        """The best mapping as a value."""
        best = self.best
        tiles, layout = best.tiles, best.layout
        levels: list[LevelMapping] = []
        for level, (inner, outer) in enumerate(((0, 1), (2, 3), (3, 4))):
            temporal = self._loops(best.order[level], tiles[outer] // tiles[inner])
            x = self._loops(layout[level, 1], layout[level, 0]) if level < 2 else ()
            y = self._loops(layout[level, 3], layout[level, 2]) if level < 2 else ()
            away = [n for n, k in zip(names, best.kept[level], strict=True) if not k] if level < 2 else []
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

    `time_limit_s` is processor time; it is looked at between spreads, so it may be overrun by one of them.
    """
    if objective not in OBJECTIVES:
        raise TilewrightError("usage", "objective", "edp, energy or latency", objective)
    start = process_time()
    search = _Search(arch, problem, objective, space or Space())
    candidates = search.candidates()
    proven, low = True, np.inf
    for candidate in candidates:
        if candidate.low * (1 - ROUNDING) >= search.best.value[0]:
            break
        if time_limit_s is not None and process_time() - start > time_limit_s and search.best.value[0] < np.inf:
            proven, low = False, candidate.low
            break
        search.explore(candidate)
    return _answer(arch, problem, search, proven, low, process_time() - start)


def _answer(arch: Architecture, problem: Problem, search: _Search, proven: bool, low: float, seconds: float) -> Mapped:
    value = float(search.best.value[0])
    if value == np.inf:
        raise _infeasible(arch, problem, search.model)
    mapping = search.mapping(problem, [tensor.name for tensor in problem.tensors])
    prices = evaluate(arch, problem, mapping)
    unit = 1e-12 if search.objective == 0 else 1.0
    bound = (value if proven else min(value, low)) * unit
    return Mapped(
        mapping, prices.edp_j_cycle, prices.energy_pj, prices.cycles, bound, proven, int(search.best.counts[0]), seconds
    )


def _infeasible(arch: Architecture, problem: Problem, model: Model) -> InfeasibleError:
    del model
    level = min(arch.levels[:2], key=lambda found: found.capacity_words or 0)
    need = len(problem.tensors)
    return InfeasibleError(
        level.name, need, level.capacity_words or 0, "words", f"give {level.name} room for one word of each tensor",
        f"{problem.name} on {arch.name}",
    )  # fmt: skip
