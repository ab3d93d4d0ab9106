"""Prices of the mappings that a walk finds, and of others that each stands for."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, product
from math import inf, prod
from typing import NamedTuple

import numpy as np

from .....costs.exact.batch import workspace
from .....costs.exact.batch_orders import best_orders, sets_for
from .....costs.hierarchy import Architecture, LoopMapping, Problem
from .....costs.hierarchy.batch import Batch, MappingBatch
from .....costs.timeloop.batch_model import Workspace as TimeloopWorkspace
from ...pricing import ROUNDING
from ..bounds.estimates import Estimates
from ..dominance.orders import Order, blocks_of, orders_like, orders_of, orders_that_count
from ..dominance.symmetries import members
from ..space.model import WINDOW, Ints, Model
from ..space.spreads import Factors
from .state import new_leaves

MAX_ORDERS = 720
"""Orders of one mapping's loops that are priced to settle which is the best."""

LEAVES = 16
"""Mappings that are priced together."""

MAX_BOXES, MANY = 20_000, 256
"""The same in Timeloop's model, where neighbours may help, and how many are priced together."""

MAX_MEMBERS = 4096
"""Factors for which one mapping stands that are put in their best order to settle it."""


class Site(NamedTuple):
    """Where a skeleton's mappings run: `layouts` (N, L, 4, D) of its instances, each as `hops.Placement`s, not all of
    them if `unplaced`."""

    layouts: Ints
    unplaced: bool


@dataclass
class Incumbent:
    """A mapping, its energy (pJ), cycles and objective; a search for less ends within `gap` of the best."""

    gap: float = 0.0
    value: float = inf
    mapping: LoopMapping = field(default_factory=lambda: LoopMapping(()))
    energy: float = inf
    cycles: int = 0

    @property
    def enough(self) -> float:
        """What a mapping must be below to be looked for."""
        return self.value / (1 + self.gap)

    def offer(self, value: float, energy: float, cycles: int, mapping: Callable[[], LoopMapping]) -> None:
        """Take over a mapping if it is better."""
        if value < self.value * (1 - ROUNDING):
            found = mapping()  # first, as a request to stop may come there
            self.value, self.energy, self.cycles, self.mapping = value, energy, cycles, found


