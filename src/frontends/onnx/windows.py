"""Operators that slide a window over space: convolution, pooling, local response normalisation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.graph.base import set_name
from .arguments import window_pads
from .formulas import Formulas, check_constant_size
from .indexing import extreme_place
from .scope import Node, Scope, Value, shape_of


def _per_axis(node: Node, name: str, rank: int) -> tuple[int, ...]:
    values = node.integers(name, (1,) * rank)
    if len(values) != rank or min(values) < 1:
        raise node.error(f"{rank} positive {name}", str(list(values)), kind="shape")
    return values


def _spatial_rank(node: Node, shape: Sequence[int]) -> int:
    rank = len(shape) - 2
    if not 1 <= rank <= 3:
        raise node.error("1 to 3 spatial axes after batch and channels", f"shape {list(shape)}")
    return rank


@dataclass(frozen=True)
class ConvWindow:
    """The window of a convolution, per spatial axis; `pads` are begins, then ends."""

    strides: tuple[int, ...]
    pads: tuple[int, ...]
    dilations: tuple[int, ...]
    groups: int


def conv_window(node: Node, shape: Sequence[int], weights: Sequence[int]) -> ConvWindow:
    """The window that a node's attributes say, for an input and weights of these shapes."""
    rank = _spatial_rank(node, shape)
    kernel = node.integers("kernel_shape", weights[2:])
    if len(weights) != len(shape) or kernel != tuple(weights[2:]):
        raise node.error(f"weights with kernel {kernel}", f"weights of shape {list(weights)}", kind="shape")
    strides, dilations = _per_axis(node, "strides", rank), _per_axis(node, "dilations", rank)
    begins, ends = window_pads(node, shape[2:], kernel, strides, dilations)
    return ConvWindow(strides, begins + ends, dilations, node.integer("group", 1))


def conv(scope: Scope, node: Node) -> Sequence[Value]:
    """Conv, in f32."""
    x, w = scope.tensor(node, 0), scope.tensor(node, 1)
    window = conv_window(node, shape_of(x), shape_of(w))
    return (scope.emit(graph.ConvOp(x, w, scope.optional_tensor(node, 2), **vars(window)), node.outputs[0]),)


def conv_transpose(scope: Scope, node: Node) -> Sequence[Value]:
    """ConvTranspose: a convolution that makes the elements between two of the map side by side, as channels.

    With dilations, of the map with zeros between its elements; weights turned round.
    """
    make, x, w = Formulas(scope, node), scope.tensor(node, 0), scope.tensor(node, 1)
    shape, weights, groups = shape_of(x), shape_of(w), node.integer("group", 1)
    rank = _spatial_rank(node, shape)
    if len(weights) != len(shape) or weights[0] != shape[1] or groups < 1 or shape[1] % groups:
        found = f"{list(weights)} for {list(shape)} in {groups} groups"
        raise node.error("weights of the input's channels", found, kind="shape")
    strides, dilations = _per_axis(node, "strides", rank), _per_axis(node, "dilations", rank)
    begins, ends = _transposed_pads(node, shape[2:], weights[2:], strides, dilations)
    if prod(strides) > 1 and prod(dilations) == 1:
        full = [s * (n - 1) + k for n, k, s in zip(shape[2:], weights[2:], strides, strict=True)]
        sizes = [f - b - e for f, b, e in zip(full, begins, ends, strict=True)]
        if min(begins) >= 0 and min(sizes) >= 1:
            return (_between(make, _turned_phases(make, w, groups, strides), groups, strides, begins, sizes),)
    for axis, (stride, kernel, dilation) in enumerate(zip(strides, weights[2:], dilations, strict=True), 2):
        x = make.stuffed(x, axis, stride)
        reach = dilation * (kernel - 1)
        begin, end = reach - begins[axis - 2], reach - ends[axis - 2]
        x = make.pad(x, axis, max(begin, 0), max(end, 0))
        extent = shape_of(x)[axis] - max(-begin, 0) - max(-end, 0)
        x = make.part(x, axis, max(-begin, 0), extent)
    w = _turned(make, w, groups)
    pads = (0,) * 2 * rank
    bias = scope.optional_tensor(node, 2)
    op = graph.ConvOp(x, w, bias, strides=(1,) * rank, pads=pads, dilations=dilations, groups=groups)
    return (scope.emit(op),)


