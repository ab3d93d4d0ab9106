"""Which axis of a network's tensors counts samples, and what one sample of a tensor is."""

from math import prod

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import graph
from ...dialects.types import shape_of
from .graph_fuse import ELEMENTWISE

ALONG_WINDOWS = (graph.ConvOp, graph.PoolOp, graph.ResizeOp, graph.LrnOp, graph.BatchNormOp)
"""Layers whose first axis is that of samples by their definition."""


def constants_of(block: Block) -> set[SSAValue]:
    """The values that nothing the network is given reaches."""
    found: set[SSAValue] = set()
    for op in block.ops:
        if all(operand in found for operand in op.operands):
            found.update(op.results)
    return found


def live_operations(block: Block) -> set[Operation]:
    """The operations that some result of the network depends on, and the return."""
    found: set[Operation] = set()
    for op in reversed(list(block.ops)):
        if not op.results or any(use.operation in found for result in op.results for use in result.uses):
            found.add(op)
    return found


def samples_of(block: Block) -> int:
    """Samples that a network is given at once.

    The leading extent of its inputs, if it is one for all of them and every layer keeps samples apart on that axis; 1
    otherwise (rows of one sequence, for example).
    """
    leading = {shape_of(argument)[0] if shape_of(argument) else 1 for argument in block.args}
    if len(leading) != 1:
        return 1
    (batch,) = leading
    if batch == 1:
        return 1
    constants, live = constants_of(block), live_operations(block)
    layers = (op for op in block.ops if isinstance(op, graph.LayerOp) and op in live and op.result not in constants)
    return batch if all(_keeps_apart(op, batch, constants) for op in layers) else 1


def sample_extents(value: SSAValue, batch: int) -> tuple[int, ...]:
    """Extents of one sample of `value`; a first axis of several times `batch` counts within a sample what is left."""
    extents = shape_of(value)
    if extents and extents[0] == batch:
        return extents[1:]
    if extents and extents[0] % batch == 0:
        return (extents[0] // batch, *extents[1:])
    return extents


def sample_map(value: SSAValue, batch: int) -> tuple[int, int, int]:
    """Channels, rows and columns of one sample of `value`; the last axis is channels where there are fewer than 3."""
    extents = sample_extents(value, batch)
    match len(extents):
        case 3:
            return extents[0], extents[1], extents[2]
        case 2:
            return extents[1], extents[0], 1
        case _:
            return prod(extents), 1, 1


def channel_axis(value: SSAValue) -> int:
    """The axis of channels of a tensor of samples."""
    rank = len(shape_of(value))
    return 1 if rank >= 4 else rank - 1


def _keeps_apart(op: graph.LayerOp, batch: int, constants: set[SSAValue]) -> bool:
    """Whether the first axis of the result counts samples as the first axes of what the layer is given do."""
    maps = [value for value in op.operands if value not in constants]
    extents = shape_of(op.result)
    if not extents or extents[0] % batch:
        return False
    same = all(len(shape_of(value)) == len(extents) and shape_of(value)[0] == extents[0] for value in maps)
    match op:
        case graph.ReshapeOp():
            return True
        case graph.GemmOp():
            return same and op.trans_a is None and op.b in constants
        case graph.MatmulOp():
            return same and (len(extents) > 2 or op.b in constants)
        case graph.ReduceOp():
            return 0 not in op.axes.get_values()
        case graph.SoftmaxOp() | graph.LayerNormOp() | graph.StandardizeOp():
            return same and op.axis.value.data != 0
        case graph.ConcatOp() | graph.GatherOp():
            return op.axis.value.data != 0 and same
        case graph.TransposeOp():
            return op.perm.get_values()[0] == 0
        case graph.SliceOp() | graph.PadOp() | graph.ExpandOp():
            return same
        case _:
            return same and isinstance(op, (*ELEMENTWISE, *ALONG_WINDOWS))
