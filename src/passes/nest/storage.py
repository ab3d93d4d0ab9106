"""Whose bytes a value of a nest function is, and what reads it."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, OpResult, SSAValue

from ...dialects import nest


def storage_of(value: SSAValue) -> SSAValue:
    """The value whose bytes `value` is: through views, and back along results that overwrite an input."""
    while True:
        owner = value.owner
        if isinstance(owner, nest.ViewOp):
            value = owner.source
        elif isinstance(owner, nest.GroupOp) and isinstance(value, OpResult):
            overwritten = overwritten_inputs(owner).get(value)
            if overwritten is None:
                return value
            value = overwritten
        else:
            return value


def overwritten_inputs(op: nest.GroupOp) -> dict[SSAValue, SSAValue]:
    """Results of a group that lie where one of its inputs lies -> that input."""
    names = op.buffers()
    inputs = dict(zip((name.data for name in op.input_names), op.inputs, strict=True))
    pairs = zip(op.results, op.yielded, strict=True)
    return {result: inputs[names[value]] for result, value in pairs if names[value] in inputs}


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
