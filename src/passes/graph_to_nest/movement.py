"""Layers that move elements: a copy with other indices, or several copies into one tensor, a group each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.ir import SSAValue

from ...algebra.expr import Expr, Num
from ...dialects import graph
from ...dialects.types import Tensor, element_of, shape_of, tensor, tensor_type
from ...errors import TilewrightError
from .builder import GroupBuilder, Term, broadcast, copy, fresh_indices, index, out_of_bounds, scaled
from .scope import Scope

MAX_PIECES = 4096

SHUFFLE = 0, 2, 1, 3, 4
"""The order of axes of maps whose channels are two axes that change places."""


def transpose(op: graph.TransposeOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[i, j] = X[j, i]`."""
    perm = op.perm.get_values()
    if _shuffles_channels(op):
        return _shuffle(op, builder, scope)
    indices = fresh_indices(builder, shape_of(op.result))
    x = builder.term(scope.outer(op.x), "X", [indices[perm.index(axis)] for axis in range(len(perm))])
    return builder.kernel("transpose", tensor_type(op.result), indices, copy, [x])


def _shuffles_channels(op: graph.TransposeOp) -> bool:
    """Whether it moves channels of maps alone, between a reshape that cuts their axis in two and one that joins it."""
    before, uses = op.x.owner, list(op.result.uses)
    if op.perm.get_values() != SHUFFLE or not isinstance(before, graph.ReshapeOp) or len(uses) != 1:
        return False
    after, shape = uses[0].operation, shape_of(before.x)
    n, first, second, height, width = shape_of(op.x)
    is_same = isinstance(after, graph.ReshapeOp) and shape_of(after.result) == shape
    return is_same and shape == (n, first * second, height, width)


