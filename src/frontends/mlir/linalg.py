"""linalg on tensors, as torch-mlir and IREE print it: named operations and `generic`, as layers of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from .importer import Importer
from .linalg_generic import generic, reduce_op
from .linalg_named import NAMED, convolution, pooling
from .movement import concat, insert, pad, slice_
from .source import Op
from .views import View

ELEMENTWISE = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
    "div_unsigned": "div",
    "max": "max",
    "min": "min",
}
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
    element = slice_(importer.views, x, places, [1] * x.rank, [1] * x.rank)
    return importer.views.reshape(element, ())


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
