"""Operators of TFLite that move elements, and those about shapes."""

import numpy as np

from .layers import activated
from .reader import DAMAGED
from .translation import ONNX_TYPES, TO_FIRST, Translation

END = 2**31 - 1
"""An end behind every axis."""


def _plain(t: Translation, op: str, *inputs: str, **attributes: object) -> None:
    """A node whose result has elements of input 0 as they are."""
    t.move(t.output(), t.emit(op, t.real(t.input(0)), *inputs, **attributes), [t.input(0)])


def _whole(t: Translation, position: int, what: str) -> str:
    """A list of integers as int64: constant, or computed from shapes."""
    index = t.input(position)
    if t.tensor(index).data is not None:
        return t.integers(t.numbers(position, what), what)
    return t.emit("Cast", t.stored(index), to=ONNX_TYPES[np.dtype(np.int64)])


def _axis(t: Translation, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise t.operator.error(f"an axis within {-rank}..{rank - 1}", str(axis), "shape")
    return axis % rank


def reshape(t: Translation) -> None:
    """RESHAPE to the shape of an input, else of an option."""
    if t.optional(1) is not None:
        shape = _whole(t, 1, "shape")
    else:
        shape = t.integers(t.operator.option("NewShape", ()))
    _plain(t, "Reshape", shape)


def densify(t: Translation) -> None:
    """DENSIFY of a constant, which the reader has made dense."""
    t.array(0, "values")
    t.move(t.output(), t.real(t.input(0)), [t.input(0)])


def transpose(t: Translation) -> None:
    """TRANSPOSE by a constant permutation."""
    _plain(t, "Transpose", perm=t.numbers(1, "permutation"))


def squeeze(t: Translation) -> None:
    """SQUEEZE."""
    dims = t.operator.option("SqueezeDims", ())
    _plain(t, "Squeeze", *([t.integers(dims)] if dims else []))


def expand_dims(t: Translation) -> None:
    """EXPAND_DIMS."""
    _plain(t, "Unsqueeze", t.integers(t.numbers(1, "axis")))


def pad(t: Translation) -> None:
    """PAD and PADV2 with a constant, MIRROR_PAD without the edge."""
    x, amounts = t.input(0), np.array(t.array(1, "padding"), np.int64)
    rank, first = t.rank(x), t.is_first(x) and t.rank(x) == 4
    if amounts.shape != (rank, 2):
        raise t.operator.error(f"padding of shape [{rank}, 2]", f"{list(amounts.shape)}", "shape")
    mirrored = t.operator.kind == "MIRROR_PAD"
    if mirrored and t.operator.option("Mode") != 0:
        raise t.operator.error("mode REFLECT", "SYMMETRIC")
    if first:
        amounts = amounts[list(TO_FIRST)]
    inputs = [t.real(x, first), t.integers(amounts.T.reshape(-1).tolist())]
    if t.optional(2) is not None:
        t.array(2, "value")
        inputs.append(t.emit("Reshape", t.real(t.input(2)), t.integers([])))
    made = t.emit("Pad", *inputs, mode="reflect" if mirrored else "constant")
    t.move(t.output(), made, [x], first)


def concatenate(t: Translation) -> None:
    """CONCATENATION."""
    indices = [t.input(i) for i in range(len(t.operator.inputs))]
    rank = t.rank(t.output())
    axis = _axis(t, t.operator.option("Axis"), rank)
    if any(t.rank(i) != rank for i in indices):
        raise t.operator.error(f"pieces of {rank} axes", str([t.rank(i) for i in indices]), "shape")
    first = rank == 4 and any(t.is_first(i) for i in indices)
    made = t.emit("Concat", *(t.real(i, first) for i in indices), axis=TO_FIRST.index(axis) if first else axis)
    if t.operator.option("FusedActivationFunction"):
        t.define(t.output(), activated(t, made), first)
    else:
        t.move(t.output(), made, indices, first)


def pack(t: Translation) -> None:
    """PACK: pieces along a new axis."""
    indices = [t.input(i) for i in range(len(t.operator.inputs))]
    axis = _axis(t, t.operator.option("Axis"), t.rank(t.output()))
    pieces = [t.emit("Unsqueeze", t.real(i), t.integers([axis])) for i in indices]
    t.move(t.output(), t.emit("Concat", *pieces, axis=axis), indices)


def unpack(t: Translation) -> None:
    """UNPACK: pieces of an axis without it."""
    x = t.input(0)
    axis = _axis(t, t.operator.option("Axis"), t.rank(x))
    for position, piece in enumerate(_pieces(t, t.real(x), axis, _equal_sizes(t, x, axis))):
        t.move(t.output(position), t.emit("Squeeze", piece, t.integers([axis])), [x])


def _equal_sizes(t: Translation, x: int, axis: int) -> list[int]:
    """The sizes of as many equal pieces of an axis as the operator has outputs."""
    count, extent = len(t.operator.outputs), t.extent(x, axis)
    if not count or extent % count:
        raise t.operator.error(f"a divisor of {extent} as the number of pieces", str(count), "shape")
    return [extent // count] * count


def _pieces(t: Translation, name: str, axis: int, sizes: list[int]) -> list[str]:
    """The pieces of a value along an axis, one for each output."""
    count = len(t.operator.outputs)
    if len(sizes) != count:
        raise t.operator.error(f"{count} sizes", f"{len(sizes)}", "shape", DAMAGED)
    return t.emit_all("Split", [name, t.integers(sizes)], count, axis=axis)


def split(t: Translation) -> None:
    """SPLIT into equal pieces, SPLIT_V into given ones; one size of -1 is what is left."""
    varied = t.operator.kind == "SPLIT_V"
    x = t.input(0 if varied else 1)
    axis = _axis(t, t.number(2 if varied else 0, "axis"), t.rank(x))
    sizes = t.numbers(1, "sizes") if varied else None
    if sizes is not None and sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = t.extent(x, axis) - sum(sizes) - 1
    first = t.is_first(x) and t.rank(x) == 4
    sizes = sizes or _equal_sizes(t, x, axis)
    for position, piece in enumerate(_pieces(t, t.real(x, first), TO_FIRST.index(axis) if first else axis, sizes)):
        t.move(t.output(position), piece, [x], first)


def slice_(t: Translation) -> None:
    """SLICE from a constant begin on; a size of -1 is what is left."""
    begin, size = t.numbers(1, "begin"), t.numbers(2, "size")
    if not len(begin) == len(size) == t.rank(t.input(0)):
        raise t.operator.error(f"{t.rank(t.input(0))} begins and sizes", f"{len(begin)} and {len(size)}", "shape")
    ends = [END if s == -1 else b + s for b, s in zip(begin, size, strict=True)]
    _plain(t, "Slice", t.integers(begin), t.integers(ends), t.integers(range(len(begin))))


def strided_slice(t: Translation) -> None:
    """STRIDED_SLICE with constant bounds; the masks leave bounds out and drop axes."""
    begins, ends, steps = (t.numbers(i, what) for i, what in ((1, "begin"), (2, "end"), (3, "strides")))
    if not len(begins) == len(ends) == len(steps) <= t.rank(t.input(0)) or 0 in steps:
        found = f"{begins}, {ends} and {steps}"
        raise t.operator.error("a begin, an end and a stride that is not 0 for each axis", found, "shape")
    masks = {name: t.operator.option(f"{name}Mask") for name in ("Begin", "End", "Ellipsis", "NewAxis", "ShrinkAxis")}
    if masks["Ellipsis"] or masks["NewAxis"] or t.operator.option("Offset"):
        raise t.operator.error("masks of begins, ends and dropped axes", "an ellipsis, new axes, or offsets")
    dropped = [axis for axis in range(len(begins)) if masks["ShrinkAxis"] >> axis & 1]
    for axis, step in enumerate(steps):
        if axis in dropped:
            ends[axis], steps[axis] = begins[axis] + 1 if begins[axis] != -1 else END, 1
            continue
        if masks["Begin"] >> axis & 1:
            begins[axis] = 0 if step > 0 else END
        if masks["End"] >> axis & 1:
            ends[axis] = END if step > 0 else -END
    lists = [t.integers(numbers) for numbers in (begins, ends, range(len(begins)), steps)]
    made = t.emit("Slice", t.real(t.input(0)), *lists)
    if dropped:
        made = t.emit("Squeeze", made, t.integers(dropped))
    t.move(t.output(), made, [t.input(0)])


def reverse(t: Translation) -> None:
    """REVERSE_V2 along constant axes."""
    axes = t.numbers(1, "axes")
    lists = [t.integers([number] * len(axes)) for number in (END, -END, -1)]
    _plain(t, "Slice", *lists[:2], t.integers(axes), lists[2])


def depth_space(t: Translation) -> None:
    """DEPTH_TO_SPACE and SPACE_TO_DEPTH."""
    op = "DepthToSpace" if t.operator.kind == "DEPTH_TO_SPACE" else "SpaceToDepth"
    made = t.emit(op, t.real(t.input(0), True), blocksize=t.operator.option("BlockSize"))
    t.move(t.output(), made, [t.input(0)], True)


def gather(t: Translation) -> None:
    """GATHER along an axis, GATHER_ND, and EMBEDDING_LOOKUP of rows."""
    table, indices = (0, 1) if t.operator.kind != "EMBEDDING_LOOKUP" else (1, 0)
    table, indices = t.input(table), t.input(indices)
    if t.operator.option("BatchDims"):
        raise t.operator.error("a gather without batch axes", f"{t.operator.option('BatchDims')} of them")
    if t.operator.kind == "GATHER_ND":
        index = t.emit("Cast", t.stored(indices), to=ONNX_TYPES[np.dtype(np.int64)])
        made = t.emit("GatherND", t.real(table), index)
    else:
        made = t.emit("Gather", t.real(table), t.stored(indices), axis=t.operator.option("Axis"))
    t.move(t.output(), made, [table])


def tile(t: Translation) -> None:
    """TILE."""
    _plain(t, "Tile", _whole(t, 1, "repeats"))


def broadcast(t: Translation) -> None:
    """BROADCAST_TO."""
    _plain(t, "Expand", _whole(t, 1, "shape"))


def fill(t: Translation) -> None:
    """FILL: a shape and a value."""
    t.move(t.output(), t.emit("Expand", t.real(t.input(1)), _whole(t, 0, "shape")), [t.input(1)])


def zeros_like(t: Translation) -> None:
    """ZEROS_LIKE."""
    x = t.tensor(t.input(0))
    zero = t.constant(np.zeros((), np.float32 if x.scaling is not None else x.dtype), "zero")
    t.define(t.output(), t.emit("Expand", zero, t.emit("Shape", t.real(t.input(0)))))


def shape_of(t: Translation) -> None:
    """SHAPE."""
    found = t.emit("Shape", t.real(t.input(0)))
    t.define(t.output(), t.cast(found, t.output()))


def range_of(t: Translation) -> None:
    """RANGE of constant bounds."""
    t.define(t.output(), t.emit("Range", *(t.stored(t.input(i)) for i in range(3))))


def top_k(t: Translation) -> None:
    """TOPK_V2 along the last axis."""
    values, places = t.emit_all("TopK", [t.real(t.input(0)), t.integers(t.numbers(1, "count"))], 2, axis=-1)
    t.move(t.output(0), values, [t.input(0)])
    t.define(t.output(1), t.cast(places, t.output(1)))


def one_hot(t: Translation) -> None:
    """ONE_HOT of a constant depth and two values."""
    depth = t.integers(t.numbers(1, "depth"))
    on, off = (t.emit("Reshape", t.real(t.input(i)), t.integers([1])) for i in (2, 3))
    values = t.emit("Concat", off, on, axis=0)
    t.define(t.output(), t.emit("OneHot", t.stored(t.input(0)), depth, values, axis=t.operator.option("Axis", -1)))
