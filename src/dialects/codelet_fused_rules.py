"""What holds for the operations of groups that run tile by tile (`codelet_fused`), and for tensors with rings."""

from xdsl.dialects.builtin import i64
from xdsl.utils.exceptions import VerifyException

from ..algebra.affine import Affine, index_forms
from .codelet import CodeletOp, LoopOp, TensorOp, TransferOp
from .codelet_fused import FillOp, FusedOp, PartOp
from .codelet_rules import enclosing_codelet, known_dims, parse_access, surrogate
from .codelet_walks import SpanOp
from .properties import verifies, verifying
from .types import Role


@verifies(TensorOp)
def verify_ring(op: TensorOp) -> None:
    """One number per axis, from 0 to the axis' extent, and only for what is temporary."""
    if op.ring is None:
        return
    sizes, ring = surrogate(op.result).sizes, op.ring.get_values()
    if len(ring) != len(sizes) or not all(0 <= kept <= size for kept, size in zip(ring, sizes, strict=True)):
        raise VerifyException(f"expected for each axis of {list(sizes)} how much of it is kept, found {list(ring)}")
    if op.role.data != Role.TEMP:
        raise VerifyException(f"expected a ring for temporary tensors only, found one for an {op.role.data}")


@verifies(PartOp)
def verify_part(op: PartOp) -> None:
    """A dim of the codelet, some of its iterations, and no loop over it outside."""
    dims = enclosing_codelet(op).dims.as_dict()
    dim, start, stop = op.dim.data, op.start.value.data, op.stop.value.data
    if dim not in dims:
        raise VerifyException(f"expected a dim among {', '.join(dims)}, found {dim}")
    if not 0 <= start < stop <= dims[dim]:
        raise VerifyException(f"expected some of the {dims[dim]} iterations of {dim}, found {start} to {stop}")
    parent = op.parent_op()
    while isinstance(parent, LoopOp | PartOp | SpanOp):
        if parent.dim.data == dim:
            raise VerifyException(f"expected no loop over {dim} around a part of it")
        parent = parent.parent_op()


@verifies(FillOp)
def verify_fill(op: FillOp) -> None:
    """A value of the tensor's element type."""
    element = surrogate(op.target).element
    if op.value.type != element:
        raise VerifyException(f"expected a value of type {element}, found {op.value.type}")


def verify_over(op: TransferOp) -> None:
    """Accesses of a transfer between two tensors have their rank and the codelet's dims, and differ by constants."""
    found: list[tuple[Affine, ...]] = []
    for text in (access.data for access in (op.over, op.into) if access is not None):
        with verifying():
            forms = index_forms(parse_access(text))
        known_dims(enclosing_codelet(op).dims.as_dict(), forms, text)
        rank = len(surrogate(op.source).sizes)
        if len(forms) != rank:
            raise VerifyException(f"expected {rank} indices in {text}, found {len(forms)}")
        found.append(forms)
    if any(one.terms != other.terms for one, other in zip(found[0], found[-1], strict=True)):
        raise VerifyException("expected accesses of both sides that differ by constants")


@verifies(FusedOp)
def verify_fused(op: FusedOp) -> None:
    """Codelets; a sample and a row dim for each; turns of iterations that there are."""
    codelets: list[CodeletOp] = []
    for inner in op.codelets:
        if not isinstance(inner, CodeletOp):
            raise VerifyException(f"expected codelets in a fused group, found {inner.name}")
        codelets.append(inner)
    names = [[dim.data for dim in array] for array in (op.samples, op.rows, op.columns) if array is not None]
    if any(len(dims) != len(codelets) for dims in names):
        raise VerifyException(f"expected a sample dim and a row dim for each of {len(codelets)} codelets")
    shape = op.updates.get_shape()
    width = 2 * len(names)
    if len(shape) != 2 or shape[1] != width or op.updates.get_element_type() != i64:
        count = {4: "four", 6: "six"}[width]
        raise VerifyException(f"expected rows of {count} i64 as updates, found {op.updates.type}")
    extents: list[list[int]] = []
    for codelet, *own in zip(codelets, *names, strict=True):
        dims = {"": 1 << 62} | codelet.dims.as_dict()
        for name in own:
            if name not in dims:
                raise VerifyException(f"expected a dim of @{codelet.sym_name.data}, found {name}")
        extents.append([dims[name] for name in own])
    for number, sample, *spans in op.turns:
        if not 0 <= number < len(codelets):
            raise VerifyException(f"expected a codelet below {len(codelets)} in each update, found {number}")
        most, *sizes = extents[number]
        inside = [
            0 <= first and 0 < count and first + count <= size
            for first, count, size in zip(spans[::2], spans[1::2], sizes, strict=True)
        ]
        if not (0 <= sample < most and all(inside)):
            name = codelets[number].sym_name.data
            found = ", ".join(
                f"{first} to {first + count}" for first, count in zip(spans[::2], spans[1::2], strict=True)
            )
            raise VerifyException(f"expected samples and rows of @{name}, found {sample}, {found}")
