"""The pass `nest-spread-weights`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...costs.bounds.program.coordinates import everything, within
from ...costs.fusion.of_machine import platform_of
from ...costs.mapping.binding import Pricer, pricer_of
from ...costs.mapping.place import memory_of
from ...costs.mapping.problem import Kernel
from ...dialects.acg import machine_of
from ...dialects.types import bytes_of
from ..functions import functions_of
from ..nest_to_codelet.fused_marks import kept_maps, marked_groups
from .nest_swap_factors import Swap, cycles_of, is_product, swapped

if TYPE_CHECKING:
    from ..nest_to_codelet.fused_layers import FusedGroup, FusedLayer
    from ..nest_to_codelet.padded_maps import Padding

FILLED = 15 / 16
"""Part of a memory that is filled at most, which leaves room for fragments."""

ROUNDS = 3
"""How often all products are looked at, at most."""

WORTH = 1 / 65536
"""Part of the program's cycles that a product in the other order must save."""


@dataclass(frozen=True)
class NestSpreadWeightsPass(ModulePass):
    """Put weights that would come late into the memory of maps, where that has room for them.

    Where weights have a memory of their own, it bounds how much is loaded ahead of the last layers, while maps leave
    most of theirs empty.  A product whose factors are in the other order has its map in the memory of weights, and its
    weights in that of maps: of

        nest.kernel @mac "Y[0, n] += X[0, k] * W[n, k]"

    the second factor is in the memory of weights, and this pass makes

        nest.kernel @mac "Y[0, n] += W[n, k] * X[0, k]"

    of layers that run as a whole (`nest-schedule`) for which the program ends earlier, as estimated: loads follow each
    other, each from the first step on from which there is room for it, and layers wait for their weights.  With
    `last_first` the last layers are looked at first: their weights then stay longest in the memory of maps.
    """

    name = "nest-spread-weights"
    last_first: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            for swap in spread(function, pricer_of(machine_of(op)), last_first=self.last_first):
                swap.make()


@dataclass
class _Step:
    """A step as the estimate sees it: its cycles, bytes of maps that DRAM moves, and bytes by memory.

    `loaded` are its weights, `held` what else is there.  `swap` is a product that may have its factors in the other
    order, `other` the step with it.
    """

    cycles: float = 0.0
    moved_bytes: float = 0.0
    loaded: dict[str, int] = field(default_factory=dict[str, int])
    held: dict[str, int] = field(default_factory=dict[str, int])
    swap: Swap | None = None
    other: _Step | None = None


def spread(function: FuncOp, pricer: Pricer, *, last_first: bool = False) -> list[Swap]:
    """Products of a function whose weights are better in the memory of maps, the first ones tried first or the last."""
    if platform_of(pricer.machine).buffers.weight_bytes is None:
        return []
    steps = list(_steps(function, pricer))
    places = [place for place, step in enumerate(steps) if step.other]
    if not places:
        return []
    chosen = list(steps) if last_first else _one_by_one(steps, places, pricer)
    end = _arrivals(chosen, pricer)[1]
    for _ in range(ROUNDS):
        before = end
        for place in reversed(places) if last_first else places:
            taken = chosen[place]
            chosen[place] = steps[place] if taken is steps[place].other else steps[place].other or taken
            now = _arrivals(chosen, pricer)[1]
            if now < end * (1 - WORTH) or (chosen[place] is steps[place] and now <= end):
                end = now
            else:
                chosen[place] = taken
        if end == before:
            break
    return [step.swap for step, taken in zip(steps, chosen, strict=True) if step.swap and taken is step.other]


def _one_by_one(steps: Sequence[_Step], places: Sequence[int], pricer: Pricer) -> list[_Step]:
    """Steps, each in the order of factors with which its load begins earlier after those before it."""
    chosen = list(steps)
    for place in places:
        first, other = ([*chosen[:place], step] for step in (steps[place], steps[place].other) if step)
        chosen[: place + 1] = other if _arrivals(other, pricer)[0] < _arrivals(first, pricer)[0] else first
    return chosen


def _steps(function: FuncOp, pricer: Pricer) -> Iterator[_Step]:
    """The steps of a function in order; groups without marks fill the memories."""
    from ..nest_to_codelet.padded_maps import paddings

    groups = marked_groups(function.body.block, pricer.machine, pricer)
    kept = kept_maps(function).kept
    rooms = paddings(groups, kept, pricer.machine)
    ordered = list(dict.fromkeys(groups.values()))
    lives: dict[SSAValue, tuple[int, int]] = {}
    for place, group in enumerate(ordered):
        for value in _touched(group):
            lives[value] = lives.get(value, (place, place))[0], place
    for place, group in enumerate(ordered):
        there = [v for v, (first, last) in lives.items() if v in kept and first <= place <= last]
        yield _step(group, there, rooms, pricer)


