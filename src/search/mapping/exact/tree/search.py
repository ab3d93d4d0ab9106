"""Skeletons in the order of their bounds, until no bound is below the best mapping."""

import heapq
from dataclasses import replace
from itertools import product
from math import inf, prod

import numpy as np

from .....costs.bounds import Bounds
from .....costs.clock import processor_seconds
from .....costs.hierarchy import Architecture, LoopMapping, Problem
from .....costs.places import nothing_fits
from .....interruption import requested
from ...objective import unit_of
from ...pricing import ROUNDING
from ...values import OBJECTIVES, Mapped, Request
from ..bounds.estimates import Estimates
from ..bounds.hops import Hops, Placement, placements
from ..bounds.nodes import Task, latencies_of
from ..dominance.symmetries import Kept, Places, Spread, families_of, last_kept, symmetries
from ..space.model import TRIFLE, model_of
from ..space.spreads import Factors, Layout, chain_arrays, hold_choices, placed
from ..space.ways import Ways
from .leaves import Incumbent, Settling, Site
from .state import Best, new_frames, new_state
from .walk import start, walk

PATIENCE = 3_000_000
"""Nodes after which a search without a time limit answers with what it has."""

NOTHING = TRIFLE * 1e20
"""Up to here a bound is one of `TRIFLE` times cycles, so of nothing."""

STRIDE, LONG_STRIDE = 1.005, 1.05
"""A skeleton is searched for mappings up to this factor above its bound first, with perfect and imperfect factors: of
these, tables and a first way through the factors take so long that another search of the skeleton costs most."""

WIDENING = 2.0
"""If there are none, as often as far above its bound next."""

MAX_QUEUE = 1 << 20
"""Nodes that wait at most; a search that has more is over without a proof."""

DIVE, DEEP, DIVE_NODES, DIVE_SECONDS = 1.03, 1.25, 6000, 0.1
"""A skeleton with a bound this far below the best mapping is searched for a better one at once, up to some factor above
that bound, and for so many nodes; when time is over for so long still."""

DIVES = 3
"""Dives with imperfect factors that find nothing, one after the other, before there are no more."""

SLICE, FEWEST, TRIALS = 2000, 50, 1_000_000
"""Nodes between two looks at the clock at most and at least, and imperfect factors that may be tried in between."""

Node = tuple[float, Spread, int, Kept]
"""A bound, a spread and the family that it is of; a skeleton keeps tensors in some way, a mere spread in none."""


