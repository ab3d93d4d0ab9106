"""What holds for every kernel, group and mapping of the `nest` dialect."""

from math import prod
from typing import cast

from xdsl.dialects.builtin import TensorType, i32, i64
from xdsl.ir import Attribute, Block, Operation
from xdsl.utils.exceptions import VerifyException

from ..algebra.affine import index_forms
from ..algebra.expr import (
    Access,
    Call,
    Statement,
    accesses,
    dims_of,
    print_expr,
    reduction_dims,
    scalars_of,
    tensors_of,
    walk,
)
from ..algebra.functions import FUNCTIONS
from .nest import WORDS, ComputeOp, GroupOp, JoinOp, KernelOp, RowsOp, ViewOp, YieldOp
from .properties import verifies, verifying


def _shape(type: Attribute) -> tuple[int, ...]:
    return cast(TensorType[Attribute], type).get_shape()


@verifies(KernelOp, "kernel")
def verify_kernel(op: KernelOp) -> None:
    """The statement fits the operands: names, ranks, affine indices."""
    statement = op.statement.data
    names = [name.data for name in op.operand_names]
    target, *used = tensors_of(statement)
    if len(names) != len(op.inputs):
        raise VerifyException(f"expected a name for each operand, got {len(names)} for {len(op.inputs)}")
    if any(access.tensor == target for access in accesses(statement)[1:]):
        raise VerifyException(f"expected the target {target} not to be read (use another name and `into`)")
    if sorted(names) != sorted(used):
        raise VerifyException(f"expected operands {', '.join(used)}, got {', '.join(names)}")
    _verify_statement(statement)
    types = {name: value.type for name, value in op.operands_by_name.items()} | {target: op.result.type}
    for access in accesses(statement):
        _verify_access(cast(Access, access), _shape(types[access.tensor]))
    for name in op.pads:
        if name not in names:
            raise VerifyException(f"expected pad values for operands, got {name}")
    _verify_init(op)


def _verify_statement(statement: Statement) -> None:
    if not all(isinstance(access, Access) for access in accesses(statement)):
        raise VerifyException("expected indices in square brackets, got free strides")
    if statement.reduce == "=" and (dims := reduction_dims(statement)):
        raise VerifyException(f"expected a reduction over {', '.join(dims)}, got `=`")
    if names := scalars_of(statement):
        raise VerifyException(f"expected tensors, dims and numbers, got the name {', '.join(names)}")
    for expr in walk(statement.value):
        if isinstance(expr, Call) and expr.fn not in FUNCTIONS:
            raise VerifyException(f"unknown function {expr.fn}")


def _verify_access(access: Access, shape: tuple[int, ...]) -> None:
    if len(access.indices) != len(shape):
        raise VerifyException(f"expected {len(shape)} indices of {access.tensor}, got {len(access.indices)}")
    with verifying():
        index_forms(access)


def _verify_init(op: KernelOp) -> None:
    if op.init is None:
        return
    if op.init.type != op.result.type:
        raise VerifyException(f"expected `into` a value of type {op.result.type}, got {op.init.type}")
    target = cast(Access, op.statement.data.target)
    for access in accesses(op.statement.data)[1:]:
        if op.operands_by_name[access.tensor] == op.init and index_forms(cast(Access, access)) != index_forms(target):
            raise VerifyException(
                f"expected {access.tensor}, which is overwritten, to be read where it is written, "
                f"got {print_expr(access)}"
            )


@verifies(ViewOp)
def verify_view(op: ViewOp) -> None:
    """The same elements: type and number."""
    source, result = cast(TensorType[Attribute], op.source.type), op.result.type
    if source.element_type != result.element_type or prod(source.get_shape()) != prod(result.get_shape()):
        raise VerifyException(f"expected a view of the same elements, got {source} and {result}")


@verifies(RowsOp)
def verify_rows(op: RowsOp) -> None:
    """A table of two axes, whole indices, and a row of the table for each."""
    table, index = cast(TensorType[Attribute], op.table.type), cast(TensorType[Attribute], op.index.type)
    if len(table.get_shape()) != 2 or index.element_type not in (i32, i64):
        raise VerifyException(f"expected a table of rows and indices of i32 or i64, got {table} and {index}")
    expected = TensorType(table.element_type, [*index.get_shape(), table.get_shape()[1]])
    if op.result.type != expected:
        raise VerifyException(f"expected {expected}, got {op.result.type}")