def _touched(group: FusedGroup) -> dict[SSAValue, None]:
    """The maps that a group reads from outside, and makes."""
    return dict.fromkeys([*group.outside, *(value for layer in group.layers for value in layer.made.values())])


def _step(group: FusedGroup, there: Sequence[SSAValue], rooms: Mapping[SSAValue, Padding], pricer: Pricer) -> _Step:
    from ..nest_to_codelet.fused_tiles import scratch_bytes, scratch_room

    step, memory = _Step(), group.layers[0].map_memory
    capacity = memory_of(pricer.machine, memory).capacity_bytes
    made = [value for layer in group.layers for value in layer.made.values()]
    moved = [v for v in _touched(group) if v not in there and (v not in made or group.whole)]
    step.moved_bytes = sum(bytes_of(value) for value in moved)
    step.held[memory] = capacity
    for layer in group.layers:
        step.cycles += sum(_cycles(kernel, layer, pricer) for kernel in filter(is_product, layer.problem.kernels))
        for name, value in layer.weights.items():
            step.loaded[layer.memories[name]] = step.loaded.get(layer.memories[name], 0) + bytes_of(value)
        for name, value in layer.copied.items():
            step.held[layer.memories[name]] = step.held.get(layer.memories[name], 0) + bytes_of(value)
    if not group.whole:
        return step
    (layer,) = group.layers
    scratch = min(scratch_bytes(layer, layer.problem.extents), scratch_room(capacity))
    step.held[memory] = sum(map(bytes_of, {*there, *moved})) + 2 * scratch
    products = list(filter(is_product, layer.problem.kernels))
    swap = swapped(group, layer, products[0], rooms, pricer) if len(products) == 1 else None
    if swap is None or swap.weight not in layer.weights:
        return step
    if swap.copied_to and swap.weight_memory == memory != layer.memories[swap.weight]:
        step.swap, step.other = swap, _exchanged(step, layer, swap)
    return step


def _exchanged(step: _Step, layer: FusedLayer, swap: Swap) -> _Step:
    """A step with its product in the other order."""
    size, own = bytes_of(layer.weights[swap.weight]), layer.memories[swap.weight]
    loaded, held = dict(step.loaded), dict(step.held)
    loaded[own] -= size
    loaded[swap.weight_memory] = loaded.get(swap.weight_memory, 0) + size
    held[swap.copied_to] = held.get(swap.copied_to, 0) + swap.map_bytes
    saved = swap.saved * step.cycles / swap.before
    return replace(step, cycles=step.cycles - saved + swap.moved, loaded=loaded, held=held)


def _cycles(kernel: Kernel, layer: FusedLayer, pricer: Pricer) -> float:
    """Cycles of a product without those that read zeros around a map, which are left out (`codelet_to_queues`)."""
    extents, inside = layer.problem.extents, 1.0
    padded = (use for use in kernel.uses[1:] if use.tensor in kernel.padded)
    shapes = ((use.forms, layer.problem.by_name[use.buffer].shape) for use in padded)
    for form, size in (item for forms, shape in shapes for item in zip(forms, shape, strict=True)):
        told = tuple(form.coefficient(name) for name in form.names), form.const, size
        points, _ = within(tuple(everything(extents[name]) for name in form.names), (told,))
        inside *= points / prod(extents[name] for name in form.names)
    return inside * cycles_of(kernel, extents, pricer)


def _arrivals(steps: Sequence[_Step], pricer: Pricer) -> tuple[float, float]:
    """When the last step's load begins, and when that step ends, in cycles.

    Weights of each memory come in the order of steps, as early as there is room for them.
    """
    speed = platform_of(pricer.machine).dram_bytes_per_cycle
    room = {memory.name: FILLED * memory.capacity_bytes for memory in pricer.machine.memories}
    used = [dict(step.held) for step in steps]
    earliest: dict[str, int] = {}
    coming: list[list[tuple[int, float]]] = [[(place, step.moved_bytes)] for place, step in enumerate(steps)]
    for place, step in enumerate(steps):
        for memory, size in step.loaded.items():
            first = place
            used[first][memory] = used[first].get(memory, 0) + size
            while first > earliest.get(memory, 0) and used[first - 1].get(memory, 0) + size <= room[memory]:
                first -= 1
                used[first][memory] = used[first].get(memory, 0) + size
            earliest[memory] = first
            coming[first].append((place, size))
    there = [0.0] * len(steps)
    begin, arrived, end = 0.0, 0.0, 0.0
    for place, step in enumerate(steps):
        for reader, size in coming[place]:
            begin = max(arrived, end)
            arrived = there[reader] = begin + size / speed
        end = max(end + step.cycles, there[place])
    return begin, end
