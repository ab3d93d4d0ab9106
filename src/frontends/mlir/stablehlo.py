"""StableHLO as JAX prints it: each operation as layers of the graph."""

from collections.abc import Callable, Sequence

import numpy as np

from .importer import Importer
from .products import rows_of
from .scalars import constant
from .source import Op, Type
from .stablehlo_products import convolution, dot_general, dot_of, extreme, reduce_window, reduced
from .views import View, backwards, concat, counting, gather, insert, pad, slice_

UNARY = {
    **{"exponential": "exp", "log": "log", "sqrt": "sqrt", "rsqrt": "rsqrt", "tanh": "tanh", "logistic": "sigmoid"},
    **{"negate": "neg", "abs": "abs", "floor": "floor", "ceil": "ceil", "round_nearest_even": "rint", "sign": "sign"},
    **{"sine": "sin", "cosine": "cos", "tan": "tan", "cbrt": "cbrt", "not": "not", "log_plus_one": "log1p"},
    **{"exponential_minus_one": "expm1", "erf": "erf", "erfc": "erfc", "square": "square"},
}
"""Operations of one operand (of `stablehlo` and `chlo`) -> functions of `Arithmetic.named`."""

BINARY = {
    **{"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max", "minimum": "min"},
    **{"and": "band", "or": "bor", "xor": "bxor"},
}

COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE")


def convert(importer: Importer, op: Op) -> Sequence[View] | None:
    """The results of an operation of `stablehlo` or `chlo`; None where there are no layers for it."""
    short = op.name.rpartition(".")[2]
    make = importer.make
    if short in UNARY:
        result = make.named(UNARY[short], *importer.operands(op, 1))
        return None if result is None else [result]
    if short in BINARY:
        return [make.binary(BINARY[short], *importer.operands(op, 2))]
    if short == "reduce" and (found := extreme(importer, op)) is not None:
        return found
    if short in CONTROL:
        return CONTROL[short](importer, op)
    made = OPERATIONS.get(short)
    return None if made is None else [made(importer, op)]


def compare(importer: Importer, op: Op) -> View:
    """Comparisons in six directions."""
    words = [*op.words, str(op.attributes.get("comparison_direction", "")).split(" ")[-1]]
    direction = next((word for word in words if word in COMPARISONS), None)
    if direction is None:
        raise op.error(f"a direction of {', '.join(COMPARISONS)}", " ".join(words), kind="parse")
    return importer.make.binary(direction.lower(), *importer.operands(op, 2))


def convert_type(importer: Importer, op: Op) -> View:
    """Elements in another type."""
    (x,) = importer.operands(op, 1)
    if op.type.element == "i1":
        return importer.make.truth(x)
    return importer.make.cast(x, importer.dtype(op, op.type.element))


def clamp(importer: Importer, op: Op) -> View:
    """Elements within bounds."""
    low, x, high = importer.operands(op, 3)
    return importer.make.binary("min", importer.make.binary("max", x, low), high)


def remainder(importer: Importer, op: Op) -> View:
    """What a division toward zero leaves, of integers."""
    a, b = importer.operands(op, 2)
    if a.dtype.kind == "f":
        raise op.error("integers", str(a.dtype), "write x - trunc(x / y) * y")
    return importer.make.remainder(a, b)


def broadcast_in_dim(importer: Importer, op: Op) -> View:
    """A tensor seen as one of more axes; a second operand is the shape."""
    x = importer.operand(op, 0)
    dims = op.integers("dims" if "dims" in op.attributes else "broadcast_dimensions", [])
    return importer.views.broadcast(x, dims, shape_of(importer, op, op.operands[1:]))


def reshape(importer: Importer, op: Op) -> View:
    """The same elements under another shape."""
    x = importer.operand(op, 0)
    return importer.views.reshape(x, shape_of(importer, op, op.operands[1:]))


def shape_of(importer: Importer, op: Op, given: Sequence[str]) -> Sequence[int]:
    """The shape of the result: that of its type, or the elements of an operand."""
    if given:
        return importer.views.indices(importer.value(op, given[0]), "shape")
    return importer.type_shape(op, op.type)


def dimension_size(importer: Importer, op: Op) -> View:
    """An extent."""
    (x,) = importer.operands(op, 1)
    axis = op.integer("dim", op.attributes.get("dimension"))
    if not 0 <= axis < x.rank:
        raise op.error(f"an axis below {x.rank}", str(axis), kind="shape")
    return importer.views.splat(x.shape[axis], np.dtype(np.int32), ())


