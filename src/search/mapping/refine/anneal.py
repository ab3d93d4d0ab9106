"""Simulated annealing on guesses: some hundred thousand mappings a second.

A step gives a part of a factor of one dimension to another slot (a memory's loops, a row or a column), exchanges parts
of two dimensions, gives an axis of an array to another dimension (imperfect factors), moves a loop, also across the
border of two memories, or keeps a tensor more or less.  Steps to what does not fit are not taken.
"""

from math import ceil, exp, log
from typing import NamedTuple

import numpy as np

from ....algebra.factors import primes_of
from ....costs.exact.batch_kernel import Machine
from ....costs.exact.compiled import Ints, Shape, bare, bare_entry
from ....costs.exact.guess import Room, guess_one, room
from ....costs.hierarchy import Architecture, MappingBatch, Problem
from ....costs.hierarchy.batch import Batch
from ...random_numbers import Seed, below, seeded, uniform
from ..draw import fits_arrays
from ..objective import value_of
from ..pricing import Bools, kept_tensors
from ..values import OBJECTIVES, Request
from .guess import Guess

NOW, TRIAL, BEST = range(3)
"""Rows of the batch that a chain works on."""

EXCHANGE, FILL, FACTOR, BORDER, ORDER = 0.2, 0.38, 0.7, 0.76, 0.88
"""Kinds of steps: which share comes up to each; others keep a tensor or not.  Perfect factors do not fill an axis."""

MOST_PRIMES = 8


class Rules(NamedTuple):
    """The space: `slots` (S, 3) of (temporal 0, X 1 or Y 2; level; width), `free` (F, 2) of (level, tensor), `dims`,
    `primes` (D, P) of each of the `bounds` (D,), then the first again; which dims may `spread` (D,); the objective's
    number."""

    slots: Ints
    free: Ints
    dims: Ints
    primes: Ints
    bounds: Ints
    spread: Bools
    imperfect: bool
    split: bool
    objective: int


class Trial(NamedTuple):
    """The mapping that a step changes: `factors` (3, L, D) in time, along X and Y, `order` (L, D) and `kept` (L, T)."""

    factors: Ints
    order: Ints
    kept: Bools


class Annealer:
    """Chains of steps in the space of a request."""

    def __init__(self, arch: Architecture, problem: Problem, request: Request, guess: Guess) -> None:
        self._arch, self._guess = arch, guess
        slots = [(0, level, 1) for level in range(len(arch.levels))]
        for level in range(len(arch.levels)):
            slots += [(axis + 1, level, width) for axis, width in enumerate(arch.fan_out(level)) if width > 1]
        kept = kept_tensors(arch, problem)
        free = np.argwhere(kept[:-1]) if request.space.bypass else np.zeros((0, 2), np.int64)
        dims = [d for d, bound in enumerate(problem.bounds) if bound > 1]
        primes = np.zeros((len(problem.bounds), MOST_PRIMES), np.int64)
        for d in dims:
            found = [prime for prime, _ in primes_of(problem.bounds[d])]
            primes[d] = (found + found[:1] * MOST_PRIMES)[:MOST_PRIMES]
        self._rules = Rules(
            np.array(slots, np.int64),
            np.ascontiguousarray(free, np.int64),
            np.array(dims, np.int64),
            primes,
            np.array(problem.bounds, np.int64),
            np.array(arch.may_spread(problem), np.bool_),
            request.space.factors == "imperfect" and request.model == "exact",
            request.space.split_axes,
            OBJECTIVES.index(request.objective),
        )
        self.slots = len(slots)
        """Places of a dimension's factors: loops of each memory, rows and columns."""
        self._random = seeded(request.seed)

    def around(self, one: MappingBatch, draws: int) -> MappingBatch:
        """Mappings one step away from a batch of one: those of so many random steps that fit the arrays, once each."""
        chain, factors = _chain(one, BEST + 1 + draws)
        count = draw_around(chain, factors, self._rules, self._random) if len(self._rules.dims) else 0
        found = MappingBatch(*chain).part(slice(BEST + 1, BEST + 1 + count))
        rows = np.concatenate([part.reshape(count, -1) for part in found.arrays()], axis=1)
        keys = rows @ np.random.default_rng(0).integers(1, 1 << 40, rows.shape[1])
        first = np.unique(keys, return_index=True)[1]
        return fits_arrays(self._arch, found.part(np.sort(first)))

    def run(self, start: MappingBatch, steps: int, hot: float, cold: float) -> MappingBatch:
        """The mapping of the least guess of a chain from `start`, a batch of one.

        The guess may grow by a factor of about `1 + hot` in a step at first, and `1 + cold` at last.
        """
        if not self._guess.able or not len(self._rules.dims):
            return start
        chain, factors = _chain(start, BEST + 1)
        known = self._guess.shape, self._guess.machine, room(*chain.temporal.shape[1:])
        anneal(known, chain, factors, self._rules, self._random, steps, (hot, cold))
        return MappingBatch(*chain).part(slice(BEST, BEST + 1))


