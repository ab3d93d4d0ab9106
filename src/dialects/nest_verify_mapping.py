"""What holds for a mapping tree: it computes every kernel once, in order, and no loop changes the meaning."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from xdsl.ir import Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..algebra.affine import Affine, index_forms
from ..algebra.expr import Access, accesses, dims_of, reduction_dims, tensors_of
from .nest import ComputeOp, ForOp, GroupOp, HoldOp, KernelOp, SpatialOp


@dataclass(frozen=True)
class _Path:
    """What encloses a node: for loops and holds, each with the number of its node."""

    loops: tuple[tuple[int, str], ...] = ()
    holds: tuple[tuple[int, str, tuple[str, ...]], ...] = ()
    extents: Mapping[str, int] = field(default_factory=dict[str, int])
    depth: int = 0


def verify_mapping(op: GroupOp) -> None:
    """See the module's text; raises `VerifyException`."""
    kernels = {kernel.sym_name.data: kernel for kernel in op.kernels}
    leaves = list(_walk(op, op.mapping, _Path(extents=op.extents), [0]))
    if not leaves and op.mapping.block.first_op is None:
        return
    order = [leaf.kernel.data for leaf, _ in leaves]
    if order != list(kernels):
        raise VerifyException(f"expected computes of {', '.join(kernels)} in order, got {', '.join(order)}")
    paths = {leaf.kernel.data: path for leaf, path in leaves}
    for leaf, path in leaves:
        kernel = kernels[leaf.kernel.data]
        _verify_leaf(kernel, leaf, path)
        _verify_reductions(kernel, path, paths)
        _verify_recomputing(kernel, path, paths)
        for value in kernel.operands:
            _verify_edge(kernel, value, paths)


def _walk(op: GroupOp, region: Region, path: _Path, counter: list[int]) -> Iterator[tuple[ComputeOp, _Path]]:
    if path.depth > 200:
        raise VerifyException("expected a mapping of at most 200 levels")
    for node in region.block.ops:
        counter[0] += 1
        if isinstance(node, ComputeOp):
            yield node, path
            continue
        if isinstance(node, HoldOp):
            inner = _hold(op, node, path, counter[0])
        elif isinstance(node, ForOp):
            inner = _loop(node.dim.data, node.step.value.data, path, counter[0])
        elif isinstance(node, SpatialOp):
            inner = _spatial(node, path, counter[0])
        else:
            raise VerifyException(f"expected nest.hold, for, spatial or compute in a mapping, got {node.name}")
        yield from _walk(op, node.body, inner, counter)


def _hold(op: GroupOp, node: HoldOp, path: _Path, number: int) -> _Path:
    memory = node.memory.root_reference.data
    known = set(op.buffers().values())
    if node.slots.value.data < 1:
        raise VerifyException(f"expected at least one copy of a held buffer, got {node.slots.value.data}")
    for name in node.buffer_names:
        if name not in known:
            raise VerifyException(f"expected to hold a buffer of the group, got {name}")
        if any(memory == m and name in names for _, m, names in path.holds):
            raise VerifyException(f"expected {name} to be held once in @{memory}")
    return _Path(path.loops, (*path.holds, (number, memory, node.buffer_names)), path.extents, path.depth + 1)


def _loop(dim: str, step: int, path: _Path, number: int) -> _Path:
    _known(dim, path)
    if step < 1:
        raise VerifyException(f"expected a positive step of {dim}, got {step}")
    extents = {**path.extents, dim: min(step, path.extents[dim])}
    return _Path((*path.loops, (number, dim)), path.holds, extents, path.depth + 1)


def _spatial(node: SpatialOp, path: _Path, number: int) -> _Path:
    _known(node.dim.data, path)
    if node.ways.value.data < 1 or node.axis.data not in ("x", "y"):
        raise VerifyException(
            f"expected a positive number of instances along x or y, got {node.ways.value.data} along {node.axis.data}"
        )
    if node.piece is not None:
        return _loop(node.dim.data, node.piece, path, number)
    return _Path(path.loops, path.holds, path.extents, path.depth + 1)


