"""What operators take now as an attribute and now as an input, in one form; shapes of what they give.

Everything here is on plain numbers, so that the folder of constants and the makers of graph operations share it.
"""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from ...algebra.element import Array
from .load import NUMPY_TYPES, check_size
from .scope import Node

Reader = Callable[[int], Array]
"""Gives the constant at an input, or raises an error that says that it must be constant."""

Shape = tuple[int, ...]

MAX_INDICES = 1 << 24
"""How many indices a gather may have, as they stand in the IR."""


def integer_list(node: Node, read: Reader, index: int) -> tuple[int, ...]:
    """The constant input `index` as a tuple of ints (a scalar counts as one)."""
    array = read(index)
    if not np.issubdtype(array.dtype, np.integer) or array.ndim > 1 or array.size > 1024:
        found = f"{array.dtype} of shape {list(array.shape)}"
        raise node.error(f"input {index} to be a short list of integers", found, kind="shape")
    return tuple(int(v) for v in array.reshape(-1))


def numpy_type(node: Node, name: str) -> np.dtype[np.generic] | None:
    """The NumPy type that attribute `name` says, None where it is not given."""
    if name not in node.attributes:
        return None
    number = node.integer(name, 0)
    if number not in NUMPY_TYPES:
        raise node.error("a type of numbers, or BOOL", f"type {number}")
    return NUMPY_TYPES[number]


def axis_of(node: Node, axis: int, rank: int, one_past: bool = False) -> int:
    """`axis` counted from the front; negative ones count from the back. `one_past` allows `rank` itself."""
    if not -rank <= axis < rank + one_past:
        raise node.error(f"an axis within {-rank}..{rank - 1 + one_past}", str(axis), kind="shape")
    return axis + rank if axis < 0 else axis


def axes_of(node: Node, read: Reader, rank: int, input_since: int, index: int = 1) -> tuple[int, ...] | None:
    """Sorted axes from attribute `axes`, or from input `index` as of opset `input_since`; None when not given."""
    axes = node.optional_integers("axes")
    if axes is None and node.version >= input_since and node.has_input(index):
        axes = integer_list(node, read, index)
    if axes is None:
        return None
    normal = sorted(axis_of(node, axis, rank) for axis in axes)
    if len(set(normal)) != len(normal):
        raise node.error("distinct axes", str(axes), kind="shape")
    return tuple(normal)


def reshaped(node: Node, read: Reader, shape: Shape) -> Shape:
    """The result shape of Reshape: 0 copies an extent, one -1 takes what is left."""
    wanted = node.optional_integers("shape") if node.version < 5 else integer_list(node, read, 1)
    if wanted is None:
        raise node.error("attribute shape", "none", kind="parse")
    result = list(wanted)
    if not node.integer("allowzero", 0):
        result = [shape[i] if e == 0 and i < len(shape) else e for i, e in enumerate(wanted)]
    if result.count(-1) == 1:
        rest = prod(e for e in result if e != -1)
        result[result.index(-1)] = prod(shape) // rest if rest else 0
    if min(result, default=0) < 0 or prod(result) != prod(shape):
        raise node.error(f"a shape of {prod(shape)} elements", f"{list(wanted)} for {list(shape)}", kind="shape")
    return tuple(result)


def flattened(node: Node, shape: Shape) -> Shape:
    """The result shape of Flatten."""
    axis = axis_of(node, node.integer("axis", 1), len(shape), one_past=True)
    return (prod(shape[:axis]), prod(shape[axis:]))


def squeezed(node: Node, read: Reader, shape: Shape) -> Shape:
    """The result shape of Squeeze."""
    axes = axes_of(node, read, len(shape), 13)
    if axes is None:
        axes = tuple(i for i, extent in enumerate(shape) if extent == 1)
    if any(shape[axis] != 1 for axis in axes):
        raise node.error("axes of extent 1", f"axes {list(axes)} of {list(shape)}", kind="shape")
    return tuple(extent for i, extent in enumerate(shape) if i not in axes)


def unsqueezed(node: Node, read: Reader, shape: Shape) -> Shape:
    """The result shape of Unsqueeze."""
    count = len(node.integers("axes", ())) if node.version < 13 else len(integer_list(node, read, 1))
    axes = axes_of(node, read, len(shape) + count, 13)
    if axes is None:
        raise node.error("axes", "none", kind="parse")
    rest = iter(shape)
    return tuple(1 if i in axes else next(rest) for i in range(len(shape) + count))


def permutation(node: Node, rank: int) -> tuple[int, ...]:
    """The permutation of Transpose; reversed axes by default."""
    perm = node.integers("perm", range(rank)[::-1])
    if sorted(perm) != list(range(rank)):
        raise node.error(f"a permutation of {rank} axes", str(perm), kind="shape")
    return perm


