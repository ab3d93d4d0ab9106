"""Whose bytes a value of a nest function is, and what reads it."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from ...dialects import nest


def storage_of(value: SSAValue) -> SSAValue:
    """The value whose bytes `value` is: through views, and back along results that overwrite an input."""
    while True:
        owner = value.owner
        if isinstance(owner, nest.ViewOp):
            value = owner.source
        elif isinstance(owner, nest.GroupOp) and isinstance(value, OpResult):
            overwritten = _overwritten(owner, value.index)
            if overwritten is None:
                return value
            value = overwritten
        else:
            return value


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