def _shuffle(op: graph.TransposeOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[n, first * c + d, h, w] = X[n, second * d + c, h, w]`: rows are rows of both maps."""
    assert isinstance(op.x.owner, graph.ReshapeOp)
    x = op.x.owner.x
    names = "n", "d", "c", "h", "w"
    n, d, c, h, w = (builder.dim(name, size) for name, size in zip(names, shape_of(op.x), strict=True))
    _, first, second, *_ = shape_of(op.x)
    source = [index(n), index(scaled(d, second) | c), index(h), index(w)]
    target = [index(n), index(scaled(c, first) | d), index(h), index(w)]
    return builder.kernel("transpose", tensor_type(x), target, copy, [builder.term(scope.outer(x), "X", source)])


def whole(value: SSAValue, builder: GroupBuilder) -> Term:
    """`Y[i, j] = X[i, j]`."""
    indices = fresh_indices(builder, shape_of(value))
    return builder.kernel("copy", tensor_type(value), indices, copy, [builder.term(value, "X", indices)])


def slice_(op: graph.SliceOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[i] = X[start + step*i]`."""
    dims = [builder.dim(f"i{axis}", extent) for axis, extent in enumerate(shape_of(op.result))]
    starts, steps = op.starts.get_values(), op.steps.get_values()
    places = [index(scaled(d, steps[i]), starts[i]) for i, d in enumerate(dims)]
    x = builder.term(scope.outer(op.x), "X", places)
    return builder.kernel("slice", tensor_type(op.result), [index(d) for d in dims], copy, [x])


def expand(op: graph.ExpandOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[i, j] = X[i, 0]`."""
    shape = shape_of(op.result)
    indices = fresh_indices(builder, shape)
    x = builder.term(scope.outer(op.x), "X", broadcast(indices, shape, op.x))
    return builder.kernel("expand", tensor_type(op.result), indices, copy, [x])


def resize(op: graph.ResizeOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[scale*h + i] = X[h]`."""
    places: list[Expr] = []
    target: list[Expr] = []
    for axis, (extent, scale) in enumerate(zip(shape_of(op.x), op.scales.get_values(), strict=True)):
        h, i = builder.dim(f"h{axis}", extent), builder.dim(f"i{axis}", scale)
        places.append(index(h))
        target.append(index(scaled(h, scale) | i))
    x = builder.term(scope.outer(op.x), "X", places)
    return builder.kernel("resize", tensor_type(op.result), target, copy, [x])


def pad_constant(op: graph.PadOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[i] = X[i - begin]`, the value where that is outside."""
    shape = shape_of(op.result)
    pads = op.pads.get_values()
    dims = [builder.dim(f"i{axis}", extent) for axis, extent in enumerate(shape)]
    x = builder.term(scope.outer(op.x), "X", [index(d, -pads[i]) for i, d in enumerate(dims)])
    outside = out_of_bounds(x.indices, shape_of(op.x), builder.dims)
    pad = {0: scope.number(op.value.value.data, op.x)} if outside else None
    return builder.kernel("pad", tensor_type(op.result), [index(d) for d in dims], copy, [x], pad=pad)


@dataclass(frozen=True)
class Run:
    """Along one axis: `y[to + i] = x[start + i * step]` for `0 <= i < count`."""

    to: int
    start: int
    step: int
    count: int


def concat(op: graph.ConcatOp, name: str, scope: Scope) -> SSAValue:
    """Each operand copied to its place."""
    axis, to = op.axis.value.data, 0
    result: SSAValue | None = None
    for piece in op.pieces:
        shape = shape_of(piece)
        runs = [Run(to if i == axis else 0, 0, 1, extent) for i, extent in enumerate(shape)]
        result = copy_piece(scope, name, scope.outer(piece), tensor_type(op.result), runs, result)
        to += shape[axis]
    assert result is not None
    return result


def pad(op: graph.PadOp, name: str, scope: Scope) -> SSAValue:
    """Edge, reflected or repeated borders: each combination of runs of the axes copied to its place."""
    shape, pads = shape_of(op.x), op.pads.get_values()
    per_axis = [
        list(_border_runs(op.mode.data.value, extent, pads[i], pads[len(shape) + i])) for i, extent in enumerate(shape)
    ]
    return _pieces(scope, name, op, scope.outer(op.x), tensor_type(op.result), per_axis)


def _border_runs(mode: str, extent: int, begin: int, end: int) -> Iterator[Run]:
    """The runs of one padded axis in order."""
    if mode == "wrap":
        at = 0
        while at < begin + extent + end:
            start = (at - begin) % extent
            count = min(extent - start, begin + extent + end - at)
            yield Run(at, start, 1, count)
            at += count
        return
    edge = mode == "edge"
    if begin:
        yield Run(0, 0, 0, begin) if edge else Run(0, begin, -1, begin)
    yield Run(begin, 0, 1, extent)
    if end:
        yield Run(begin + extent, extent - 1, 0, end) if edge else Run(begin + extent, extent - 2, -1, end)


def gather(op: graph.GatherOp, name: str, scope: Scope) -> SSAValue:
    """Arithmetic runs of indices copied to their places."""
    axis = op.axis.value.data
    shape = shape_of(op.x)
    indices = [int(i) for i in graph.dense_array(op.indices).reshape(-1)]
    flat = tensor((*shape[:axis], len(indices), *shape[axis + 1 :]), element_of(op.result))
    per_axis = [[Run(0, 0, 1, extent)] for extent in shape]
    per_axis[axis] = list(arithmetic_runs(indices))
    result = _pieces(scope, name, op, scope.outer(op.x), flat, per_axis)
    return scope.view(result, tensor_type(op.result))


def arithmetic_runs(indices: Sequence[int]) -> Iterator[Run]:
    """Cuts a list into runs of constant step, greedily."""
    at = 0
    while at < len(indices):
        step = indices[at + 1] - indices[at] if at + 1 < len(indices) else 1
        end = at + 1
        while end < len(indices) and indices[end] - indices[end - 1] == step:
            end += 1
        yield Run(at, indices[at], step, end - at)
        at = end


def _pieces(
    scope: Scope, name: str, op: graph.LayerOp, x: SSAValue, type_: Tensor, per_axis: list[list[Run]]
) -> SSAValue:
    number = 1
    for runs in per_axis:
        number *= len(runs)
    if number > MAX_PIECES:
        raise TilewrightError("unsupported", f"layer {name} ({op.name})", f"at most {MAX_PIECES} pieces", f"{number}")
    result: SSAValue | None = None
    for runs in product(*per_axis):
        result = copy_piece(scope, name, x, type_, runs, result)
    assert result is not None
    return result


def copy_piece(
    scope: Scope, name: str, x: SSAValue, type_: Tensor, runs: Sequence[Run], into: SSAValue | None
) -> SSAValue:
    """A group that copies a block of `x` to its place in a tensor of `type_`, the rest of which is `into`."""
    builder = GroupBuilder(scope.unique(name))
    dims = [builder.dim(f"i{axis}", run.count) for axis, run in enumerate(runs)]
    places = [index(scaled(d, r.step), r.start) for d, r in zip(dims, runs, strict=True)]
    places = [Num(r.start) if r.step == 0 else place for place, r in zip(places, runs, strict=True)]
    source = builder.term(x, "X", places)
    rest = None if into is None else builder.read(into, "D")
    target = [index(d, r.to) for d, r in zip(dims, runs, strict=True)]
    y = builder.kernel("copy", type_, target, copy, [source], into=rest)
    group = builder.finish([y.value], None)
    scope.emit(group)
    return group.outs[0]
