"""Which memories keep which tensor, and what words, energy and time cost at least with such a choice.

All choices are bounded at once: arrays have one column (N) per choice, and a row per tensor (T) or level (L).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from ..exact.axes import axes_of
from ..exact.compiled import Bools, Floats, Ints
from ..exact.validity import bits_of_word
from ..hierarchy.values import Architecture, Level, Problem, Tensor
from .reuse import least_costs, sharing, step_cost, touched
from .steps import best_shapes

ROUNDING = 1 - 1e-9
"""What floating-point error may add to a bound is taken off."""

AT_ONCE = 1 << 20
"""Products of shapes and choices that are made together."""


def choices(arch: Architecture, problem: Problem, limit: int) -> Bools | None:
    """Whether a level keeps a tensor (L, T, N), for all choices of levels for all tensors; None beyond the limit."""
    last = len(arch.levels) - 1
    allowed = [arch.may_hold(level, problem) for level in range(last)]
    options: list[list[tuple[int, ...]]] = []
    for t in range(len(problem.tensors)):
        levels = [level for level in range(last) if allowed[level][t]]
        options.append([(*kept, last) for size in range(len(levels) + 1) for kept in combinations(levels, size)])
    count = prod(len(option) for option in options)
    if count > limit:
        return None
    at, number = np.zeros((last + 1, len(options), count), np.bool_), np.arange(count)
    for t in reversed(range(len(options))):
        table = np.array([[level in kept for level in range(last + 1)] for kept in options[t]])
        at[:, t], number = table[number % len(table)].T, number // len(table)
    return at


def everything(arch: Architecture, problem: Problem) -> Bools:
    """The choice that all levels keep all tensors."""
    return np.ones((len(arch.levels), len(problem.tensors), 1), np.bool_)


@dataclass(frozen=True)
class Demands:
    """Least energy, cycles and bits to and from the outermost level of choices (N,), which of `terms` the cycles are,
    and of which bits every element crosses once."""

    energy_pj: Floats
    cycles: Floats
    dram_bits: Floats
    slowest: Ints
    once: Bools
    terms: list[str]


class Counter:
    """Least words of a problem on a machine, for choices of levels that keep tensors, `kept` (L, T, N).

    With `streams` they are those of the outermost level only: words of any tensor may pass the levels inside.
    """

    def __init__(self, arch: Architecture, problem: Problem, steps: int, kept: Bools, *, streams: bool = False) -> None:
        self._arch, self._problem, self._steps, self._streams = arch, problem, steps, streams
        self._last, tensors = len(arch.levels) - 1, problem.tensors
        self._output = np.array([tensor.is_output for tensor in tensors])
        self._at = kept
        self._innermost = self._at.argmax(axis=0)
        self._bits = np.array([[float(bits_of_word(tensor, level)) for tensor in tensors] for level in arch.levels])
        self._touched = np.array([float(touched(problem, tensor)) for tensor in tensors])
        self._units = [prod(prod(arch.fan_out(inner)) for inner in range(level + 1)) for level in range(self._last + 1)]
        self._straight = np.array([[self._to_units(tensor, units) for tensor in tensors] for units in self._units])
        self._word_energy = self._energies()

    def demands(self) -> Demands:
        """What the choices demand at least."""
        levels = self._arch.levels
        cycles, slowest = np.full(self._at.shape[2], float(self._steps)), np.zeros(self._at.shape[2], np.int64)
        terms = ["compute"]
        for index in range(self._last if self._streams else 0, self._last + 1):
            for port, found in self._ports(index, levels[index]):
                slowest[found > cycles] = len(terms)
                cycles = np.maximum(cycles, found)
                terms.append(f"{port} bandwidth of {levels[index].name}")
        if self._streams:
            cycles = cycles + 2 * levels[-1].latency_cycles
        else:
            later = np.array([sum(level.latency_cycles for level in levels[index:]) for index in range(len(levels))])
            for way in self._output, ~self._output:
                cycles = cycles + later[self._innermost[way]].max(axis=0, initial=0)
        bits, once = self._dram_bits()
        return Demands(self._total_energy(), cycles, bits, slowest, once, terms)

    def _to_units(self, tensor: Tensor, units: int) -> float:
        """Least words of a tensor that leave a level for the arithmetic, one per operation for as many of its `units`
        as may share it."""
        unrelated = axes_of(tensor, self._problem.bounds).unrelated
        sharers = prod(self._problem.bounds[dim] for dim in unrelated) * sharing(self._problem, tensor)
        return float(max(touched(self._problem, tensor), -(-self._problem.macs // min(units, sharers))))

    def _sent(self, level: int) -> Floats:
        """Least words (T, N) that leave `level`, each once per step for all that need it.

        Every element at least once; to the arithmetic, a word per operation and as many units as may share it.
        """
        return np.where(self._innermost < level, self._touched[:, None], self._straight[level][:, None])

    def _energies(self) -> Floats:
        """Energy (L, T, N) per word that leaves a level: an input's is read and fills the next level inside.

        An output's is updated and read: it is added to or it leaves again; only first updates of the outermost level
        need no read (`_unread`).
        """
        levels, tensors = self._arch.levels, self._problem.tensors
        read = np.array([[_energy(level, tensor, write=False) for tensor in tensors] for level in levels])
        write = np.array([[_energy(level, tensor, write=True) for tensor in tensors] for level in levels])
        found = np.zeros(self._at.shape)
        child = np.full(self._at.shape[1:], -1, np.int64)
        for index in range(self._last + 1):
            fills = np.where(child < 0, 0.0, write[child, np.arange(len(tensors))[:, None]])
            more = np.where(self._output[:, None], write[index][:, None], 0.0 if self._streams else fills)
            found[index] = read[index][:, None] + more
            child = np.where(self._at[index], index, child)
        return found

    def _total_energy(self) -> Floats:
        """Energy of all words, where they leave and where they arrive, and of the operations.

        Bounded level by level, and with what goes to the arithmetic directly taken together, whatever its level.
        """
        written = [_energy(self._arch.levels[-1], tensor, write=False) for tensor in self._problem.tensors]
        base = self._problem.macs * self._arch.mac_energy_pj - float(self._touched @ (written * self._output))
        by_level = inside = np.zeros(self._at.shape[2])
        if self._streams:
            costs = self._word_energy[-1]
            apart = (costs * self._touched[:, None]).sum(axis=0)
            return base + np.maximum(apart, self._together(self._last, costs, self._at[-1]))
        for index in range(self._last + 1):
            here, further = self._at[index], self._innermost < index
            by_level = by_level + self._least(index, self._word_energy[index], here)
            inside = inside + self._least(index, self._word_energy[index], here & further)
        return base + np.maximum(by_level, inside + self._direct())

    def _direct(self) -> Floats:
        """Energy of words between the arithmetic and the innermost levels that keep them.

        Those of all levels from `level` on pass its network at least; a word that leaves an outer level does so for as
        many instances of `level` as are below.
        """
        innermost = self._innermost
        costs = np.take_along_axis(self._word_energy, innermost[None], axis=0)[0]
        apart = costs * self._straight[innermost, np.arange(len(costs))[:, None]]
        best = apart.sum(axis=0)
        for level, units in enumerate(self._units):
            below = np.array([max(1, outer // units) for outer in self._units], np.float64)
            passing = np.where(innermost >= level, costs / below[innermost], 0.0)
            others = np.where(innermost < level, apart, 0.0).sum(axis=0)
            best = np.maximum(best, others + self._shared_steps(level, passing))
        return best

    def _least(self, index: int, costs: Floats, which: Bools) -> Floats:
        """Least cost of the words of the tensors `which` (T, N) that leave a level, at `costs` (T, N) per word."""
        apart = (np.where(which, costs, 0.0) * self._sent(index)).sum(axis=0)
        return np.maximum.reduce([apart, self._stepwise(index, costs, which), self._together(index, costs, which)])

    def _stepwise(self, index: int, costs: Floats, which: Bools) -> Floats:
        """The same, where tensors that go to the arithmetic directly must share the units of the array."""
        further = self._innermost < index
        rest = (np.where(which & further, costs, 0.0) * self._touched[:, None]).sum(axis=0)
        return rest + self._shared_steps(index, np.where(which & ~further, costs, 0.0))

    def _shared_steps(self, level: int, costs: Floats) -> Floats:
        """Least cost of all words that pass the network of `level` for one step each, at `costs` (T, N)."""
        units, problem = self._units[level], self._problem
        shapes = best_shapes(problem, units)

        def each(rows: Floats) -> Floats:
            if shapes is None:
                return np.array([step_cost(problem, tuple(enumerate(row)), units) for row in rows.tolist()])
            pieces = np.array_split(rows, 1 + len(rows) * len(shapes) // AT_ONCE)
            return np.concatenate([(shapes @ piece.T).min(axis=0) for piece in pieces])

        return ROUNDING * problem.macs * _of_distinct(costs, each)

    def _together(self, index: int, costs: Floats, which: Bools) -> Floats:
        """Least cost of the words of the tensors `which` that leave a level, given what is inside it in all.

        Words that go to the arithmetic directly are there for a step; with `streams` any tensor's may.
        """
        storage, unlimited = np.zeros(which.shape[1]), np.zeros(which.shape[1], np.bool_)
        bits = np.full(which.shape, np.inf)
        for level, memory in enumerate(self._arch.levels[:index]):
            inside = which & self._at[level]
            bits[inside] = np.minimum(bits, self._bits[level][:, None])[inside]
            if memory.entries is None:
                unlimited |= inside.any(axis=0)
            else:
                size = memory.instances * memory.entries * memory.word_bits / memory.multiple_buffering
                storage += np.where(inside.any(axis=0), size, 0.0)
        direct = np.isinf(bits)
        bits = np.where(direct, self._bits[index][:, None], bits)
        passing = which if self._streams else which & direct
        storage += np.where(passing, bits, 0.0).sum(axis=0) * self._arch.mac_instances
        costs = np.where(which & ~unlimited, costs, 0.0)
        tensors, problem = len(costs), self._problem

        def each(rows: Floats) -> Floats:
            return least_costs(problem, rows[:, :tensors], rows[:, tensors:-1], rows[:, -1])

        return ROUNDING * _of_distinct(np.concatenate([costs, np.where(costs > 0, bits, 1.0), storage[None]]), each)

    def _dram_bits(self) -> tuple[Floats, Bools]:
        """Bits read from and written to the outermost level, and whether that is every element once.

        Results come in once more than they go out.
        """
        bits = self._bits[-1]
        results = (self._touched * bits)[self._output].sum()
        which, weights = np.ones_like(self._at[-1]), (np.where(self._output, 2.0, 1.0) * bits)[:, None]
        apart = (weights * self._sent(self._last)).sum(axis=0) - results
        once = self._together(self._last, np.broadcast_to(bits[:, None], which.shape), which)
        twice = self._together(self._last, np.broadcast_to(weights, which.shape), which) - results
        best = np.maximum.reduce([apart, once, twice])
        return best, best == apart

    def _ports(self, index: int, level: Level) -> Iterator[tuple[str, Floats]]:
        """Least cycles (N,) of each port of a level."""
        ports = (level.read_bandwidth, level.write_bandwidth, level.shared_bandwidth)
        demands: tuple[Floats | float, ...] = (0.0, 0.0, 0.0)
        if any(port is not None for port in ports):
            demands = self._port_bits(index)
        names = ("read", "write", "shared", "network")
        network = self._network_bits(index) if level.network_bandwidth is not None else 0.0
        for name, demand, bandwidth in zip(names, (*demands, network), (*ports, level.network_bandwidth), strict=True):
            if bandwidth is not None:
                served = level.word_bits * bandwidth * level.instances
                yield name, np.ceil(demand * ROUNDING / served * ROUNDING)

    def _port_bits(self, index: int) -> tuple[Floats, Floats, Floats]:
        """Least bits (N,) that are read from a level, that are written to it, and both."""
        bits, at, outer = self._bits[index][:, None], self._at[index], index == self._last
        output = self._output[:, None]
        once = np.where(at, bits, 0.0) * self._touched[:, None]
        unread = np.where(output & outer, once, 0.0).sum(axis=0)
        read = self._least(index, np.broadcast_to(bits, at.shape), at) - unread
        updates = np.where(at & output, bits * self._sent(index), 0.0).sum(axis=0)
        fills = np.where(output | outer, 0.0, once).sum(axis=0)
        return read, updates + fills, read + updates + fills

    def _network_bits(self, index: int) -> Floats:
        """Least bits (N,) that go one way on the network below a level: of inputs inwards, or of results outwards."""
        bits, output = np.broadcast_to(self._bits[index][:, None], self._at[index].shape), self._output[:, None]
        sent = bits * self._sent(index)
        inputs, results = (np.where(which, sent, 0.0).sum(axis=0) for which in (~output, output))
        together = self._stepwise(index, bits, np.broadcast_to(~output, bits.shape))
        return np.maximum.reduce([inputs, results, together])


def _of_distinct(columns: Floats, function: Callable[[Floats], Floats]) -> Floats:
    """What a function of rows answers for each of `columns` (K, N), asked for different ones once; (N,)."""
    words = np.ascontiguousarray(columns).view(np.int64)
    hashes = np.random.default_rng(0).integers(1 << 60, size=len(words)) * 2 + 1
    _, first, which = np.unique((words * hashes[:, None]).sum(axis=0), return_index=True, return_inverse=True)
    which = which.reshape(-1)
    if not (words == words[:, first][:, which]).all():  # two that differ have the same hash
        first = which = np.arange(columns.shape[1])
    return function(np.ascontiguousarray(columns[:, first].T))[which]


def _energy(level: Level, tensor: Tensor, *, write: bool) -> float:
    """pJ per element of `tensor` that is read from or written to a level."""
    each = level.write_energy_pj if write and level.write_energy_pj is not None else level.energy_pj
    return each * bits_of_word(tensor, level) / level.word_bits / level.block_size
