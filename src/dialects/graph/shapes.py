"""Result shapes of the graph operations, on plain tuples; `VerifyException` where they do not fit together."""

from collections.abc import Sequence
from math import prod

from xdsl.utils.exceptions import VerifyException

Shape = tuple[int, ...]


def require(condition: bool, message: str) -> None:
    """Raise `VerifyException(message)` unless `condition`."""
    if not condition:
        raise VerifyException(message)


def check_length(name: str, values: Sequence[int], length: int, at_least: int) -> None:
    """Check that a list property has `length` entries, none below `at_least`."""
    require(
        len(values) == length and all(v >= at_least for v in values),
        f"expected {name} of {length} integers, each at least {at_least}, found {list(values)}",
    )


def check_axis(axis: int, rank: int) -> None:
    """Check that `axis` counts from the front and is in range."""
    require(0 <= axis < rank, f"expected axis in [0, {rank}), found {axis}")


def broadcast(*shapes: Sequence[int]) -> Shape:
    """NumPy's broadcasting rule."""
    rank = max(len(s) for s in shapes)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    result = tuple(max(extents) for extents in zip(*padded, strict=True))
    for shape in padded:
        fits = all(e in (1, r) for e, r in zip(shape, result, strict=True))
        require(fits, f"shapes {' and '.join(str(list(s)) for s in shapes)} do not broadcast")
    return result


def window(
    spatial: Sequence[int], kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int], dilations: Sequence[int]
) -> Shape:
    """Extents of a sliding window: `floor((in + begin + end - (dilation * (kernel - 1) + 1)) / stride) + 1` each.

    `pads` is begin of every axis, then end of every axis.
    """
    rank = len(spatial)
    check_length("kernel", kernel, rank, 1)
    check_length("strides", strides, rank, 1)
    check_length("dilations", dilations, rank, 1)
    check_length("pads", pads, 2 * rank, 0)
    extents: list[int] = []
    for i, extent in enumerate(spatial):
        padded = extent + pads[i] + pads[rank + i]
        reach = dilations[i] * (kernel[i] - 1) + 1
        require(reach <= padded, f"window of {reach} does not fit in a padded extent of {padded} (spatial axis {i})")
        extents.append((padded - reach) // strides[i] + 1)
    return tuple(extents)


def conv(
    x: Shape, w: Shape, strides: Sequence[int], pads: Sequence[int], dilations: Sequence[int], groups: int
) -> Shape:
    """`[n, c, spatial...]` and `[k, c / groups, kernel...]` to `[n, k, spatial...]`."""
    require(3 <= len(x) <= 5, f"expected an input of rank 3 to 5, found {list(x)}")
    require(len(w) == len(x), f"expected weights of rank {len(x)}, found {list(w)}")
    require(groups >= 1 and w[0] % groups == 0, f"{groups} groups do not divide {w[0]} output channels")
    require(
        w[1] * groups == x[1], f"weights of {w[1]} channels in {groups} groups do not fit an input of {x[1]} channels"
    )
    return (x[0], w[0], *window(x[2:], w[2:], strides, pads, dilations))


def pool(
    x: Shape, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int], dilations: Sequence[int]
) -> Shape:
    """`[n, c, spatial...]` to `[n, c, spatial...]`."""
    require(3 <= len(x) <= 5, f"expected an input of rank 3 to 5, found {list(x)}")
    return (*x[:2], *window(x[2:], kernel, strides, pads, dilations))


def unfold(
    x: Shape, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int], dilations: Sequence[int]
) -> Shape:
    """`[n, c, spatial...]` to `[n, c * kernel..., spatial...]`."""
    samples, channels, *places = pool(x, kernel, strides, pads, dilations)
    return (samples, channels * prod(kernel), *places)


def gemm(a: Shape, b: Shape, trans_a: bool, trans_b: bool) -> Shape:
    """`[m, k]` (or transposed) and `[k, n]` (or transposed) to `[m, n]`."""
    require(len(a) == 2 and len(b) == 2, f"expected matrices, found {list(a)} and {list(b)}")
    m, k = reversed(a) if trans_a else a
    inner, n = reversed(b) if trans_b else b
    require(k == inner, f"inner extents differ: {k} and {inner}")
    return (m, n)


