"""A sum of products seen as a matrix product: rows from one operand, lanes from the other, reduction runs in memory.

O[p,q,k] += X[p+r, q+s, c] * W[k,r,s,c]     rows p, q; lanes k; the reduction c, s is one run of bytes of X, r gives
                                             segments a row of X apart
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from ...algebra.affine import Affine, index_forms
from ...algebra.expr import Access, Call, Name, Num, Statement, accesses, print_statement, sums_pairs
from ...errors import TilewrightError

WIDE_CHANNEL_BYTES = 16
"""Channels of more bytes are filled up to 8 bytes, fewer to 4."""


@dataclass(frozen=True)
class Walk:
    """A loop over rows: iterations, and the bytes of X from one to the next."""

    extent: int
    step_bytes: int


@dataclass(frozen=True)
class Contraction:
    """`target += scalar * vector`, one byte an element in both operands.

    `rows` are loops over the target's rows, outermost first, in the order of its memory; `batch` such loops outside,
    over all three tensors.  Along the reduction a row reads `run_bytes` at each of `segments` (bytes from its start);
    `sources[i]` is the flat index in the vector operand's `reduced` dims of byte i, -1 for filling.
    """

    target: str
    scalar: str
    vector: str
    rows: tuple[Walk, ...]
    batch: tuple[Walk, ...]
    lanes: int
    segments: tuple[int, ...]
    run_bytes: int
    sources: tuple[int, ...]
    scalar_shape: tuple[int, ...]
    scalar_strides: tuple[int, ...]
    scalar_bytes: int
    scalar_origin_bytes: int  # from the first byte to the tensor's first element, filling before it
    vector_axes: tuple[int, ...]  # axes of the vector operand: batch, reduced, lanes
    vector_shape: tuple[int, ...]
    target_order: tuple[str, ...]  # "batch", "row" or "lane" for each axis of the target
    target_shape: tuple[int, ...]

    @property
    def row_count(self) -> int:
        """Rows of the target of one batch."""
        return prod(walk.extent for walk in self.rows)

    @property
    def batches(self) -> int:
        """Iterations over what all three tensors share."""
        return prod(walk.extent for walk in self.batch)

    @property
    def reduction_bytes(self) -> int:
        """Bytes of a row that take part, with filling."""
        return self.run_bytes * len(self.segments)

    @property
    def reduced_axes(self) -> int:
        """Axes of the vector operand that are summed along."""
        return len(self.vector_axes) - len(self.batch) - sum(role == "lane" for role in self.target_order)

    def target_strides(self, **steps: int) -> tuple[int, ...]:
        """Byte strides of the target's axes in their order; the last axis of each role has the one of `steps`."""
        strides: list[int] = []
        for role, size in zip(self.target_order[::-1], self.target_shape[::-1], strict=True):
            strides.append(steps[role])
            steps[role] *= size
        return tuple(strides[::-1])


def is_contraction(statement: Statement) -> bool:
    """Whether the statement sums products of two tensors."""
    return sums_pairs(statement) and all(isinstance(access, Access) for access in accesses(statement))


@dataclass(frozen=True)
class Lying:
    """How a scalar operand lies: byte strides by index, the bytes before its first element, and all bytes."""

    strides: tuple[int, ...]
    origin_bytes: int
    size_bytes: int


def contraction_of(
    statement: Statement,
    extents: Mapping[str, int],
    shapes: Mapping[str, Sequence[int]] | None = None,
    lying: Lying | None = None,
) -> Contraction:
    """The first of `contractions_of`; `TilewrightError` where there is none."""
    for found in contractions_of(statement, extents, shapes, lying):
        return found
    raise TilewrightError(
        "unsupported",
        print_statement(statement),
        "a target and an operand with plain indices, the other with a reduced dim as an index",
        "none",
    )


def contractions_of(
    statement: Statement,
    extents: Mapping[str, int],
    shapes: Mapping[str, Sequence[int]] | None = None,
    lying: Lying | None = None,
) -> Iterator[Contraction]:
    """The roles that the operands of a sum of products may have: one lies in lanes, the other is read as scalars.

    Those with dims in lanes come first, and with the second operand there.  Tensors are of `shapes`, or as large as
    their indices reach; what lies outside the scalar operand is 0.  That lies with channels innermost and densely, or
    as `lying` says.
    """
    value, target = statement.value, statement.target
    assert isinstance(value, Call)
    assert isinstance(target, Access)
    accesses = [arg for arg in value.args if isinstance(arg, Access)]
    names = [_plain(target), *map(_plain, accesses)]
    for shared, scalar, vector in ((True, 0, 1), (True, 1, 0), (False, 0, 1), (False, 1, 0)):
        out, packed = names[0], names[1 + vector]
        if out is None or packed is None:
            continue
        if shared == bool(_only(out, packed, _dims(accesses[scalar]))):
            shape = tuple((shapes or {}).get(accesses[scalar].tensor, ()))
            found = _roles(target, accesses[scalar], accesses[vector], extents, shape, lying)
            if found is not None:
                yield found


def _plain(access: Access) -> tuple[str, ...] | None:
    """The dims of an access all of whose indices are dims, each once, or 0; else None."""
    names = [index.id for index in access.indices if isinstance(index, Name)]
    zeros = sum(index == Num(0) for index in access.indices)
    return tuple(names) if len(set(names)) + zeros == len(access.indices) else None


def _dims(access: Access) -> set[str]:
    return {name for form in index_forms(access) for name in form.names}


def _only(first: Sequence[str], second: Sequence[str], without: set[str]) -> list[str]:
    return [name for name in first if name in second and name not in without]


