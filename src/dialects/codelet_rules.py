"""What holds for every op of the `codelet` dialect."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..algebra.affine import Affine, Axis, index_forms, window
from ..algebra.expr import Access, Call, accesses, dims_of, print_expr, scalars_of, tensors_of
from ..algebra.parser import parse_expr
from ..errors import TilewrightError
from .codelet import CodeletOp, ComputeOp, LocalOp, LoopOp, ProgramOp, RowsOp, TensorOp, TransferOp, ViewOp
from .codelet_attributes import SurrogateType
from .codelet_fused import FillOp, FusedOp, PartOp
from .codelet_schedule import verify_ahead, verify_share
from .codelet_walks import ShadowOp, SpanOp
from .properties import verifies, verifying
from .types import is_element_type


def surrogate(value: SSAValue) -> SurrogateType:
    """The type of a tensor of a codelet."""
    if not isinstance(value.type, SurrogateType):
        raise VerifyException(f"expected a surrogate, found {value.type}")
    return value.type


@lru_cache(maxsize=1024)
def parse_access(text: str) -> Access:
    """`X[n, 2*p + r]`; raises `TilewrightError` where the text is not an access with affine indices."""
    expr = parse_expr(text, "access")
    if not isinstance(expr, Access):
        raise TilewrightError("parse", f"access {text}", "an access such as X[n, 2*p + r]", "another expression")
    index_forms(expr)
    return expr


def enclosing_codelet(op: Operation) -> CodeletOp:
    """The codelet around an op."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, CodeletOp):
        parent = parent.parent_op()
    if parent is None:
        raise VerifyException(f"expected {op.name} inside codelet.codelet")
    return parent


def extents_at(op: Operation) -> dict[str, int]:
    """Dim -> iterations of a full tile where `op` stands: the codelet's extents, narrowed by the loops around."""
    codelet = enclosing_codelet(op)
    extents = codelet.dims.as_dict()
    around: list[LoopOp | PartOp | SpanOp] = []
    parent = op.parent_op()
    while isinstance(parent, LoopOp | PartOp | SpanOp):
        around.append(parent)
        parent = parent.parent_op()
    for parent in reversed(around):
        dim = parent.dim.data
        if dim in extents:
            extents[dim] = min(extents[dim], _most(parent, extents))
    return extents


def _most(op: LoopOp | PartOp | SpanOp, extents: Mapping[str, int]) -> int:
    """The iterations of its dim inside of an op, at most."""
    if isinstance(op, SpanOp):
        low, high = op.form.range(extents)
        return high - low + 1
    return op.extent if isinstance(op, PartOp) else op.step.value.data


def local_axes(op: LocalOp) -> tuple[Axis, ...]:
    """The axes of a local's window, in the layout of its type."""
    return access_axes(op, [access.data for access in op.accesses])


def access_axes(op: Operation, accesses: Sequence[str]) -> tuple[Axis, ...]:
    """The axes of the window of accesses where `op` stands."""
    return window([index_forms(parse_access(access)) for access in accesses], extents_at(op))


def shift_of(op: TransferOp) -> tuple[int, ...]:
    """How far on in its destination what a transfer moves lies than in its source, along each axis; () for nowhere."""
    if op.over is None or op.into is None:
        return ()
    pairs = zip(*(index_forms(parse_access(text.data)) for text in (op.into, op.over)), strict=True)
    return tuple((to - source).const for to, source in pairs)


@verifies(ProgramOp)
def verify_program(op: ProgramOp) -> None:
    """Only tensors, views, codelets and fused groups of them; names are unique."""
    names: list[str] = []
    for inner in op.body.block.ops:
        if not isinstance(inner, TensorOp | ViewOp | RowsOp | CodeletOp | FusedOp):
            raise VerifyException(f"expected tensors, views and codelets in a program, found {inner.name}")
        if isinstance(inner, TensorOp):
            names.append(inner.tensor_name.data)
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise VerifyException(f"expected distinct names of tensors, found '{twice[0]}' twice")


@verifies(TensorOp)
def verify_tensor(op: TensorOp) -> None:
    """Numbers, at an address that can be."""
    if not is_element_type(surrogate(op.result).element):
        raise VerifyException(f"expected elements that are numbers, found {surrogate(op.result).element}")
    if op.address is not None and op.address.value.data < 0:
        raise VerifyException(f"expected an address of at least 0, found {op.address.value.data}")


