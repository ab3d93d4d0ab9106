"""Cutting a group of kernels into groups of one kernel each, which meet in whole tensors."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.expr import dims_of
from ...dialects import nest


def split_group(op: nest.GroupOp) -> list[nest.GroupOp]:
    """Replaces a group by one group per kernel, in the same order; what kernels hand on becomes results."""
    outer = op.outside
    names: dict[SSAValue, str] = {arg: name.data for arg, name in zip(op.body.block.args, op.input_names, strict=True)}
    parts: list[nest.GroupOp] = []
    for i, kernel in enumerate(op.kernels):
        last = i == len(op.kernels) - 1
        name = op.sym_name.data if last else f"{op.sym_name.data}.{kernel.sym_name.data}"
        part = _part(name, op, kernel, outer, names)
        Rewriter.insert_op(part, InsertPoint.before(op))
        outer[kernel.result] = part.outs[0]
        names[kernel.result] = kernel.sym_name.data
        parts.append(part)
    parts[-1].attributes.update(op.attributes)
    for result, value in zip(op.outs, op.yielded, strict=True):
        outer[value].name_hint = result.name_hint
        result.replace_all_uses_with(outer[value])
    Rewriter.erase_op(op)
    return parts


def _part(
    name: str, op: nest.GroupOp, kernel: nest.KernelOp, outer: dict[SSAValue, SSAValue], names: dict[SSAValue, str]
) -> nest.GroupOp:
    used = list(dict.fromkeys(kernel.operands))
    labels = (names[value] if names[value] != kernel.sym_name.data else f"{names[value]}_in" for value in used)
    dims = {d: e for d, e in op.extents.items() if d in dims_of(kernel.statement.data)}
    inputs = {label: outer[value] for label, value in zip(labels, used, strict=True)}
    part = nest.GroupOp(name, dims, inputs, [kernel.result.type])
    copy = kernel.clone(dict(zip(used, part.body.block.args, strict=True)))
    part.body.block.add_ops([copy, nest.YieldOp(copy.result)])
    return part
