"""What candidate tiles need and cost: capacity, traffic and busy cycles of all tile sizes at once, as NumPy arrays.

They take as long as when the next tile's loads are issued before the work on this one.  A loop that loads into two
copies runs one iteration ahead (`codelet-pipeline`), so an iteration takes the longer of its work and its transfers.
What loops inside load first cannot come before their own last iterations have let go of their copies: that much of an
iteration of a loop outside stalls.  Before all work come the first tiles of everything, whole where a buffer is held
outside of all loops; after it the last stores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...algebra.affine import step_of
from ...algebra.element import Array
from ...costs.mapping.binding import ISSUE_CYCLES, Binding, Bound, Pricer
from ...costs.mapping.footprint import coordinate_interval, split, sweep_elements
from ...costs.mapping.place import Place, buffer_memories, memory_of, memory_path, offchip, place
from ...costs.mapping.problem import Buffer, Group, Kernel, touches
from ...costs.mapping.tree import buffer_use
from ...machine import Link
from .grid import Grid
from .leaves import preferred


@dataclass(frozen=True)
class Transfer:
    """A buffer that is loaded or stored: the dims that cut it, and the cycles of one tile; an array over the grid."""

    loads: bool
    cut: tuple[str, ...]
    cycles: Any


def pipelined_cycles(grid: Grid, loops: Sequence[str], transfers: Sequence[Transfer], units: Sequence[Any]) -> Any:
    """Cycles of all tiles with loops over these dims, outermost first; `units` are the busy cycles of each queue."""
    loads, stores = (_by_level(grid, loops, [t for t in transfers if t.loads is way]) for way in (True, False))
    iterations: Any = 1
    for dim in loops:
        iterations = iterations * grid.counts[dim]
    work: Any = sum(units, start=np.zeros(grid.ones)) / iterations
    period: Any = np.zeros(grid.ones)
    for unit in units:
        period = np.maximum(period, unit / iterations)
    left: Any = np.full(grid.ones, np.inf)  # work that is left when the last load of a visit is done
    moving: Any = 0.0
    first: Any = 0.0
    for level in range(len(loops), 0, -1):
        count = grid.counts[loops[level - 1]]
        looped = count > 1
        moving = moving + loads[level] + stores[level]
        first = first + loads[level]
        step = np.maximum(period + np.maximum(0, first - left), moving)
        ahead = np.where(np.isinf(left), np.maximum(period, 2 * period - first), np.minimum(left, period))
        left = np.where(looped, ahead, left)
        work = work + (count - 1) * step
        period, moving = np.where(looped, count * step, period), moving * count
    return loads[0] + first + work + sum(stores)


def _by_level(grid: Grid, loops: Sequence[str], transfers: Sequence[Transfer]) -> list[Any]:
    """Cycles of transfers in an iteration of each loop: the innermost over several tiles that cuts them, 0 for none."""
    found: list[Any] = [np.zeros(grid.ones) for _ in range(len(loops) + 1)]
    for transfer in transfers:
        free: Any = np.ones(grid.ones, bool)
        for level in range(len(loops), 0, -1):
            dim = loops[level - 1]
            if dim in transfer.cut:
                found[level] = found[level] + np.where(free & (grid.counts[dim] > 1), transfer.cycles, 0)
                free = free & (grid.counts[dim] == 1)
        found[0] = found[0] + np.where(free, transfer.cycles, 0)
    return found


MAX_TILES = 1 << 16  # of the dims of one coordinate
NEVER = 1 << 48  # elements that no tiling should move
TIDINESS = 0.03  # weight of idle-time work and of short rows in DRAM, between tilings that are as fast


@dataclass(frozen=True)
class Problem:
    group: Group
    pricer: Pricer
    places: tuple[Place, ...]
    memories: Mapping[str, str]
    anchor: Kernel
    parallel: tuple[str, ...]  # largest first
    reductions: tuple[str, ...]
    bound: tuple[Bound, ...]  # a binding per kernel, good for large tiles
    energy_pj: float  # of all computes

    @staticmethod
    @lru_cache(maxsize=1 << 11)
    def of(group: Group, pricer: Pricer) -> Problem:
        extents = group.extents
        places: list[Place] = []
        bound: list[Bound] = []
        for kernel in group.kernels:
            chosen, binding = _best_place(kernel, pricer, extents)
            places.append(chosen)
            bound.append(binding)
        anchor = max(group.kernels, key=lambda k: (bool(k.reductions), group.iterations(k)))
        energy = sum(_energy(pricer, p, b, extents) for p, b in zip(places, bound, strict=True))
        by_extent = sorted(group.tileable, key=lambda d: -extents[d])
        reductions = sorted(_cuttable_reductions(group, anchor), key=lambda d: -extents[d])
        memories = buffer_memories(group, tuple(places), pricer.machine)
        return Problem(
            group, pricer, tuple(places), memories, anchor, tuple(by_extent), tuple(reductions), tuple(bound), energy
        )


def _cuttable_reductions(group: Group, anchor: Kernel) -> list[str]:
    """Reduction dims that index something which the anchor alone reads, so that cutting them cuts what is loaded."""
    alone = [
        use for use in anchor.uses[1:] if len(touches(group, use.buffer)) == len(touches(group, use.buffer, (anchor,)))
    ]
    names = {n for use in alone if group.by_name[use.buffer].is_input for form in use.forms for n in form.names}
    return [d for d in anchor.reductions if group.extents[d] > 1 and d in names]


def _best_place(kernel: Kernel, pricer: Pricer, extents: Mapping[str, int]) -> tuple[Place, Bound]:
    options = [(m, pricer.best(m, extents)) for m in pricer.matches(kernel)]
    costs = [float(np.asarray(pricer.tile_cycles(m, b.dims, extents)[0])) for m, b in options]
    found, binding = preferred(options, costs, pricer.machine)
    return place(pricer.machine, found), binding.dims


def _energy(pricer: Pricer, chosen: Place, bound: Bound, extents: Mapping[str, int]) -> float:
    ops = prod(extents[name] for name, _ in chosen.match.slots)
    whole = {slot: extents[dim] for slot, dim in bound}
    return float(pricer.issue_energy(chosen.match, Binding(bound, ()), whole)) * ops / prod(whole.values())


def cut_dims(problem: Problem, buffer: str, grid: Grid, reductions: tuple[str, ...]) -> tuple[str, ...]:
    """The grid's dims that index a buffer; reduction dims only where the anchor alone touches it."""
    names = {n for use in touches(problem.group, buffer) for form in use.forms for n in form.names}
    private = all(k is problem.anchor or not touches(problem.group, buffer, (k,)) for k in problem.group.kernels)
    return tuple(d for d in grid.dims if d in names and (d not in reductions or private))


