"""The pass `nest-schedule`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import inf, prod

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass

from ...algebra.allocation import align_up
from ...costs.fusion import Scheme, platform_of
from ...costs.mapping.binding import pricer_of
from ...costs.mapping.place import memory_of
from ...dialects import nest
from ...dialects.acg import machine_of
from ...dialects.layer_attributes import PLANNED, planned_of
from ...dialects.types import bytes_of, shape_of
from ...errors import TilewrightError
from ...machine import Machine
from ...remembered import remembered
from ...search.followed import Group, follow
from ...search.group_tiles.candidates import Problem
from ...search.network import Layer, Network, Rows
from ...search.residency import plan
from ...search.steps import OFFCHIP, Plan, Span
from ..functions import functions_of
from ..nest_to_codelet.fused_layers import WHOLE_TILE, FusedGroup, FusedLayer, read_whole
from ..nest_to_codelet.fused_marks import BY_SAMPLE, KEPT, KEPT_LATER, RELOADED, UNPADDED
from ..nest_to_codelet.fused_tiles import scratch_bytes, scratch_room, stream_of
from ..nest_to_codelet.map_pieces import row_axis
from .storage import overwritable, overwrite, readers_of, storage_of, unchanged

ROWS = (32, 16, 8, 4, 2, 1)
"""Rows of the last layers of a group that are made at a time, as they are tried."""

PIECES = 64, 32, 16, 8, 4
"""Of a memory's capacity two pieces of weights take at most one of these parts."""


@dataclass(frozen=True)
class NestSchedulePass(ModulePass):
    """Decide which groups run on chip, as a whole or tile by tile, and which maps stay there between them.

    Before: groups without a mapping, as `convert-graph-to-nest{in_place=true}` makes them, and the target.  After: a
    group that runs on chip has `fused`, the number of its step; groups of one step run tile by tile, `tile_rows` at a
    time; one whose `tile_rows` is 0 runs as a whole.  Results that stay on chip are `kept`, or, where those of a span
    are stored, `kept_later`: from the first group after the span that reads them.  `piece_bytes` bounds the
    pieces in which weights are loaded while their layer runs.  Groups without marks are tiled from DRAM.

        %a = nest.group @conv ...        ->     %a = nest.group @conv ... attributes {fused = 0, tile_rows = 0, kept}

    The steps are of least traffic (`search/residency`); where layers are `planned`, those of that schedule as far as
    there is room (`search/followed`).  `share` is the part of the memory for maps that they may take.  From each
    of the `cuts` to the next groups are a span, marked `by_sample` with its number from 0 on: all samples pass through
    the first span, one after another, then through the second, and so on; the last has as many fewer groups as there
    is no room for.  Their weights stay; with `reload` groups are also `reloaded`: theirs are loaded for each sample.
    With `unpadded` groups are marked so: rings of rows, and maps that are loaded for a layer, have no room around them
    for what windows read out of bounds.  With `overlap` the traffic of a step counts as far as the busiest unit works
    for fewer cycles on its layers: more of these run in rows together while an input comes in.
    """

    name = "nest-schedule"
    share: float | int = 1.0
    cuts: tuple[int, ...] = ()
    reload: bool = False
    unpadded: bool = False
    overlap: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        for function in functions_of(op):
            reader = Reader(machine, function, unpadded=self.unpadded)
            network, given = reader.network(self.share, overlap=self.overlap), reader.given()
            if given:
                reader.mark(follow(network, given, reader.rows_given))
            else:
                spans = [Span(*ends, self.reload) for ends in pairwise(self.cuts)]
                reader.mark(plan(network, reader.rows_of, spans=spans))


