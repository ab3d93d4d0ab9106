"""The codelet of a layer in a fused group: computes on maps that are in place on chip, a ring of rows each.

A compute on joined maps becomes one for each stretch of the dims along which they are joined; one that reads out of a
map's bounds gets a tensor of one element that stands in for what lies there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from ...algebra.affine import Affine, to_affine
from ...algebra.expr import Access, Call, Expr, Statement, accesses, tensors_of
from ...dialects import nest
from ...dialects.codelet import CodeletOp, ComputeOp, entry
from ...dialects.codelet_fused import PartOp
from ...dialects.codelet_rules import surrogate
from ...dialects.layer_attributes import nodes_of, set_nodes
from ...machine import Machine
from ..accesses import with_accesses
from .fused_layers import FusedLayer
from .group_codelets import CodeletBuilder, Frame, compute, identifier
from .map_pieces import channel_axis, unsupported


@dataclass(frozen=True)
class Place:
    """Channels `start` to `stop` (exclusive) of a buffer are the tensor `value`, `shift` elements on along axes."""

    value: SSAValue
    start: int
    stop: int
    shift: tuple[int, ...] = ()


Places = Mapping[str, Sequence[Place]]
"""Where each input and result of a layer lies, by its buffer's name."""


@dataclass
class LayerBuilder(CodeletBuilder):
    """Builds the codelet of one layer; `borders` are the tensors for reads out of bounds.

    `streamed` has the tensors off chip of weights that its mapping holds piece by piece.
    """

    machine: Machine
    layer: FusedLayer
    places: Places
    borders: Mapping[tuple[str, float], SSAValue]
    streamed: Mapping[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    arguments: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def __post_init__(self) -> None:
        super().__init__(self.machine, self.layer.op)

    def build(self) -> CodeletOp:
        """The codelet; its arguments are everything that it touches."""
        values: dict[SSAValue, str] = {}
        for name, places in self.places.items():
            for number, place in enumerate(places):
                values.setdefault(place.value, identifier(name) + (f"_{number}" if len(places) > 1 else ""))
        for (buffer, _), value in self.borders.items():
            values.setdefault(value, f"{identifier(buffer)}_border")
        for name, value in self.streamed.items():
            values.setdefault(value, identifier(name))
        block = entry([value.type for value in values], list(values.values()))
        self.arguments = dict(zip(values, block.args, strict=True))
        where = {name: self.arguments[value] for name, value in self.streamed.items()}
        frame = Frame(where, self.op.extents, {})
        block.add_ops(self.nodes(self.op.mapping, frame))
        codelet = CodeletOp(self.op.sym_name.data, self.op.extents, list(values), Region(block))
        set_nodes(codelet, nodes_of(self.op))
        return codelet

    def computes(self, node: nest.ComputeOp, frame: Frame) -> Iterator[Operation]:
        statement, buffers = self.bound(node)
        stretches = self._stretches(statement, buffers)

        def parts(dims: Sequence[str], at: Mapping[str, int]) -> Iterator[Operation]:
            """A part for each stretch of the first of `dims`, with the others inside."""
            if not dims:
                yield self._compute(node, frame, statement, buffers, at)
                return
            dim, *rest = dims
            for start, stop in pairwise(stretches[dim]):
                yield PartOp(dim, start, stop, Region(Block(list(parts(rest, {**at, dim: start})))))

        yield from parts(list(stretches), {})

    def _stretches(self, statement: Statement, buffers: Mapping[str, str]) -> dict[str, list[int]]:
        """Dims along which operands are joined, and where one map ends and the next begins."""
        found: dict[str, set[int]] = {}
        for access in accesses(statement):
            places = self.places.get(buffers[access.tensor], ())
            if len(places) < 2:
                continue
            dim = self._joined_dim(access, places)
            found.setdefault(dim, {0, self.op.extents[dim]}).update(place.stop for place in places)
        return {dim: sorted(ends) for dim, ends in found.items()}

    def _joined_dim(self, access: object, places: Sequence[Place]) -> str:
        assert isinstance(access, Access)
        form = to_affine(access.indices[channel_axis(len(access.indices))])
        if len(form.terms) != 1 or form.const or form.terms[0][1] != 1:
            raise unsupported(places[0].value, "joined maps read channel by channel", str(form.to_expr()))
        return form.terms[0][0]

    def _compute(
        self,
        node: nest.ComputeOp,
        frame: Frame,
        statement: Statement,
        buffers: Mapping[str, str],
        at: Mapping[str, int],
    ) -> Operation:
        values: list[SSAValue] = []
        shifts: dict[str, list[int]] = {}
        inside: set[str] = set()
        names = {access.tensor: access for access in accesses(statement)}
        for operand, buffer in buffers.items():
            places = self.places.get(buffer)
            if places is None:
                values.append(frame.where[buffer])
                continue
            place = places[0]
            if len(places) > 1:
                start = at[self._joined_dim(names[operand], places)]
                place = next(item for item in places if item.start <= start < item.stop)
            if place.start or place.shift:
                access = names[operand]
                assert isinstance(access, Access)
                shift = list(place.shift) or [0] * len(access.indices)
                shift[channel_axis(len(shift))] -= place.start
                shifts[operand] = shift
            if place.shift:
                inside.add(operand)
            values.append(self.arguments[place.value])
        pads = self._pads(node)
        borders = [operand for operand in buffers if operand in pads and operand not in inside]
        values += [self.arguments[self.borders[buffers[operand], pads[operand]]] for operand in borders]
        target = _shifted(statement.target, shifts)
        assert isinstance(target, Access)
        moved = Statement(target, statement.reduce, _shifted(statement.value, shifts))
        found = compute(node, moved, values, *self.manner(node, frame), borders)
        self._mark_zeros(found, {operand: buffer for operand, buffer in buffers.items() if operand in inside}, pads)
        return found

    def _mark_zeros(self, op: ComputeOp, inside: Mapping[str, str], pads: Mapping[str, float]) -> None:
        """Note for a sum of products that one of its maps has zeros out of bounds, or in the room around it."""
        value = op.statement.data.value
        if op.keep is None or op.statement.data.reduce != "+=" or not isinstance(value, Call) or value.fn != "mul":
            return
        zeros = [name for name in op.border_names if pads[name] == 0]
        values = dict(zip(tensors_of(op.statement.data), op.tensors, strict=False))
        found = {name: [(0, size) for size in surrogate(values[name]).sizes] for name in zeros}
        for operand, buffer in inside.items():
            places = self.places[buffer]
            if len(places) == 1 and pads.get(operand) == 0:
                sizes = self.layer.problem.by_name[buffer].shape
                found[operand] = [(first, first + n) for first, n in zip(places[0].shift, sizes, strict=True)]
        for operand, ends in found.items():
            op.zeros = StringAttr(operand)
            op.zeros_outside = DenseArrayBase.from_list(i64, [end for pair in ends for end in pair])

    def _pads(self, node: nest.ComputeOp) -> dict[str, float]:
        """Operand of the capability -> what reads of it out of bounds give."""
        assert node.tensors is not None
        pads = self.kernels[node.kernel.data].pads
        return {operand: pads[tensor] for operand, tensor in node.tensors.data if tensor in pads}


def _shifted(expr: Expr, shifts: Mapping[str, Sequence[int]]) -> Expr:
    """Accesses with their indices counted from elsewhere."""

    def shifted(access: Access) -> Access:
        pairs = zip(access.indices, shifts.get(access.tensor, [0] * len(access.indices)), strict=True)
        return Access(access.tensor, tuple((to_affine(i) + Affine(by)).to_expr() if by else i for i, by in pairs))

    return with_accesses(expr, shifted)
