"""linalg on tensors, as torch-mlir and IREE print it: named operations and `generic`, as layers of the graph."""

import re
from collections.abc import Callable, Sequence
from math import prod

from .importer import Importer
from .linalg_generic import generic, reduce_op
from .products import Window, begin_with, conv, dot, pool
from .source import Op
from .views import View, concat, insert, pad, slice_

_CONV = re.compile(r"(depthwise_)?conv_(\d)d(?:_([a-z]+)_([a-z]+))?")
_POOL = re.compile(r"pooling_([a-z]+)_(max|min|sum)(?:_unsigned)?")
_SPATIAL = "dhw"


def convolution(importer: Importer, op: Op, name: str) -> View:
    """`conv_2d_nhwc_hwcf` and its kin, grouped and depthwise ones too; what `outs` holds is added."""
    match = _CONV.fullmatch(name)
    if match is None or len(op.groups.get("ins", ())) != 2:
        raise op.error("a convolution named by its axes (conv_2d_nchw_fchw)", name)
    spatial = int(match[2])
    x, w = (importer.value(op, operand) for operand in op.groups["ins"])
    letters, taps = match[3] or _SPATIAL[-spatial:], match[4] or _SPATIAL[-spatial:]
    if x.rank != len(letters) or w.rank != len(taps):
        raise op.error(f"operands with axes {letters} and {taps}", f"{list(x.shape)} and {list(w.shape)}", kind="shape")
    if match[1]:
        letters, taps, x, w = _grouped_channels(importer, letters, taps, x, w)
    strides, dilations = (op.integers(key, [1] * spatial) for key in ("strides", "dilations"))
    made = _convolved(importer, x, w, letters, taps, Window(w.shape[:0], strides, [(0, 0)] * spatial, dilations))
    if match[1] and "m" not in match[4]:
        made = importer.views.reshape(made, [n for n, axis in zip(made.shape, letters, strict=True) if axis != "c"])
    return added(importer, op, made)


def _grouped_channels(importer: Importer, letters: str, taps: str, x: View, w: View) -> tuple[str, str, View, View]:
    """A depthwise convolution as a grouped one: groups `g` of one channel `c`, of as many filters as `m` has."""
    letters, taps = letters.replace("c", "gc"), taps.replace("c", "gc").replace("m", "f")
    at = letters.index("g")
    x = importer.views.reshape(x, [*x.shape[: at + 1], 1, *x.shape[at + 1 :]])
    at = taps.index("g")
    shape = [*w.shape[: at + 1], 1, *w.shape[at + 1 :]]
    if "f" not in taps:
        taps, shape = f"{taps}f", [*shape, 1]
    return letters, taps, x, importer.views.reshape(w, shape)


def _convolved(importer: Importer, x: View, w: View, letters: str, taps: str, window: Window) -> View:
    """The convolution of axes named by letters; those of the result are as those of `x`, `f` for `c`."""
    views = importer.views
    moving = [axis for axis in _SPATIAL if axis in letters]
    groups = x.shape[letters.index("g")] if "g" in letters else 1
    outer = ["g"] if "g" in letters else []

    def at(view: View, names: str, order: Sequence[str]) -> View:
        """The view with axes in an order; those that it lacks are added."""
        missing = [axis for axis in order if axis not in names]
        view = views.reshape(view, [*view.shape, *(1 for _ in missing)])
        names = names + "".join(missing)
        return views.transpose(view, [names.index(axis) for axis in order])

    x = at(x, letters, ["n", *outer, "c", *moving])
    w = at(w, taps, [*outer, "f", "c", *moving])
    filters = w.shape[1]
    if outer:
        x = views.reshape(x, [x.shape[0], x.shape[1] * x.shape[2], *x.shape[3:]])
        w = views.reshape(w, [w.shape[0] * w.shape[1], *w.shape[2:]])
    made = conv(importer.make, x, w, window, groups, range(len(moving) + 2))
    if outer:
        made = views.reshape(made, [made.shape[0], groups, filters, *made.shape[2:]])
    order = ["n", *outer, "f", *moving]
    wanted = [axis for axis in letters.replace("c", "f") if axis in order]
    lacking = [axis for axis in order if axis not in wanted]
    made = views.transpose(made, [order.index(axis) for axis in (*wanted, *lacking)])
    return views.reshape(made, made.shape[: len(wanted)]) if lacking else made


def pooling(importer: Importer, op: Op, name: str) -> View:
    """`pooling_nhwc_max` and its kin; the second operand gives the window by its shape."""
    match = _POOL.fullmatch(name)
    if match is None or len(op.groups.get("ins", ())) != 2:
        raise op.error("a pooling named by its axes (pooling_nchw_max)", name)
    x, shape = (importer.value(op, operand) for operand in op.groups["ins"])
    moving = [axis for axis, letter in enumerate(match[1]) if letter in _SPATIAL]
    if x.rank != len(match[1]) or shape.rank != len(moving):
        raise op.error(f"a tensor with axes {match[1]} and a window", f"{list(x.shape)}", kind="shape")
    strides, dilations = (op.integers(key, [1] * len(moving)) for key in ("strides", "dilations"))

    def over(values: Sequence[int]) -> list[int]:
        return [values[moving.index(axis)] if axis in moving else 1 for axis in range(x.rank)]

    window = Window(over(shape.shape), over(strides), [(0, 0)] * x.rank, over(dilations))
    return begin_with(
        importer.make, match[2], pool(importer.make, match[2], x, window), importer.operand(op, 0, "outs")
    )


