"""When a codelet's parts run: loads ahead of the iteration that needs them, computes that share one range.

`codelet.loop m step 4 ahead` does what leads each iteration, locals and loads into them, before the rest of the one
before it, so that a machine moves the next tile while it works on this one.  `skip {i = 4} take {i = 1}` of a compute
narrows the current range of `i` to so many iterations from there, so that several nodes work on one tile side by side.
"""

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..algebra.affine import Share
from ..algebra.expr import reduction_dims
from .codelet import CodeletOp, ComputeOp, LocalOp, LoopOp, TransferOp, ViewOp


def leading(op: LoopOp) -> tuple[Operation, ...]:
    """What an iteration of the loop begins with: locals, and transfers into them."""
    found: list[Operation] = []
    for inner in op.body.block.ops:
        loads = isinstance(inner, TransferOp) and inner.destination.owner in found
        if not (loads or isinstance(inner, LocalOp)):
            break
        found.append(inner)
    return tuple(found)


def verify_ahead(op: LoopOp) -> None:
    """Something is loaded ahead, into locals of two copies, and nothing that the rest of an iteration writes."""
    if op.ahead is None:
        return
    head = leading(op)
    loads = [inner for inner in head if isinstance(inner, TransferOp)]
    if not loads or len(head) == len(list(op.body.block.ops)):
        raise VerifyException("expected loads at the beginning of a loop that is `ahead`, and work after them")
    for inner in head:
        if isinstance(inner, LocalOp) and inner.buffers.value.data < 2:
            text = inner.accesses.data[0].data
            raise VerifyException(f"expected two buffers of {text}, which is loaded ahead, found 1")
    written = {root(value) for value in written_values(op, head)}
    for load in loads:
        if load.source.owner not in head and root(load.source) in written:
            name = load.source.name_hint or "a tensor"
            raise VerifyException(f"expected loads ahead of what the loop does not write, found one of %{name}")


def written_values(op: LoopOp, head: tuple[Operation, ...]) -> list[SSAValue]:
    """What the loop's iterations write after their head."""
    found: list[SSAValue] = []
    for inner in op.body.block.walk():
        if inner in head:
            continue
        if isinstance(inner, TransferOp):
            found.append(inner.destination)
        elif isinstance(inner, ComputeOp):
            found.append(inner.tensors[0])
    return found


def root(value: SSAValue) -> SSAValue:
    """The tensor of the program that a codelet's argument or a view is."""
    while True:
        if isinstance(value.owner, ViewOp):
            value = value.owner.source
        elif isinstance(value, BlockArgument) and isinstance(parent := value.owner.parent_op(), CodeletOp):
            value = parent.tensors[value.index]
        else:
            return value


def share_of(op: ComputeOp) -> Share:
    """The share of the current ranges that a compute takes."""
    skip = op.skip.as_dict() if op.skip is not None else {}
    take = op.take.as_dict() if op.take is not None else {}
    return tuple((dim, skip.get(dim, 0), take.get(dim)) for dim in sorted({*skip, *take}))


def verify_share(op: ComputeOp) -> None:
    """Bound dims that index the target, at least one iteration."""
    bound = [dim for _, dim in op.dims.data]
    reduced = reduction_dims(op.statement.data)
    for dim, skip, take in share_of(op):
        if dim not in bound or dim in reduced:
            raise VerifyException(f"expected a share of a bound dim that indexes the target, found {dim}")
        if skip < 0 or (take is not None and take < 1):
            raise VerifyException(f"expected at least one iteration of {dim} to take, found {take}")
