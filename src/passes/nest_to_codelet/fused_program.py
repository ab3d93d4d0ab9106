"""Groups of layers that run on chip as `codelet.fused`: maps, weights, and turns that load, compute and store.

A group of several layers runs tile by tile in the order of its execution scheme, a ring of rows on chip for each of its
maps; a layer that runs as a whole reads and makes whole maps.  A map that is kept on chip from one group to the next
lies in one tensor for all of them.  Addresses are left open.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...costs.fusion.scheme import Held
from ...costs.mapping.place import offchip
from ...dialects.codelet import CodeletOp, SurrogateType, TensorOp, ViewOp, entry
from ...dialects.codelet_fused import FillOp, FusedOp
from ...dialects.codelet_rules import surrogate
from ...dialects.layer_attributes import nodes_of, set_nodes
from ...dialects.nest import GroupOp
from ...dialects.types import Role, element_of, shape_of
from ...errors import TilewrightError
from ..nest.arrivals import outermost_cut, weight_pieces
from ..nest.storage import last_writer, storage_of
from . import fused_codelets
from .fused_codelets import LayerBuilder
from .fused_copies import copy_codelet, in_pieces, in_rows, transfer_codelet, weights_codelet
from .fused_layers import FusedGroup, FusedLayer
from .fused_marks import KEPT_LATER, OnChip
from .fused_turns import BORDER, MAKE, RESTORE, SAVE, STORE, Turn, arriving_rows, steps
from .group_codelets import number
from .map_pieces import Piece, row_axis
from .padded_maps import ROWS, SAMPLES, Borders, border_codelet, can_fill, loaded_paddings
from .padding import Padding

NO_DIMS = "", "", ""

MOST_TURNS = 1 << 17
"""Turns of a group, each of which becomes instructions of its own."""


@dataclass
class FusedBuilder:
    """Builds one group; `offchip` has the tensors in DRAM of maps from outside, of weights, and of results that leave.

    `unique` gives names that no tensor has.  With `sample`, a layer that runs as a whole does so for that one;
    its weights are loaded where they are not there.
    """

    group: FusedGroup
    offchip: Mapping[SSAValue, SSAValue]
    unique: Callable[[str], str]
    onchip: OnChip
    sample: int | None = None
    ops: list[Operation] = field(default_factory=list[Operation])
    regions: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    sides: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    copies: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    fills: dict[tuple[str, Attribute, float], SSAValue] = field(
        default_factory=dict[tuple[str, Attribute, float], SSAValue]
    )
    paddings: dict[SSAValue, Padding] = field(default_factory=dict[SSAValue, Padding])
    codelets: list[CodeletOp] = field(default_factory=list[CodeletOp])
    dims: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])

    def build(self) -> list[Operation]:
        """Tensors, views, and the fused group; `TilewrightError` (kind `limit`) where it has too many turns."""
        self.paddings |= self.onchip.paddings
        turns = list(islice(self._whole() if self.group.whole else self._tiled(), MOST_TURNS + 1))
        if len(turns) > MOST_TURNS:
            expected, lever = f"at most {MOST_TURNS} tiles", "give more rows a tile, or --partition none"
            raise TilewrightError("limit", f"group {self.group.name}", expected, "more", lever)
        samples, rows, columns = ([own[axis] for own in self.dims] for axis in range(3))
        name, region = f"{self.group.name}.fused", Region(Block(self.codelets))
        name += f".{self.sample}" if self.sample else ""
        if self.group.tile[1]:
            return [*self.ops, FusedOp(name, turns, samples, rows, region, columns)]
        return [*self.ops, FusedOp(name, [turn[:4] for turn in turns], samples, rows, region)]

    def _add(self, codelet: CodeletOp, layer: FusedLayer, dims: tuple[str, str, str] = NO_DIMS) -> int:
        """The number of a codelet that works for `layer`."""
        set_nodes(codelet, nodes_of(layer.op) or (layer.op.sym_name.data,))
        self.codelets.append(codelet)
        self.dims.append(dims)
        return len(self.codelets) - 1

    def _whole(self) -> Iterator[Turn]:
        """Loads of what is not there, the layer, and stores of what leaves."""
        (layer,) = self.group.layers
        by_sample, sample = self.sample is not None, self.sample or 0
        moved = ("i0" if by_sample else "", "", "")
        made = dict.fromkeys(layer.made.values())
        read = dict.fromkeys(piece.root for pieces in layer.maps.values() for piece in pieces)
        self.paddings |= loaded_paddings(self.group, self.onchip.kept)
        loaded = [value for value in read if self._whole_map(value, layer)]
        for value in made:
            self._whole_map(value, layer)
        are_missing = self._place_weights()
        copied = list(self._copied(layer))
        main = self._layer(layer)
        loads: list[Turn] = []
        for value in loaded:
            dims = moved if shape_of(value) else NO_DIMS  # a number has no samples
            loads.append(Turn(self._add(self._load_whole(value), layer, dims), sample))
        if are_missing and (load := self._load(layer)) is not None:
            place = len(loads) if weight_pieces(layer) is not None else 0
            loads.insert(place, Turn(self._add(load, layer)))
        yield from loads
        for codelet in copied:
            yield Turn(self._add(codelet, layer))
        borders = [border for value in (*made, *loaded) if (border := self._border("border", value)) is not None]
        if self.fills:
            yield Turn(self._add(self._fill(), layer))
        for border in borders:
            yield Turn(self._add(border, layer, (SAMPLES if by_sample else "", "", "")), sample)
        yield Turn(self._add(main, layer, (layer.sample if by_sample else "", "", "")), sample)
        for value in made:
            if value in self.offchip and self._is_whole(value, layer):
                yield Turn(self._add(self._store_whole(value, layer), layer, moved), sample)

    def _copied(self, layer: FusedLayer) -> Iterator[CodeletOp]:
        """Copies of maps that a layer reads from another memory than they are kept in, as wholes with the room around
        them; where layers run tile by tile, a map that is not kept comes from DRAM.
        """
        for name, root in layer.copied.items():
            if root in self.copies:
                continue
            is_there = self.group.whole or root in self.onchip.tensors
            region, title = (self.regions if is_there else self.offchip)[root], f"{layer.op.sym_name.data} {name}"
            type_ = SurrogateType.get(surrogate(region).sizes, element_of(root), layer.memories[name])
            self.copies[root] = self._tensor(title, type_, None)
            yield in_rows(transfer_codelet(f"{title}.copy", (region, self.copies[root]), type_.sizes), type_.sizes)

    def _border(self, what: Borders, value: SSAValue) -> CodeletOp | None:
        """What fills room around a map; None where it has none."""
        padding, region = self.paddings.get(value), self.regions[value]
        if padding is None:
            return None
        element = self._filled(surrogate(region).memory, element_of(value), padding.value)
        name = f"{value.name_hint or 'map'}.{what}"
        return border_codelet(self.group.machine, what, name, value, padding, (element, region))

    def _whole_map(self, value: SSAValue, layer: FusedLayer) -> bool:
        """Sees to a tensor on chip for all of a map; whether it is a new one."""
        if value in self.regions:
            return False
        known = self.onchip.tensors.get(value)
        if known is None:
            sizes = self._sizes(value)
            type_ = SurrogateType.get(sizes, element_of(value), layer.map_memory)
            one = self.sample is not None and value in self.onchip.sampled
            ring = [1, *(0 for _ in sizes[1:])] if one else None
            self.regions[value] = self._tensor(value.name_hint or "map", type_, ring)
            if value in self.onchip.kept:
                self.onchip.tensors[value] = self.regions[value]
            return True
        self.regions[value] = known
        return False

    def _tiled(self) -> Iterator[Turn]:
        """The turns of the group's execution scheme; weights and maps that are kept are there before."""
        scheme = self.group.scheme
        sources = (self.group.value_of(source.number) for source in scheme.sources)
        roots = (root for layer in self.group.layers for root in layer.copied.values())
        loaded = [value for value in dict.fromkeys((*sources, *roots)) if self._kept_map(value)]
        for source in scheme.sources:
            self._region(source)
        self._place_weights()
        copied = [(each, layer) for layer in self.group.layers for each in self._copied(layer)]
        layers = [self._layer(layer) for layer in self.group.layers]
        for codelet, layer in zip(layers, self.group.layers, strict=True):
            self._add(codelet, layer, (layer.sample, layer.row, layer.column))
        borders = list(self._borders())
        moved = [(source, list(self._moves(source))) for source in scheme.sources]
        fills = [self._fill()] if self.fills else []  # what all codelets read
        own = [(codelet, self.group.layers[0]) for codelet in (*map(self._load_whole, loaded), *fills, *borders)]
        for codelet, layer in (*own, *copied):
            yield Turn(self._add(codelet, layer))
        loads = {
            place: self._add(load, layer)
            for place, layer in enumerate(self.group.layers)
            if layer.weights and (load := self._load(layer)) is not None
        }
        moves = {
            (source.number, what): self._add(codelet, self._layer_of(source), own)
            for source, made in moved
            for what, codelet, own in made
        }
        yield from self._updates(moves, loads)

    def _borders(self) -> Iterator[CodeletOp]:
        """What fills room around maps that are kept, and beside the rows of others, for all samples."""
        for source in self.group.scheme.sources:
            value = self.group.value_of(source.number)
            if value in self.onchip.kept:
                border = self._border("border", value) if source.number >= 0 else None
            else:
                border = self._border("columns", value) if self._has_columns(value) else None
            if border is not None:
                yield border

    def _has_columns(self, value: SSAValue) -> bool:
        """Whether there is room beside the rows of a map."""
        return value in self.paddings and bool(self.paddings[value].before[3] or self.paddings[value].after[3])

    def _kept_map(self, value: SSAValue) -> bool:
        """Whether a map is kept that is not on chip yet and comes from DRAM; it gets a tensor."""
        if value not in self.onchip.kept:
            return False
        new = self._whole_map(value, self.group.layers[0])
        return new and value not in self.group.number

    def _updates(self, moves: Mapping[tuple[int, str], int], loads: dict[int, int]) -> Iterator[Turn]:
        """For each sample the updates of the scheme, results leaving as soon as they are made.

        The weights of a layer are loaded when it begins.
        """
        for sample in range(self.group.samples):
            for update in self.group.scheme.updates():
                number = update.source.number
                for what, rows in steps(update):
                    columns = update.columns
                    if not rows or not columns:
                        continue
                    if what == MAKE and number in loads:
                        yield Turn(loads.pop(number))
                    turn = number if what == MAKE and number >= 0 else moves.get((number, what))
                    if turn is not None:
                        _, by_row, by_column = self.dims[turn]
                        first, count = (rows.start, len(rows)) if by_row else (0, 1)
                        left, width = (columns.start, len(columns)) if by_column else (0, 1)
                        step = arriving_rows(self.group, self.onchip.kept, number, count) if what == MAKE else count
                        for row in range(first, first + count, step):
                            yield Turn(turn, sample, row, min(step, first + count - row), left, width)

    def _moves(self, source: Held) -> Iterator[tuple[str, CodeletOp, tuple[str, str, str]]]:
        """Codelets that load or store a map, or copy between its regions; their dims of samples, rows and columns."""
        value, machine = self.group.value_of(source.number), self.group.machine
        axis = row_axis(len(shape_of(value)))
        own = ("i0", "" if axis is None else f"i{axis}", "i3" if axis == 2 else "")
        is_ring = value in self.paddings and value not in self.onchip.kept
        if is_ring and (border := self._border("rows", value)) is not None:
            yield BORDER, border, (SAMPLES if shape_of(value)[0] > 1 else "", ROWS, "")
        if source.number < 0 and value not in self.onchip.kept:
            yield MAKE, self._move(value, source.name, inward=True), own
        elif source.number >= 0 and value in self.offchip and self._is_whole(value, self._layer_of(source)):
            yield STORE, self._move(value, source.name, inward=False), own
        if value in self.sides:
            main, side = self.regions[value], self.sides[value]
            for what, ends in ((SAVE, (main, side)), (RESTORE, (side, main))):
                codelet, layer = copy_codelet(machine, f"{source.name}.{what}", value, *ends)
                yield what, codelet, (layer.sample, layer.row, layer.column)

    def _is_whole(self, value: SSAValue, layer: FusedLayer) -> bool:
        """Whether no layer after this one writes a part of a map that is stored.

        One that is loaded after a span leaves where it is made: a later layer may lie in its place on chip.
        """
        root = storage_of(value)
        if isinstance(root.owner, GroupOp) and KEPT_LATER in root.owner.attributes:
            return root.owner is layer.op
        return last_writer(root) is layer.op

    def _layer_of(self, source: Held) -> FusedLayer:
        """The layer that makes a map; of a map from outside the first that reads it."""
        if source.number >= 0:
            return self.group.layers[source.number]
        value = self.group.value_of(source.number)
        return next(
            layer for layer in self.group.layers if any(p.root is value for found in layer.maps.values() for p in found)
        )

    def _region(self, source: Held) -> None:
        """The rows of a map that are on chip at a time; nothing for one that is there as a whole."""
        value = self.group.value_of(source.number)
        if value in self.regions:
            return
        padding, shape = self.group.paddings.get(value), shape_of(value)
        if padding is not None and not source.whole and not self.group.tile[1]:
            self.paddings |= {value: padding} if can_fill(self.group.machine, value, padding) else {}
        axis = row_axis(len(shape))
        ring = [1 if i == 0 else source.rows.held if i == axis else 0 for i in range(len(shape))]
        type_ = SurrogateType.get(self._sizes(value), element_of(value), self.group.map_memory)
        if self.group.tile[1] and len(shape) == 4:
            ring[3] = source.columns.held
        self.regions[value] = self._tensor(source.main.name, type_, ring)
        if source.side is not None:
            self.sides[value] = self._tensor(source.side.name, type_, [1, 0, source.rows.kept, shape[3]])

    def _tensor(self, name: str, type_: SurrogateType, ring: list[int] | None = None) -> SSAValue:
        op = TensorOp(self.unique(name), Role.TEMP, type_, None, ring)
        self.ops.append(op)
        return op.result

    def _place_weights(self) -> bool:
        """A tensor on chip for each weight of a layer that is there as a whole; whether there are new ones."""
        known = len(self.onchip.weights)
        for layer in self.group.layers:
            for name, value in layer.weights.items():
                if name not in layer.streamed and (layer, value) not in self.onchip.weights:
                    type_ = SurrogateType.get(shape_of(value), element_of(value), layer.memories[name])
                    self.onchip.weights[layer, value] = self._tensor(f"{layer.op.sym_name.data} {name}", type_)
        return len(self.onchip.weights) > known

    def _layer(self, layer: FusedLayer) -> CodeletOp:
        """The codelet of a layer; its weights get places in the memory that its computes read them from."""
        places: dict[str, list[fused_codelets.Place]] = {}
        for buffer in layer.problem.buffers:
            name = buffer.name
            if name in layer.maps:
                places[name] = [self._piece(piece, layer.memories[name]) for piece in layer.maps[name]]
            elif name in layer.weights and name not in layer.streamed:
                places[name] = [fused_codelets.Place(self.onchip.weights[layer, layer.weights[name]], 0, 1)]
            elif name in layer.made:
                root = layer.made[name]
                view = self._viewed(root, self.regions[root], layer.results[name])
                places[name] = [fused_codelets.Place(view, 0, 1, self._shift(root, layer.results[name]))]
        borders = {
            (name, pad): self._filled(layer.memories[name], element_of(layer.inputs[name]), pad)
            for name, pad in layer.op.padded()
            if not all(place.shift for place in places[name])
        }
        streamed = {name: self.offchip[layer.weights[name]] for name in layer.streamed}
        return LayerBuilder(self.group.machine, layer, places, borders, streamed).build()

    def _piece(self, piece: Piece, memory: str) -> fused_codelets.Place:
        is_copied = memory != self.group.map_memory
        region, shift = (self.copies if is_copied else self.regions)[piece.root], self._shift(piece.root, piece.value)
        return fused_codelets.Place(self._viewed(piece.root, region, piece.value), piece.start, piece.stop, shift)

    def _shift(self, root: SSAValue, value: SSAValue) -> tuple[int, ...]:
        """Where the first element of a map with room around it lies, in the shape of `value`."""
        padding = self.paddings.get(root)
        return padding.seen_as(shape_of(value)).before if padding is not None else ()

    def _sizes(self, value: SSAValue) -> Sequence[int]:
        """The extents of a map on chip."""
        padding = self.paddings.get(value)
        return shape_of(value) if padding is None else padding.sizes(shape_of(value))

    def _viewed(self, root: SSAValue, region: SSAValue, value: SSAValue) -> SSAValue:
        """The tensor on chip `region` of a map in the shape of `value`."""
        if shape_of(root) == shape_of(value):
            return region
        padding, shape = self.paddings.get(root), shape_of(value)
        sizes = shape if padding is None else padding.seen_as(shape).sizes(shape)
        type_ = SurrogateType.get(sizes, element_of(value), surrogate(region).memory)
        view = ViewOp(region, type_)
        self.ops.append(view)
        return view.result

    def _filled(self, memory: str, element: Attribute, value: float) -> SSAValue:
        """An element on chip that has a value: it stands for what lies outside of maps."""
        key, borders = (memory, element, value), self.onchip.borders
        if key not in borders:
            borders[key] = self.fills[key] = self._tensor(f"border {value}", SurrogateType.get([1], element, memory))
        return borders[key]

    def _fill(self) -> CodeletOp:
        """Fills borders."""
        values = list(self.fills.values())
        block = entry([value.type for value in values], [f"t{i}" for i in range(len(values))])
        for ((_, element, pad), _), inside in zip(self.fills.items(), block.args, strict=True):
            block.add_op(FillOp(inside, number(pad, element)))
        return CodeletOp(f"{self.group.name}.borders", {"one": 1}, values, Region(block))

    def _load(self, layer: FusedLayer) -> CodeletOp | None:
        """Loads the weights of a layer that are on chip as a whole."""
        known = (value for value in layer.weights.values() if (layer, value) in self.onchip.weights)
        pairs = {value: (self.offchip[value], self.onchip.weights[layer, value]) for value in known}
        return weights_codelet(layer, pairs) if pairs else None

    def _move(self, value: SSAValue, name: str, *, inward: bool) -> CodeletOp:
        """Rows of a map from DRAM, or to it."""
        ends, shift = (self.offchip[value], self.regions[value]), self._shift(value, value)
        title = f"{name}.{'load' if inward else 'store'}"
        return transfer_codelet(title, ends, shape_of(value), inward=inward, shift=shift)

    def _load_whole(self, value: SSAValue) -> CodeletOp:
        """A map from DRAM in pieces: samples, and rows of them, so that who reads them waits for less."""
        return self._in_pieces(value, row_axis(len(shape_of(value))) or 2, inward=True)

    def _store_whole(self, value: SSAValue, layer: FusedLayer) -> CodeletOp:
        """A map to DRAM in pieces: samples, and what its layer makes of them first.

        Those of sequences are columns, which is how products make them, or rows where the layer is cut into rows.
        """
        cut, rows = outermost_cut(layer.op), row_axis(len(shape_of(value)))
        in_rows = cut is not None and cut[0] == layer.row and rows is not None
        return self._in_pieces(value, rows if in_rows and rows is not None else 2, inward=False)

    def _in_pieces(self, value: SSAValue, cut: int, *, inward: bool) -> CodeletOp:
        """A map from DRAM, or to it, in pieces of its axes 0 and `cut`, of whole bursts of DRAM."""
        codelet = self._move(value, value.name_hint or "map", inward=inward)
        return in_pieces(codelet, value, cut, offchip(self.group.machine).align_bytes)