def added(importer: Importer, op: Op, made: View) -> View:
    """A sum of products that begins with what `outs` holds."""
    start = importer.operand(op, 0, "outs")
    made = made if made.dtype == start.dtype else importer.make.cast(made, start.dtype)
    return begin_with(importer.make, "sum", made, start)


def _product(left: str, right: str) -> Callable[[Importer, Op], View]:
    """A product of operands with such axes: b is shared and outer, k is summed, m and n stay."""

    def make(importer: Importer, op: Op) -> View:
        if len(op.groups.get("ins", ())) != 2:
            raise op.error("two operands", str(len(op.groups.get("ins", ()))), kind="parse")
        a, b = (importer.value(op, operand) for operand in op.groups["ins"])
        if a.rank != len(left) or b.rank != len(right):
            raise op.error(f"ranks {len(left)} and {len(right)}", f"{a.rank} and {b.rank}", kind="shape")
        batch = ((0,), (0,)) if "b" in left else ((), ())
        inner = ((left.index("k"),), (right.index("k"),))
        return added(importer, op, dot(importer.make, a, b, batch, inner))

    return make


NAMED: dict[str, Callable[[Importer, Op], View]] = {
    "matmul": _product("mk", "kn"),
    "matmul_transpose_a": _product("km", "kn"),
    "matmul_transpose_b": _product("mk", "nk"),
    "batch_matmul": _product("bmk", "bkn"),
    "batch_matmul_transpose_a": _product("bkm", "bkn"),
    "batch_matmul_transpose_b": _product("bmk", "bnk"),
    "matvec": _product("mk", "k"),
    "vecmat": _product("k", "kn"),
    "batch_matvec": _product("bmk", "bk"),
    "dot": _product("k", "k"),
}
"""Products by name."""


ELEMENTWISE = {**{kind: kind for kind in ("add", "sub", "mul", "div", "max", "min")}, "div_unsigned": "div"}
UNARY = ("exp", "log", "sqrt", "rsqrt", "abs", "ceil", "floor", "negf", "tanh", "erf", "square", "reciprocal", "round")


def convert(importer: Importer, op: Op) -> Sequence[View] | None:
    """The results of an operation of `linalg`; None where there are no layers for it."""
    short, make = op.name.rpartition(".")[2], importer.make
    ins = [importer.value(op, name) for name in op.groups.get("ins", ())]
    if short == "generic":
        return generic(importer, op)
    if short == "reduce":
        return reduce_op(importer, op)
    if short == "fill":
        return [fill(importer, op, ins)]
    if short in ELEMENTWISE and len(ins) == 2:
        return [make.binary(ELEMENTWISE[short], *ins)]
    if short in UNARY and len(ins) == 1:
        result = make.named({"negf": "neg"}.get(short, short), ins[0])
        return None if result is None else [result]
    if short == "select" and len(ins) == 3:
        return [make.select(*ins)]
    if short == "powf" and len(ins) == 2:
        return [make.power(*ins)]
    if short == "copy" and len(ins) == 1:
        return ins
    if short == "transpose" and len(ins) == 1:
        return [importer.views.transpose(ins[0], op.integers("permutation"))]
    if short == "broadcast" and len(ins) == 1:
        shape = importer.operand(op, 0, "outs").shape
        added = op.integers("dimensions")
        return [importer.views.broadcast(ins[0], [i for i in range(len(shape)) if i not in added], shape)]
    if short == "softmax" and len(ins) == 1:
        return [make.softmax(ins[0], op.integer("dimension"))]
    if "conv_" in short:
        return [convolution(importer, op, short)]
    if short.startswith("pooling_"):
        return [pooling(importer, op, short)]
    made = NAMED.get(short)
    return None if made is None else [made(importer, op)]


def fill(importer: Importer, op: Op, ins: list[View]) -> View:
    """A number everywhere."""
    shape = importer.operand(op, 0, "outs").shape
    number = ins[0] if ins else None
    if number is None or number.rank:
        raise op.error(
            "a number to fill with", "none" if number is None else f"shape {list(number.shape)}", kind="parse"
        )
    return importer.views.broadcast(number, (), shape)


def convert_tensor(importer: Importer, op: Op) -> Sequence[View] | None:
    """The result of an operation of `tensor`; None where there are no layers for it."""
    made = TENSOR.get(op.name.rpartition(".")[2])
    return None if made is None else [made(importer, op)]


def empty(importer: Importer, op: Op) -> View:
    """A tensor of which no element is read before it is written: zeros here."""
    dtype = importer.dtype(op, op.type.element)
    return importer.views.splat(0, dtype, importer.filled_shape(op, op.operands), op.type.element == "i1")