class Reader:
    """The groups of a function as the layers of a network whose maps may stay on chip."""

    def __init__(self, machine: Machine, function: FuncOp, *, unpadded: bool = False) -> None:
        pricer = pricer_of(machine)
        self.machine, self.function = machine, function
        groups = [op for op in function.body.block.ops if isinstance(op, nest.GroupOp) and not op.is_mapped]
        for op in groups if unpadded else ():
            op.attributes[UNPADDED] = UnitAttr()
        self.numbers: dict[SSAValue, int] = {}
        with unchanged():
            self.layers = [read_whole(op, pricer) for op in groups]
            for layer in self.layers:
                for value in (*_read(layer), *layer.made.values()):
                    self.numbers.setdefault(value, len(self.numbers))
        self.platform = platform_of(machine)
        self.pricer = pricer
        self.forms = {layer: pricer.remembered(("form", layer.form), object) for layer in self.layers}

    @property
    def samples(self) -> int:
        """The samples of the first layer's result."""
        shape = shape_of(self.layers[0].result) if self.layers else ()
        return shape[0] if shape else 1

    def network(self, share: float, *, overlap: bool = False) -> Network:
        """What the search sees; with `overlap` layers have the cycles of the unit that has most to do for all."""
        buffers = self.platform.buffers
        last = self.function.body.block.last_op
        returned = {storage_of(value) for value in (last.arguments if isinstance(last, ReturnOp) else ())}
        given = frozenset(n for value, n in self.numbers.items() if _is_given(value))
        results = frozenset(n for value, n in self.numbers.items() if value in returned)
        align = self.platform.align_bytes
        sizes = tuple(align_up(bytes_of(value), align) for value in self.numbers)
        layers = tuple(self._layer(layer) for layer in self.layers)
        if overlap:
            works = [self._work(layer, 0) for layer in self.layers]
            units = {unit for work in works for unit in work}
            unit = max(sorted(units), key=lambda unit: sum(work.get(unit, 0.0) for work in works))
            layers = tuple(replace(one, cycles=work.get(unit, 0.0)) for one, work in zip(layers, works, strict=True))
        speed = self.platform.dram_bytes_per_cycle
        room = int(buffers.global_bytes * share)
        return Network(layers, sizes, given, results, room, buffers.weight_bytes, speed, self.samples)

    def _layer(self, layer: FusedLayer) -> Layer:
        weights = {value: name for name, value in layer.weights.items()}
        total = sum(bytes_of(value) for value in weights)
        memory = memory_of(self.machine, layer.map_memory)
        scratch = min(scratch_bytes(layer, layer.problem.extents), scratch_room(memory.capacity_bytes))
        return Layer(
            reads=tuple(self.numbers[value] for value in _read(layer)),
            makes=tuple(dict.fromkeys(self.numbers[value] for value in layer.made.values())),
            weight_bytes=total,
            piece_bytes=tuple(sorted(self._pieces(layer))),
            scratch_bytes=scratch,
            copied_bytes=sum(bytes_of(value) for value in layer.copied.values()),
            by_rows=layer.by_rows,
            by_sample=bool(layer.sample) and shape_of(layer.result)[0] == self.samples > 1,
            overwrites=tuple(self._overwrites(layer)),
        )

    @remembered
    def _overwrites(self, layer: FusedLayer) -> dict[int, tuple[str, nest.KernelOp]]:
        """Maps in whose place a layer may make its own -> the input that they are, and the kernel that writes there.

        What rows of a table are read by lies off chip.
        """
        return {
            self.numbers[layer.inputs[name]]: (name, kernel)
            for name, kernel in overwritable(layer.op).items()
            if [piece.root for piece in layer.maps.get(name, ())] == [layer.inputs[name]]
            and not any(map(self._is_index, layer.made.values()))
        }

    @remembered
    def _is_index(self, value: SSAValue) -> bool:
        """Whether rows of a table are read by a map."""
        return any(isinstance(reader, nest.RowsOp) for reader in readers_of(value))

    def _pieces(self, layer: FusedLayer) -> dict[int, int]:
        """Bytes of two pieces of a layer's weights, with what is not cut -> the limit on pieces that makes them."""
        if not layer.weights:
            return {}
        memory = memory_of(self.machine, next(iter(layer.memories[name] for name in layer.weights)))
        whole = {value: bytes_of(value) for value in layer.weights.values()}
        pieces: dict[int, int] = {}
        for part in PIECES:
            limit = memory.capacity_bytes // part // 2
            question = "stream", layer.form, limit
            found = self.pricer.remembered(question, partial(stream_of, self.machine, layer, limit))
            if found is not None:
                rest = sum(size for value, size in whole.items() if not self._cut(layer, found.names, value))
                pieces.setdefault(2 * (found.piece_bytes + rest), limit)
        return pieces

    @staticmethod
    def _cut(layer: FusedLayer, names: Sequence[str], value: SSAValue) -> bool:
        return any(layer.weights[name] is value for name in names)

    def given(self) -> list[Group]:
        """The groups of a schedule that the layers are planned by; what it does not know runs by itself."""
        marks = [planned_of(layer.op) for layer in self.layers]
        found: list[Group] = []
        group, fused = 0, None
        for place, mark in enumerate(marks if any(marks) else ()):
            if mark is not None and mark.fused_group == fused:
                found[-1] = replace(found[-1], stop=place + 1)
                continue
            group = group if mark is None else mark.layer_group
            fused = None if mark is None else mark.fused_group
            found.append(Group(place, place + 1, group, mark is not None and mark.tiles > 1))
        return found

    def rows_given(self, start: int, stop: int) -> list[Rows]:
        """Ways to run layers in as many tiles as their schedule says, or in more: samples first, then rows."""
        last, mark = self.layers[stop - 1], planned_of(self.layers[start].op)
        shape = shape_of(last.result)
        axis = row_axis(len(shape))
        rows, samples = 1 if axis is None else shape[axis], shape[0] if shape else 1
        first = -(-rows * samples // max(samples, mark.tiles if mark is not None else 1))
        return self._ways(start, stop, (first, *(rows for rows in ROWS if rows < first)))

    @remembered
    def rows_of(self, start: int, stop: int) -> list[Rows]:
        """Ways to run layers tile by tile."""
        return self._ways(start, stop, ROWS)

    def _ways(self, start: int, stop: int, counts: Sequence[int]) -> list[Rows]:
        """Layers so many rows at a time, where they can.  Those of the same forms are asked about once."""
        layers, found = tuple(self.layers[start:stop]), list[Rows]()
        if any(map(_mixes_samples, layers)) or len({shape_of(layer.result)[:1] for layer in layers}) > 1:
            return []
        group = FusedGroup(self.machine, layers, WHOLE_TILE)
        try:
            form = tuple(self.forms[layer] for layer in layers), group.map_memory, group.graph.form, group.rooms
        except TilewrightError:  # maps in several memories, or a layer that reads weights alone
            return []
        for rows in counts:
            regions, cycles = self.pricer.remembered(("rows", form, rows), partial(self._regions, group, rows))
            if regions:
                rings = {self.numbers[group.value_of(number)]: size for number, size in regions}
                found.append(Rows(rows, rings, cycles, -(-layers[-1].problem.extents.get(layers[-1].row, 1) // rows)))
        return found

    def _regions(self, group: FusedGroup, rows: int) -> tuple[list[tuple[int, int]], float]:
        """The bytes of the ring of each map of a group, and `_more_cycles`; none where there is no scheme."""
        try:
            scheme = group.scheme_in((rows, 0), self.platform)
        except TilewrightError:
            return [], inf
        return [(held.number, held.main.size) for held in scheme.sources], self._more_cycles(group, scheme)

    def _more_cycles(self, group: FusedGroup, scheme: Scheme) -> float:
        """Cycles of the busiest unit beyond those that it has where layers are made as wholes."""
        rows = [scheme.by_number[place].rows.delta for place in range(len(group.layers))]
        in_rows = [self._work(layer, count) for layer, count in zip(group.layers, rows, strict=True)]
        return _busiest(in_rows) - _busiest([self._work(layer, 0) for layer in group.layers])

    def _work(self, layer: FusedLayer, rows: int) -> Mapping[str, float]:
        """Cycles of each unit for a layer, so many rows at a time (0, or a layer without rows: all)."""
        rows = rows if layer.row else 0
        return self.pricer.remembered(("work", self.forms[layer], rows), partial(self._work_of, layer, rows))

    def _work_of(self, layer: FusedLayer, rows: int) -> Mapping[str, float]:
        question = "problem", self.forms[layer]
        problem = self.pricer.remembered(question, partial(Problem.of, layer.problem, self.pricer))
        tile = dict(layer.problem.extents)
        updates = 1
        if rows:  # of one sample after another
            samples = {layer.sample: 1} if layer.sample else {}
            cut = {**samples, layer.row: min(rows, tile[layer.row])}
            updates = prod(-(-tile[dim] // size) for dim, size in cut.items())
            tile |= cut
        found: dict[str, float] = {}
        for place, bound in zip(problem.places, problem.bound, strict=True):
            unit = place.match.capability.node
            cycles = float(self.pricer.tile_cycles(place.match, bound, tile)[0])
            found[unit] = found.get(unit, 0.0) + updates * cycles
        return found

    def mark(self, found: Plan) -> None:
        """Write a plan into the IR."""
        for number, step in enumerate(found.steps):
            for place in range(step.start, step.stop):
                layer = self.layers[place]
                if step.rows == OFFCHIP:
                    continue
                marks = layer.op.attributes
                marks.pop(PLANNED, None)
                marks["fused"], marks["tile_rows"] = IntegerAttr(number, i64), IntegerAttr(step.rows, i64)
                if step.piece_bytes:
                    marks["piece_bytes"] = IntegerAttr(self._pieces(layer)[step.piece_bytes], i64)
                for own, span in enumerate(found.spans):
                    if place in span:
                        marks |= {BY_SAMPLE: IntegerAttr(own, i64)} | ({RELOADED: UnitAttr()} if span.reload else {})
                made = {self.numbers[value] for value in layer.made.values()}
                if made & found.kept:
                    marks[KEPT_LATER if made & found.later else KEPT] = UnitAttr()
                if step.overwritten >= 0:
                    overwrite(layer.op, *self._overwrites(layer)[step.overwritten])


def _is_given(value: SSAValue) -> bool:
    """Whether a map comes from outside: an input, or rows of a table."""
    return isinstance(value, BlockArgument) or isinstance(value.owner, nest.RowsOp)


def _mixes_samples(layer: FusedLayer) -> bool:
    """Whether a layer reads a map in a shape of other samples: what is kept of them by rows cannot be seen so."""
    pieces = (piece for found in layer.maps.values() for piece in found)
    return any(shape_of(piece.value)[:1] != shape_of(piece.root)[:1] for piece in pieces)


def _busiest(works: Sequence[Mapping[str, float]]) -> float:
    """Cycles of the unit that has most to do for all layers."""
    units = {unit for work in works for unit in work}
    return max(sum(work.get(unit, 0.0) for work in works) for unit in units)


def _read(layer: FusedLayer) -> list[SSAValue]:
    """The maps that a layer reads."""
    return list(dict.fromkeys(piece.root for pieces in layer.maps.values() for piece in pieces))