def _chain(one: MappingBatch, rows: int) -> tuple[Batch, Ints]:
    """A mapping so many times; and its factors as one array, in time, along X and along Y (3, N, L, D)."""
    batch = one.repeated(0, rows).arrays()
    factors = np.stack([batch.temporal, batch.spatial_x, batch.spatial_y])
    return batch._replace(temporal=factors[0], spatial_x=factors[1], spatial_y=factors[2]), factors


@bare_entry
def anneal(
    known: tuple[Shape, Machine, Room],
    chain: Batch,
    factors: Ints,
    rules: Rules,
    random: Seed,
    steps: int,
    heats: tuple[float, float],
) -> None:
    """Walk from row `NOW` and leave the best mapping in row `BEST`; `heats` at first and at last."""
    trial, now = Trial(factors[:, TRIAL], chain.order[TRIAL], chain.kept[TRIAL]), _value(NOW, known, chain, rules)
    best = now
    for step in range(steps):
        heat = heats[0] * (heats[1] / heats[0]) ** (step / steps)
        _copy(chain, factors, NOW, TRIAL)
        if not _step(trial, rules, random):
            continue
        value = _value(TRIAL, known, chain, rules)
        if value < now or (value < np.inf and uniform(random) < exp(-log(value / now) / heat)):
            _copy(chain, factors, TRIAL, NOW)
            now = value
            if value < best:
                best = value
                _copy(chain, factors, TRIAL, BEST)


@bare_entry
def draw_around(chain: Batch, factors: Ints, rules: Rules, random: Seed) -> int:
    """Fill the rows behind `BEST` with mappings one step away from row `NOW`; how many."""
    trial, count = Trial(factors[:, TRIAL], chain.order[TRIAL], chain.kept[TRIAL]), 0
    for _ in range(len(chain.temporal) - BEST - 1):
        _copy(chain, factors, NOW, TRIAL)
        if _step(trial, rules, random):
            _copy(chain, factors, TRIAL, BEST + 1 + count)
            count += 1
    return count


@bare
def _value(n: int, known: tuple[Shape, Machine, Room], chain: Batch, rules: Rules) -> float:
    energy, cycles, _ = guess_one(n, known[0], known[1], chain, known[2], True)
    return np.inf if energy == np.inf else value_of(rules.objective, energy, cycles)


@bare
def _copy(chain: Batch, factors: Ints, source: int, target: int) -> None:
    levels, dims = chain.temporal.shape[1:]
    for level in range(levels):
        for d in range(dims):
            for kind in range(3):
                factors[kind, target, level, d] = factors[kind, source, level, d]
            chain.order[target, level, d] = chain.order[source, level, d]
        for t in range(chain.kept.shape[2]):
            chain.kept[target, level, t] = chain.kept[source, level, t]


@bare
def _step(trial: Trial, rules: Rules, random: Seed) -> bool:
    """Change the mapping; whether it is another one of the space."""
    kind = uniform(random)
    if kind >= ORDER and len(rules.free):
        level, t = rules.free[below(random, len(rules.free))]
        trial.kept[level, t] = not trial.kept[level, t]
        return True
    if kind >= FACTOR:
        return _shift(trial, random) if kind < BORDER else _reorder(trial, random)
    if EXCHANGE <= kind < FILL and rules.imperfect:
        done = _fill(trial, rules, random)
    else:
        a, b = below(random, len(rules.slots)), below(random, len(rules.slots))
        d, e = rules.dims[below(random, len(rules.dims))], rules.dims[below(random, len(rules.dims))]
        done = a != b and _give(trial, rules, random, d, a, b)
        if kind < EXCHANGE:
            done = done and d != e and _give(trial, rules, random, e, b, a)
    for level, d in np.ndindex(trial.order.shape):
        done = done and (rules.split or min(trial.factors[1, level, d], trial.factors[2, level, d]) == 1)
    return done


