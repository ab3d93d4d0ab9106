"""The functions of a module, and copies of what their values are made of."""

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ..dialects.graph import WeightOp
from ..interpreters.graph import check_one_block


def functions_of(module: ModuleOp) -> list[FuncOp]:
    """The functions of a module that have a body; none where all are lowered to codelets or instructions.

    `TilewrightError` (kind `unsupported`) for one of several blocks.
    """
    return [check_one_block(op) for op in module.body.ops if isinstance(op, FuncOp) and op.body.blocks]


def erase_unread_weights(values: Iterable[SSAValue]) -> None:
    """Erase those of `values` that are weights and that nothing reads any more."""
    for value in dict.fromkeys(values):
        if isinstance(value.owner, WeightOp) and not value.uses:
            Rewriter.erase_op(value.owner)


def copy_into(block: Block, value: SSAValue, known: dict[SSAValue, SSAValue]) -> None:
    """Put a copy of the operation that makes a value at the end of a block, after copies of what it reads.

    `known` has what stands for values there already, and learns the copies.
    """
    if value in known or not isinstance(value.owner, Operation):
        return
    for operand in value.owner.operands:
        copy_into(block, operand, known)
    made = value.owner.clone(known)
    block.add_op(made)
    known.update(zip(value.owner.results, made.results, strict=True))
