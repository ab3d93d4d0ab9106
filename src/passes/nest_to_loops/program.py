"""The instructions and tensors of a function of nest groups, for a machine of control model `loops`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ...algebra.expr import Access
from ...dialects import nest
from ...dialects.graph import WeightOp
from ...dialects.layer_attributes import nodes_of, set_layers
from ...dialects.mnemonic import ProgramOp
from ...dialects.types import Role, dtype_of, shape_of
from ...errors import TilewrightError
from ...interpreters.graph import argument_names, result_names
from ...machine import Machine
from ...machine.layer_table import LayerRecorder
from ...resources import Resources
from ...search.tiles import Buffers, Loop, choose
from ...search.tiles.choice import Block, blocks_of, vector_tiles
from ..layer_errors import check_integers, of_group
from .array_code import emit_sums
from .blocks import in_blocks, layers_in_blocks
from .emitter import Emitter, Target
from .forms import forms, reach, unsupported
from .layers import LayerBuilder
from .places import Epilogue, Rows, Store, SumLayer, VectorLayer
from .regions import Region, region_layer, region_of
from .row_code import Shape, allocate, emit_vector, epilogue_cycles, rooms, window_cycles, window_rows
from .row_code import shape_of as tile_shape
from .tensors import Pads, Stored, Table, Told, lane_axis
from .terms import Term
from .views import Turn, emit_turn, permuted, reordered, reshaped

SAME_FILL = "pad both readers with the same number, or copy the tensor between them"


@dataclass(frozen=True)
class _Alias:
    """A value that lies inside another: along which axis, and from which element on."""

    whole: SSAValue
    axis: int
    start: int


class LoopsProgram:
    """Places tensors, then emits group after group."""

    def __init__(self, machine: Machine, function: FuncOp, weights: Resources, first_tiles: bool = False) -> None:
        if machine.control != "loops":
            raise TilewrightError("target", machine.name, "control model `loops`", f"`{machine.control}`")
        check_integers(function, machine.name)
        self.function, self.weights, self.first_tiles = function, weights, first_tiles
        self.target = Target(machine)
        self.emitter = Emitter(machine)
        self.table = Table(machine.offchip[0], self.target.lanes[1], weights)
        self.groups = [op for op in function.body.block.ops if isinstance(op, nest.GroupOp)]
        self.needs = self._needs()
        self.aliases = self._aliases()
        self.places: dict[SSAValue, Stored] = {}
        self.narrowed: dict[SSAValue, np.dtype[np.generic]] = {}
        self.turns: dict[tuple[SSAValue, int], Stored] = {}
        self.layers = LayerRecorder()
        self.noted = 0
        self.cycles = self.traffic = 0.0

    def convert(self) -> ProgramOp:
        """The program of the function."""
        last = self.function.body.block.last_op
        assert isinstance(last, ReturnOp)
        names = result_names(self.function)
        self.outputs: dict[SSAValue, str] = dict(zip(last.arguments, names, strict=True))
        self.inputs: dict[SSAValue, str] = dict(
            zip(self.function.body.block.args, argument_names(self.function), strict=True)
        )
        self.table.names.update([*self.outputs.values(), *self.inputs.values()])
        for op in self.function.body.block.ops:
            if not isinstance(op, nest.GroupOp | nest.ViewOp | WeightOp | ReturnOp):
                raise TilewrightError("unsupported", op.name, "groups, views and weights", op.name)
        for value in self.outputs:
            if not isinstance(value.owner, nest.GroupOp):
                self.dtype(value)  # floats are told first
                what = "a reshape" if isinstance(value.owner, nest.ViewOp) else "a weight or an input"
                subject, lever = f"output {self.outputs[value]}", "let a layer that computes make it"
                raise TilewrightError("unsupported", subject, "an output that a layer makes", what, lever)
        waiting: Region | None = None
        for group in self.groups:
            waiting = self._take(group, waiting)
        if waiting is not None:
            self._region(waiting)
        layers = self.layers.table().numbers()
        self.emitter.words, cycles, moved = in_blocks(self.target, words := self.emitter.words, self.emitter.cuts)
        figures = {"model_cycles": self.cycles + cycles, "model_dram_bytes": self.traffic + moved}
        made = ProgramOp(self.function.sym_name.data, self.table.ops, self.emitter.code(), figures)
        set_layers(made, self.layers.table_of(layers_in_blocks(words, layers, self.emitter.words)))
        return made

    def _needs(self) -> dict[SSAValue, tuple[Pads, int | None]]:
        """The padding of each value: the most that a kernel needs, and one fill for all."""
        needs: dict[SSAValue, tuple[Pads, int | None]] = {}
        for group in self.groups:
            outside = group.outside
            for kernel, form in [(kernel, form) for kernel in group.kernels for form in forms(kernel)[1:]]:
                value = outside.get(kernel.operands_by_name[form.name])
                if value is None:
                    continue
                shape = shape_of(value)
                with of_group(group):
                    found = reach(kernel, form, shape, group.extents)
                    pads, fill = needs.get(value, (((0, 0),) * len(shape), None))
                    if None not in (fill, found.fill) and fill != found.fill:
                        raise unsupported(kernel, f"padding with {fill}, as another reader", f"{found.fill}", SAME_FILL)
                wider = tuple((max(a, c), max(b, d)) for (a, b), (c, d) in zip(pads, found.pads, strict=True))
                needs[value] = wider, found.fill if fill is None else fill
        return needs

    def _aliases(self) -> dict[SSAValue, _Alias]:
        """Values that are only copied into a part of another, or overwritten in part, lie there from the beginning."""
        found: dict[SSAValue, _Alias] = {}
        for group in self.groups:
            piece = copied(group)
            if piece is None:
                continue
            if piece.onto is not None:
                found[piece.onto] = _Alias(group.results[0], 0, 0)
            value, whole = piece.value, piece.start % self.table.lanes == 0
            if isinstance(value.owner, nest.GroupOp) and value.has_one_use() and whole and value not in self.needs_fill:
                found[value] = _Alias(group.results[0], piece.axis, piece.start)
        return found

    @property
    def needs_fill(self) -> set[SSAValue]:
        """Values that something reads past the ends of."""
        return {value for value, (_, fill) in self.needs.items() if fill is not None}

    def place(self, value: SSAValue) -> Stored:
        """Where a value lies; it is placed when it is first asked for."""
        if value in self.places:
            return self.places[value]
        if value in self.aliases:
            alias = self.aliases[value]
            whole = self.place(alias.whole)
            step = whole.pitches[alias.axis]
            rows = alias.start // whole.lanes if alias.axis == whole.lane else alias.start
            moved = Stored(whole.address + rows * step, whole.pitches, whole.lane, whole.row_bytes, whole.lanes)
            self.places[value] = moved
            return moved
        seen = self._seen(value)
        if seen is not None:
            self.places[value] = seen
            return seen
        pads, fill = self.needs.get(value, (((0, 0),) * len(shape_of(value)), None))
        self.places[value] = self.table.rows(self.told(value), pads, fill)
        return self.places[value]

    def _seen(self, value: SSAValue) -> Stored | None:
        """Where a value lies that is another one under another shape, or with its axes in another order."""
        if isinstance(value.owner, nest.ViewOp):
            source = value.owner.source
            name = value.name_hint or "a view"
            return reshaped(name, self.place(source), shape_of(source), shape_of(value))
        moved = permuted(value.owner) if isinstance(value.owner, nest.GroupOp) else None
        if moved is None or value in self.outputs:
            return None
        return reordered(self.place(moved[0]), moved[1])

    def turned(self, value: SSAValue, lane: int) -> Stored:
        """A value with its rows of lanes along an axis: where it lies, or a copy that is made now."""
        place = self.place(value)
        if place.lane == lane:
            return place
        if (value, lane) not in self.turns:
            shape, dtype = shape_of(value), self.dtype(value)
            name = self.table.name(f"{self.name_of(value)[0]}.turned")
            made = self.table.turned(Told(name, Role.TEMP, dtype, shape), lane)
            self._turn(Turn(shape, place, made, 8 * dtype.itemsize))
            self.turns[value, lane] = made
        return self.turns[value, lane]

    def _turn(self, turn: Turn) -> None:
        cycles, moved = emit_turn(self.emitter, self.target, turn)
        self.cycles += cycles + moved / self.target.bandwidth[0]
        self.traffic += moved

    def narrow(self, value: SSAValue, term: Term) -> None:
        """Notes that a tensor in between holds what 8 bits hold: it is stored so."""
        inner = value not in self.outputs and value not in self.aliases and value not in self.places
        copies = any(isinstance(use.operation, nest.GroupOp) and copied(use.operation) for use in value.uses)
        whole = not term.wrapped and int(term.low.min()) >= -128 and int(term.high.max()) <= 127
        if inner and whole and not copies and value not in self.needs_fill:
            self.narrowed[value] = np.dtype(np.int8)

    def store(self, value: SSAValue, term: Term, rows: Callable[[Stored], Rows]) -> Store:
        """How a term leaves as a value: to `rows` of the place where that lies."""
        self.narrow(value, term)
        return Store(str(term.name), rows(self.place(value)), 8 * self.dtype(value).itemsize)

    def name_of(self, value: SSAValue) -> tuple[str, Role]:
        """The name of a value's tensor, and its role."""
        if value in self.inputs:
            return self.inputs[value], Role.INPUT
        if value in self.outputs:
            return self.outputs[value], Role.OUTPUT
        if isinstance(value.owner, WeightOp):
            return self.table.name(value.owner.resource), Role.WEIGHT
        if isinstance(value.owner, nest.ViewOp):
            return self.table.name(f"{self.name_of(value.owner.source)[0]}.reshaped"), Role.TEMP
        return self.table.name(str(getattr(value.owner, "sym_name").data)), Role.TEMP

    def told(self, value: SSAValue) -> Told:
        """What the table is told of a value; the elements of a weight go by its name from then on."""
        name, role = self.name_of(value)
        if (constant := self.constant(value)) is not None:
            self.weights[name] = constant
        return Told(name, role, self.dtype(value), shape_of(value))

    def dtype(self, value: SSAValue) -> np.dtype[np.generic]:
        """The element type; `TilewrightError` for what the machine has none of."""
        if isinstance(value.owner, nest.ViewOp):
            return self.dtype(value.owner.source)
        moved = permuted(value.owner) if isinstance(value.owner, nest.GroupOp) else None
        if moved is not None and value not in self.outputs:
            return self.dtype(moved[0])
        if value in self.narrowed:
            return self.narrowed[value]
        dtype = dtype_of(cast(TensorType, value.type).element_type)
        if dtype.name not in ("int8", "int16", "int32"):
            lever = "quantise the network with activations in int8: this machine has no other integers"
            raise TilewrightError("unsupported", self.name_of(value)[0], "signed integers", dtype.name, lever)
        return dtype

    def constant(self, value: SSAValue) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None:
        """The elements of a weight; None for other values."""
        if isinstance(value.owner, WeightOp) and value.owner.resource in self.weights:
            return np.asarray(self.weights[value.owner.resource])
        return None

    def _take(self, group: nest.GroupOp, waiting: Region | None) -> Region | None:
        """Emits a group, or the region before it, or lets it wait in a region for those behind it."""
        with of_group(group):
            return self._taken(group, waiting)

    def _taken(self, group: nest.GroupOp, waiting: Region | None) -> Region | None:
        if waiting is not None:
            if waiting.reads(group) and waiting.take(group):
                return waiting
            self._region(waiting)
        piece, moved = copied(group), permuted(group)
        if (piece is not None and piece.value in self.aliases) or (moved and group.results[0] not in self.outputs):
            return None
        if moved is not None and moved[1][lane_axis(moved[1])] != self.place(moved[0]).lane:
            result, source = group.results[0], reordered(self.place(moved[0]), moved[1])
            width = 8 * self.dtype(moved[0]).itemsize
            self._turn(Turn(shape_of(result), source, self.place(result), width))
            self._note([group])
            return None
        region = region_of(group)
        if region is not None:
            return region
        layer = LayerBuilder(self, group).build()
        if isinstance(layer, SumLayer):
            self._sums(layer)
        else:
            self._vector(layer)
        self._note([group])
        return None

    def _region(self, region: Region) -> None:
        """Emits the groups of a region."""
        with of_group(region.groups[-1]):
            self._vector(region_layer(self, region))
        self._note(region.groups)

    def _note(self, groups: Sequence[nest.GroupOp]) -> None:
        """Notes that all instructions since the last note are of these groups."""
        nodes = [node for group in groups for node in nodes_of(group) or (group.sym_name.data,)]
        self.layers.took(self.layers.layer(nodes), len(self.emitter.words) - self.noted)
        self.noted = len(self.emitter.words)

    def _sums(self, layer: SumLayer) -> None:
        roles, (bandwidth, request) = self.target.roles, self.target.bandwidth
        rows = [self.target.rows(roles[name]) for name in ("input", "weight", "output")]
        latency = self.target.array[1].latency_cycles
        most = rows[2] if layer.epilogue is None else self._most_rows(layer.epilogue, layer.problem.n, rows[2])
        buffers = Buffers(rows[0], rows[1], most, bandwidth, latency, request)
        choice = choose(layer.problem, buffers, self.first_tiles)
        for block in choice.tiling.blocks(layer.problem):
            emit_sums(self.emitter, self.target, layer, choice.tiling.order, block)
            turns = prod(n for dim, n in block.count.items() if dim != "k")
            self.traffic += turns * (0 if layer.epilogue is None else _side_bytes(layer.epilogue, block))
            if layer.bias is not None:
                walked = choice.tiling.order[: choice.tiling.order.index("n") + 1] if block.count["n"] > 1 else ()
                self.traffic += prod(block.count[dim] for dim in walked) * block.tile["n"] * layer.bias.row_bytes
        self.cycles += choice.cycles
        self.traffic += choice.dram_bytes

    def _most_rows(self, epilogue: Epilogue, blocks: int, rows: int) -> int:
        """Rows of sums in a tile, so that what follows them has room for what it holds at once."""
        room = rooms(self.target, 0)
        while rows > 1 and allocate(epilogue, Shape(-(-rows // blocks), blocks, self.table.lanes), room) is None:
            rows -= -(-rows // 8)
        return rows

    def _vector(self, layer: VectorLayer) -> None:
        window, epilogue = layer.window, layer.epilogue
        y, x = (window.y, window.x) if window is not None else (Loop(1), Loop(1))

        def fits(tile: Mapping[str, int]) -> bool:
            shape = tile_shape(self.target, tile)
            taken = window_rows(window, tile)
            room = rooms(self.target, taken)
            first = "sum" if window is not None else ""
            products = window is not None and window.weight is not None
            if taken > room.rows[0] or shape.size * (1 + products) > room.rows[1]:
                return False
            return allocate(epilogue, shape, room, first) is not None

        lanes = self.table.lanes if epilogue.folds else 0
        tile = vector_tiles(layer.extents, y, x, fits, lanes)
        for block in blocks_of(layer.extents, tile, list(tile)):
            turns = [dim for dim in ("batch", "n", "y", "x") if block.count[dim] > 1]
            before = len(self.emitter.words)
            emit_vector(self.emitter, self.target, layer, turns, block)
            self._price(layer, block)
            self.cycles += len(self.emitter.words) - before

    def _price(self, layer: VectorLayer, block: Block) -> None:
        """Adds a box of tiles of the vector engine to what is predicted: transfers and issues one after another."""
        out = block.tile["n"] * block.tile["y"] * block.tile["x"]
        shape = tile_shape(self.target, block.tile)
        moved, issues = _side_bytes(layer.epilogue, block), epilogue_cycles(self.target, layer.epilogue, shape)
        moved += sum(out * store.rows.row_bytes for store in layer.epilogue.stores)
        window = layer.window
        if window is not None:
            taps = window.y.taps * window.x.taps
            halo = window.y.input(block.tile["y"]) * window.x.input(block.tile["x"]) * block.tile["n"]
            moved += halo * window.rows.row_bytes
            issues += window_cycles(self.target, window, shape)
            moved += taps * block.tile["n"] * window.weight.row_bytes if window.weight is not None else 0
        turns = prod(block.count.values())
        self.traffic += turns * moved
        self.cycles += turns * (moved / self.target.bandwidth[0] + issues)


def _side_bytes(epilogue: Epilogue, block: Block) -> int:
    """Bytes that operations on a tile load: constants of columns, and other tensors."""
    rows = block.tile["n"] * block.tile["y"] * block.tile["x"]
    tensors = sum(rows * tensor.row_bytes for tensor, _ in epilogue.tensors)
    return tensors + sum(block.tile["n"] * vector.row_bytes for vector in epilogue.vectors)


@dataclass(frozen=True)
class _Piece:
    """A group that puts a value into a part of another, `onto` it if that has other parts already."""

    value: SSAValue
    onto: SSAValue | None
    axis: int
    start: int


def copied(group: nest.GroupOp) -> _Piece | None:
    """What a group copies to where; None if it does something else."""
    outside = group.outside
    if len(group.kernels) != 1 or len(group.results) != 1:
        return None
    kernel = group.kernels[0]
    statement, every = kernel.statement.data, forms(kernel)
    if statement.reduce != "=" or not isinstance(statement.value, Access) or len(every) != 2:
        return None
    value = outside.get(kernel.operands_by_name[every[1].name])
    onto = outside.get(kernel.init) if kernel.init is not None else None
    same = [a.terms for a in every[0].axes] == [b.terms for b in every[1].axes]
    if value is None or not same or not every[0].axes or value.type == group.results[0].type:
        return None
    offsets = [i for i, axis in enumerate(every[0].axes) if axis.const] or [0]
    whole = [
        n == group.extents[axis.names[0]] for n, axis in zip(shape_of(value), every[1].axes, strict=True) if axis.names
    ]
    if len(offsets) > 1 or not all(whole) or any(axis.const for axis in every[1].axes):
        return None
    return _Piece(value, onto, offsets[0], every[0].axes[offsets[0]].const)
