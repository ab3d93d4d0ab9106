"""The price of one mapping."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ...errors import TilewrightError
from ..hierarchy.values import Architecture, Level, LevelMapping, LoopMapping, Problem
from ..timeloop.report import Json, LevelReport, NetworkReport, Prices, TensorReport
from .cycles import drain_cycles, fill_cycles, level_cycles
from .nest import nest_of
from .traffic import TensorTraffic, hop_words, traffic_of, word_scale
from .validity import bits_of_word, violations_of


@dataclass(frozen=True)
class TensorTotals(TensorReport):
    """Counts of one tensor at one level: the average per used instance, rounded, and exact sums over all instances.

    `partition_words` is 0 for inputs: only an output's first updates depend on it.
    """

    total_reads: int
    total_fills: int
    total_updates: int

    @property
    def totals(self) -> tuple[int, int, int]:
        """Reads, fills and updates of all instances."""
        return self.total_reads, self.total_fills, self.total_updates

    def as_json(self) -> Json:
        """The shared keys, and the totals."""
        totals = {"reads": self.total_reads, "fills": self.total_fills, "updates": self.total_updates}
        shared = super().as_json()
        if not self.partition_words:
            del shared["partition_size"]
        return shared | {"total": totals}


@dataclass(frozen=True)
class ExactPrices(Prices):
    """Cycles are `steady_cycles`, the longest of computing and every port, after `fill_cycles`, before `drain_cycles`.

    `compute_cycles` are the steps of the slowest instance.  `network_words` are those that the network below a level
    carries for a tensor: inputs inwards, the output outwards.
    """

    compute_cycles: int
    steady_cycles: int
    fill_cycles: int
    drain_cycles: int
    network_words: dict[str, dict[str, int]]

    def as_json(self) -> Json:
        """The shared keys, and the phases."""
        return super().as_json() | {
            "compute_cycles": self.compute_cycles,
            "steady_cycles": self.steady_cycles,
            "fill_cycles": self.fill_cycles,
            "drain_cycles": self.drain_cycles,
        }


def evaluate(arch: Architecture, problem: Problem, mapping: LoopMapping) -> ExactPrices:
    """Counts, cycles and energy of `mapping`, whose factors may be imperfect.

    A mapping that the machine cannot run is priced all the same and reported in `violations`: where factors do not
    cover a bound, what they cover is priced, and the outermost level keeps every tensor.  A mapping for another number
    of levels is refused (TilewrightError, kind `mapping`).
    """
    if len(mapping.levels) != len(arch.levels):
        expected = f"{len(arch.levels)} levels of {arch.name}"
        raise TilewrightError("mapping", problem.name, expected, f"{len(mapping.levels)} levels in the mapping")
    nest = nest_of(problem, mapping)
    flows = [traffic_of(arch, problem, mapping, nest, tensor) for tensor in problem.tensors]
    used = [nest.used(level) for level in range(len(arch.levels))]
    return prices_of(arch, problem, mapping, Work(nest.steps(), prod(nest.bounds), used, flows))


def dram_bits(arch: Architecture, problem: Problem, prices: Prices) -> int:
    """Bits to and from the outermost memory."""
    level = arch.levels[-1]
    tensors = prices.levels[level.name].tensors
    found = [(tensor, tensors[tensor.name]) for tensor in problem.tensors]
    return sum(sum(t.totals) * bits_of_word(tensor, level) for tensor, t in found if isinstance(t, TensorTotals))


def dram_bytes(arch: Architecture, problem: Problem, prices: Prices) -> int:
    """Bytes to and from the outermost memory, rounded up."""
    return -(-dram_bits(arch, problem, prices) // 8)


@dataclass(frozen=True)
class Work:
    """What a mapping does: steps of the first instance, points in all, instances that have work per level, words."""

    steps: int
    macs: int
    used: Sequence[int]
    flows: Sequence[TensorTraffic]


def prices_of(arch: Architecture, problem: Problem, mapping: LoopMapping, work: Work) -> ExactPrices:
    """What the work of a mapping takes and costs."""
    reports: dict[str, LevelReport] = {}
    for index, level in enumerate(arch.levels):
        used = work.used[index]
        tensors: dict[str, TensorReport] = {
            f.tensor.name: _tensor_report(level, f, index, used) for f in work.flows if f.counts[index] is not None
        }
        networks = {f.tensor.name: _network_report(level, f, index, used, mapping.levels[index]) for f in work.flows}
        cycles = max(work.steps, level_cycles(arch, index, work.flows))
        reports[level.name] = LevelReport(cycles, work.steps / cycles, tensors, networks)
    return _total(arch, problem, mapping, work, reports)


def _tensor_report(level: Level, flow: TensorTraffic, index: int, used: int) -> TensorTotals:
    counts = flow.counts[index]
    assert counts is not None
    written = level.energy_pj if level.write_energy_pj is None else level.write_energy_pj
    energy = counts.reads * level.energy_pj + (counts.fills + counts.updates) * written
    owned = flow.owned[index] // used if flow.owned else 0
    return TensorTotals(
        flow.tiles[index],
        owned,
        used,
        _mean(counts.reads, used),
        _mean(counts.fills, used),
        _mean(counts.updates, used),
        energy * word_scale(flow.tensor, level) / level.block_size,
        counts.reads,
        counts.fills,
        counts.updates,
    )


def _mean(total: int, instances: int) -> int:
    return (2 * total + instances) // (2 * instances)


def _network_report(level: Level, flow: TensorTraffic, index: int, used: int, mapped: LevelMapping) -> NetworkReport:
    related = flow.axes.related
    groups = prod(loop.bound for loop in mapped.spatial if loop.dim in related)
    members = prod(loop.bound for loop in mapped.spatial if loop.dim not in related)
    words = hop_words(flow, index) / used
    energy = words * used * level.hop_energy_pj * word_scale(flow.tensor, level)
    return NetworkReport(((members, groups, flow.network[index] / used),), 0, words, energy, 0.0)


def _total(
    arch: Architecture, problem: Problem, mapping: LoopMapping, work: Work, reports: dict[str, LevelReport]
) -> ExactPrices:
    steady = max([work.steps, *(report.cycles for report in reports.values())])
    fill, drain = fill_cycles(arch, work.flows), drain_cycles(arch, work.flows)
    energy = {name: sum(t.energy_pj for t in report.tensors.values()) for name, report in reports.items()}
    energy[arch.mac_name] = work.macs * arch.mac_energy_pj
    energy["network"] = sum(n.energy_pj for report in reports.values() for n in report.networks.values())
    cycles = steady + fill + drain
    return ExactPrices(
        violations_of(arch, problem, mapping),
        cycles,
        sum(energy.values()),
        energy,
        work.macs / (arch.mac_instances * cycles),
        work.macs,
        reports,
        work.steps,
        steady,
        fill,
        drain,
        {level.name: {f.tensor.name: f.network[i] for f in work.flows} for i, level in enumerate(arch.levels)},
    )
