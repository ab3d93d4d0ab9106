"""The pass `graph-heads`: products of heads of one sample, with the heads as the first axis."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from ...dialects import graph
from ...dialects.graph.base import int_attr
from ...dialects.types import element_of, shape_of, tensor
from ..functions import functions_of
from .graph_fuse import ELEMENTWISE
from .identities import renamed

FOLLOWING = (*ELEMENTWISE, graph.SoftmaxOp)
"""Layers that work on heads as they do on samples."""


@dataclass(frozen=True)
class GraphHeadsPass(ModulePass):
    """Leave out the leading axis of one sample of products whose second axis is heads, and of what lies between them.

    The first axis is that of samples, which fused groups run one after another: rows of one head are then made at a
    time, not rows of all heads.

        %s = graph.matmul %q, %k : (tensor<1x12x64x8xf32>, tensor<1x12x8x64xf32>) -> tensor<1x12x64x64xf32>
        %p = graph.softmax %s axis 3 : (tensor<1x12x64x64xf32>) -> tensor<1x12x64x64xf32>

    becomes the same on `tensor<12x64x64xf32>`, with a `graph.reshape` of what other layers read.
    """

    name = "graph-heads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            for layer in list(function.body.block.ops):
                _without_sample(layer)
            region_dce(function.body)


def has_heads(module: ModuleOp) -> bool:
    """Whether the pass finds products of heads."""
    return any(isinstance(op, graph.MatmulOp) and _is_of_heads(op) for op in module.walk())


def _is_of_heads(op: graph.MatmulOp) -> bool:
    return all(_has_heads(value) for value in (op.a, op.b, op.result))


def _without_sample(op: Operation) -> None:
    """Replaces a layer by one without the leading axis, if it is a product of heads or follows one."""
    match op:
        case graph.MatmulOp() if _is_of_heads(op):
            made = graph.MatmulOp(_squeezed(op.a, op), _squeezed(op.b, op))
        case _ if isinstance(op, FOLLOWING) and _has_heads(op.result) and any(map(_was_squeezed, op.operands)):
            made = _followed(op)
        case _:
            return
    if made is None:
        return
    Rewriter.insert_op(renamed(made, op), InsertPoint.before(op))
    whole = graph.ReshapeOp(made.results[0], shape_of(op.results[0]))
    whole.result.name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, whole)


def _followed(op: graph.LayerOp) -> graph.LayerOp | None:
    """A layer on operands without the leading axis; None where it works along that axis."""
    axis = op.properties.get("axis")
    place = axis.value.data if isinstance(axis, IntegerAttr) else 1
    if place == 0 and (isinstance(op, graph.SoftmaxOp) or any(len(shape_of(value)) == 1 for value in op.operands[1:])):
        return None
    operands = [_squeezed(value, op) if len(shape_of(value)) == 4 else value for value in op.operands]
    properties = op.properties | ({} if axis is None else {"axis": int_attr(max(0, place - 1))})
    type_ = tensor(shape_of(op.result)[1:], element_of(op.result))
    made = type(op).create(
        operands=operands, properties=properties, attributes=dict(op.attributes), result_types=[type_]
    )
    made.result.name_hint = op.result.name_hint
    return made


def _has_heads(value: SSAValue) -> bool:
    shape = shape_of(value)
    return len(shape) == 4 and shape[0] == 1 and shape[1] > 1


def _was_squeezed(value: SSAValue) -> bool:
    owner = value.owner
    return isinstance(owner, graph.ReshapeOp) and shape_of(value) == (1, *shape_of(owner.x))


def _squeezed(value: SSAValue, before: Operation) -> SSAValue:
    """`value` without its leading axis of one; a transpose before it moves the axes that are left."""
    owner, shape = value.owner, shape_of(value)[1:]
    match owner:
        case graph.ReshapeOp():
            if shape_of(owner.x) == shape:
                return owner.x
            made = graph.ReshapeOp(owner.x, shape)
        case graph.TransposeOp() if owner.perm.get_values()[0] == 0 and owner.result.has_one_use():
            perm = [axis - 1 for axis in owner.perm.get_values()[1:]]
            made = renamed(graph.TransposeOp(_squeezed(owner.x, owner), perm=perm), owner)
            before = owner
        case _ if isinstance(owner, FOLLOWING) and owner.result.has_one_use() and _has_heads(value):
            found = _followed(owner)
            if found is None:
                made = graph.ReshapeOp(value, shape)
            else:
                made, before = found, owner
        case _:
            made = graph.ReshapeOp(value, shape)
    made.result.name_hint = value.name_hint
    Rewriter.insert_op(made, InsertPoint.before(before))
    return made.result
