"""The price of one mapping."""

from __future__ import annotations

from math import prod

from ...errors import TilewrightError
from ..hierarchy.values import Architecture, Level, LevelMapping, LoopMapping, Problem
from ..timeloop.report import LevelReport, NetworkReport, TensorReport
from .cycles import drain_cycles, fill_cycles, level_cycles
from .nest import Nest, nest_of
from .report import ExactPrices, TensorTotals
from .traffic import TensorTraffic, hop_words, traffic_of, word_scale
from .validity import violations_of


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
    compute = nest.steps()
    reports: dict[str, LevelReport] = {}
    for index, level in enumerate(arch.levels):
        used = nest.used(index)
        tensors: dict[str, TensorReport] = {
            f.tensor.name: _tensor_report(level, f, index, used) for f in flows if f.counts[index] is not None
        }
        networks = {f.tensor.name: _network_report(level, f, index, used, mapping.levels[index]) for f in flows}
        cycles = max(compute, level_cycles(arch, index, flows))
        reports[level.name] = LevelReport(cycles, compute / cycles, tensors, networks)
    return _total(arch, problem, mapping, nest, reports, flows)


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
    arch: Architecture,
    problem: Problem,
    mapping: LoopMapping,
    nest: Nest,
    reports: dict[str, LevelReport],
    flows: list[TensorTraffic],
) -> ExactPrices:
    compute = nest.steps()
    steady = max([compute, *(report.cycles for report in reports.values())])
    fill, drain = fill_cycles(arch, flows), drain_cycles(arch, flows)
    macs = prod(nest.bounds)
    energy = {name: sum(t.energy_pj for t in report.tensors.values()) for name, report in reports.items()}
    energy[arch.mac_name] = macs * arch.mac_energy_pj
    energy["network"] = sum(n.energy_pj for report in reports.values() for n in report.networks.values())
    cycles = steady + fill + drain
    return ExactPrices(
        violations_of(arch, problem, mapping),
        cycles,
        sum(energy.values()),
        energy,
        macs / (arch.mac_instances * cycles),
        macs,
        reports,
        compute,
        steady,
        fill,
        drain,
    )
