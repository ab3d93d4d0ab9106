"""Operands that only a copy widens for a kernel, where the machine takes the narrow ones."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.expr import Access
from ...costs.mapping.matching import match
from ...dialects import nest
from ...dialects.types import tensor_type
from ...machine import Machine
from ..nest.trees import kernel_of


def read_narrow(op: nest.GroupOp, machine: Machine) -> None:
    """Let kernels read what a kernel before them only converts, where a capability takes the types that are read then.

    The copy leaves the group once nobody reads it: `Y = A * B` in i32 of an i8 tensor that a copy widens becomes one
    kernel on machines whose products take i8 and i32.
    """
    for copy in op.kernels:
        if not _is_conversion(copy):
            continue
        (source,) = copy.inputs
        for reader in {use.operation: None for use in copy.result.uses}:
            narrow = _reading(reader, copy.result, source) if isinstance(reader, nest.KernelOp) else None
            if narrow is not None and _runs(narrow, {**op.buffers(), narrow.result: "Y"}, machine):
                Rewriter.insert_op(narrow, InsertPoint.before(reader))
                narrow.result.name_hint = reader.results[0].name_hint
                Rewriter.replace_op(reader, [], [narrow.result])
        if not copy.result.uses:
            Rewriter.erase_op(copy)


def _is_conversion(op: nest.KernelOp) -> bool:
    """Whether a kernel copies every element of a tensor to its own place in another type."""
    statement = op.statement.data
    value, target = statement.value, statement.target
    same = isinstance(value, Access) and isinstance(target, Access) and value.indices == target.indices
    shapes = {tuple(tensor_type(tensor).get_shape()) for tensor in (*op.inputs, op.result)}
    return same and statement.reduce == "=" and op.init is None and not op.pads and len(shapes) == 1


def _reading(reader: nest.KernelOp, wide: SSAValue, narrow: SSAValue) -> nest.KernelOp | None:
    """The reader of a wide tensor as one of the narrow tensor; None where it pads it."""
    operands = reader.operands_by_name
    replaced = [name for name, value in operands.items() if value is wide]
    if not replaced or any(name in reader.pads for name in replaced):
        return None
    operands |= dict.fromkeys(replaced, narrow)
    label, statement = reader.sym_name.data, reader.statement.data
    init = None if reader.init is wide else reader.init
    return nest.KernelOp(label, statement, operands, reader.result.type, init=init, pad=reader.pads)


def _runs(op: nest.KernelOp, names: dict[SSAValue, str], machine: Machine) -> bool:
    kernel = kernel_of(op, names)
    return any(match(kernel, capability) for node in machine.computes for capability in node.capabilities)
