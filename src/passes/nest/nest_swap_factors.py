"""The pass `nest-swap-factors`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, prod
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...algebra.expr import Call, Statement, sums_pairs
from ...costs.fusion.of_machine import platform_of
from ...costs.mapping.binding import Pricer, pricer_of
from ...costs.mapping.matching import match
from ...costs.mapping.place import memory_of, memory_path, place
from ...costs.mapping.problem import Kernel, touches
from ...dialects import nest
from ...dialects.acg import machine_of
from ...dialects.graph import WeightOp
from ...dialects.types import bytes_of, element_bytes, shape_of
from ..functions import functions_of
from ..nest_to_codelet.fused_marks import BY_SAMPLE, kept_maps, marked_groups

if TYPE_CHECKING:
    from ..nest_to_codelet.fused_layers import FusedGroup, FusedLayer
    from ..nest_to_codelet.padded_maps import Padding

WORTH = 1 / 8
"""Part of the cycles of a product that is saved at least."""

ROOM = 1 / 4
"""Part of the memory of weights that a map takes there at most."""


@dataclass(frozen=True)
class NestSwapFactorsPass(ModulePass):
    """Let maps serve as weights, and weights as maps, where instructions then fill more lanes.

    A product of one channel each (a depthwise convolution) leaves most lanes of an array idle that sums up channels
    into channels.  With the map as its weights, pixels are in the lanes of results and taps in those that are summed
    up.  The order of the factors says which is which: of

        nest.kernel @mac "Y[0, g, p, q] += X[0, g, p + r, q + s] * W[g, 0, r, s]"

    the first is the map of the instruction, and this pass makes

        nest.kernel @mac "Y[0, g, p, q] += W[g, 0, r, s] * X[0, g, p + r, q + s]"

    of layers that run as a whole (`nest-schedule`) for which that saves an eighth of the cycles.  Where weights have a
    memory of their own, the map is copied there before (`convert-nest-to-codelet`): such layers are taken, those first
    that save most for each cycle of copies, as long as products take more cycles than all loads and copies.  Where
    these take more, products of two maps have the smaller one copied in place of the larger.
    """

    name = "nest-swap-factors"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        for function in functions_of(op):
            _swap(function, pricer_of(machine))


@dataclass(frozen=True)
class Swap:
    """A product with its factors in the other order: its cycles `before` and `after`, and those of the copy it takes.

    The buffer `weight` then lies in `weight_memory`, and `map_bytes` are copied to the memory `copied_to`, if any.  A
    map in place of `weight` need not be copied any more: `moved` is less by that.
    """

    kernel: nest.KernelOp
    before: float
    after: float
    moved: float
    weight: str
    weight_memory: str
    map_bytes: int
    copied_to: str

    @property
    def saved(self) -> float:
        """Cycles that it saves."""
        return self.before - self.after

    @property
    def is_faster(self) -> bool:
        """Whether it saves a part of the product's cycles that is worth it, and more than the copy takes."""
        return self.saved >= max(WORTH * self.before, self.moved)

    def make(self) -> None:
        """Put the product with its factors in the other order in place of it."""
        kernel = self.kernel
        Rewriter.replace_op(kernel, kernel.like(_reversed(kernel.statement.data), kernel.init))


def _swap(function: FuncOp, pricer: Pricer) -> None:
    from ..nest_to_codelet.padded_maps import paddings

    groups = marked_groups(function.body.block, pricer.machine, pricer)
    if not groups:
        return
    rooms = paddings(groups, kept_maps(function).kept, pricer.machine)
    products = [
        (group, layer, kernel)
        for group in dict.fromkeys(groups.values())
        for layer in group.layers
        for kernel in filter(is_product, layer.problem.kernels)
    ]
    worked = sum(cycles_of(kernel, layer.problem.extents, pricer) for _, layer, kernel in products)
    moved = load_cycles(function, pricer)
    found = [swap for product in products if (swap := swapped(*product, rooms, pricer))]
    for each in sorted(found, key=lambda each: each.moved / each.saved if each.is_faster else inf):
        working, moving = worked - each.saved, moved + each.moved
        if (each.moved <= 0 or working > moving) if each.is_faster else (each.moved < 0 and working <= moving):
            worked, moved = working, moving
            each.make()


def is_product(kernel: Kernel) -> bool:
    """Whether a kernel sums products of two tensors."""
    return sums_pairs(kernel.statement)


def swapped(
    group: FusedGroup, layer: FusedLayer, kernel: Kernel, rooms: Mapping[SSAValue, Padding], pricer: Pricer
) -> Swap | None:
    """The product of a map and weights, or of two maps, in the other order, if it is possible."""
    (x, buffer), (w, weight) = ((use.tensor, use.buffer) for use in kernel.uses[1:])
    alone = all(len(touches(layer.problem, name)) == 1 for name in (buffer, weight))
    if not group.whole or not alone or buffer not in layer.maps or weight not in {*layer.weights, *layer.copied}:
        return None
    if {BY_SAMPLE, "piece_bytes"} & set(layer.op.attributes):
        return None
    other = replace(kernel, statement=_reversed(kernel.statement))
    fitting = match(other, pricer.matches(kernel)[0].capability)
    if fitting is None:
        return None
    extents = layer.problem.extents
    before, after = cycles_of(kernel, extents, pricer), pricer.whole_cycles(fitting, extents)
    memories = dict(place(pricer.machine, fitting).memories)
    moved, size, copied_to = 0.0, 0, ""
    if memories[x] != layer.memories[buffer]:
        first, *others = layer.maps[buffer]
        copied_to = memories[x]
        links = memory_path(pricer.machine, layer.memories[buffer], copied_to)
        size = _bytes(first.root, rooms)
        bordered = x in kernel.padded and first.root not in rooms
        room = memory_of(pricer.machine, copied_to).capacity_bytes * ROOM
        if others or len(links) != 1 or bordered or size > room:
            return None
        freed = _bytes(layer.copied[weight], rooms) if weight in layer.copied else 0
        moved = (size - freed) / links[0].bandwidth_bytes_per_cycle
    made = next(op for op in layer.op.kernels if op.sym_name.data == kernel.name)
    return Swap(made, before, after, moved, weight, memories[w], size, copied_to)


def cycles_of(kernel: Kernel, extents: Mapping[str, int], pricer: Pricer) -> float:
    """Cycles of a whole kernel by itself, as it is."""
    return pricer.whole_cycles(pricer.matches(kernel)[0], extents)


def _bytes(root: SSAValue, rooms: Mapping[SSAValue, Padding]) -> int:
    """A map with the room around it."""
    shape = shape_of(root)
    return prod(rooms[root].sizes(shape) if root in rooms else shape) * element_bytes(root)


def _reversed(statement: Statement) -> Statement:
    assert isinstance(statement.value, Call)
    return replace(statement, value=replace(statement.value, args=statement.value.args[::-1]))


def load_cycles(function: FuncOp, pricer: Pricer) -> float:
    """Cycles of the loads of all weights and inputs."""
    weights = [op.result for op in function.body.walk() if isinstance(op, WeightOp)]
    sizes = (bytes_of(value) for value in (*function.body.block.args, *weights))
    return sum(sizes) / platform_of(pricer.machine).dram_bytes_per_cycle