def matmul(a: Sequence[int], b: Sequence[int]) -> Shape:
    """`[..., m, k]` and `[..., k, n]` to `[..., m, n]`, leading axes broadcast."""
    require(len(a) >= 2 and len(b) >= 2, f"expected ranks of at least 2, found {list(a)} and {list(b)}")
    *_, m, k = a
    *_, inner, n = b
    require(k == inner, f"inner extents differ: {k} and {inner}")
    return (*broadcast(a[:-2], b[:-2]), m, n)


def reduce(x: Shape, axes: Sequence[int], keepdims: bool) -> Shape:
    """Extents after reducing `axes`."""
    require(
        list(axes) == sorted(set(axes)) and len(axes) > 0,
        f"expected axes to be ascending, without repetition, at least one, found {list(axes)}",
    )
    for axis in axes:
        check_axis(axis, len(x))
    if keepdims:
        return tuple(1 if i in axes else e for i, e in enumerate(x))
    return tuple(e for i, e in enumerate(x) if i not in axes)


def concat(shapes: Sequence[Shape], axis: int) -> Shape:
    """Extents of the pieces put one after another along `axis`."""
    require(len(shapes) >= 1, "expected at least one operand")
    first = shapes[0]
    check_axis(axis, len(first))
    for shape in shapes:
        same = len(shape) == len(first) and all(
            i == axis or a == b for i, (a, b) in enumerate(zip(shape, first, strict=True))
        )
        require(same, f"shapes {list(first)} and {list(shape)} differ outside axis {axis}")
    return (*first[:axis], sum(s[axis] for s in shapes), *first[axis + 1 :])


def check_slice(x: Shape, starts: Sequence[int], steps: Sequence[int], sizes: Shape) -> None:
    """Check that every element `start + i * step` of a slice is inside."""
    check_length("starts", starts, len(x), 0)
    require(
        len(steps) == len(x) and all(s != 0 for s in steps),
        f"expected steps of {len(x)} integers, none zero, found {list(steps)}",
    )
    require(len(sizes) == len(x), f"expected a result of rank {len(x)}, found {list(sizes)}")
    for axis, (extent, start, step, size) in enumerate(zip(x, starts, steps, sizes, strict=True)):
        last = start + (size - 1) * step
        require(start < extent and 0 <= last < extent, f"slice [{start}, {last}] leaves axis {axis} of extent {extent}")


def pad(x: Shape, pads: Sequence[int], reflect: bool) -> Shape:
    """Extents after padding; `pads` is begin of every axis, then end of every axis."""
    rank = len(x)
    check_length("pads", pads, 2 * rank, 0)
    if reflect:
        inside = all(pads[i] < e and pads[rank + i] < e for i, e in enumerate(x))
        require(inside, f"reflected pads {list(pads)} are not smaller than the extents {list(x)}")
    return tuple(e + pads[i] + pads[rank + i] for i, e in enumerate(x))


def transpose(x: Shape, perm: Sequence[int]) -> Shape:
    """Axis `i` of the result is axis `perm[i]` of `x`."""
    require(sorted(perm) == list(range(len(x))), f"expected a permutation of {len(x)} axes, found {list(perm)}")
    return tuple(x[p] for p in perm)


def check_reshape(x: Shape, result: Shape) -> None:
    """Check that a reshape keeps the number of elements."""
    require(prod(x) == prod(result), f"{prod(x)} elements do not fill {list(result)}")


def check_expand(x: Shape, result: Shape) -> None:
    """Check that `x` broadcasts to `result`."""
    fits = len(x) <= len(result) and broadcast(x, result) == tuple(result)
    require(fits, f"{list(x)} does not expand to {list(result)}")


def check_per_axis(what: str, shape: Shape, x: Shape, axis: int) -> None:
    """Check that a parameter is a scalar or has one element per index of `axis` of `x`."""
    if shape == ():
        return
    check_axis(axis, len(x))
    require(shape == (x[axis],), f"expected {what} of shape [] or [{x[axis]}], found {list(shape)}")
