"""The pass `convert-graph-to-nest`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import graph, nest
from ...dialects.graph.nodes import node_names
from ...dialects.layer_attributes import PLANNED, set_nodes
from ...dialects.types import shape_of, tensor_type
from ...errors import TilewrightError
from ...resources import Resources, resources_of
from ..functions import functions_of
from ..graph.graph_fuse import EPILOGUE, find_clusters, is_constant
from ..graph.samples import samples_of
from . import contraction, movement, window
from .addends import PIXEL_AXES, begin_with_addends
from .builder import GroupBuilder, Term
from .diagonals import diagonals, read_as_vector
from .elementwise import ELEMENTWISE, Frame
from .operands import first_reader, is_read_in_place, machine_of_queues, read_narrow, shared_operands
from .scope import Scope

ANCHORS = {
    graph.ConvOp: contraction.conv,
    graph.UnfoldOp: window.unfold,
    graph.GemmOp: contraction.gemm,
    graph.MatmulOp: contraction.matmul,
    graph.PoolOp: window.pool,
    graph.ReduceOp: window.reduce,
    graph.SoftmaxOp: window.softmax,
    graph.LayerNormOp: window.layer_norm,
    graph.StandardizeOp: window.standardize,
    graph.LrnOp: window.lrn,
    graph.TransposeOp: movement.transpose,
    graph.SliceOp: movement.slice_,
    graph.ExpandOp: movement.expand,
    graph.ResizeOp: movement.resize,
}
PIECES = {graph.ConcatOp: movement.concat, graph.PadOp: movement.pad, graph.GatherOp: movement.gather}


@dataclass(frozen=True)
class ConvertGraphToNestPass(ModulePass):
    """Turn every layer, or fused group of layers, into a `nest.group` of kernels.

    Before: `graph` layers on tensors, fused groups or not.  After: only `nest.group`, `nest.view` and `graph.weight` in
    the functions; mappings are empty.  A fused group becomes one group as long as its elementwise layers follow what is
    in it; concat, borders and gathers become one group per block that is copied, each into the result of the last.

        %y = graph.unary relu %x : (tensor<1x8xf32>) -> tensor<1x8xf32>

    becomes

        %y = nest.group @layer dims {c = 8} ins(X = %x) -> tensor<1x8xf32> {
        ^bb0(%X : tensor<1x8xf32>):
          %0 = nest.kernel @relu "Y[0, c] = relu(A[0, c])" (A = %X) : (tensor<1x8xf32>) -> tensor<1x8xf32>
          nest.yield %0 : tensor<1x8xf32>
        }

    On machines of queues kernels read narrow integers without a cast where a capability takes them, and constants with
    equal diagonals, such as a causal mask, from a vector of these (`diagonals`).  The bytes of weights are used for
    zero points and diagonals, where they are known.

    With `in_place`, for maps that stay on chip (`nest-schedule`), layers that stand by themselves become one group with
    what follows them element by element, what is joined along channels is read where it lies (`nest.join`), others are
    joined right before their first reader, and weights and inputs that several products read are copied to a map, with
    `by_sample` inputs of which one sample has room.  Sums of products in f32 begin with what is added to maps of
    pixels, with `by_sample` to any (`begin_with_addends`).
    """

    name = "convert-graph-to-nest"
    in_place: bool = False
    by_sample: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = {weight.resource for weight in op.walk() if isinstance(weight, graph.WeightOp)}
        resources = resources_of(op)
        for function in functions_of(op):
            _Conversion(op, function, self, resources, names).run()


@dataclass
class _Open:
    """A group that is being built, and the layers' values in it."""

    builder: GroupBuilder
    terms: dict[SSAValue, Term] = field(default_factory=dict[SSAValue, Term])
    layers: list[Operation] = field(default_factory=list[Operation])


