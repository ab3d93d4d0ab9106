"""Statements prepared for repeated execution on operands of fixed shape, strides and type.

A kernel's *frame* is the list of the statement's dims of more than one iteration, the target's first.  Operands are
arrays with one axis per frame dim.  Sums of products of two operands run as matrix products; everything else as whole
array operations, cut so that temporaries stay small.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ..errors import TilewrightError
from .contraction import add_to, make_contraction
from .element import WITHOUT_SUMS, Array, is_float, limits
from .expr import (
    Access,
    Call,
    Expr,
    Name,
    Num,
    Statement,
    Strided,
    accesses_of,
    dims_of,
    factors_of,
    print_expr,
    substitute,
)
from .functions import call_function, cast, common_dtype, to_int64
from .layout import Boxes, Index, Layout, Operand, fix_axes, injective_axes, make_layout, restrict, split

CHUNK_ELEMENTS = 1 << 18
LOOPED_POINTS = 64

Scalars = Mapping[str, Any]
Value = Callable[[Sequence[Array], Scalars], Array]
Body = Callable[[Array, Sequence[Array], Scalars], None]


@dataclass(frozen=True)
class Kernel:
    """A prepared statement: `run(target, sources, scalars)` with views in the given layouts.

    Sources are in the order of the accesses of the value, repetitions kept.  `scalars` are NumPy scalars by name.
    """

    dims: tuple[str, ...]
    target: Layout
    sources: tuple[Layout, ...]
    run: Body


def make_kernel(
    statement: Statement,
    extents: Mapping[str, int],
    target: Operand,
    sources: Sequence[Operand],
    functions: Mapping[str, str] | None = None,
    accumulate: bool = True,
) -> Kernel:
    """Prepares `statement`; `functions` says what its function variables stand for.

    With `accumulate` a reduction goes on from what the target holds, without it from the reduction's identity.
    """
    value = substitute(statement.value, functions=functions)
    dims = _frame(statement, extents, target)
    shape = tuple(extents[dim] for dim in dims)
    layout = make_layout(target, dims, extents)
    layouts = [make_layout(source, dims, extents) for source in sources]
    iotas = _iotas(value, dims, shape, [layout, *layouts])
    compiled = _compile(value, accesses_of(value), list(iotas))
    every = layouts + [Layout(i.dtype, i.shape, tuple(int(n > 1) for n in i.shape)) for i in iotas.values()]
    loose = _overlapping_axes(statement.reduce, shape, layout)
    inner_shape = tuple(1 if a in loose else n for a, n in enumerate(shape))
    inner = [fix_axes(x, loose) for x in (layout, *every)]
    body = _body(statement.reduce, value, compiled, inner_shape, inner[0], inner[1:])
    body = _loop_over(body, shape, loose, layout, every)
    body = _with_iotas(body, list(iotas.values()))
    return Kernel(dims, layout, tuple(layouts), _with_start(body, statement.reduce, accumulate))


def _frame(statement: Statement, extents: Mapping[str, int], target: Operand) -> tuple[str, ...]:
    dims = [dim for dim in dims_of(statement) if extents[dim] > 1]
    return tuple(sorted(dims, key=lambda dim: -abs(target.strides.get(dim, 0))))


def _iotas(value: Expr, dims: Sequence[str], shape: Sequence[int], layouts: Sequence[Layout]) -> dict[str, Array]:
    """Index arrays of the dims that the value names outside accesses, and of those that move no operand."""
    named = {e.id for e in _outside_accesses(value) if isinstance(e, Name)}
    result: dict[str, Array] = {}
    for axis, dim in enumerate(dims):
        if dim in named or not any(layout.moves(axis) for layout in layouts):
            frame = [n if a == axis else 1 for a, n in enumerate(shape)]
            result[dim] = np.arange(shape[axis], dtype=np.int64).reshape(frame)
    return result


def _outside_accesses(expr: Expr) -> list[Expr]:
    if isinstance(expr, Access | Strided):
        return []
    inner = [e for arg in expr.args for e in _outside_accesses(arg)] if isinstance(expr, Call) else []
    return [expr, *inner]


def _with_iotas(body: Body, iotas: Sequence[Array]) -> Body:
    if not iotas:
        return body
    return lambda target, sources, scalars: body(target, [*sources, *iotas], scalars)


def _compile(value: Expr, leaves: Sequence[Access | Strided], iotas: Sequence[str]) -> Value:
    """The value as a function of its leaves' arrays, taken in order of appearance."""
    position = iter(range(len(leaves)))

    def build(expr: Expr) -> Value:
        match expr:
            case Num(number):
                constant = _constant(number)
                return lambda arrays, scalars: constant
            case Name(id) if id in iotas:
                index = len(leaves) + iotas.index(id)
                return lambda arrays, scalars: arrays[index]
            case Name(id):
                return lambda arrays, scalars: scalars[id]
            case Access() | Strided():
                index = next(position)
                return lambda arrays, scalars: arrays[index]
            case Call(fn, args):
                parts = [build(arg) for arg in args]
                return lambda arrays, scalars: call_function(fn, [part(arrays, scalars) for part in parts])

    return build(value)