@bare
def _give(trial: Trial, rules: Rules, random: Seed, d: int, a: int, b: int) -> bool:
    """Part of the factor of dimension `d` in slot `a` goes to slot `b`; whether there is such a part."""
    (source, near, _), (kind, level, _) = rules.slots[a], rules.slots[b]
    factor = trial.factors[source, near, d]
    if factor == 1 and not rules.imperfect:
        return False
    if (kind > 0 or source > 0) and not rules.spread[d]:
        return False
    left = _left(factor, rules, random, d)
    if left == factor or left < 1 or left > rules.bounds[d]:
        return False
    trial.factors[source, near, d] = left
    taking = trial.factors[kind, level, d]
    if kind == 0:
        _open(trial, level, d, below(random, trial.order.shape[1]))
    if rules.imperfect:
        _cover(trial, rules, kind, level, d)
    else:
        trial.factors[kind, level, d] = taking * (factor // left)
    return True


@bare
def _cover(trial: Trial, rules: Rules, kind: int, level: int, d: int) -> None:
    """The least factor in a slot with which all of dimension `d` is covered."""
    trial.factors[kind, level, d] = 1
    others = 1
    for every in range(trial.factors.shape[1]):
        others *= trial.factors[0, every, d] * trial.factors[1, every, d] * trial.factors[2, every, d]
    trial.factors[kind, level, d] = ceil(rules.bounds[d] / others)


@bare
def _fill(trial: Trial, rules: Rules, random: Seed) -> bool:
    """An axis of an array goes from dimension `d` to `e`, as much of it as there is room for; loops make up for it."""
    levels = len(trial.order)
    kind, level, width = rules.slots[-1 - below(random, len(rules.slots) - levels)]
    d, e = rules.dims[below(random, len(rules.dims))], rules.dims[below(random, len(rules.dims))]
    near, far = below(random, levels), below(random, levels)
    if kind == 0 or not rules.spread[e]:
        return False
    if d != e:
        trial.factors[kind, level, d] = 1
        _open(trial, near, d, below(random, trial.order.shape[1]))
        _cover(trial, rules, 0, near, d)
    trial.factors[kind, level, e] = 1
    most = min(width // trial.factors[kind, level].prod(), rules.bounds[e])
    if uniform(random) < 0.5:
        most = ceil(rules.bounds[e] / ceil(rules.bounds[e] / most))
    trial.factors[kind, level, e] = most
    _cover(trial, rules, 0, far, e)
    return True


@bare
def _shift(trial: Trial, random: Seed) -> bool:
    """The outermost loop of a memory becomes the innermost of the next one, or the other way round."""
    levels, dims = trial.order.shape
    level, outwards = below(random, levels - 1), uniform(random) < 0.5
    source, target = (level, level + 1) if outwards else (level + 1, level)
    for k in range(dims):
        d = trial.order[source, dims - 1 - k if outwards else k]
        if trial.factors[0, source, d] > 1:
            _open(trial, target, d, 0 if outwards else dims - 1)
            trial.factors[0, target, d] *= trial.factors[0, source, d]
            trial.factors[0, source, d] = 1
            return True
    return False


@bare
def _left(factor: int, rules: Rules, random: Seed, d: int) -> int:
    """What is left of a factor: with imperfect ones, also one more or less, or a multiple."""
    kind = below(random, 10) if rules.imperfect else below(random, 6)
    if kind == 5:
        return 1
    if kind < 5:
        prime = rules.primes[d, below(random, MOST_PRIMES)]
        return factor // prime if factor % prime == 0 else factor
    return (ceil(factor / 2), factor - 1, factor + 1, factor * 2)[kind - 6]


@bare
def _reorder(trial: Trial, random: Seed) -> bool:
    """A loop of some level goes to another place."""
    levels, dims = trial.order.shape
    level, i, j = 1 + below(random, levels - 1), below(random, dims), below(random, dims)
    order = trial.order[level]
    if i == j or trial.factors[0, level, order[i]] == 1:
        return False
    _move(order, i, j)
    return True


@bare
def _open(trial: Trial, level: int, d: int, place: int) -> None:
    """Put a loop of dimension `d` that is to be new at a place."""
    order = trial.order[level]
    for i in range(len(order)):
        if order[i] == d and trial.factors[0, level, d] == 1:
            _move(order, i, place)


@bare
def _move(order: Ints, i: int, j: int) -> None:
    moved, step = order[i], 1 if j > i else -1
    while i != j:
        order[i] = order[i + step]
        i += step
    order[j] = moved