def _known(dim: str, path: _Path) -> None:
    if dim not in path.extents:
        raise VerifyException(f"expected a dim of the group, got {dim}")


def _verify_leaf(kernel: KernelOp, leaf: ComputeOp, path: _Path) -> None:
    if leaf.on is None or leaf.dims is None or leaf.tensors is None:
        return
    bound = [dim for _, dim in leaf.dims.data]
    dims = dims_of(kernel.statement.data)
    for dim in bound:
        if dim not in dims or bound.count(dim) > 1:
            raise VerifyException(f"expected compute @{leaf.kernel.data} to bind each dim once, got {dim}")
    for _, tensor in leaf.tensors.data:
        if tensor not in tensors_of(kernel.statement.data):
            raise VerifyException(f"compute @{leaf.kernel.data} binds {tensor}, which it does not access")
    for dim in dims:
        if dim not in bound and path.extents[dim] > 1:
            raise VerifyException(
                f"expected dim {dim} of compute @{leaf.kernel.data} to be bound or of extent 1 in its loops, "
                f"got {path.extents[dim]}"
            )


def _verify_reductions(kernel: KernelOp, path: _Path, paths: Mapping[str, _Path]) -> None:
    """A loop over a reduction dim holds just this kernel."""
    name = kernel.sym_name.data
    for number, dim in path.loops:
        if dim not in reduction_dims(kernel.statement.data):
            continue
        others = [n for n, p in paths.items() if n != name and (number, dim) in p.loops]
        if others:
            raise VerifyException(f"expected the loop over {dim} to hold only @{name}, got @{others[0]} too")


def _verify_recomputing(kernel: KernelOp, path: _Path, paths: Mapping[str, _Path]) -> None:
    """A kernel that changes a value is repeated only together with the making of that value."""
    statement = kernel.statement.data
    if kernel.init is None or (statement.reduce == "=" and kernel.init not in kernel.inputs):
        return
    for number, dim in path.loops:
        if dim in dims_of(statement):
            continue
        made = _maker(kernel)
        if made is None or (number, dim) not in paths[made].loops:
            raise VerifyException(
                f"expected the loop over {dim} to hold what @{kernel.sym_name.data} changes, "
                "which it would change again in each iteration"
            )


def _maker(kernel: KernelOp) -> str | None:
    owner = None if kernel.init is None else kernel.init.owner
    return owner.sym_name.data if isinstance(owner, KernelOp) else None


def _verify_edge(kernel: KernelOp, value: SSAValue, paths: Mapping[str, _Path]) -> None:
    """A loop around the maker and the reader of a value cuts both at the same place."""
    maker = value.owner
    if not isinstance(maker, KernelOp):
        return
    shared = {d for n, d in paths[kernel.sym_name.data].loops if (n, d) in paths[maker.sym_name.data].loops}
    written = index_forms(cast(Access, maker.statement.data.target))
    for read in _reads(kernel, value):
        for i, (w, r) in enumerate(zip(written, index_forms(read), strict=True)):
            if not aligned(w, r, shared):
                raise VerifyException(
                    f"expected the loops around @{maker.sym_name.data} and @{kernel.sym_name.data} to cut "
                    f"index {i} of the value between them at the same place"
                )


def _reads(kernel: KernelOp, value: SSAValue) -> Iterator[Access]:
    target, *used = cast(tuple[Access, ...], accesses(kernel.statement.data))
    if value == kernel.init:
        yield target
    yield from (access for access in used if kernel.operands_by_name[access.tensor] == value)


def aligned(written: Affine, read: Affine, looped: set[str]) -> bool:
    """Whether, with loops over `looped` around both, what is read at an index was written in the same iteration."""
    return written == read or not any(name in looped for name in written.names)
