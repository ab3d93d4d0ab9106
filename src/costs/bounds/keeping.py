"""Which memories keep which tensor, and what words, energy and time cost at least with such a choice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import ceil, prod

from ..exact.axes import axes_of
from ..exact.validity import bits_of_word
from ..hierarchy.values import Architecture, Level, Problem, Tensor
from .reuse import Crossing, least_cost, sharing, step_cost, touched
from .steps import best_shapes

ROUNDING = 1 - 1e-9
"""What floating-point error may add to a bound is taken off."""

Kept = tuple[tuple[int, ...], ...]
"""For each tensor, the levels that keep it, innermost first; the last is always the outermost."""


def choices(arch: Architecture, problem: Problem, limit: int) -> Iterator[Kept] | None:
    """All choices of levels for all tensors; None if there are more than `limit`."""
    last = len(arch.levels) - 1
    allowed = [arch.may_hold(level, problem) for level in range(last)]
    options: list[list[tuple[int, ...]]] = []
    for t in range(len(problem.tensors)):
        levels = [level for level in range(last) if allowed[level][t]]
        options.append([(*kept, last) for size in range(len(levels) + 1) for kept in combinations(levels, size)])
    return product(*options) if prod(len(option) for option in options) <= limit else None


@dataclass(frozen=True)
class Demand:
    """Least energy, cycles and words for one choice, and which port or unit the cycles are of."""

    energy_pj: float
    cycles: float
    dram_words: float
    slowest: str
    scarcest: str


class Counter:
    """Least words of a problem on a machine."""

    def __init__(self, arch: Architecture, problem: Problem, steps: int) -> None:
        self._arch = arch
        self._problem = problem
        self._steps = steps
        self._last = len(arch.levels) - 1
        self._costs: dict[tuple[tuple[Crossing, ...], float], float] = {}
        self._step_costs: list[dict[tuple[tuple[int, float], ...], float]] = [{} for _ in arch.levels]

    def demand(self, kept: Kept) -> Demand:
        """What the choice `kept` demands at least."""
        cycles, slowest = float(self._steps), "compute"
        for index, level in enumerate(self._arch.levels):
            for port, found in self._ports(kept, index, level):
                if found > cycles:
                    cycles, slowest = found, f"{port} bandwidth of {level.name}"
        innermost = [levels[0] for levels in kept]
        for outward in (False, True):
            used = [i for i, t in zip(innermost, self._problem.tensors, strict=True) if t.is_output == outward]
            cycles += sum(level.latency_cycles for level in self._arch.levels[min(used, default=self._last + 1) :])
        words, scarcest = self._dram_words(kept)
        return Demand(self._total_energy(kept), cycles, words, slowest, scarcest)

    def outermost(self) -> Demand:
        """What every choice demands: words of the outermost level, all memories inside may hold everything."""
        kept: Kept = tuple(tuple(range(self._last + 1)) for _ in self._problem.tensors)
        level = self._arch.levels[self._last]
        energy = self._problem.macs * self._arch.mac_energy_pj - self._unread(self._last)
        costs = {t: self._word_energy(((self._last,),) * len(kept), t, self._last) for t in range(len(kept))}
        apart = sum(cost * words for cost, words in zip(costs.values(), self._touched, strict=True))
        energy += max(apart, self._together(kept, self._last, costs, streams=True))
        cycles, slowest = float(self._steps), "compute"
        for port, found in self._ports(kept, self._last, level, streams=True):
            if found > cycles:
                cycles, slowest = found, f"{port} bandwidth of {level.name}"
        words, scarcest = self._dram_words(kept, streams=True)
        return Demand(energy, cycles + 2 * level.latency_cycles, words, slowest, scarcest)

    @cached_property
    def _touched(self) -> list[int]:
        return [touched(self._problem, tensor) for tensor in self._problem.tensors]

    def sent(self, kept: Kept, t: int, level: int) -> int:
        """Least words of tensor `t` that leave `level`, each once per step for all that need it.

        Every element at least once; to the arithmetic, a word per operation and as many units as may share it.
        """
        if kept[t][0] < level:
            return self._touched[t]
        units = prod(prod(self._arch.fan_out(inner)) for inner in range(level + 1))
        tensor = self._problem.tensors[t]
        unrelated = axes_of(tensor, self._problem.bounds).unrelated
        sharers = prod(self._problem.bounds[dim] for dim in unrelated) * sharing(self._problem, tensor)
        return max(self._touched[t], -(-self._problem.macs // min(units, sharers)))

    def _child(self, kept: Kept, t: int, level: int) -> int | None:
        """The level inside `level` that keeps tensor `t` next; None for the arithmetic."""
        inner = [found for found in kept[t] if found < level]
        return inner[-1] if inner else None

    def _total_energy(self, kept: Kept) -> float:
        """Energy of all words, where they leave and where they arrive, and of the operations.

        Bounded level by level, and with what goes to the arithmetic directly taken together, whatever its level.
        """
        by_level = inside = 0.0
        for index in range(self._last + 1):
            costs = {t: self._word_energy(kept, t, index) for t in range(len(kept)) if index in kept[t]}
            by_level += self._least(kept, index, costs)
            inside += self._least(kept, index, {t: cost for t, cost in costs.items() if kept[t][0] < index})
        words = max(by_level, inside + self._direct(kept))
        return self._problem.macs * self._arch.mac_energy_pj + words - self._unread(self._last)

    def _direct(self, kept: Kept) -> float:
        """Energy of words between the arithmetic and the innermost levels that keep them.

        Those of all levels from `level` on pass its network at least; a word that leaves an outer level does so for as
        many instances of `level` as are below.
        """
        costs = [self._word_energy(kept, t, levels[0]) for t, levels in enumerate(kept)]
        apart = [cost * self.sent(kept, t, kept[t][0]) for t, cost in enumerate(costs)]
        best = sum(apart)
        for level in range(self._last + 1):
            passing = tuple(
                (t, cost / prod(prod(self._arch.fan_out(i)) for i in range(level + 1, kept[t][0] + 1)))
                for t, cost in enumerate(costs)
                if kept[t][0] >= level
            )
            others = sum(cost for t, cost in enumerate(apart) if kept[t][0] < level)
            best = max(best, others + self._shared_steps(level, passing))
        return best

    def _least(self, kept: Kept, index: int, costs: dict[int, float], *, streams: bool = False) -> float:
        """Least cost of the words of some tensors that leave a level, at `costs` per word."""
        apart = sum(cost * self.sent(kept, t, index) for t, cost in costs.items())
        return max(apart, self._stepwise(kept, index, costs), self._together(kept, index, costs, streams=streams))

    def _stepwise(self, kept: Kept, index: int, costs: dict[int, float]) -> float:
        """The same, where tensors that go to the arithmetic directly must share the units of the array."""
        direct = tuple((t, cost) for t, cost in costs.items() if kept[t][0] >= index)
        rest = sum(cost * self._touched[t] for t, cost in costs.items() if kept[t][0] < index)
        return rest + self._shared_steps(index, direct)

    def _shared_steps(self, level: int, costs: tuple[tuple[int, float], ...]) -> float:
        """Least cost of all words of (tensor, cost) that pass the network of `level` for one step each."""
        if costs not in self._step_costs[level]:
            units = prod(prod(self._arch.fan_out(inner)) for inner in range(level + 1))
            shapes = best_shapes(self._problem, units)
            if shapes is None:
                each = step_cost(self._problem, costs, units)
            else:
                each = float((shapes[:, [t for t, _ in costs]] @ [cost for _, cost in costs]).min()) if costs else 0.0
            self._step_costs[level][costs] = ROUNDING * self._problem.macs * each
        return self._step_costs[level][costs]

    def _word_energy(self, kept: Kept, t: int, index: int) -> float:
        """Energy per word that leaves a level: an input's is read and fills the next level inside.

        An output's is updated and read: it is added to or it leaves again; only first updates of the outermost level
        need no read (`_unread`).
        """
        level, tensor = self._arch.levels[index], self._problem.tensors[t]
        if tensor.is_output:
            return _energy(level, tensor, write=False) + _energy(level, tensor, write=True)
        child = self._child(kept, t, index)
        filled = 0.0 if child is None else _energy(self._arch.levels[child], tensor, write=True)
        return _energy(level, tensor, write=False) + filled

    def _unread(self, index: int) -> float:
        if index != self._last:
            return 0.0
        return sum(
            words * _energy(self._arch.levels[index], tensor, write=False)
            for words, tensor in zip(self._touched, self._problem.tensors, strict=True)
            if tensor.is_output
        )

    def _together(self, kept: Kept, index: int, costs: dict[int, float], *, streams: bool = False) -> float:
        """Least cost of words that leave a level, given what is inside it in all.

        Words that go to the arithmetic directly are there for a step; with `streams` any tensor's may.
        """
        storage, crossings = 0.0, list[Crossing]()
        inside = {t: [level for level in kept[t] if level < index] for t in costs}
        for level in sorted({level for levels in inside.values() for level in levels}):
            memory = self._arch.levels[level]
            if memory.entries is None:
                return 0.0
            storage += memory.instances * memory.entries * memory.word_bits / memory.multiple_buffering
        for t, cost in costs.items():
            tensor = self._problem.tensors[t]
            bits = min(bits_of_word(tensor, self._arch.levels[level]) for level in inside[t] or [index])
            if streams or not inside[t]:
                storage += bits * self._arch.mac_instances
            crossings.append(Crossing(t, float(bits), cost))
        key = tuple(crossings), storage
        if key not in self._costs:
            self._costs[key] = ROUNDING * least_cost(self._problem, tuple(crossings), storage)
        return self._costs[key]

    def _dram_words(self, kept: Kept, *, streams: bool = False) -> tuple[float, str]:
        """Elements read from and written to the outermost level: results come in once more than they go out."""
        results = sum(w for w, t in zip(self._touched, self._problem.tensors, strict=True) if t.is_output)
        weights = {t: 2.0 if tensor.is_output else 1.0 for t, tensor in enumerate(self._problem.tensors)}
        apart = sum(weight * self.sent(kept, t, self._last) for t, weight in weights.items()) - results
        once = self._together(kept, self._last, dict.fromkeys(weights, 1.0), streams=streams)
        twice = self._together(kept, self._last, weights, streams=streams) - results
        best = max(apart, once, twice)
        return best, "every element once" if best == apart else "reuse in the memories inside"

    def _ports(self, kept: Kept, index: int, level: Level, *, streams: bool = False) -> Iterator[tuple[str, float]]:
        """Least cycles of each port of a level."""
        ports = (level.read_bandwidth, level.write_bandwidth, level.shared_bandwidth)
        demands = (0.0, 0.0, 0.0)
        if any(port is not None for port in ports):
            demands = self._port_bits(kept, index, level, streams=streams)
        names = ("read", "write", "shared", "network")
        network = self._network_bits(kept, index, level) if level.network_bandwidth is not None else 0.0
        for name, demand, bandwidth in zip(names, (*demands, network), (*ports, level.network_bandwidth), strict=True):
            if bandwidth is not None:
                yield name, ceil(demand * ROUNDING / (level.word_bits * bandwidth * level.instances) * ROUNDING)

    def _port_bits(self, kept: Kept, index: int, level: Level, *, streams: bool) -> tuple[float, float, float]:
        """Least bits that are read from a level, that are written to it, and both."""
        tensors = self._problem.tensors
        here = {t: float(bits_of_word(tensor, level)) for t, tensor in enumerate(tensors) if index in kept[t]}
        outer = index == self._last
        unread = sum(bits * self._touched[t] for t, bits in here.items() if tensors[t].is_output) if outer else 0.0
        read = self._least(kept, index, here, streams=streams) - unread
        updates = sum(bits * self.sent(kept, t, index) for t, bits in here.items() if tensors[t].is_output)
        fills = 0.0 if outer else sum(bits * self._touched[t] for t, bits in here.items() if not tensors[t].is_output)
        return read, updates + fills, read + updates + fills

    def _network_bits(self, kept: Kept, index: int, level: Level) -> float:
        """Least bits that go to or past a level's network."""
        bits = {t: float(bits_of_word(tensor, level)) for t, tensor in enumerate(self._problem.tensors)}
        return max(sum(b * self.sent(kept, t, index) for t, b in bits.items()), self._stepwise(kept, index, bits))


def _energy(level: Level, tensor: Tensor, *, write: bool) -> float:
    """pJ per element of `tensor` that is read from or written to a level."""
    each = level.write_energy_pj if write and level.write_energy_pj is not None else level.energy_pj
    return each * bits_of_word(tensor, level) / level.word_bits / level.block_size
