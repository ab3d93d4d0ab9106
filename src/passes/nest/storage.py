"""Whose bytes a value of a nest function is, what reads it, and what may overwrite it."""

from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from ...algebra.affine import make_affine
from ...costs.mapping.problem import Group, Kernel, touches
from ...dialects import nest
from .trees import group_of

_known: ContextVar[dict[SSAValue, SSAValue] | None] = ContextVar("storage of values", default=None)


@contextmanager
def unchanged() -> Generator[None]:
    """A block in which nothing changes the IR: `storage_of` finds out about each value once.

    Else a chain of groups that overwrite each other's results is followed from each of them to its beginning.
    """
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def storage_of(value: SSAValue) -> SSAValue:
    """The value whose bytes `value` is: through views, and back along results that overwrite an input."""
    known, followed = _known.get(), [value]
    while known is None or followed[-1] not in known:
        before = _before(followed[-1])
        if before is None:
            break
        followed.append(before)
    if known is None:
        return followed[-1]
    root = known.get(followed[-1], followed[-1])
    known.update(dict.fromkeys(followed, root))
    return root


def _before(value: SSAValue) -> SSAValue | None:
    """What a value is a view of, or overwrites; None for one with bytes of its own."""
    owner = value.owner
    if isinstance(owner, nest.ViewOp):
        return owner.source
    if isinstance(owner, nest.GroupOp) and isinstance(value, OpResult):
        return _overwritten(owner, value.index)
    return None


def overwritten_inputs(op: nest.GroupOp) -> dict[SSAValue, SSAValue]:
    """Results of a group that lie where one of its inputs lies -> that input."""
    pairs = ((result, _overwritten(op, number)) for number, result in enumerate(op.results))
    return {result: source for result, source in pairs if source is not None}


def _overwritten(op: nest.GroupOp, number: int) -> SSAValue | None:
    """The input in whose place a result of a group lies, by its number: kernels go on from what they begin with."""
    last = op.regions[0].block.last_op
    value = last.operands[number] if last is not None else None
    while value is not None and isinstance(kernel := value.owner, nest.KernelOp):
        value = kernel.start
    return op.operands[value.index] if isinstance(value, BlockArgument) else None


def last_writer(value: SSAValue) -> Operation | None:
    """The group that writes a value's bytes last: the one that makes it, or one that overwrites a part of it."""
    found = value.owner if isinstance(value.owner, Operation) else None
    writers = [op for op in readers_of(value) if isinstance(op, nest.GroupOp)]
    for op in writers:
        if any(storage_of(source) is value for source in overwritten_inputs(op).values()):
            found = op
    return found


def readers_of(value: SSAValue) -> Iterator[Operation]:
    """What reads a value, through views and joins, and what reads it after a part of it was overwritten."""
    for use in value.uses:
        user = use.operation
        if isinstance(user, nest.ViewOp | nest.JoinOp):
            yield from readers_of(user.result)
            continue
        yield user
        if isinstance(user, nest.GroupOp):
            for result, source in overwritten_inputs(user).items():
                if source is value:
                    yield from readers_of(result)


def is_read_outside(value: SSAValue, groups: Collection[Operation]) -> bool:
    """Whether others than `groups` read a value, looking through views and joins, or it is a result of the function."""
    values = [value]
    while values:
        for use in values.pop().uses:
            if isinstance(use.operation, nest.ViewOp | nest.JoinOp):
                values += use.operation.results
            elif use.operation not in groups:
                return True
    return False


def overwritable(op: nest.GroupOp) -> dict[str, nest.KernelOp]:
    """Inputs that the result may overwrite -> the kernel that then writes there first.

    That kernel, the first to write the result's bytes, assigns each element once, and what reads the input reads the
    same element, in no later kernel: sums of products have bytes of their own before, or begin with the input
    (`begin_with_addends`).  No other input has its bytes.  Nobody reads the input or the result beyond its borders,
    since such maps have room around them (`padded_maps`).
    """
    if len(op.yielded) != 1 or _is_padded(op.outs[0]):
        return {}
    first = _first_writer(op.yielded[0])
    if first is None:
        return {}
    group, found = group_of(op), dict[str, nest.KernelOp]()
    stored = [storage_of(value) for value in op.inputs]
    for name, argument, value in zip(op.input_names, op.body.block.args, op.inputs, strict=True):
        alike = argument.type == op.yielded[0].type and not _is_padded(value) and stored.count(storage_of(value)) == 1
        if alike and _may_lie_in(group, first.sym_name.data, name.data):
            found[name.data] = first
    return found


def overwrite(op: nest.GroupOp, name: str, kernel: nest.KernelOp) -> None:
    """Let the result of a group lie where its input `name` lies from `kernel` on, as `overwritable` says."""
    argument = next(arg for n, arg in zip(op.input_names, op.body.block.args, strict=True) if n.data == name)
    begin_with(kernel, argument)


def begin_with(kernel: nest.KernelOp, start: SSAValue) -> None:
    """Let a kernel go on from `start`, whatever it begins with, in the bytes of that."""
    Rewriter.replace_op(kernel, kernel.like(kernel.statement.data, start))


def _first_writer(value: SSAValue) -> nest.KernelOp | None:
    """The kernel that writes the bytes of a value first; None where they are those of an input."""
    while isinstance(value.owner, nest.KernelOp):
        if value.owner.init is None:
            return value.owner
        value = value.owner.init
    return None


def _may_lie_in(group: Group, writer: str, buffer: str) -> bool:
    """Whether the first kernel that writes the result may write into an input."""
    names = [kernel.name for kernel in group.kernels]
    kernel, later = group.kernels[names.index(writer)], group.kernels[names.index(writer) + 1 :]
    read_later = any(use.buffer == buffer for other in later for use in other.uses)
    forms = {use.forms for use in touches(group, buffer)}
    return not read_later and _writes_once(group, kernel) and forms <= {kernel.target.forms}


def _writes_once(group: Group, kernel: Kernel) -> bool:
    """Whether a kernel assigns each element of its target once: each axis is a dim of its extent, or has one index."""
    shape, forms = group.by_name[kernel.target.buffer].shape, kernel.target.forms
    dims = [dim for form in forms for dim in form.names]
    plain = all(form == make_affine(0, dict.fromkeys(form.names[:1], 1)) for form in forms)
    whole = tuple(prod(group.extents[dim] for dim in form.names) for form in forms) == shape
    return plain and whole and len(set(dims)) == len(dims) and kernel.statement.reduce == "="


def _is_padded(value: SSAValue) -> bool:
    """Whether a reader of a map, or of what is joined of it, has a value for what is beyond its borders."""
    readers = (reader for reader in readers_of(value) if isinstance(reader, nest.GroupOp))
    return any(kernel.pads for reader in readers for kernel in reader.kernels)
