"""Tiles of a group: which part of it is on chip at a time, in which order, so that DRAM traffic and time are least.

Every candidate is a loop order over the dims that all kernels can be cut along, a tile size for each, and tile sizes
for the reduction dims of one kernel (the anchor), whose partial sums stay on chip.  A buffer is held inside of the
innermost loop that indexes it.  All tile sizes of one order are priced at once as NumPy arrays; traffic is counted
exactly, with short last tiles, halos and the parts of a window that lie outside of the tensor.  Sizes need not divide
the extents.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ...algebra.element import Array
from ...costs.mapping.binding import Pricer
from ...costs.mapping.place import memory_of
from ...costs.mapping.problem import Group, touches
from ...costs.mapping.tree import Hold, Leaf, Loop, Node
from ...errors import InfeasibleError, TilewrightError
from .candidates import Problem, busy, cost, demands, fits, flows, traffic
from .grid import MAX_PARTS, Grid, sizes

MAX_LOOPS = 4
BUDGET = 16384
MAX_ITERATIONS = 1 << 56


@dataclass(frozen=True)
class Tiling:
    """The winner: loops outermost first, the anchor's reduction loops, copies of held buffers, and its price."""

    loops: tuple[tuple[str, int], ...]
    anchor: str
    reductions: tuple[tuple[str, int], ...]
    slots: tuple[tuple[str, int], ...]
    memories: tuple[tuple[str, str], ...]
    dram_bytes: int
    latency_cycles: float


def tile_group(group: Group, pricer: Pricer) -> Tiling:
    """The best tiling found.

    Raises `InfeasibleError` if not even tiles of one iteration fit, `TilewrightError` if a kernel has no capability.
    """
    _check_size(group)
    problem = Problem.of(group, pricer)
    wide = problem.parallel[:MAX_LOOPS], problem.reductions[:1]
    every = problem.parallel, problem.reductions
    for dims in (wide, every):
        for copies in (2, 1):
            best = _search(problem, *dims, copies)
            if best is not None:
                return best
    raise _infeasible(problem)


def _check_size(group: Group) -> None:
    for kernel in group.kernels:
        if (points := group.iterations(kernel)) > MAX_ITERATIONS:
            raise TilewrightError(
                "unsupported", f"kernel @{kernel.name}", f"at most {MAX_ITERATIONS} points", f"{points}"
            )


def _search(problem: Problem, loops: tuple[str, ...], reductions: tuple[str, ...], copies: int) -> Tiling | None:
    group = problem.group
    dims = (*loops, *reductions)
    grid = Grid.of({d: sizes(group.extents[d], len(dims), BUDGET) for d in dims}, group.extents)
    good, held = fits(problem, grid, copies, reductions)
    if not good.any():
        return None
    units = busy(problem, grid)
    moving = flows(problem, grid, reductions)
    best: tuple[float, int, tuple[str, ...]] | None = None
    price: tuple[Array, Array] | None = None
    for order in _orders(problem, loops):
        moved = traffic(grid, moving, order, reductions)
        latency, edp = cost(problem, grid, moved, units, copies)
        edp = np.where(good, np.broadcast_to(edp, good.shape), np.inf)
        at = int(np.argmin(edp))
        value = float(edp.reshape(-1)[at])
        if best is None or value < best[0]:
            best = value, at, order
            price = np.broadcast_to(moved.total, good.shape), np.broadcast_to(latency, good.shape)
    assert best is not None
    assert price is not None
    _, at, order = best
    chosen = grid.at(at, good.shape)
    return Tiling(
        tuple((d, chosen[d]) for d in order if chosen[d] < group.extents[d]),
        problem.anchor.name,
        tuple((d, chosen[d]) for d in reductions if chosen[d] < group.extents[d]),
        tuple((name, int(np.broadcast_to(slots, good.shape).reshape(-1)[at])) for name, slots in held.items()),
        tuple(problem.memories.items()),
        int(price[0].reshape(-1)[at]),
        float(price[1].reshape(-1)[at]),
    )