@verifies(JoinOp)
def verify_join(op: JoinOp) -> None:
    """Pieces that differ along the axis only, and make up the result."""
    axis, result = op.axis.value.data, op.result.type
    if not 0 <= axis < len(_shape(result)) or not op.pieces:
        raise VerifyException(f"expected pieces, and an axis of {result}, got {len(op.pieces)} and {axis}")
    extent = 0
    for piece in op.pieces:
        shape = _shape(piece.type)
        element = cast(TensorType[Attribute], piece.type).element_type
        if len(shape) != len(_shape(result)) or element != result.element_type:
            raise VerifyException(f"expected pieces like {result}, got {piece.type}")
        if any(i != axis and n != m for i, (n, m) in enumerate(zip(shape, _shape(result), strict=True))):
            raise VerifyException(f"expected pieces that differ from {result} along axis {axis} only, got {piece.type}")
        extent += shape[axis]
    if extent != _shape(result)[axis]:
        raise VerifyException(f"expected pieces of {_shape(result)[axis]} along axis {axis}, got {extent}")


@verifies(GroupOp, "group")
def verify_group(op: GroupOp) -> None:
    """Names, types, bounds, the use of overwritten values, then the mapping."""
    for dim, extent in op.dims.data:
        if extent < 1:
            raise VerifyException(f"expected a positive extent of {dim}, got {extent}")
    if op.attributes.get("elements", WORDS) != WORDS:
        raise VerifyException(f"expected elements = {WORDS} or none, got {op.attributes['elements']}")
    _verify_body(op)
    for kernel in op.kernels:
        _verify_bounds(op, kernel)
    _verify_overwriting(op)
    if op.mapping.blocks:
        from .nest_verify_mapping import verify_mapping

        verify_mapping(op)


def _verify_body(op: GroupOp) -> None:
    *kernels, last = list(op.body.block.ops) or [None]
    if not isinstance(last, YieldOp):
        raise VerifyException("expected the body to end with nest.yield")
    if not all(isinstance(kernel, KernelOp) for kernel in kernels):
        raise VerifyException("expected only nest.kernel in the body")
    if last.arguments.types != op.result_types:
        raise VerifyException("expected to yield the types of the results")
    if [arg.type for arg in op.body.block.args] != list(op.inputs.types) or len(op.input_names) != len(op.inputs):
        raise VerifyException("expected a name and a body argument of the same type for each input")
    names = [n.data for n in op.input_names] + [kernel.sym_name.data for kernel in op.kernels]
    for name in names:
        if names.count(name) > 1:
            raise VerifyException(f"expected distinct names of inputs and kernels, got {name} twice")


def _verify_bounds(op: GroupOp, kernel: KernelOp) -> None:
    extents = op.extents
    statement = kernel.statement.data
    for dim in dims_of(statement):
        if dim not in extents:
            raise VerifyException(f"kernel @{kernel.sym_name.data} uses dim {dim}, which has no extent")
    values = kernel.operands_by_name
    for access in accesses(statement):
        shape = _shape(values[access.tensor].type if access.tensor in values else kernel.result.type)
        if access.tensor in kernel.pads:
            continue
        for i, (form, size) in enumerate(zip(index_forms(cast(Access, access)), shape, strict=True)):
            low, high = form.range(extents)
            if low < 0 or high >= size:
                raise VerifyException(
                    f"kernel @{kernel.sym_name.data} accesses {print_expr(access)}: expected index {i} "
                    f"in 0..{size - 1}, got {low}..{high}"
                )


def _verify_overwriting(op: GroupOp) -> None:
    order = {inner: i for i, inner in enumerate(op.body.block.ops)}
    for kernel in op.kernels:
        if kernel.init is None:
            continue
        if any(order[use.operation] > order[kernel] for use in kernel.init.uses):
            raise VerifyException(f"expected no use of a value after @{kernel.sym_name.data} overwrites it")
    names = op.buffers()
    inputs = dict(zip((n.data for n in op.input_names), op.inputs, strict=True))
    for value in op.yielded:
        source = inputs.get(names[value])
        if source is None or isinstance(value.owner, Block):
            continue
        uses = [use.operation for use in source.uses]
        if uses.count(op) > 1 or any(u is not op and not _is_before(u, op) for u in uses):
            raise VerifyException(f"expected no other or later use of input {names[value]}, which is overwritten")


def _is_before(op: Operation, other: Operation) -> bool:
    return op.parent is other.parent and op.is_before_in_block(other)


@verifies(ComputeOp)
def verify_compute(op: ComputeOp) -> None:
    """A capability comes with bindings, and is one name below a node."""
    if op.on is None:
        if any(p is not None for p in (op.dims, op.tensors, op.functions, op.immediates)):
            raise VerifyException(f"compute @{op.kernel.data}: expected `on` before bindings")
    elif len(op.on.nested_references) != 1 or op.dims is None or op.tensors is None:
        raise VerifyException(f"compute @{op.kernel.data}: expected `on @node::@capability`, dims and tensors")