def demands(
    problem: Problem, grid: Grid, copies: int, reductions: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Bytes of each memory that candidates hold at once, aligned, and how many copies of each buffer these are."""
    used: dict[str, Any] = {}
    held: dict[str, Array] = {}
    for buffer in problem.group.buffers:
        memory = problem.memories.get(buffer.name)
        if memory is None:
            continue
        cut = cut_dims(problem, buffer.name, grid, reductions)
        looped: Any = np.zeros(grid.ones, bool)
        for dim in cut:
            looped = looped | (grid.tiles[dim] < problem.group.extents[dim])
        held[buffer.name] = np.where(looped, copies, 1)
        align = memory_of(problem.pricer.machine, memory).align_bytes
        one = tile_elements(problem, buffer, grid, cut) * buffer.element_bytes
        used[memory] = used.get(memory, 0) + held[buffer.name] * (-(-one // align) * align)
    return used, held


def fits(problem: Problem, grid: Grid, copies: int, reductions: tuple[str, ...]) -> tuple[Array, dict[str, Array]]:
    """Which candidates fit in every memory, and how many copies of each buffer they hold."""
    used, held = demands(problem, grid, copies, reductions)
    good: Array = np.ones(grid.shape, bool)
    for memory, demand in used.items():
        good = good & (demand <= memory_of(problem.pricer.machine, memory).capacity_bytes)
    return good, held


def tile_elements(problem: Problem, buffer: Buffer, grid: Grid, cut: tuple[str, ...]) -> Any:
    """Elements of a full tile's box, as an array over the grid."""
    uses = touches(problem.group, buffer.name)
    total: Any = 1
    for forms in zip(*(use.forms for use in uses), strict=True):
        dims = tuple(d for d in cut if any(d in form.names for form in forms))

        def count(tile: Mapping[str, int], forms: Any = forms) -> int:
            lows, highs = zip(*(form.range(tile) for form in forms), strict=True)
            return (max(highs) - min(lows)) // step_of(forms, tile) + 1

        total = total * grid.table(dims, count)
    return total


@dataclass(frozen=True)
class Moved:
    """Bytes in total and as whole bursts, the number of transfers, and one of each; arrays over the grid.

    `loops` are those that move anything, outermost first; `slowest` is the least bandwidth on the way.
    """

    loops: tuple[str, ...]
    total: Any
    bursts: Any
    count: Any
    each: tuple[Transfer, ...]
    slowest: float


@dataclass(frozen=True)
class Flow:
    """A buffer that moves: by which links, cut along which dims, and bytes while each of those runs once; arrays."""

    links: tuple[Link, ...]
    loads: bool
    cut: tuple[str, ...]
    sweep: Any
    bursts: Any


def flows(problem: Problem, grid: Grid, reductions: tuple[str, ...]) -> tuple[Flow, ...]:
    """Loads and stores of a group, whatever the order of its loops."""
    machine = problem.pricer.machine
    everything = frozenset(k.name for k in problem.group.kernels)
    outside = offchip(machine).name
    found: list[Flow] = []
    for buffer in problem.group.buffers:
        memory = problem.memories.get(buffer.name)
        use = buffer_use(problem.group, buffer.name, everything)
        if memory is None or not (use.loaded or use.stored):
            continue
        cut = cut_dims(problem, buffer.name, grid, reductions)
        sweep = _sweep_elements(problem, buffer, grid, cut) * buffer.element_bytes
        bursts = sweep * _burst_factor(buffer, problem, grid, cut)
        for src, dst, moves in ((outside, memory, use.loaded), (memory, outside, use.stored)):
            if moves:
                found.append(Flow(memory_path(machine, src, dst), src == outside, cut, sweep, bursts))
    return tuple(found)


def traffic(grid: Grid, moving: tuple[Flow, ...], order: tuple[str, ...], reductions: tuple[str, ...]) -> Moved:
    """What the flows come to with loops in this order."""
    total: Any = 0
    bursts: Any = 0
    count: Any = 0
    each: list[Transfer] = []
    for flow in moving:
        reloads = _reloads(grid, flow.cut, order, reductions)
        tiles = _product(grid, flow.cut)
        total = total + flow.sweep * reloads
        bursts = bursts + flow.bursts * reloads
        count = count + reloads * tiles
        cycles = flow.sweep / tiles / min(link.bandwidth_bytes_per_cycle for link in flow.links)
        each.append(Transfer(flow.loads, flow.cut, cycles))
    slowest = min((link.bandwidth_bytes_per_cycle for flow in moving for link in flow.links), default=1.0)
    return Moved((*order, *reductions), total, bursts, count, tuple(each), slowest)


def _reloads(grid: Grid, cut: tuple[str, ...], order: tuple[str, ...], reductions: tuple[str, ...]) -> Any:
    """How often a buffer is moved as a whole: loops that do not index it, outside of one that does."""
    position = {d: i for i, d in enumerate((*order, *reductions))}
    total: Any = 1
    for dim in position:
        if dim in cut:
            continue
        inner: Any = False
        for other in cut:
            if position[other] > position[dim]:
                inner = inner | (grid.counts[other] > 1)
        total = total * np.where(inner, grid.counts[dim], 1)
    return total


def _burst_factor(buffer: Buffer, problem: Problem, grid: Grid, cut: tuple[str, ...]) -> Any:
    """How much more whole bursts of DRAM (its alignment) are than the bytes wanted of them, by the run of a row."""
    uses = touches(problem.group, buffer.name)
    run: Any = buffer.element_bytes
    for axis in reversed(range(len(buffer.shape))):
        names = {n for use in uses for n in use.forms[axis].names}
        dims = tuple(d for d in cut if d in names)
        if not dims:
            run = run * buffer.shape[axis]
            continue
        forms = [use.forms[axis] for use in uses]
        run = run * grid.table(dims, lambda tile, forms=forms: coordinate_interval(forms, _whole(tile), 1).count)
        break
    burst = offchip(problem.pricer.machine).align_bytes
    return -(-run // burst) * burst / run


def _whole(tile: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    return {name: (0, extent) for name, extent in tile.items()}


def _sweep_elements(problem: Problem, buffer: Buffer, grid: Grid, cut: tuple[str, ...]) -> Any:
    """Elements moved while each of the cut dims runs over its range once: the boxes inside of the tensor, exactly.

    Coordinates are multiplied, which overcounts where one dim cuts several of them.
    """
    uses = touches(problem.group, buffer.name)
    extents = problem.group.extents
    total: Any = 1
    for axis, forms in enumerate(zip(*(use.forms for use in uses), strict=True)):
        dims = tuple(d for d in cut if any(d in form.names for form in forms))
        size = buffer.shape[axis]

        def count(tile: Mapping[str, int], forms: Any = forms, dims: Any = dims, size: int = size) -> int:
            if prod(-(-extents[d] // tile[d]) for d in dims) > MAX_TILES:
                return NEVER
            tiles = {d: split((np.zeros(1, np.int64), np.array([extents[d]])), tile[d]) for d in dims}
            return sweep_elements([(form,) for form in forms], (size,), tiles, tile)

        total = total * grid.table(dims, count)
    return total


def busy(problem: Problem, grid: Grid) -> Mapping[str, Any]:
    """Cycles of each queue over the whole group, arrays over the grid; every tile is priced as one of average size."""
    units: dict[str, Any] = {}
    for kernel, chosen, bound in zip(problem.group.kernels, problem.places, problem.bound, strict=True):
        tile: dict[str, Any] = {d: problem.group.extents[d] for d in kernel.dims}
        repeats: Any = 1
        for dim in grid.dims:
            if dim in problem.reductions and (kernel is not problem.anchor or dim not in kernel.dims):
                continue
            repeats = repeats * grid.counts[dim]
            if dim in kernel.dims:
                tile[dim] = -(-problem.group.extents[dim] // grid.counts[dim])
        tile = dict(zip(tile, np.broadcast_arrays(*tile.values()), strict=True)) if tile else tile
        cycles, issues = problem.pricer.tile_cycles(chosen.match, bound, tile)
        total = (cycles + ISSUE_CYCLES * issues) * repeats
        units[chosen.unit] = units.get(chosen.unit, 0) + total
    return units


def cost(problem: Problem, grid: Grid, moved: Moved, units: Mapping[str, Any], copies: int) -> tuple[Any, Any]:
    """Latency in cycles, with several copies as transfers and work overlap, and what to minimise: latency times energy,
    with a little weight on work that is hidden now.
    """
    memory = offchip(problem.pricer.machine)
    energy = problem.energy_pj + moved.total * max(memory.read_energy_pj_per_byte, memory.write_energy_pj_per_byte, 1)
    together = sum(units.values(), start=moved.total / moved.slowest)
    latency = together
    if copies > 1:
        latency = pipelined_cycles(grid, moved.loops, moved.each, list(units.values()))
    latency = latency + ISSUE_CYCLES * moved.count
    return latency, (latency + TIDINESS * (together + moved.bursts / moved.slowest)) * energy


def _product(grid: Grid, dims: Sequence[str]) -> Any:
    total: Any = 1
    for dim in dims:
        total = total * grid.counts[dim]
    return total
