"""What holds for computes that walk over dims, locals that are kept, loops that turn back, spans and shadows."""

from xdsl.utils.exceptions import VerifyException

from ..algebra.expr import dims_of
from ..errors import TilewrightError
from .codelet import ComputeOp, LocalOp, LoopOp, TransferOp
from .codelet_fused import FillOp
from .codelet_rules import enclosing_codelet, known_dims, surrogate
from .codelet_walks import ShadowOp, SpanOp
from .properties import verifies


@verifies(ComputeOp)
def verify_walk(op: ComputeOp) -> None:
    """Dims of the statement, each once, that are not bound."""
    bound, names = [dim for _, dim in op.dims.data], op.walked
    for dim in names:
        if dim not in dims_of(op.statement.data) or dim in bound or names.count(dim) > 1:
            raise VerifyException(f"expected to walk once over dims of the statement that are not bound, found {dim}")


@verifies(LoopOp)
def verify_turning(op: LoopOp) -> None:
    """A loop that turns back loads nothing ahead: what comes next is not in the same direction."""
    if op.alternating is not None and op.ahead is not None:
        raise VerifyException("expected a loop that is ahead or alternating, found both")


@verifies(LocalOp)
def verify_kept(op: LocalOp) -> None:
    """What is kept is only loaded, from what the codelet does not write."""
    if op.kept is None:
        return
    transfers = [inner for inner in enclosing_codelet(op).walk() if isinstance(inner, TransferOp)]
    written = {inner.destination for inner in transfers}
    for use in op.result.uses:
        user, text = use.operation, op.accesses.data[0].data
        if isinstance(user, FillOp) or (isinstance(user, ComputeOp) and use.index == 0):
            raise VerifyException(f"expected only loads into {text}, which is kept, found {user.name}")
        if isinstance(user, TransferOp) and use.index == 1 and user.source in written:
            raise VerifyException(f"expected {text}, which is kept, from what the codelet does not write")


@verifies(SpanOp)
def verify_span(op: SpanOp) -> None:
    """A dim of the codelet over a form of others, which reaches no further than the dim."""
    dims, dim, text = enclosing_codelet(op).dims.as_dict(), op.dim.data, op.over.data
    try:
        form = op.form
    except TilewrightError as error:
        raise VerifyException(error.paragraph()) from error
    known_dims(dims, (form,), text)
    if dim not in dims or dim in form.names:
        raise VerifyException(f"expected a dim of the codelet that {text} is not over, found {dim}")
    low, high = form.range(dims)
    if low < 0 or high >= dims[dim]:
        raise VerifyException(f"expected {text} within the {dims[dim]} iterations of {dim}, found {low} to {high}")


@verifies(ShadowOp)
def verify_shadow(op: ShadowOp) -> None:
    """Of a local, in another memory, with its sizes."""
    source, result = surrogate(op.source), surrogate(op.result)
    if not isinstance(op.source.owner, LocalOp):
        raise VerifyException("expected the shadow of a local, found that of a tensor")
    if source.sizes != result.sizes or source.place == result.place:
        raise VerifyException(f"expected the sizes of {source} in another memory, found {result}")