def _roles(
    target: Access,
    scalar: Access,
    vector: Access,
    extents: Mapping[str, int],
    shape: tuple[int, ...],
    lying: Lying | None,
) -> Contraction | None:
    out, packed, used = _plain(target) or (), _plain(vector) or (), _dims(scalar)
    lanes = _only(out, packed, used)
    batch = [dim for dim in out if dim in packed and dim in used]
    rows = [dim for dim in out if dim not in packed]
    reduced = [dim for dim in packed if dim not in out]
    if not set(rows) <= used or set(used) - set(rows) - set(batch) - set(reduced) or not set(reduced) <= used:
        return None
    forms = index_forms(scalar)
    channel = next((i for i in reversed(range(len(forms))) if _is_dim(forms[i], reduced)), None)
    if channel is None:
        return None
    ranges = [form.range(extents) for form in forms]
    shape = shape or tuple(high + 1 for _, high in ranges)
    origins = [max(0, -low) for low, _ in ranges]
    sizes = [o + max(n, high + 1) for o, n, (_, high) in zip(origins, shape, ranges, strict=True)]
    strides = lying.strides if lying is not None else _strides(sizes, channel)
    steps = {dim: sum(f.coefficient(dim) * s for f, s in zip(forms, strides, strict=True)) for dim in used}
    if lying is not None:
        origin, size_bytes = lying.origin_bytes, lying.size_bytes
    else:
        origin = sum(o * stride for o, stride in zip(origins, strides, strict=True))
        size_bytes = max(s * n for s, n in zip(strides, sizes, strict=True)) + 8
    base = origin + sum(form.const * stride for form, stride in zip(forms, strides, strict=True))
    inner = forms[channel].names[0]
    dims = [inner, *(dim for dim in reduced if dim != inner)]
    run, segments, points = _reduction(dims, steps, extents, _filled(sizes[channel]))
    order = {dim: i for i, dim in enumerate(reduced)}
    sources = tuple(_flat(point, reduced, order, extents) for point in points)
    roles = {**dict.fromkeys(lanes, "lane"), **dict.fromkeys(batch, "batch"), **dict.fromkeys(rows, "row")}
    axes = [packed.index(dim) for dim in (*batch, *reduced, *lanes)]
    return Contraction(
        target.tensor,
        scalar.tensor,
        vector.tensor,
        _merged([Walk(extents[dim], steps[dim]) for dim in rows] or [Walk(1, 0)]),
        tuple(Walk(extents[dim], steps[dim]) for dim in batch),
        prod(extents[dim] for dim in lanes),
        tuple(base + offset for offset in segments),
        run,
        sources,
        shape,
        strides,
        size_bytes,
        origin,
        tuple(axes),
        tuple(extents[dim] for dim in packed),
        tuple(roles[dim] for dim in out),
        tuple(extents[dim] for dim in out),
    )


def _is_dim(form: Affine, names: Sequence[str]) -> bool:
    return form.const == 0 and len(form.terms) == 1 and form.terms[0][1] == 1 and form.terms[0][0] in names


def _filled(size: int) -> int:
    unit = 8 if size > WIDE_CHANNEL_BYTES or size % 8 == 0 else 4
    return -(-size // unit) * unit


def _strides(sizes: Sequence[int], channel: int) -> tuple[int, ...]:
    """Byte strides with the channel innermost, filled up, the other indices in their order."""
    strides = [0] * len(sizes)
    strides[channel], step = 1, _filled(sizes[channel])
    for i in reversed([i for i in range(len(sizes)) if i != channel]):
        strides[i] = step
        step *= sizes[i]
    return tuple(strides)


def _reduction(
    dims: Sequence[str], steps: Mapping[str, int], extents: Mapping[str, int], filled: int
) -> tuple[int, list[int], list[dict[str, int] | None]]:
    """Bytes of a run, the segments' offsets, and the reduced point of each byte; `dims` begin with the channel."""
    run, inner, outer = filled, [dims[0]], list[str]()
    for dim in sorted(dims[1:], key=lambda d: steps[d]):
        if steps[dim] == run and not outer:
            run *= extents[dim]
            inner.append(dim)
        else:
            outer.append(dim)
    outer.reverse()
    segments: list[int] = []
    points: list[dict[str, int] | None] = []
    for corner in product(*(range(extents[dim]) for dim in outer)):
        fixed = dict(zip(outer, corner, strict=True))
        segments.append(sum(steps[dim] * at for dim, at in fixed.items()))
        for place in product(*(range(extents[dim]) for dim in reversed(inner[1:])), range(filled)):
            at = dict(zip([*reversed(inner[1:]), inner[0]], place, strict=True))
            points.append({**fixed, **at} if at[inner[0]] < extents[inner[0]] else None)
    return run, segments, points


def _flat(
    point: Mapping[str, int] | None, dims: Sequence[str], order: Mapping[str, int], extents: Mapping[str, int]
) -> int:
    if point is None:
        return -1
    index = 0
    for dim in dims:
        index = index * extents[dim] + point[dim]
    return index


def _merged(rows: list[Walk]) -> tuple[Walk, ...]:
    """Loops that walk on evenly are one."""
    merged = [walk for walk in rows if walk.extent > 1] or rows[:1]
    result: list[Walk] = []
    for walk in merged:
        if result and result[-1].step_bytes == walk.extent * walk.step_bytes:
            result[-1] = Walk(result[-1].extent * walk.extent, walk.step_bytes)
        else:
            result.append(walk)
    return tuple(result)