@verifies(ViewOp)
def verify_view(op: ViewOp) -> None:
    """Same place, same elements."""
    source, result = surrogate(op.source), surrogate(op.result)
    same = (source.element, source.place, prod(source.sizes)) == (result.element, result.place, prod(result.sizes))
    if not same:
        raise VerifyException(f"expected a view of the same elements in the same place, found {source} and {result}")


@verifies(RowsOp)
def verify_rows(op: RowsOp) -> None:
    """A table of two axes and indices in one place, and a row of the table for each index."""
    table, index, result = surrogate(op.table), surrogate(op.index), surrogate(op.result)
    if len(table.sizes) != 2 or index.element not in (i32, i64) or index.place != table.place:
        raise VerifyException(f"expected a table of rows, and indices of i32 or i64 beside it, got {table} and {index}")
    same = result.element == table.element and result.place == table.place
    if not same or result.sizes != (*index.sizes, table.sizes[1]):
        raise VerifyException(f"expected {[*index.sizes, table.sizes[1]]} elements like {table}, got {result}")


@verifies(CodeletOp)
def verify_codelet(op: CodeletOp) -> None:
    """Positive dims; one argument of the same type per tensor; only ops of a codelet inside."""
    allowed = LoopOp | PartOp | SpanOp | LocalOp | ShadowOp | TransferOp | FillOp | ComputeOp
    for dim, extent in op.dims.data:
        if extent < 1:
            raise VerifyException(f"expected a positive extent of dim {dim}, found {extent}")
    if list(op.body.block.arg_types) != list(op.tensors.types):
        raise VerifyException("expected one block argument of the same type for each tensor")
    for inner in op.walk():
        if inner is not op and not isinstance(inner, allowed):
            raise VerifyException(f"expected loops, locals, transfers and computes in a codelet, found {inner.name}")


@verifies(LoopOp)
def verify_loop(op: LoopOp) -> None:
    """A dim of the codelet, a positive step."""
    dims = enclosing_codelet(op).dims.as_dict()
    if op.dim.data not in dims:
        raise VerifyException(f"expected a dim among {', '.join(dims)}, found {op.dim.data}")
    if op.step.value.data < 1:
        raise VerifyException(f"expected a positive step of dim {op.dim.data}, found {op.step.value.data}")
    verify_ahead(op)


@verifies(LocalOp)
def verify_local(op: LocalOp) -> None:
    """The accesses are over dims of the codelet; their window has the type's size; one address per copy."""
    text = ", ".join(access.data for access in op.accesses)
    with verifying():
        accesses = [index_forms(parse_access(access.data)) for access in op.accesses]
    if len({len(forms) for forms in accesses}) != 1:
        raise VerifyException(f"expected accesses of one rank, found {text}")
    extents, whole = extents_at(op), enclosing_codelet(op).dims.as_dict()
    for forms in accesses:
        known_dims(whole, forms, text)
    axes = window(accesses, extents)
    if (sizes := tuple(axis.size for axis in axes)) != surrogate(op.result).sizes:
        raise VerifyException(
            f"expected the size {list(sizes)} of the window of {text}, found {list(surrogate(op.result).sizes)}"
        )
    for dim in (dim for dim in whole if extents[dim] < whole[dim]):
        if any(len({form.coefficient(dim) for form in axis.forms}) > 1 for axis in axes):
            raise VerifyException(f"expected the accesses {text} to move alike with dim {dim}, which a loop cuts")
    _verify_copies(op)


def _verify_copies(op: LocalOp) -> None:
    copies = op.buffers.value.data
    if copies < 1:
        raise VerifyException(f"expected at least one buffer, found {copies}")
    if op.slots is not None and (len(op.slots) != copies or min(op.slots) < 0):
        raise VerifyException(f"expected {copies} addresses of at least 0, found {list(op.slots)}")


def known_dims(dims: Mapping[str, int], forms: tuple[Affine, ...], text: str) -> None:
    """Raises `VerifyException` where `forms` use another name."""
    for form in forms:
        for name in form.names:
            if name not in dims:
                raise VerifyException(f"expected dims among {', '.join(dims)} in {text}, found {name}")