def _constant(number: float) -> Any:
    if isinstance(number, float):
        return np.float32(number)
    if not -(2**63) <= number < 2**63:
        raise TilewrightError("unsupported", print_expr(Num(number)), "an integer of 64 bits", "a larger one")
    return np.int64(number)


def _body(
    reduce: str, value: Expr, compiled: Value, shape: tuple[int, ...], target: Layout, sources: Sequence[Layout]
) -> Body:
    if reduce == "=":
        return _chunked(_assignment(value, compiled, target, sources), shape, target, sources)
    if reduce == "+=" and len(sources) == len(factors_of(value)) == 2:
        contraction = make_contraction(shape, target, sources[0], sources[1])
        if contraction is not None:
            return lambda t, s, scalars: contraction(t, s[0], s[1])
    reduced = tuple(axis for axis in range(len(shape)) if not target.moves(axis))
    if prod(shape[a] for a in reduced) <= LOOPED_POINTS:
        return _looped(reduce, compiled, shape, reduced, target, sources)
    body = _reduction(reduce, compiled, shape, reduced)
    return _chunked(body, shape, target, sources)


def _chunked(body: Body, shape: tuple[int, ...], target: Layout, sources: Sequence[Layout]) -> Body:
    if prod(shape) <= CHUNK_ELEMENTS:
        return body
    return _boxed(body, split(shape, range(len(shape)), prod, CHUNK_ELEMENTS), target, sources)


def _boxed(body: Body, boxes: Iterable[Index], target: Layout, sources: Sequence[Layout]) -> Body:
    """Runs `body` box by box of the frame."""

    def run(t: Array, s: Sequence[Array], scalars: Scalars) -> None:
        for box in boxes:
            parts = [array[restrict(box, x.shape)] for array, x in zip(s, sources, strict=True)]
            body(t[restrict(box, target.shape)], parts, scalars)

    return run


_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def _assignment(value: Expr, compiled: Value, target: Layout, sources: Sequence[Layout]) -> Body:
    """`=`; operations whose operands and target have one type run straight into the target."""
    same = all(source.dtype == target.dtype for source in sources) and target.dtype not in WITHOUT_SUMS

    def copy(t: Array, s: Sequence[Array], scalars: Scalars) -> None:
        np.copyto(t, s[0], casting="unsafe")

    def general(t: Array, s: Sequence[Array], scalars: Scalars) -> None:
        store(t, compiled(s, scalars))

    if isinstance(value, Access | Strided) or _is_call(value, "identity"):
        return copy if is_float(target.dtype) or not is_float(sources[0].dtype) else general
    if same and isinstance(value, Call) and value.fn in _UFUNCS and _all_accesses(value):
        return _into_target(_UFUNCS[value.fn])
    if same and _is_call(value, "relu"):
        return _relu_into_target(target.dtype.type(0))
    return general


def _into_target(ufunc: np.ufunc) -> Body:
    def run(t: Array, s: Sequence[Array], scalars: Scalars) -> None:
        ufunc(s[0], s[1], out=t)

    return run


def _relu_into_target(zero: Any) -> Body:
    def run(t: Array, s: Sequence[Array], scalars: Scalars) -> None:
        np.maximum(s[0], zero, out=t)

    return run


def _is_call(value: Expr, fn: str) -> bool:
    return isinstance(value, Call) and value.fn == fn and _all_accesses(value)


def _all_accesses(value: Call) -> bool:
    return all(isinstance(arg, Access | Strided) for arg in value.args)


def store(target: Array, value: Array) -> None:
    """Assigns with the language's conversions (integers wrap, floats truncate toward zero)."""
    np.copyto(target, cast(value, target.dtype), casting="unsafe")


