"""Operands of kernels: joined maps read where their pieces lie, shared ones loaded once, narrow ones widened."""

import numpy as np
from xdsl.dialects.builtin import Float32Type, IntegerType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.expr import Access, accesses_of
from ...costs.fusion.of_machine import platform_of
from ...costs.mapping.matching import match
from ...dialects import graph, nest
from ...dialects.acg import has_target, machine_of
from ...dialects.types import bytes_of, dtype_of, element_of, element_type_name, shape_of
from ...machine import Machine
from ..graph.samples import channel_axis
from ..nest.trees import kernel_of
from .elementwise import ELEMENTWISE


def is_read_in_place(op: graph.ConcatOp) -> bool:
    """Whether all that read what is joined can read each piece where it lies.

    Pieces are side by side along channels in the shape in which they were made, and no reader looks at them in another
    shape, in groups, or returns them.
    """
    if len(shape_of(op.result)) > 4 or op.axis.value.data != channel_axis(op.result):
        return False
    if not all(map(_is_as_made, op.pieces)):
        return False
    for use in op.result.uses:
        match user := use.operation:
            case graph.ConcatOp():
                fits = is_read_in_place(user)
            case graph.ConvOp():
                fits = use.index == 0 and user.groups.value.data == 1
            case graph.PoolOp() | graph.GemmOp():
                fits = use.index == 0
            case graph.ReduceOp():
                fits = tuple(user.axes.get_values()) == (2, 3)
            case _:
                fits = type(user) in ELEMENTWISE and shape_of(user.results[0]) == shape_of(op.result)
        if not fits:
            return False
    return True


def _is_as_made(piece: SSAValue) -> bool:
    """Whether a value is a layer's result, or the network's input, in the shape that it has there."""
    root = piece
    while isinstance(root.owner, graph.ReshapeOp):
        root = root.owner.x
    return shape_of(root) == shape_of(piece) and not isinstance(root.owner, graph.WeightOp)


READERS = (
    graph.ConvOp,
    graph.GemmOp,
    graph.MatmulOp,
    graph.BinaryOp,
    graph.CastOp,
    graph.SoftmaxOp,
    graph.StandardizeOp,
)

LEAST_BYTES = 1024
"""Smaller weights and inputs are loaded by each of their readers."""

SHARE = 1 / 4
"""Part of the memory that all copies together may take."""


def shared_operands(module: ModuleOp, block: Block, samples: int = 1) -> frozenset[SSAValue]:
    """The weights and inputs that are worth a copy among the maps, those that spare the most bytes first.

    Of inputs one of so many `samples` is there at a time.

    None where the module has no target, or its maps and weights have memories of their own.
    """
    if not has_target(module):
        return frozenset()
    machine = machine_of(module)
    buffers = platform_of(machine).buffers
    if buffers.weight_bytes is not None:
        return frozenset()
    weights: list[SSAValue] = [
        op.result for op in block.ops if isinstance(op, graph.WeightOp) and _only_readers(op.result)
    ]
    sizes = {value: bytes_of(value) for value in weights}
    sizes |= {value: bytes_of(value) // samples for value in block.args}
    spared: dict[SSAValue, int] = {}
    for value in sizes:
        readers = len({use.operation for use in value.uses if isinstance(use.operation, READERS)})
        if readers > 1 and sizes[value] >= LEAST_BYTES and _copies(machine, element_type_name(element_of(value))):
            spared[value] = sizes[value] * (readers - 1)
    room, chosen = int(buffers.global_bytes * SHARE), list[SSAValue]()
    for value in sorted(spared, key=lambda value: -spared[value]):
        if sizes[value] <= room:
            room -= sizes[value]
            chosen.append(value)
    return frozenset(chosen)


def _only_readers(value: SSAValue) -> bool:
    return all(isinstance(use.operation, READERS) for use in value.uses)


def _copies(machine: Machine, element: str) -> bool:
    """Whether a node of the machine copies elements of a type from map to map."""
    capabilities = [capability for node in machine.computes for capability in node.capabilities]
    return any(
        (element, element) in capability.types and "identity" in names
        for capability in capabilities
        for _, names in capability.functions
    )


def first_reader(value: SSAValue, block: Block) -> Operation:
    """The first operation of a block that reads a value."""
    readers = {use.operation for use in value.uses}
    return next(op for op in block.ops if op in readers)


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
    return reader.like(reader.statement.data, init, operands=operands)