class Settling:
    """Leaves of walks for one problem on one machine, the best goes to `best`; `late` says that it is time to stop."""

    def __init__(
        self,
        arch: Architecture,
        problem: Problem,
        model: Model,
        dims: tuple[int, ...],
        estimates: Estimates,
        best: Incumbent,
        late: Callable[[], bool],
    ) -> None:
        self.problem, self.model, self.dims = problem, model, dims
        self.objective, self.skeleton, self.value = estimates.objective, estimates.skeleton, estimates.value
        self.best, self.late = best, late
        self.plain: list[bool] = (model.kind != WINDOW).all(axis=0).tolist()
        self.bounds: Factors = tuple(model.bounds.tolist())
        levels = len(arch.levels)
        self.room = workspace(arch, problem.with_dims(dims), LEAVES)
        self.leaves = new_leaves(LEAVES, levels, len(dims))
        able = self.room.able and self.objective < 2 and not model.timeloop
        self.sets = sets_for(self.room.shape) if able else None
        if model.timeloop:
            children = max(prod(arch.fan_out(level)) for level in range(levels))
            self.timeloop = TimeloopWorkspace(arch, problem.with_dims(dims), children)
        self.evaluated, self.hurried, self.diving = 0, False, False

    def price_leaves(self, site: Site) -> float:
        """Price what the walk has found; returns the least bound of a mapping that another order may improve."""
        leaves, number = self.leaves, int(self.leaves.number[0])
        if number == 0:
            return inf
        leaves.number[0] = 0
        energies, low = [inf] * number, inf
        if self.sets is None or site.unplaced or self.diving:
            energies = self.price(leaves.temporal[:number], leaves.order[:number], site.layouts[:1])
        for row in range(0 if self.diving else number):
            bound, least = leaves.bound[row].tolist()
            if energies[row] > least * (1 + ROUNDING) and bound < self.best.enough * (1 - ROUNDING):
                low = min(low, self.settle(row, site))
                if self.hurried:
                    return min(low, float(leaves.bound[row:number, 0].min()))
        return low

    def is_late(self) -> bool:
        """Whether it is time to stop; from then on what is not settled stays so."""
        self.hurried = self.hurried or self.late()
        return self.hurried

    def settle(self, row: int, site: Site) -> float:
        """Put all that a leaf stands for in its best order; price what may be better than the best.

        Returns a lower bound of what is not settled by that.
        """
        bound = float(self.leaves.bound[row, 0])
        if self.model.timeloop:
            return inf if self.settle_boxes(row, site) else bound
        factors, low = None if site.unplaced else self.members(self.leaves.temporal[row]), inf
        if factors is None:
            return bound
        for first in range(0, len(factors), LEAVES):
            chosen = np.array(factors[first : first + LEAVES])
            low = min([low, *(self.arrange(row, chosen, layout, site) for layout in site.layouts[:, None])])
            if self.hurried:
                break
        return low

    def settle_boxes(self, row: int, site: Site) -> bool:
        """`settle` in Timeloop's model: where neighbours may help, all placements and orders count."""
        factors, first = self.leaves.temporal[row], self.leaves.order[row]
        helped, counts = orders_that_count(self.model, self.skeleton, factors)
        if not counts.any():
            return True
        if site.unplaced and helped.any():
            return False
        like = orders_like(self.model, self.skeleton.held, factors, first)
        every = [
            some if many else iter([tuple(own)]) for some, many, own in zip(like, counts, first.tolist(), strict=True)
        ]
        layouts = site.layouts if helped.any() else site.layouts[:1]
        return self.price_orders(factors, every, layouts, MAX_BOXES // len(layouts), MANY)

    def members(self, factors: Ints) -> list[Ints] | None:
        """All that some factors (L, D) stand for; None if that is too much."""
        if self.model.perfect:
            return [factors]
        return members(self.bounds, self.skeleton.spread, factors, MAX_MEMBERS, self.plain)

    def arrange(self, row: int, factors: Ints, layout: Ints, site: Site) -> float:
        """Settle some `factors` (N, L, D) of a leaf by their best order; returns a lower bound of what is not settled.

        That order takes least energy, but others may take fewer cycles.
        """
        room, low, (bound, least) = self.room, inf, self.leaves.bound[row].tolist()
        if self.is_late():
            return bound
        rows = self.rows(layout, factors, np.repeat(self.leaves.order[row][None], len(factors), axis=0))
        bounds, energies = np.full(len(factors), bound), np.zeros(len(factors))
        if self.sets is not None:
            if not best_orders(room.shape, room.machine, rows, room.loops, room.work, self.sets, energies):
                return bound
            bounds = energies * (bound / least if self.objective == 0 else 1.0)
        for n in np.flatnonzero(bounds < self.best.enough * (1 - ROUNDING)).tolist():
            if self.sets is not None:
                self.price(factors[n : n + 1], rows.order[n : n + 1], layout)
                if self.value(float(energies[n]), int(room.answers.cycles[0])) <= bounds[n] * (1 + ROUNDING):
                    continue
            if not self.try_orders(row, factors[n], layout, site):
                low = min(low, float(bounds[n]))
        return low

    def try_orders(self, row: int, factors: Ints, layout: Ints, site: Site) -> bool:
        """Price all orders in a leaf's blocks; False if it is late, or there are too many over all layouts."""
        every = map(orders_of, blocks_of(self.leaves, row, self.model, self.skeleton.kept))
        return self.price_orders(factors, every, layout, MAX_ORDERS // len(site.layouts), LEAVES)

    def price_orders(
        self, factors: Ints, every: Iterable[Iterator[Order]], layouts: Ints, most: int, together: int
    ) -> bool:
        """Price all choices of `every` memory's orders in each of the layouts, so many `together`; False if it is late,
        or there are more than `most`."""
        choices = [list(islice(some, most + 1)) for some in every]
        if prod(map(len, choices)) > most:
            return False
        orders = np.array(list(product(*choices)), np.int64)
        layout, order = np.divmod(np.arange(len(layouts) * len(orders)), len(orders))
        for first in range(0, len(order), together):
            if self.is_late():
                return False
            some = order[first : first + together]
            self.price(
                np.repeat(factors[None], len(some), axis=0), orders[some], layouts[layout[first : first + together]]
            )
        return True

    def price(self, factors: Ints, orders: Ints, layouts: Ints) -> list[float]:
        """Energies (N,) of mappings (N, L, D), the best of which is kept."""
        number, batch = len(factors), self.rows(layouts, factors, orders)
        rows = MappingBatch(*batch)
        answers = self.timeloop.price(rows) if self.model.timeloop else self.room.price(rows)
        self.evaluated += number
        energies: list[float] = answers.energy_pj[:number].tolist()
        for n, energy in enumerate(energies):
            if answers.valid[n]:
                cycles = int(answers.cycles[n])
                found = partial(rows.mapping, n, self.problem, self.dims)
                self.best.offer(self.value(energy, cycles), energy, cycles, found)
        return energies

    def rows(self, layouts: Ints, factors: Ints, orders: Ints) -> Batch:
        """Mappings (N, L, D) of the skeleton in `layouts` (N or 1, L, 4, D), to be priced."""
        number = len(factors)
        kept = np.broadcast_to(self.skeleton.kept.astype(np.bool_), (number, *self.skeleton.kept.shape)).copy()
        x, y, along_x, along_y = np.broadcast_to(layouts, (number, *layouts.shape[1:])).transpose(2, 0, 1, 3).copy()
        return Batch(factors, orders, x, along_x, y, along_y, kept)
