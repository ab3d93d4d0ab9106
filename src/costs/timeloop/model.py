"""The price of one mapping."""

from math import ceil, prod

from ...errors import TilewrightError
from ..hierarchy.values import Architecture, Level, LoopMapping, Problem, Tensor
from .report import LevelReport, NetworkReport, Prices, TensorReport, Violation
from .traffic import TensorFlow, tensor_flow


def violations_of(arch: Architecture, problem: Problem, mapping: LoopMapping) -> tuple[Violation, ...]:
    """Every level that overflows: tiles of kept tensors against entries, loops along X and Y against the array."""
    found: list[Violation] = []
    tiles = mapping.tiles(len(problem.dims))
    for index, level in enumerate(arch.levels):
        mapped = mapping.levels[index]
        used = sum(prod(t.extents(tiles[index][1])) for t in problem.tensors if t.name not in mapped.bypass)
        capacity = level.capacity_words
        if capacity is not None and used > capacity:
            found.append(Violation(level.name, "capacity", used, capacity, "words"))
        axes = (("columns", mapped.spatial_x), ("rows", mapped.spatial_y))
        for (axis, loops), bound in zip(axes, arch.fan_out(index), strict=True):
            demand = prod(loop.bound for loop in loops)
            if demand > bound:
                found.append(Violation(level.name, axis, demand, bound, "children"))
    return tuple(found)


def factor_violations(problem: Problem, mapping: LoopMapping) -> tuple[Violation, ...]:
    """Dimensions whose factors do not multiply to the bound: this model prices perfect factors only."""
    products = mapping.tiles(len(problem.dims))[-1][1]
    return tuple(
        Violation("all levels", f"dimension {name}", product, bound, "iterations")
        for name, bound, product in zip(problem.dims, problem.bounds, products, strict=True)
        if product != bound
    )


def evaluate(arch: Architecture, problem: Problem, mapping: LoopMapping, *, link_transfers: bool = True) -> Prices:
    """Counts, cycles and energy of `mapping`, as timeloop-model has them.

    A mapping that overfills a memory or an array is priced all the same and reported in `violations`; one whose
    factors do not multiply to the problem's bounds is refused (TilewrightError, kind `mapping`).
    `link_transfers=False` stops children from taking words from neighbours, as the tool's switch does.
    """
    _check(arch, problem, mapping)
    dims = len(problem.dims)
    flows = {t.name: tensor_flow(arch, dims, mapping, t, link_transfers) for t in problem.tensors}
    compute = prod(loop.bound for level in mapping.levels for loop in level.temporal)
    reports: dict[str, LevelReport] = {}
    for index, level in enumerate(arch.levels):
        instances = prod(loop.bound for outer in mapping.levels[index + 1 :] for loop in outer.spatial)
        tensors = {
            t.name: _tensor_report(level, t, flows[t.name], index, instances)
            for t in problem.tensors
            if t.name not in mapping.levels[index].bypass
        }
        networks = {name: _network_report(level, flow, index, instances) for name, flow in flows.items()}
        cycles, throttling = _level_cycles(level, tensors, compute)
        reports[level.name] = LevelReport(cycles, throttling, tensors, networks)
    return _total(arch, problem, violations_of(arch, problem, mapping), compute, reports)


def _check(arch: Architecture, problem: Problem, mapping: LoopMapping) -> None:
    if len(mapping.levels) != len(arch.levels):
        expected = f"{len(arch.levels)} levels of {arch.name}"
        raise TilewrightError("mapping", problem.name, expected, f"{len(mapping.levels)} levels in the mapping")
    for tensor in problem.tensors:
        if all(tensor.name in level.bypass for level in mapping.levels):
            raise TilewrightError("mapping", f"tensor {tensor.name}", "a level that keeps it", "bypass at every level")
    for wrong in factor_violations(problem, mapping):
        raise TilewrightError(
            "mapping",
            f"{wrong.resource} of {problem.name}",
            f"factors that multiply to {wrong.bound}",
            f"a product of {wrong.demand}",
            "this model prices perfect factors only",
        )


def _tensor_report(level: Level, tensor: Tensor, flow: TensorFlow, index: int, instances: int) -> TensorReport:
    traffic = flow.traffic[index]
    partition = flow.partitions[index]
    received = flow.shares[index] + traffic.peer
    if tensor.is_output:
        reads = _nearest(traffic.content + traffic.peer - partition)
        fills = 0 if index == flow.outermost else _nearest(received - partition)
        updates = _nearest(traffic.content)
    else:
        reads, fills, updates = _nearest(traffic.content + traffic.peer), int(received), 0
    read, filled, updated = (ceil(count / level.block_size) for count in (reads, fills, updates))
    energy = (read * level.energy_pj + (filled + updated) * level.energy_of_write_pj) * instances
    return TensorReport(flow.tiles[index], partition, instances, reads, fills, updates, energy)


def _nearest(count: float) -> int:
    return max(0, int(count + 0.5))


def _network_report(level: Level, flow: TensorFlow, index: int, instances: int) -> NetworkReport:
    traffic = flow.traffic[index]
    per_word = level.hop_energy_pj * instances
    signatures = tuple((m, k, words) for (m, k), words in sorted(traffic.accesses.items()))
    return NetworkReport(
        signatures, traffic.link_words, traffic.hop_words, traffic.hop_words * per_word, traffic.link_words * per_word
    )


def _level_cycles(level: Level, tensors: dict[str, TensorReport], compute: int) -> tuple[int, float]:
    """Cycles if only this level's bandwidth mattered: demand in words per compute cycle against each port."""
    read = write = 0.0
    for tensor in tensors.values():  # not sum(): the tool rounds after each addition
        read += tensor.reads / compute
        write += (tensor.fills + tensor.updates) / compute
    slowdown = 1.0
    for bandwidth, demand in (
        (level.read_bandwidth, read),
        (level.write_bandwidth, write),
        (level.shared_bandwidth, read + write),
    ):
        if bandwidth is not None and demand > bandwidth:
            slowdown = min(slowdown, bandwidth / demand)
    return ceil(compute / slowdown), slowdown


def _total(
    arch: Architecture,
    problem: Problem,
    violations: tuple[Violation, ...],
    compute: int,
    reports: dict[str, LevelReport],
) -> Prices:
    cycles = max([compute, *(report.cycles for report in reports.values())])
    energy = {name: sum(t.energy_pj for t in report.tensors.values()) for name, report in reports.items()}
    energy[arch.mac_name] = problem.macs * arch.mac_energy_pj
    energy["network"] = sum(
        n.energy_pj + n.link_energy_pj for report in reports.values() for n in report.networks.values()
    )
    utilization = problem.macs / (arch.mac_instances * cycles)
    return Prices(violations, cycles, sum(energy.values()), energy, utilization, problem.macs, reports)