def split_sizes(node: Node, read: Reader, extent: int) -> tuple[int, ...]:
    """The extents of the pieces of Split along its axis."""
    sizes = node.optional_integers("split")
    if sizes is None and node.version >= 13 and node.has_input(1):
        sizes = integer_list(node, read, 1)
    if sizes is None:
        count = node.integer("num_outputs", len(node.outputs))
        if not 0 < count <= 4096:
            raise node.error("1 to 4096 pieces", str(count), kind="shape")
        piece = -(-extent // count)
        sizes = tuple(max(0, min(piece, extent - i * piece)) for i in range(count))
    if sum(sizes) != extent or min(sizes) < 0 or len(sizes) != len(node.outputs):
        found = f"{list(sizes)} for extent {extent} and {len(node.outputs)} outputs"
        raise node.error("piece sizes that add up to the extent, one per output", found, kind="shape")
    return sizes


def slice_ranges(node: Node, read: Reader, shape: Shape) -> tuple[tuple[int, ...], tuple[int, ...], Shape]:
    """Slice as (starts, steps, result shape), one entry per axis, starts inside the tensor, steps of any sign."""
    rank = len(shape)
    starts, ends, axes, steps = _slice_arguments(node, read, rank)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise node.error("starts, ends, axes and non-zero steps of one length", "other lengths or steps", kind="shape")
    first, step, extents = [0] * rank, [1] * rank, list(shape)
    for begin, end, axis, stride in zip(starts, ends, axes, steps, strict=True):
        axis = axis_of(node, axis, rank)
        indices = _slice_indices(begin, end, stride, shape[axis])
        first[axis], step[axis], extents[axis] = indices.start if indices else 0, stride, len(indices)
    return tuple(first), tuple(step), tuple(extents)


def _slice_indices(begin: int, end: int, step: int, extent: int) -> range:
    """The indices that a slice takes; unlike NumPy's, a backward slice that begins before 0 begins at 0."""
    begin, end = (e + extent if e < 0 else e for e in (begin, end))
    if step > 0:
        return range(min(max(begin, 0), extent), min(max(end, 0), extent), step)
    return range(min(max(begin, 0), extent - 1), min(max(end, -1), extent - 1), step)


def _slice_arguments(node: Node, read: Reader, rank: int) -> tuple[tuple[int, ...], ...]:
    if node.version < 10:
        starts = node.integers("starts", ())
        ends = node.integers("ends", ())
        axes = node.integers("axes", range(len(starts)))
        return starts, ends, axes, (1,) * len(starts)
    starts, ends = integer_list(node, read, 1), integer_list(node, read, 2)
    axes = integer_list(node, read, 3) if node.has_input(3) else tuple(range(len(starts)))
    steps = integer_list(node, read, 4) if node.has_input(4) else (1,) * len(starts)
    return starts, ends, axes, steps


def broadcast_shape(node: Node, *shapes: Shape) -> Shape:
    """The common shape of NumPy broadcasting."""
    try:
        return tuple(np.broadcast_shapes(*shapes))
    except ValueError as error:
        found = " and ".join(str(list(s)) for s in shapes)
        raise node.error("shapes that broadcast together", found, kind="shape") from error


def expanded(node: Node, read: Reader, shape: Shape) -> Shape:
    """The result shape of Expand."""
    wanted = integer_list(node, read, 1)
    check_size(node.label, wanted, 1)
    return broadcast_shape(node, shape, wanted)


def places_of(node: Node, indices: Array, extent: Array | int) -> Array:
    """Indices, negative ones counted from the back, all within the extent, or each within one of the last axis."""
    if not np.issubdtype(indices.dtype, np.integer) or indices.size > MAX_INDICES:
        found = f"{indices.dtype} of shape {list(indices.shape)}"
        raise node.error(f"at most {MAX_INDICES} integer indices", found, kind="shape")
    indices = indices.astype(np.int64)
    if indices.size and (np.any(indices < -np.asarray(extent)) or np.any(indices >= extent)):
        raise node.error(f"indices below {extent}", f"{indices.min()}..{indices.max()}", kind="shape")
    return np.where(indices < 0, indices + extent, indices)


def index_depth(node: Node, indices: Shape, rank: int, batch: int = 0) -> int:
    """How many axes, behind `batch` ones, the indices of GatherND or ScatterND in a tensor of `rank` axes are for."""
    depth = indices[-1] if indices else 0
    if not 0 <= batch < max(1, len(indices)) or not 1 <= depth <= rank - batch:
        raise node.error("indices that fit the input's rank", f"shape {list(indices)}", kind="shape")
    return depth


def window_pads(
    node: Node, extents: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The (begins, ends) of padding of a sliding window, from `auto_pad` or `pads`.

    With `ceil_mode` the ends grow until the last partial window that starts inside is whole.
    """
    rank = len(kernel)
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    mode = node.text("auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        total = [max(0, (-(-n // s) - 1) * s + r - n) for n, s, r in zip(extents, strides, reach, strict=True)]
        small, large = tuple(t // 2 for t in total), tuple(t - t // 2 for t in total)
        return (small, large) if mode == "SAME_UPPER" else (large, small)
    if mode not in ("NOTSET", "VALID", ""):
        raise node.error("auto_pad NOTSET, VALID, SAME_UPPER or SAME_LOWER", mode)
    pads = (0,) * 2 * rank if mode == "VALID" else node.integers("pads", (0,) * 2 * rank)
    if len(pads) != 2 * rank or min(pads) < 0:
        raise node.error(f"{2 * rank} pads that are not negative", str(list(pads)), kind="shape")
    begins, ends = pads[:rank], pads[rank:]
    if not node.integer("ceil_mode", 0):
        return begins, ends
    grown = [_ceil_end(n, b, e, s, r) for n, b, e, s, r in zip(extents, begins, ends, strides, reach, strict=True)]
    return begins, tuple(grown)


def _ceil_end(extent: int, begin: int, end: int, stride: int, reach: int) -> int:
    windows = -(-(extent + begin + end - reach) // stride) + 1
    if windows < 1:  # none fits, which is told as without `ceil_mode`
        return end
    if (windows - 1) * stride >= extent + begin:
        windows -= 1
    return max(end, (windows - 1) * stride + reach - extent - begin)
