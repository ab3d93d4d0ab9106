"""`dram-apply`: order and groups of a schedule, on the layers that it is of."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...algebra.dag import ordered
from ...dialects import dram
from ...dialects.layer_attributes import Planned, set_planned
from ...errors import TilewrightError
from ...zoo.schedule_networks import Layer, Shape
from ..graph.graph_fuse import EPILOGUE, MOVES, find_clusters
from ..graph.schedule_layers import ScheduleTable, schedule_table
from .schedules import choices_of, function_in, network_in, network_value, schedule_of

SLICE = re.compile(r"/\d+$")
"""What the name of a slice of a layer ends with (`costs/dram/slices`)."""


@dataclass(frozen=True)
class DramApplyPass(ModulePass):
    """Put the layers of a function into the order of the module's schedule, and note what groups they are in.

        %a = graph.conv ...   ->   %a = graph.conv ... {planned = array<i64: 0, 2, 4>}

    is the layer of layer group 0, fused group 2, which has four tiles; `nest-schedule` follows it.  Network and
    schedule are gone after that.  A layer whose weights the schedule has in slices is where its last slice is.  When
    bytes move is decided anew (`codelet-prefetch`).  Precondition: one function in the graph dialect, and a schedule of
    the table of its layers (`dram-schedule`); TilewrightError (kind `schedule`) where layers, their shapes or the
    number of samples are others.
    """

    name = "dram-apply"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        schedule, network = schedule_of(op), network_in(op)
        function = function_in(op)
        found = _planned(function, schedule)
        for member, (_, planned) in found.items():
            set_planned(member, planned)
        _reorder(function.body.block, {member: place for member, (place, _) in found.items()})
        Rewriter.erase_op(schedule)
        if network is not None:
            Rewriter.erase_op(network)


def _planned(function: FuncOp, schedule: dram.ScheduleOp) -> dict[Operation, tuple[int, Planned]]:
    """The place of operations in the order, and their groups; what only moves elements goes before its first reader."""
    table = schedule_table(function)
    _check_layers(table, schedule)
    names = [layer.name for layer in table.network.layers]
    places = _places(schedule, set(names))
    found: dict[Operation, tuple[int, Planned]] = {}
    for cluster in find_clusters(function.body.block, EPILOGUE):
        at = [places[names[table.number[op]]] for op in cluster.members if op in table.number]
        if at:
            found |= dict.fromkeys(cluster.members, max(at, key=lambda pair: pair[0]))
    for op in reversed(list(function.body.block.ops)):
        readers = [found[use.operation] for result in op.results for use in result.uses if use.operation in found]
        if op not in found and isinstance(op, MOVES) and readers:
            found[op] = min(readers, key=lambda pair: pair[0])
    return found


def _check_layers(table: ScheduleTable, schedule: dram.ScheduleOp) -> None:
    """Raise `TilewrightError` (kind `schedule`) where a schedule is not of this table: layers, shapes, or samples."""
    planned, lever = network_value(schedule.scheduled), "plan this network with `tilewright schedule`"
    known = {layer.name for layer in table.network.layers}
    whole = [layer.name if layer.name in known else SLICE.sub("", layer.name) for layer in planned.layers]
    for layer, reads in zip(table.network.layers, table.network.input_shapes, strict=True):
        slices = [number for number, name in enumerate(whole) if name == layer.name]
        if not slices:
            subject, expected = table.network.name, "a schedule of the layers of the function"
            raise TilewrightError("schedule", subject, expected, f"none of layer {layer.name!r}", lever)
        first = planned.layers[slices[0]]
        shape = first.shape._replace(channels=sum(planned.layers[number].shape.channels for number in slices))
        own, given = _described(layer, layer.shape, reads), _described(first, shape, planned.input_shapes[slices[0]])
        if own != given:
            number = next(n for n, group in enumerate(schedule.layer_groups) if _has(group, first.name))
            subject = f"layer {layer.name!r} in layer group {number} of the schedule"
            raise TilewrightError("schedule", subject, f"{own}, as the network has it", given, lever)
    if (samples := schedule.batch.value.data) != table.batch:
        found, lever = f"one of {samples}", f"plan with `tilewright schedule --batch {table.batch}`"
        raise TilewrightError("schedule", table.network.name, f"a schedule of {table.batch} samples", found, lever)


def _described(layer: Layer, shape: Shape, reads: Shape) -> str:
    """What a layer is, makes and reads: `conv 16x8x8 of 16x16x16, kernel 3x3, stride 2x2, groups 1`."""
    made, read, kernel, stride = ("x".join(map(str, each)) for each in (shape, reads, layer.kernel, layer.stride))
    return f"{layer.kind} {made} of {read}, kernel {kernel}, stride {stride}, groups {layer.groups}"


def _has(group: dram.LayerGroupOp, name: str) -> bool:
    return any(name == layer.data for fused in group.fused_groups for layer in fused.layers)


def _places(schedule: dram.ScheduleOp, known: set[str]) -> dict[str, tuple[int, Planned]]:
    """Layer -> its place in the order, and its groups; those of the last slice."""
    names = [layer.sym_name.data for layer in schedule.scheduled.layers]
    found: dict[str, tuple[int, Planned]] = {}
    place = 0
    for number, group in enumerate(choices_of(schedule).fusion.fused_groups):
        for layer in group.layers:
            name = names[layer]
            found[name if name in known else SLICE.sub("", name)] = place, Planned(group.group, number, group.tiles)
            place += 1
    return found


def _reorder(block: Block, places: Mapping[Operation, int]) -> None:
    """Puts operations in the order of their places, each behind what it reads and, without one, before its readers."""
    ops = list(block.ops)
    index = {op: number for number, op in enumerate(ops)}
    key: dict[Operation, int] = {}
    for op in reversed(ops):
        readers = [key[use.operation] for result in op.results for use in result.uses]
        key[op] = places[op] if op in places else min(readers, default=len(ops))
    owners = [[value.owner for value in op.operands if isinstance(value.owner, Operation)] for op in ops]
    needs = [{index[owner] for owner in given if owner in index} for given in owners]
    last = ops[-1]
    for place in ordered(needs, [key[op] for op in ops]):
        if ops[place] is not last:
            ops[place].detach()
            block.insert_op_before(ops[place], last)