def _turned_phases(make: Formulas, w: SSAValue, groups: int, strides: Sequence[int]) -> SSAValue:
    """`[C, K/g, kernel...]` as `[K * strides..., C/g, taps...]`: what each place between two elements sees of the map.

    Place p of a stride s sees taps p, p + s, ... of the kernel, here back to front, zeros where it ends.
    """
    channels, outputs, *kernel = shape_of(w)
    rank = len(kernel)
    taps = [-(-k // s) for k, s in zip(kernel, strides, strict=True)]
    for axis, (k, s, t) in enumerate(zip(kernel, strides, taps, strict=True), 2):
        w = make.pad(w, axis, 0, t * s - k)
    apart = [extent for pair in zip(taps, strides, strict=True) for extent in pair]
    w = make.reshape(w, (groups, channels // groups, outputs, *apart))
    order = [0, 2, *range(4, 4 + 2 * rank, 2), 1, *range(3, 3 + 2 * rank, 2)]
    w = make.reshape(make.transpose(w, order), (groups * outputs * prod(strides), channels // groups, *taps))
    return _backwards(make, w)


def _between(
    make: Formulas, w: SSAValue, groups: int, strides: Sequence[int], begins: Sequence[int], sizes: Sequence[int]
) -> SSAValue:
    """A transposed convolution with the weights of each place between two elements; `begins` are cut from its start."""
    x, rank, count = make.operand(0), len(strides), prod(strides)
    extents, taps, outputs = shape_of(x)[2:], shape_of(w)[2:], shape_of(w)[0] // count
    skipped = [min(b // s, t - 1) for b, s, t in zip(begins, strides, taps, strict=True)]
    starts = [b - n * s for b, n, s in zip(begins, skipped, strides, strict=True)]
    wanted = [-(-(b + size) // s) for b, size, s in zip(starts, sizes, strides, strict=True)]
    before = [t - 1 - n for t, n in zip(taps, skipped, strict=True)]
    found = zip(wanted, extents, before, taps, strict=True)
    behind = [max(0, m - n - a + t - 1) for m, n, a, t in found]
    bias = make.scope.optional_tensor(make.node, 2)
    if bias is not None:
        bias = make.reshape(make.expand(make.reshape(bias, (outputs, 1)), (outputs, count)), (outputs * count,))
    ones = (1,) * rank
    value = make.scope.emit(
        graph.ConvOp(x, w, bias, strides=ones, pads=(*before, *behind), dilations=ones, groups=groups)
    )
    made = shape_of(value)[2:]
    value = make.reshape(value, (shape_of(x)[0], outputs, *strides, *made))
    order = [0, 1, *(axis for i in range(rank) for axis in (2 + rank + i, 2 + i))]
    whole = [m * s for m, s in zip(made, strides, strict=True)]
    value = make.reshape(make.transpose(value, order), (shape_of(x)[0], outputs, *whole))
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True), 2):
        value = make.part(value, axis, start, size)
    return value


def _turned(make: Formulas, w: SSAValue, groups: int) -> SSAValue:
    """`[C, K/g, kernel...]` as `[K, C/g, kernel...]`, back to front along the kernel."""
    channels, outputs, *kernel = shape_of(w)
    w = make.reshape(w, (groups, channels // groups, outputs, *kernel))
    w = make.transpose(w, [0, 2, 1, *range(3, 3 + len(kernel))])
    w = make.reshape(w, (groups * outputs, channels // groups, *kernel))
    return _backwards(make, w)


def _backwards(make: Formulas, w: SSAValue) -> SSAValue:
    """Weights back to front along the kernel."""
    kernel = shape_of(w)[2:]
    if all(extent == 1 for extent in kernel):
        return w
    starts, steps = [0, 0, *(extent - 1 for extent in kernel)], [1, 1, *(-1 for _ in kernel)]
    return make.scope.emit(graph.SliceOp(w, starts=starts, steps=steps, sizes=shape_of(w)))


def _transposed_pads(
    node: Node, extents: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What is cut from the full result at the begin and the end of each axis; a negative end adds zeros."""
    rank = len(kernel)
    adds = node.integers("output_padding", (0,) * rank)
    full = [s * (n - 1) + d * (k - 1) + 1 for n, k, s, d in zip(extents, kernel, strides, dilations, strict=True)]
    mode, wanted = node.text("auto_pad", "NOTSET"), node.optional_integers("output_shape")
    if wanted is None and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = tuple(n * s for n, s in zip(extents, strides, strict=True))
    if wanted is not None:
        totals = [f + a - o for f, a, o in zip(full, adds, wanted[-rank:], strict=True)]
        halves = [t // 2 if mode != "SAME_UPPER" else t - (t - t // 2) for t in totals]
        begins = tuple(h if mode == "SAME_UPPER" else t - h for h, t in zip(halves, totals, strict=True))
        return begins, tuple(t - b - a for t, b, a in zip(totals, begins, adds, strict=True))
    pads = (0,) * 2 * rank if mode == "VALID" else node.integers("pads", (0,) * 2 * rank)
    if len(pads) != 2 * rank or len(adds) != rank:
        raise node.error(f"{2 * rank} pads and {rank} output_padding", f"{pads} and {adds}", kind="shape")
    return pads[:rank], tuple(e - a for e, a in zip(pads[rank:], adds, strict=True))


def lp_pool(scope: Scope, node: Node) -> Sequence[Value]:
    """LpPool and GlobalLpPool: the p-th root of the sum of p-th powers."""
    make, p = Formulas(scope, node), float(node.integer("p", 2)) if node.version > 1 else node.real("p", 2.0)
    powers = make.binary("pow", make.unary("abs", scope.tensor(node, 0)), p)
    if node.op == "GlobalLpPool":
        sums = make.reduce("sum", powers, range(2, len(shape_of(powers))))
    else:
        sums = _pool(scope, node, powers, "sum", _window(node, shape_of(powers)), False)
        set_name(sums.owner, None)  # pyright: ignore[reportArgumentType]
    return (make.binary("pow", sums, 1 / p),)


def max_pool(scope: Scope, node: Node) -> Sequence[Value]:
    """MaxPool, and the places of its results in the input."""
    window = _window(node, scope.shape(node, 0))
    result = _pool(scope, node, scope.tensor(node, 0), "max", window, False)
    return (result, _places(scope, node, window)) if node.has_output(1) else (result,)


def _places(scope: Scope, node: Node, window: "_Window") -> SSAValue:
    """For each window the place of its first largest element: all windows written out, the tap picked by comparison."""
    make, x = Formulas(scope, node), make_real(scope, node)
    shape = shape_of(x)
    check_constant_size(node, prod(shape[2:]), prod(window.kernel))
    taps: list[Array] = []
    for i, extent in enumerate(shape[2:]):
        count = extent + window.begins[i] + window.ends[i] - window.dilations[i] * (window.kernel[i] - 1) - 1
        starts = np.arange(count // window.strides[i] + 1) * window.strides[i] - window.begins[i]
        taps.append(starts[:, None] + np.arange(window.kernel[i]) * window.dilations[i])
    rank = len(taps)
    outs, kernels = [len(t) for t in taps], list(window.kernel)
    column = np.zeros((*outs, *kernels), np.int64)
    row = np.zeros((*outs, *kernels), np.int64)
    inside = np.ones((*outs, *kernels), np.bool_)
    major = node.integer("storage_order", 0) == 0
    for i, tap in enumerate(taps):
        along = [1] * 2 * rank
        along[i], along[rank + i] = tap.shape
        spread = tap.reshape(along)
        inside &= (spread >= 0) & (spread < shape[2 + i])
        row += np.clip(spread, 0, shape[2 + i] - 1) * prod(shape[3 + i :])
        weight = prod(shape[3 + i :]) if major else prod(shape[2 : 2 + i])
        column += np.clip(spread, 0, shape[2 + i] - 1) * weight
    width = prod(kernels)
    flat = make.reshape(x, (*shape[:2], prod(shape[2:])))
    seen = make.reshape(make.gather(flat, row.reshape(-1), 2), (*shape[:2], prod(outs), width))
    valid = make.constant(inside.astype(np.uint8).reshape(1, 1, prod(outs), width))
    tap = extreme_place(make, make.select(valid, seen, -np.inf), 3, "max")
    chosen = make.binary("eq", tap, make.constant(np.arange(width, dtype=np.int32)))
    places = make.constant(column.astype(np.int32).reshape(1, 1, prod(outs), width))
    planes = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(*shape[:2], 1) * prod(shape[2:])
    found = make.reduce("max", make.select(chosen, places, -1), [3], keepdims=False)
    return make.reshape(make.cast(make.add(found, make.constant(planes)), np.int64), (*shape[:2], *outs))


def make_real(scope: Scope, node: Node) -> SSAValue:
    """The first input in f32, which holds all values of 8-bit integers."""
    return Formulas(scope, node).cast(scope.tensor(node, 0), np.float32)


def average_pool(scope: Scope, node: Node) -> Sequence[Value]:
    """AveragePool; what `ceil_mode` adds at the end never counts as padding."""
    x = scope.tensor(node, 0)
    counted = bool(node.integer("count_include_pad", 0))
    window = _window(node, shape_of(x))
    grown = [end - given for end, given in zip(window.ends, window.given_ends, strict=True)]
    if counted and any(grown):
        around = (0, 0, *window.begins, 0, 0, *window.given_ends)
        x = scope.emit(graph.PadOp(x, pads=around), f"{node.outputs[0]}.padded")
        window = replace(window, begins=(0,) * len(grown), ends=tuple(grown))
        counted = False
    return (_pool(scope, node, x, "average", window, counted),)


@dataclass(frozen=True)
class _Window:
    """A pooling window, per spatial axis; `ends` is `given_ends` plus what `ceil_mode` adds."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    given_ends: tuple[int, ...]


def _window(node: Node, shape: Sequence[int]) -> _Window:
    rank = _spatial_rank(node, shape)
    if "kernel_shape" not in node.attributes:
        raise node.error("attribute kernel_shape", "none", kind="parse")
    kernel, strides = _per_axis(node, "kernel_shape", rank), _per_axis(node, "strides", rank)
    dilations = _per_axis(node, "dilations", rank)
    begins, ends = window_pads(node, shape[2:], kernel, strides, dilations)
    given = window_pads(node.without("ceil_mode"), shape[2:], kernel, strides, dilations)[1]
    return _Window(kernel, strides, dilations, begins, ends, given)


def _pool(scope: Scope, node: Node, x: SSAValue, kind: str, window: _Window, count_include_pad: bool) -> SSAValue:
    op = graph.PoolOp(
        kind,
        x,
        kernel=window.kernel,
        strides=window.strides,
        pads=window.begins + window.ends,
        dilations=window.dilations,
        count_include_pad=count_include_pad,
    )
    return scope.emit(op, node.outputs[0])


def global_pool(scope: Scope, node: Node) -> Sequence[Value]:
    """GlobalAveragePool and GlobalMaxPool: a reduction of all spatial axes."""
    x = scope.tensor(node, 0)
    axes = tuple(range(2, len(shape_of(x))))
    kind = "mean" if node.op == "GlobalAveragePool" else "max"
    return (scope.emit(graph.ReduceOp(kind, x, axes=axes, keepdims=True), node.outputs[0]),)


def lrn(scope: Scope, node: Node) -> Sequence[Value]:
    """LRN over channels."""
    op = graph.LrnOp(
        scope.tensor(node, 0),
        size=node.integer("size", 1),
        alpha=node.real("alpha", 1e-4),
        beta=node.real("beta", 0.75),
        bias=node.real("bias", 1.0),
    )
    return (scope.emit(op, node.outputs[0]),)
