"""One kernel's tile as issues of a capability: the innermost part of a mapping."""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from ...algebra.element import Ints
from ...costs.mapping.binding import ISSUE_CYCLES, Binding, Pricer
from ...costs.mapping.matching import Match
from ...costs.mapping.problem import Kernel
from ...costs.mapping.tree import Leaf, Loop, Node, Spatial
from ...machine import Capability, Machine


def bind_kernel(kernel: Kernel, tile: Mapping[str, int], pricer: Pricer) -> Node:
    """The compute with its capability, below spatial nodes and loops over what one issue does not carry."""
    options = [(match, pricer.best(match, tile)) for match in pricer.matches(kernel)]
    costs = [_cost(pricer, match, binding, tile) for match, binding in options]
    match, binding = preferred(options, costs, pricer.machine)
    cut = _cut(kernel, match, binding, tile, pricer)
    if cut:
        binding = pricer.spread(match, binding.dims, {**tile, **cut})
    return _looped(kernel, match, binding, tile, cut, _spread(kernel, match, binding))


def _cut(kernel: Kernel, match: Match, binding: Binding, tile: Mapping[str, int], pricer: Pricer) -> dict[str, int]:
    """A dim and the size of its pieces, if issues for these take fewer cycles than one for all; empty otherwise.

    Pieces fill lanes or instances; the last may be shorter, and is spread in a way of its own.
    """
    if not binding.splits:
        return {}
    least, found = _cost(pricer, match, binding, tile), dict[str, int]()
    for slot, dim in binding.dims:
        if dim in kernel.reductions:
            continue
        steps = _full_steps(match.capability, slot, tile[dim], pricer.machine)
        if not len(steps):
            continue
        count, rest = np.divmod(tile[dim], steps)
        full, issues = pricer.tile_cycles(match, binding.dims, {**tile, dim: steps})
        short, others = pricer.tile_cycles(match, binding.dims, {**tile, dim: np.maximum(rest, 1)})
        costs = count * (full + ISSUE_CYCLES * issues) + (rest > 0) * (short + ISSUE_CYCLES * others)
        at = int(costs.argmin())
        if costs[at] < least:
            least, found = float(costs[at]), {dim: int(steps[at])}
    return found


def _full_steps(capability: Capability, slot: str, extent: int, machine: Machine) -> Ints:
    """Sizes of pieces of a dim that fill its lanes, in one instance or all of an axis."""
    node = machine.compute_by_name[capability.node]
    lanes = next(dim.lanes for dim in capability.dims if dim.name == slot)
    units = {lanes * ways for ways in (1, node.instances_x, node.instances_y) if lanes * ways > 1}
    return np.unique([step for unit in units for step in range(unit, extent, unit)])


def preferred(
    options: Sequence[tuple[Match, Binding]], costs: Sequence[float], machine: Machine
) -> tuple[Match, Binding]:
    """The capability of least cost; of equals the one that does the most at a time, as Covenant chooses (section 3.2).

    Covenant takes the most at a time always; that is the least cost, too, unless it does not fill what it takes.
    """
    order = [
        (cost, -at_a_time(match.capability, machine), i) for i, (cost, (match, _)) in enumerate(zip(costs, options))
    ]
    return options[min(order)[2]]


def at_a_time(capability: Capability, machine: Machine) -> int:
    """Iterations that run at once, in all instances of the node."""
    node = machine.compute_by_name[capability.node]
    return prod(dim.lanes for dim in capability.dims) * node.instances_x * node.instances_y


def _cost(pricer: Pricer, match: Match, binding: Binding, tile: Mapping[str, int]) -> float:
    cycles, issues = pricer.tile_cycles(match, binding.dims, tile)
    return float(cycles) + ISSUE_CYCLES * float(issues)


def _spread(kernel: Kernel, match: Match, binding: Binding) -> Node:
    bound = dict(binding.dims)
    node: Node = Leaf(kernel.name, match, binding.dims)
    for axis, slot, ways in reversed(binding.splits):
        if slot in bound:
            node = Spatial(bound[slot], ways, match.capability.node, axis, (node,))
    return node


def _looped(
    kernel: Kernel, match: Match, binding: Binding, tile: Mapping[str, int], cut: Mapping[str, int], node: Node
) -> Node:
    """Loops over dims that are not bound, cut, or longer than an issue takes; reductions innermost."""
    limits = {dim.name: dim.limit for dim in match.capability.dims}
    steps = {dim: min(limits[slot], cut.get(dim, tile[dim])) for slot, dim in binding.dims}
    inner = [d for d in kernel.dims if d in kernel.reductions]
    outer = [d for d in kernel.dims if d not in kernel.reductions]
    for dim in reversed((*outer, *inner)):
        step = steps.get(dim, 1)
        if tile[dim] > step:
            node = Loop(dim, step, (node,))
    return node
