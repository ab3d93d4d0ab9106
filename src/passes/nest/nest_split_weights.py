"""The pass `nest-split-weights`."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.affine import Affine
from ...algebra.expr import Access, Call, Name, Num, Statement, substitute
from ...costs.fusion.of_machine import platform_of
from ...costs.fusion.values import Buffers
from ...costs.mapping.problem import Group, touches
from ...dialects import nest
from ...dialects.acg import machine_of
from ...dialects.graph import WeightOp
from ...dialects.types import bytes_of, shape_of, tensor_type
from ...interpreters.constants import Constants
from ..accesses import changed
from ..names import unique_name
from .trees import group_of

SHARE = 1 / 2
"""Part of the memory of weights that those of a layer take at most to stay together."""

PART_SHARE = 1 / 8
"""Part of that memory that the weights of a part take at most."""

SHARED_SHARE, SHARED_PART_SHARE = 1 / 8, 1 / 32
"""The same parts of a memory that weights share with maps, where they are cut there; weights larger than it are not."""

LANES = 32
"""A part makes a multiple of so many channels, so that it fills arrays."""


@dataclass(frozen=True)
class NestSplitWeightsPass(ModulePass):
    """Cut layers of large weights into parts, where weights have a memory of their own, or with `shared`.

    Before: groups without a mapping.  After: one whose weights take more than half of their memory, or `share` of it,
    is several, of an eighth at most, if 32 channels take no more.  Of a memory that maps share, one whose weights take
    more than an eighth, and fit, is cut into parts of a 32nd at most.  Each makes some of the channels with the weights
    of these, and the parts write into one result.  So weights of a part are loaded as soon as there is room for them,
    before the layer begins or while it runs, and make room when the part ends.

        %y = nest.group @fc dims {m = 1, n = 1000, k = 2048} ins(X = %x, W = %w) ...

    becomes

        %a = nest.group @fc dims {m = 1, n = 64, k = 2048} ins(X = %x, W = %w0) ...
        %b = nest.group @fc.1 dims {m = 1, n = 64, k = 2048} ins(X = %x, W = %w1, D = %a) ...

    and so on, where the second writes `Y[m, n + 64]` into `D`.
    """

    name = "nest-split-weights"
    share: float = 0.0
    shared: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        buffers = platform_of(machine_of(op)).buffers
        constants = Constants.of(op)
        if buffers.weight_bytes is not None or self.shared:
            for group, split in list(split_weights(op, buffers, self.share or SHARE, constants)):
                Parts(group, split, constants).make()
            constants.tidy()


class Split(NamedTuple):
    """A dim, how many of its iterations each part has, and which axis it is of each buffer that is cut."""

    dim: str
    step: int
    axes: Mapping[str, int]


class Sizes(NamedTuple):
    """Weights of more than `least_bytes`, and at most `most_bytes`, are cut into parts of at most `part_bytes`."""

    least_bytes: float
    most_bytes: float
    part_bytes: float


def split_weights(
    module: ModuleOp, buffers: Buffers, share: float, constants: Constants
) -> Iterator[tuple[nest.GroupOp, Split]]:
    """Groups to cut, and how; those of more than a `share` of the memory of weights, if they have one of their own."""
    own, shared = buffers.weight_bytes, buffers.global_bytes
    sizes = Sizes(SHARED_SHARE * shared, shared, SHARED_PART_SHARE * shared)
    sizes = sizes if own is None else Sizes(share * own, inf, PART_SHARE * own)
    for op in module.walk():
        if isinstance(op, nest.GroupOp) and not op.is_mapped:
            split = _split_of(op, sizes, constants)
            if split is not None:
                yield op, split


def _split_of(op: nest.GroupOp, limits: Sizes, constants: Constants) -> Split | None:
    """How a group is split; None where its weights are small, or it cannot be."""
    weights = {name: value for name, value in op.inputs_by_name.items() if isinstance(value.owner, WeightOp)}
    sizes = {name: bytes_of(value) for name, value in weights.items()}
    largest = max(sizes, key=lambda name: sizes[name], default="")
    if not sizes or not limits.least_bytes < sizes[largest] <= limits.most_bytes or not is_assigned(op):
        return None
    group = group_of(op)
    for dim in group.tileable:
        axes = axes_of(group, dim, weights)
        if axes is None or largest not in axes or not all(constants.is_known(weights[n]) for n in axes.keys() & sizes):
            continue
        extent = group.extents[dim]
        step = max(LANES, int(limits.part_bytes * extent / sizes[largest]) // LANES * LANES)
        return Split(dim, step, axes) if step < extent else None
    return None


def is_assigned(op: nest.GroupOp) -> bool:
    """Whether a group has one result, in no input, that its first writer assigns."""
    if len(op.outs) != 1:
        return False
    name = op.buffers()[op.yielded[0]]
    first = next((kernel for kernel in op.kernels if kernel.sym_name.data == name), None)
    return first is not None and first.init is None and first.statement.data.reduce == "="


def axes_of(group: Group, dim: str, cut: Container[str]) -> Mapping[str, int] | None:
    """The axis that a dim is of each input to `cut` that it indexes, of what is between kernels, and of the result.

    None where it is a part of an axis, or some kernel does not have it.
    """
    found: dict[str, int] = {}
    for buffer in group.buffers:
        uses = touches(group, buffer.name)
        is_indexed = any(dim in form.names for use in uses for form in use.forms)
        if buffer.is_input and (buffer.name not in cut or not is_indexed):
            continue
        axes = [[axis for axis, form in enumerate(use.forms) if dim in form.names] for use in uses]
        axis = axes[0][0] if is_indexed and axes[0] else 0
        alone = all(own == [axis] for own in axes) and {use.forms[axis] for use in uses} == {Affine(0, ((dim, 1),))}
        if not alone or buffer.shape[axis] != group.extents[dim]:
            return None
        found[buffer.name] = axis
    return found


@dataclass
class Parts:
    """Makes the parts of a group."""

    op: nest.GroupOp
    split: Split
    constants: Constants

    def __post_init__(self) -> None:
        self.names = self.op.buffers()
        self.result = self.names[self.op.yielded[0]]

    def make(self) -> None:
        """Put the parts in place of the group."""
        op, made = self.op, None
        starts = range(0, op.extents[self.split.dim], self.split.step)
        for number, start in enumerate(starts):
            part = self._part(number, start, made)
            part.attributes.update(op.attributes)
            if start != starts[-1]:
                part.attributes.pop("name", None)
            Rewriter.insert_op(part, InsertPoint.before(op))
            made = part.outs[0]
        assert made is not None
        made.name_hint = op.outs[0].name_hint
        Rewriter.replace_op(op, [], [made])

    def _part(self, number: int, start: int, before: SSAValue | None) -> nest.GroupOp:
        """The part from `start` on, which writes into what the one `before` made."""
        op = self.op
        count = min(self.split.step, op.extents[self.split.dim] - start)
        places = range(start, start + count)
        inputs = {name: self._cut(name, value, number, places) for name, value in op.inputs_by_name.items()}
        if before is not None:
            inputs[unique_name("D", set(self.names.values()))] = before
        name = f"{op.sym_name.data}.{number}" if number else op.sym_name.data
        part = nest.GroupOp(name, {**op.extents, self.split.dim: count}, inputs, [op.outs[0].type])
        block = part.body.block
        inside: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, block.args, strict=False))
        target = None if before is None else block.args[-1]
        for kernel in op.kernels:
            made = self._kernel(kernel, inside, places, target)
            block.add_op(made)
            inside[kernel.result] = made.result
        block.add_op(nest.YieldOp(inside[op.yielded[0]]))
        return part

    def _cut(self, name: str, value: SSAValue, number: int, places: range) -> SSAValue:
        """The weights of a part, or its side of a join; another map, or what the dim does not index, as it is."""
        if name not in self.split.axes:
            return value
        if isinstance(value.owner, nest.JoinOp):
            return self._side(value.owner, last=number > 0)
        array = self.constants.array(value)
        assert array is not None
        assert isinstance(value.owner, WeightOp)
        part = array.take(places, self.split.axes[name])
        made = self.constants.weight(f"{value.owner.resource}.{number}", part)
        Rewriter.insert_op(made, InsertPoint.before(self.op))
        return made.result

    def _side(self, join: nest.JoinOp, *, last: bool) -> SSAValue:
        """The last of what is joined, or all before it."""
        *others, end = join.pieces
        if last or len(others) == 1:
            return end if last else others[0]
        axis, whole = join.axis.value.data, tensor_type(join.result)
        shape = list(whole.get_shape())
        shape[axis] -= shape_of(end)[axis]
        made = nest.JoinOp(others, axis, TensorType(whole.get_element_type(), shape))
        Rewriter.insert_op(made, InsertPoint.before(self.op))
        return made.result

    def _kernel(
        self, kernel: nest.KernelOp, inside: Mapping[SSAValue, SSAValue], places: range, target: SSAValue | None
    ) -> nest.KernelOp:
        """A kernel of the part: what is not cut is indexed from `start` on."""
        buffer, operands = self.names[kernel.result], kernel.operands_by_name
        whole = {t for t, v in operands.items() if self.names[v] == self.result or self.names[v] not in self.split.axes}
        type_: Attribute = kernel.result.type
        if buffer == self.result:
            whole.add(kernel.statement.data.target.tensor)
            init = target if kernel.init is None else inside[kernel.init]
        else:
            assert isinstance(type_, TensorType)
            axis, shape = self.split.axes[buffer], list(type_.get_shape())
            type_ = TensorType(type_.get_element_type(), [*shape[:axis], len(places), *shape[axis + 1 :]])
            init = None if kernel.init is None else inside[kernel.init]
        statement = _moved(kernel.statement.data, self.split.dim, places.start, whole)
        inputs = {tensor: inside[value] for tensor, value in operands.items()}
        return kernel.like(statement, init, operands=inputs, result_type=type_)


def _moved(statement: Statement, dim: str, start: int, tensors: set[str]) -> Statement:
    """A statement in which a dim counts from `start` on where it indexes some tensors."""
    later = {dim: Call("add", (Name(dim), Num(start)))}

    def moved(access: Access) -> Access:
        indices = tuple(substitute(index, later) for index in access.indices)
        return Access(access.tensor, indices) if access.tensor in tensors else access

    return changed(statement, moved) if start else statement