class _Conversion:
    """Replaces the layers of one function; `weights` are the names of all weights in the module."""

    def __init__(
        self,
        module: ModuleOp,
        function: func.FuncOp,
        options: ConvertGraphToNestPass,
        resources: Resources,
        weights: set[str],
    ) -> None:
        self.block = function.body.block
        self.in_place, self.by_sample = options.in_place, options.by_sample
        self.done: dict[Operation, None] = {}  # in order
        self.marks: dict[str, Attribute] = {}
        self.fused = 0
        self.at: Operation | None = None
        self.nodes = node_names(function)
        self.layers: Sequence[Operation] = ()  # that groups are now of
        self.machine = machine_of_queues(module)
        samples = samples_of(self.block) if options.by_sample else 1
        self.shared = shared_operands(module, self.block, samples) if options.in_place else frozenset[SSAValue]()
        self.weights = weights
        self.scope = Scope(self._emit, resources, taken={*weights})

    def _emit(self, op: Operation) -> None:
        assert self.at is not None
        if isinstance(op, nest.GroupOp):
            set_nodes(op, [self.nodes.of(name) for layer in self.layers if (name := graph.name_of(layer)) is not None])
            marks = (layer.attributes.get(PLANNED) for layer in self.layers)
            op.attributes |= {PLANNED: mark for mark in marks if mark is not None}
        elif isinstance(op, graph.WeightOp):
            self.weights.add(op.resource)
        Rewriter.insert_op(op, InsertPoint.before(self.at))

    def run(self) -> None:
        """Converts the function in place."""
        for arg in self.block.args:
            if arg in self.shared:
                self._keep(arg, arg.name_hint or "input", self.block.first_op)
        if self.in_place:
            self._join_late()
        for op, layers in list(self._steps()):
            self.at = op
            self._convert(op, layers)
        for op in self.block.ops:
            if op not in self.done and not isinstance(op, nest.GroupOp):  # which is made of final values
                for i, operand in enumerate(op.operands):
                    op.operands[i] = self.scope.values.get(operand, operand)
        self._make_outputs()
        for op in reversed(self.done):
            op.detach()
            op.erase(safe_erase=False)
        for op in reversed(list(self.block.ops)):
            if isinstance(op, nest.ViewOp) and not op.result.uses:
                Rewriter.erase_op(op)

    def _join_late(self) -> None:
        """Moves what is joined by copies to right before its first reader: an input among the pieces, as the cache of a
        decoder, takes no room before.
        """
        for op in reversed(list(self.block.ops)):
            if not isinstance(op, graph.ConcatOp) or not op.result.uses or is_read_in_place(op):
                continue
            reader = first_reader(op.result, self.block)
            if not isinstance(reader, func.ReturnOp):
                op.detach()
                Rewriter.insert_op(op, InsertPoint.before(reader))

    def _make_outputs(self) -> None:
        """Each returned value gets a tensor of its own: a copy where it is an argument, a weight, or returned twice."""
        last = self.block.last_op
        assert isinstance(last, func.ReturnOp)
        self.at = last
        self.layers = ()
        made: set[SSAValue] = set()
        for i, value in enumerate(last.arguments):
            root = value
            while isinstance(root.owner, nest.ViewOp):
                root = root.owner.source
            if isinstance(root.owner, nest.GroupOp) and root not in made:
                made.add(root)
                continue
            builder = GroupBuilder(self.scope.unique("copy"))
            self._emit(group := builder.finish([movement.whole(value, builder).value], None))
            last.operands[i] = group.outs[0]

    def _steps(self) -> Iterator[tuple[Operation, Sequence[Operation]]]:
        """The operations of the function, each with the layers that are converted when it is their turn."""
        if not self.in_place:
            yield from ((op, [op]) for op in self.block.ops)
            return
        clusters: dict[Operation, Sequence[graph.LayerOp]] = {
            cluster.tail: cluster.members for cluster in find_clusters(self.block, EPILOGUE)
        }
        inside = {member for members in clusters.values() for member in members}
        for op in self.block.ops:
            if op in clusters:
                yield op, _anchor_first(clusters[op])
            elif op not in inside:
                yield op, [op]

    def _convert(self, op: Operation, layers: Sequence[Operation] = ()) -> None:
        match op:
            case graph.WeightOp():
                if self.machine is not None and read_as_vector(op.result):
                    self._read_as_vector(op)
                if op.result in self.shared and op.result not in self.scope.vectors:
                    self._keep(op.result, op.resource, first_reader(op.result, self.block))
                return
            case graph.ReshapeOp():
                self._reshape(op)
            case graph.LookupOp():
                self._lookup(op)
            case graph.LayerGroupOp() | graph.FusedGroupOp():
                self._group(op)
            case graph.ConcatOp() if self.in_place and is_read_in_place(op):
                self._join(op)
            case graph.LayerOp():
                self._layers(layers or [op], None, one=self.in_place)
            case _:
                return
        if op.parent is self.block:
            self.done |= dict.fromkeys(layers or [op])

    def _group(self, op: graph.LayerGroupOp | graph.FusedGroupOp) -> None:
        self.scope.values |= {
            x: self.scope.outer(value) for x, value in zip(op.body.block.args, op.inputs, strict=True)
        }
        members = [member for member in op.members() if isinstance(member, graph.LayerOp)]
        if isinstance(op, graph.LayerGroupOp):
            for member in op.members():
                self._convert(member)
        elif "tile_rows" in op.attributes:
            self._tiled(op)
        elif _is_one_layer(members):
            self._layers(_anchor_first(members), graph.name_of(op), one=True)
        else:
            self._layers(op.members(), graph.name_of(op))
        for result, value in zip(op.outputs, op.yielded, strict=True):
            self.scope.values[result] = self.scope.outer(value)

    def _keep(self, value: SSAValue, name: str, before: Operation | None) -> None:
        """A weight or an input as a map."""
        builder = GroupBuilder(self.scope.unique(f"{name}.kept"))
        self.at, self.layers = before, ()
        self._emit(group := builder.finish([movement.whole(value, builder).value], None))
        self.scope.values[value] = group.outs[0]

    def _read_as_vector(self, op: graph.WeightOp) -> None:
        """The diagonals of a constant, if each is of one number."""
        array = self.scope.constant(op.result)
        vector = None if array is None else diagonals(array)
        if vector is not None:
            self.layers = ()
            self.scope.vectors[op.result] = self.scope.weight(f"{op.resource}.diagonals", vector)
            self.done[op] = None

    def _reshape(self, op: graph.ReshapeOp) -> None:
        self.scope.values[op.result] = self.scope.view(self.scope.outer(op.x), tensor_type(op.result))

    def _lookup(self, op: graph.LookupOp) -> None:
        """Rows that readers read in the table; layer by layer, a map that they are copied to."""
        index = op.index if isinstance(op.index, BlockArgument) else self.scope.outer(op.index)
        rows = nest.RowsOp(self.scope.outer(op.table), index, op.result.type)
        rows.result.name_hint = op.result.name_hint
        self.layers = [op]
        self._emit(rows)
        value: SSAValue = rows.result
        if not self.in_place:
            builder = GroupBuilder(self.scope.unique(self._name(op)))
            group = builder.finish([movement.whole(value, builder).value], graph.name_of(op))
            self._emit(group)
            value = group.outs[0]
        self.scope.values[op.result] = value

    def _tiled(self, op: graph.FusedGroupOp) -> None:
        """Layers that run tile by tile together: a group for each with what follows it element by element."""
        tile = {key: op.attributes[key] for key in ("tile_rows", "tile_columns") if key in op.attributes}
        self.marks = {"fused": IntegerAttr(self.fused, i64), **tile}
        self.fused += 1
        clusters = {cluster.tail: cluster.members for cluster in find_clusters(op.body.block, EPILOGUE)}
        for member in op.members():
            if isinstance(member, graph.ReshapeOp):
                self._reshape(member)
            elif isinstance(member, graph.ConcatOp):
                self._join(member)
            elif isinstance(member, graph.LayerOp) and member in clusters:
                self._layers(_anchor_first(clusters[member]), None, one=True)
        self.marks = {}

    def _join(self, op: graph.ConcatOp) -> None:
        """What is joined stays where it lies; who reads it looks there."""
        join = nest.JoinOp([self.scope.outer(piece) for piece in op.pieces], op.axis.value.data, op.result.type)
        join.result.name_hint = op.result.name_hint
        self._emit(join)
        self.scope.values[op.result] = join.result

    def _layers(self, layers: Sequence[Operation], group_name: str | None, *, one: bool = False) -> None:
        """Layers of one fused group, in as few `nest.group`s as they allow; in `one` if elementwise layers of the same
        shape follow the first.
        """
        current: _Open | None = None
        for layer in layers:
            assert isinstance(layer, graph.LayerOp)
            joins = current is not None and (_joins(layer, current) or (one and type(layer) in ELEMENTWISE))
            if current is not None and not joins:
                current = self._close(current)
            is_filled = isinstance(layer, graph.PadOp) and layer.mode.data == graph.PadMode.CONSTANT
            if type(layer) in PIECES and not is_filled:
                self._copy(layer)
            elif isinstance(layer, graph.ReshapeOp):
                self._reshape(layer)
            else:
                current = current or _Open(GroupBuilder(group_name or self._name(layer)))
                current.terms[layer.result] = self._lower(layer, current)
                current.layers.append(layer)
        if current is not None:
            self._close(current)

    def _lower(self, layer: graph.LayerOp, current: _Open) -> Term:
        self.layers = [layer]
        lowering = ELEMENTWISE.get(type(layer))  # pyright: ignore
        if lowering is not None:
            return lowering(layer, Frame(layer, current.builder, self.scope, current.terms))  # pyright: ignore
        if isinstance(layer, graph.PadOp):
            return movement.pad_constant(layer, current.builder, self.scope)
        anchor = ANCHORS.get(type(layer))  # pyright: ignore
        if anchor is None:
            raise TilewrightError("unsupported", layer.name, "a layer that has a lowering to nest", layer.name)
        return anchor(layer, current.builder, self.scope)  # pyright: ignore

    def _copy(self, layer: graph.LayerOp) -> None:
        self.layers = [layer]
        result = PIECES[type(layer)](layer, self._name(layer), self.scope)  # pyright: ignore
        self.scope.values[layer.result] = result
        label = graph.name_of(layer)
        if label is not None and isinstance(result.owner, Operation):
            result.owner.attributes["name"] = StringAttr(label)

    def _close(self, current: _Open) -> None:
        """Ends a group; its results are the values that layers outside of it use."""
        inside = set(current.layers)
        kept = [v for v in current.terms if any(use.operation not in inside for use in v.uses)]
        kept = kept or list(current.terms)[-1:]
        label = graph.name_of(current.layers[-1])
        current.builder.name = self.scope.unique(label or self._part_name(current))
        op = current.builder.finish([current.terms[v].value for v in kept], label)
        op.attributes |= self.marks
        if self.in_place:
            begin_with_addends(op, 0 if self.by_sample else PIXEL_AXES)
        if self.machine is not None:
            read_narrow(op, self.machine)
        self.layers = current.layers
        self._emit(op)
        for value, result in zip(kept, op.outs, strict=True):
            result.name_hint = value.name_hint
            self.scope.values[value] = result

    @staticmethod
    def _part_name(current: _Open) -> str:
        """What to call a group whose result has no name in the model: never a name that is another value's."""
        named = [name for layer in current.layers if (name := graph.name_of(layer)) is not None]
        return f"{named[0]}.part" if named else current.builder.name

    @staticmethod
    def _name(layer: graph.LayerOp) -> str:
        return graph.name_of(layer) or layer.results[0].name_hint or layer.name.removeprefix("graph.")


