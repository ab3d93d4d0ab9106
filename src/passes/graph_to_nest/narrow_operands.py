"""Casts to a wider type as part of the kernel that reads them."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import Float32Type, IntegerType, ModuleOp
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.expr import Access, accesses_of
from ...costs.mapping.matching import match
from ...dialects import nest
from ...dialects.acg import has_target, machine_of
from ...dialects.types import dtype_of, element_of
from ...machine import Machine
from ..nest.trees import kernel_of


def machine_of_queues(module: ModuleOp) -> Machine | None:
    """The module's machine, if it has one whose kernels run as its capabilities take them."""
    if not has_target(module):
        return None
    machine = machine_of(module)
    return machine if machine.control == "queues" else None


def read_narrow(group: nest.GroupOp, machine: Machine) -> None:
    """Let kernels read the narrow operand of a cast, where some capability takes that and nothing else reads the cast.

        %0 = nest.kernel @cast "Y[c] = A[c]" (A = %x) : (tensor<8xi8>) -> tensor<8xi32>
        %1 = nest.kernel @add "Y[c] = add(A[c], 5)" (A = %0) into %0 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>

    becomes

        %1 = nest.kernel @add "Y[c] = add(A[c], 5)" (A = %x) : (tensor<8xi8>) -> tensor<8xi32>

    Integers are computed in 64 bits and converted to the type of the result, so that they are the same; f32 holds what
    is cast to it.
    """
    for cast in group.kernels:
        reader = _reader(cast)
        if reader is None:
            continue
        found = _joined(cast, reader)
        Rewriter.insert_op(found, InsertPoint.before(reader))
        kernel = kernel_of(found, group.buffers())
        if any(match(kernel, capability) for node in machine.computes for capability in node.capabilities):
            found.result.name_hint = reader.result.name_hint
            reader.result.replace_all_uses_with(found.result)
            Rewriter.erase_op(reader)
            Rewriter.erase_op(cast)
        else:
            Rewriter.erase_op(found)


def _reader(cast: nest.KernelOp) -> nest.KernelOp | None:
    """The only kernel that reads a cast of integers that loses none, at the same place, and makes the same elements."""
    statement, readers = cast.statement.data, {use.operation for use in cast.result.uses}
    if not isinstance(statement.value, Access) or not isinstance(statement.target, Access):
        return None
    copies = statement.reduce == "=" and statement.value.indices == statement.target.indices
    if not copies or cast.init is not None or cast.pads or len(readers) != 1 or not _is_lossless(cast):
        return None
    reader = readers.pop()
    if not isinstance(reader, nest.KernelOp) or element_of(reader.result) != element_of(cast.result) or reader.pads:
        return None
    names = [name for name, value in reader.operands_by_name.items() if value is cast.result]
    read = {access for access in accesses_of(reader.statement.data.value) if access.tensor in names}
    in_place = {access.indices for access in read if isinstance(access, Access)} == {statement.target.indices}
    plain = in_place and reader.statement.data.reduce == "="
    return reader if plain and cast.inputs[0] not in reader.inputs else None


def _is_lossless(cast: nest.KernelOp) -> bool:
    narrow, wide = (element_of(value) for value in (cast.inputs[0], cast.result))
    numbers = isinstance(narrow, IntegerType) and isinstance(wide, IntegerType | Float32Type)
    return numbers and narrow != wide and np.can_cast(dtype_of(narrow), dtype_of(wide), "safe")


def _joined(cast: nest.KernelOp, reader: nest.KernelOp) -> nest.KernelOp:
    """A reader of a cast that reads what this reads."""
    operands = {
        name: cast.inputs[0] if value is cast.result else value for name, value in reader.operands_by_name.items()
    }
    init = None if reader.init is cast.result else reader.init
    return nest.KernelOp(reader.sym_name.data, reader.statement.data, operands, reader.result.type, init=init)