class Search:
    """One problem on one machine: what all skeletons share, and the best mapping so far."""

    def __init__(self, arch: Architecture, problem: Problem, request: Request, limits: Bounds) -> None:
        self.arch, self.problem, self.request = arch, problem, request
        self.objective = OBJECTIVES.index(request.objective)
        self.model, self.dims = model_of(arch, problem, request.space, request.model)
        self.bounds: Factors = tuple(self.model.bounds.tolist())
        self.levels, self.tensors = len(arch.levels), len(problem.tensors)
        self.meshes = [arch.fan_out(level) for level in range(self.levels)]
        self.may = tuple(arch.may_hold(level, problem) for level in range(self.levels))
        self.chains = hold_choices(self.may, bypass=request.space.bypass)
        split = request.space.split_axes
        energies = [0.0 if self.model.timeloop else level.hop_energy_pj for level in arch.levels]
        self.hops = Hops(self.model, self.meshes, energies, split=split)
        self.estimates = Estimates(self.model, prod(self.meshes[-1]), self.objective, limits, self.hops)
        if self.model.timeloop:  # of which `limits` know no ports
            ports = int(self.estimates.outer.least_busy(0))
            limits = self.estimates.limits = replace(limits, cycles=max(limits.cycles, ports))
        self.skeleton, self.value = self.estimates.skeleton, self.estimates.value
        self.state = new_state(self.levels, len(self.dims), self.tensors)
        self.frames = new_frames(self.levels, len(self.dims))
        self.best = Incumbent(request.gap)
        self.settling = Settling(arch, problem, self.model, self.dims, self.estimates, self.best, self.late)
        self.nodes, self.limits, self.in_vain = 0, limits, 0
        self.symmetries = symmetries(problem.with_dims(self.dims), arch.roles(problem))
        self.placed = self.model.timeloop and bool(
            self.model.windows.any() or self.meshes[0] != (1, 1) or self.model.mesh[0, 0] == 0
        )
        # Timeloop rounds up what each of several instances reads: their number counts, though words are the same.
        blocks = self.model.timeloop and any(level.block_size > 1 and level.instances > 1 for level in arch.levels)
        alone = self.hops.some or self.placed or blocks
        self.places = Places(self.model, self.meshes, split=split, alone=alone)
        self.queue: list[Node] = []
        self.low, self.settled_low = 0.0, inf
        every, may = arch.may_spread(problem), list(product(*self.chains))
        spread = [every[d] for d in self.dims]
        self.families = families_of(may, self.ways_to_keep(), self.places, spread)
        self.until, self.patience, self.wide = inf, PATIENCE, False
        self.near, self.last = 0.0, inf
        self.slice = SLICE if self.model.perfect else min(SLICE, max(FEWEST, TRIALS // sum(self.bounds)))

    def ways_to_keep(self) -> Ways:
        """What spreads may be combined with."""
        masks, outer = {last_kept(kept) for kept in product(*self.chains)}, self.estimates.outer
        beyond, busy = np.full(1 << self.tensors, inf), np.zeros(1 << self.tensors)
        for mask in masks:
            beyond[mask], busy[mask] = outer.energies(mask).min(), outer.least_busy(mask)
        least = float(self.limits.energy_pj), float(self.limits.cycles)
        return Ways(*chain_arrays(self.chains), beyond, busy, self.objective, *least)

    def skeletons(self, spread: Spread, family: int) -> list[Node]:
        """The skeletons of a spread that may hold something better."""
        kind = self.families[family]
        if self.layouts(spread, kind.kept[0]) is None:
            return []
        chosen = kind.worthwhile(spread)
        if not len(chosen):
            return []
        most = self.best.enough * (1 - ROUNDING)
        bounds = self.estimates.all_at_once(spread, kind.ways, kind.every[chosen], kind.masks[chosen], most)
        return [
            (bound, spread, family, kind.kept[n])
            for bound, n in zip(bounds, chosen.tolist(), strict=True)
            if bound < most
        ]

    def layouts(self, spread: Spread, kept: Kept) -> list[Layout] | None:
        """How the instances are placed, or None if the mesh has no room."""
        split = self.request.space.split_axes
        found = placed(spread, self.meshes, split=split)
        apart = self.places.apart(spread, kept) if found is None else None
        return found if apart is None else placed(apart, self.meshes, split=split)

    def site(self, spread: Spread, kept: Kept) -> Site:
        """Where a skeleton runs: one placement of its instances where it does not matter or there are too many."""
        if self.placed:
            found, many = placements(self.model, spread, self.meshes, split=self.request.space.split_axes)
            return Site(np.array(found), many)
        found = self.hops.placements(spread) if self.hops.some else None
        if found is not None:
            return Site(np.array(found), False)
        order, layouts = tuple(range(len(self.dims))), self.layouts(spread, kept) or []
        return Site(np.array([[Placement(*layout, order, order) for layout in layouts]]), self.hops.some)

    def take(self, mapping: LoopMapping, energy: float, cycles: int) -> None:
        """Take over a mapping that is known, if it is better than the best."""
        self.best.offer(self.value(energy, cycles), energy, cycles, lambda: mapping)

    def run(self, until: float, patience: int = PATIENCE, near: float = 0.0, last: float = inf) -> bool:
        """Search in the order of bounds until some processor time, or for so many nodes; whether it is over.

        A search that stopped goes on at the next call, but begins anew in the skeleton where it was; so while the best
        is `near` times the bound or less, it goes on until `last`.  `low` is a lower bound of everything.
        """
        self.near, self.last = near, last
        self.until, self.patience = until, self.nodes + patience
        first = self.value(self.limits.energy_pj, self.limits.cycles)
        while True:
            front = self.queue[0][0] if self.queue else inf
            family = min(range(len(self.families)), key=lambda n: self.families[n].reached)
            beyond = max(self.families[family].reached, first)
            self.low = min(self.settled_low, front, beyond, self.best.enough)
            if min(front, beyond) * (1 + ROUNDING) >= self.best.enough or min(front, beyond) == inf:
                self.low = min(self.settled_low, self.best.enough)
                return True
            if self.late() or len(self.queue) > MAX_QUEUE or self.families[family].stuck:
                return False
            if beyond < front:
                for bound, spread in self.families[family].more(first, self.best.enough, front, self.symmetries):
                    heapq.heappush(self.queue, (bound, spread, family, ()))
            else:
                self.step(*heapq.heappop(self.queue))

    def step(self, bound: float, spread: Spread, family: int, kept: Kept) -> None:
        """Look into the most promising node."""
        if not kept:
            nodes = self.skeletons(spread, family)
            for node in nodes:
                heapq.heappush(self.queue, node)
            if self.model.timeloop and self.best.value == inf and nodes:  # else the queue would fill
                bound, spread, _, kept = min(nodes)
                self.dive(self.estimates.by_tables(spread, kept, bound, inf), spread, kept)
            return
        start = self.estimates.by_tile(spread, kept, bound, self.best.enough)
        if self.later(start, (bound, spread, family, kept)):
            return
        start = self.estimates.by_tables(spread, kept, bound, self.best.enough)
        low, searched = self.dive(start, spread, kept)
        self.settled_low, start = min(self.settled_low, low), max(start, searched)
        if self.later(start, (bound, spread, family, kept)):
            return
        improved = max(start, bound)
        narrow = start > 0 and not self.wide
        stride = STRIDE if self.model.perfect else LONG_STRIDE
        target = start * stride + (improved - start) * WIDENING if narrow else inf
        if target * STRIDE >= self.best.enough:  # what is left would not be worth another search
            target = self.best.enough
        low, complete = self.explore(spread, kept, target)
        if complete:
            self.settled_low = min(self.settled_low, low)
        if not complete or target < self.best.enough:
            heapq.heappush(self.queue, (target if complete else improved, spread, family, kept))
        else:
            self.estimates.forget(spread, kept)

    def dive(self, start: float, spread: Spread, kept: Kept) -> tuple[float, float]:
        """Look for a good mapping in a skeleton whose bound by tables is well below the best so far.

        Answers a lower bound of those that are not settled, and below what objective all others have been searched.
        """
        low, done, target = inf, False, min(self.best.value, start * DEEP)
        if start * DIVE < self.best.value and self.in_vain < DIVES:
            if start >= self.best.enough:  # tables that a walk needs may not have been made
                self.estimates.by_tables(spread, kept, start, inf)
            self.settling.diving, before, until = all(self.settling.plain), self.best.value, self.until
            if self.last < inf:  # a search that began late would have no dive else
                self.until = max(until, min(self.last, processor_seconds() + DIVE_SECONDS))
            low, done = self.explore(spread, kept, target, DIVE_NODES)
            done = done and not self.settling.diving
            self.settling.diving, self.until = False, until
            self.in_vain = 0 if self.best.value < before or self.model.perfect else self.in_vain + 1
        return (low, target) if done else (inf, 0.0)

    def later(self, start: float, node: Node) -> bool:
        """Whether nothing is to be done for a skeleton because of a new bound `start`, now or ever."""
        if start >= self.best.enough * (1 - ROUNDING):
            return True
        if self.queue and start > max(node[0] * (1 + ROUNDING), self.queue[0][0]):
            heapq.heappush(self.queue, (start, *node[1:]))
            return True
        return False

    def answer(self, low: float, began: float) -> Mapped:
        """What was found; `low` bounds everything from below."""
        if self.best.value == inf:
            raise nothing_fits(self.arch, self.problem, "exact")
        best, low = self.best, low if low > NOTHING else 0.0
        price = best.energy * best.cycles * 1e-12, best.energy, best.cycles, low * unit_of(self.request.objective)
        spent = self.settling.evaluated, processor_seconds() - began
        return Mapped(best.mapping, *price, low >= best.value * (1 - ROUNDING), *spent)

    def explore(self, spread: Spread, kept: Kept, target: float, most: int = PATIENCE) -> tuple[float, bool]:
        """Search one skeleton, whose bound was improved just now, for mappings below `target`.

        Answers a lower bound of those that may be but are not settled, and whether all others have been searched; after
        `most` nodes they have not.
        """
        base = self.estimates.with_hops(spread, kept)[0]
        site, settling = self.site(spread, kept), self.settling
        best = Best(np.array([target], np.float64), np.zeros(1, np.int64))
        beyond = self.estimates.beyond(spread, kept)
        settling.leaves.number[0] = 0
        cycles = float(self.estimates.cycles(spread)), latencies_of(self.model, self.skeleton)
        known = self.model, self.skeleton, beyond, self.state, best, settling.leaves
        task = Task(*known, self.objective, base, *cycles, self.estimates.timed)
        start(task, self.frames)
        low, done, settling.hurried = inf, False, False
        while not done:
            before = int(best.counted[0])
            done = bool(walk(task, self.frames, self.slice))
            self.nodes += int(best.counted[0]) - before
            low = min(low, settling.price_leaves(site))
            best.value[0] = min(target, self.best.enough)
            if not done and (self.late() or int(best.counted[0]) > most):
                break
        return low, done and not settling.hurried

    def late(self) -> bool:
        """Whether it is time to stop."""
        now = processor_seconds()
        over = now > self.until and (now > self.last or self.best.value > self.near * self.low)
        return over or self.nodes > self.patience or requested()
