"""The pass `nest-split-joins`."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...costs.mapping.problem import touches
from ...dialects import nest
from ...dialects.graph import WeightOp
from ...dialects.types import shape_of
from ...interpreters.constants import Constants
from .nest_split_weights import Parts, Split, axes_of, is_assigned
from .trees import group_of


@dataclass(frozen=True)
class NestSplitJoinsPass(ModulePass):
    """Cut channelwise layers of joined maps where the last of these begins.

    Before: groups without a mapping.  After: one that reads a `nest.join` element by element is two, which write into
    one result: the first makes what comes of all but the last of the joined maps, and need not wait for this one.  So
    normalisations of dense blocks, which read the maps of all layers before, wait for those of one layer.

        %x = nest.join %u, %v axis 1 ...
        %y = nest.group @scale dims {c = 96, h = 8, w = 8} ins(X = %x, B = %b) ...

    becomes, where `%v` has 32 channels,

        %a = nest.group @scale dims {c = 64, h = 8, w = 8} ins(X = %u, B = %b0) ...
        %y = nest.group @scale.1 dims {c = 32, h = 8, w = 8} ins(X = %v, B = %b1, D = %a) ...
    """

    name = "nest-split-joins"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = Constants.of(op)
        for group, split in list(split_joins(op, constants)):
            Parts(group, split, constants).make()
        for join in [inner for inner in op.walk() if isinstance(inner, nest.JoinOp)][::-1]:
            if not any(join.result.uses):
                Rewriter.erase_op(join)
        constants.tidy()


def split_joins(module: ModuleOp, constants: Constants) -> Iterator[tuple[nest.GroupOp, Split]]:
    """Groups to cut, and where."""
    for op in module.walk():
        if isinstance(op, nest.GroupOp) and not op.is_mapped and (split := _split_of(op, constants)) is not None:
            yield op, split


def _split_of(op: nest.GroupOp, constants: Constants) -> Split | None:
    """Where a group is cut; None where it reads no join, or not element by element."""
    inputs = op.inputs_by_name
    joined = [name for name, value in inputs.items() if isinstance(value.owner, nest.JoinOp)]
    if len(joined) != 1 or not is_assigned(op):
        return None
    (name,), group = joined, group_of(op)
    join = inputs[name].owner
    assert isinstance(join, nest.JoinOp)
    if any(kernel.reductions for kernel in group.kernels):
        return None
    axis = join.axis.value.data
    weights = {name for name, value in inputs.items() if isinstance(value.owner, WeightOp)}
    first = touches(group, name)[0].forms[axis]
    dim = next((dim for dim in group.tileable if first.terms == ((dim, 1),)), None)
    axes = None if dim is None else axes_of(group, dim, {name, *weights})
    if dim is None or axes is None or axes.get(name) != axis:
        return None
    if not all(constants.is_known(inputs[weight]) for weight in weights & axes.keys()):
        return None
    return Split(dim, _before_last(join, axis), axes) if 2 * _before_last(join, axis) >= group.extents[dim] else None


def _before_last(join: nest.JoinOp, axis: int) -> int:
    """Places of all that is joined but the last."""
    return shape_of(join.result)[axis] - shape_of(join.pieces[-1])[axis]
