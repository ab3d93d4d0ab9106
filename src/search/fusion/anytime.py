"""Our own search: exact where the lattice of downsets is small, else a good partition made better in three ways.

Borders of groups are annealed; the best cuts of an order of execution are found anew; and windows, a few neighbouring
groups, are partitioned by a shortest path over the downsets between what runs before and what runs after, so that no
partition of the window is better.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Any

from ...algebra.dag import bits
from .dual import Dual, dual_of
from .joined import Joined
from .lattice import Lattice, TooLargeError
from .refine import Refiner, window_of
from .relaxed import MOST_UNITS, Chains, endless
from .result import restore, saved
from .simple import best_cuts, depth_order, fitting, greedy, per_layer
from .space import Evaluator, Groups, Space


@dataclass(frozen=True)
class AnytimeOptions:
    """The whole lattice is tried with `whole_steps` (fewer, the more layers), windows with `window_steps`.

    A round anneals `moves` moves from one of `heats` (shares of the cost) down to a thousandth of it, then solves
    `windows` windows.  The search ends when `patience` rounds in a row brought nothing.
    """

    whole_steps: int = 100_000
    window_steps: int = 1_000
    windows: int = 5
    moves: int = 30_000
    heats: tuple[float, ...] = (5e-4, 2e-3, 1e-4)
    patience: int = 12


def _cuts(space: Space, evaluator: Evaluator) -> Groups:
    return best_cuts(space, evaluator, range(space.size))


STARTS = (_cuts, depth_order, greedy)

SHARE = 0.7
"""The share of the time that must be left for another partition to begin with,"""

BOUND_SHARE = 0.3
"""and what bounds leave to the search for better ones."""

JOINED_GROWTH = 1.01
"""Chains over all segments are asked for in steps of this factor above what is known of their cost,"""

STRICT_GROWTH = 1.003
"""and those of whole units in steps of this one."""

PRICED_STEPS = 50
"""Steps of the search for prices before it is told how far it is."""

MOVES_PER_S = 2000
"""Moves of the annealing in a second, at least."""


SAVED = (
    *("samples", "best", "lower_bound", "proven", "rounds", "idle", "starts"),
    *("joined", "priced", "wide", "asked", "windows", "chained"),
)
"""Fields of the search's state."""


