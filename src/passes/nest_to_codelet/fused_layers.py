"""Groups of nest groups that run tile by tile together: their layers, and the scheme that says how (Cocco, section 3).

Tiles are full rows: columns and channels of a map stay together, so that each map has one region, a ring of rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, OpResult, SSAValue

from ...algebra.affine import Affine
from ...costs.fusion import (
    POINT,
    WHOLE,
    Edge,
    Input,
    Layer,
    LayerGraph,
    Platform,
    RingPadding,
    Scheme,
    Window,
    platform_of,
    scheme_of,
)
from ...costs.fusion.pricer import ProgramPricer
from ...costs.fusion.values import Buffers, SubgraphCost
from ...costs.mapping.binding import Pricer
from ...costs.mapping.problem import Group, touches
from ...dialects import nest
from ...dialects.types import bytes_of, element_bytes, shape_of
from ...errors import TilewrightError
from ...machine import Machine
from ...search.group_tiles.candidates import Problem
from ..nest.storage import is_read_outside, storage_of, unchanged
from ..nest.trees import group_of
from .fused_marks import UNPADDED
from .map_pieces import Piece, map_shape, pieces_of, row_axis, unsupported
from .padding import Padding, wanted_padding

NO_LIMIT = Buffers(1 << 62, None)

WHOLE_TILE = 0, 0


@dataclass(frozen=True, eq=False)
class FusedLayer:
    """A nest group of a fused group: its dims of samples, rows and columns ("" for none), the memory of each buffer.

    Without `by_rows` it cannot be made row by row, and runs as a whole only.
    """

    op: nest.GroupOp
    problem: Group
    sample: str
    row: str
    column: str
    memories: dict[str, str]
    by_rows: bool = True

    @cached_property
    def made(self) -> dict[str, SSAValue]:
        """Buffers that are results -> the values whose bytes they are."""
        return {name: storage_of(result) for name, result in self.results.items()}

    @cached_property
    def results(self) -> dict[str, SSAValue]:
        """Buffers that are results -> the results."""
        names = self.op.buffers()
        return {names[value]: result for value, result in zip(self.op.yielded, self.op.outs, strict=True)}

    @cached_property
    def streamed(self) -> frozenset[str]:
        """Weights that are loaded piece by piece while the layer runs: its mapping holds them."""
        holds = (node.buffer_names for node in self.op.mapping.walk() if isinstance(node, nest.HoldOp))
        return frozenset(name for names in holds for name in names if name in self.weights)

    @cached_property
    def form(self) -> tuple[object, ...]:
        """All of it but the values that it reads and makes: what its mapping is chosen by."""
        maps = tuple((name, len(pieces)) for name, pieces in self.maps.items())
        copied = tuple((name, root.type) for name, root in self.copied.items())
        axes = self.sample, self.row, self.column, self.by_rows
        return self.problem, axes, tuple(self.memories.items()), maps, tuple(self.weights), copied

    @property
    def map_memory(self) -> str:
        """The memory of its maps; where there are several, that of its results."""
        return self.memories[next(iter(self.made))]

    @property
    def result(self) -> OpResult:
        """What it makes."""
        return self.op.outs[0]  # pyright: ignore

    @cached_property
    def inputs(self) -> dict[str, SSAValue]:
        """Name of a buffer -> the value that is read."""
        return dict(zip((name.data for name in self.op.input_names), self.op.inputs, strict=True))

    @cached_property
    def maps(self) -> dict[str, list[Piece]]:
        """Inputs that are maps, with what they consist of."""
        found = {name: pieces_of(value) for name, value in self.inputs.items()}
        return {name: pieces for name, pieces in found.items() if pieces}

    @cached_property
    def weights(self) -> dict[str, SSAValue]:
        """Inputs that are weights, and that a kernel reads."""
        return {n: value for n, value in self.inputs.items() if n not in self.maps and n in self.memories}

    @cached_property
    def copied(self) -> dict[str, SSAValue]:
        """Maps, each alone, that it reads from another memory than that of its results: copied there before."""
        elsewhere = {name: pieces for name, pieces in self.maps.items() if self.memories[name] != self.map_memory}
        return {name: pieces[0].root for name, pieces in elsewhere.items() if len(pieces) == 1}

    @cached_property
    def alone(self) -> Layer:
        """The layer as the execution scheme sees it, without what it reads."""
        weights = sum(bytes_of(value) for value in self.weights.values())
        anchor = max(self.problem.kernels, key=lambda k: self.problem.iterations(k))
        reduction = prod(self.problem.extents[dim] for dim in anchor.reductions)
        shape = map_shape(shape_of(self.result))
        return Layer(self.op.sym_name.data, "conv", shape, (), weights, reduction, 1, 1, element_bytes(self.result))

    @property
    def intermediates(self) -> list[str]:
        """Buffers that neither come from outside nor are the result."""
        return [b.name for b in self.problem.buffers if not b.is_input and not b.is_result]

    @cached_property
    def windows(self) -> Mapping[str, tuple[Window, Window]]:
        """How rows and columns of the result read those of each input that is a map."""
        return {name: self._windows(name) for name in self.maps}

    def _windows(self, name: str) -> tuple[Window, Window]:
        found: dict[tuple[Window, Window], None] = {}
        for use in touches(self.problem, name):
            axis = row_axis(len(use.forms))
            rows = POINT if axis is None else self._window(use.forms[axis], self.row)
            columns = self._window(use.forms[3], self.column) if len(use.forms) == 4 else POINT
            found[rows, columns] = None
        pairs = list(found)
        if not self.column and len({rows for rows, _ in pairs}) == 1:
            pairs = [(pairs[0][0], _joint([columns for _, columns in pairs]))]
        return pairs[0] if len(pairs) == 1 and not any(w.whole for w in pairs[0]) else (WHOLE, WHOLE)

    def _window(self, form: Affine, along: str) -> Window:
        others = [(dim, c) for dim, c in form.terms if dim != along]
        stride, extents = form.coefficient(along), self.problem.extents
        if any(c < 0 for _, c in form.terms) or (along and along == self.row and stride == 0):
            return WHOLE
        if len(others) == 1 and (stride or not along):
            return Window(extents[others[0][0]], max(stride, 1), -form.const, others[0][1])
        reach = sum(c * (extents[dim] - 1) for dim, c in others) + 1
        if along and stride == 0:  # the same positions for each column of the result
            last = extents[along] - 1
            return Window(reach + last, 1, last - form.const)
        return Window(reach, max(stride, 1), -form.const)


def _joint(windows: Sequence[Window]) -> Window:
    """One window from the first position that any of them has to the last; their strides are equal."""
    if any(window.whole for window in windows):
        return WHOLE
    pad = max(window.pad for window in windows)
    return Window(max(window.reach - window.pad for window in windows) + pad, windows[0].stride, pad)


def read_layer(op: nest.GroupOp, pricer: Pricer) -> FusedLayer:
    """A nest group as a layer of a fused group."""
    problem = group_of(op)
    where = f"group @{op.sym_name.data}"
    if len(op.outs) != 1 or any(b.is_input and b.is_result for b in problem.buffers):
        raise TilewrightError("unsupported", where, "one result of its own in a fused group", f"{len(op.outs)}")
    name = op.buffers()[op.yielded[0]]
    target = next(kernel.target for kernel in reversed(problem.kernels) if kernel.target.buffer == name)
    memories = dict(Problem.of(problem, pricer).memories)
    axis = row_axis(len(target.forms))
    sample = _dim(where, target.forms[0], problem) if target.forms else ""
    row = "" if axis is None else _dim(where, target.forms[axis], problem)
    column = ""
    if len(target.forms) == 4 and set(target.forms[3].names) <= set(problem.tileable):
        column = _dim(where, target.forms[3], problem)
    layer = FusedLayer(op, problem, sample, row, column, memories)
    for buffer in layer.maps:
        for use in touches(problem, buffer):
            has_samples = bool(sample) or len(use.forms) > 1
            if has_samples and use.forms and target.forms and use.forms[0] != target.forms[0]:
                raise TilewrightError("unsupported", where, "each sample made of one sample", "several")
    return layer


def read_whole(op: nest.GroupOp, pricer: Pricer) -> FusedLayer:
    """A nest group as a layer that may run as a whole, whatever it does."""
    try:
        return read_layer(op, pricer)
    except TilewrightError:
        problem = group_of(op)
        memories = dict(Problem.of(problem, pricer).memories)
        layer = FusedLayer(op, problem, "", "", "", memories, by_rows=False)
        found = replace(layer, sample=_one_sample(layer))
        vars(found)["maps"] = layer.maps  # which take long to find where many groups write into one map
        return found


def _one_sample(layer: FusedLayer) -> str:
    """The dim that is the first index of all maps, wherever they are read or written; "" where there is none."""
    names = {*layer.maps, *(kernel.target.buffer for kernel in layer.problem.kernels)}
    first = {use.forms[:1] for name in names for use in touches(layer.problem, name)}
    dims = [dim for dim in layer.problem.tileable if first == {(Affine(0, ((dim, 1),)),)}]
    return dims[0] if dims else ""


def _dim(where: str, form: Affine, problem: Group) -> str:
    """The dim that an index of the result is; "" where it has one value."""
    if not form.terms:
        return ""
    ((dim, coefficient), *more) = form.terms
    if more or coefficient != 1 or form.const or dim not in problem.tileable:
        raise TilewrightError("unsupported", where, "rows and samples that can be made one by one", str(form.to_expr()))
    return dim


@dataclass(frozen=True, eq=False)
class FusedGroup:
    """Layers in order, the maps from outside that they read, and the execution with tiles of `tile`.

    It is rows and columns of the last layers; 0 columns: full rows.
    """

    machine: Machine
    layers: tuple[FusedLayer, ...]
    tile: tuple[int, int]

    @property
    def whole(self) -> bool:
        """Whether it is one layer that runs as a whole, on maps that are wholly on chip."""
        return self.tile == WHOLE_TILE

    @property
    def is_unpadded(self) -> bool:
        """Whether what it makes in rows, and maps that are loaded for it, have no room around them."""
        return UNPADDED in self.layers[0].op.attributes

    @cached_property
    def number(self) -> dict[SSAValue, int]:
        """Result of a layer -> its number."""
        return {layer.result: place for place, layer in enumerate(self.layers)}

    @cached_property
    def outside(self) -> list[SSAValue]:
        """Maps that are read from outside."""
        roots = [p.root for layer in self.layers for pieces in layer.maps.values() for p in pieces]
        return [root for root in dict.fromkeys(roots) if root not in self.number]

    @cached_property
    def graph(self) -> LayerGraph:
        """The layers as the execution scheme sees them."""
        inputs = tuple(
            Input(v.name_hint or f"in{i}", map_shape(shape_of(v)), element_bytes(v)) for i, v in enumerate(self.outside)
        )
        members = {layer.op for layer in self.layers}
        leaving = tuple(place for place, layer in enumerate(self.layers) if is_read_outside(layer.result, members))
        return LayerGraph(self.name, inputs, tuple(self._layer(layer) for layer in self.layers), leaving)

    @property
    def name(self) -> str:
        """The name of the last layer."""
        return self.layers[-1].op.sym_name.data

    @property
    def samples(self) -> int:
        """How many samples run one after another."""
        shape = shape_of(self.layers[-1].result)
        return shape[0] if shape else 1

    @cached_property
    def scheme(self) -> Scheme:
        """Regions and the order of updates."""
        return self.scheme_in(self.tile, platform_of(self.machine))

    def scheme_in(self, tile: tuple[int, int], platform: Platform) -> Scheme:
        """The same with other tiles, on the platform of the machine."""
        return scheme_of(self.graph, range(len(self.layers)), tile, platform, narrow=True, rooms=dict(self.rooms))

    @cached_property
    def rooms(self) -> tuple[tuple[int, RingPadding], ...]:
        """`paddings` as the execution scheme sees them, by the numbers of their maps."""
        numbers = {value: -1 - place for place, value in enumerate(self.outside)} | self.number
        return tuple(
            (numbers[value], RingPadding(one.before[2], one.after[2], one.before[3] + one.after[3]))
            for value, one in self.paddings.items()
        )

    @cached_property
    def paddings(self) -> dict[SSAValue, Padding]:
        """What the group's layers want around maps of which some rows are there at a time."""
        readers: dict[SSAValue, dict[FusedLayer, None]] = {}
        for layer in () if self.is_unpadded else self.layers:
            for name, pieces in layer.maps.items():
                for piece in pieces if name not in layer.copied else ():
                    readers.setdefault(piece.root, {})[layer] = None
        found = {value: wanted_padding(value, layers) for value, layers in readers.items()}
        return {value: one for value, one in found.items() if one is not None and one.is_around}

    def value_of(self, number: int) -> SSAValue:
        """The map that a source of the scheme is, by its number."""
        return self.outside[-1 - number] if number < 0 else self.layers[number].result

    @cached_property
    def map_memory(self) -> str:
        """The memory of all maps but those that are copied to another."""
        found = dict.fromkeys(
            memory
            for layer in self.layers
            for name, memory in layer.memories.items()
            if name not in layer.copied and (name in layer.maps or layer.problem.by_name[name].is_result)
        )
        if len(found) > 1:
            raise unsupported(self.layers[0].result, "maps in one memory", " and ".join(found))
        return next(iter(found))

    @cached_property
    def cost(self) -> SubgraphCost:
        """What running the group costs."""
        pricer = ProgramPricer(self.graph, platform_of(self.machine), batch=self.samples, tiles=(self.tile,))
        found = pricer.cost(range(len(self.layers)), NO_LIMIT)
        assert found is not None
        return found

    def program_cycles(self, busy: Sequence[Mapping[str, float]]) -> float:
        """Cycles of the group's instructions, of which `busy` are those that each layer's computes take on each unit.

        The busiest unit, or loads and stores, as if nothing waited (`convert-codelet-to-mnemonic` knows better).
        """
        totals: dict[str, float] = {}
        for layer in busy:
            for unit, cycles in layer.items():
                totals[unit] = totals.get(unit, 0.0) + cycles
        speed = platform_of(self.machine).dram_bytes_per_cycle
        return max(self.cost.ema_bytes / speed, *totals.values())

    def _layer(self, layer: FusedLayer) -> Layer:
        """A layer as the scheme sees it: what is copied to another memory is there as a whole, as weights are."""
        edges: dict[Edge, None] = {}
        for name, pieces in layer.maps.items():
            if name in layer.copied:
                if layer.copied[name] in self.number:
                    raise unsupported(layer.result, "copies of maps of other groups", "of one of this group")
                continue
            for piece in pieces:
                rows, columns = (WHOLE, WHOLE) if piece.whole else layer.windows[name]
                place = self.number.get(piece.root, -1)
                edges[Edge(place if place >= 0 else -1 - self.outside.index(piece.root), rows, columns)] = None
        return replace(layer.alone, edges=tuple(edges))


def _tile(op: nest.GroupOp) -> tuple[int, int]:
    marks = [op.attributes.get(f"tile_{what}") for what in ("rows", "columns")]
    rows, columns = (mark.value.data if isinstance(mark, IntegerAttr) else 0 for mark in marks)
    return rows, columns


def fused_groups(block: Block, machine: Machine, pricer: Pricer) -> dict[nest.GroupOp, FusedGroup]:
    """The fused groups of a function, by each of their nest groups."""
    members: dict[int, list[nest.GroupOp]] = {}
    for op in block.ops:
        mark = op.attributes.get("fused")
        if isinstance(op, nest.GroupOp) and isinstance(mark, IntegerAttr):
            members.setdefault(mark.value.data, []).append(op)
    found: dict[nest.GroupOp, FusedGroup] = {}
    with unchanged():
        for ops in members.values():
            tile = _tile(ops[0])
            read = read_whole if tile == WHOLE_TILE else read_layer
            layers = tuple(read(op, pricer) for op in ops)
            for layer in layers:
                _ = layer.made  # of which the values above are known here
            found |= dict.fromkeys(ops, FusedGroup(machine, layers, tile))
    return found