def _orders(problem: Problem, loops: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Loop orders worth pricing: one if every buffer that moves has all dims, or if there are too many dims."""
    used: list[set[str]] = []
    for buffer in problem.group.buffers:
        if buffer.is_input or buffer.is_result:
            used.append({n for use in touches(problem.group, buffer.name) for f in use.forms for n in f.names})
    if len(loops) > MAX_LOOPS or all(set(loops) <= names for names in used):
        in_order = tuple(d for d, _ in problem.group.dims if d in loops)
        return (in_order,)
    return tuple(permutations(loops))


def _infeasible(problem: Problem) -> InfeasibleError:
    """Which memory the smallest tiles overflow, and by how much."""
    dims = (*problem.parallel, *problem.reductions)
    grid = Grid.of({d: (-(-problem.group.extents[d] // MAX_PARTS),) for d in dims}, problem.group.extents)
    used, _ = demands(problem, grid, 1, problem.reductions)
    demand = {memory: int(np.asarray(size).reshape(-1)[0]) for memory, size in used.items()}
    worst = max(demand, key=lambda m: demand[m] - memory_of(problem.pricer.machine, m).capacity_bytes)
    bound = memory_of(problem.pricer.machine, worst).capacity_bytes
    return InfeasibleError(
        f"memory {worst}",
        demand[worst],
        bound,
        "bytes",
        f"a {worst} of {demand[worst]} bytes would hold the smallest tiles",
        subject=f"kernel @{problem.anchor.name}",
    )


def build(group: Group, tiling: Tiling) -> tuple[Node, ...]:
    """The mapping tree of a tiling: holds at the loops that index them, computes in order."""
    memories, slots = dict(tiling.memories), dict(tiling.slots)
    loops = [d for d, _ in tiling.loops]
    inner = [d for d, _ in tiling.reductions]
    levels: dict[str, list[str]] = {}
    private: dict[str, list[str]] = {}
    for buffer in group.buffers:
        if buffer.name not in memories:
            continue
        uses = touches(group, buffer.name)
        names = {n for use in uses for form in use.forms for n in form.names}
        alone = all(k.name == tiling.anchor or not touches(group, buffer.name, (k,)) for k in group.kernels)
        if alone and any(d in names for d in inner):
            deepest = max(i for i, d in enumerate(inner) if d in names)
            private.setdefault(inner[deepest], []).append(buffer.name)
            continue
        deepest = max((i for i, d in enumerate(loops) if d in names), default=-1)
        levels.setdefault(loops[deepest] if deepest >= 0 else "", []).append(buffer.name)
    computes: list[Node] = []
    for kernel in group.kernels:
        leaf: tuple[Node, ...] = (Leaf(kernel.name),)
        if kernel.name == tiling.anchor:
            leaf = _nest(tiling.reductions, private, memories, slots, leaf)
        computes.extend(leaf)
    body = _nest(tiling.loops, levels, memories, slots, tuple(computes))
    return _held(levels.get("", []), memories, slots, body)


def _nest(
    loops: tuple[tuple[str, int], ...],
    levels: Mapping[str, list[str]],
    memories: Mapping[str, str],
    slots: Mapping[str, int],
    body: tuple[Node, ...],
) -> tuple[Node, ...]:
    for dim, step in reversed(loops):
        body = (Loop(dim, step, _held(levels.get(dim, []), memories, slots, body)),)
    return body


def _held(
    names: list[str], memories: Mapping[str, str], slots: Mapping[str, int], body: tuple[Node, ...]
) -> tuple[Node, ...]:
    kinds = dict.fromkeys((memories[name], slots[name]) for name in names)
    for memory, copies in reversed(kinds):
        here = tuple(n for n in names if (memories[n], slots[n]) == (memory, copies))
        body = (Hold(memory, here, copies, body),)
    return body