@dataclass
class Anytime:
    """The first steps find partitions to begin with, try the whole lattice, and solve windows for a bound and one more
    partition; each later one is a round.
    """

    space: Space
    evaluator: Evaluator
    options: AnytimeOptions
    seed: int
    rest: Callable[[int], float]
    lower_bound: float
    chains: Chains
    possible: Callable[[int], bool]
    left_s: Callable[[], float] = endless
    best: Groups = ()
    best_cost: float = 0.0
    proven: bool = False
    samples: int = 0
    rounds: int = 0
    idle: int = 0
    joined: bool = False
    priced: bool = False
    wide: bool = False
    dual: Dual | None = None
    asked: float = 0.0
    starts: list[Groups] = field(default_factory=list[Groups])
    windows: list[float] = field(default_factory=list[float])
    chained: list[int] = field(default_factory=list[int])
    random: Random = field(init=False)
    given_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.given_s = self.left_s()
        if self.given_s < inf:
            self.chains.left_s = lambda: self.left_s() - BOUND_SHARE * self.given_s
        self._take(per_layer(self.space))

    @property
    def finished(self) -> bool:
        return self.proven or self.idle >= self.options.patience

    def step(self) -> None:
        """Make the partition better, or learn that it is best."""
        if len(self.starts) < len(STARTS) and (not self.starts or self._early()):
            self._take(STARTS[len(self.starts)](self.space, self.evaluator), start=True)
        elif self.rounds == 0:
            self._whole()
            self.rounds = 1
        elif not (self._price() or (not self.wide and (self._chain() or self._join()))):
            self._round()
            self.rounds += 1
        if self.best_cost <= self.lower_bound * (1 + 1e-12):
            self.proven = True

    def _late(self) -> bool:
        return self.left_s() <= 0

    def _early(self) -> bool:
        """Whether there is time for what only may help."""
        return self.given_s == inf or self.left_s() >= SHARE * self.given_s

    def _take(self, groups: Groups, *, start: bool = False) -> None:
        self.samples += 1
        if start:
            self.starts.append(groups)
        cost = self.evaluator.total(groups)
        if not self.best or cost < self.best_cost * (1 - 1e-12):
            self.best, self.best_cost, self.idle = groups, cost, 0

    def _price(self) -> bool:
        """Find better prices on units, where windows of chains would cut a segment in more than two; whether that was
        to be done.
        """
        if self.priced or self.chains.left_s() <= 0:
            return False
        if self.dual is None:
            self.dual = self._dual()
        if self.dual is None:
            self.priced = True
            return False
        self.wide = True
        base = self.rest(0)
        self.priced = not self.dual.improve(self.best_cost - base, PRICED_STEPS)
        self.lower_bound = max(self.lower_bound, base + self.dual.best)
        return True

    def _dual(self) -> Dual | None:
        if max(map(len, self.chains.segments()), default=0) <= 2 * MOST_UNITS:
            return None
        try:
            dual = dual_of(self.chains)
        except TooLargeError:
            return None
        dual.begin(self.best)
        return dual

    def _chain(self) -> bool:
        """Bound one more window, and find its groups; whether there was one."""
        pieces = self.chains.windows()
        if len(self.windows) == len(pieces):
            return False
        piece = pieces[len(self.windows)]
        self.chains.best = self.best
        self.windows.append(self.chains.window(piece))
        found = self.chains.groups(piece) if self._early() and piece not in self.chains.segments() else ()
        window = sum(map(self.chains.units.layers, piece))
        self.chained.extend(found or [group & window for group in self.best if group & window])
        self.lower_bound = max(self.lower_bound, self.rest(0) + sum(self.windows))
        if len(self.windows) == len(pieces):
            self._begin(self.chained)
        return True

    def _join(self) -> bool:
        """Ask for chains over all segments that cost little more than the bound, then for those of whole units; whether
        that may still say more.
        """
        if self.chains.left_s() <= 0 or self.asked >= self.best_cost:
            return False
        strict, known = self.joined, max(self.asked, self.lower_bound)
        base, target = self.rest(0), min(self.best_cost, known * (STRICT_GROWTH if strict else JOINED_GROWTH))
        search = Joined(self.chains, self.chains.segments(), self.chains.by_segment(self.windows), strict)
        found = search.bound(target - base)
        ended = found is None or target == self.best_cost or found < (target - base) * (1 - 1e-9)
        if found is not None and not strict:
            self.lower_bound = max(self.lower_bound, base + found)
        if found is not None and found < (target - base) * (1 - 1e-9):
            self._begin(search.groups())
        self.asked = (inf if strict or found is None else 0.0) if ended else target
        self.joined = self.joined or ended
        return self.asked < inf

    def _begin(self, groups: Sequence[int]) -> None:
        """Take a chain's groups: their connected parts, halved until they fit."""
        ordered = self.space.ordered(fitting(self.space, self.evaluator, groups))
        if ordered is not None:
            self._take(tuple(ordered), start=True)

    def _whole(self) -> None:
        steps = int(self.options.whole_steps / max(1.0, (self.space.size / 80) ** 3))
        lattice = Lattice(self.space, self.evaluator, 0, self.rest, self.best_cost, steps, self.possible, self._late)
        try:
            cost, groups = lattice.solve()
        except TooLargeError:
            return
        if groups:
            self.best, self.best_cost = groups, cost
        self.proven, self.lower_bound = True, self.best_cost

    def _round(self) -> None:
        """Anneal, from the best or (at first, and now and then) from another partition; then cuts and windows."""
        self.idle += 1
        refiner = Refiner(self.space, self.evaluator, self.random)
        place = self.rounds - 1
        heats = self.options.heats
        refiner.start(self.starts[-1 - place % len(self.starts)] if place < 3 or place % 5 == 4 else self.best)
        heat = heats[place % len(heats)] * self.best_cost
        moves = int(min(self.options.moves, max(1.0, self.left_s() * MOVES_PER_S)))
        refiner.run(moves, heat, heat / 1000)
        self.samples += moves
        self._take(refiner.best)
        if self.left_s() > 0:
            self._take(best_cuts(self.space, self.evaluator, [n for group in self.best for n in bits(group)]))
        for _ in range(self.options.windows if self.left_s() > 0 else 0):
            self._window()

    def _window(self) -> None:
        self.samples += 1
        window = window_of(self.space, self.best, self.random)
        if window is None:
            return
        chosen, others, start = window
        old = sum(map(self.evaluator.price, chosen))
        already = self.rest(self.space.everything)
        lattice = Lattice(
            self.space,
            self.evaluator,
            start,
            lambda done: self.rest(done) - already,
            old,
            most_steps=self.options.window_steps,
            late=self._late,
        )
        try:
            cost, groups = lattice.solve()
        except TooLargeError:
            return
        ordered = self.space.ordered([*others, *groups])
        if ordered is not None and cost < old * (1 - 1e-9):
            self._take(tuple(ordered))

    def dump(self) -> dict[str, Any]:
        """What is needed to go on."""
        return saved(self, SAVED) | {"asked": min(self.asked, 2 * self.best_cost)}

    def load(self, data: dict[str, Any]) -> None:
        """Go on from what `dump` gave."""
        restore(self, SAVED, data)
        self.starts = [tuple(groups) for groups in self.starts]
        self.best_cost = self.evaluator.total(self.best)
