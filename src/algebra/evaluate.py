"""Evaluation of statements by NumPy: on named arrays (`run_statement`) and on strided views (`run_strided`)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..errors import TilewrightError
from .affine import Affine, index_forms
from .element import Array
from .expr import Access, Statement, Strided, accesses_of, dims_of, print_expr
from .kernel import make_kernel
from .layout import Layout, Operand

MAX_PADDED_ELEMENTS = 1 << 31


def run_statement(
    statement: Statement,
    arrays: Mapping[str, Array],
    extents: Mapping[str, int],
    out: Array,
    scalars: Mapping[str, Any] | None = None,
    pad: Mapping[str, int | float] | None = None,
    functions: Mapping[str, str] | None = None,
    accumulate: bool = True,
) -> None:
    """Runs a statement of `Access` form on row-major named arrays, in place into `out`.

    Dim `d` runs over `0 .. extents[d] - 1`.  A read outside an array gives `pad[tensor]` (0 where not given); a write
    outside `out` is an error.  A reduction goes on from what `out` holds, or from its identity with
    `accumulate=False`.  `out` must not share memory with a source, except for elementwise statements.
    """
    missing = [dim for dim in dims_of(statement) if dim not in extents]
    if missing:
        raise TilewrightError("shape", f"dim {missing[0]}", "an extent", "none")
    if any(extents[dim] <= 0 for dim in dims_of(statement)):
        return
    if not isinstance(statement.target, Access):
        raise TilewrightError("shape", print_expr(statement.target), "`[...]` indices", "`{...}` strides")
    target = _target_view(statement.target, out, extents)
    sources = [_source_view(access, arrays, extents, pad or {}) for access in accesses_of(statement.value)]
    _run(statement, extents, target, sources, scalars, functions, accumulate)


def run_strided(
    statement: Statement,
    views: Mapping[str, Array],
    extents: Mapping[str, int],
    scalars: Mapping[str, Any] | None = None,
    functions: Mapping[str, str] | None = None,
    accumulate: bool = True,
) -> None:
    """Runs a statement of `Strided` form in place into the target's view.

    A tensor's view has one axis per dim of its access, in that order, of the dim's extent (strides may be 0).
    """
    if any(extents[dim] <= 0 for dim in dims_of(statement)):
        return
    accesses = [statement.target, *accesses_of(statement.value)]
    pairs: list[_View] = []
    for access in accesses:
        if not isinstance(access, Strided) or access.tensor not in views:
            raise TilewrightError("shape", print_expr(access), "a strided access to a given view", "none")
        view = views[access.tensor]
        expected = tuple(extents[dim] for dim in access.dims)
        if view.shape != expected:
            raise TilewrightError("shape", print_expr(access), f"a view of shape {expected}", f"{view.shape}")
        pairs.append((view, dict(zip(access.dims, view.strides, strict=True))))
    _run(statement, extents, pairs[0], pairs[1:], scalars, functions, accumulate)


_View = tuple[Array, Mapping[str, int]]  # an array that begins at the first element, byte strides by dim


def _run(
    statement: Statement,
    extents: Mapping[str, int],
    target: _View,
    sources: Sequence[_View],
    scalars: Mapping[str, Any] | None,
    functions: Mapping[str, str] | None,
    accumulate: bool,
) -> None:
    operands = [Operand(array.dtype, strides) for array, strides in (target, *sources)]
    kernel = make_kernel(statement, extents, operands[0], operands[1:], functions, accumulate)
    views = [_frame_view(array, layout) for (array, _), layout in zip(sources, kernel.sources, strict=True)]
    with np.errstate(all="ignore"):
        kernel.run(_frame_view(target[0], kernel.target), views, _scalars(scalars or {}))


def _frame_view(array: Array, layout: Layout) -> Array:
    return as_strided(array, layout.shape, layout.strides)


def _scalars(scalars: Mapping[str, Any]) -> dict[str, Any]:
    """Python numbers as NumPy scalars of the language's two kinds."""
    plain = {name: np.float32(v) if isinstance(v, float) else v for name, v in scalars.items()}
    return {name: np.int64(v) if isinstance(v, int) else v for name, v in plain.items()}


def _target_view(access: Access, out: Array, extents: Mapping[str, int]) -> _View:
    forms = _forms(access, out)
    for form, size in zip(forms, out.shape, strict=True):
        low, high = form.range(extents)
        if low < 0 or high >= size:
            raise TilewrightError("shape", print_expr(access), f"indices within 0..{size - 1}", f"{low}..{high}")
    return _first_element(out, [form.const for form in forms], forms), _byte_strides(forms, out)


def _source_view(
    access: Access | Strided, arrays: Mapping[str, Array], extents: Mapping[str, int], pad: Mapping[str, int | float]
) -> _View:
    if not isinstance(access, Access) or access.tensor not in arrays:
        raise TilewrightError("shape", print_expr(access), "`[...]` indices of a given array", "none")
    array = arrays[access.tensor]
    forms = _forms(access, array)
    ranges = [form.range(extents) for form in forms]
    before = [max(0, -low) for low, _ in ranges]
    after = [max(0, high - size + 1) for (_, high), size in zip(ranges, array.shape, strict=True)]
    if any(before) or any(after):
        array = padded(access, array, ranges, pad.get(access.tensor, 0))
        starts = [form.const - low for form, (low, _) in zip(forms, ranges, strict=True)]
    else:
        starts = [form.const for form in forms]
    return _first_element(array, starts, forms), _byte_strides(forms, array)


def _forms(access: Access, array: Array) -> tuple[Affine, ...]:
    if len(access.indices) != array.ndim:
        raise TilewrightError("shape", print_expr(access), f"{array.ndim} indices", f"{len(access.indices)}")
    return index_forms(access)


def padded(access: Access, array: Array, ranges: Sequence[tuple[int, int]], value: float) -> Array:
    """The box that `ranges` span, filled with `value` outside the array."""
    shape = [high - low + 1 for low, high in ranges]
    if np.prod([float(n) for n in shape]) > MAX_PADDED_ELEMENTS:
        raise TilewrightError("shape", print_expr(access), f"reads near {array.shape}", f"a box of {shape}")
    box = np.full(shape, value, array.dtype)
    inside = tuple(
        slice(max(low, 0), max(min(high + 1, size), max(low, 0)))
        for (low, high), size in zip(ranges, array.shape, strict=True)
    )
    part = array[inside]
    place = tuple(slice(max(-low, 0), max(-low, 0) + n) for (low, _), n in zip(ranges, part.shape, strict=True))
    box[place] = part
    return box


def _first_element(array: Array, starts: Sequence[int], forms: Sequence[Affine]) -> Array:
    """The array from the element at `starts` on (where all dims are 0), as a one-element view."""
    if array.size == 0:
        raise TilewrightError("shape", "tensor", "at least one element", f"shape {array.shape}")
    return array[(*(slice(start, start + 1) for start in starts), ...)]


def _byte_strides(forms: Sequence[Affine], array: Array) -> dict[str, int]:
    strides: dict[str, int] = {}
    for form, step in zip(forms, array.strides, strict=True):
        for name, coefficient in form.terms:
            strides[name] = strides.get(name, 0) + coefficient * step
    return strides