def _looped(
    reduce: str,
    compiled: Value,
    shape: tuple[int, ...],
    reduced: Sequence[int],
    target: Layout,
    sources: Sequence[Layout],
) -> Body:
    """A whole-array step per point of the (few) reduced ones."""
    counts = [n if a in reduced else 1 for a, n in enumerate(shape)]
    points = [_point(row, reduced) for row in np.ndindex(*counts)]
    indices = [[restrict(point, s.shape) for s in sources] for point in points]

    def body(t: Array, s: Sequence[Array], scalars: Scalars) -> None:
        for index in indices:
            combine(reduce, t, compiled([a[i] for a, i in zip(s, index, strict=True)], scalars))

    free = [a for a in range(len(shape)) if a not in reduced]
    if prod(shape[a] for a in free) <= CHUNK_ELEMENTS:
        return body
    return _boxed(body, split(shape, free, prod, CHUNK_ELEMENTS * len(points)), target, sources)


def _point(row: Sequence[int], axes: Sequence[int]) -> Index:
    """The index that fixes `axes` at `row` and keeps the others whole."""
    return tuple(slice(i, i + 1) if a in axes else slice(None) for a, i in enumerate(row))


_COMBINERS: dict[str, np.ufunc] = {"+=": np.add, "max=": np.maximum, "min=": np.minimum}


def _reduction(reduce: str, compiled: Value, shape: tuple[int, ...], reduced: tuple[int, ...]) -> Body:
    ufunc = _COMBINERS[reduce]

    def body(t: Array, s: Sequence[Array], scalars: Scalars) -> None:
        value = np.asarray(compiled(s, scalars))
        if not is_float(value.dtype):
            value = value.astype(np.int64, copy=False)
        elif value.dtype in WITHOUT_SUMS:
            value = value.astype(np.float32)
        sizes = [max((a.shape[axis] for a in s), default=1) for axis in range(len(shape))]
        full = [n if a in reduced else 1 for a, n in enumerate(sizes)]
        value = np.broadcast_to(value, np.broadcast_shapes(value.shape, tuple(full)))
        combine(reduce, t, ufunc.reduce(value, axis=reduced, keepdims=True))

    return body


def combine(reduce: str, target: Array, value: Array) -> None:
    """`target reduce value`, elementwise."""
    if reduce == "+=":
        add_to(target, value)
        return
    ufunc = _COMBINERS[reduce]
    if value.dtype == target.dtype:
        ufunc(target, value, out=target)
        return
    value = value if is_float(target.dtype) else to_int64(value)
    dtype = common_dtype([target, value])
    store(target, ufunc(target.astype(dtype, copy=False), value.astype(dtype, copy=False)))


def _overlapping_axes(reduce: str, shape: tuple[int, ...], target: Layout) -> tuple[int, ...]:
    """Axes along which the target may meet itself: gone over in order, so that each term or the last write counts."""
    kept = injective_axes(target, shape)
    return tuple(a for a in range(len(shape)) if a not in kept and (reduce == "=" or target.moves(a)))


def _loop_over(
    body: Body, shape: tuple[int, ...], loose: Sequence[int], target: Layout, sources: Sequence[Layout]
) -> Body:
    """Runs `body` at each point of the `loose` axes; where an axis leaves the target in place, at its last only."""
    if not loose:
        return body
    sizes = tuple(1 if a in loose else n for a, n in enumerate(shape))
    firsts = tuple(n - 1 if a in loose and not target.moves(a) else 0 for a, n in enumerate(shape))
    return _boxed(body, Boxes(shape, sizes, firsts), target, sources)


def _with_start(body: Body, reduce: str, accumulate: bool) -> Body:
    if accumulate or reduce == "=":
        return body

    def run(t: Array, s: Sequence[Array], scalars: Scalars) -> None:
        t[...] = identity_of(reduce, t.dtype)
        body(t, s, scalars)

    return run


def identity_of(reduce: str, dtype: np.dtype[Any]) -> Any:
    """What a reduction starts from: 0, or the least (`max=`) or greatest (`min=`) value of the type."""
    if reduce == "+=":
        return dtype.type(0)
    if is_float(dtype):
        return dtype.type(-np.inf if reduce == "max=" else np.inf)
    return dtype.type(limits(dtype)[reduce == "min="])
