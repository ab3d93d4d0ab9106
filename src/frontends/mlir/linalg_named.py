"""Named operations of linalg: products, convolutions and poolings, whose names say the order of their axes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .importer import Importer
from .products import Window, begin_with, conv, dot, pool
from .source import Op
from .views import View

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