@verifies(TransferOp)
def verify_transfer(op: TransferOp) -> None:
    """At least one local or an access; ranks and elements agree; the pad value has the element's type and goes into a
    local.
    """
    from .codelet_fused_rules import verify_over

    source, destination = surrogate(op.source), surrogate(op.destination)
    locals_ = [isinstance(side.owner, LocalOp | ShadowOp) for side in (op.source, op.destination)]
    if not any(locals_) and op.over is None:
        raise VerifyException("expected a local on at least one side of a transfer")
    if any(locals_) and (op.over is not None or op.into is not None):
        raise VerifyException("expected an access between two tensors only, found a local")
    if source.element != destination.element or len(source.sizes) != len(destination.sizes):
        raise VerifyException(f"expected sides of the same element type and rank, found {source} and {destination}")
    if source.place == destination.place:
        raise VerifyException(f"expected a transfer between two places, found {source.place} twice")
    if op.over is not None:
        verify_over(op)
    if op.pad is None:
        return
    if not locals_[1]:
        raise VerifyException("expected a pad value only where a local is written")
    if op.pad.type != destination.element:
        raise VerifyException(f"expected a pad value of type {destination.element}, found {op.pad.type}")


@verifies(ComputeOp)
def verify_compute(op: ComputeOp) -> None:
    """The statement's tensors are the operands; its dims are bound, or have one iteration."""
    statement = op.statement.data
    names = tensors_of(statement)
    if len(op.on.nested_references) != 1:
        raise VerifyException(f"expected @node::@capability, found {op.on}")
    if len(names) + len(op.border_names) != len(op.tensors):
        many = len(names) + len(op.border_names)
        raise VerifyException(f"expected {many} tensors ({', '.join(names)}), found {len(op.tensors)}")
    for name in op.border_names:
        if name not in names[1:]:
            raise VerifyException(f"expected borders of operands ({', '.join(names[1:])}), found {name}")
    if scalars := scalars_of(statement):
        raise VerifyException(f"expected tensors, dims and numbers, found the name {', '.join(scalars)}")
    extents = extents_at(op)
    for access in accesses(statement):
        _verify_access(access, op.tensors[names.index(access.tensor)], extents)
    _verify_zeros(op, names)
    bound = [dim for _, dim in op.dims.data]
    for dim in bound:
        if dim not in dims_of(statement) or bound.count(dim) > 1:
            raise VerifyException(f"expected each dim of the statement to be bound once, found {dim}")
    for dim in dims_of(statement):
        if dim not in bound and dim not in op.walked and extents[dim] > 1:
            raise VerifyException(
                f"expected dim {dim} to be bound, walked over, or to have one iteration, found {extents[dim]}"
            )
    slots = [name for name, _ in op.dims.data]
    for axis, dim in op.spread.data if op.spread is not None else ():
        if axis not in ("x", "y") or dim not in slots:
            raise VerifyException(f"expected axis x or y to spread a bound dim of the capability, found {axis} = {dim}")
    verify_share(op)


def _verify_zeros(op: ComputeOp, names: Sequence[str]) -> None:
    if op.zeros is None:
        return
    statement, value = op.statement.data, op.statement.data.value
    if op.keep is None or statement.reduce != "+=" or not isinstance(value, Call) or value.fn != "mul":
        raise VerifyException("expected a sum of products that goes on from its target (keep) where zeros are left out")
    if op.zeros.data not in names[1:]:
        raise VerifyException(f"expected zeros of an operand ({', '.join(names[1:])}), found {op.zeros.data}")
    sizes = surrogate(op.tensors[names.index(op.zeros.data)]).sizes
    if len(op.inside) != len(sizes) or any(not 0 <= a <= b <= n for (a, b), n in zip(op.inside, sizes, strict=False)):
        found = ", ".join(f"{a}:{b}" for a, b in op.inside)
        raise VerifyException(
            f"expected first and last indices within {list(sizes)}, with zeros outside, found {found}"
        )


def _verify_access(access: object, value: SSAValue, extents: Mapping[str, int]) -> None:
    if not isinstance(access, Access):
        raise VerifyException("expected indices in square brackets, found free strides")
    with verifying():
        forms = index_forms(access)
    text = print_expr(access)
    known_dims(extents, forms, text)
    sizes = surrogate(value).sizes
    if len(forms) != len(sizes):
        raise VerifyException(f"expected {len(sizes)} indices in {text}, found {len(forms)}")
    for axis, form in zip(_axes(value, len(sizes)), forms, strict=True):
        for dim, coefficient in form.terms:
            if extents[dim] > 1 and coefficient % axis.step:
                raise VerifyException(
                    f"expected {text} to step by multiples of {axis.step}, which the local keeps, found {coefficient}"
                )


def _axes(value: SSAValue, rank: int) -> tuple[Axis, ...]:
    if isinstance(value.owner, LocalOp):
        axes = local_axes(value.owner)
        if len(axes) == rank:
            return axes
    return tuple(Axis((Affine(0),), 1, n) for n in surrogate(value).sizes)


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
    with verifying():
        form = op.form
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