def collapse(importer: Importer, op: Op) -> View:
    """Neighbouring axes joined."""
    (x,) = importer.operands(op, 1)
    groups = [importer.integers(op, group) for group in op.lists[0]] if op.lists else []
    if not groups and prod(x.shape) == 1:
        return importer.views.reshape(x, ())
    if [axis for group in groups for axis in group] != list(range(x.rank)):
        raise op.error(f"all of {x.rank} axes in groups", str(op.lists)[:80], kind="parse")
    return importer.views.reshape(x, [prod(x.shape[axis] for axis in group) for group in groups])


def expand(importer: Importer, op: Op) -> View:
    """Axes split."""
    x = importer.operand(op, 0)
    if "output_shape" in op.attributes:
        return importer.views.reshape(x, importer.integers(op, op.attributes["output_shape"]))
    return importer.views.reshape(x, importer.type_shape(op, op.type))


def reshape(importer: Importer, op: Op) -> View:
    """Another shape, which has to be constant."""
    x, shape = importer.operands(op, 2)
    return importer.views.reshape(x, importer.views.indices(shape, "shape"))


def cast(importer: Importer, op: Op) -> View:
    """The same tensor under a type that says more or less of its extents."""
    return importer.operands(op, 1)[0]


def dim(importer: Importer, op: Op) -> View:
    """An extent."""
    x, axis = importer.operands(op, 2)
    (place,) = importer.views.indices(axis, "axis")
    if not 0 <= place < x.rank:
        raise op.error(f"an axis below {x.rank}", str(place), kind="shape")
    return importer.views.splat(x.shape[place], importer.dtype(op, "index"), ())


def parts(importer: Importer, op: Op) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides."""
    if len(op.lists) != 3:
        raise op.error("[offsets] [sizes] [strides]", f"{len(op.lists)} lists", kind="parse")
    offsets, sizes, strides = (importer.integers(op, values) for values in op.lists)
    return offsets, sizes, strides


def extract_slice(importer: Importer, op: Op) -> View:
    """A part, without the axes that its type leaves out."""
    x = importer.operand(op, 0)
    offsets, sizes, strides = parts(importer, op)
    part = slice_(importer.views, x, offsets, sizes, strides)
    shape = op.type.shape or ()
    if len(shape) == part.rank:
        return part
    kept = [size for size in sizes if size != 1]
    known = [extent for extent in shape if extent != 1]
    if len(kept) != len(known):
        raise op.error(f"a result of {len(kept)} axes longer than 1", str(op.type))
    rest = iter(kept)
    return importer.views.reshape(part, [1 if extent == 1 else next(rest) for extent in shape])


def insert_slice(importer: Importer, op: Op) -> View:
    """A tensor with a part of it replaced."""
    piece, into = importer.operand(op, 0), importer.operand(op, 1)
    offsets, sizes, strides = parts(importer, op)
    return insert(importer.views, importer.views.reshape(piece, sizes), into, offsets, strides)


def padded(importer: Importer, op: Op) -> View:
    """A border of a constant number."""
    x, region = importer.operand(op, 0), op.region()
    views = importer.inlined(op, [], region.ops, [], outer=True)
    number = importer.views.number(views[0]) if len(views) == 1 else None
    if number is None:
        raise op.error("a constant to pad with", "a value that is known at run time")
    low, high = (importer.integers(op, op.attributes.get(name, [])) for name in ("low", "high"))
    return pad(importer.views, x, low, high, number)


def concatenated(importer: Importer, op: Op) -> View:
    """Pieces one after another."""
    axis = next((value for value in op.values if isinstance(value, int)), None)
    if axis is None:
        raise op.error("dim(axis)", "none", kind="parse")
    return concat(importer.views, importer.operands(op), axis)


def extract(importer: Importer, op: Op) -> View:
    """An element at constant indices."""
    x, places = importer.operand(op, 0), importer.integers(op, op.lists[0] if op.lists else [])
    return importer.views.reshape(slice_(importer.views, x, places, [1] * x.rank), ())


def from_elements(importer: Importer, op: Op) -> View:
    """Scalars as a tensor."""
    shape = importer.type_shape(op, op.type)
    pieces = [importer.views.reshape(value, (1,)) for value in importer.operands(op)]
    return importer.views.reshape(concat(importer.views, pieces, 0), shape)


def splat(importer: Importer, op: Op) -> View:
    """A scalar everywhere."""
    return importer.views.broadcast(importer.operand(op, 0), (), importer.filled_shape(op, op.operands[1:]))


TENSOR: dict[str, Callable[[Importer, Op], View]] = {
    **{"empty": empty, "collapse_shape": collapse, "expand_shape": expand, "reshape": reshape, "cast": cast},
    **{"dim": dim, "extract_slice": extract_slice, "insert_slice": insert_slice, "pad": padded},
    **{"concat": concatenated, "extract": extract, "from_elements": from_elements, "splat": splat},
}
"""Operations of `tensor`."""
