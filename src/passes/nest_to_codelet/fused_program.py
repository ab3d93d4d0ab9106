"""A fused group as tensors on chip and codelets that take turns, in the order of its execution scheme."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from math import prod

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...algebra.allocation import BumpAllocator, align_up
from ...costs.fusion.regions import Region as Place
from ...costs.fusion.regions import require_group_bytes
from ...costs.fusion.scheme import Held, Update
from ...costs.mapping.place import memory_of
from ...dialects.codelet import CodeletOp, SurrogateType, TensorOp, TransferOp, ViewOp, entry
from ...dialects.codelet_fused import FillOp, FusedOp
from ...dialects.codelet_rules import surrogate
from ...dialects.layer_attributes import nodes_of, set_nodes
from ...dialects.roles import Role
from ...dialects.types import dtype_of, element_of, shape_of
from ...machine import Memory
from . import fused_codelets
from .fused_codelets import LayerBuilder, padded
from .fused_copies import copy_codelet
from .fused_layers import FusedGroup, FusedLayer, Piece, row_axis, unsupported
from .fused_weights import WeightRoom
from .group_codelets import number

Turn = tuple[int, int, int, int, int, int]

MAKE, STORE, SAVE, RESTORE = "make", "store", "save", "restore"
"""What is done to a map in its turn; a map from outside is made by loading it."""


@dataclass
class FusedBuilder:
    """Builds one group; `offchip` has the tensors in DRAM of maps from outside, of weights, and of results that leave.

    `unique` gives names that no tensor has; `room` knows where the weights of the group before lie.
    """

    group: FusedGroup
    offchip: Mapping[SSAValue, SSAValue]
    unique: Callable[[str], str]
    room: WeightRoom
    ops: list[Operation] = field(default_factory=list[Operation])
    regions: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    sides: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    weights: dict[tuple[FusedLayer, str], SSAValue] = field(default_factory=dict[tuple[FusedLayer, str], SSAValue])
    fills: dict[tuple[str, Attribute, float], SSAValue] = field(
        default_factory=dict[tuple[str, Attribute, float], SSAValue]
    )
    bumps: dict[str, BumpAllocator] = field(default_factory=dict[str, BumpAllocator])

    def build(self) -> list[Operation]:
        """Tensors, views, and the fused group."""
        scheme = self.group.scheme
        self.memory = self.group.map_memory
        align = memory_of(self.group.machine, self.memory).align_bytes
        self.bumps[self.memory] = BumpAllocator(align, scheme.demand_bytes)
        for source in scheme.sources:
            self._region(source)
        early = self._weights()
        layers = [self._layer(layer) for layer in self.group.layers]
        codelets = layers.copy()
        first: list[int] = []
        loads: dict[int, int] = {}
        if self.fills:
            first.append(len(codelets))
            codelets.append(self._fill())
            set_nodes(codelets[-1], _nodes(self.group.layers[0]))
        for place, layer in enumerate(self.group.layers):
            if layer.weights:
                loads[place] = len(codelets)
                codelets.append(self._load(layer))
                set_nodes(codelets[-1], _nodes(layer))
        dims = [(layer.sample, layer.row, layer.column) for layer in self.group.layers]
        dims += [("", "", "")] * (len(codelets) - len(layers))
        moves: dict[tuple[int, str], int] = {}
        for source in scheme.sources:
            for what, codelet, own in self._moves(source):
                moves[source.number, what] = len(codelets)
                set_nodes(codelet, _nodes(self._layer_of(source)))
                codelets.append(codelet)
                dims.append(own)
        first += [loads.pop(place) for place in early]
        turns = [*((number, 0, 0, 1, 0, 1) for number in first), *self._turns(moves, loads, dims)]
        samples, rows, columns = ([own[axis] for own in dims] for axis in range(3))
        name, region = f"{self.group.name}.fused", Region(Block(codelets))
        if self.group.tile[1]:
            return [*self.ops, FusedOp(name, turns, samples, rows, region, columns)]
        return [*self.ops, FusedOp(name, [turn[:4] for turn in turns], samples, rows, region)]

    def _turns(
        self, moves: Mapping[tuple[int, str], int], loads: dict[int, int], dims: Sequence[tuple[str, str, str]]
    ) -> Iterator[Turn]:
        """For each sample the updates of the scheme, results leaving as soon as they are made.

        The weights of a layer that are not there are loaded when it begins.
        """
        for sample in range(self.group.samples):
            for update in self.group.scheme.updates():
                number = update.source.number
                for what, rows in _steps(update):
                    columns = update.columns
                    if not rows or not columns:
                        continue
                    if what == MAKE and number in loads:
                        yield loads.pop(number), 0, 0, 1, 0, 1
                    turn = number if what == MAKE and number >= 0 else moves.get((number, what))
                    if turn is not None:
                        _, by_row, by_column = dims[turn]
                        first, count = (rows.start, len(rows)) if by_row else (0, 1)
                        left, width = (columns.start, len(columns)) if by_column else (0, 1)
                        yield turn, sample, first, count, left, width

    def _moves(self, source: Held) -> Iterator[tuple[str, CodeletOp, tuple[str, str, str]]]:
        """Codelets that load or store a map, or copy between its regions; their dims of samples, rows and columns."""
        value, machine = self._value(source), self.group.machine
        axis = row_axis(len(shape_of(value)))
        own = ("i0", "" if axis is None else f"i{axis}", "i3" if axis == 2 else "")
        if source.number < 0:
            yield MAKE, self._move(source, inward=True), own
        elif source.leaves:
            yield STORE, self._move(source, inward=False), own
        if value in self.sides:
            main, side = self.regions[value], self.sides[value]
            for what, ends in ((SAVE, (main, side)), (RESTORE, (side, main))):
                codelet, layer = copy_codelet(machine, f"{source.name}.{what}", value, *ends)
                yield what, codelet, (layer.sample, layer.row, layer.column)

    def _layer_of(self, source: Held) -> FusedLayer:
        """The layer that makes a map; of a map from outside the first that reads it."""
        if source.number >= 0:
            return self.group.layers[source.number]
        value = self._value(source)
        return next(
            layer for layer in self.group.layers if any(p.root is value for found in layer.maps.values() for p in found)
        )

    def _value(self, source: Held) -> SSAValue:
        return self.group.value_of(source)

    def _region(self, source: Held) -> None:
        value = self._value(source)
        shape = shape_of(value)
        axis = row_axis(len(shape))
        ring = [1 if i == 0 else source.rows.held if i == axis else 0 for i in range(len(shape))]
        type_ = SurrogateType.get(shape, element_of(value), self.memory)
        if self.group.tile[1] and len(shape) == 4:
            ring[3] = source.columns.held
        self.regions[value] = self._tensor(source.main, type_, ring)
        if source.side is not None:
            self.sides[value] = self._tensor(source.side, type_, [1, 0, source.rows.kept, shape[3]])

    def _tensor(self, place: Place, type_: SurrogateType, ring: list[int] | None = None) -> SSAValue:
        op = TensorOp(self.unique(place.name), Role.TEMP, type_, place.start, ring)
        self.ops.append(op)
        return op.result

    def _take(self, name: str, type_: SurrogateType) -> SSAValue:
        """A tensor above what is there already."""
        memory = memory_of(self.group.machine, type_.memory)
        bump = self.bumps.setdefault(memory.name, BumpAllocator(memory.align_bytes))
        place = Place(name, bump.take(_size(type_)), bump.end)
        self._require(memory, bump.end)
        return self._tensor(place, type_)

    def _require(self, memory: Memory, demand: int) -> None:
        require_group_bytes(memory.name, demand, memory.capacity_bytes, f"group {self.group.name}")

    def _weights(self) -> list[int]:
        """Places for all weights; the first layers whose weights can be loaded while the group before computes."""
        kinds: dict[str, list[tuple[FusedLayer, str, SurrogateType]]] = {}
        for layer in self.group.layers:
            for name, value in layer.weights.items():
                type_ = SurrogateType.get(shape_of(value), element_of(value), layer.memories[name])
                kinds.setdefault(type_.memory, []).append((layer, name, type_))
        late: set[FusedLayer] = set()
        used: dict[str, list[tuple[int, int]]] = {}
        for kind, found in kinds.items():
            for (layer, name, type_), place in zip(found, self._placed(kind, found), strict=True):
                self.weights[layer, name] = self._tensor(place, type_)
                if not self.room.is_free(kind, place.start, place.size):
                    late.add(layer)
                used.setdefault(kind, []).append((place.start, place.end))
        follows, self.room.used = bool(self.room.used), used
        order = [place for place, layer in enumerate(self.group.layers) if layer.weights] if follows else []
        return list(takewhile(lambda place: self.group.layers[place] not in late, order))

    def _placed(self, kind: str, found: Sequence[tuple[FusedLayer, str, SurrogateType]]) -> Iterator[Place]:
        """Addresses in one memory: above the maps, or where the group before ended."""
        memory = memory_of(self.group.machine, kind)
        sizes = [align_up(_size(type_), memory.align_bytes) for _, _, type_ in found]
        bump = self.bumps.get(kind)
        starts = [bump.take(size) for size in sizes] if bump else self.room.place(memory, sizes)
        self._require(memory, bump.end if bump else sum(sizes))
        assert starts is not None
        for (layer, name, _), start, size in zip(found, starts, sizes, strict=True):
            yield Place(f"{layer.op.sym_name.data} {name}", start, start + size)

    def _layer(self, layer: FusedLayer) -> CodeletOp:
        """The codelet of a layer; its weights get places in the memory that its computes read them from."""
        places: dict[str, list[fused_codelets.Place]] = {}
        for buffer in layer.problem.buffers:
            name = buffer.name
            if name in layer.maps:
                value, pieces = layer.inputs[name], layer.maps[name]
                places[name] = [self._piece(value, piece, len(pieces)) for piece in pieces]
            elif name in layer.weights:
                places[name] = [fused_codelets.Place(self.weights[layer, name], 0, 1)]
            elif buffer.is_result:
                places[name] = [fused_codelets.Place(self.regions[layer.result], 0, 1)]
        borders = {(name, pad): self._border(layer, name, pad) for name, pad in padded(layer)}
        return LayerBuilder(self.group.machine, layer, places, borders).build()

    def _piece(self, value: SSAValue, piece: Piece, count: int) -> fused_codelets.Place:
        region = self.regions[piece.root]
        shape, own = shape_of(value), shape_of(piece.root)
        if shape != own and count == 1:
            view = ViewOp(region, SurrogateType.get(shape, element_of(value), self.memory))
            self.ops.append(view)
            region = view.result
        elif count > 1 and len(shape) != len(own):
            raise unsupported(value, "joined maps as they were made", f"{own} as a part of {shape}")
        return fused_codelets.Place(region, piece.start, piece.stop)

    def _border(self, layer: FusedLayer, name: str, pad: float) -> SSAValue:
        """The element that stands for what lies outside of a map."""
        element = element_of(layer.inputs[name])
        key = layer.memories[name], element, pad
        if key not in self.fills:
            self.fills[key] = self._take(f"border {pad}", SurrogateType.get([1], element, key[0]))
        return self.fills[key]

    def _fill(self) -> CodeletOp:
        """Fills borders."""
        values = list(self.fills.values())
        block = entry([value.type for value in values], [f"t{i}" for i in range(len(values))])
        for ((_, element, pad), _), inside in zip(self.fills.items(), block.args, strict=True):
            block.add_op(FillOp(inside, number(pad, element)))
        return CodeletOp(f"{self.group.name}.borders", {"one": 1}, values, Region(block))

    def _load(self, layer: FusedLayer) -> CodeletOp:
        """Loads the weights of a layer."""
        dims: dict[str, int] = {}
        pairs = [(self.offchip[value], self.weights[layer, name]) for name, value in layer.weights.items()]
        values = list(dict.fromkeys(value for pair in pairs for value in pair))
        block = entry([value.type for value in values], [f"t{i}" for i in range(len(values))])
        inside = dict(zip(values, block.args, strict=True))
        for place, (source, target) in enumerate(pairs):
            own = {f"w{place}_{i}": extent for i, extent in enumerate(surrogate(target).sizes)}
            dims |= own
            block.add_op(TransferOp(inside[source], inside[target], over=f"W[{', '.join(own)}]"))
        return CodeletOp(f"{layer.op.sym_name.data}.weights", dims or {"one": 1}, values, Region(block))

    def _move(self, source: Held, *, inward: bool) -> CodeletOp:
        """Rows of a map from DRAM, or to it."""
        value = self._value(source)
        ends = [self.offchip[value], self.regions[value]]
        block = entry([end.type for end in ends], ["X", "R"])
        dims = {f"i{axis}": extent for axis, extent in enumerate(shape_of(value))}
        pair = block.args if inward else block.args[::-1]
        block.add_op(TransferOp(pair[0], pair[1], over=f"X[{', '.join(dims)}]"))
        name = f"{source.name}.{'load' if inward else 'store'}"
        return CodeletOp(name, dims, ends, Region(block))


def _nodes(layer: FusedLayer) -> tuple[str, ...]:
    """The nodes of the model that a layer is of."""
    return nodes_of(layer.op) or (layer.op.sym_name.data,)


def _size(type_: SurrogateType) -> int:
    return prod(type_.sizes) * dtype_of(type_.element).itemsize


def _steps(update: Update) -> Iterator[tuple[str, range]]:
    """What an update does, with rows: those kept from the row of tiles before come back, those of the next are kept.

    SIDE has all columns, which are copied there as soon as they are made (the paper's has those outside of MAIN only,
    each of which moves when it leaves MAIN); rows that stay longer keep their places in it.
    """
    axis, fresh = update.source.rows, update.rows
    window = axis.window(update.row)
    if update.source.side is not None:
        yield RESTORE, range(window.start, fresh.start)
    yield MAKE, fresh
    yield STORE, fresh
    if update.source.side is not None and update.row < axis.last:
        following = axis.window(update.row + 1)
        yield SAVE, range(max(following.start, fresh.start), min(following.stop, window.stop))
