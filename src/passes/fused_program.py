"""A fused group as tensors on chip and codelets that take turns, in the order of its execution scheme."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ..costs.fusion.regions import Region as Place
from ..costs.fusion.scheme import Held
from ..costs.mapping.place import memory_of
from ..dialects.codelet import CodeletOp, SurrogateType, TensorOp, TransferOp, ViewOp, entry
from ..dialects.codelet_fused import FillOp, FusedOp
from ..dialects.codelet_rules import surrogate
from ..dialects.roles import Role
from ..dialects.types import dtype_of, element_of, shape_of
from ..errors import InfeasibleError
from . import fused_codelets
from .fused_codelets import LayerBuilder, padded
from .fused_layers import FusedGroup, FusedLayer, Piece, row_axis, unsupported
from .nest_codelets import number

Turn = tuple[int, int, int, int]


@dataclass
class FusedBuilder:
    """Builds one group; `offchip` has the tensors in DRAM of maps from outside, of weights, and of results that leave.

    `unique` gives names that no tensor has.
    """

    group: FusedGroup
    offchip: Mapping[SSAValue, SSAValue]
    unique: Callable[[str], str]
    ops: list[Operation] = field(default_factory=list[Operation])
    regions: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    weights: dict[tuple[FusedLayer, str], SSAValue] = field(default_factory=dict[tuple[FusedLayer, str], SSAValue])
    fills: dict[tuple[str, Attribute, float], SSAValue] = field(
        default_factory=dict[tuple[str, Attribute, float], SSAValue]
    )
    ends: dict[str, int] = field(default_factory=dict[str, int])

    def build(self) -> list[Operation]:
        """Tensors, views, and the fused group."""
        scheme = self.group.scheme
        self.memory = self._memory()
        self.ends[self.memory] = scheme.demand_bytes
        for source in scheme.sources:
            self._region(source)
        layers = [self._layer(layer) for layer in self.group.layers]
        codelets = [self._begin(), *layers]
        samples, rows = [""], [""]
        for layer in self.group.layers:
            samples.append(layer.sample)
            rows.append(layer.row)
        numbers: dict[tuple[int, bool], int] = {}
        for source in scheme.sources:
            if source.number < 0 or source.leaves:
                numbers[source.number, source.number < 0] = len(codelets)
                codelets.append(self._move(source))
                axis = row_axis(len(shape_of(self._value(source))))
                samples.append("i0")
                rows.append("" if axis is None else f"i{axis}")
        turns = list(self._turns(numbers, rows))
        name = f"{self.group.name}.fused"
        return [*self.ops, FusedOp(name, turns, samples, rows, Region(Block(codelets)))]

    def _turns(self, numbers: Mapping[tuple[int, bool], int], rows: list[str]) -> Iterator[Turn]:
        """Weights once; for each sample the updates of the scheme, results leaving as soon as they are made."""
        yield 0, 0, 0, 1
        for sample in range(self.group.samples):
            for update in self.group.scheme.updates():
                made, source = update.rows, update.source
                if not made:
                    continue
                turns = [numbers[source.number, True]] if source.number < 0 else [1 + source.number]
                if source.leaves:
                    turns.append(numbers[source.number, False])
                for turn in turns:
                    yield (turn, sample, made.start, len(made)) if rows[turn] else (turn, sample, 0, 1)

    def _value(self, source: Held) -> SSAValue:
        if source.number < 0:
            return self.group.outside[-1 - source.number]
        return self.group.layers[source.number].result

    def _memory(self) -> str:
        """The memory of all maps."""
        found = dict.fromkeys(
            memory
            for layer in self.group.layers
            for name, memory in layer.memories.items()
            if name in layer.maps or layer.problem.by_name[name].is_result
        )
        if len(found) > 1:
            raise unsupported(self.group.layers[0].result, "maps in one memory", " and ".join(found))
        return next(iter(found))

    def _region(self, source: Held) -> None:
        value = self._value(source)
        shape = shape_of(value)
        axis = row_axis(len(shape))
        ring = [1 if i == 0 else source.rows.held if i == axis else 0 for i in range(len(shape))]
        type_ = SurrogateType.get(shape, element_of(value), self.memory)
        self.regions[value] = self._tensor(source.main, type_, ring)
        assert source.side is None

    def _tensor(self, place: Place, type_: SurrogateType, ring: list[int] | None = None) -> SSAValue:
        op = TensorOp(self.unique(place.name), Role.TEMP, type_, place.start, ring)
        self.ops.append(op)
        return op.result

    def _take(self, name: str, type_: SurrogateType) -> SSAValue:
        """A tensor above what is there already."""
        memory = memory_of(self.group.machine, type_.memory)
        start = self.ends.get(memory.name, 0)
        size = prod(type_.sizes) * dtype_of(type_.element).itemsize
        end = start + -(-size // memory.align_bytes) * memory.align_bytes
        if end > memory.capacity_bytes:
            lever = f"use a {memory.name} of at least {end} bytes, or smaller groups"
            raise InfeasibleError(memory.name, end, memory.capacity_bytes, "bytes", lever, f"group {self.group.name}")
        self.ends[memory.name] = end
        return self._tensor(Place(name, start, end), type_)

    def _layer(self, layer: FusedLayer) -> CodeletOp:
        """The codelet of a layer; its weights get places in the memory that its computes read them from."""
        places: dict[str, list[fused_codelets.Place]] = {}
        for buffer in layer.problem.buffers:
            name = buffer.name
            if name in layer.maps:
                value, pieces = layer.inputs[name], layer.maps[name]
                places[name] = [self._piece(value, piece, len(pieces)) for piece in pieces]
            elif name in layer.weights:
                value = layer.weights[name]
                type_ = SurrogateType.get(shape_of(value), element_of(value), layer.memories[name])
                tensor = self._take(f"{layer.op.sym_name.data} {name}", type_)
                self.weights[layer, name] = tensor
                places[name] = [fused_codelets.Place(tensor, 0, 1)]
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

    def _begin(self) -> CodeletOp:
        """Fills borders, and loads weights."""
        dims: dict[str, int] = {}
        pairs = [(self.offchip[layer.weights[name]], tensor) for (layer, name), tensor in self.weights.items()]
        values = dict.fromkeys([*self.fills.values(), *(value for pair in pairs for value in pair)])
        block = entry([value.type for value in values], [f"t{i}" for i in range(len(values))])
        inside = dict(zip(values, block.args, strict=True))
        for (_, element, pad), tensor in self.fills.items():
            block.add_op(FillOp(inside[tensor], number(pad, element)))
        for place, (source, target) in enumerate(pairs):
            shape = surrogate(target).sizes
            own = {f"w{place}_{i}": extent for i, extent in enumerate(shape)}
            dims |= own
            block.add_op(TransferOp(inside[source], inside[target], over=f"W[{', '.join(own)}]"))
        return CodeletOp(f"{self.group.name}.begin", dims or {"one": 1}, list(values), Region(block))

    def _move(self, source: Held) -> CodeletOp:
        """Rows of a map from DRAM, or to it."""
        value = self._value(source)
        inward = source.number < 0
        ends = [self.offchip[value], self.regions[value]]
        block = entry([end.type for end in ends], ["X", "R"])
        dims = {f"i{axis}": extent for axis, extent in enumerate(shape_of(value))}
        pair = block.args if inward else block.args[::-1]
        block.add_op(TransferOp(pair[0], pair[1], over=f"X[{', '.join(dims)}]"))
        name = f"{source.name}.{'load' if inward else 'store'}"
        return CodeletOp(name, dims, ends, Region(block))
