"""Operations of `arith` and `math`, on scalars in a body, on constants outside, or on whole tensors."""

from collections.abc import Sequence

import numpy as np

from .arithmetic import UNARY
from .constants import DTYPES, dtype_of
from .importer import Importer
from .source import Dense, Op
from .views import View

BINARY = {
    **{"add": "add", "sub": "sub", "mul": "mul", "maximum": "max", "maxnum": "max", "minimum": "min", "minnum": "min"},
    **{"divs": "div", "maxs": "max", "mins": "min", "div": "div"},
    **{"and": "band", "or": "bor", "xor": "bxor", "shrs": "shr"},
}
"""Operations of two operands, less the letter for their type."""

CASTS = ("extf", "truncf", "sitofp", "uitofp", "fptosi", "fptoui", "extsi", "extui", "trunci", "index_cast")

UNSIGNED = ("extui", "uitofp")
"""Casts of integers whose sign bit is one of their bits."""

SIGNED = "unsigned integers are taken where they are widened at once (arith.extui, arith.uitofp)"

MATH = {"absf": "abs", "absi": "abs", "roundeven": "rint", "negf": "neg"}


def convert(importer: Importer, op: Op) -> Sequence[View] | None:
    """The result of an operation of `arith` or `math`; None where there is no layer for it."""
    short, make = op.name.rpartition(".")[2], importer.make
    if short == "constant":
        return [constant(importer, op)]
    if short in CASTS:
        (x,) = importer.operands(op, 1)
        element = op.type.element
        if short in UNSIGNED and x.dtype.kind == "i":
            x = make.cast(x, np.dtype(f"u{x.dtype.name}"))
        return [make.truth(x) if element == "i1" else make.cast(x, importer.dtype(op, element))]
    if short in ("cmpf", "cmpi"):
        direction = (op.words or ["none"])[0]
        if direction[-2:] not in ("eq", "ne", "lt", "le", "gt", "ge"):
            raise op.error("a comparison by eq, ne, lt, le, gt or ge", direction)
        if short == "cmpi" and direction.startswith("u") and not importer.operands(op)[0].truth:
            raise op.error("a comparison of signed integers", direction, SIGNED)
        return [make.binary(direction[-2:], *importer.operands(op, 2))]
    if short == "select":
        return [make.select(*importer.operands(op, 3))]
    if short in ("powf", "fpowi", "ipowi"):
        return [make.power(*importer.operands(op, 2))]
    if short == "fma":
        a, b, c = importer.operands(op, 3)
        return [make.binary("add", make.binary("mul", a, b), c)]
    if short in ("divui", "remui", "maxui", "minui", "shrui"):
        raise op.error("signed integers", short, SIGNED)
    if short == "remsi":
        return [make.remainder(*importer.operands(op, 2))]
    kind = BINARY.get(short[:-1] if short[-1:] in "fi" else short)
    if kind is not None and op.name.startswith("arith."):
        return [make.binary(kind, *importer.operands(op, 2))]
    name = MATH.get(short, short)
    result = make.named(name, *importer.operands(op, 1)) if name in UNARY or op.name.startswith("math.") else None
    return None if result is None else [result]


def constant(importer: Importer, op: Op) -> View:
    """A number, or dense values; one number for all elements is not made more than once."""
    value = op.values[0] if op.values else op.attributes.get("value")
    if not isinstance(value, Dense):
        element = op.result_types[0].element if op.result_types else "i1" if isinstance(value, bool) else "i64"
        if element not in DTYPES or not isinstance(value, int | float):
            raise op.error("a number or dense values", str(value)[:80])
        return importer.views.splat(value, dtype_of(element, op.name), (), element == "i1")
    truth = value.type.element == "i1"
    if value.array.ndim == 0:
        return importer.views.splat(value.array, value.array.dtype, importer.type_shape(op, value.type), truth)
    return importer.views.constant(np.asarray(value.array), f"constant{op.line}", truth)