def _is_one_layer(members: Sequence[graph.LayerOp]) -> bool:
    """Whether elementwise layers are in a group with one other layer, of one shape, that reads none of them."""
    anchors = [layer for layer in members if type(layer) not in ELEMENTWISE]
    made = {layer.result for layer in members}
    return (
        len(anchors) == 1
        and type(anchors[0]) in ANCHORS
        and not made.intersection(anchors[0].operands)
        and len({shape_of(value) for value in made}) == 1
    )


def _anchor_first(layers: Sequence[graph.LayerOp]) -> list[graph.LayerOp]:
    """The layer that is not elementwise, if there is one, first; what reads weights only before its reader."""
    by_result: dict[SSAValue, graph.LayerOp] = {layer.result: layer for layer in layers}
    found: dict[graph.LayerOp, None] = {}
    for layer in sorted(layers, key=lambda op: type(op) in ELEMENTWISE):
        if layer is layers[-1] or not is_constant([layer]):
            read = [by_result[value] for value in layer.operands if value in by_result]
            found |= dict.fromkeys([*read, layer])
    return list(found)


def _joins(layer: graph.LayerOp, current: _Open) -> bool:
    """Whether a layer can run in the open group: elementwise, shaped as one of its values, the rest at hand."""
    if type(layer) not in ELEMENTWISE:
        return False
    inside = [v for v in layer.operands if v in current.terms]
    same = [v for v in inside if shape_of(v) == shape_of(layer.result)]
    return bool(same) and len(same) == len(inside)