def real_dynamic_slice(importer: Importer, op: Op) -> View:
    """A slice whose starts, limits and steps are operands."""
    x, *bounds = importer.operands(op, 4)
    starts, limits, steps = (importer.views.indices(bound, "bounds") for bound in bounds)
    return stepped(importer, op, x, starts, limits, steps)


def stepped(
    importer: Importer, op: Op, x: View, starts: Sequence[int], limits: Sequence[int], steps: Sequence[int]
) -> View:
    """Elements from starts to before limits."""
    if not len(starts) == len(limits) == len(steps) or any(step < 1 for step in steps):
        raise op.error("steps of at least 1, one for each axis", str(list(steps)), kind="shape")
    sizes = [-(-(limit - start) // step) for start, limit, step in zip(starts, limits, steps, strict=True)]
    return slice_(importer.views, x, starts, sizes, steps)


def transpose(importer: Importer, op: Op) -> View:
    """Axes in another order."""
    (x,) = importer.operands(op, 1)
    return importer.views.transpose(x, op.integers("dims" if "dims" in op.attributes else "permutation"))


def slice_of(importer: Importer, op: Op) -> View:
    """`[start:limit:step, ...]`."""
    (x,) = importer.operands(op, 1)
    if op.lists:
        ranges = [importer.integers(op, r if isinstance(r, list) else [r]) for r in op.lists[0]]
        if any(len(r) not in (2, 3) for r in ranges):
            raise op.error("start:limit or start:limit:step", str(op.lists[0])[:80], kind="parse")
        starts, limits = [r[0] for r in ranges], [r[1] for r in ranges]
        steps = [r[2] if len(r) > 2 else 1 for r in ranges]
    else:
        starts, limits, steps = (op.integers(name) for name in ("start_indices", "limit_indices", "strides"))
    return stepped(importer, op, x, starts, limits, steps)


def dynamic_slice(importer: Importer, op: Op) -> View:
    """A slice from constant starts, which are moved inside."""
    x, *starts = importer.operands(op)
    sizes = op.integers("sizes" if "sizes" in op.attributes else "slice_sizes")
    return slice_(importer.views, x, _moved_inside(importer, x, starts, sizes), sizes)


def _moved_inside(importer: Importer, x: View, starts: Sequence[View], sizes: Sequence[int]) -> list[int]:
    """Constant starts of a part of a tensor, as near as it lies inside."""
    at = [importer.views.indices(start, "start of a part")[0] for start in starts]
    return [min(max(0, a), n - size) for a, n, size in zip(at, x.shape, sizes, strict=False)]


def reverse(importer: Importer, op: Op) -> View:
    """Axes walked backwards."""
    (x,) = importer.operands(op, 1)
    return backwards(importer.views, x, op.integers("dims" if "dims" in op.attributes else "dimensions"))


def concatenate(importer: Importer, op: Op) -> View:
    """Pieces one after another."""
    axis = op.integer("dim", op.attributes.get("dimension"))
    return concat(importer.views, importer.operands(op), axis)


def padded(importer: Importer, op: Op) -> View:
    """A border of a constant number, and elements apart."""
    x, value = importer.operands(op, 2)
    number = importer.views.number(value)
    if number is None:
        raise op.error("a constant to pad with", "a value that is known at run time")
    short = ("low", "high", "interior")
    names = short if "low" in op.attributes else ("edge_padding_low", "edge_padding_high", "interior_padding")
    low, high, interior = map(op.integers, names)
    return pad(importer.views, x, low, high, number, interior)


def iota(importer: Importer, op: Op) -> View:
    """0, 1, ... along an axis; an operand is the shape."""
    axis = op.integer("dim", op.attributes.get("iota_dimension"))
    dtype = importer.dtype(op, op.type.element)
    return counting(importer.views, shape_of(importer, op, op.operands), axis, dtype)


def gathered(importer: Importer, op: Op) -> View:
    """Rows of a table: `x[indices]` along one axis."""
    x, indices = importer.operands(op, 2)
    numbers = op.dictionary("dimension_numbers")
    axes, start, offsets = (
        op.whole_numbers(numbers.get(name, []), name)
        for name in ("collapsed_slice_dims", "start_index_map", "offset_dims")
    )
    sizes = op.integers("slice_sizes")
    whole = len(axes) == 1 and start == axes and not numbers.get("operand_batching_dims")
    whole = whole and sizes == [1 if axis == axes[0] else n for axis, n in enumerate(x.shape)]
    (depth,) = op.whole_numbers([numbers.get("index_vector_dim", indices.rank)], "index_vector_dim")
    if not whole or depth < indices.rank - 1:
        found = f"slices {sizes} along axes {axes}"
        raise op.error("whole rows along one axis", found, "index one axis at a time, the others by whole slices")
    places = importer.views.reshape(indices, indices.shape[:-1]) if depth == indices.rank - 1 else indices
    given = importer.views.array(places)
    if given is None:
        made = rows_of(importer.make, x, axes[0], places)
    else:
        made = gather(importer.views, x, given.astype(np.int64), axes[0])
    if sorted(set(offsets) & set(range(made.rank))) != sorted(offsets) or len(offsets) != made.rank - places.rank:
        raise op.error(f"{made.rank - places.rank} axes as offset_dims", str(offsets), kind="parse")
    rest = iter(range(axes[0], axes[0] + places.rank))
    other = iter([*range(axes[0]), *range(axes[0] + places.rank, made.rank)])
    return importer.views.transpose(made, [next(other) if axis in offsets else next(rest) for axis in range(made.rank)])


def updated(importer: Importer, op: Op) -> View:
    """A tensor with a part of it replaced from constant starts on, which are moved inside."""
    x, piece, *starts = importer.operands(op)
    at = _moved_inside(importer, x, starts, piece.shape)
    return insert(importer.views, piece, x, at, [1] * len(at))


def is_finite(importer: Importer, op: Op) -> View:
    """Whether x - x is 0."""
    (x,) = importer.operands(op, 1)
    return importer.make.binary("eq", importer.make.binary("sub", x, x), importer.make.number(0, x))


def loop(importer: Importer, op: Op) -> list[View]:
    """A loop whose condition is known here, step by step."""
    if len(op.regions) != 2:
        raise op.error("a condition and a body", f"{len(op.regions)} regions", kind="parse")
    condition, body = op.regions
    own = [(name, Type("")) for name in op.groups.get("arguments", [])]
    values = importer.operands(op)
    while True:
        (goes_on,) = importer.inlined(op, own or condition.arguments, condition.ops, values, outer=True)
        number = importer.views.number(goes_on)
        if number is None:
            lever = "loops are written out here: give them a number of steps that is known (lax.fori_loop, lax.scan)"
            raise op.error("a condition that is known here", "one that depends on data", lever)
        if not number:
            return values
        values = importer.inlined(op, own or body.arguments, body.ops, values, outer=True)


def case(importer: Importer, op: Op) -> list[View]:
    """The branch that a constant chooses."""
    (index,) = importer.operands(op, 1)
    number = importer.views.number(index)
    if number is None or not op.regions:
        lever = "compute both branches and choose with jnp.where"
        raise op.error("a branch that is known here", "one that depends on data", lever)
    last = len(op.regions) - 1
    if op.name.endswith(".if"):
        chosen = 0 if number else last
    else:
        chosen = int(number) if 0 <= number <= last else last
    return importer.inlined(op, [], op.regions[chosen].ops, [], outer=True)


CONTROL: dict[str, Callable[[Importer, Op], list[View]]] = {"while": loop, "case": case, "if": case}
"""Operations with regions that run or do not."""


OPERATIONS: dict[str, Callable[[Importer, Op], View]] = {
    **{"constant": constant, "compare": compare, "convert": convert_type, "clamp": clamp, "remainder": remainder},
    **{"broadcast_in_dim": broadcast_in_dim, "reshape": reshape, "transpose": transpose, "slice": slice_of},
    **{"dynamic_slice": dynamic_slice, "reverse": reverse, "concatenate": concatenate, "pad": padded, "iota": iota},
    **{"reduce": reduced, "reduce_window": reduce_window, "dot_general": dot_general, "dot": dot_of},
    **{"convolution": convolution, "gather": gathered, "dynamic_update_slice": updated, "is_finite": is_finite},
    **{"dynamic_broadcast_in_dim": broadcast_in_dim, "dynamic_reshape": reshape, "dynamic_iota": iota},
    **{"get_dimension_size": dimension_size, "real_dynamic_slice": real_dynamic_slice},
    "select": lambda importer, op: importer.make.select(*importer.operands(op, 3)),
    "power": lambda importer, op: importer.make.power(*importer.operands(op, 2)),
}
"""Operations that are neither of one element alone nor of two, with their layers."""
