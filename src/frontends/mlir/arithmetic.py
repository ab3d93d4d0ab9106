"""Functions of single elements that both dialects have, by the names of the graph's kinds and some more."""

from collections.abc import Callable

import numpy as np
from xdsl.ir import SSAValue

from ...dialects import graph
from ...dialects.types import WIDER, dtype_of, element_of, element_type_of
from .views import View, Views

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")

OF_TRUTH = {"add": "bor", "max": "bor", "mul": "band", "min": "band", "sub": "bxor"}
"""What arithmetic is on false and true."""

UNARY = {
    **{kind: kind for kind in ("exp", "log", "sqrt", "erf", "tanh", "sigmoid", "floor", "ceil", "rint", "sin", "cos")},
    **{kind: kind for kind in ("neg", "abs", "sign", "relu", "reciprocal")},
}
"""Unary functions that are one layer."""


class Arithmetic:
    """Layers of single elements; of types without arithmetic in wider ones, each result rounded or wrapped."""

    def __init__(self, views: Views) -> None:
        self.views = views

    def number(self, value: float, like: View) -> View:
        """A number of the type and shape of `like`."""
        return self.views.splat(value, like.dtype, like.shape)

    def _computed(self, layer: Callable[..., graph.LayerOp], operands: list[View], truth: bool = False) -> View:
        narrow = next((view.dtype for view in operands if view.dtype in WIDER), None)
        if narrow is not None:
            wide = [self.cast(view, WIDER.get(view.dtype, view.dtype)) for view in operands]
            return self.cast(self.views.elementwise(layer, wide), narrow)
        return self.views.elementwise(layer, operands, truth)

    def product(self, a: SSAValue, b: SSAValue, layer: Callable[[SSAValue, SSAValue], graph.LayerOp]) -> SSAValue:
        """A sum of products; of f16 in f32."""
        if dtype_of(element_of(a)) == dtype_of(element_of(b)) == np.float16:
            wide = [self.views.whole(self.cast(self.views.of(v), np.dtype(np.float32))) for v in (a, b)]
            made = self.views.emit(lambda: layer(*wide))
            return self.views.emit(lambda: graph.CastOp(made, element_type_of(np.dtype(np.float16))))
        return self.views.emit(lambda: layer(a, b))

    def cast(self, x: View, dtype: np.dtype[np.generic]) -> View:
        """Elements in another type."""
        return self.views.cast(x, dtype)

    def truth(self, x: View) -> View:
        """Whether each element is other than 0."""
        return x if x.truth else self.binary("ne", x, self.number(0, x))

    def unary(self, kind: str, x: View, alpha: float | None = None) -> View:
        """A function of the graph."""
        return self._computed(lambda value: graph.UnaryOp(kind, value, alpha=alpha), [x], x.truth)

    def binary(self, kind: str, a: View, b: View) -> View:
        """A function of two elements; a bound by a number is a clip, comparisons give truth."""
        if a.truth and b.truth:
            kind = OF_TRUTH.get(kind, kind)
        if kind in ("max", "min"):
            for x, other in ((a, b), (b, a)):
                if (bound := self.views.number(other)) is not None and self.views.number(x) is None:
                    return self.clip(x, **{"min" if kind == "max" else "max": bound})
        if kind in COMPARISONS:
            equal = self._computed(lambda x, y: graph.BinaryOp(kind, x, y), [a, b])
            made = self.cast(equal, np.dtype(np.uint8))
            return View(made.source, made.perm, made.shape, True)
        return self._computed(lambda x, y: graph.BinaryOp(kind, x, y), [a, b], a.truth and b.truth)

    def clip(self, x: View, *, min: float | None = None, max: float | None = None) -> View:
        """Elements within bounds."""
        inner = x.source.owner
        if min in (None, -np.inf) and max in (None, np.inf):
            return x
        if min == 0 and max is None:
            return self.unary("relu", x) if x.dtype.kind != "u" else x
        if min is None and isinstance(inner, graph.UnaryOp) and inner.kind.data == graph.UnaryKind.RELU:
            if max is not None and max >= 0:
                x, min = View(inner.x, x.perm, x.shape), 0.0
        return self._computed(lambda value: graph.ClipOp(value, min=min, max=max), [x], x.truth)

    def select(self, condition: View, a: View, b: View) -> View:
        """a where the condition holds, else b."""
        if condition.dtype != np.uint8:
            condition = self.truth(condition)
        if condition.rank == 0 and (number := self.views.number(condition)) is not None:
            return a if number else b
        if (chosen := self._bound(condition, a, b)) is not None:
            return chosen
        return self._computed(lambda c, x, y: graph.SelectOp(c, x, y), [condition, a, b], a.truth and b.truth)

    def _bound(self, condition: View, a: View, b: View) -> View | None:
        """The maximum or minimum that `a > b ? a : b` is."""
        compare = condition.source.owner
        while isinstance(compare, graph.CastOp):
            compare = compare.x.owner
        if not isinstance(compare, graph.BinaryOp) or a.dtype.kind != "f":
            return None
        direction = compare.kind.data.value
        if direction not in ("lt", "le", "gt", "ge") or (a.rank and b.rank and a.perm != b.perm):
            return None
        if (compare.a, compare.b) == (a.source, b.source):
            kind = "max" if direction in ("gt", "ge") else "min"
        elif (compare.a, compare.b) == (b.source, a.source):
            kind = "min" if direction in ("gt", "ge") else "max"
        else:
            return None
        return self.binary(kind, a, b)

    def softmax(self, x: View, axis: int) -> View:
        """exp(x) over its sum along an axis."""
        if not 0 <= axis < x.rank:
            raise self.views.error(f"an axis below {x.rank}", str(axis), kind="shape")
        made = self.views.emit(lambda: graph.SoftmaxOp(self.views.whole(x), axis=axis))
        return self.views.of(made)

    def rsqrt(self, x: View) -> View:
        """1 / sqrt(x)."""
        return self.unary("reciprocal", self.unary("sqrt", x))

    def remainder(self, a: View, b: View) -> View:
        """What a division of integers toward zero leaves."""
        return self.binary("sub", a, self.binary("mul", self.binary("div", a, b), b))

    def power(self, x: View, y: View) -> View:
        """x to the power y; small whole numbers are products."""
        number = self.views.number(y)
        if number is not None and number in (1, 2, 3, 4):
            square = x if number == 1 else self.binary("mul", x, x)
            return square if number <= 2 else self.binary("mul", square, x if number == 3 else square)
        if number == 0.5 and x.dtype.kind == "f":
            return self.unary("sqrt", x)
        return self.binary("pow", x, y if y.dtype == x.dtype else self.cast(y, x.dtype))

    def invert(self, x: View) -> View:
        """Not, of truth or of each bit."""
        mask = 1 if x.truth else -1 if x.dtype.kind == "i" else np.iinfo(x.dtype).max
        return self.binary("bxor", x, self.views.splat(mask, x.dtype, x.shape, x.truth))

    def named(self, name: str, x: View) -> View | None:
        """A function of one element by its usual name, where it is known."""
        if name in UNARY:
            return self.unary(UNARY[name], x)
        match name:
            case "rsqrt":
                return self.rsqrt(x)
            case "square":
                return self.binary("mul", x, x)
            case "log1p":
                return self.unary("log", self.binary("add", x, self.number(1, x)))
            case "expm1":
                return self.binary("sub", self.unary("exp", x), self.number(1, x))
            case "erfc":
                return self.binary("sub", self.number(1, x), self.unary("erf", x))
            case "exp2":
                return self.unary("exp", self.binary("mul", x, self.number(float(np.log(2)), x)))
            case "log2":
                return self.binary("div", self.unary("log", x), self.number(float(np.log(2)), x))
            case "tan":
                return self.binary("div", self.unary("sin", x), self.unary("cos", x))
            case "cbrt":
                root = self.binary("pow", self.unary("abs", x), self.number(1 / 3, x))
                return self.binary("mul", self.unary("sign", x), root)
            case "sinh" | "cosh":
                up, down = self.unary("exp", x), self.unary("exp", self.unary("neg", x))
                both = self.binary("sub" if name == "sinh" else "add", up, down)
                return self.binary("mul", both, self.number(0.5, x))
            case "not":
                return self.invert(x)
            case _:
                return None
