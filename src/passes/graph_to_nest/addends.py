"""Sums of products that begin with what is added to them."""

from typing import NamedTuple

from xdsl.dialects.builtin import f32
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...algebra.expr import Access, Call, Expr, Statement
from ...dialects import nest
from ...dialects.types import element_of, shape_of
from ..nest.storage import begin_with

PIXEL_AXES = 4
"""Axes at least of a map of pixels: samples, channels, rows and columns."""


def begin_with_addends(group: nest.GroupOp, least_axes: int = PIXEL_AXES) -> None:
    """Let sums of products in f32, of `least_axes`, begin with an input of the group, of their shape, that is added.

        %0 = nest.kernel @bias "Y[0, k, p, q] = B[k]" (B = %B)
        %1 = nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c]" (X = %X, W = %W) into %0
        %2 = nest.kernel @add "Y[0, k, p, q] = A[0, k, p, q] + C[0, k, p, q]" (A = %1, C = %C) into %1

    becomes

        %0 = nest.kernel @add "Y[0, k, p, q] = A[0, k, p, q] + B[k]" (A = %C, B = %B)
        %1 = nest.kernel @mac "Y[0, k, p, q] += X[0, c, p, q] * W[k, c]" (X = %X, W = %W) into %0

    The result may then lie in the place of the input, although it has the bytes of the sums of products, and the bias
    takes no kernel of its own.  Numbers are added in another order.  Of samples that run one after another
    any map may be begun with, which leaves more room for weights; with all at once a block of BERT takes longer.
    """
    for kernel in group.kernels:
        added = _added(kernel, least_axes)
        first = None if added is None else _first_sum(added.made)
        if added is not None and first is not None:
            _begin(first, kernel, added)


class Added(NamedTuple):
    """A kernel, and the input of its group that is added to its result, read by `access`."""

    made: nest.KernelOp
    addend: BlockArgument
    access: Access


def _added(add: nest.KernelOp, least_axes: int) -> Added | None:
    """What a kernel adds to a result, if that is an input, and nothing else reads the result."""
    match add.statement.data:
        case Statement(Access(_, target), "=", Call("add", (Access() as a, Access() as b))):
            pairs = (a, b), (b, a)
        case _:
            return None
    values = add.operands_by_name
    for own, other in pairs:
        made, addend = values[own.tensor], values[other.tensor]
        alone = add.init is made and own.indices == target and sum(1 for _ in made.uses) == 2
        if alone and isinstance(made.owner, nest.KernelOp) and isinstance(addend, BlockArgument):
            is_alike = addend.type == made.type and len(shape_of(made)) >= least_axes
            return Added(made.owner, addend, other) if is_alike and element_of(made) == f32 else None
    return None


def _first_sum(made: nest.KernelOp) -> nest.KernelOp | None:
    """The first of sums of products that go on from each other to `made`, where nothing else reads them."""
    start = made.init
    if made.statement.data.reduce != "+=" or isinstance(start, BlockArgument):
        return None
    if start is None:
        return made
    before = start.owner
    if not isinstance(before, nest.KernelOp) or not start.has_one_use():
        return None
    return made if before.statement.data.reduce == "=" else _first_sum(before)


def _begin(first: nest.KernelOp, add: nest.KernelOp, added: Added) -> None:
    """Let a sum begin with what is added to what it begins with."""
    target, start = add.statement.data.target, first.init
    assert isinstance(target, Access)
    own: Expr = Access("A", added.access.indices)
    operands: dict[str, SSAValue] = {"A": added.addend}
    bias = start.owner if start is not None else None
    if isinstance(bias, nest.KernelOp) and bias.init is None and isinstance(bias.statement.data.value, Access):
        operands["B"], start = bias.inputs[0], None
        own = Call("add", (own, Access("B", bias.statement.data.value.indices)))
    elif start is not None:
        operands["B"] = start
        own = Call("add", (own, Access("B", target.indices)))
    made = nest.KernelOp(add.sym_name.data, Statement(target, "=", own), operands, add.result.type, init=start)
    made.result.name_hint = add.result.name_hint
    Rewriter.insert_op(made, InsertPoint.before(first))
    begin_with(first, made.result)
    if start is None and isinstance(bias, nest.KernelOp):
        Rewriter.erase_op(bias)
    assert add.init is not None
    Rewriter.replace_op(add, [], [add.init])
